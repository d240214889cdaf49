//===- SumSteps.cpp - A number of every step, before the first ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// A carried sum over [first, bound) in steps.
static Value sumOver(ScalarBuilder &b, Value first, Value bound, Value step,
                     function_ref<Value(Value)> element) {
  auto loop = scf::ForOp::create(b, first, bound, step,
                                 ValueRange{b.real(b.getF64Type(), 0.0)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = b.add(loop.getRegionIterArg(0), element(loop.getInductionVar()));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

/// The sum of all threads' numbers, for each of them, in a fixed order: those
/// of one remainder by 32 first, then the 32 sums.
Value KernelBuilder::sumOfThreads(Value mine) {
  Type f64 = b.getF64Type();
  auto place = [&](Value index) -> Value {
    return LLVM::GEPOp::create(b, scratch.getType(), f64, scratch,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  auto read = [&](Value index) -> Value {
    return LLVM::LoadOp::create(b, f64, place(index));
  };
  LLVM::StoreOp::create(b, mine, place(threadId));
  NVVM::Barrier0Op::create(b);
  auto few = scf::IfOp::create(b, b.below(threadId, b.i32(32)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(few.thenBlock());
    LLVM::StoreOp::create(
        b, sumOver(b, threadId, b.i32(numThreads), b.i32(32), read),
        place(threadId));
  }
  NVVM::Barrier0Op::create(b);
  Value total = sumOver(b, b.i32(0), b.i32(32), b.i32(1), read);
  NVVM::Barrier0Op::create(b); // the scratch is free again
  return total;
}

Value KernelBuilder::sumSteps(SumStepsOp op) {
  Type f64 = b.getF64Type();
  auto wanted = scf::IfOp::create(b, TypeRange{f64},
                                  scalars.lookup(op.getWanted()), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(wanted.thenBlock());
  auto numberOf = [&](Value view, Value step) {
    Slice slice;
    slice.view = cast<BlockArgument>(view);
    return loadElement(slice, ValueRange{step}, f64);
  };
  Value threads = b.i64(numThreads);
  Value mine =
      sumOver(b, b.wide(threadId), steps, threads, [&](Value step) -> Value {
        Value number = numberOf(op.getViews().front(), step);
        for (Value view : op.getViews().drop_front())
          number = b.mul(number, numberOf(view, step));
        Value floor = b.real(f64, -1024.0);
        // Not maximumf: f64 has no instruction for it that keeps NaN.
        Value isLow =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, number, floor);
        return b.select(isLow, floor, number);
      });
  scf::YieldOp::create(b, sumOfThreads(mine));
  b.setInsertionPointToStart(wanted.elseBlock());
  scf::YieldOp::create(b, b.real(f64, 0.0));
  return wanted.getResult(0);
}
