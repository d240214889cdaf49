//===- Check.h - A compiled entry against the float64 recurrence *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What `prism-compile --check` and the tests do: random inputs that suit each
// argument's use, rounded to its dtype; the step-by-step recurrence in f64 on
// the rounded inputs; the compiled kernel through the runtime; the RMS ratio.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_CHECK_CHECK_H
#define PRISM_CHECK_CHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "prism-runtime/Program.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace prism::check {

/// One array of a call on the host, row-major, and its elements as f64.
struct HostArray {
  runtime::DType dtype = runtime::DType::F32;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
  std::vector<double> values;

  int64_t size() const;
  /// Rounds `values` into `bytes`, and back, so that both hold the same
  /// numbers.
  void encode();
  /// Fills `values` from `bytes`.
  void decode();
};
using HostArrays = std::map<std::string, HostArray>;

/// Distributions of log-gates that are inputs.
enum class GateSet {
  mild,  // logsigmoid(randn) / 16
  hard,  // -20 throughout
  mixed, // a quarter each of mild, -20, -88, minus infinity
  burst  // 32 of -20, then -0.01
};
std::optional<GateSet> parseGateSet(llvm::StringRef name);

struct InputOptions {
  int64_t batch = 2, steps = 65;
  /// Lengths of packed sequences; empty: dense. Their sum replaces `steps`.
  std::vector<int64_t> lengths;
  bool initialState = true;
  GateSet gates = GateSet::mild;
  uint64_t seed = 1;
};

/// Sizes of the call that the options describe.
runtime::Sizes sizesOf(const InputOptions &options);

/// Bytes that a check of an entry holds at once, roughly: arrays, their
/// elements as f64, and the oracle's. Never overflows.
double bytesOfCheck(const runtime::EntryInfo &info,
                    const InputOptions &options);

/// Random inputs of an entry: unit keys and queries, strengths and scales in
/// (0, 1), gates as asked for, all else standard normal; by use in `entry`.
HostArrays makeInputs(mlir::func::FuncOp entry, const runtime::EntryInfo &info,
                      const InputOptions &options);

/// The decays of an entry's steps, and how many of them take their log-gates
/// from an argument as it is, which `gates` are drawn for.
struct GateReach {
  int64_t decays = 0, drawn = 0;
};
GateReach reachOfGates(mlir::func::FuncOp entry);

/// Empty arrays for every output and final state, filled with NaN.
HostArrays makeOutputs(const runtime::EntryInfo &info,
                       const runtime::Sizes &sizes);

/// Outputs of the float64 recurrence; fails with a diagnostic at the op that
/// the oracle does not know.
mlir::FailureOr<HostArrays> runOracle(mlir::func::FuncOp entry,
                                      const runtime::EntryInfo &info,
                                      const HostArrays &inputs,
                                      const HostArrays &outputs);

/// Error of one tensor.
struct TensorError {
  std::string name;
  double ratio = 0;     // sqrt(sum err^2 / sum ref^2)
  double worstHead = 0; // the same, of the worst value head
  double limit = 0;
  bool passed = false;
};

/// The limit of design.md's numerics law for outputs of an entry's I/O dtype.
double errorLimit(runtime::DType io);

/// Compares outputs with references: `limit` for the tensor, 1.5 times that for
/// each head; a zero reference must be met exactly and nothing may be NaN that
/// is not NaN in the reference.
std::vector<TensorError> compare(const runtime::EntryInfo &info,
                                 const HostArrays &outputs,
                                 const HostArrays &references, double limit);

/// Where kernels are played: "cpu" or "cuda:N".
struct Device {
  std::string name = "cpu";
  unsigned threads = 0; // CPU; 0: all
  bool isCuda() const { return name.rfind("cuda", 0) == 0; }
};

/// Can this machine run the kernel on the device at all? (ISA level, target and
/// chip; of a GPU that does not open, play() says why.)
bool canPlay(const runtime::KernelInfo &kernel, const Device &device);

/// Runs one kernel of a loaded bundle on host arrays; on a GPU with copies to
/// and fro. Outputs hold what the kernel wrote, decoded.
runtime::Status play(const runtime::Program &program, const std::string &entry,
                     const runtime::KernelInfo &kernel, HostArrays &inputs,
                     HostArrays &outputs, const Device &device);

/// Bindings of all arrays of a call.
runtime::Bindings bindings(HostArrays &inputs, HostArrays &outputs);

} // namespace prism::check

#endif // PRISM_CHECK_CHECK_H
