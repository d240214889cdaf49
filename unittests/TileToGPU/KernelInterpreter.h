//===- KernelInterpreter.h - Runs a GPU kernel on the host ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Executes one block of a converted kernel (arith, math, scf, llvm, nvvm) with
// all its threads, and watches what a GPU would not tell: accesses of shared
// memory that no barrier orders, reads of what was never written or is still on
// its way, results of a wgmma used before its wait, operands changed under one,
// missing fences, accesses out of bounds, deadlocks. What it knows and how is
// said in Interpreter/README.md.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_KERNELINTERPRETER_H
#define PRISM_UNITTESTS_TILETOGPU_KERNELINTERPRETER_H

#include "Interpreter/Machine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstdint>
#include <string>
#include <vector>

namespace prism::test {

class KernelInterpreter {
public:
  /// `sharedBytes` of dynamic shared memory; static variables are added.
  KernelInterpreter(mlir::LLVM::LLVMFuncOp kernel, int64_t threads,
                    int64_t sharedBytes, InterpreterOptions options = {});

  /// Allows global accesses to these bytes.
  void allow(const void *base, size_t bytes) {
    ranges.push_back({reinterpret_cast<uint64_t>(base), bytes});
  }
  /// Runs one block, or the cluster that it is the first of if the kernel asks
  /// for clusters; false and error() set on a fault. `words` are the kernel's
  /// arguments, or what its one byval argument points to.
  bool runBlock(int64_t block, llvm::ArrayRef<uint64_t> words,
                int64_t gridSize = 1);
  const std::string &error() const { return fault; }
  int64_t blocksOfCluster() const { return cluster; }
  /// Boxes that were loaded, and that were stored.
  int64_t countBoxes() const { return boxes; }
  int64_t countStoredBoxes() const { return storedBoxes; }

private:
  Program program;
  int64_t threads, sharedBytes, cluster = 1, boxes = 0, storedBoxes = 0;
  InterpreterOptions options;
  std::vector<std::pair<uint64_t, size_t>> ranges;
  std::string fault;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_KERNELINTERPRETER_H
