//===- ModuleFuzz.cpp - Any text as a module ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Parsers, verifiers and folders of the dialects: a text is refused with an
// error, or is a module that prints, reads again and prints the same.
//
//===----------------------------------------------------------------------===//

#include "Dialects.h"
#include "Fuzz.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace prism;

static std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // MLIR's lexer reads one character past the end, as every file's buffer
  // allows.
  const std::string text(reinterpret_cast<const char *>(data), size);
  mlir::MLIRContext context(fuzz::dialects(),
                            mlir::MLIRContext::Threading::DISABLED);
  bool told = false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    told = true;
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    fuzz::require(told, "a module is refused without a message");
    return 0;
  }
  std::string printed = print(*module);
  auto again = mlir::parseSourceString<mlir::ModuleOp>(printed, &context);
  fuzz::require(bool(again), "a printed module is refused");
  fuzz::require(print(*again) == printed, "a printed module reads differently");
  return 0;
}
