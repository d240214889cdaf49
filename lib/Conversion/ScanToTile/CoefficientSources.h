//===- CoefficientSources.h - What coefficients are made of -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_COEFFICIENTSOURCES_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_COEFFICIENTSOURCES_H

#include "Prism/Dialect/Scan/IR/Scan.h"

namespace prism {

/// Do coefficients of the chain depend on reads of a state in the same step?
bool readState(llvm::ArrayRef<scan::StateOpInterface> chain);

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_COEFFICIENTSOURCES_H
