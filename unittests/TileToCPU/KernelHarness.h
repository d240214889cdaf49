//===- KernelHarness.h - Compile and run tile programs in tests -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Gated DeltaNet as tile program text for any extents, its recurrence as a
// plain loop in double, and arrays that sit between guards of NaN so that a
// stray read shows in the result and a stray write in the guard.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOCPU_KERNELHARNESS_H
#define PRISM_UNITTESTS_TILETOCPU_KERNELHARNESS_H

#include "Prism/Target/CPU/CPU.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>
#include <vector>

namespace prism::test {

/// An array of bf16, f16, f32 or f64, held as bytes between two guards.
class GuardedArray {
public:
  GuardedArray(std::string dtype, std::vector<int64_t> shape,
               int64_t misalign = 0);
  void set(int64_t index, double value);
  double get(int64_t index) const;
  int64_t size() const { return count; }
  void *data();
  const std::vector<int64_t> &getShape() const { return shape; }
  std::vector<int64_t> strides() const;
  /// Have the guards kept their bytes?
  bool guardsIntact() const;
  void fillWithNaN();

private:
  int64_t width() const;
  const unsigned char *at(int64_t index) const;
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t count = 1, offset;
  std::vector<unsigned char> bytes;
};

/// Rounds to the type and back.
double roundTo(const std::string &dtype, double value);

/// A module with kernels compiled for one instruction set.
class CompiledProgram {
public:
  CompiledProgram(const std::string &text, llvm::StringRef isa);
  bool ok() const { return kernel.has_value(); }
  const std::string &messages() const { return diagnostics; }
  std::string assembly(llvm::StringRef isa) const;
  llvm::LogicalResult writeObject(llvm::StringRef isa,
                                  llvm::raw_pwrite_stream &out) const {
    return emitObject(*module, isa, out);
  }
  double compileSeconds() const { return seconds; }
  /// Null arrays are absent optional arguments.
  int32_t run(llvm::ArrayRef<GuardedArray *> arrays,
              llvm::ArrayRef<size_t> axisCounts,
              const std::vector<int64_t> *offsets, int64_t sequences,
              int64_t steps, int64_t items);
  JitKernel::Function function() const { return kernel->function(); }
  int64_t workspaceBytes() const { return kernel->workspaceBytes(); }

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<JitKernel> kernel;
  std::string diagnostics;
  double seconds = 0;
};

struct GatedDelta {
  int64_t K = 64, V = 64, C = 16, T = 65, B = 1, Hk = 2, Hv = 2,
          block = 0; // block 0: V
  std::string io = "f32", compute = "f32";
  bool reverse = false, initial = true, final = true;
  std::vector<int64_t> offsets = {}; // packed if not empty
  bool strongGates = false;

  std::string text() const;
};

/// Runs one case; returns what is wrong with it, or nothing.
std::string check(const GatedDelta &c, llvm::StringRef isa);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOCPU_KERNELHARNESS_H
