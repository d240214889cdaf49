//===- KernelInterpreter.cpp - Runs a GPU kernel on the host --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelInterpreter.h"
#include "Interpreter/Decoder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::test;

KernelInterpreter::KernelInterpreter(LLVM::LLVMFuncOp kernel, int64_t threads,
                                     int64_t sharedBytes,
                                     InterpreterOptions options)
    : threads(threads), sharedBytes(sharedBytes), options(options) {
  Decoder(program).decode(kernel);
  if (auto dims = kernel->getAttrOfType<DenseI32ArrayAttr>(
          NVVM::NVVMDialect::getClusterDimAttrName()))
    cluster = dims[0];
}

bool KernelInterpreter::runBlock(int64_t block, ArrayRef<uint64_t> words,
                                 int64_t gridSize) {
  Machine machine(program, unsigned(threads),
                  program.sharedBytes + uint64_t(sharedBytes),
                  unsigned(cluster), options);
  machine.allowed = ranges;
  machine.firstBlock = block;
  machine.gridSize = gridSize;
  machine.run(words);
  fault = machine.error();
  boxes += machine.boxes.countIssued();
  storedBoxes += machine.stores.countIssued();
  return fault.empty();
}
