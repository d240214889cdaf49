//===- Passes.cpp - Every pass and pipeline by name -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The list of pass libraries. A new one adds its include, its line in
// registerPrismPasses, and its name to LINK_LIBS in CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Conversion/TileToCPU/TileToCPU.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "Prism/Pipelines/Pipelines.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Target/GPU/GPU.h"
#include "mlir/Transforms/Passes.h"

void prism::registerPrismPasses() {
  // Upstream: canonicalize, cse, symbol-dce and their like.
  mlir::registerTransformsPasses();

  // Within a dialect.
  scan::registerScanPasses();
  tile::registerTilePasses();

  // Conversions.
  registerScanToTilePasses();
  registerTileToCPUPasses();
  tiletogpu::registerTileToGPUPasses();
  registerGPUPasses();

  // Pipelines.
  registerPrismPipelines();
}
