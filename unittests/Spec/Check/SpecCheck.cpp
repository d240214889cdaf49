//===- SpecCheck.cpp - The spec reader as a program -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For tests and for scripts:
//   prism-spec-check --schema          prints the JSON Schema of the table
//   prism-spec-check --verdicts FILE   one spec a line; prints "ok", or the
//   stage
//                                      that refuses it and the message
//   prism-spec-check --scan FILE...    prints the scan dialect of each spec
//   prism-spec-check --expand FILE...  prints each spec written out
//
//===----------------------------------------------------------------------===//

#include "Prism/Import/Import.h"
#include "Prism/Spec/Structure.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace prism::spec;

static int printVerdicts(llvm::StringRef lines) {
  for (; !lines.empty(); lines = lines.split('\n').second) {
    SpecDiagnostic diagnostic;
    llvm::StringRef line = lines.split('\n').first;
    if (succeeded(readSpec(line, "spec.json", diagnostic))) {
      llvm::outs() << "ok\n";
      continue;
    }
    static constexpr llvm::StringLiteral kStages[] = {"text", "structure",
                                                      "meaning"};
    llvm::outs() << kStages[static_cast<unsigned>(diagnostic.stage)] << ' '
                 << diagnostic.str() << "\n";
  }
  return 0;
}

static bool printSpecFile(llvm::StringRef text, llvm::StringRef file,
                          bool expand) {
  SpecDiagnostic diagnostic;
  llvm::FailureOr<Spec> spec = readSpec(text, file, diagnostic);
  if (failed(spec)) {
    llvm::errs() << diagnostic.str() << "\n";
    return false;
  }
  if (expand) {
    llvm::outs() << printSpec(expandSpec(*spec));
    return true;
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = importSpec(*spec, &context);
  if (module)
    llvm::outs() << *module << "\n";
  return bool(module);
}

int main(int argc, char **argv) {
  llvm::StringRef mode = argc > 1 ? argv[1] : "";
  if (mode == "--schema") {
    llvm::outs() << printSpec(publishedSchema());
    return 0;
  }
  if (argc < 3 ||
      (mode != "--verdicts" && mode != "--scan" && mode != "--expand")) {
    llvm::errs() << "usage: prism-spec-check --schema | --verdicts FILE | "
                    "--scan FILE... | --expand FILE...\n";
    return 2;
  }
  bool ok = true;
  for (int i = 2; i < argc; ++i) {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(argv[i]);
    if (!buffer) {
      llvm::errs() << argv[i] << ": error: " << buffer.getError().message()
                   << "\n";
      return 1;
    }
    if (mode == "--verdicts")
      return printVerdicts((*buffer)->getBuffer());
    ok &= printSpecFile((*buffer)->getBuffer(), argv[i], mode == "--expand");
  }
  return ok ? 0 : 1;
}
