//===- Npy.h - Reading and writing .npy files -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// NumPy's array files, versions 1 to 3: little-endian f8, f4, f2, i8, u2 and
// V2 (two opaque bytes), row-major. Files are mapped, not copied; a header is
// believed only as far as the file's size bears it out.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_NPY_H
#define PRISM_RUNTIME_NPY_H

#include "prism-runtime/Manifest.h"

#include <memory>

namespace prism::runtime {

/// What a header says.
struct NpyHeader {
  std::string descr; // as in the file, e.g. "<f4"
  std::vector<int64_t> shape;
  int64_t dataOffset = 0; // of the first element in the file
  int64_t dataBytes = 0;
};

/// Whether a file's element type serves an argument: bf16 comes as `<u2` or
/// `<V2`, every other dtype as itself.
bool npyHolds(const std::string &descr, DType dtype);

/// The element types that npyHolds takes for a dtype, in words.
std::string npyNames(DType dtype);

/// Reads the header of a whole file's bytes. `file` is what messages call it.
Result<NpyHeader> parseNpy(const void *bytes, int64_t size,
                           const std::string &file);

/// A file mapped into memory, read-only, for as long as it lives.
class NpyFile {
public:
  static Result<NpyFile> open(const std::string &path);
  const NpyHeader &header() const { return parsed; }
  /// The first element, aligned to its size.
  const void *data() const { return elements; }

private:
  NpyHeader parsed;
  std::shared_ptr<const void> bytes;
  const void *elements = nullptr;
};

/// A file that appears whole or not at all: write() puts the array beside the
/// final name, commit() renames. Without commit() nothing stays behind.
class NpyWriter {
public:
  /// Checks that `path` can become a file, before anything is computed.
  static Result<NpyWriter> open(const std::string &path);
  NpyWriter(NpyWriter &&other) noexcept;
  NpyWriter &operator=(NpyWriter &&) = delete;
  ~NpyWriter();

  Status write(DType dtype, const std::vector<int64_t> &shape,
               const void *data);
  Status commit();

  /// The file that will appear, links resolved.
  const std::string &path() const { return final; }

private:
  NpyWriter() = default;
  std::string final, temporary;
};

} // namespace prism::runtime

#endif // PRISM_RUNTIME_NPY_H
