//===- Support.cpp - Texts and files of the runtime ------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace prism::runtime {

std::string quote(const std::string &text) {
  std::string result = "'";
  for (char c : text.substr(0, 80))
    result += static_cast<unsigned char>(c) < 32 ? '?' : c;
  return result + (text.size() > 80 ? "...'" : "'");
}

std::string join(const std::vector<std::string> &parts) {
  std::string result;
  for (const std::string &part : parts)
    result += (result.empty() ? "" : ", ") + part;
  return result;
}

std::string showShape(const std::vector<int64_t> &shape) {
  std::vector<std::string> parts;
  for (int64_t extent : shape)
    parts.push_back(std::to_string(extent));
  return "[" + join(parts) + "]";
}

/// Number of insertions, deletions, replacements and swaps of neighbours.
static size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> d(a.size() + 1,
                                     std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string nearest(const std::string &wrong,
                    const std::vector<std::string> &names) {
  std::string best;
  // A third of the letters may be wrong; one always may.
  size_t bound = std::max<size_t>(1, wrong.size() / 3) + 1;
  if (wrong.size() > 200)
    return best;
  for (const std::string &name : names) {
    if (name.size() > 200)
      continue;
    size_t distance = editDistance(wrong, name);
    if (distance < bound) {
      bound = distance;
      best = name;
    }
  }
  return best;
}

std::string didYouMean(const std::string &wrong,
                       const std::vector<std::string> &names) {
  std::string name = nearest(wrong, names);
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

Result<std::string> readFile(const std::string &path, int64_t limit) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    return Failure{path + ": expected a file, found a folder"};
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream)
    return Failure{path + ": cannot open: " + systemError(errno)};
  int64_t size = static_cast<int64_t>(stream.tellg());
  if (size < 0 || size > limit)
    return Failure{path + ": expected at most " + std::to_string(limit) +
                   " bytes, found " + std::to_string(size)};
  std::string text(static_cast<size_t>(size), '\0');
  stream.seekg(0);
  if (!stream.read(text.data(), size))
    return Failure{path + ": cannot read: " + systemError(errno)};
  return text;
}

bool staysInside(const std::string &relative) {
  std::filesystem::path path(relative);
  if (relative.empty() || relative.find('\0') != std::string::npos ||
      !path.is_relative() || relative.find('\\') != std::string::npos)
    return false;
  return std::all_of(path.begin(), path.end(), [](const auto &part) {
    return part != ".." && !part.empty();
  });
}

Result<std::string> resolveInside(const std::string &folder,
                                  const std::string &relative) {
  namespace fs = std::filesystem;
  std::string shown = (fs::path(folder) / relative).string();
  std::error_code failed;
  fs::path root = fs::canonical(folder, failed);
  if (failed)
    return Failure{folder + ": cannot open: " + failed.message()};
  fs::path path = fs::canonical(fs::path(folder) / relative, failed);
  if (failed)
    return Failure{shown + ": cannot open: " + failed.message()};
  auto [rootEnd, pathEnd] =
      std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (!staysInside(relative) || rootEnd != root.end())
    return Failure{shown + ": expected a file inside the bundle, found " +
                   quote(path.string())};
  if (!fs::is_regular_file(path, failed))
    return Failure{shown + ": expected a file, found something else"};
  return path.string();
}

std::string systemError(int number) {
  return std::generic_category().message(number);
}

} // namespace prism::runtime
