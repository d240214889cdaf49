//===- Floats.h - Bits of bf16, f16, f32 and f64 ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_FLOATS_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_FLOATS_H

#include <cstdint>
#include <cstring>

namespace prism::test {

enum class Float { BF16, F16, F32, F64 };

inline float asF32(uint64_t bits) {
  uint32_t low = uint32_t(bits);
  float value;
  std::memcpy(&value, &low, 4);
  return value;
}
inline uint64_t bitsOfF32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline double asF64(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}
inline uint64_t bitsOfF64(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}
inline float asBF16(uint64_t bits) { return asF32((bits & 0xffff) << 16); }
float asF16(uint64_t bits);

double toReal(Float kind, uint64_t bits);
/// Rounds to nearest, ties to even, once.
uint64_t fromReal(Float kind, double value);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_FLOATS_H
