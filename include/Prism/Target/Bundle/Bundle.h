//===- Bundle.h - Writing what lib/Runtime plays ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The writer of docs/Bundle.md. It fills the structs that the runtime reads, so
// that a compiled entry can also be bound and run without touching a disk.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TARGET_BUNDLE_BUNDLE_H
#define PRISM_TARGET_BUNDLE_BUNDLE_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "prism-runtime/Files.h"
#include "prism-runtime/Manifest.h"
#include "llvm/Support/Error.h"
#include <string>

namespace prism {

struct Bundle {
  runtime::Manifest manifest;
  /// The expanded spec as JSON text, or empty (a .mlir input has none).
  std::string spec;
  /// The kernels.
  runtime::FileContents files;
};

/// Arguments, heads and direction of an entry, from its program. No kernels
/// yet.
runtime::EntryInfo describeEntry(tile::ProgramOp program,
                                 llvm::StringRef entryName);

/// Of a program that cuts sequences into segments: the arrays of the workspace,
/// and what it takes for sequences.
std::vector<runtime::ArgumentInfo>
describeIntermediates(tile::ProgramOp program);
runtime::Items itemsOf(tile::ProgramOp program);

/// manifest.json's text.
std::string printManifest(const Bundle &bundle);

/// C declarations of the CPU kernels.
std::string printHeader(const Bundle &bundle);

/// All files of the bundle's folder.
runtime::FileContents bundleFiles(const Bundle &bundle);

/// Writes the bundle as folder `path`, all of it or nothing: it is built beside
/// `path` and renamed. An older bundle there is replaced; a folder that is no
/// bundle is not.
llvm::Error writeBundle(const Bundle &bundle, llvm::StringRef path);

/// Writes a file by rename.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef contents);

} // namespace prism

#endif // PRISM_TARGET_BUNDLE_BUNDLE_H
