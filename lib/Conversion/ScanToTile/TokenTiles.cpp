//===- TokenTiles.cpp - Values of a step, for a chunk of tokens -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TokenTiles.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Dialect/Scan/IR/StepOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace prism;

/// Extents of a step value without its leading rank axis.
static ArrayRef<int64_t> featureShape(Type type, int64_t rank) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  return rank < 0 ? tensor.getShape() : tensor.getShape().drop_front();
}

RankedTensorType TokenTiles::tileType(Type stepType, int64_t rank,
                                      Along along) {
  Type element = getElementTypeOrSelf(stepType);
  // Rounding inside a step is not modelled: floats are of the compute type.
  if (isa<FloatType>(element))
    element = tb.compute;
  ArrayRef<int64_t> features = featureShape(stepType, rank);
  if (along == Along::element && features.size() == 2)
    return RankedTensorType::get(
        {features[0], std::min(valueBlock, features[1])}, element);
  SmallVector<int64_t> shape = {chunk};
  if (!features.empty())
    shape.push_back(along == Along::value
                        ? std::min(valueBlock, features.back())
                        : features.back());
  return RankedTensorType::get(shape, element);
}

Value TokenTiles::get(Value stepValue, int64_t rank, Along along) {
  auto key = std::make_tuple(stepValue, rank, int(along));
  if (Value tile = known.lookup(key))
    return tile;
  if (Value tile = defined.lookup(stepValue)) {
    if (rank < 0)
      return tile;
    emitError(stepValue.getLoc(), "has no tile form: a row of a state, or of "
                                  "what is computed from one")
        << kSerialTakesIt;
    return {};
  }
  Value tile;
  if (auto argument = dyn_cast<BlockArgument>(stepValue)) {
    unsigned states = op.getNumStates() + op.getNumEntryStates();
    if (argument.getArgNumber() < states) {
      op.emitOpError("has a coefficient that is computed from the state, even "
                     "if the state cancels in it; it has no tile form")
          << kSerialTakesIt;
      return {};
    }
    tile = load(argument.getArgNumber() - states, rank, along);
  } else {
    Operation *producer = stepValue.getDefiningOp();
    // Who has no code for what it becomes can say where it was written.
    llvm::SaveAndRestore<Location> where(tb.loc, producer->getLoc());
    if (auto norm = dyn_cast<scan::L2NormOp>(producer))
      tile = l2norm(norm, rank, along);
    else if (auto loop = dyn_cast<scan::RefineOp>(producer))
      tile = refine(loop, rank, along);
    else if (isa<tensor::ExtractSliceOp, tensor::ExtractOp>(producer))
      tile = row(producer, rank, along);
    else if (auto broadcast = dyn_cast<linalg::BroadcastOp>(producer))
      tile = repeat(broadcast, rank, along);
    else
      tile = elementwise(producer, rank, along);
  }
  if (tile)
    known[key] = tile;
  return tile;
}

Value TokenTiles::convolved(unsigned input, int64_t rank, Along along) {
  if (rank < 0 && (along == Along::key || along == Along::value))
    return inputs[input].convolution->tile(
        tb, tileType(op.getInputArgument(input).getType(), rank, along), first,
        along == Along::value);
  emitError(op.getInputs()[input].getLoc(),
            "has no tile form: the elements of a convolved input cannot be "
            "taken one by one");
  return {};
}

Value TokenTiles::load(unsigned input, int64_t rank, Along along) {
  if (inputs[input].convolution)
    return convolved(input, rank, along);
  auto view = cast<tile::ViewType>(inputs[input].view.getType());
  SmallVector<Value> indices = {first};
  if (rank >= 0)
    indices.push_back(tb.index(rank));
  while (int64_t(indices.size()) + 1 < view.getRank())
    indices.push_back(tb.index(0));
  if (int64_t(indices.size()) < view.getRank())
    indices.push_back(along == Along::value || along == Along::element
                          ? columns
                          : tb.index(0));
  Type step = op.getInputArgument(input).getType();
  RankedTensorType type = tileType(step, rank, along);
  bool oneStep =
      along == Along::element && featureShape(step, rank).size() == 2;
  return tb.create<tile::LoadOp>(type, inputs[input].view, indices, oneStep);
}

/// A scalar of each token (of the one, if the tile is one token's) along it.
Value TokenTiles::splat(Value tokenVector, RankedTensorType type) {
  if (cast<RankedTensorType>(tokenVector.getType()).getDimSize(0) !=
      type.getDimSize(0))
    tokenVector = tb.splatLast(tokenVector, type.getDimSize(0));
  return tb.create<tile::BroadcastOp>(type, tokenVector, /*along_rows=*/false);
}

Value TokenTiles::elementwise(Operation *producer, int64_t rank, Along along) {
  Value result = producer->getResult(0);
  RankedTensorType type = tileType(result.getType(), rank, along);
  // Rounding steps are identities here: everything is in the compute type.
  if (isa<arith::ExtFOp, arith::TruncFOp>(producer))
    return get(producer->getOperand(0), rank, along);
  if (auto op = dyn_cast<tensor::SplatOp>(producer)) {
    // A scalar of the step repeats along the rank axis and the features.
    Value scalar = get(op.getInput(), -1, Along::none);
    if (!scalar || type.getRank() == 1)
      return scalar;
    return splat(scalar, type);
  }
  if (auto op = dyn_cast<arith::ConstantOp>(producer)) {
    Attribute value = op.getValue();
    if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      if (!dense.isSplat()) {
        op.emitError("a tensor constant of a step must be a splat, found ")
            << op.getType() << kSerialTakesIt;
        return {};
      }
      value = dense.getSplatValue<Attribute>();
    }
    if (auto number = dyn_cast<FloatAttr>(value))
      return tb.constant(type, number.getValueAsDouble());
    if (auto number = dyn_cast<IntegerAttr>(value))
      return tb.create<arith::ConstantOp>(
          DenseElementsAttr::get(type, Attribute(number)));
  }
  if (!OpTrait::hasElementwiseMappableTraits(producer)) {
    producer->emitError(
        "has no tile form: inside a step, what is not a state factor must be "
        "elementwise arith or math, a row, tensor.splat, linalg.broadcast, "
        "scan.l2norm or scan.refine; found '")
        << producer->getName() << "'" << kSerialTakesIt;
    return {};
  }
  SmallVector<Value> operands;
  for (Value operand : producer->getOperands()) {
    bool isScalar = !isa<RankedTensorType>(operand.getType());
    Value tile =
        isScalar ? get(operand, -1, Along::none) : get(operand, rank, along);
    if (!tile)
      return {};
    // A scalar condition of arith.select covers whole vectors.
    if (cast<RankedTensorType>(tile.getType()).getShape() != type.getShape())
      tile = splat(tile,
                   RankedTensorType::get(type.getShape(),
                                         getElementTypeOrSelf(tile.getType())));
    operands.push_back(tile);
  }
  OperationState state(tb.loc, producer->getName(), operands, {type},
                       producer->getAttrs());
  return tb.builder.create(state)->getResult(0);
}

/// The scalar of a state or a read of one element, or of what is computed of
/// one element by element.
Value TokenTiles::onlyElement(tensor::ExtractOp extract) {
  Value tensor = extract.getTensor();
  if (cast<RankedTensorType>(tensor.getType()).getNumElements() != 1)
    return {};
  Value tile = defined.lookup(tensor);
  Operation *producer = tensor.getDefiningOp();
  if (!tile && producer && OpTrait::hasElementwiseMappableTraits(producer))
    tile = get(tensor, -1, Along::key);
  if (!tile)
    return {};
  return tb.create<tile::SumColumnsOp>(tb.vector(chunk), tile);
}

/// A row is a rank of its source.
Value TokenTiles::row(Operation *producer, int64_t rank, Along along) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(producer))
    if (Value element = onlyElement(extract))
      return element;
  std::optional<int64_t> index = scan::rowOf(producer);
  if (!index) {
    producer->emitError("has no tile form: expected a whole row of the first "
                        "axis at a constant place")
        << kSerialTakesIt;
    return {};
  }
  if (rank >= 0) {
    producer->emitError("has no tile form: a row's own rows cannot be taken; "
                        "take them from an input of one axis fewer")
        << kSerialTakesIt;
    return {};
  }
  return get(producer->getOperand(0), *index, along);
}

/// A vector of the step along one more axis: the rank axis, the features of
/// ranks, or, for one token's K x V elements, an outer product with ones.
Value TokenTiles::repeat(linalg::BroadcastOp op, int64_t rank, Along along) {
  Value source = op.getInput();
  bool addsFirst = op.getDimensions() == ArrayRef<int64_t>{0};
  if (rank >= 0) {
    if (addsFirst)
      return get(source, -1, along);
    Value scalar = get(source, rank, Along::none);
    auto type = tileType(op->getResult(0).getType(), rank, along);
    return scalar ? splat(scalar, type) : Value();
  }
  RankedTensorType type =
      tileType(op->getResult(0).getType(), rank, Along::element);
  Value vector = get(source, -1, addsFirst ? Along::value : Along::key);
  if (!vector)
    return {};
  if (addsFirst)
    return tb.dot(tb.constant(tb.matrix(1, type.getDimSize(0)), 1.0), true,
                  vector, false);
  return tb.dot(vector, true,
                tb.constant(tb.matrix(1, type.getDimSize(1)), 1.0), false);
}

Value TokenTiles::l2norm(scan::L2NormOp norm, int64_t rank, Along along) {
  if (rank >= 0 && norm.getInput().getType().getRank() == 1) {
    norm.emitError("has no tile form: the elements of a normalised vector "
                   "cannot be taken one by one")
        << kSerialTakesIt;
    return {};
  }
  Value x = get(norm.getInput(), rank, along);
  if (!x)
    return {};
  Value squares = tb.create<tile::SumColumnsOp>(tb.vector(chunk), tb.mul(x, x));
  Value epsilon =
      tb.constant(tb.vector(chunk), norm.getEpsilon().convertToDouble());
  Value scale = tb.create<math::RsqrtOp>(tb.add(squares, epsilon));
  return tb.scaleRows(x, scale);
}

Value TokenTiles::refine(scan::RefineOp loop, int64_t rank, Along along) {
  auto &deltas = refined[{loop.getResult(), int(along)}];
  if (deltas.empty()) {
    Value anchor = get(loop.getAnchor(), -1, along),
          value = get(loop.getValue(), -1, along);
    if (!anchor || !value)
      return {};
    Value residual = tb.sub(value, anchor);
    for (int64_t l = 0, e = loop.getGain().getType().getDimSize(0); l < e;
         ++l) {
      Value gain = get(loop.getGain(), l, along);
      if (!gain)
        return {};
      Value delta =
          activateTile(tb, loop.getActivation(), tb.mul(gain, residual));
      // Kept apart from `deltas`: get() above may have grown the map.
      refined[{loop.getResult(), int(along)}].push_back(delta);
      if (l + 1 < e)
        residual = tb.sub(residual, delta);
    }
  }
  return refined[{loop.getResult(), int(along)}][rank];
}

/// Zero on rows past the end without further ado: computed from loads (which
/// are zero there) by ops that keep zeros. States are not zero there, nor are
/// convolved inputs, which see tokens before the end.
bool TokenTiles::isInert(Value stepValue) {
  if (auto argument = dyn_cast<BlockArgument>(stepValue)) {
    unsigned states = op.getNumStates() + op.getNumEntryStates();
    return argument.getArgNumber() >= states &&
           !inputs[argument.getArgNumber() - states].convolution;
  }
  Operation *producer = stepValue.getDefiningOp();
  if (matchPattern(producer, m_AnyZeroFloat()))
    return true;
  if (auto norm = dyn_cast<scan::L2NormOp>(producer))
    return norm.getEpsilon().convertToDouble() > 0.0 &&
           isInert(norm.getInput());
  if (isa<tensor::ExtractSliceOp, tensor::ExtractOp, linalg::BroadcastOp>(
          producer))
    return isInert(producer->getOperand(0));
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, arith::AddFOp,
          arith::SubFOp, arith::MulFOp, scan::RefineOp, tensor::SplatOp>(
          producer))
    return llvm::all_of(producer->getOperands(),
                        [&](Value v) { return isInert(v); });
  return false;
}

Value TokenTiles::getInert(Value stepValue, int64_t rank, Along along) {
  Value tile = get(stepValue, rank, along);
  if (!tile || chunk == 1 || isInert(stepValue))
    return tile;
  llvm::SaveAndRestore<Location> where(tb.loc, stepValue.getLoc());
  return tb.create<tile::MaskRowsOp>(tile.getType(), tile, first);
}
