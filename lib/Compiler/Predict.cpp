//===- Predict.cpp - How long a unit's launches take on a GPU -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predict.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "Prism/Dialect/Tile/Transforms/SplitSequence.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace prism;
using targetinfo::GPULaunch;
using targetinfo::GPUWork;

static tile::ProgramOp programIn(ModuleOp module) {
  return *module.getOps<tile::ProgramOp>().begin();
}

//===----------------------------------------------------------------------===//
// Work of roles
//===----------------------------------------------------------------------===//

/// Elements in tiles of 64 x 64, multiply-adds in cubes of 64.
static double tilesOf(RankedTensorType type) {
  return double(type.getNumElements()) / (64 * 64);
}

static void countOp(Operation *op, bool isChain, targetinfo::GPUCounts &work) {
  auto product = isChain ? GPUWork::ChainProduct : GPUWork::PrepareProduct;
  auto function = isChain ? GPUWork::ChainFunction : GPUWork::PrepareFunction;
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
    int64_t contracted = lhs.getDimSize(dot.getTransposeLhs() ? 0 : 1);
    work[product] +=
        tilesOf(cast<RankedTensorType>(dot.getResult().getType())) *
        double(contracted) / 64;
    return;
  }
  if (auto dot = dyn_cast<tile::DecayedDotOp>(op)) {
    work[GPUWork::DecayedProduct] +=
        tilesOf(cast<RankedTensorType>(dot.getResult().getType())) *
        double(dot.getChannels()) / 64;
    return;
  }
  if (isa<tile::InvertOp>(op)) {
    ++work[GPUWork::Inverse];
    return;
  }
  if (isa<tile::LoadOp, tile::ReceiveOp, scf::ForOp, arith::ConstantOp>(op))
    return;
  // Of a sum of columns what is summed, of all else what is made.
  Value tile = isa<tile::SumColumnsOp>(op) ? op->getOperand(0)
               : op->getNumResults() == 1  ? op->getResult(0)
                                           : Value();
  auto type =
      tile ? dyn_cast<RankedTensorType>(tile.getType()) : RankedTensorType();
  if (!type || type.getRank() != 2)
    return;
  if (isa<math::MathDialect>(op->getDialect()))
    work[function] += tilesOf(type);
  else if (!isChain)
    work[GPUWork::PrepareElementwise] += tilesOf(type);
}

static void countRoles(tile::ProgramOp program, LaunchWork &part) {
  GPULaunch &launch = part.launch;
  launch.kind = GPULaunch::Kind::Roles;
  launch.work[GPUWork::Chain] = 1;
  for (auto role : program.getBody().getOps<tile::RoleOp>()) {
    bool prepares = role.getName() == "prepare";
    if (!prepares && role.getName() != "chain")
      continue;
    if (prepares) {
      constexpr int64_t kWarpsOfTeam = 4;
      launch.work[GPUWork::Prepare] = 1;
      launch.isApart = role.isApart();
      launch.turns =
          double(role.isApart() ? role.getApart() : role.getCluster());
      launch.teams = double(role.getWarps()) / kWarpsOfTeam;
      part.cluster = int64_t(role.getCluster()) + int64_t(role.getApart());
    }
    role.walk([&](scf::ForOp loop) {
      loop.walk([&](Operation *op) { countOp(op, !prepares, launch.work); });
      return WalkResult::skip();
    });
  }
}

//===----------------------------------------------------------------------===//
// Parts of a unit
//===----------------------------------------------------------------------===//

/// What a sequence and head has in memory: of every step, and once.
static void countBytes(tile::ProgramOp program, LaunchWork &part) {
  for (auto [i, argument] : llvm::enumerate(program.getBody().getArguments())) {
    tile::ArgumentAttr info = program.getArgument_(i);
    if (info.getRole().getValue() == "offsets" || argument.use_empty())
      continue;
    auto view = cast<tile::ViewType>(argument.getType());
    double bytes = view.getElementType().getIntOrFloatBitWidth() / 8.0;
    for (int64_t extent : view.getShape())
      bytes *= double(std::max<int64_t>(extent, 1));
    StringRef axes = info.getAxes();
    bool isStep = view.hasTime() && axes.contains('t');
    if (int64_t heads = info.getHeads())
      bytes *= double(heads) / double(program.getValueHeads());
    if (isStep)
      part.bytesOfStep += bytes;
    else if (axes.contains('n') || axes.contains('b'))
      part.bytesOfSequence += bytes;
  }
}

bool prism::hasHalves(tile::ProgramOp program) {
  bool any = false;
  for (auto [i, type] : llvm::enumerate(program.getArgumentTypes())) {
    if (program.getArgument_(i).getRole().getValue() != "final_state")
      continue;
    any = true;
    if (cast<tile::ViewType>(type).getElementType().getIntOrFloatBitWidth() !=
        16)
      return false;
  }
  return any;
}

/// Keys x values of the first state, which all launches have.
static double elementsOfState(tile::ProgramOp program) {
  for (auto [i, argument] : llvm::enumerate(program.getBody().getArguments()))
    if (program.getArgument_(i).getRole().getValue() == "final_state") {
      double elements = 1;
      for (int64_t extent : cast<tile::ViewType>(argument.getType()).getShape())
        elements *= double(extent);
      return elements;
    }
  return 0;
}

static LaunchWork describeLaunch(const Unit &unit) {
  LaunchWork part;
  tile::ProgramOp program = programIn(*unit.module);
  part.items = program.getSegmentItems();
  part.chunk = program.getChunk();
  part.blocks = program.getValueBlocks();
  part.elements = elementsOfState(program);
  for (auto fold : program.getBody().getOps<tile::FoldMapsOp>()) {
    part.foldsMaps = true;
    part.launch.foldBytes = 4.0 * fold.getResult().getType().getNumElements();
  }
  part.launch.hasHalves = hasHalves(program);
  countBytes(program, part);
  if (unit.roles)
    countRoles(programIn(*unit.roles), part);
  else if (part.items == tile::SegmentItems::None && part.chunk == 1)
    part.launch.kind =
        unit.copiesState ? GPULaunch::Kind::Copies : GPULaunch::Kind::Steps;
  return part;
}

/// Of steps by which an element of the state has a factor of its own none was
/// measured.
static bool isElementwise(const Unit &unit) {
  return unit.plan.getSchedule() == scan::Schedule::recurrent &&
         (unit.isSplit() || tile::hasElementwiseMaps(programIn(*unit.module)));
}

std::optional<Prediction> Prediction::of(const Unit &unit) {
  if (!unit.target.isCuda() || isElementwise(unit))
    return std::nullopt;
  Prediction prediction;
  prediction.gpu = unit.target.gpu();
  prediction.costs = targetinfo::gpuCosts(prediction.gpu);
  if (!prediction.costs)
    return std::nullopt;
  for (const Unit &before : unit.before)
    prediction.parts.push_back(describeLaunch(before));
  prediction.parts.push_back(describeLaunch(unit));
  if (!unit.isSplit())
    return prediction;
  // Blocks of columns of M that are known beforehand take no steps.
  tile::ProgramOp whole = programIn(*unit.module),
                  maps = programIn(*unit.before.front().module);
  LaunchWork &part = prediction.parts.front();
  if (tile::knowsMaps(whole))
    part.blocks = llvm::divideCeil(whole.getValues(), maps.getValueBlock());
  if (unit.foldsMaps())
    return prediction;
  bool isDiagonal = maps.getValues() == whole.getValues() + 1;
  prediction.parts[1].launch.kind =
      isDiagonal ? GPULaunch::Kind::Diagonals : GPULaunch::Kind::Matrices;
  return prediction;
}

SmallVector<GPULaunch> Prediction::launches(int64_t steps, int64_t heads,
                                            int64_t segments) const {
  SmallVector<GPULaunch> launches;
  for (const LaunchWork &part : parts) {
    GPULaunch launch = part.launch;
    bool isScan = part.items == tile::SegmentItems::Scan;
    int64_t cuts = part.items == tile::SegmentItems::None ? 1 : segments,
            items = part.items == tile::SegmentItems::Inner ? segments - 1
                    : isScan                                ? 1
                                                            : cuts,
            chunks = llvm::divideCeil(steps, part.chunk);
    int64_t apart = launch.isApart ? int64_t(launch.turns) : 0,
            clusters = heads * items *
                       llvm::divideCeil(part.blocks, part.cluster - apart);
    launch.iterations =
        double(isScan ? segments - 1 : llvm::divideCeil(chunks, cuts));
    launch.folds = part.foldsMaps ? double(segments - 1) : 0;
    int64_t atOnce = std::max<int64_t>(gpu.clustersAtOnce(part.cluster), 1);
    launch.waves = double(llvm::divideCeil(clusters, atOnce));
    launch.share = std::min(1.0, double(clusters * part.cluster) /
                                     double(gpu.multiprocessors));
    launch.heads = double(heads);
    launch.elements = double(heads) * part.elements;
    launch.bytes = double(heads) * (part.bytesOfStep * double(steps) *
                                        double(items) / double(cuts) +
                                    part.bytesOfSequence);
    launches.push_back(launch);
  }
  return launches;
}

std::optional<double> Prediction::time(int64_t steps, int64_t heads,
                                       int64_t segments) const {
  return targetinfo::predictLaunches(*costs, gpu,
                                     launches(steps, heads, segments));
}
