//===- Wgmma.h - Descriptors, products, assembly text -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_WGMMA_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_WGMMA_H

#include "Decoder.h"
#include <optional>

namespace prism::test {

/// One wgmma.mma_async m64nNk16 with f32 accumulators, as registers.
struct WgmmaSpec {
  unsigned n = 0;
  bool isBF16 = true;
  Registers a; ///< one descriptor, or four fragment registers
  uint32_t b = 0;
  bool isTransposedA = false, isTransposedB = false; ///< M-major, N-major
  bool isNegatedA = false, isNegatedB = false;
  bool addsToD = true;
  std::optional<uint32_t> predicate; ///< instead of addsToD
  Registers inputs, outputs;         ///< the accumulator, n / 2 each
};

/// An operand in shared memory.
struct Descriptor {
  explicit Descriptor(uint64_t bits) : bits(bits) {}

  /// Why it cannot be one, or nothing.
  std::optional<std::string> fault() const;
  /// Where element (row or column `mn`, `k`) lies. `isMajorMN`: neighbours
  /// along mn are neighbours in memory, else those along k.
  uint64_t addressOf(unsigned mn, unsigned k, bool isMajorMN) const;

  uint64_t bits;

private:
  uint64_t start() const { return (bits & 0x3fff) << 4; }
  uint64_t leading() const { return (bits >> 16 & 0x3fff) << 4; }
  uint64_t stride() const { return (bits >> 32 & 0x3fff) << 4; }
  /// 16-byte pieces of a row of the swizzle pattern: 8, 4, 2, or 1 without one.
  unsigned pieces() const;
};

/// One statement of wgmma assembly over operand numbers.
struct WgmmaText {
  unsigned n = 0;
  bool isBF16 = true, isTransposedA = false, isTransposedB = false;
  bool isNegatedA = false, isNegatedB = false, addsToD = true;
  std::vector<unsigned> d, a; ///< a: one descriptor or four registers
  unsigned b = 0;
  std::optional<unsigned> predicate;
};

/// Parses a text that consists of wgmmas (and the predicates they need) only.
std::optional<std::vector<WgmmaText>> parseWgmma(llvm::StringRef text);

/// Issues it for the warp group of `warp`, all of whose warps have come.
void issueWgmma(Machine &machine, unsigned group, const WgmmaSpec &spec);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_WGMMA_H
