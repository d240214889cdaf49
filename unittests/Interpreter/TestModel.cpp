//===- TestModel.cpp - An entry function from text, for tests -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

TestModel::TestModel(StringRef text) {
  context
      .loadDialect<arith::ArithDialect, func::FuncDialect,
                   linalg::LinalgDialect, math::MathDialect, scan::ScanDialect,
                   scf::SCFDialect, tensor::TensorDialect>();
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << messages << text.str();
}

FailureOr<Arrays> TestModel::evaluateOnly(const Arrays &inputs) {
  if (!module)
    return failure();
  return evaluate(*module->getOps<func::FuncOp>().begin(), inputs);
}

Arrays TestModel::run(const Arrays &inputs) {
  FailureOr<Arrays> results = evaluateOnly(inputs);
  EXPECT_TRUE(succeeded(results)) << messages;
  return succeeded(results) ? *results : Arrays();
}

std::string TestModel::error(const Arrays &inputs) {
  EXPECT_TRUE(failed(evaluateOnly(inputs)));
  return std::move(messages);
}

void interpreter::expectValues(const Array &found, ArrayRef<double> want,
                               double tolerance) {
  ASSERT_EQ(found.data.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (tolerance == 0.0)
      EXPECT_EQ(found.data[i], want[i]) << "element " << i;
    else
      EXPECT_NEAR(found.data[i], want[i], tolerance) << "element " << i;
  }
}

std::string interpreter::makeEntry(int64_t K, int64_t V, StringRef ins,
                                   StringRef body, bool reverse,
                                   bool valueFirst) {
  auto typeOf = [&](StringRef axes, bool ofToken) {
    std::string shape;
    for (char axis : axes)
      if (!ofToken || (axis != 'b' && axis != 't' && axis != 'h'))
        shape += (axis == 'k'   ? std::to_string(K)
                  : axis == 'v' ? std::to_string(V)
                  : axis == 'h' ? "1"
                  : axis == 'l' ? "2"
                                : "?") +
                 "x";
    return shape.empty() ? "f64" : "tensor<" + shape + "f64>";
  };
  std::string arguments, operands, types, blockArguments;
  SmallVector<StringRef> inputs;
  ins.split(inputs, ' ');
  for (StringRef input : inputs) {
    auto [name, axes] = input.split(':');
    arguments += llvm::formatv("%{0}: {1} {{scan.name = \"{0}\"}, ", name,
                               typeOf(axes, false));
    operands += llvm::formatv("{0}%{1} as \"{2}\"",
                              operands.empty() ? "" : ", ", name, axes);
    types += (types.empty() ? "" : ", ") + typeOf(axes, false);
    blockArguments += llvm::formatv(", %{0}_t: {1}", name, typeOf(axes, true));
  }
  std::string features = valueFirst ? "vk" : "kv";
  std::string state = typeOf(features, true),
              states = "tensor<?x1x" + StringRef(state).drop_front(7).str();
  return llvm::formatv(
      R"(func.func @entry({0}
             %s0: {1} {{scan.name = "initial_state", scan.optional},
             %offsets: tensor<?xi64> {{scan.name = "offsets", scan.optional})
             -> (tensor<?x?x1x{2}xf64> {{scan.name = "o"},
                 {1} {{scan.name = "final_state"}) {{
           %o, %f = scan.recurrence {3} ins({4} : {5})
               init(%s0 as "nh{9}" : {1})
               offsets(%offsets : tensor<?xi64>) outs("bthv") finals("nh{9}") {{
             ^bb0(%S: {6}{7}):
               {8}
           } -> (tensor<?x?x1x{2}xf64>), ({1})
           return %o, %f : tensor<?x?x1x{2}xf64>, {1}
         })",
      arguments, states, V, reverse ? "reverse" : "", operands, types, state,
      blockArguments, body, features);
}
