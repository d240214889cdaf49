//===- TensorCores.cpp - Chunk forms for tensor cores ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TensorCores.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "Prism/Dialect/Tile/IR/RoleLimits.h"
#include "Prism/Dialect/Tile/Transforms/Roles.h"
#include "Prism/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;

/// Rows of a warpgroup's product, and of the system that it inverts.
static constexpr int64_t kRows = 64;
/// Rows of the system that a token may have.
static constexpr int64_t kMostRowsOfToken = 4;
/// Below, operands rounded to bf16 were seen to miss the error bound: 51 of 250
/// random chains with keys of 5 to 64 elements, 2 of 400 with 64 and more.
static constexpr int64_t kFewestKeys = 64;
/// Value columns of a warpgroup, and of a block.
static constexpr int64_t kValueColumns = 64, kMostValueColumns = 128;
/// Keys that a product contracts at once.
static constexpr int64_t kKeysOfProduct = 16;
/// Chunks that may be under way in a channel, where shared memory suffices.
static constexpr int64_t kSlots = 4;
/// The state of a warpgroup lies in its registers.
static constexpr int64_t kMostKeys = 256;
/// Blocks of a cluster that every chip with clusters of four has; and of those
/// that only prepare, as many warpgroups: one such block does all of it for a
/// cluster, two halve it.
static constexpr int64_t kMostOfCluster = 4;
static int64_t preparingTeams(int64_t prepareBlocks) {
  return prepareBlocks == 1 ? 3 : 1;
}

/// Value columns that a block may have: one of two warpgroups has no registers
/// for a state of many keys.
static int64_t mostValueColumns(scan::RecurrenceOp op) {
  return scan::getKeysAndValues(op, 0).first <= tile::kKeysRoundedAtOnce
             ? kMostValueColumns
             : kValueColumns;
}

/// Blocks that only prepare pay where the preparation is long, with systems to
/// invert, and few heads leave multiprocessors idle. Measured with decays of
/// whole states, and without functions of values, whose preparation is another.
static bool prepareApart(scan::RecurrenceOp op, const targetinfo::GPUInfo &gpu,
                         int64_t columns) {
  int64_t values =
      cast<RankedTensorType>(op.getStateArgument(0).getType()).getDimSize(1);
  int64_t blocks = llvm::divideCeil(values, columns);
  return columns == kValueColumns && blocks == 2 &&
         mostValueColumns(op) > kValueColumns &&
         gpu.clustersAtOnce(blocks + 1) > 0 &&
         !op.getBody().getOps<scan::EraseOp>().empty() &&
         op.getBody().getOps<scan::RefineOp>().empty() &&
         llvm::all_of(op.getBody().getOps<scan::DecayOp>(),
                      [](scan::DecayOp decay) {
                        return decay.getAlong() == scan::DecayAlong::scalar;
                      });
}

/// What a token erases, one row of the system each.
static int64_t rowsOfToken(scan::RecurrenceOp op) {
  int64_t rows = 0;
  op->walk([&](scan::EraseOp erase) {
    auto type = cast<RankedTensorType>(erase.getRead().getType());
    rows += type.getRank() == 1 ? 1 : type.getDimSize(0);
  });
  return rows;
}

/// Decays per key are multiplied where scores are made, one a token.
static std::string whyNotDecays(scan::RecurrenceOp op) {
  int64_t decays = 0, perKey = 0;
  op.walk([&](scan::DecayOp decay) {
    ++decays;
    perKey += decay.getAlong() == scan::DecayAlong::key;
  });
  if (perKey == 0 || decays == 1)
    return "";
  return "a token decays " + std::to_string(decays) + " times, " +
         std::to_string(perKey) + (perKey == 1 ? " of them" : " of them each") +
         " along key, and a decay along key is taken there as the only one; "
         "add the log-gates of decays that follow each other";
}

/// What the user fixed that tensor cores do not take, or "".
static std::string whyNotPlan(const PlanOverride &given, int64_t rows,
                              int64_t mostColumns) {
  int64_t chunk = kRows / rows, wanted = given.chunk.value_or(chunk),
          block = given.valueBlock.value_or(0);
  if (wanted != chunk)
    return "the plan's chunk is " + std::to_string(wanted) + ", not " +
           std::to_string(chunk) +
           (rows > 1 ? " (" + std::to_string(kRows) + " rows, " +
                           std::to_string(rows) + " of them a token's)"
                     : "");
  if (block > mostColumns)
    return "the plan's value_block is " + std::to_string(block) +
           ", and blocks there have " + std::to_string(mostColumns) +
           " value columns at most" +
           (mostColumns < kMostValueColumns
                ? " beside more than " +
                      std::to_string(tile::kKeysRoundedAtOnce) + " keys"
                : "");
  return "";
}

/// Why tensor cores take no chunk of the recurrence, in the model's words; ""
/// if nothing in it or in what the user fixed speaks against them.
static std::string whyNotTaken(scan::RecurrenceOp op,
                               const targetinfo::GPUInfo &gpu,
                               const PlanOverride &given, int64_t rows) {
  auto [keys, values] = scan::getKeysAndValues(op, 0);
  int64_t mostColumns = mostValueColumns(op);
  if (gpu.tensorCores != targetinfo::TensorCores::Wgmma)
    return gpu.chip + " has no warpgroup products";
  if (op.getNumStates() > 1)
    return "one state is held in registers there, and it has " +
           std::to_string(op.getNumStates());
  if (llvm::any_of(op.getInputs(), [](Value input) {
        return input.getDefiningOp<scan::ShortConvolutionOp>();
      }))
    return "its inputs are convolved, which loads there do not do yet";
  if (!scan::outputsAreReads(op))
    return "outputs that are computed from reads are not computed there yet";
  if (kRows % rows || rows > kMostRowsOfToken)
    return "a token erases " + std::to_string(rows) + " times, not 1, 2 or " +
           std::to_string(kMostRowsOfToken);
  if (std::string plan = whyNotPlan(given, rows, mostColumns); !plan.empty())
    return plan;
  if (keys < kFewestKeys || keys > kMostKeys || keys % kKeysOfProduct)
    return "there are " + std::to_string(keys) + " keys, not " +
           std::to_string(kFewestKeys) + " to " + std::to_string(kMostKeys) +
           " in steps of " + std::to_string(kKeysOfProduct);
  if (values > mostColumns && !canSplitValues(op))
    return "a norm of values takes all " + std::to_string(values) +
           " of them in one block, which has " + std::to_string(mostColumns) +
           " value columns at most";
  return whyNotDecays(op);
}

SmallVector<scan::PlanAttr>
prism::tensorCorePlans(scan::RecurrenceOp op, const targetinfo::GPUInfo &gpu,
                       const PlanOverride &given, std::string &whyNot) {
  int64_t values = scan::getKeysAndValues(op, 0).second,
          rows = std::max<int64_t>(rowsOfToken(op), 1), chunk = kRows / rows;
  whyNot = whyNotTaken(op, gpu, given, rows);
  if (!whyNot.empty())
    return {};
  SmallVector<scan::PlanAttr> plans;
  SmallVector<int64_t> blocks = {kValueColumns};
  if (mostValueColumns(op) > kValueColumns)
    blocks.push_back(kMostValueColumns);
  if (given.valueBlock)
    blocks = {*given.valueBlock};
  else if (!canSplitValues(op))
    blocks = {values};
  if (given.prepareBlocks.value_or(0) > 0)
    blocks.resize(1);
  auto add = [&](int64_t columns, int64_t prepareBlocks) {
    plans.push_back(scan::PlanAttr::get(op.getContext(), scan::Schedule::chunk,
                                        chunk, columns, /*stages=*/2,
                                        /*segments=*/0, prepareBlocks));
  };
  for (int64_t block : blocks) {
    int64_t columns = std::min(block, values);
    if (!plans.empty() && plans.back().getValueBlock() == columns)
      continue;
    if (given.prepareBlocks.value_or(0) > 0) {
      add(columns, *given.prepareBlocks);
      continue;
    }
    if (!given.prepareBlocks && !given.valueBlock &&
        given.segments.value_or(0) <= 1 && chunk == kRows &&
        prepareApart(op, gpu, columns))
      add(columns, 1);
    add(columns, -1);
  }
  return plans;
}

/// Whether a tile only becomes decays, which are computed with in f32.
static bool isForDecays(Value tile) {
  return llvm::all_of(tile.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tile::DecayProductOp>(user))
      return true;
    if (auto dot = dyn_cast<tile::DecayedDotOp>(user))
      return use.get() != dot.getLhs() && use.get() != dot.getRhs();
    return user->getNumResults() == 1 &&
           OpTrait::hasElementwiseMappableTraits(user) &&
           isForDecays(user->getResult(0));
  });
}

/// Operands are rounded to the inputs' type, which is bf16 or f16: f32 inputs
/// are multiplied as f32. Null, and why, for others.
static Type typeOfOperands(tile::ProgramOp program, std::string &whyNot) {
  Type found;
  program.walk([&](tile::LoadOp load) {
    tile::ViewType view = load.getView().getType();
    auto loaded = cast<RankedTensorType>(load.getResult().getType());
    Type type = view.getElementType();
    if (!view.hasTime() || loaded.getRank() < 2 ||
        isForDecays(load.getResult()))
      return WalkResult::advance();
    bool isRounded = type.isBF16() || type.isF16();
    if (isRounded && (!found || found == type)) {
      found = type;
      return WalkResult::advance();
    }
    unsigned argument = cast<BlockArgument>(load.getView()).getArgNumber();
    llvm::raw_string_ostream os(whyNot);
    os << program.getArgument_(argument).getName() << " is " << type;
    if (isRounded)
      os << " and others are " << found << "; one type is multiplied there";
    else
      os << ", and only bf16 and f16 are multiplied there";
    return WalkResult::interrupt();
  });
  if (!whyNot.empty())
    return {};
  return found ? found : BFloat16Type::get(program.getContext());
}

/// Functions of values are computed beside the state, whose registers they
/// need: with two warpgroups of it ptxas serialises the products (C7512).
static bool hasFunctionsOfValues(tile::ProgramOp program) {
  WalkResult result = program.walk([&](Operation *op) {
    bool isFunction = isa<math::MathDialect>(op->getDialect());
    auto type = op->getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                    : RankedTensorType();
    return isFunction && type && type.getRank() == 2 &&
                   !isForDecays(op->getResult(0))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Keys that decay each for itself between a program's rows and columns, or 0.
/// They take registers of the preparation, of which two warpgroups of the state
/// leave it 96: it spills, and with systems ptxas serialises the products
/// (C7518).
static int64_t decayedKeys(tile::ProgramOp program) {
  int64_t keys = 0;
  program.walk([&](tile::DecayedDotOp dot) {
    keys = std::max(keys, int64_t(dot.getChannels()));
  });
  return keys;
}

/// Keys of the state that a program carries from chunk to chunk.
static int64_t keysOf(tile::ProgramOp program) {
  int64_t keys = 0;
  for (auto loop : program.getBody().getOps<scf::ForOp>())
    for (Type type : loop.getResultTypes())
      if (auto state = dyn_cast<RankedTensorType>(type))
        keys = std::max(keys, state.getDimSize(0));
  return keys;
}

/// Whether so many consecutive blocks take the same steps. Those of a segment's
/// map that hold columns of M, which come last, may take none
/// (tile.sum_steps).
static bool walkTogether(tile::ProgramOp program, int64_t cluster) {
  if (program.getBody().getOps<tile::SumStepsOp>().empty())
    return true;
  auto units = *program.getBody().getOps<tile::UnitColumnsOp>().begin();
  int64_t keys = units.getResult().getType().getDimSize(0),
          others = int64_t(program.getValues()) - keys;
  return others % (cluster * int64_t(program.getValueBlock())) == 0;
}

/// A copy of `module` whose program is split as `options` say, if there is code
/// for it.
static OwningOpRef<ModuleOp> splitInto(ModuleOp module,
                                       const tile::RoleOptions &options,
                                       const targetinfo::GPUInfo &gpu,
                                       std::string &whyNot) {
  OwningOpRef<ModuleOp> copy = module.clone();
  tile::ProgramOp program = *copy->getOps<tile::ProgramOp>().begin();
  if (succeeded(tile::specializeRoles(program, options, &whyNot)) &&
      tiletogpu::canEmitRoles(program, gpu, whyNot))
    return copy;
  return {};
}

/// Splits a program into roles. Blocks of a head's values prepare together, up
/// to four of them, if what they send each other leaves room for it; where one
/// prepares alone, its one group of columns leaves registers for a second team.
/// Where keys decay, the least scratch comes before fewer blocks, and one team
/// last: what is sent may leave no room for two (rwkv7). Alone, two teams that
/// the least scratch would leave room for spill (gated_deltanet2). Two
/// warpgroups of the chain wait for what is prepared, so gates are summed
/// before that; one waits for the loads then, as do two whose values the copy
/// engine does not bring (96 columns). Beside a state of many keys there is one
/// team: products of it take more registers than a thread starts with in a
/// block of two (C7602).
static OwningOpRef<ModuleOp> splitRoles(ModuleOp module,
                                        const targetinfo::GPUInfo &gpu,
                                        std::string &whyNot) {
  tile::ProgramOp program = *module.getOps<tile::ProgramOp>().begin();
  int64_t columns = program.getValueBlock(), keys = decayedKeys(program);
  bool hasRoom =
      columns <= kValueColumns && keysOf(program) <= tile::kMostKeysReadTwice;
  struct Choice {
    int64_t cluster;
    bool isLeast;
    int64_t teams = 1;
  };
  constexpr Choice kChoices[] = {{4, true},  {4, false},    {2, true},
                                 {2, false}, {1, false, 2}, {1, true, 2},
                                 {1, true}};
  for (auto [cluster, isLeast, teams] : kChoices) {
    if ((isLeast && !keys) || program.getValueBlocks() % cluster ||
        (cluster > 1 && !walkTogether(program, cluster)))
      continue;
    whyNot.clear();
    tile::RoleOptions options;
    options.slots = kSlots;
    options.cluster = cluster;
    options.prepareTeams = hasRoom ? teams : 1;
    options.sumsByLoad = columns == kMostValueColumns;
    options.sharedMemory = gpu.sharedMemoryPerBlock -
                           tiletogpu::rolesScratchBytes(
                               columns, options.prepareTeams, keys, isLeast);
    if (auto roles = splitInto(module, options, gpu, whyNot))
      return roles;
  }
  return {};
}

/// The same with blocks that only prepare, for as many blocks of values as a
/// cluster has room for.
static OwningOpRef<ModuleOp> splitRolesApart(ModuleOp module,
                                             int64_t prepareBlocks,
                                             const targetinfo::GPUInfo &gpu,
                                             std::string &whyNot) {
  tile::ProgramOp program = *module.getOps<tile::ProgramOp>().begin();
  tile::RoleOptions options;
  options.slots = kSlots;
  options.prepareBlocks = prepareBlocks;
  options.prepareTeams = preparingTeams(prepareBlocks);
  options.cluster = kMostOfCluster - prepareBlocks;
  while (program.getValueBlocks() % options.cluster)
    --options.cluster;
  assert(walkTogether(program, options.cluster) &&
         "maps of segments have no blocks that only prepare");
  options.sharedMemory =
      gpu.sharedMemoryPerBlock -
      tiletogpu::rolesScratchBytes(program.getValueBlock(), 0, 0, false);
  options.preparingMemory =
      gpu.sharedMemoryPerBlock -
      tiletogpu::rolesScratchBytes(0, options.prepareTeams, 0, false);
  return splitInto(module, options, gpu, whyNot);
}

OwningOpRef<ModuleOp> prism::buildRoles(ModuleOp module,
                                        const targetinfo::GPUInfo &gpu,
                                        int64_t prepareBlocks,
                                        std::string &whyNot) {
  whyNot.clear();
  // Lowerings are called as functions here, not as passes that would load the
  // dialects they build.
  module.getContext()->loadAllAvailableDialects();
  Type operands =
      typeOfOperands(*module.getOps<tile::ProgramOp>().begin(), whyNot);
  if (!operands)
    return {};
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  TilePrepareTensorCoresOptions options;
  options.type = operands.isF16() ? "f16" : "bf16";
  buildTilePrepareTensorCoresPipeline(pm, options);
  if (failed(pm.run(*copy))) {
    whyNot = "its preparation failed";
    return {};
  }
  tile::ProgramOp program = *copy->getOps<tile::ProgramOp>().begin();
  int64_t columns = program.getValueBlock();
  if (columns > kValueColumns && hasFunctionsOfValues(program)) {
    whyNot = "functions of values leave too few registers for blocks of " +
             std::to_string(columns) + " value columns";
    return {};
  }
  if (int64_t keys = keysOf(program);
      keys > tile::kKeysRoundedAtOnce && operands.isF16()) {
    whyNot = "powers of two beside f16 leave too few registers for " +
             std::to_string(keys) + " keys";
    return {};
  }
  if (columns > kValueColumns && decayedKeys(program)) {
    whyNot = "decays per key leave too few registers for blocks of " +
             std::to_string(columns) + " value columns";
    return {};
  }
  if (int64_t keys = keysOf(program); keys > tile::kMostKeysReadTwice &&
                                      preparingTeams(prepareBlocks) > 1 &&
                                      prepareBlocks > 0) {
    whyNot = "products of a state of " + std::to_string(keys) +
             " keys take more registers than threads start with in a block of "
             "several teams that prepare";
    return {};
  }
  return prepareBlocks > 0 ? splitRolesApart(*copy, prepareBlocks, gpu, whyNot)
                           : splitRoles(*copy, gpu, whyNot);
}
