//===- RandomRegion.h - Random steps as text --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Writes modules whose one recurrence has a random step of plain ops and state
// factors: elementwise ops, casts, products, sums, transposes, slices,
// conditions, loops, calls. Of each value the generator knows whether it is
// free of the state, affine in it, or anything else, by the way it is made; it
// may be told to keep to affine ones, which it then writes in roundabout ways.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_ANALYSIS_RANDOMREGION_H
#define PRISM_UNITTESTS_ANALYSIS_RANDOMREGION_H

#include <cstdint>
#include <string>

namespace prism::analysis {

std::string makeRandomRegion(uint64_t seed, bool affineOnly);

} // namespace prism::analysis

#endif // PRISM_UNITTESTS_ANALYSIS_RANDOMREGION_H
