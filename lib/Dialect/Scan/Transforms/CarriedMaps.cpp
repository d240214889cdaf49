//===- CarriedMaps.cpp - The maps that chains of factors are --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CarriedMaps.h"
#include "Prism/Analysis/StateFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace prism;
using namespace prism::scan;
using llvm::formatv;

// Products of larger matrices are no form of a recurrence that anybody wants.
static constexpr int64_t kMaxMatrix = 1024;

//===----------------------------------------------------------------------===//
// What reads a state
//===----------------------------------------------------------------------===//

/// Values of the step that are computed from a state.
static DenseSet<Value> valuesFromStates(RecurrenceOp op) {
  DenseSet<Value> found;
  unsigned states = op.getNumStates() + op.getNumEntryStates();
  for (BlockArgument argument :
       op.getStepBlock()->getArguments().take_front(states))
    found.insert(argument);
  for (Operation &inner : op.getStepBlock()->without_terminator()) {
    bool reads = false;
    inner.walk([&](Operation *nested) {
      reads |= llvm::any_of(nested->getOperands(), [&](Value operand) {
        return found.contains(operand);
      });
    });
    if (reads)
      found.insert(inner.result_begin(), inner.result_end());
  }
  return found;
}

void scan::cloneStateFree(RecurrenceOp op, OpBuilder &builder,
                          IRMapping &mapping) {
  DenseSet<Value> fromStates = valuesFromStates(op);
  for (Operation &inner : op.getStepBlock()->without_terminator())
    if (llvm::none_of(inner.getResults(), [&](Value result) {
          return fromStates.contains(result);
        }))
      builder.clone(inner, mapping);
}

void scan::eraseDeadOps(Block &block) {
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

//===----------------------------------------------------------------------===//
// Finding maps
//===----------------------------------------------------------------------===//

/// What all of a chain's factors may read beside the state.
static std::optional<Location> checkOperands(const CarriedMap &map,
                                             unsigned index,
                                             const DenseSet<Value> &fromStates,
                                             std::string &reason) {
  DenseSet<Value> earlier = {map.argument};
  for (StateOpInterface factor : map.chain) {
    auto erase = dyn_cast<EraseOp>(factor.getOperation());
    for (OpOperand &operand : factor->getOpOperands()) {
      if (&operand == &factor.getStateOperand())
        continue;
      bool isSource = erase && erase.getOf() && operand.get() == erase.getOf();
      if (isSource ? earlier.contains(operand.get())
                   : !fromStates.contains(operand.get()))
        continue;
      reason = formatv("operand {0} of '{1}' on the chain of state {2} is "
                       "computed from a state: the token's map is not known "
                       "before the state is",
                       operand.getOperandNumber(), factor->getName(), index);
      return factor->getLoc();
    }
    earlier.insert(factor.getStateResult());
  }
  return std::nullopt;
}

/// What a decay along either covers: with one per key and one per value, every
/// element has its own.
static DecayAlong coverBoth(DecayAlong a, DecayAlong b) {
  if (a == b || b == DecayAlong::scalar)
    return a;
  return a == DecayAlong::scalar ? b : DecayAlong::element;
}

/// The kind of M, of a chain that is known.
static std::optional<Location> findKind(CarriedMap &map, std::string &reason) {
  for (StateOpInterface factor : map.chain) {
    auto decay = dyn_cast<DecayOp>(factor.getOperation());
    if (!decay && factor.isLinear())
      map.kind = CarriedMap::matrix;
    if (decay && map.kind != CarriedMap::matrix)
      map.kind = CarriedMap::decay;
    if (decay)
      map.along = coverBoth(map.along, decay.getAlong());
  }
  if (map.kind != CarriedMap::matrix)
    return std::nullopt;
  if (map.state.getDimSize(0) > kMaxMatrix) {
    reason = formatv("the carried matrix of {0} x {0} is larger than {1} x {1}",
                     map.state.getDimSize(0), kMaxMatrix);
    return map.chain.front()->getLoc();
  }
  for (StateOpInterface factor : map.chain)
    if (auto decay = dyn_cast<DecayOp>(factor.getOperation());
        decay && (decay.getAlong() == DecayAlong::value ||
                  decay.getAlong() == DecayAlong::element)) {
      reason = formatv("a decay along {0} beside an erase: each value column "
                       "would need a carried matrix of its own",
                       stringifyDecayAlong(decay.getAlong()));
      return decay.getLoc();
    }
  return std::nullopt;
}

/// Where the chain of a state stops, and why.
static Location explainNoChain(RecurrenceOp op, unsigned index,
                               std::string &reason) {
  analysis::StateFlow flow(op);
  if (flow.granularity() == analysis::Granularity::none) {
    auto [where, why] = flow.blame();
    reason = why;
    return where;
  }
  Value state = op.getYield().getValues()[index];
  while (auto factor = state.getDefiningOp<StateOpInterface>())
    state = factor.getStateOperand().get();
  reason = formatv("the next value of state {0} is no chain of factors of it; "
                   "scan-raise-affine makes factors of plain ops",
                   index);
  return state.getLoc();
}

std::optional<Location> scan::findCarriedMaps(RecurrenceOp op,
                                              SmallVectorImpl<CarriedMap> &maps,
                                              std::string &reason) {
  if (op.getMiniBatch()) {
    reason = "its step reads states at a mini-batch's entry; maps are carried "
             "from token to token";
    return op.getLoc();
  }
  for (Operation &inner : op.getStepBlock()->without_terminator())
    if (!isMemoryEffectFree(&inner)) {
      reason = formatv("'{0}' may have effects, and would run in enc and inf",
                       inner.getName());
      return inner.getLoc();
    }
  DenseSet<Value> fromStates = valuesFromStates(op);
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    CarriedMap &map = maps.emplace_back();
    map.argument = op.getStateArgument(i);
    map.state = cast<RankedTensorType>(map.argument.getType());
    if (map.state.getRank() == 0 || map.state.getNumElements() == 0) {
      reason = "a state without an axis or without elements has no element of "
               "a prefix scan";
      return op.getLoc();
    }
    FailureOr<SmallVector<StateOpInterface>> chain = getFactorChain(op, i);
    if (failed(chain))
      return explainNoChain(op, i, reason);
    if (isValueFirst(op, i)) {
      reason = "the state is written values first; maps are composed of keys "
               "first";
      return chain->front()->getLoc();
    }
    map.chain = std::move(*chain);
    if (std::optional<Location> where =
            checkOperands(map, i, fromStates, reason))
      return where;
    if (std::optional<Location> where = findKind(map, reason))
      return where;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is carried of M
//===----------------------------------------------------------------------===//

RankedTensorType CarriedMap::getOperandType() const {
  Type element = state.getElementType();
  if (kind == identity)
    return {};
  if (kind == matrix)
    return RankedTensorType::get({state.getDimSize(0), state.getDimSize(0)},
                                 element);
  // Sums of f64 gates stay f64.
  for (StateOpInterface factor : chain)
    if (auto decay = dyn_cast<DecayOp>(factor.getOperation()))
      if (Type gate = getElementTypeOrSelf(decay.getLogGate()); gate.isF64())
        element = gate;
  switch (along) {
  case DecayAlong::scalar:
    return RankedTensorType::get({}, element);
  case DecayAlong::key:
    return RankedTensorType::get({state.getDimSize(0)}, element);
  case DecayAlong::value:
    return RankedTensorType::get({state.getDimSize(1)}, element);
  case DecayAlong::element:
    return RankedTensorType::get(state.getShape(), element);
  }
  llvm_unreachable("unknown decay");
}

std::string CarriedMap::letters(StringRef features, char column) const {
  if (kind == matrix)
    return {features[0], column};
  switch (along) {
  case DecayAlong::scalar:
    return "";
  case DecayAlong::key:
    return features.take_front(1).str();
  case DecayAlong::value:
    return features.drop_front(1).str();
  case DecayAlong::element:
    return features.str();
  }
  llvm_unreachable("unknown decay");
}

static Value identityMatrix(OpBuilder &builder, Location loc,
                            RankedTensorType type) {
  int64_t extent = type.getDimSize(0);
  Attribute zero = builder.getZeroAttr(type.getElementType()),
            one = builder.getOneAttr(type.getElementType());
  SmallVector<Attribute> elements(extent * extent, zero);
  for (int64_t i = 0; i < extent; ++i)
    elements[i * extent + i] = one;
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, elements));
}

static Value zeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value CarriedMap::createIdentity(OpBuilder &builder, Location loc) const {
  return kind == matrix ? identityMatrix(builder, loc, getOperandType())
                        : zeros(builder, loc, getOperandType());
}

//===----------------------------------------------------------------------===//
// The maps of tokens
//===----------------------------------------------------------------------===//

Value CarriedMap::applyChain(OpBuilder &builder, Value start, IRMapping mapping,
                             bool linearOnly) const {
  mapping.map(argument, start);
  Value current = start;
  for (StateOpInterface factor : chain) {
    if (!linearOnly || factor.isLinear()) {
      // The state may have other columns than the recurrence's.
      Operation *copy = builder.clone(*factor, mapping);
      copy->getResult(0).setType(start.getType());
      current = copy->getResult(0);
    }
    mapping.map(factor.getStateResult(), current);
  }
  return current;
}

Value CarriedMap::createOffset(OpBuilder &builder, Location loc,
                               const IRMapping &mapping) const {
  return applyChain(builder, zeros(builder, loc, state), mapping,
                    /*linearOnly=*/false);
}

Value CarriedMap::createMap(OpBuilder &builder, Location loc,
                            const IRMapping &mapping, Value identity) const {
  return kind == matrix
             ? applyChain(builder, identity, mapping, /*linearOnly=*/true)
             : sumGates(builder, loc, mapping);
}

Value CarriedMap::carryGate(OpBuilder &builder, Location loc, Value gate,
                            DecayAlong from) const {
  RankedTensorType carried = getOperandType();
  Type element = carried.getElementType();
  if (Type found = getElementTypeOrSelf(gate); found != element) {
    auto tensor = dyn_cast<RankedTensorType>(gate.getType());
    Type wide = tensor ? Type(tensor.clone(element)) : element;
    gate = arith::ExtFOp::create(builder, loc, wide, gate);
  }
  if (from == along)
    return gate;
  if (from == DecayAlong::scalar)
    return tensor::SplatOp::create(builder, loc, gate, carried);
  Value empty =
      tensor::EmptyOp::create(builder, loc, carried.getShape(), element);
  int64_t missing = from == DecayAlong::key ? 1 : 0;
  return linalg::BroadcastOp::create(builder, loc, gate, empty,
                                     ArrayRef<int64_t>(missing))
      ->getResult(0);
}

Value CarriedMap::sumGates(OpBuilder &builder, Location loc,
                           const IRMapping &mapping) const {
  Value sum;
  for (StateOpInterface factor : chain) {
    auto decay = dyn_cast<DecayOp>(factor.getOperation());
    if (!decay)
      continue;
    Value gate =
        carryGate(builder, loc, mapping.lookupOrDefault(decay.getLogGate()),
                  decay.getAlong());
    sum = sum ? arith::AddFOp::create(builder, loc, sum, gate) : gate;
  }
  return sum;
}

SmallVector<Value, 2> CarriedMap::createComposition(OpBuilder &builder,
                                                    Location loc,
                                                    ValueRange older,
                                                    ValueRange newer) const {
  if (kind == identity)
    return {arith::AddFOp::create(builder, loc, older[0], newer[0])};
  if (kind == decay) {
    Value gates = arith::AddFOp::create(builder, loc, older[0], newer[0]);
    Value kept = DecayOp::create(builder, loc, older[1], newer[0], along);
    return {gates, arith::AddFOp::create(builder, loc, kept, newer[1])};
  }
  auto multiply = [&](Value a, Value b, Value onto) -> Value {
    return linalg::MatmulOp::create(builder, loc, ValueRange{a, b},
                                    ValueRange{onto})
        ->getResult(0);
  };
  Value none = zeros(builder, loc, getOperandType());
  return {multiply(newer[0], older[0], none),
          multiply(newer[0], older[1], newer[1])};
}
