//===- RecurrenceToPrefix.cpp - Affine recurrences as prefix scans --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A chain of factors is the map S -> M S + N. M is the chain without its
// injections, applied to an identity matrix; N the chain, applied to 0. Where
// nothing is erased the carried map needs no matrix: the gates are summed.
// The prefix before a token is the map that leads from nothing to the state
// the token's step sees, so `inf` is that very step.
//
//===----------------------------------------------------------------------===//

#include "CarriedMaps.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace prism::scan;

namespace prism::scan {
#define GEN_PASS_DEF_SCANRECURRENCETOPREFIX
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

namespace {
/// The operands, results and axes of the prefix scan, component by component.
struct Components {
  SmallVector<Value> identities;
  SmallVector<Attribute> identityAxes, finalAxes;
  SmallVector<Type> finalTypes;
  /// Of each state, the component that is its N.
  SmallVector<unsigned> states;
};
} // namespace

static Attribute axes(Builder &builder, const Twine &letters) {
  return builder.getStringAttr(letters);
}

/// Letters that no operand of the recurrence uses, for the columns of matrices.
static std::string freeLetters(RecurrenceOp op) {
  std::string used = "bthn", free;
  for (ArrayAttr all : {op.getInputAxesAttr(), op.getOutputAxes(),
                        op.getFinalAxes(), op.getInitialAxes()})
    for (Attribute one : all)
      used += cast<StringAttr>(one).getValue();
  for (char letter = 'a'; letter <= 'z'; ++letter)
    if (!StringRef(used).contains(letter))
      free += letter;
  return free;
}

/// The letters of n and h of a final state, then `features`.
static std::string carriedLetters(StringRef finalAxes, StringRef features) {
  std::string letters;
  for (char letter : finalAxes)
    if (letter == 'n' || letter == 'h')
      letters += letter;
  return letters + features.str();
}

/// The components of one state: those of M, then N.
static void addComponents(RecurrenceOp op, unsigned i, const CarriedMap &map,
                          char column, OpBuilder &builder,
                          Components &components) {
  Location loc = op.getLoc();
  StringRef finalAxes = cast<StringAttr>(op.getFinalAxes()[i]).getValue();
  auto finalType = cast<RankedTensorType>(op.getFinalStates()[i].getType());
  auto state = cast<RankedTensorType>(op.getStateArgument(i).getType());
  std::string features;
  for (char letter : finalAxes)
    if (letter != 'n' && letter != 'h')
      features += letter;
  auto add = [&](RankedTensorType type, StringRef letters, Value identity,
                 StringRef identityLetters) {
    SmallVector<int64_t> shape;
    for (auto [letter, extent] : llvm::zip(finalAxes, finalType.getShape()))
      if (letter == 'n' || letter == 'h')
        shape.push_back(extent);
    llvm::append_range(shape, type.getShape());
    components.finalTypes.push_back(
        RankedTensorType::get(shape, type.getElementType()));
    components.finalAxes.push_back(
        axes(builder, carriedLetters(finalAxes, letters)));
    components.identities.push_back(identity);
    components.identityAxes.push_back(axes(builder, identityLetters));
  };
  if (RankedTensorType carried = map.getOperandType()) {
    std::string letters = map.letters(features, column);
    add(carried, letters, map.createIdentity(builder, loc), letters);
  }
  components.states.push_back(components.identities.size());
  bool hasInitial = !op.getInitialStates().empty();
  Value initial =
      hasInitial
          ? op.getInitialStates()[i]
          : arith::ConstantOp::create(builder, loc, builder.getZeroAttr(state))
                .getResult();
  add(state, features, initial, hasInitial ? finalAxes : StringRef(features));
  // The final state is the recurrence's, axes in its order.
  components.finalTypes.back() = finalType;
  components.finalAxes.back() = op.getFinalAxes()[i];
}

static Block *createBlock(OpBuilder &builder, Region &region,
                          ArrayRef<Type> types, Location loc) {
  return builder.createBlock(&region, region.end(), types,
                             SmallVector<Location>(types.size(), loc));
}

/// (M, N) of a token.
static void buildEnc(RecurrenceOp op, PrefixOp prefix,
                     ArrayRef<CarriedMap> maps) {
  OpBuilder builder(op.getContext());
  SmallVector<Type> types;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    types.push_back(prefix.getInputArgumentType(i));
  Block *block = createBlock(builder, prefix.getEnc(), types, op.getLoc());
  IRMapping mapping;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    mapping.map(op.getInputArgument(i), block->getArgument(i));
  cloneStateFree(op, builder, mapping);
  SmallVector<Value> element;
  for (const CarriedMap &map : maps) {
    if (map.kind != CarriedMap::identity)
      element.push_back(map.createMap(builder, op.getLoc(), mapping,
                                      prefix.getIdentities()[element.size()]));
    element.push_back(map.createOffset(builder, op.getLoc(), mapping));
  }
  YieldOp::create(builder, op.getLoc(), element);
}

/// (M_new M_old, M_new N_old + N_new).
static void buildAgg(RecurrenceOp op, PrefixOp prefix,
                     ArrayRef<CarriedMap> maps) {
  OpBuilder builder(op.getContext());
  SmallVector<Type> types;
  unsigned count = prefix.getNumComponents();
  for (unsigned i = 0; i < 2 * count; ++i)
    types.push_back(prefix.getComponentType(i % count));
  Block *block = createBlock(builder, prefix.getAgg(), types, op.getLoc());
  SmallVector<Value> element;
  for (const CarriedMap &map : maps) {
    unsigned at = element.size();
    SmallVector<Value, 2> older, newer;
    for (unsigned i = at; i < at + map.getNumComponents(); ++i) {
      older.push_back(block->getArgument(i));
      newer.push_back(block->getArgument(count + i));
    }
    llvm::append_range(
        element, map.createComposition(builder, op.getLoc(), older, newer));
  }
  YieldOp::create(builder, op.getLoc(), element);
}

/// The step from the state of the prefix, without its next states.
static void buildInf(RecurrenceOp op, PrefixOp prefix,
                     const Components &components) {
  OpBuilder builder(op.getContext());
  SmallVector<Type> types;
  unsigned count = prefix.getNumComponents();
  for (unsigned i = 0; i < count; ++i)
    types.push_back(prefix.getComponentType(i));
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    types.push_back(prefix.getInputArgumentType(i));
  Block *block = createBlock(builder, prefix.getInf(), types, op.getLoc());
  IRMapping mapping;
  for (auto [i, component] : llvm::enumerate(components.states))
    mapping.map(op.getStateArgument(i), block->getArgument(component));
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    mapping.map(op.getInputArgument(i), block->getArgument(count + i));
  for (Operation &inner : op.getStepBlock()->without_terminator())
    builder.clone(inner, mapping);
  SmallVector<Value> outputs;
  for (Value value : op.getYield().getValues().drop_front(op.getNumStates()))
    outputs.push_back(mapping.lookupOrDefault(value));
  YieldOp::create(builder, op.getLoc(), outputs);
}

FailureOr<PrefixOp> prism::scan::recurrenceToPrefix(RecurrenceOp op) {
  auto decline = [&](Location where, const Twine &why) {
    remark::missed(where, remark::RemarkOpts::name("Prefix").category("scan"))
        << why.str();
    return failure();
  };
  SmallVector<CarriedMap> maps;
  std::string reason;
  if (std::optional<Location> where = findCarriedMaps(op, maps, reason))
    return decline(*where, reason);
  std::string columns = freeLetters(op);
  auto isMatrix = [](const CarriedMap &map) {
    return map.kind == CarriedMap::matrix;
  };
  if (size_t(llvm::count_if(maps, isMatrix)) > columns.size())
    return decline(op.getLoc(), "no letter is left for the columns of a "
                                "carried matrix: the axes use all of a to z");
  OpBuilder builder(op);
  Components components;
  for (auto [i, map] : llvm::enumerate(maps)) {
    addComponents(op, i, map, columns.empty() ? 0 : columns.front(), builder,
                  components);
    if (isMatrix(map))
      columns.erase(columns.begin());
  }
  // N of the identity is the initial state; without one it is only a 0.
  bool evaluate = !op.getInitialStates().empty();
  auto prefix = PrefixOp::create(
      builder, op.getLoc(), op.getOutputs().getTypes(), components.finalTypes,
      op.getInputs(), components.identities, op.getOffsets(),
      op.getInputAxesAttr(), builder.getArrayAttr(components.identityAxes),
      op.getOutputAxes(), builder.getArrayAttr(components.finalAxes),
      op.getReverse(), /*inclusive=*/false, /*associative=*/true, evaluate,
      /*chunk=*/IntegerAttr());
  buildEnc(op, prefix, maps);
  buildAgg(op, prefix, maps);
  buildInf(op, prefix, components);
  for (Region &region : prefix->getRegions())
    eraseDeadOps(region.front());
  for (auto [old, value] :
       llvm::zip_equal(op.getOutputs(), prefix.getOutputs()))
    old.replaceAllUsesWith(value);
  for (auto [i, component] : llvm::enumerate(components.states))
    op.getFinalStates()[i].replaceAllUsesWith(
        prefix.getFinalElements()[component]);
  op.erase();
  return prefix;
}

namespace {
struct RecurrenceToPrefixPass
    : prism::scan::impl::ScanRecurrenceToPrefixBase<RecurrenceToPrefixPass> {
  void runOnOperation() override {
    SmallVector<RecurrenceOp> recurrences;
    getOperation().walk([&](RecurrenceOp op) { recurrences.push_back(op); });
    for (RecurrenceOp op : recurrences)
      (void)recurrenceToPrefix(op);
  }
};
} // namespace
