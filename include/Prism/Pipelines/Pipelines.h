//===- Pipelines.h - Pass pipelines, by level -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pipelines that every program runs: prism-opt by name, prism-compile and
// the checks through lib/Compiler.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_PIPELINES_PIPELINES_H
#define PRISM_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace prism {

struct ScanToTileOptions : mlir::PassPipelineOptions<ScanToTileOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("what to plan for: cpu or cuda"),
                             llvm::cl::init("cpu")};
  Option<std::string> schedule{*this, "schedule",
                               llvm::cl::desc("chunk or recurrent"),
                               llvm::cl::init("chunk")};
};

/// `prism-scan-to-tile`: scan entries, planned or not, to clean tile programs.
void buildScanToTilePipeline(mlir::OpPassManager &pm,
                             const ScanToTileOptions &options);

struct TilePrepareTensorCoresOptions
    : mlir::PassPipelineOptions<TilePrepareTensorCoresOptions> {
  Option<std::string> type{*this, "type",
                           llvm::cl::desc("operands of dots: bf16 or f16"),
                           llvm::cl::init("bf16")};
};

/// `prism-tile-prepare-tensor-cores`: tile programs to the form that tensor
/// cores take: inverses beside the chain of states, loaded operands as they
/// were loaded, operands of dots in 16 bits.
void buildTilePrepareTensorCoresPipeline(
    mlir::OpPassManager &pm, const TilePrepareTensorCoresOptions &options);

/// Registers the pipelines by name.
void registerPrismPipelines();

} // namespace prism

#endif // PRISM_PIPELINES_PIPELINES_H
