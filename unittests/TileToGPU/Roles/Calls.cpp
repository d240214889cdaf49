//===- Calls.cpp - Calls of kernels of roles, and what they must give -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "gtest/gtest.h"

using namespace prism;
using namespace prism::test;

Model prism::test::modelOf(const std::string &name, int64_t keys,
                           int64_t values) {
  Model model;
  model.name = name;
  model.keys = keys;
  model.values = values;
  return model;
}

check::InputOptions prism::test::callOf(int64_t steps, check::GateSet gates,
                                        bool initialState) {
  check::InputOptions call;
  call.batch = 1;
  call.steps = steps;
  call.gates = gates;
  call.initialState = initialState;
  return call;
}

void prism::test::stretch(check::HostArrays &inputs, int64_t keys,
                          llvm::ArrayRef<double> factors) {
  for (const char *name : {"k", "q"}) {
    auto &values = inputs.at(name).values;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] *= factors[i / keys % factors.size()];
    inputs.at(name).encode();
  }
}

InterpreterOptions prism::test::nextOptions() {
  static unsigned count = 0;
  using Options = InterpreterOptions;
  constexpr Options::Order orders[] = {
      Options::Order::Random, Options::Order::Ascending, Options::Order::Random,
      Options::Order::Descending};
  Options options;
  options.seed = ++count;
  options.copies = count % 2 ? Options::Copies::Late : Options::Copies::Early;
  options.order = orders[count / 2 % 4];
  return options;
}

void prism::test::expectRight(
    RoleKernel &kernel, const check::InputOptions &call, Placement place,
    llvm::function_ref<void(check::HostArrays &)> edit) {
  ASSERT_EQ(kernel.whyNot(), "");
  kernel.prepare(call, edit);
  for (bool hasMaps : {true, false}) {
    place.hasMaps = hasMaps;
    EXPECT_EQ(kernel.run(nextOptions(), place), "")
        << "steps " << call.steps << ", " << call.lengths.size()
        << " packed sequences, gates " << int(call.gates) << ", "
        << (call.initialState ? "" : "no ") << "initial state, offset "
        << place.offset << ", pad " << place.pad << ", "
        << (hasMaps ? "" : "no ") << "maps";
    if (kernel.countBoxes() + kernel.countStoredBoxes() == 0)
      return; // it has moved nothing by them
  }
}
