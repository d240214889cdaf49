//===- Manifest.h - What a bundle holds -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The contents of manifest.json (docs/Bundle.md) as plain structs,
// and their reader. A manifest that was read is sound: names are unique, sizes
// are in range, files do not leave the bundle, and every kernel has what its
// target needs.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_MANIFEST_H
#define PRISM_RUNTIME_MANIFEST_H

#include "prism-runtime/Files.h"
#include "prism-runtime/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prism::runtime {

/// The newest manifest version that this reader knows.
constexpr int64_t manifestVersion = 3;

enum class DType { F64, F32, BF16, F16, I64 };
const char *toString(DType dtype);
int64_t byteSize(DType dtype);

enum class Role {
  Input,
  InitialState,
  Offsets,
  Output,
  FinalState,
  InitialWindow,
  FinalWindow,
  Intermediate
};
const char *toString(Role role);
inline bool isWritten(Role role) {
  return role == Role::Output || role == Role::FinalState ||
         role == Role::FinalWindow;
}

/// One dimension of an argument: a number, or a size known at the call.
struct Dim {
  enum Kind { Number, B, T, N, NPlus1, S } kind = Number;
  int64_t number = 0;
};
std::string toString(const Dim &dim);
std::string toString(const std::vector<Dim> &shape);

struct ArgumentInfo {
  std::string name;
  Role role = Role::Input;
  DType dtype = DType::F32;
  std::string axes; // one letter per dimension
  std::vector<Dim> shape;
  bool optional = false;
};

struct PlanInfo {
  std::string schedule;
  int64_t chunk = 1, valueBlock = 1, stages = 1;
  int64_t prepareBlocks = 0; // CUDA: beside those of a head's values
};

/// A kernel wants a tensor map of an argument, of boxes of so many steps and
/// elements (64, or the 16 that a warp stores), and of so many of the axis
/// before the elements if that is not one of all arrays (TensorMaps.h).
struct TensorMapInfo {
  std::string argument;
  int64_t rows = 1, columns = 1, ranks = 1;
  // Found in the entry: the argument, and where its pointer and strides stand.
  ArgumentInfo info = {};
  size_t pointerWord = 0, strideWord = 0;
};

enum class Target { Cpu, Cuda };
const char *toString(Target target);

/// What a launch takes for sequences: the call's, all S segments of each, or
/// all but each one's last.
enum class Items { Sequences, Segments, InnerSegments };
const char *toString(Items items);

struct KernelInfo {
  Target target = Target::Cpu;
  std::string symbol;
  PlanInfo plan;
  int64_t valueBlocks = 1; // of a head, those that only prepare among them
  int64_t workspace = 0;   // bytes for one running work item
  std::string matmul;
  // CPU
  std::string isa, file;
  // CUDA
  std::string chip, ptxVersion, ptx, cubin;
  int64_t threads = 1, shared = 0, itemsPerBlock = 1;
  // Of a kernel that splits sequences into segments: what is launched before
  // it, in order, and the arrays in which they meet.
  Items items = Items::Sequences;
  std::vector<KernelInfo> before;
  std::vector<ArgumentInfo> intermediates;

  bool isSplit() const { return !intermediates.empty(); }
  /// The chip or the level that it was made for.
  const std::string &machine() const {
    return target == Target::Cuda ? chip : isa;
  }
  std::vector<TensorMapInfo> tensorMaps;
};

struct ChoiceRow {
  Target target = Target::Cpu;
  int64_t maxSteps = INT64_MAX; // longest sequence that the row serves
  int64_t maxHeads = INT64_MAX; // most sequences x value heads, likewise
  std::string schedule;
  int64_t valueBlock = 0;    // of the schedule's kernels that one; 0: any
  int64_t segments = 1;      // above 1: the one that splits, into so many
  std::string machine = "";  // where kernels of this chip or level run; "": any
  int64_t prepareBlocks = 0; // of these with the value block that one
};

struct EntryInfo {
  std::string name;
  int64_t valueHeads = 1;
  bool reverse = false;
  std::vector<ArgumentInfo> arguments;
  std::vector<KernelInfo> kernels;
  std::vector<ChoiceRow> choice;

  /// The argument of that name, or null.
  const ArgumentInfo *argument(const std::string &name) const;
  /// Completes a map whose argument and box are set, of a kernel with so many
  /// intermediate arrays; false where no argument of that name is rows of time
  /// of 16-bit elements.
  bool locate(TensorMapInfo &map, size_t intermediates = 0) const;
};

/// A name that can stand in messages, files, headers and command lines:
/// letters, digits and _, no digit first, at most 200.
bool isIdentifier(const std::string &name);

struct Manifest {
  std::string compiler, name;
  std::vector<EntryInfo> entries;
};

/// Reads a manifest's text. `file` is what messages call it.
Result<Manifest> parseManifest(const std::string &text,
                               const std::string &file);

/// The text of a bundle's manifest.json.
Result<std::string> readManifestText(const BundleFiles &files);

/// Reads a bundle's manifest.json.
Result<Manifest> readManifest(const BundleFiles &files);

} // namespace prism::runtime

#endif // PRISM_RUNTIME_MANIFEST_H
