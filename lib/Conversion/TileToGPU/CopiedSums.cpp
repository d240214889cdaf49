//===- CopiedSums.cpp - Sums over keys beside bulk copies of a state ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rows of a state are spread over the lanes and the warps of a block. A sum
// over keys is made over a thread's rows, then over the lanes that have the
// same columns; the warps' parts meet in shared memory.
//
//   thread   adds up its rows
//   lanes    of the same columns add theirs up
//   warps    share their parts; behind a barrier lanes of the same columns add
//            up the parts of some warps each
//
//===----------------------------------------------------------------------===//

#include "ElementOps.h"
#include "RegisterLowering.h"
#include "Roles/Instructions.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Elements of f32 in an access.
static constexpr int64_t kInAccess = 4, kWordBytes = 4;

static int64_t elementsInAccess(const KeySum &sum) {
  return sum.hasValues ? kInAccess : 1;
}

void RegisterLowering::addRow(const KeySum &sum, int64_t row,
                              Scalars &elements) {
  bool isFirst = elements.empty();
  auto add = [&](int64_t number, Value left, Value right) {
    if (isFirst)
      elements.push_back(right ? b.mul(left, right) : left);
    else
      elements[number] =
          right ? math::FmaOp::create(b, left, right, elements[number])
                      .getResult()
                : b.add(elements[number], left);
  };
  for (int64_t i = 0; i < sum.rows; ++i)
    for (int64_t j = 0; j < sum.columns; ++j) {
      int64_t number = i * sum.columns + j;
      auto dot = dyn_cast<DotOp>(sum.op);
      if (!dot) {
        add(number, get(sum.op->getOperand(0), j, row), Value());
        continue;
      }
      auto [left, right] = factorsOf(dot, i, j, row);
      add(number, left, right);
    }
}

/// Where a warp's part of a row of the sum lies, at this thread's columns.
Value RegisterLowering::placeOf(const KeySum &sum, int64_t row, Value warp) {
  Instructions in = instructions();
  int64_t each = (sum.hasValues ? copied->values : sum.columns) * kWordBytes;
  Value bytes = b.mul(warp, b.i32(each));
  if (sum.hasValues)
    bytes = b.add(bytes, b.mul(column, b.i32(kWordBytes)));
  return in.advance(in.advance(copies, bytes),
                    sum.place + row * copied->warps() * each);
}

/// So many f32 as one value to store.
static Value packed(ScalarBuilder &b, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements.front();
  int64_t count = elements.size();
  Value vector =
      LLVM::UndefOp::create(b, VectorType::get({count}, b.getF32Type()));
  for (auto [n, element] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(b, vector, element, b.i32(n));
  return vector;
}

/// Of several sums each is written by other lanes of a warp.
void RegisterLowering::shareSum(const KeySum &sum, Scalars &elements,
                                int64_t turn) {
  Instructions in = instructions();
  int64_t lanes = plan.lanesOfWarp();
  for (Value &element : elements)
    element = sumOverLanes(b, element, lanes, warpSize / lanes);
  Value lane = b.remainder(kernel.thread(), warpSize),
        writer = b.divide(lane, warpSize / lanes);
  Value isMine =
      sum.hasValues ? in.equals(writer, turn % lanes) : in.equals(lane, 0);
  emitIf(b, isMine, [&] {
    Value warp = b.divide(kernel.thread(), warpSize);
    int64_t width = elementsInAccess(sum);
    for (int64_t i = 0; i < sum.rows; ++i) {
      Value place = placeOf(sum, i, warp);
      for (int64_t j = 0; j < sum.columns; j += width)
        in.store(
            packed(b, ArrayRef(elements).slice(i * sum.columns + j, width)),
            in.advance(place, j * kWordBytes), width * kWordBytes);
    }
  });
}

/// So many warps' parts, from one on, added up at this thread's columns.
RegisterLowering::Scalars
RegisterLowering::addParts(const KeySum &sum, Value first, int64_t count) {
  Instructions in = instructions();
  Scalars totals(sum.rows * sum.columns);
  int64_t width = elementsInAccess(sum);
  Type f32 = b.getF32Type(),
       type = width > 1 ? Type(VectorType::get({width}, f32)) : f32;
  for (int64_t i = 0; i < sum.rows; ++i)
    for (int64_t warp = 0; warp < count; ++warp) {
      Value place = placeOf(sum, i, b.add(first, b.i32(warp)));
      for (int64_t j = 0; j < sum.columns; j += width) {
        Value part = in.load(type, in.advance(place, j * kWordBytes),
                             width * kWordBytes);
        for (int64_t n = 0; n < width; ++n) {
          Value element =
              width > 1
                  ? LLVM::ExtractElementOp::create(b, part, b.i32(n)).getRes()
                  : part;
          Value &total = totals[i * sum.columns + j + n];
          total = total ? b.add(total, element) : element;
        }
      }
    }
  return totals;
}

/// Lanes of the same columns share the work, where it comes out even.
void RegisterLowering::takeSum(const KeySum &sum) {
  int64_t lanes = plan.lanesOfWarp(), warps = copied->warps();
  bool isShared = sum.hasValues && warps % lanes == 0;
  Scalars totals;
  if (isShared) {
    int64_t each = warps / lanes;
    totals =
        addParts(sum, b.mul(b.remainder(keyLane, lanes), b.i32(each)), each);
    for (Value &total : totals)
      total = sumOverLanes(b, total, lanes, warpSize / lanes);
  } else {
    totals = addParts(sum, b.i32(0), warps);
  }
  auto dot = dyn_cast<DotOp>(sum.op);
  if (dot && !matchPattern(dot.getAcc(), m_AnyZeroFloat()))
    for (int64_t n = 0, e = totals.size(); n < e; ++n)
      totals[n] =
          b.add(totals[n], get(dot.getAcc(), n / sum.columns, n % sum.columns));
  held[sum.op->getResult(0)] = totals;
}
