//===- SplitSequence.cpp - One chunk loop as three launches ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/Transforms/SplitSequence.h"
#include "AffineState.h"
#include "ElementwiseState.h"
#include "ForgottenPast.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILESPLITSEQUENCE
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

/// exp of less is 0 in f32.
static constexpr double kForgotten = -104.0;
/// A first column that has no unit anywhere.
static constexpr int64_t kNowhere = int64_t(1) << 40;
/// Rows of the maps begin where accesses of 16 bytes do, in f32.
static constexpr int64_t kColumnAlignment = 4;
/// Segments whose diagonal maps are loaded together: a step takes a
/// multiplication and an addition, and would wait for memory each time.
static constexpr int64_t kMapsTogether = 4;
/// The same of one row whose elements have a factor each.
static constexpr int64_t kRowsTogether = 16;
/// Value columns of a work item that combines them, at least: two sectors of
/// each row, and fewer items that read the same factors; a warp's where it has
/// factors of its own.
static constexpr int64_t kFewestOfDiagonal = 16, kFewestOfElementwise = 32;
/// Maps that are folded lie in slabs of so many columns, in pieces of so many
/// rows (tile.store_map).
static constexpr int64_t kColumnsOfSlab = 16, kRowsOfPiece = 8;

namespace {

/// The parts of a program that a split replaces.
struct ChunkLoop {
  scf::ForOp loop;
  LoadOp initial;     // null where the state starts from zero
  StoreOp finalStore; // of the loop's result
};

class Splitter {
public:
  Splitter(ProgramOp program, const SplitOptions &options)
      : program(program), options(options) {}
  FailureOr<SplitPrograms> split(std::string &whyNot);

  static FailureOr<ChunkLoop> findLoop(ProgramOp program, std::string &whyNot);

private:
  OwningOpRef<ProgramOp> copyOf(StringRef suffix, StringRef segments);
  void addIntermediates(ProgramOp copy);
  OwningOpRef<ProgramOp> makeMaps();
  void finishElementwise(ProgramOp copy, ChunkLoop parts);
  static Value sumGates(OpBuilder &builder, Location loc,
                        ArrayRef<SummedGate> gates, Value ofMap);
  Value units(OpBuilder &builder, Location loc, Value first);
  Value startOfKnown(OpBuilder &builder, scf::ForOp loop, Value first,
                     Value ofMap);
  Value startOfForgotten(OpBuilder &builder, scf::ForOp loop, Value first,
                         Value ofMap);
  Value startOfMaps(OpBuilder &builder, scf::ForOp loop, Value first);
  OwningOpRef<ProgramOp> makeCombine();
  OwningOpRef<ProgramOp> makeSegments();
  Value foldMaps(OpBuilder &builder, ProgramOp copy, ChunkLoop parts,
                 Value columns);
  std::string findWhyNotFolded();
  struct Map {
    Value b, m;
  };
  Map loadMap(OpBuilder &builder, Location loc, RankedTensorType type,
              Value segment, Value column, BlockArgument map);
  Value apply(OpBuilder &builder, Location loc, const Map &map, Value state);
  int64_t mapsTogether() const {
    if (elementwise && keys == 1)
      return kRowsTogether;
    return diagonal || elementwise ? kMapsTogether : 1;
  }
  int64_t fewestColumns() const {
    return elementwise ? kFewestOfElementwise
           : diagonal  ? kFewestOfDiagonal
                       : 1;
  }
  Value combineFew(OpBuilder &builder, Location loc, Value state, Value first,
                   Value last, Value column, ProgramOp copy);

  ProgramOp program;
  SplitOptions options;
  RankedTensorType state; // K x columns of a block
  int64_t keys = 0, mapColumns = 0;
  bool diagonal = false;
  bool elementwise = false; // M has the state's shape, and its rows B's below
  bool isFolded = false;    // by segments, without `combine`
};

} // namespace

/// A loop over all chunks that carries one tile, which comes from an initial
/// state or zero and goes to a final state.
FailureOr<ChunkLoop> Splitter::findLoop(ProgramOp program,
                                        std::string &whyNot) {
  auto decline = [&](const Twine &reason) {
    whyNot = reason.str();
    return failure();
  };
  ChunkLoop parts;
  SmallVector<scf::ForOp> loops(program.getBody().getOps<scf::ForOp>());
  if (loops.size() != 1)
    return decline("it has " + Twine(loops.size()) + " loops, expected one");
  parts.loop = loops.front();
  APInt lower, step;
  if (!matchPattern(parts.loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(parts.loop.getStep(), m_ConstantInt(&step)) ||
      !lower.isZero() || step != program.getChunk() ||
      !parts.loop.getUpperBound().getDefiningOp<LengthOp>())
    return decline("its loop does not go over all chunks of a sequence");
  if (parts.loop.getNumRegionIterArgs() != 1 ||
      !isa<RankedTensorType>(parts.loop.getResult(0).getType()))
    return decline("its loop does not carry one state");
  Value init = parts.loop.getInitArgs().front(),
        result = parts.loop.getResult(0);
  parts.initial = init.getDefiningOp<LoadOp>();
  if (!parts.initial && !init.getDefiningOp<FoldMapsOp>() &&
      !matchPattern(init, m_AnyZeroFloat()))
    return decline("its state starts neither from zero nor from an argument");
  if (result.hasOneUse())
    parts.finalStore = dyn_cast<StoreOp>(*result.user_begin());
  if (!parts.finalStore)
    return decline("its last state is not stored once");
  return parts;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// The program under another name, with the arrays of the workspace as
/// arguments.
OwningOpRef<ProgramOp> Splitter::copyOf(StringRef suffix, StringRef segments) {
  OwningOpRef<ProgramOp> copy = program.clone();
  copy->setSymName((program.getSymName() + "_" + suffix).str());
  copy->setSegments(segments);
  addIntermediates(*copy);
  return copy;
}

void Splitter::addIntermediates(ProgramOp copy) {
  MLIRContext *context = copy.getContext();
  Builder builder(context);
  SmallVector<Type> types(copy.getArgumentTypes());
  SmallVector<Attribute> attrs(copy.getArgAttrs()->getValue());
  // Of all segments.
  bool scans = copy.getSegmentItems() == SegmentItems::Scan ||
               (isFolded && copy.getSegmentItems() == SegmentItems::All);
  auto add = [&](StringRef name, int64_t rows, int64_t columns) {
    SmallVector<int64_t> shape = {rows, columns};
    if (scans)
      shape.insert(shape.begin(), ShapedType::kDynamic);
    types.push_back(ViewType::get(context, shape, state.getElementType()));
    auto attr = ArgumentAttr::get(
        context, builder.getStringAttr(name), builder.getStringAttr("nhskv"),
        copy.getValueHeads(), builder.getStringAttr(kIntermediate),
        /*optional=*/false);
    attrs.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr("tile.arg", attr)));
    copy.getBody().addArgument(types.back(), copy.getLoc());
  };
  int64_t columns = program.getValues() + mapColumns;
  if (isFolded) {
    add(kSegmentMap, llvm::divideCeil(columns, kColumnsOfSlab),
        keys * kColumnsOfSlab);
  } else {
    add(kSegmentMap, elementwise ? 2 * keys : keys,
        llvm::alignTo(columns, kColumnAlignment));
    add(kSegmentStart, keys, copy.getValues());
  }
  copy.setFunctionType(builder.getFunctionType(types, {}));
  copy.setArgAttrsAttr(builder.getArrayAttr(attrs));
}

static BlockArgument argumentOf(ProgramOp copy, StringRef name) {
  for (BlockArgument argument : copy.getBody().getArguments())
    if (copy.getArgument_(argument.getArgNumber()).getName() == name)
      return argument;
  llvm_unreachable("an array that the copy was not given");
}
static BlockArgument mapOf(ProgramOp copy) {
  return argumentOf(copy, kSegmentMap);
}
static BlockArgument startOf(ProgramOp copy) {
  return argumentOf(copy, kSegmentStart);
}

/// Erases what nothing needs any more, reads included.
static void eraseUnused(ProgramOp copy) {
  IRRewriter rewriter(copy.getContext());
  (void)runRegionDCE(rewriter, copy->getRegions());
}

//===----------------------------------------------------------------------===//
// The three programs
//===----------------------------------------------------------------------===//

/// The sum of all steps' log-gates, in the work items that hold columns of M.
Value Splitter::sumGates(OpBuilder &builder, Location loc,
                         ArrayRef<SummedGate> gates, Value ofMap) {
  Value total;
  for (const SummedGate &views : gates) {
    Value sum =
        SumStepsOp::create(builder, loc, builder.getF64Type(), views, ofMap);
    total =
        total ? Value(arith::AddFOp::create(builder, loc, total, sum)) : sum;
  }
  return total;
}

/// Whether M is known beforehand: it is a decay of whole states alone, by gates
/// that are inputs.
static bool isKnownBeforehand(scf::ForOp loop, bool isDiagonal) {
  return isDiagonal && !gatesThatDecide(loop).empty();
}

/// Takes no steps where a condition holds.
static void skipLoop(OpBuilder &builder, scf::ForOp loop, Value condition) {
  Value none = arith::ConstantIndexOp::create(builder, loop.getLoc(), 0);
  loop.getUpperBoundMutable().assign(arith::SelectOp::create(
      builder, loop.getLoc(), condition, none, loop.getUpperBound()));
}

Value Splitter::units(OpBuilder &builder, Location loc, Value first) {
  return UnitColumnsOp::create(builder, loc, state, first, diagonal);
}

/// Columns of M as they will be: the product of all decays.
Value Splitter::startOfKnown(OpBuilder &builder, scf::ForOp loop, Value first,
                             Value ofMap) {
  Location loc = loop.getLoc();
  Value total = sumGates(builder, loc, gatesThatDecide(loop), ofMap);
  skipLoop(builder, loop, ofMap);
  if (!state.getElementType().isF64())
    total =
        arith::TruncFOp::create(builder, loc, state.getElementType(), total);
  Value kept = tensor::SplatOp::create(
      builder, loc, math::ExpOp::create(builder, loc, total), state);
  return arith::MulFOp::create(builder, loc, units(builder, loc, first), kept);
}

/// Units, or zeros where decays leave nothing of a state.
Value Splitter::startOfForgotten(OpBuilder &builder, scf::ForOp loop,
                                 Value first, Value ofMap) {
  Location loc = loop.getLoc();
  Value total = sumGates(builder, loc, gatesThatBound(loop), ofMap);
  Value limit = arith::ConstantOp::create(builder, loc,
                                          builder.getF64FloatAttr(kForgotten));
  Value isForgotten = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, total, limit);
  skipLoop(builder, loop, isForgotten);
  Value nowhere = arith::ConstantIndexOp::create(builder, loc, kNowhere);
  return units(
      builder, loc,
      arith::SelectOp::create(builder, loc, isForgotten, nowhere, first));
}

/// What the loop starts from: columns of M are units. Those that are known
/// beforehand take no steps.
Value Splitter::startOfMaps(OpBuilder &builder, scf::ForOp loop, Value first) {
  Location loc = loop.getLoc();
  bool isKnown = isKnownBeforehand(loop, diagonal);
  if (!isKnown && (diagonal || gatesThatBound(loop).empty()))
    return units(builder, loc, first);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value ofMap = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      first, zero);
  return isKnown ? startOfKnown(builder, loop, first, ofMap)
                 : startOfForgotten(builder, loop, first, ofMap);
}

/// B and M of the same columns, carried side by side.
void Splitter::finishElementwise(ProgramOp copy, ChunkLoop parts) {
  OpBuilder builder(parts.loop);
  Location loc = parts.loop.getLoc();
  Type element = state.getElementType();
  auto filled = [&](double value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(state, builder.getFloatAttr(element, value)));
  };
  Value columns = ValueOffsetOp::create(builder, loc, builder.getIndexType());
  parts.loop.getInitArgsMutable().assign(filled(0));
  scf::ForOp loop = carryFactors(parts.loop, filled(1));
  builder.setInsertionPoint(parts.finalStore);
  const int64_t rows[] = {0, keys};
  for (auto [row, tile] : llvm::zip(rows, loop.getResults())) {
    Value first = arith::ConstantIndexOp::create(builder, loc, row);
    StoreOp::create(builder, loc, tile, mapOf(copy),
                    ValueRange{first, columns});
  }
  parts.finalStore.erase();
  eraseUnused(copy);
}

OwningOpRef<ProgramOp> Splitter::makeMaps() {
  OwningOpRef<ProgramOp> copy = copyOf("maps", "inner");
  std::string none;
  ChunkLoop parts = *findLoop(*copy, none);
  for (auto store :
       llvm::make_early_inc_range(parts.loop.getBody()->getOps<StoreOp>()))
    store.erase();
  if (elementwise) {
    finishElementwise(*copy, parts);
    return copy;
  }
  OpBuilder builder(parts.loop);
  Location loc = parts.loop.getLoc();
  Value columns = ValueOffsetOp::create(builder, loc, builder.getIndexType());
  Value first = arith::SubIOp::create(
      builder, loc, columns,
      arith::ConstantIndexOp::create(builder, loc, program.getValues()));
  parts.loop.getInitArgsMutable().assign(
      startOfMaps(builder, parts.loop, first));
  builder.setInsertionPoint(parts.finalStore);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        end = parts.loop.getResult(0);
  if (isFolded)
    StoreMapOp::create(builder, loc, end, mapOf(*copy), columns);
  else
    StoreOp::create(builder, loc, end, mapOf(*copy), ValueRange{zero, columns});
  parts.finalStore.erase();
  copy->setValues(program.getValues() + mapColumns);
  eraseUnused(*copy);
  return copy;
}

/// B and M of one segment, S -> M S + B.
Splitter::Map Splitter::loadMap(OpBuilder &builder, Location loc,
                                RankedTensorType type, Value segment,
                                Value column, BlockArgument map) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto load = [&](int64_t columns, Value first) -> Value {
    return LoadOp::create(builder, loc, type.clone({keys, columns}), map,
                          ValueRange{segment, zero, first}, /*one_step=*/true);
  };
  Value b = load(type.getDimSize(1), column);
  if (elementwise) {
    Value below = arith::ConstantIndexOp::create(builder, loc, keys);
    Value m = LoadOp::create(builder, loc, type, map,
                             ValueRange{segment, below, column},
                             /*one_step=*/true);
    return {b, m};
  }
  return {b, load(mapColumns, arith::ConstantIndexOp::create(
                                  builder, loc, program.getValues()))};
}

Value Splitter::apply(OpBuilder &builder, Location loc, const Map &map,
                      Value state) {
  Type type = state.getType();
  if (elementwise) {
    Value kept = arith::MulFOp::create(builder, loc, map.m, state);
    return arith::AddFOp::create(builder, loc, kept, map.b);
  }
  if (!diagonal)
    return DotOp::create(builder, loc, type, map.m, state, map.b,
                         /*transpose_lhs=*/false, /*transpose_rhs=*/false);
  auto vector = RankedTensorType::get({keys}, getElementTypeOrSelf(type));
  Value factors = SumColumnsOp::create(builder, loc, vector, map.m);
  Value kept = ScaleRowsOp::create(builder, loc, type, state, factors);
  return arith::AddFOp::create(builder, loc, kept, map.b);
}

/// Goes from the start of one segment to that of the next, for so many at once
/// as are loaded together. What is beyond the last map is loaded again in its
/// place and stored nowhere.
Value Splitter::combineFew(OpBuilder &builder, Location loc, Value state,
                           Value first, Value last, Value column,
                           ProgramOp copy) {
  auto type = cast<RankedTensorType>(state.getType());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto plus = [&](int64_t offset) -> Value {
    return arith::AddIOp::create(builder, loc, first, index(offset));
  };
  SmallVector<Map, kMapsTogether> maps;
  maps.push_back(loadMap(builder, loc, type, first, column, mapOf(copy)));
  Value end = arith::SubIOp::create(builder, loc, last, index(1));
  for (int64_t i = 1; i < mapsTogether(); ++i) {
    Value segment = arith::MinSIOp::create(builder, loc, plus(i), end);
    maps.push_back(loadMap(builder, loc, type, segment, column, mapOf(copy)));
  }
  for (auto [i, map] : llvm::enumerate(maps)) {
    state = apply(builder, loc, map, state);
    StoreOp::create(builder, loc, state, startOf(copy),
                    ValueRange{plus(i + 1), index(0), column},
                    /*one_step=*/true);
  }
  return state;
}

OwningOpRef<ProgramOp> Splitter::makeCombine() {
  OwningOpRef<ProgramOp> copy = copyOf("combine", "scan");
  std::string none;
  ChunkLoop parts = *findLoop(*copy, none);
  int64_t columns = std::min<int64_t>(
      std::max(options.combineBlock, fewestColumns()), program.getValues());
  copy->setValueBlock(columns);
  copy->setReverse(false);
  if (diagonal || elementwise) // no product: steps of a few multiply-adds
    copy->setChunk(1);
  OpBuilder builder(parts.loop);
  Location loc = parts.loop.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  RankedTensorType type = state.clone({keys, columns});
  Value zero = index(0), one = index(1);
  Value column = ValueOffsetOp::create(builder, loc, builder.getIndexType());
  Value count = LengthOp::create(builder, loc, builder.getIndexType());
  Value last = arith::SubIOp::create(builder, loc, count, one);
  Value start;
  if (parts.initial)
    start = LoadOp::create(builder, loc, type, parts.initial.getView(),
                           ValueRange{zero, column}, /*one_step=*/false);
  else
    start = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  StoreOp::create(builder, loc, start, startOf(*copy),
                  ValueRange{zero, zero, column}, /*one_step=*/true);
  scf::ForOp::create(
      builder, loc, zero, last, index(mapsTogether()), ValueRange{start},
      [&](OpBuilder &nested, Location, Value first, ValueRange carried) {
        Value next = combineFew(nested, loc, carried.front(), first, last,
                                column, *copy);
        scf::YieldOp::create(nested, loc, next);
      });
  parts.finalStore.erase();
  parts.loop.erase();
  eraseUnused(*copy);
  return copy;
}

/// What a segment starts from, of what the sequence does.
Value Splitter::foldMaps(OpBuilder &builder, ProgramOp copy, ChunkLoop parts,
                         Value columns) {
  return FoldMapsOp::create(builder, parts.loop.getLoc(), mapOf(copy), columns,
                            int64_t(program.getValues()),
                            parts.loop.getInitArgs().front());
}

OwningOpRef<ProgramOp> Splitter::makeSegments() {
  OwningOpRef<ProgramOp> copy = copyOf("segments", "all");
  std::string none;
  ChunkLoop parts = *findLoop(*copy, none);
  OpBuilder builder(parts.loop);
  Location loc = parts.loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value columns = ValueOffsetOp::create(builder, loc, builder.getIndexType());
  Value start = isFolded
                    ? foldMaps(builder, *copy, parts, columns)
                    : Value(LoadOp::create(builder, loc, state, startOf(*copy),
                                           ValueRange{zero, columns},
                                           /*one_step=*/false));
  parts.loop.getInitArgsMutable().assign(start);
  eraseUnused(*copy);
  return copy;
}

/// Why segments cannot fold the maps before them, or "".
std::string Splitter::findWhyNotFolded() {
  int64_t block = program.getValueBlock();
  if (elementwise)
    return "each element of the state has a factor of its own";
  if (!diagonal)
    return "their maps mix keys";
  if (!state.getElementType().isF32())
    return "the state is not f32";
  if (keys % kRowsOfPiece)
    return std::to_string(keys) + " keys are no multiple of " +
           std::to_string(kRowsOfPiece);
  if (block % kColumnsOfSlab)
    return "blocks of " + std::to_string(block) +
           " value columns are no multiple of " +
           std::to_string(kColumnsOfSlab);
  return "";
}

FailureOr<SplitPrograms> Splitter::split(std::string &whyNot) {
  if (program.getSegments()) {
    whyNot = "it is split already";
    return failure();
  }
  for (unsigned i = 0, e = program.getArgumentTypes().size(); i < e; ++i)
    if (program.getArgument_(i).getRole().getValue() == "final_window") {
      whyNot = "its inputs are convolved, and a segment's first tokens would "
               "see those of the segment before";
      return failure();
    }
  FailureOr<ChunkLoop> parts = findLoop(program, whyNot);
  if (failed(parts))
    return failure();
  FailureOr<AffineState> affine = AffineState::analyze(parts->loop, whyNot);
  // Of steps: chunks run on tensor cores, which carry one tile.
  elementwise =
      failed(affine) && program.getChunk() == 1 && isElementwise(parts->loop);
  if (failed(affine) && !elementwise)
    return failure();
  state = cast<RankedTensorType>(parts->loop.getResult(0).getType());
  keys = state.getDimSize(0);
  diagonal = succeeded(affine) && affine->isDiagonal();
  mapColumns = elementwise ? 0 : diagonal ? 1 : keys;
  std::string whyNotFolded = options.foldsMaps ? findWhyNotFolded() : "";
  isFolded = options.foldsMaps && whyNotFolded.empty();
  return SplitPrograms{makeMaps(),
                       isFolded ? OwningOpRef<ProgramOp>() : makeCombine(),
                       makeSegments(), whyNotFolded};
}

FailureOr<SplitPrograms> prism::tile::splitSequence(ProgramOp program,
                                                    const SplitOptions &options,
                                                    std::string &whyNot) {
  return Splitter(program, options).split(whyNot);
}

bool prism::tile::hasElementwiseMaps(ProgramOp program) {
  std::string whyNot;
  FailureOr<ChunkLoop> parts = Splitter::findLoop(program, whyNot);
  return succeeded(parts) && program.getChunk() == 1 &&
         failed(AffineState::analyze(parts->loop, whyNot)) &&
         isElementwise(parts->loop);
}

bool prism::tile::knowsMaps(ProgramOp program) {
  std::string whyNot;
  FailureOr<ChunkLoop> parts = Splitter::findLoop(program, whyNot);
  if (failed(parts))
    return false;
  FailureOr<AffineState> affine = AffineState::analyze(parts->loop, whyNot);
  return succeeded(affine) &&
         isKnownBeforehand(parts->loop, affine->isDiagonal());
}

namespace {
struct SplitSequencePass
    : prism::tile::impl::TileSplitSequenceBase<SplitSequencePass> {
  using TileSplitSequenceBase::TileSplitSequenceBase;
  void runOnOperation() override {
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs) {
      auto miss = [&](StringRef name, const std::string &whyNot) {
        remark::missed(program.getLoc(),
                       remark::RemarkOpts::name(name).category("tile"))
            << whyNot;
      };
      std::string whyNot;
      FailureOr<SplitPrograms> made =
          splitSequence(program, {combineBlock, foldMaps}, whyNot);
      if (failed(made)) {
        miss("SplitSequence", whyNot);
        continue;
      }
      if (!made->whyNotFolded.empty())
        miss("FoldMaps", made->whyNotFolded);
      OpBuilder builder(program);
      for (OwningOpRef<ProgramOp> *part :
           {&made->maps, &made->combine, &made->segments})
        if (*part)
          builder.insert(part->release());
      program.erase();
    }
  }
};
} // namespace
