//===- Files.h - Where a bundle's files are ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A bundle is a folder, or the same files in memory: one that was compiled in
// this process touches no disk until somebody saves it.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_FILES_H
#define PRISM_RUNTIME_FILES_H

#include "prism-runtime/Result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace prism::runtime {

/// Contents by file name.
using FileContents = std::map<std::string, std::string>;

/// The files of one bundle; copies share the contents.
class BundleFiles {
public:
  /// Those of a folder; nothing is read yet.
  BundleFiles(std::string folder) : place(std::move(folder)) {}

  /// Contents in memory; `name` is what messages call the bundle.
  BundleFiles(FileContents contents, std::string name)
      : place(std::move(name)),
        contents(std::make_shared<const FileContents>(std::move(contents))) {}

  bool inMemory() const { return contents != nullptr; }

  /// The folder, or the name of a bundle in memory.
  const std::string &where() const { return place; }

  /// How messages call a file.
  std::string show(const std::string &name) const;

  /// A whole file of at most `limit` bytes, which must lie inside the bundle.
  Result<std::string> read(const std::string &name, int64_t limit) const;

  /// Opens a shared object, which stays loaded for as long as somebody holds
  /// the result. One in memory keeps a file descriptor open so long.
  Result<std::shared_ptr<void>> openLibrary(const std::string &name) const;

private:
  std::string place;
  std::shared_ptr<const FileContents> contents; // null: a folder
};

/// Writes files as folder `path`, all of them or none: it is built beside
/// `path` and renamed. An older bundle there is replaced; a folder that is
/// neither empty nor a bundle is not.
Status writeBundleFolder(const FileContents &files, const std::string &path);

} // namespace prism::runtime

#endif // PRISM_RUNTIME_FILES_H
