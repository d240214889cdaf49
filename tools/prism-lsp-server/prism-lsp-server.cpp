//===- prism-lsp-server.cpp - Language server with Prism's dialects -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An editor starts it and speaks the language server protocol on its standard
// input and output. docs/Editors.md says how to point one at it.
//
//===----------------------------------------------------------------------===//

#include "Prism/Registration/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LogicalResult.h"

int main(int argc, char **argv) {
  // --help shows the server's own options, which come later, not LLVM's.
  llvm::cl::OptionCategory none("prism-lsp-server");
  llvm::cl::HideUnrelatedOptions(none);
  mlir::DialectRegistry registry;
  prism::registerPrismDialects(registry);
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
