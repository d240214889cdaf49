//===- StreamedDots.cpp - Products with a matrix from memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StreamedDots.h"
#include "SharedLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Elements of M in a thread's registers, twice; and sums of a thread.
static constexpr int64_t kMostElements = 64, kMostSums = 64;

int64_t StreamedDot::columns() const {
  return tensorType(DotOp(dot).getResult()).getDimSize(1);
}
int64_t StreamedDot::vectorsPerRow() const {
  return DotOp(dot).getK() / (lanes * kStreamedElements);
}
int64_t StreamedDot::elementsPerLane() const {
  return kStreamedRows * columns() / lanes;
}

//===----------------------------------------------------------------------===//
// Which products
//===----------------------------------------------------------------------===//

bool prism::tiletogpu::isAlignedSlice(ProgramOp program, const Slice &slice) {
  auto view = cast<ViewType>(slice.view.getType());
  ArgumentAttr argument = program.getArgument_(slice.view.getArgNumber());
  Value column = slice.offsets.back();
  APInt constant;
  bool startsAligned =
      matchPattern(column, m_ConstantInt(&constant))
          ? constant.getSExtValue() % kStreamedElements == 0
          : column.getDefiningOp<ValueOffsetOp>() &&
                int64_t(program.getValueBlock()) % kStreamedElements == 0;
  return argument.getRole().getValue() == kIntermediate && startsAligned &&
         view.getShape().back() % kStreamedElements == 0 &&
         view.getElementType().isF32();
}

/// Whether a load of the loop can be made one iteration ahead.
static bool isForeseeable(LoadOp load, scf::ForOp loop) {
  return load && load->getParentOp() == loop.getOperation() &&
         load.getResult().hasOneUse() &&
         tensorType(load.getResult()).getRank() == 2 &&
         isAlignedSlice(loop->getParentOfType<ProgramOp>(), Slice::of(load)) &&
         llvm::all_of(load.getIndices(), [&](Value index) {
           return index == loop.getInductionVar() ||
                  loop.isDefinedOutsideOfLoop(index);
         });
}

/// Whether all of a tile lies in its view, but for the axes that it has not.
static bool isInside(LoadOp load) {
  Slice slice = Slice::of(load);
  auto program = load->getParentOfType<ProgramOp>();
  return llvm::all_of(slice.axisOfTile, [&](int64_t axis) {
    return slice.isWhole(axis, program);
  });
}

std::optional<StreamedDot> prism::tiletogpu::streamedDotOf(DotOp dot,
                                                           int64_t threads) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto type = tensorType(dot.getResult());
  int64_t rows = type.getDimSize(0);
  StreamedDot made;
  made.dot = dot;
  made.matrix = dot.getLhs().getDefiningOp<LoadOp>();
  if (!loop || dot.getTransposeLhs() || dot.getTransposeRhs() ||
      !type.getElementType().isF32() || rows % kStreamedRows ||
      !isForeseeable(made.matrix, loop) || !isInside(made.matrix))
    return std::nullopt;
  made.groups = rows / kStreamedRows;
  made.lanes = threads / made.groups;
  int64_t sums = kStreamedRows * made.columns();
  if (threads % made.groups || !llvm::isPowerOf2_64(made.lanes) ||
      made.lanes > 32 || dot.getK() % (made.lanes * kStreamedElements) ||
      sums > kMostSums || sums % made.lanes ||
      kStreamedRows * dot.getK() > kMostElements * made.lanes)
    return std::nullopt;
  auto start = dot.getAcc().getDefiningOp<LoadOp>();
  if (isForeseeable(start, loop))
    made.start = start;
  return made;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

namespace {
/// A thread's place in a streamed product, i32.
struct Place {
  Value lane, group;
};
} // namespace

static Place placeOf(ScalarBuilder &b, KernelBuilder &kernel,
                     const StreamedDot &stream) {
  return {b.remainder(kernel.thread(), stream.lanes),
          b.divide(kernel.thread(), stream.lanes)};
}

/// Row and column of element i of those that a lane adds up in the end.
static std::pair<Value, Value> ownElement(ScalarBuilder &b,
                                          KernelBuilder &kernel,
                                          const StreamedDot &stream,
                                          int64_t i) {
  auto [lane, group] = placeOf(b, kernel, stream);
  Value element = b.add(b.mul(lane, b.i32(stream.elementsPerLane())), b.i32(i));
  Value row = b.add(
      group, b.mul(b.divide(element, stream.columns()), b.i32(stream.groups)));
  return {row, b.remainder(element, stream.columns())};
}

/// Whether an element is there, i1 or null; and where it lies, or another one
/// that may be read.
std::pair<Value, Value> SharedLowering::placeOfElement(LoadOp load, Index at) {
  Slice slice = Slice::of(load);
  SmallVector<Value, 3> indices =
      kernel.viewIndices(slice, {at.first, at.second});
  Value inside = sliceIsThere(slice);
  for (int64_t axis : slice.axisOfTile)
    inside = b.both(inside, kernel.axisInside(slice, axis, indices[axis]));
  return {inside, kernel.safeAddress(slice, indices, inside)};
}

/// What the product of an iteration needs of memory, as it comes: whoever looks
/// at it waits for it, so what is not there becomes zero in the product.
SmallVector<Value> SharedLowering::loadAhead(const StreamedDot &stream,
                                             scf::ForOp loop, Value iteration) {
  Value induction = loop.getInductionVar();
  Value before = kernel.scalars.lookupOrNull(induction);
  kernel.scalars.map(induction, iteration);
  auto [lane, group] = placeOf(b, kernel, stream);
  auto vector = VectorType::get({kStreamedElements}, b.getF32Type());
  SmallVector<Value> values;
  for (int64_t r = 0; r < kStreamedRows; ++r)
    for (int64_t i = 0; i < stream.vectorsPerRow(); ++i) {
      Value row = b.add(group, b.i32(r * stream.groups));
      Value column =
          b.mul(b.add(lane, b.i32(i * stream.lanes)), b.i32(kStreamedElements));
      Value from = placeOfElement(stream.matrix, {row, column}).second;
      values.push_back(
          LLVM::LoadOp::create(b, vector, from, 4 * kStreamedElements));
    }
  for (int64_t i = 0, e = stream.start ? stream.elementsPerLane() : 0; i < e;
       ++i) {
    Index at = ownElement(b, kernel, stream, i);
    values.push_back(LLVM::LoadOp::create(
        b, b.getF32Type(), placeOfElement(stream.start, at).second));
  }
  if (before)
    kernel.scalars.map(induction, before);
  return values;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// This thread's part of the sums over its columns of M.
SmallVector<Value> SharedLowering::multiplyStreamed(const StreamedDot &stream,
                                                    ArrayRef<Value> matrix) {
  DotOp dot = stream.dot;
  int64_t columns = stream.columns(), vectors = stream.vectorsPerRow();
  auto [lane, group] = placeOf(b, kernel, stream);
  SmallVector<Value> sums(kStreamedRows * columns, b.real(b.getF32Type(), 0.0));
  for (int64_t i = 0; i < vectors; ++i)
    for (int64_t j = 0; j < kStreamedElements; ++j) {
      Value k = b.add(b.mul(lane, b.i32(kStreamedElements)),
                      b.i32(i * stream.lanes * kStreamedElements + j));
      Known known;
      SmallVector<Value> right;
      for (int64_t c = 0; c < columns; ++c)
        right.push_back(evaluate(dot.getRhs(), {k, b.i32(c)}, known));
      for (int64_t r = 0; r < kStreamedRows; ++r) {
        Value left = LLVM::ExtractElementOp::create(b, matrix[r * vectors + i],
                                                    b.i32(j));
        for (int64_t c = 0; c < columns; ++c) {
          Value &sum = sums[r * columns + c];
          sum = math::FmaOp::create(b, left, right[c], sum);
        }
      }
    }
  return sums;
}

/// Adds up over the lanes of a group: from one exchange to the next a lane
/// keeps one half of its sums and gives the other away. In the end lane l has
/// the l-th part of them.
SmallVector<Value> SharedLowering::addUpHalves(SmallVector<Value> sums,
                                               Value lane, int64_t lanes) {
  for (int64_t distance = lanes / 2; distance; distance /= 2) {
    Value isUpper = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, lane, b.i32(distance)), b.i32(0));
    size_t half = sums.size() / 2;
    SmallVector<Value> kept;
    for (size_t i = 0; i < half; ++i) {
      Value lower = sums[i], upper = sums[half + i];
      Value sent = NVVM::ShflOp::create(
          b, b.getF32Type(), b.i32(-1), b.select(isUpper, lower, upper),
          b.i32(distance), b.i32(31), NVVM::ShflKind::bfly, UnitAttr());
      kept.push_back(b.add(b.select(isUpper, upper, lower), sent));
    }
    sums = kept;
  }
  return sums;
}

void SharedLowering::emitStreamedDot(const StreamedDot &stream) {
  DotOp dot = stream.dot;
  const Buffer &to = *plan.lookup(dot.getResult());
  SmallVector<Value> ahead = streamed.lookup(dot);
  access(plan.sourcesOfDefinition(dot.getResult()), &to);
  size_t count = kStreamedRows * stream.vectorsPerRow();
  SmallVector<Value> sums =
      addUpHalves(multiplyStreamed(stream, ArrayRef(ahead).take_front(count)),
                  placeOf(b, kernel, stream).lane, stream.lanes);
  Value none = b.real(b.getF32Type(), 0.0);
  Value isThere = sliceIsThere(Slice::of(LoadOp(stream.matrix)));
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Index at = ownElement(b, kernel, stream, i);
    Value start;
    if (stream.start) {
      Value inside = placeOfElement(stream.start, at).first;
      start = ahead[count + i];
      start = inside ? b.select(inside, start, none) : start;
    } else {
      start = evaluate(dot.getAcc(), at);
    }
    write(to, at, b.add(start, isThere ? b.select(isThere, sum, none) : sum));
  }
}
