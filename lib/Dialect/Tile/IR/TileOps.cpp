//===- TileOps.cpp - Verifiers of the tile ops ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace prism::tile;

#define GET_OP_CLASSES
#include "Prism/Dialect/Tile/IR/TileOps.cpp.inc"

static ArrayRef<int64_t> shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}

/// A tile takes the last axes of a view, or its time axis and the last ones.
static LogicalResult verifySlice(Operation *op, ViewType view,
                                 size_t numIndices, RankedTensorType tile) {
  if (int64_t(numIndices) != view.getRank())
    return op->emitOpError("has ") << numIndices << " indices for a view of "
                                   << view.getRank() << " axes";
  if (tile.getRank() > view.getRank())
    return op->emitOpError("takes a tile ")
           << tile << " from a view " << view << " of lower rank";
  if (view.getElementType().isInteger())
    return op->emitOpError("takes a tile from a view of sequence offsets, ")
           << view;
  return success();
}

static LogicalResult verifyOneStep(Operation *op, bool oneStep, ViewType view,
                                   RankedTensorType tile) {
  if (oneStep && (!view.hasTime() || tile.getRank() == view.getRank()))
    return op->emitOpError("takes one step of a view with time, without its "
                           "time axis; found ")
           << tile << " from " << view;
  return success();
}

LogicalResult LoadOp::verify() {
  ViewType view = getView().getType();
  auto tile = cast<RankedTensorType>(getResult().getType());
  if (failed(verifySlice(*this, view, getIndices().size(), tile)))
    return failure();
  Type element = tile.getElementType();
  if (element.getIntOrFloatBitWidth() == 16 && element != view.getElementType())
    return emitOpError("takes 16-bit elements as they lie; found ")
           << tile << " from " << view;
  return verifyOneStep(*this, getOneStep(), view, tile);
}

LogicalResult StoreOp::verify() {
  ViewType view = getView().getType();
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (failed(verifySlice(*this, view, getIndices().size(), tile)))
    return failure();
  return verifyOneStep(*this, getOneStep(), view, tile);
}

/// Slabs of 16 columns, each as whole pieces of 8 rows; of every segment where
/// there is a time axis.
static LogicalResult verifyMap(Operation *op, ViewType view,
                               RankedTensorType tile, bool ofAll) {
  constexpr int64_t kColumnsOfSlab = 16, kRowsOfPiece = 8;
  int64_t rows = tile.getDimSize(0);
  if (view.hasTime() == ofAll && view.getRank() == (ofAll ? 3 : 2) &&
      view.getElementType().isF32() && tile.getElementType().isF32() &&
      rows % kRowsOfPiece == 0 &&
      view.getShape().back() == rows * kColumnsOfSlab)
    return success();
  return op->emitOpError("takes slabs of 16 columns, of ")
         << rows * kColumnsOfSlab << " f32 each, of "
         << (ofAll ? "all segments" : "one segment") << "; found " << tile
         << " in " << view;
}

/// In a program whose work items are these.
static LogicalResult verifyItems(Operation *op, SegmentItems items,
                                 StringRef name) {
  auto program = op->getParentOfType<ProgramOp>();
  if (program && program.getSegmentItems() == items)
    return success();
  return op->emitOpError("stands in programs of segments ") << name;
}

LogicalResult StoreMapOp::verify() {
  if (failed(verifyItems(*this, SegmentItems::Inner, "inner")))
    return failure();
  return verifyMap(*this, getMap().getType(), getValue().getType(),
                   /*ofAll=*/false);
}

LogicalResult FoldMapsOp::verify() {
  ViewType view = getMap().getType();
  if (failed(verifyItems(*this, SegmentItems::All, "all")) ||
      failed(verifyMap(*this, view, getResult().getType(), /*ofAll=*/true)))
    return failure();
  int64_t columns = view.getShape()[1] * 16, factors = getFactors();
  if (factors >= 0 && factors < columns)
    return success();
  return emitOpError("expects factors in one of ")
         << columns << " columns, found column " << factors;
}

LogicalResult SumStepsOp::verify() {
  if (getViews().empty())
    return emitOpError("sums numbers of views, found none");
  for (Value each : getViews()) {
    auto view = cast<ViewType>(each.getType());
    if (!view.hasTime() || view.getRank() != 1 ||
        !isa<FloatType>(view.getElementType()))
      return emitOpError("sums one number a step, of a view with time alone; "
                         "found ")
             << view;
  }
  return success();
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs()),
                    result = shapeOf(getResult());
  Type left = getLhs().getType().getElementType(),
       right = getRhs().getType().getElementType(),
       sums = getResult().getType().getElementType();
  bool rounded = left.getIntOrFloatBitWidth() == 16 && sums.isF32();
  if (left != right || (left != sums && !rounded))
    return emitOpError("multiplies two tiles of the accumulator's type, or two "
                       "of one 16-bit type into f32; found ")
           << getLhs().getType() << " and " << getRhs().getType() << " into "
           << getResult().getType();
  int64_t m = lhs[getTransposeLhs() ? 1 : 0],
          k = lhs[getTransposeLhs() ? 0 : 1];
  int64_t n = rhs[getTransposeRhs() ? 0 : 1],
          k2 = rhs[getTransposeRhs() ? 1 : 0];
  if (k != k2)
    return emitOpError("contracts ")
           << k << " elements of the left with " << k2 << " of the right";
  if (result[0] != m || result[1] != n)
    return emitOpError("yields ")
           << m << "x" << n << ", the accumulator is " << getAcc().getType();
  return success();
}

LogicalResult SolveOp::verify() {
  ArrayRef<int64_t> matrix = shapeOf(getMatrix()), rhs = shapeOf(getRhs());
  if (matrix[0] != matrix[1] || matrix[0] != rhs[0])
    return emitOpError("expects a square matrix with as many rows as the "
                       "right-hand side, found ")
           << getMatrix().getType() << " and " << getRhs().getType();
  return success();
}

LogicalResult InvertOp::verify() {
  ArrayRef<int64_t> matrix = shapeOf(getMatrix());
  if (matrix[0] != matrix[1])
    return emitOpError("expects a square matrix, found ")
           << getMatrix().getType();
  return success();
}

LogicalResult DecayMatrixOp::verify() {
  int64_t rows = shapeOf(getRows())[0], columns = shapeOf(getColumns())[0];
  int64_t perRow = getRowOrder().size(), perColumn = getColumnOrder().size();
  if (perRow < 1 || perColumn < 1 || rows % perRow || columns % perColumn ||
      rows / perRow != columns / perColumn)
    return emitOpError("expects rows and columns for the same tokens, found ")
           << rows << " rows at " << perRow << " and " << columns
           << " columns at " << perColumn << " a token";
  if (getTransposed())
    std::swap(rows, columns);
  ArrayRef<int64_t> result = shapeOf(getResult());
  if (result[0] != rows || result[1] != columns)
    return emitOpError("yields ")
           << rows << "x" << columns << ", found " << getResult().getType();
  return success();
}

LogicalResult DecayedDotOp::verify() {
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs()),
                    result = shapeOf(getResult());
  int64_t perRow = getRowOrder().size(), perColumn = getColumnOrder().size();
  if (perRow < 1 || perColumn < 1 || lhs[0] % perRow || rhs[0] % perColumn ||
      lhs[0] / perRow != rhs[0] / perColumn)
    return emitOpError("expects rows and columns for the same tokens, found ")
           << lhs[0] << " rows at " << perRow << " and " << rhs[0]
           << " columns at " << perColumn << " a token";
  if (lhs[1] != rhs[1])
    return emitOpError("contracts ") << lhs[1] << " channels of the left with "
                                     << rhs[1] << " of the right";
  if (getDecays().empty() || getDecays().size() != getDecayOrder().size())
    return emitOpError("expects a place for each of its decays, at least one; "
                       "found ")
           << getDecays().size() << " decays at " << getDecayOrder().size()
           << " places";
  for (Value decays : getDecays())
    if (shapeOf(decays)[0] != lhs[0] / perRow || shapeOf(decays)[1] != lhs[1])
      return emitOpError("expects decays of ")
             << lhs[0] / perRow << " tokens and " << lhs[1]
             << " channels, found " << decays.getType();
  if (result[0] != lhs[0] || result[1] != rhs[0])
    return emitOpError("yields ")
           << lhs[0] << "x" << rhs[0] << ", found " << getResult().getType();
  Type element = getResult().getType().getElementType();
  for (Value operand : getOperands())
    if (getElementTypeOrSelf(operand) != element)
      return emitOpError("expects operands of its result's element type ")
             << element << ", found " << operand.getType();
  return success();
}

SmallVector<ChainEvent> DecayedDotOp::getEvents() {
  SmallVector<ChainEvent> events;
  auto append = [&](ArrayRef<int64_t> places, ChainEvent::Kind kind) {
    for (auto [i, place] : llvm::enumerate(places))
      events.push_back({place, kind, int64_t(i)});
  };
  append(getRowOrder(), ChainEvent::read);
  append(getDecayOrder(), ChainEvent::decay);
  append(getColumnOrder(), ChainEvent::write);
  llvm::sort(events, [](const ChainEvent &a, const ChainEvent &b) {
    return std::tuple(a.place, a.kind, a.index) <
           std::tuple(b.place, b.kind, b.index);
  });
  return events;
}

/// A row by row and c of a system of as many numbers as c has, and vectors of
/// one element for each of `tokens`.
static LogicalResult verifySystem(Operation *op, OperandRange transition,
                                  OperandRange output, int64_t tokens,
                                  Type element) {
  if (output.empty() || transition.size() != output.size() * output.size())
    return op->emitOpError("expects the square of its ")
           << output.size() << " output coefficients in transition "
           << "coefficients, at least one; found " << transition.size();
  auto type = RankedTensorType::get({tokens}, element);
  for (Value operand : op->getOperands())
    if (operand.getType() != type)
      return op->emitOpError("expects coefficients of type ")
             << type << ", found " << operand.getType();
  return success();
}

LogicalResult ImpulseResponseOp::verify() {
  RankedTensorType type = getResult().getType();
  if (type.getDimSize(0) != type.getDimSize(1))
    return emitOpError("yields a row and a column for each token, found ")
           << type;
  if (getInput().size() != getOutput().size())
    return emitOpError("expects as many input coefficients as output "
                       "coefficients, found ")
           << getInput().size() << " and " << getOutput().size();
  return verifySystem(*this, getTransition(), getOutput(), type.getDimSize(0),
                      type.getElementType());
}

LogicalResult InitialResponseOp::verify() {
  RankedTensorType type = getResult().getType();
  if (getState() >= getOutput().size())
    return emitOpError("expects a state below ")
           << getOutput().size() << ", found " << getState();
  return verifySystem(*this, getTransition(), getOutput(), type.getDimSize(0),
                      type.getElementType());
}

LogicalResult LastRowOp::verify() {
  if (shapeOf(getResult())[0] != shapeOf(getInput())[1])
    return emitOpError("yields ")
           << shapeOf(getInput())[1] << " elements, found "
           << getResult().getType();
  return success();
}

LogicalResult ScaleRowsOp::verify() {
  if (shapeOf(getScale())[0] != shapeOf(getInput())[0])
    return emitOpError("has ") << shapeOf(getScale())[0] << " scales for "
                               << shapeOf(getInput())[0] << " rows";
  return success();
}

LogicalResult ScaleColumnsOp::verify() {
  if (shapeOf(getScale())[0] != shapeOf(getInput())[1])
    return emitOpError("has ") << shapeOf(getScale())[0] << " scales for "
                               << shapeOf(getInput())[1] << " columns";
  return success();
}

LogicalResult SumColumnsOp::verify() {
  if (shapeOf(getResult())[0] != shapeOf(getInput())[0])
    return emitOpError("yields ") << shapeOf(getInput())[0] << " sums, found "
                                  << getResult().getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  int64_t extent = shapeOf(getResult())[getAlongRows() ? 1 : 0];
  if (shapeOf(getInput())[0] != extent)
    return emitOpError("repeats ")
           << getInput().getType() << " to " << getResult().getType();
  return success();
}

LogicalResult InterleaveOp::verify() {
  if (getInputs().empty())
    return emitOpError("expects at least one operand");
  SmallVector<int64_t> want(shapeOf(getInputs()[0]));
  want[0] *= getInputs().size();
  if (shapeOf(getResult()) != ArrayRef<int64_t>(want))
    return emitOpError("expects a result of ")
           << want[0] << " rows, found " << getResult().getType();
  return success();
}
