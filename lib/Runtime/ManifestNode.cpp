//===- ManifestNode.cpp - A value of a manifest and its place -------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ManifestNode.h"
#include "Support.h"

#include <algorithm>

namespace prism::runtime {

using nlohmann::json;

/// A value as a message shows it: short, on one line.
static std::string show(const json &value) {
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "an array of " + std::to_string(value.size());
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

void Node::fail(const std::string &expected, const std::string &found) const {
  throw Complaint{(pointer.empty() ? "/" : pointer) + ": expected " + expected +
                  ", found " + found};
}

void Node::fail(const std::string &expected) const {
  fail(expected, show(value));
}

bool Node::has(const char *key) const {
  return value.is_object() && value.contains(key);
}

Node Node::at(const char *key, const char *expected) const {
  if (!value.is_object())
    fail("an object");
  auto member = value.find(key);
  std::string place = pointer + "/" + key;
  if (member != value.end())
    return Node(*member, place);
  std::vector<std::string> keys;
  for (const auto &item : value.items())
    keys.push_back(item.key());
  std::string near = nearest(key, keys);
  throw Complaint{
      place + ": expected " + expected + ", found nothing" +
      (near.empty() ? "" : " (there is a key " + quote(near) + ")")};
}

std::vector<Node> Node::list() const {
  if (!value.is_array())
    fail("an array");
  std::vector<Node> nodes;
  for (size_t i = 0; i < value.size(); ++i)
    nodes.emplace_back(value[i], pointer + "/" + std::to_string(i));
  return nodes;
}

std::string Node::text() const {
  if (!value.is_string() || value.get_ref<const std::string &>().empty())
    fail("a string that is not empty");
  return value.get<std::string>();
}

bool Node::boolean() const {
  if (!value.is_boolean())
    fail("true or false");
  return value.get<bool>();
}

int64_t Node::integer(int64_t low, int64_t high) const {
  bool fits = value.is_number_integer() &&
              (!value.is_number_unsigned() ||
               value.get<uint64_t>() <= uint64_t(INT64_MAX));
  int64_t number = fits ? value.get<int64_t>() : 0;
  if (!fits || number < low || number > high)
    fail("an integer from " + std::to_string(low) + " to " +
         std::to_string(high));
  return number;
}

size_t Node::oneOf(const std::vector<std::string> &names) const {
  auto found = value.is_string() ? std::find(names.begin(), names.end(), text())
                                 : names.end();
  if (found == names.end())
    fail("one of " + join(names),
         show(value) + (value.is_string() ? didYouMean(text(), names) : ""));
  return static_cast<size_t>(found - names.begin());
}

std::string Node::file() const {
  std::string path = text();
  if (!staysInside(path))
    fail("a file inside the bundle");
  return path;
}

} // namespace prism::runtime
