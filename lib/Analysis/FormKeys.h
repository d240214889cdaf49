//===- FormKeys.h - Keys by which equal atoms are found ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_ANALYSIS_FORMKEYS_H
#define PRISM_LIB_ANALYSIS_FORMKEYS_H

#include "Prism/Analysis/StateForm.h"
#include "llvm/ADT/STLExtras.h"

namespace prism::analysis {

inline uint64_t keyOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

inline void append(std::vector<uint64_t> &key, ShapeRef shape) {
  key.push_back(shape.size());
  llvm::append_range(key, shape);
}

inline void append(std::vector<uint64_t> &key, const Monomial &factors) {
  key.push_back(factors.size());
  for (auto [atom, power] : factors) {
    key.push_back(keyOf(atom));
    key.push_back(uint64_t(int64_t(power)));
  }
}

} // namespace prism::analysis

#endif // PRISM_LIB_ANALYSIS_FORMKEYS_H
