//===- Floats.cpp - Bits of bf16, f16, f32 and f64 ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Floats.h"
#include "llvm/ADT/APFloat.h"
#include <vector>

using namespace prism::test;

float prism::test::asF16(uint64_t bits) {
  static const std::vector<float> table = [] {
    std::vector<float> values(65536);
    for (uint32_t i = 0; i < values.size(); ++i)
      values[i] = llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, i))
                      .convertToFloat();
    return values;
  }();
  return table[bits & 0xffff];
}

double prism::test::toReal(Float kind, uint64_t bits) {
  switch (kind) {
  case Float::BF16:
    return asBF16(bits);
  case Float::F16:
    return asF16(bits);
  case Float::F32:
    return asF32(bits);
  case Float::F64:
    return asF64(bits);
  }
  return 0;
}

uint64_t prism::test::fromReal(Float kind, double value) {
  if (kind == Float::F64)
    return bitsOfF64(value);
  if (kind == Float::F32)
    return bitsOfF32(float(value));
  llvm::APFloat exact(value);
  bool lossy;
  exact.convert(kind == Float::BF16 ? llvm::APFloat::BFloat()
                                    : llvm::APFloat::IEEEhalf(),
                llvm::APFloat::rmNearestTiesToEven, &lossy);
  return exact.bitcastToAPInt().getZExtValue();
}
