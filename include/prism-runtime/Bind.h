//===- Bind.h - Arrays of a call, checked against an entry ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A caller names arrays; binding checks each against the entry's arguments and
// builds the words that every kernel, CPU or GPU, is given (docs/Bundle.md).
// Nothing here touches the arrays' elements, but for the offsets.
//
//   sizes = inferSizes(entry, inputs)          B, T, N
//   shape = shapeOf(argument, *sizes)          to allocate an output
//   call  = bindCall(entry, inputs and outputs)
//
// An EntryInfo made by hand serves as well as one of a manifest.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_BIND_H
#define PRISM_RUNTIME_BIND_H

#include "prism-runtime/Manifest.h"

namespace prism::runtime {

/// An array of the caller's. `data` may be host or device memory.
struct Array {
  void *data = nullptr;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; // in elements; empty: row-major, no gaps
};

struct Binding {
  std::string name;
  Array array;
};
using Bindings = std::vector<Binding>;

struct BindOptions {
  /// The arrays are device memory: `hostOffsets` is then read for the offsets.
  bool deviceMemory = false;
  /// A copy of the offsets in host memory, without gaps.
  const int64_t *hostOffsets = nullptr;
  /// Take the offsets as right without reading them (the longest sequence is
  /// then taken to be T). Wrong offsets are undefined behaviour.
  bool trustOffsets = false;
};

/// The sizes of one call.
struct Sizes {
  int64_t batch = 1;     // B
  int64_t steps = 1;     // T, of a batch row; all packed rows together
  int64_t sequences = 1; // N
  int64_t longest = 1;   // steps of the longest sequence
  int64_t segments = 1;  // S, of every sequence
};

/// A checked call: what a kernel needs besides the kernel itself.
struct Call {
  Sizes sizes;
  int64_t valueHeads = 1;
  int64_t arguments = 0; // of the entry; their pointers are the first words
  std::vector<uint64_t> words;
};

/// Strides of a row-major array without gaps.
std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape);

/// Bytes of an array of that shape without gaps; nothing on 64-bit overflow.
std::optional<int64_t> byteSize(DType dtype, const std::vector<int64_t> &shape);

/// Checks the arrays given, of which all inputs that are not optional must be,
/// and unifies B, T and N over them.
Result<Sizes> inferSizes(const EntryInfo &entry, const Bindings &bindings,
                         const BindOptions &options = {});

/// The shape of an argument in a call of these sizes.
std::vector<int64_t> shapeOf(const ArgumentInfo &argument, const Sizes &sizes);

/// Checks all arrays of a call and builds its words.
Result<Call> bindCall(const EntryInfo &entry, const Bindings &bindings,
                      const BindOptions &options = {});

/// Number of work items of a launch; nothing on 64-bit overflow.
std::optional<int64_t> workItems(const Call &call, int64_t valueBlocks,
                                 Items items = Items::Sequences);

/// Bytes that the arrays between a kernel's launches take in a call with so
/// many segments; nothing on 64-bit overflow.
std::optional<int64_t>
intermediateBytes(const std::vector<ArgumentInfo> &intermediates, Sizes sizes,
                  int64_t segments);

/// The call as the launches of a kernel that splits sequences see it: with the
/// arrays between them, which lie in `memory` (aligned to 256 bytes), and the
/// number of segments.
Call splitCall(const Call &call, const std::vector<ArgumentInfo> &intermediates,
               int64_t segments, void *memory);

} // namespace prism::runtime

#endif // PRISM_RUNTIME_BIND_H
