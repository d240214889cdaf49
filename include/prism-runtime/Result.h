//===- Result.h - A value or a sentence of failure --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The runtime throws nothing and prints nothing: whatever can fail returns a
// Result, which holds either the value or one sentence that says where, what
// was expected and what was found.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_RESULT_H
#define PRISM_RUNTIME_RESULT_H

#include <optional>
#include <string>
#include <utility>

namespace prism::runtime {

/// A failure's sentence; lower-case start, no full stop.
struct Failure {
  std::string message;
  /// For callers that say more than the sentence: the argument that is wrong,
  /// and the nearest right name; empty where there is none.
  std::string argument = {}, nearest = {};
};

/// The value of a Result that only succeeds or fails.
struct Success {};

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Failure failure) : failed(std::move(failure)) {}

  explicit operator bool() const { return value.has_value(); }

  /// The value; only where the Result tests true.
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

  /// The sentence; empty where the Result tests true.
  const std::string &error() const { return failed.message; }

  /// This failure as another Result's.
  const Failure &failure() const { return failed; }

private:
  std::optional<T> value;
  Failure failed;
};

using Status = Result<Success>;

} // namespace prism::runtime

#endif // PRISM_RUNTIME_RESULT_H
