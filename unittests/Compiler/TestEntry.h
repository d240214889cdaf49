//===- TestEntry.h - Entries to compile in tests ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_COMPILER_TESTENTRY_H
#define PRISM_UNITTESTS_COMPILER_TESTENTRY_H

#include "Prism/Import/Import.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Spec/Spec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

namespace prism::test {

/// A context with everything registered and no threads of its own.
struct Context {
  Context() : mlir(registry(), mlir::MLIRContext::Threading::DISABLED) {
    mlir.loadAllAvailableDialects();
  }
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registerPrismDialects(registry);
    return registry;
  }
  mlir::MLIRContext mlir;
};

/// The module of a spec; a test failure and null if it is wrong.
inline mlir::OwningOpRef<mlir::ModuleOp>
importText(llvm::StringRef text, mlir::MLIRContext &context) {
  spec::SpecDiagnostic diagnostic;
  llvm::FailureOr<spec::Spec> model =
      spec::readSpec(text, "test.json", diagnostic);
  if (failed(model)) {
    ADD_FAILURE() << diagnostic.str();
    return {};
  }
  return spec::importSpec(*model, &context);
}

/// Steps with the given JSON on small sizes; all inputs one may name are there
/// if they are used.
inline std::string specText(const std::string &steps, const std::string &inputs,
                            const std::string &io = "f32") {
  return R"({"prism_spec": 1, "name": "test", "dims": {"B": null, "T": null, "Hk": 1, "Hv": 2, "K": 5, "V": 3, "L": 2},
 "dtype": {"io": ")" +
         io + R"("}, "inputs": {)" + inputs + R"(}, "steps": [)" + steps +
         R"(], "entries": ["forward"]})";
}

inline const char *const nameless =
    R"({"read": {"query": "q"}}, {"erase": {"key": "k", "strength": "b"}}, {"decay": "g"},
 {"erase": {"key": "a", "strength": "e"}}, {"inject": {"key": "k", "value": "v", "scale": "e"}},
 {"inject": {"key": "a", "value": "w", "scale": "b"}})";
inline const char *const namelessInputs =
    R"("q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"], "a": ["B","T","Hk","K"],
 "v": ["B","T","Hv","V"], "w": ["B","T","Hv","V"], "g": ["B","T","Hv"], "b": ["B","T","Hv"], "e": ["B","T","Hv"])";
inline const char *const gatedDelta =
    R"({"decay": "g"}, {"erase": {"key": "k", "strength": "b"}},
 {"inject": {"key": "k", "value": "v", "scale": "b"}}, {"read": {"query": "q"}})";
inline const char *const gatedDeltaInputs =
    R"("q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"], "v": ["B","T","Hv","V"],
 "g": ["B","T","Hv"], "b": ["B","T","Hv"])";

} // namespace prism::test

#endif // PRISM_UNITTESTS_COMPILER_TESTENTRY_H
