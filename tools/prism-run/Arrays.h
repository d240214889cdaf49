//===- Arrays.h - The arrays of one run -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs are mapped files; outputs are memory that is written beside its final
// name and renamed when the run is done. The runtime checks shapes and dtypes;
// here, only what is about files and the command line.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TOOLS_PRISM_RUN_ARRAYS_H
#define PRISM_TOOLS_PRISM_RUN_ARRAYS_H

#include "prism-runtime/Npy.h"
#include "prism-runtime/Program.h"

#include <map>

namespace prism::run {

/// NAME=FILE of the command line, in order.
using Named = std::vector<std::pair<std::string, std::string>>;

/// Splits "name=file" arguments.
runtime::Result<Named> splitNamed(const std::vector<std::string> &texts,
                                  const std::string &option);

struct Input {
  const runtime::ArgumentInfo *info;
  runtime::NpyFile file;
};

struct Output {
  const runtime::ArgumentInfo *info;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  std::shared_ptr<void> memory;
  std::optional<runtime::NpyWriter> file; // none: computed, not asked for
};

struct Arrays {
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  runtime::Sizes sizes;

  /// Maps the inputs, infers the sizes and allocates the outputs: those asked
  /// for, and those that the entry cannot leave out.
  static runtime::Result<Arrays> open(const runtime::EntryInfo &entry,
                                      const Named &in, const Named &out);

  /// The arrays in host memory.
  runtime::Bindings hostBindings() const;

  /// The packed sequences' offsets, or null.
  const int64_t *offsets() const;

  /// Writes all outputs, then renames all.
  runtime::Status save();
};

} // namespace prism::run

#endif // PRISM_TOOLS_PRISM_RUN_ARRAYS_H
