//===- Pipelines.cpp - Pass pipelines, by level ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Pipelines/Pipelines.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace prism;

void prism::buildScanToTilePipeline(OpPassManager &pm,
                                    const ScanToTileOptions &options) {
  pm.addPass(scan::createScanInlineCalls());
  // Folders first: a factor that does nothing needs no code.
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  scan::ScanChooseChunkSizeOptions choose;
  choose.target = options.target;
  choose.schedule = options.schedule;
  pm.addNestedPass<func::FuncOp>(scan::createScanChooseChunkSize(choose));
  pm.addPass(createConvertScanToTile());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void prism::buildTilePrepareTensorCoresPipeline(
    OpPassManager &pm, const TilePrepareTensorCoresOptions &options) {
  OpPassManager &programs = pm.nest<tile::ProgramOp>();
  programs.addPass(tile::createTileInvertSystems());
  programs.addPass(tile::createTileScaleResults());
  programs.addPass(tile::createTileMoveScales());
  programs.addPass(tile::createTileJoinScales());
  programs.addPass(tile::createTileTransposeScores());
  tile::TileRoundDotOperandsOptions round;
  round.type = options.type;
  programs.addPass(tile::createTileRoundDotOperands(round));
  programs.addPass(createCanonicalizerPass());
  programs.addPass(createCSEPass());
}

void prism::registerPrismPipelines() {
  PassPipelineRegistration<ScanToTileOptions>(
      "prism-scan-to-tile",
      "Turn scan entries into tile programs: plan, convert, clean up",
      buildScanToTilePipeline);
  PassPipelineRegistration<TilePrepareTensorCoresOptions>(
      "prism-tile-prepare-tensor-cores",
      "Bring tile programs into the form that tensor cores take",
      buildTilePrepareTensorCoresPipeline);
}
