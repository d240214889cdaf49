//===- Products.cpp - Dots as warpgroup products --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"
#include "Prism/Dialect/Tile/IR/RoleLimits.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Waits until a product's registers hold its result. In the chain, where
/// registers are scarce, until all products' do: the rounded state, operand of
/// the products that read it, is half as large as the state and gives its
/// registers back. So do two teams that prepare: with a product in flight
/// beside the inverse ptxas serialises all of the kernel's (C7511).
void ComputeRole::settle(Matrix &matrix) {
  if (matrix.running.empty())
    return;
  if (matrix.group > groupsRetired) {
    bool isScarce = (chain || teamsOf(role.role) > 1) &&
                    role.registers < kPlentyOfRegisters;
    int64_t last = isScarce ? groupsIssued : matrix.group;
    in.waitForAllBut(groupsIssued - last);
    groupsRetired = last;
    releaseFree();
  }
  SmallVector<Value> registers;
  for (Value sum : matrix.running)
    registers.append(in.unpack(sum));
  matrix.registers = scaled(matrix, registers, /*divides=*/false);
  matrix.running.clear();
}

void ComputeRole::settleAll() {
  if (groupsRetired < groupsIssued)
    in.waitForAllBut(0);
  groupsRetired = groupsIssued;
  releaseFree(/*isEnd=*/true);
}

Value ComputeRole::toStruct(const Matrix &matrix, int64_t block) {
  int64_t count = matrix.shape.registersOfBlock();
  if (matrix.kind == Matrix::Kind::Splat) {
    Value scalar = matrix.scalar;
    return in.pack(SmallVector<Value>(count, scalar));
  }
  return in.pack(ArrayRef(matrix.registers).slice(block * count, count));
}

/// What the products are added to; null for zero. A running product goes on in
/// its registers.
SmallVector<Value> ComputeRole::startOf(Value acc, const Matrix &product) {
  auto hasPowers = [](const Matrix &matrix) {
    return !matrix.rowPowers.empty() || !matrix.columnPowers.empty();
  };
  if (Matrix &start = matrixOf(acc);
      !start.running.empty() && !hasPowers(start) && !hasPowers(product))
    return start.running;
  Matrix &start = materialize(acc);
  if (start.kind == Matrix::Kind::Splat &&
      matchPattern(start.scalar, m_AnyZeroFloat()))
    return SmallVector<Value>(product.shape.blocks);
  if (!hasPowers(product))
    return structsOf(acc);
  SmallVector<Value> registers = start.registers;
  if (start.kind == Matrix::Kind::Splat)
    registers.assign(product.shape.registers(), start.scalar);
  return {in.pack(scaled(product, registers, /*divides=*/true))};
}

/// Issued at once of an operand that is rounded piece by piece.
static constexpr int64_t kStepsOfPiece = 4;

/// Transposed: the right operand's transpose is A, in registers. `first` is the
/// step of the first four of them.
Value ComputeRole::multiplyChain(DotOp dot, const Matrix &left, Value base,
                                 int64_t first, ArrayRef<Value> registers,
                                 Value sum) {
  Contracted along =
      dot.getTransposeLhs() ? Contracted::AlongRows : Contracted::AlongColumns;
  int64_t columns = shapeOf(dot.getResult()).columns;
  for (int64_t s = 0; s < int64_t(registers.size()) / 4; ++s)
    sum = in.multiply(sum, columns, registers.slice(4 * s, 4),
                      in.descriptorStep(base, left.layout, along, first + s),
                      along);
  return sum;
}

/// The descriptor of its other operand.
Value ComputeRole::baseOfChain(DotOp dot, const Matrix &left) {
  return in.descriptor(left.memory, left.layout,
                       dot.getTransposeLhs() ? Contracted::AlongRows
                                             : Contracted::AlongColumns);
}

/// Adds a product whose operand in registers is rounded a piece at a time: when
/// one has been multiplied, the next takes its registers.
void ComputeRole::multiplyByPieces(DotOp dot, const Matrix &left,
                                   Matrix &product) {
  Value wide = dot.getRhs().getDefiningOp<arith::TruncFOp>().getIn();
  Value base = baseOfChain(dot, left);
  settleLeaves(wide);
  // Where there is room, other products read the same pieces.
  bool isShared = dot.getK() <= kMostKeysReadTwice;
  auto pair = [&](int64_t r) {
    Value low = registerOf(wide, r), high = registerOf(wide, r + 1);
    return isShared ? in.packPair(low, high) : in.packPairHere(low, high);
  };
  int64_t steps = dot.getK() / kContracted;
  for (int64_t first = 0; first < steps; first += kStepsOfPiece) {
    int64_t end = std::min(first + kStepsOfPiece, steps);
    if (first > 0)
      in.waitForAllBut(0);
    SmallVector<Value> piece;
    for (int64_t r = first * kRegistersOfSlab; r < end * kRegistersOfSlab;
         r += 2)
      piece.push_back(pair(r));
    in.fence();
    product.running[0] =
        multiplyChain(dot, left, base, first, piece, product.running[0]);
    in.commit();
  }
}

void ComputeRole::emitDot(DotOp dot) {
  Accumulator shape = shapeOf(dot.getResult());
  Matrix left = matrixOf(dot.getLhs()), right = matrixOf(dot.getRhs());
  int64_t steps = llvm::divideCeil(dot.getK(), kContracted);
  if (chain && right.kind == Matrix::Kind::Shared) {
    right.registers = readPairs(right);
    right.channel = Value(); // read, once and for all
  }
  Matrix product;
  product.kind = Matrix::Kind::Accumulator;
  product.shape = shape;
  takePowers(left, right, product);
  SmallVector<Value> sums = startOf(dot.getAcc(), product);
  if (right.kind == Matrix::Kind::Lazy) {
    product.running = sums;
    multiplyByPieces(dot, left, product);
    return issued(dot, product, {&left});
  }
  in.fence();
  if (chain) {
    sums[0] =
        multiplyChain(dot, left, baseOfChain(dot, left), /*first=*/0,
                      ArrayRef(right.registers).take_front(4 * steps), sums[0]);
  } else {
    Contracted alongA = dot.getTransposeLhs() ? Contracted::AlongRows
                                              : Contracted::AlongColumns,
               alongB = dot.getTransposeRhs() ? Contracted::AlongColumns
                                              : Contracted::AlongRows;
    Value baseA = in.descriptor(left.memory, left.layout, alongA),
          baseB = in.descriptor(right.memory, right.layout, alongB);
    for (int64_t block = 0; block < shape.blocks; ++block) {
      // 64 rows further: along a row's column of slabs, or in the next slab.
      int64_t bytes = dot.getTransposeLhs()
                          ? block * left.layout.slabBytes()
                          : block * kRowsOfGroup * kSlabRowBytes;
      Value from = bytes ? b.add(baseA, b.i32(bytes / 16)) : baseA;
      for (int64_t s = 0; s < steps; ++s)
        sums[block] = in.multiply(
            sums[block], shape.columns,
            in.descriptorStep(from, left.layout, alongA, s), alongA,
            in.descriptorStep(baseB, right.layout, alongB, s), alongB);
    }
  }
  in.commit();
  product.running = sums;
  issued(dot, product, {&left, &right});
}

/// A group of products more is under way.
void ComputeRole::issued(DotOp dot, Matrix &product,
                         ArrayRef<const Matrix *> operands) {
  ++groupsIssued;
  for (const Matrix *operand : operands)
    if (operand->channel)
      lastReader[operand->channel] = groupsIssued;
  product.group = groupsIssued;
  matrices[dot.getResult()] = product;
}
