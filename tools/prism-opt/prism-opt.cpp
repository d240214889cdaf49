//===- prism-opt.cpp - Optimizer driver with Prism's dialects -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Registration/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  prism::registerPrismDialects(registry);
  prism::registerPrismPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv,
                        "Prism's optimizer driver: scan and tile IR through "
                        "any pass or pipeline\n",
                        registry));
}
