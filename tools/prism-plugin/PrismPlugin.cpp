//===- PrismPlugin.cpp - Prism's dialects and passes for mlir-opt ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A module that a stock mlir-opt of the same LLVM loads:
//
//   mlir-opt --load-dialect-plugin=PrismPlugin.so \
//            --load-pass-plugin=PrismPlugin.so \
//            --pass-pipeline='builtin.module(scan-verify-state-independence)'
//
// Options of mlir-opt exist before plugins are loaded, so passes are named by
// --pass-pipeline only.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "Prism/Registration/Registration.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

static void registerDialects(mlir::DialectRegistry *registry) {
  registry->insert<prism::scan::ScanDialect, prism::tile::TileDialect>();
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "PrismDialects", LLVM_VERSION_STRING,
          registerDialects};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "PrismPasses", LLVM_VERSION_STRING,
          prism::registerPrismPasses};
}
