//===- Oracle.cpp - Outputs of the float64 recurrence ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Check/Check.h"
#include "Prism/Interpreter/Interpreter.h"

using namespace mlir;
using namespace prism;
using namespace prism::check;

FailureOr<HostArrays> check::runOracle(func::FuncOp entry,
                                       const runtime::EntryInfo &info,
                                       const HostArrays &inputs,
                                       const HostArrays &outputs) {
  interpreter::Arrays arguments;
  for (const auto &[name, array] : inputs)
    arguments[name] = interpreter::Array(array.shape, array.values);
  FailureOr<interpreter::Arrays> results =
      interpreter::evaluate(entry, arguments);
  if (failed(results))
    return failure();
  HostArrays references;
  for (const auto &[name, blank] : outputs) {
    auto found = results->find(name);
    if (found == results->end())
      return entry.emitError("the float64 recurrence has no result '")
             << name << "'";
    HostArray reference;
    reference.dtype = runtime::DType::F64;
    reference.shape.assign(found->second.shape.begin(),
                           found->second.shape.end());
    if (reference.shape != blank.shape)
      return entry.emitError("the float64 recurrence's result '")
             << name << "' has another shape than the manifest says";
    reference.values = found->second.data;
    references[name] = std::move(reference);
  }
  return references;
}
