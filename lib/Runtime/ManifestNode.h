//===- ManifestNode.h - A value of a manifest and its place -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A reader walks the JSON value with its pointer at hand, so every complaint
// says where.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_RUNTIME_MANIFESTNODE_H
#define PRISM_LIB_RUNTIME_MANIFESTNODE_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace prism::runtime {

/// A complaint about one place of the manifest, as it is thrown.
struct Complaint {
  std::string message;
};

/// A value of the manifest and where it stands.
class Node {
public:
  Node(const nlohmann::json &value, std::string pointer)
      : value(value), pointer(std::move(pointer)) {}

  [[noreturn]] void fail(const std::string &expected,
                         const std::string &found) const;
  [[noreturn]] void fail(const std::string &expected) const;

  bool has(const char *key) const;
  /// The member `key`, which `expected` describes should it be missing.
  Node at(const char *key, const char *expected) const;
  std::vector<Node> list() const;
  std::string text() const;
  bool boolean() const;
  bool isNumber() const { return value.is_number(); }
  int64_t integer(int64_t low, int64_t high) const;
  /// The position of this string among `names`.
  size_t oneOf(const std::vector<std::string> &names) const;
  std::string file() const;

  std::string text(const char *key) const { return at(key, "a string").text(); }
  int64_t integer(const char *key, int64_t low, int64_t high) const {
    return at(key, "an integer").integer(low, high);
  }

private:
  const nlohmann::json &value;
  std::string pointer;
};

} // namespace prism::runtime

#endif // PRISM_LIB_RUNTIME_MANIFESTNODE_H
