//===- SharedLowering.cpp - One block per work item, shared memory --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SharedLowering.h"
#include "ElementOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

//===----------------------------------------------------------------------===//
// Threads, barriers, shared memory
//===----------------------------------------------------------------------===//

void SharedLowering::barrier() {
  if (pendingReads.empty() && pendingWrites.empty())
    return;
  NVVM::Barrier0Op::create(b);
  pendingReads.clear();
  pendingWrites.clear();
}

void SharedLowering::access(ArrayRef<Source> reads, const Buffer *write) {
  auto touches = [](ArrayRef<Buffer> pending, const Buffer &buffer) {
    return llvm::any_of(
        pending, [&](const Buffer &other) { return other.overlaps(buffer); });
  };
  bool conflict = write && (touches(pendingWrites, *write) ||
                            touches(pendingReads, *write));
  for (const Source &source : reads)
    conflict |= touches(pendingWrites, *plan.lookup(source.value));
  if (conflict)
    barrier();
  for (const Source &source : reads)
    pendingReads.push_back(*plan.lookup(source.value));
  if (write)
    pendingWrites.push_back(*write);
}

void SharedLowering::forEach(int64_t count, function_ref<void(Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  Value bound = b.i32(count);
  if (count <= threads) {
    Value me = kernel.thread();
    if (count < threads) {
      auto choice =
          scf::IfOp::create(b, b.below(me, bound), /*withElseRegion=*/false);
      b.setInsertionPointToStart(choice.thenBlock());
      body(me);
      return;
    }
    body(me);
    return;
  }
  auto loop = scf::ForOp::create(b, kernel.thread(), bound, b.i32(threads));
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void SharedLowering::forEachElement(int64_t rows, int64_t columns,
                                    function_ref<void(Index)> body) {
  forEach(rows * columns, [&](Value i) {
    Value row = rows == 1 ? zero() : b.divide(i, columns);
    body({row, rows == 1 ? i : b.remainder(i, columns)});
  });
}

Value SharedLowering::sumOver(Value lower, Value upper, Value start,
                              function_ref<Value(Value, Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, lower, upper, b.i32(1), ValueRange{start});
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

Value SharedLowering::address(const Buffer &buffer, Index at) {
  Value element = at.second;
  if (buffer.rows > 1)
    element = b.add(b.mul(at.first, b.i32(buffer.stride)), element);
  Value base = LLVM::GEPOp::create(
      b, memory.getType(), b.getI8Type(), memory,
      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(buffer.offset))});
  return LLVM::GEPOp::create(b, memory.getType(), buffer.element, base,
                             ArrayRef<LLVM::GEPArg>{element});
}
Value SharedLowering::read(const Buffer &buffer, Index at) {
  return LLVM::LoadOp::create(b, buffer.element, address(buffer, at));
}
void SharedLowering::write(const Buffer &buffer, Index at, Value value) {
  LLVM::StoreOp::create(b, value, address(buffer, at));
}

//===----------------------------------------------------------------------===//
// Elements of tiles
//===----------------------------------------------------------------------===//

Value SharedLowering::evaluate(Value tile, Index at) {
  Known known;
  return evaluate(tile, at, known);
}

Value SharedLowering::evaluate(Value tile, Index at, Known &known) {
  if (!isTensor(tile))
    return kernel.scalars.lookup(tile);
  if (tensorType(tile).getRank() == 1)
    at.first = Value();
  if (Value value = known.lookup({tile, at}))
    return value;
  const Buffer *buffer = plan.lookup(tile);
  Value value = buffer ? read(*buffer, at) : define(tile, at, known);
  known[{tile, at}] = value;
  return value;
}

/// Vectors are addressed by the column.
Value SharedLowering::define(Value tile, Index at, Known &known) {
  Operation *op = tile.getDefiningOp();
  if (Value scalar = splatScalar(b, op, kernel.scalars))
    return scalar;
  auto get = [&](Value operand, Value row, Value column) {
    return evaluate(operand, {row, column}, known);
  };
  bool isVector = tensorType(tile).getRank() == 1;
  if (auto scale = dyn_cast<ScaleRowsOp>(op))
    return b.mul(get(scale.getScale(), {}, at.first),
                 get(scale.getInput(), at.first, at.second));
  if (auto scale = dyn_cast<ScaleColumnsOp>(op))
    return b.mul(get(scale.getScale(), {}, at.second),
                 get(scale.getInput(), at.first, at.second));
  if (auto last = dyn_cast<SplatLastOp>(op))
    return get(last.getInput(), {},
               b.i32(tensorType(last.getInput()).getDimSize(0) - 1));
  if (auto last = dyn_cast<LastRowOp>(op))
    return get(last.getInput(),
               b.i32(tensorType(last.getInput()).getDimSize(0) - 1), at.second);
  if (auto repeat = dyn_cast<BroadcastOp>(op))
    return get(repeat.getInput(), {},
               repeat.getAlongRows() ? at.second : at.first);
  if (auto decay = dyn_cast<DecayMatrixOp>(op))
    return defineDecay(decay, at, known);
  if (auto stack = dyn_cast<InterleaveOp>(op)) {
    int64_t count = stack.getInputs().size();
    Value position = isVector ? at.second : at.first;
    Value token = b.divide(position, count),
          which = b.remainder(position, count), value;
    for (auto [i, input] : llvm::enumerate(stack.getInputs())) {
      Value candidate =
          isVector ? get(input, {}, token) : get(input, token, at.second);
      Value isThis = i == 0 ? Value()
                            : arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                    which, b.i32(i))
                                  .getResult();
      value = i == 0 ? candidate : b.select(isThis, candidate, value);
    }
    return value;
  }
  if (auto units = dyn_cast<UnitColumnsOp>(op))
    return unitAt(b, units, at.first, at.second, kernel.scalars);
  if (auto mask = dyn_cast<MaskRowsOp>(op)) {
    Value step = b.add(b.wide(kernel.scalars.lookup(mask.getFirst())),
                       b.wide(isVector ? at.second : at.first));
    Value value = get(mask.getInput(), at.first, at.second);
    return b.select(b.below(step, kernel.length()), value,
                    b.real(value.getType(), 0.0));
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand, at.first, at.second));
  return cloneElementwise(b, op, operands);
}

/// The place in the factor chain of row or column number `position`.
Value SharedLowering::placeInToken(Value position, ArrayRef<int64_t> order) {
  Value which = b.remainder(position, order.size()), place = b.i32(order[0]);
  for (int64_t i = 1, e = order.size(); i < e; ++i) {
    Value isThis =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, which, b.i32(i));
    place = b.select(isThis, b.i32(order[i]), place);
  }
  return place;
}

Value SharedLowering::defineDecay(DecayMatrixOp op, Index at, Known &known) {
  ArrayRef<int64_t> rowOrder = op.getRowOrder(),
                    columnOrder = op.getColumnOrder();
  if (op.getTransposed())
    std::swap(at.first, at.second);
  Value rowToken = b.divide(at.first, rowOrder.size()),
        columnToken = b.divide(at.second, columnOrder.size());
  Value before = b.below(columnToken, rowToken);
  Value same =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, columnToken, rowToken);
  Value earlier = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                        placeInToken(at.second, columnOrder),
                                        placeInToken(at.first, rowOrder));
  Value seen = arith::OrIOp::create(b, before, b.both(same, earlier));
  Value row = evaluate(op.getRows(), {Value(), at.first}, known);
  Value column = evaluate(op.getColumns(), {Value(), at.second}, known);
  Type type = tensorType(op.getResult()).getElementType();
  // Masked before exp, so that an unseen pair can neither overflow nor make
  // NaN.
  Value decay = decayBetween(b, b.select(seen, row, column), column, type);
  return b.select(seen, decay, b.real(type, 0.0));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void SharedLowering::copyInto(const Buffer &to, Value tile) {
  access(plan.sourcesOf(tile), &to);
  forEachElement(to.rows, to.columns,
                 [&](Index at) { write(to, at, evaluate(tile, at)); });
}

/// Rows and columns of the result that one thread computes together, so that
/// each element it reads serves several sums; one each where that would leave
/// threads idle.
static std::pair<int64_t, int64_t> chooseBlock(int64_t rows, int64_t columns,
                                               int64_t threads) {
  constexpr std::pair<int64_t, int64_t> candidates[] = {
      {4, 4}, {4, 2}, {2, 2}, {2, 1}};
  for (auto [r, c] : candidates)
    if (r <= rows && c <= columns &&
        int64_t(llvm::divideCeil(rows, r) * llvm::divideCeil(columns, c)) * 4 >=
            threads * 3)
      return {r, c};
  return {1, 1};
}

void SharedLowering::emitDot(DotOp op) {
  if (const StreamedDot *stream = plan.streamOf(op))
    return emitStreamedDot(*stream);
  const Buffer &to = *plan.lookup(op.getResult());
  access(plan.sourcesOfDefinition(op.getResult()), &to);
  auto [perRow, perColumn] = chooseBlock(to.rows, to.columns, threads);
  int64_t rowBlocks = llvm::divideCeil(to.rows, perRow),
          columnBlocks = llvm::divideCeil(to.columns, perColumn);
  forEachElement(
      rowBlocks, columnBlocks,
      [&, perRow = perRow, perColumn = perColumn](Index block) {
        // A thread's rows and columns are far apart, its neighbours' adjacent:
        // neighbours read adjacent banks. Past the end the last one is read.
        auto spread = [&](Value first, int64_t count, int64_t step,
                          int64_t extent) {
          SmallVector<std::pair<Value, Value>> out; // index, condition or null
          for (int64_t i = 0; i < count; ++i) {
            Value index = i == 0 ? first : b.add(first, b.i32(i * step));
            if ((i + 1) * step <= extent)
              out.push_back({index, {}});
            else
              out.push_back({b.minimum(index, b.i32(extent - 1)),
                             b.below(index, b.i32(extent))});
          }
          return out;
        };
        auto rows = spread(block.first, perRow, rowBlocks, to.rows);
        auto columns =
            spread(block.second, perColumn, columnBlocks, to.columns);
        OpBuilder::InsertionGuard guard(b);
        SmallVector<Value> sums(perRow * perColumn, b.real(to.element, 0.0));
        auto loop =
            scf::ForOp::create(b, zero(), b.i32(op.getK()), b.i32(1), sums);
        b.setInsertionPointToStart(loop.getBody());
        Known known;
        Value k = loop.getInductionVar();
        SmallVector<Value> left, right, next;
        for (auto [row, inside] : rows)
          left.push_back(evaluate(
              op.getLhs(), op.getTransposeLhs() ? Index(k, row) : Index(row, k),
              known));
        for (auto [column, inside] : columns)
          right.push_back(evaluate(op.getRhs(),
                                   op.getTransposeRhs() ? Index(column, k)
                                                        : Index(k, column),
                                   known));
        for (int64_t i = 0; i < perRow * perColumn; ++i)
          next.push_back(math::FmaOp::create(b, left[i / perColumn],
                                             right[i % perColumn],
                                             loop.getRegionIterArg(i)));
        scf::YieldOp::create(b, next);
        b.setInsertionPointAfter(loop);
        // The accumulator is read where it is written, by the thread that
        // writes.
        for (int64_t i = 0; i < perRow * perColumn; ++i) {
          auto [row, rowInside] = rows[i / perColumn];
          auto [column, columnInside] = columns[i % perColumn];
          OpBuilder::InsertionGuard inner(b);
          if (Value inside = b.both(rowInside, columnInside)) {
            auto choice =
                scf::IfOp::create(b, inside, /*withElseRegion=*/false);
            b.setInsertionPointToStart(choice.thenBlock());
          }
          write(to, {row, column},
                b.add(evaluate(op.getAcc(), {row, column}), loop.getResult(i)));
        }
      });
}

/// A thread owns whole columns: it reads back only what it wrote itself.
void SharedLowering::emitSolve(SolveOp op) {
  const Buffer &to = *plan.lookup(op.getResult());
  access(plan.sourcesOfDefinition(op.getResult()), &to);
  forEach(to.columns, [&](Value column) {
    OpBuilder::InsertionGuard guard(b);
    auto rows = scf::ForOp::create(b, zero(), b.i32(to.rows), b.i32(1));
    b.setInsertionPointToStart(rows.getBody());
    Value row = rows.getInductionVar();
    Value start = evaluate(op.getRhs(), {row, column});
    Value value = sumOver(zero(), row, start, [&](Value j, Value sum) -> Value {
      Value factor =
          arith::NegFOp::create(b, evaluate(op.getMatrix(), {row, j}));
      return math::FmaOp::create(b, factor, read(to, {j, column}), sum);
    });
    write(to, {row, column}, value);
  });
}

/// Every thread sums from the first gate for each of its own elements: the same
/// additions in the same order for all, and no exchange.
void SharedLowering::emitGateSum(GateSumOp op) {
  const Buffer &to = *plan.lookup(op.getResult());
  access(plan.sourcesOfDefinition(op.getResult()), &to);
  forEach(to.columns, [&](Value i) {
    Value end = b.add(i, b.i32(1));
    Value sum =
        sumOver(zero(), end, b.real(to.element, 0.0), [&](Value j, Value acc) {
          return b.add(acc, evaluate(op.getGates(), {Value(), j}));
        });
    write(to, {Value(), i}, sum);
  });
}

void SharedLowering::emitSumColumns(SumColumnsOp op) {
  const Buffer &to = *plan.lookup(op.getResult());
  access(plan.sourcesOfDefinition(op.getResult()), &to);
  int64_t columns = tensorType(op.getInput()).getDimSize(1);
  forEach(to.columns, [&](Value row) {
    Value sum =
        sumOver(zero(), b.i32(columns), b.real(to.element, 0.0),
                [&](Value column, Value acc) {
                  return b.add(acc, evaluate(op.getInput(), {row, column}));
                });
    write(to, {Value(), row}, sum);
  });
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// The iteration after this one or the last one again.
static Value lastOrNext(ScalarBuilder &b, scf::ForOp loop) {
  Value next = b.add(loop.getInductionVar(), loop.getStep());
  Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, next,
                                        loop.getUpperBound());
  return b.select(isThere, next, loop.getInductionVar());
}

void SharedLowering::emitFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (auto [init, carried] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
    const Buffer *to = plan.lookup(carried);
    if (!isTensor(carried))
      inits.push_back(kernel.scalars.lookup(init));
    else if (plan.lookup(init) != to)
      copyInto(*to, init);
  }
  barrier();
  auto at = [&](Value v) { return kernel.scalars.lookup(v); };
  size_t scalars = inits.size();
  SmallVector<StreamedDot> streams = plan.streamsOf(loop);
  for (const StreamedDot &stream : streams)
    inits.append(loadAhead(stream, loop, at(loop.getLowerBound())));
  auto made =
      scf::ForOp::create(b, at(loop.getLowerBound()), at(loop.getUpperBound()),
                         at(loop.getStep()), inits);
  kernel.scalars.map(loop.getInductionVar(), made.getInductionVar());
  unsigned next = 0;
  for (auto [carried, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
    if (!isTensor(carried)) {
      kernel.scalars.map(carried, made.getRegionIterArg(next));
      kernel.scalars.map(result, made.getResult(next++));
    }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  SmallVector<Value> ahead;
  ValueRange arrived = made.getRegionIterArgs().drop_front(scalars);
  for (const StreamedDot &stream : streams) {
    Value following = lastOrNext(b, made);
    SmallVector<Value> next = loadAhead(stream, loop, following);
    streamed[stream.dot] = llvm::to_vector(arrived.take_front(next.size()));
    arrived = arrived.drop_front(next.size());
    ahead.append(next);
  }
  emitBlock(*loop.getBody());
  emitYieldCopies(loop);
  barrier();
  SmallVector<Value> yielded;
  for (Value operand : loop.getBody()->getTerminator()->getOperands())
    if (!isTensor(operand))
      yielded.push_back(at(operand));
  yielded.append(ahead);
  if (made.getBody()->mightHaveTerminator())
    made.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(made.getBody());
  scf::YieldOp::create(b, yielded);
}

void SharedLowering::emitYieldCopies(scf::ForOp loop) {
  OperandRange operands = loop.getBody()->getTerminator()->getOperands();
  for (auto [i, operand] : llvm::enumerate(operands))
    if (const Buffer *temporary = plan.yieldTemporary(loop, i))
      copyInto(*temporary, operand);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Value carried = loop.getRegionIterArgs()[i];
    if (!isTensor(carried) || plan.lookup(operand) == plan.lookup(carried))
      continue;
    const Buffer &to = *plan.lookup(carried);
    const Buffer *temporary = plan.yieldTemporary(loop, i);
    if (!temporary) {
      copyInto(to, operand);
      continue;
    }
    barrier(); // the temporaries are written, all reads of carried tiles are
               // done
    forEachElement(to.rows, to.columns,
                   [&](Index at) { write(to, at, read(*temporary, at)); });
    pendingReads.push_back(*temporary);
    pendingWrites.push_back(to);
  }
}

void SharedLowering::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    emitOp(&op);
}

void SharedLowering::emitOp(Operation *op) {
  b.setLoc(op->getLoc());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto store = dyn_cast<StoreOp>(op))
    return emitStore(store);
  if (plan.isStreamed(op)) // in its product
    return;
  if (auto load = dyn_cast<LoadOp>(op))
    return emitLoad(load);
  if (auto dot = dyn_cast<DotOp>(op))
    return emitDot(dot);
  if (auto solve = dyn_cast<SolveOp>(op))
    return emitSolve(solve);
  if (auto sum = dyn_cast<GateSumOp>(op))
    return emitGateSum(sum);
  if (auto sum = dyn_cast<SumColumnsOp>(op))
    return emitSumColumns(sum);
  if (auto product = dyn_cast<DecayProductOp>(op))
    return emitDecayProduct(product);
  if (auto scores = dyn_cast<DecayedDotOp>(op))
    return emitDecayedDot(scores);
  if (op->getNumResults() == 1 && isTensor(op->getResult(0))) {
    // Not read before here: the op's place is where a tile that exists is made.
    const Buffer *to = plan.lookup(op->getResult(0));
    if (!to)
      return;
    access(plan.sourcesOfDefinition(op->getResult(0)), to);
    forEachElement(to->rows, to->columns, [&](Index at) {
      Known known;
      Index place = tensorType(op->getResult(0)).getRank() == 1
                        ? Index(Value(), at.second)
                        : at;
      write(*to, at, define(op->getResult(0), place, known));
    });
    return;
  }
  kernel.cloneScalarOp(op);
}
