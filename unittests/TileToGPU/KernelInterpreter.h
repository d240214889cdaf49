//===- KernelInterpreter.h - Runs a GPU kernel on the host ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Executes a converted kernel (arith, math, scf, llvm, nvvm on scalars) op by
// op for all threads of a block at once, under masks, and watches what a GPU
// would not tell: a read of shared memory that another thread writes between
// the same two barriers (or the reverse), reads of shared memory never written,
// accesses out of bounds, barriers and shuffles that some thread does not
// reach.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_KERNELINTERPRETER_H
#define PRISM_UNITTESTS_TILETOGPU_KERNELINTERPRETER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace prism::test {

class KernelInterpreter {
public:
  KernelInterpreter(mlir::LLVM::LLVMFuncOp kernel, int64_t threads,
                    int64_t sharedBytes)
      : kernel(kernel), threads(threads), sharedBytes(sharedBytes) {}

  /// Allows global accesses to these bytes.
  void allow(const void *base, size_t bytes) {
    ranges.push_back({reinterpret_cast<uint64_t>(base), bytes});
  }
  /// Runs one block; false and error() set on a fault.
  bool runBlock(int64_t block, llvm::ArrayRef<uint64_t> words);
  const std::string &error() const { return fault; }
  int64_t countBarriers() const { return barriers; }

private:
  using Lanes = std::vector<uint64_t>;
  using Mask = std::vector<char>;
  /// Who touched a word of shared memory since when.
  struct Cell {
    uint32_t bits = 0;
    bool isWritten = false;
    int64_t writer = -1, writeEpoch = -1, reader = -1, readEpoch = -1;
    bool manyReaders = false;
  };

  void runOps(mlir::Block &block, const Mask &mask);
  void runOp(mlir::Operation *op, const Mask &mask);
  void runIf(mlir::Operation *op, const Mask &mask);
  void runFor(mlir::Operation *op, const Mask &mask);
  void runShuffle(mlir::Operation *op, const Mask &mask);
  void runMemory(mlir::Operation *op, const Mask &mask);
  bool runScalar(mlir::Operation *op, const Mask &mask);
  void copy(mlir::Value to, mlir::Value from, const Mask &mask);
  uint64_t load(mlir::Type pointer, uint64_t address, unsigned bytes,
                int64_t thread);
  void store(mlir::Type pointer, uint64_t address, unsigned bytes,
             uint64_t bits, int64_t thread);
  uint32_t loadShared(uint64_t address, int64_t thread);
  void storeShared(uint64_t address, uint32_t bits, int64_t thread);
  bool isAllowed(uint64_t address, unsigned bytes) const;
  Lanes &lanes(mlir::Value value);
  void fail(const std::string &what);

  mlir::LLVM::LLVMFuncOp kernel;
  int64_t threads, sharedBytes, blockId = 0, epoch = 0, barriers = 0;
  std::vector<std::pair<uint64_t, size_t>> ranges;
  std::vector<Cell> shared;
  llvm::ArrayRef<uint64_t> parameter;
  std::unordered_map<void *, Lanes> values;
  mlir::Operation *current = nullptr;
  std::string fault;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_KERNELINTERPRETER_H
