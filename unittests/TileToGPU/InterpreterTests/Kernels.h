//===- Kernels.h - Hand-written kernels for the interpreter -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETERTESTS_KERNELS_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETERTESTS_KERNELS_H

#include "KernelInterpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <random>

namespace prism::test {

/// A kernel in MLIR text. `body` is put into
///   llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>)
/// behind these names: %tid, %lane, %warp (i32); %smem, dynamic shared memory;
/// %cN, i32 constants 0 to 16, 31, 32, 64, 127, 128, 256, 512, 1024 and %all
/// (-1); %true; !acc16, !acc32, !acc64, structs of so many f32.
std::string wrap(const std::string &body);

/// Replaces every `key` in `text`.
std::string replace(std::string text, const std::string &key,
                    const std::string &value);

class Kernel {
public:
  explicit Kernel(const std::string &text, unsigned threads = 128,
                  unsigned sharedBytes = 65536);
  ~Kernel();

  bool isParsed() const { return bool(module); }
  /// Runs one block over the two arrays; the fault, or "".
  std::string run(llvm::ArrayRef<uint8_t> in,
                  llvm::MutableArrayRef<uint8_t> out,
                  InterpreterOptions options = {});
  /// The same with these words.
  std::string run(llvm::ArrayRef<uint64_t> words, llvm::ArrayRef<uint8_t> in,
                  llvm::ArrayRef<uint8_t> out, InterpreterOptions options);
  std::string run(InterpreterOptions options = {}) {
    std::vector<uint8_t> in(65536), out(65536);
    return run(in, out, options);
  }
  /// The same in every order, with copies early and late; the first fault.
  std::string runEveryWay(llvm::ArrayRef<uint8_t> in,
                          llvm::MutableArrayRef<uint8_t> out);
  std::string runEveryWay() {
    std::vector<uint8_t> in(65536), out(65536);
    return runEveryWay(in, out);
  }

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  unsigned threads, sharedBytes;
};

/// Random numbers that bf16 and f16 hold exactly.
inline std::vector<float> randomHalves(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(-64, 64);
  std::vector<float> values(count);
  for (float &value : values)
    value = float(number(random)) / 32;
  return values;
}

uint16_t toHalf(float value, bool isBF16);

template <typename T> T at(llvm::ArrayRef<uint8_t> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void put(std::vector<uint8_t> &bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETERTESTS_KERNELS_H
