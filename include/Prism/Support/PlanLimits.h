//===- PlanLimits.h - The largest numbers of a plan -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For the spec and its schema, for plans beside a spec, and for #scan.plan.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_PLANLIMITS_H
#define PRISM_SUPPORT_PLANLIMITS_H

#include <cstdint>

namespace prism {

/// Steps of a chunk, and so of a mini-batch.
inline constexpr int64_t kMostChunkSteps = 256;
/// Value columns of a work item.
inline constexpr int64_t kMostValueBlock = 1 << 20;
inline constexpr int64_t kMostStages = 8;
/// Segments of a sequence.
inline constexpr int64_t kMostSegments = 4096;
inline constexpr int64_t kMostPrepareBlocks = 2;

} // namespace prism

#endif // PRISM_SUPPORT_PLANLIMITS_H
