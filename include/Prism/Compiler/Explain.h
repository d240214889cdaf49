//===- Explain.h - What was recognised, chosen, and what limits it -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An explanation is data first; the text and the page show the same data.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_COMPILER_EXPLAIN_H
#define PRISM_COMPILER_EXPLAIN_H

#include "Prism/Compiler/Compiler.h"

namespace prism::explain {

/// A factor of a state's chain, or a read of the state at that place.
struct Step {
  enum Kind { decay, erase, inject, other, read };
  Kind kind = other;
  std::string text;    // "erase, rank 1, tied keys (delta rule)"
  std::string formula; // "S ← S − β k (kᵀ S)"
  /// Symbols of the formula and what they stand for: {"β", "beta"}.
  std::vector<std::pair<std::string, std::string>> symbols;
};

struct State {
  std::string shape; // "64 x 64"
  bool isChain = true;
  std::vector<Step> steps;
};

/// What the recurrence is, and what it costs whatever the plan.
struct Recurrence {
  std::vector<State> states;
  int64_t keys = 0, values = 0; // of the first state
  int64_t valueHeads = 1;
  bool reverse = false;
  std::string scanClass; // in words
  /// Of a token and value head; multiply-adds count two.
  double flops = 0, bytes = 0;
  /// Moved too where every call is one token.
  double stateBytes = 0;
};

/// The roofline: no schedule is faster than its arithmetic at the peak nor than
/// its bytes at the bandwidth. All heads of a token: nanoseconds of a GPU,
/// cycles of a CPU's core.
struct Limit {
  size_t roof = 0; // of the target
  double arithmetic = 0;
  double memory = 0; // 0: not known
};

/// How sequences are cut into segments, and when.
struct Split {
  int64_t mapColumns = 0;
  bool foldsMaps = false; // each segment, as it starts
  std::optional<int64_t> always;
  std::vector<SegmentRange> ranges;
};

/// The call that times are predicted for.
struct CallShape {
  int64_t sequences = 1, steps = 4096;
};

/// How long it takes by a plan on a GPU.
struct Predicted {
  int64_t segments = 1;
  double microseconds = 0;
  bool isTaken = false; // by the decision table
};

/// What a plan comes to.
struct Plan {
  std::string schedule;
  int64_t chunk = 1, valueBlock = 0, prepareBlocks = 0;
  std::string products; // "IEEE f32"
  double flops = 0, intensity = 0;
  std::vector<std::pair<std::string, int64_t>> roles; // with their warps
  std::optional<Split> split;
  std::vector<Limit> limits;        // a GPU's; or one for each level of a CPU
  std::vector<Predicted> predicted; // on a GPU
  std::vector<Remark> remarks;
  std::string program; // the tile program
};

/// What one target gives.
struct Target {
  struct Roof {
    std::string name; // "16-bit tensor cores", "x86-64-v4"
    double peak = 0;  // FLOP per second of a GPU, per cycle of a CPU's core
  };
  std::string name;
  bool isGpu = false;
  std::vector<Roof> roofs;
  double bandwidth = 0; // bytes per second; 0: not known
  int64_t multiprocessors = 0;
  /// Of a GPU: for which call times are predicted, and by measurements of what;
  /// "": none was measured.
  CallShape shape;
  std::string measured;
  bool isMeasured = false; ///< other kernels were, at least
  /// Sequences of up to so many steps are taken token by token; 0: none.
  int64_t recurrentUpTo = 0;
  std::vector<Plan> plans; // best for long sequences first
};

/// A prefix scan: what its elements are and which class it has, in words.
struct PrefixScan {
  std::string elements;                // "an element for each token, 4 heads"
  std::vector<std::string> components; // types
  std::string prefix;                  // "of what is before the token, ..."
  std::string scanClass;
};

struct Entry {
  std::string name;
  /// Of an entry without a recurrence; nothing else is said of such a one.
  std::vector<PrefixScan> prefixes;
  std::vector<runtime::ArgumentInfo> arguments;
  Recurrence recurrence;
  std::vector<Target> targets;
};

/// The units are those of buildUnits, target by target; at least one.
Entry explainEntry(mlir::func::FuncOp entry, llvm::ArrayRef<Unit> units,
                   const CompileOptions &options, CallShape shape = {});

/// What is said of an entry that has prefix scans and no recurrence.
std::optional<Entry> explainPrefixes(mlir::func::FuncOp entry);

/// In words, for a terminal.
void printText(llvm::raw_ostream &os, const Entry &entry);

/// One HTML page that needs nothing else: no script, font or network.
std::string printPage(llvm::StringRef model, llvm::ArrayRef<Entry> entries);

} // namespace prism::explain

#endif // PRISM_COMPILER_EXPLAIN_H
