//===- Support.h - Texts and files of the runtime ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What several files of the runtime share: quoting, the nearest right name,
// reading a file, and paths that stay inside a bundle.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_RUNTIME_SUPPORT_H
#define PRISM_LIB_RUNTIME_SUPPORT_H

#include "prism-runtime/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prism::runtime {

/// 'text', with control characters replaced and long texts cut.
std::string quote(const std::string &text);

/// "a, b, c".
std::string join(const std::vector<std::string> &parts);

/// "[2, 65, 4, 64]".
std::string showShape(const std::vector<int64_t> &shape);

/// The name of `names` nearest to `wrong`; empty where none is near.
std::string nearest(const std::string &wrong,
                    const std::vector<std::string> &names);

/// "; did you mean 'q'?" or nothing.
std::string didYouMean(const std::string &wrong,
                       const std::vector<std::string> &names);

/// Of the arrays between launches, and so of a workspace.
inline constexpr int64_t arrayAlignment = 256;

inline int64_t roundUp(int64_t bytes, int64_t to) {
  return (bytes + to - 1) / to * to;
}

/// A whole file of at most `limit` bytes.
Result<std::string> readFile(const std::string &path, int64_t limit);

/// Whether a path, as text, names something below the folder it is taken in.
bool staysInside(const std::string &relative);

/// The path of a bundle's file, links resolved; a failure where it is missing
/// or a link leads out of the bundle.
Result<std::string> resolveInside(const std::string &folder,
                                  const std::string &relative);

/// strerror without its shared buffer.
std::string systemError(int number);

} // namespace prism::runtime

#endif // PRISM_LIB_RUNTIME_SUPPORT_H
