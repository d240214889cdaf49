//===- EmitProgram.cpp - The function around a tile program ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Prism/Dialect/Tile/IR/StepPrograms.h"
#include "StepPrograms.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

Emitter::Emitter(tile::ProgramOp program, const CPUOptions &options)
    : program(program), options(options), plan(program, options),
      b(program.getLoc(), program), i64(b.getI64Type()),
      ptr(LLVM::LLVMPointerType::get(program.getContext())) {}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// int32_t SYMBOL(const uint64_t *words, void *workspace, int64_t begin,
/// int64_t end)
LogicalResult Emitter::emit() {
  Type i32 = b.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(i32, {ptr, ptr, i64, i64});
  auto function = LLVM::LLVMFuncOp::create(b, program.getSymName(), type);
  function->setAttr(kWorkspaceAttr, b.getI64IntegerAttr(plan.workspaceBytes()));
  for (unsigned i : {0u, 1u})
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  b.setInsertionPointToStart(function.addEntryBlock(b));
  words = function.getArgument(0);
  workspace = function.getArgument(1);

  // What does not depend on the item: pointers, extents, strides.
  auto word = [&](int64_t index) {
    return loadScalar(gep(words, i64, index), i64);
  };
  int64_t count = program.getBody().getNumArguments(), next = count + 2;
  for (int64_t i = 0; i < count; ++i) {
    Argument &argument = arguments.emplace_back();
    argument.pointer = LLVM::LoadOp::create(b, ptr, gep(words, i64, i), 8);
    tile::ArgumentAttr attr = program.getArgument_(i);
    argument.given =
        attr.getOptional()
            ? Value(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, word(i),
                                          c(0)))
            : Value(arith::ConstantOp::create(b, b.getBoolAttr(true)));
    for (size_t axis = 0; axis < attr.getAxes().size(); ++axis)
      argument.strides.push_back(word(next++));
  }
  numSequences = word(count);
  numSteps = word(count + 1);
  if (program.getSegments())
    segments = word(next);

  LogicalResult status = success();
  auto items = scf::ForOp::create(b, function.getArgument(2),
                                  function.getArgument(3), c(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(items.getBody());
    emitItem(items.getInductionVar());
    if (tile::hasPlainSteps(program))
      emitSteps(program.getBody().front());
    else
      status = emitBlock(program.getBody().front());
  }
  b.setLoc(program.getLoc());
  LLVM::ReturnOp::create(
      b, ValueRange{arith::ConstantOp::create(b, b.getI32IntegerAttr(0))});
  if (succeeded(status) && tile::hasPlainSteps(program))
    status = lowerSteps(function);
  if (failed(status))
    function.erase();
  return status;
}

/// Sequence, head, value block and rows of an item.
void Emitter::emitItem(Value item) {
  auto divide = [&](Value x, int64_t n) {
    return n == 1 ? x : Value(arith::DivUIOp::create(b, x, c(n)));
  };
  auto remainder = [&](Value x, int64_t n) {
    return n == 1 ? c(0) : Value(arith::RemUIOp::create(b, x, c(n)));
  };
  int64_t blocks = program.getValueBlocks(), heads = program.getValueHeads();
  valueOffset = mul(remainder(item, blocks), c(program.getValueBlock()));
  Value sequenceHead = divide(item, blocks);
  Value head = remainder(sequenceHead, heads),
        sequence = enterSegment(divide(sequenceHead, heads));

  firstRow = c(0);
  stopRow = numSteps;
  packed = arith::ConstantOp::create(b, b.getBoolAttr(false));
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (program.getArgument_(i).getRole().getValue() != "offsets")
      continue;
    packed = argument.given;
    auto branch = scf::IfOp::create(b, TypeRange{i64, i64}, packed,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value stride = argument.strides[0];
    Value from = gep(argument.pointer, i64, mul(sequence, stride));
    scf::YieldOp::create(b,
                         ValueRange{loadScalar(from, i64),
                                    loadScalar(gep(from, i64, stride), i64)});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, ValueRange{c(0), numSteps});
    firstRow = branch.getResult(0);
    stopRow = branch.getResult(1);
  }
  length = arith::SubIOp::create(b, stopRow, firstRow);
  cutSegment();
  emitArgumentBases(sequence, head);
}

void Emitter::emitArgumentBases(Value sequence, Value head) {
  // Packed sequences share batch row 0.
  Value batch = arith::SelectOp::create(b, packed, c(0), sequence);
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    tile::ArgumentAttr attr = program.getArgument_(i);
    auto view =
        cast<tile::ViewType>(program.getBody().getArgument(i).getType());
    Value offset = c(0);
    argument.timeStride = c(0);
    argument.present = presenceOf(i);
    bool isIntermediate = attr.getRole().getValue() == tile::kIntermediate;
    StringRef axes = attr.getAxes().getValue();
    for (auto [axis, letter] : llvm::enumerate(axes)) {
      Value stride = argument.strides[axis], index;
      if (letter == 'b') {
        index = batch;
      } else if (letter == 'n') {
        index = sequence;
      } else if (letter == 't') {
        // Row r is physical row first + r, or stop - 1 - r in reversed time.
        index = program.getReverse() ? add(stopRow, -1) : firstRow;
        argument.timeStride =
            program.getReverse() ? Value(arith::SubIOp::create(b, c(0), stride))
                                 : stride;
      } else if (isIntermediate && letter == 's') {
        argument.timeStride = stride; // of a scan
        index = segment ? segment : c(0);
      } else if (letter == 'h') {
        int64_t heads = attr.getHeads(), all = program.getValueHeads();
        index =
            heads == all
                ? head
                : Value(arith::DivUIOp::create(b, mul(head, c(heads)), c(all)));
      } else {
        argument.featureStrides.push_back(axis + 1 == axes.size() ? Value()
                                                                  : stride);
        continue;
      }
      offset = add(offset, mul(index, stride));
    }
    argument.base = gep(argument.pointer, view.getElementType(), offset);
  }
}

//===----------------------------------------------------------------------===//
// Ops in order
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitBlock(Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (isTile(argument) && plan.needsTransposed(argument))
      emitTranspose(argument);
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)))
      return failure();
  return success();
}

LogicalResult Emitter::emitOp(Operation *op) {
  b.setLoc(op->getLoc());
  if (isa<tile::LengthOp>(op)) {
    map.map(op->getResult(0), length);
    return success();
  }
  if (isa<tile::ValueOffsetOp>(op)) {
    map.map(op->getResult(0), valueOffset);
    return success();
  }
  if (auto sum = dyn_cast<tile::SumStepsOp>(op)) {
    map.map(op->getResult(0), sumSteps(sum));
    return success();
  }
  if (auto nested = dyn_cast<scf::ForOp>(op))
    return emitLoop(nested);
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    emitStore(store);
    return success();
  }
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return op->emitError("'") << op->getName() << "' has no CPU lowering";
  Value result = op->getResult(0);
  if (!isTile(result))
    return emitPlainOp(op);
  bool ours = isa<tile::TileDialect>(op->getDialect());
  if (!ours && !isElementwise(op) &&
      !isa<arith::ConstantOp, tensor::SplatOp>(op))
    return op->emitError("'") << op->getName() << "' has no CPU lowering";
  if (plan.formOf(result) == Form::scalar)
    return emitScalarTile(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && !cast<DenseElementsAttr>(constant.getValue()).isSplat())
    return op->emitError("a constant tile must be a splat, found ")
           << result.getType();
  if (plan.formOf(result) == Form::buffer)
    emitBuffered(op);
  return success();
}

Type Emitter::lowered(Type type) { return type.isIndex() ? i64 : type; }

/// Index and scalar arithmetic: the same op, with i64 for index.
LogicalResult Emitter::emitPlainOp(Operation *op) {
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Value value = map.lookup(op->getOperand(0));
    unsigned from = value.getType().getIntOrFloatBitWidth();
    Type to = lowered(op->getResult(0).getType());
    unsigned width = to.getIntOrFloatBitWidth();
    if (from > width)
      value = arith::TruncIOp::create(b, to, value);
    else if (from < width)
      value = isa<arith::IndexCastOp>(op)
                  ? Value(arith::ExtSIOp::create(b, to, value))
                  : Value(arith::ExtUIOp::create(b, to, value));
    map.map(op->getResult(0), value);
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && constant.getType().isIndex()) {
    map.map(op->getResult(0),
            c(cast<IntegerAttr>(constant.getValue()).getInt()));
    return success();
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>))
    return op->emitError("'") << op->getName() << "' has no CPU lowering";
  Operation *clone = b.clone(*op, map);
  clone->getResult(0).setType(lowered(op->getResult(0).getType()));
  map.map(op->getResult(0), clone->getResult(0));
  return success();
}

/// The one element that stands for a uniform tile (or for a vector of one).
Value Emitter::scalarOf(Value v) {
  if (!isTile(v) || plan.formOf(v) == Form::scalar)
    return map.lookup(v);
  Place place = placeOf(v);
  return loadScalar(place.pointer, place.element);
}

LogicalResult Emitter::emitScalarTile(Operation *op) {
  Value result = op->getResult(0), value;
  Type element = tileType(result).getElementType();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto attr =
        cast<DenseElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>();
    value = arith::ConstantOp::create(b, attr);
  } else if (isa<tensor::SplatOp, tile::GateSumOp, tile::BroadcastOp>(op)) {
    value = scalarOf(op->getOperand(0));
  } else if (auto last = dyn_cast<tile::SplatLastOp>(op)) {
    value = rowScalar(last.getInput(),
                      c(columnsOf(tileType(last.getInput())) - 1), 0);
  } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
    value = loadOne(sliceOf(load.getView(), load.getIndices(), tileType(result),
                            load.getOneStep()),
                    element);
  } else if (auto mask = dyn_cast<tile::MaskRowsOp>(op)) {
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0.0));
    value =
        arith::SelectOp::create(b, less(map.lookup(mask.getFirst()), length),
                                scalarOf(mask.getInput()), zero);
  } else if (auto decay = dyn_cast<tile::DecayMatrixOp>(op)) {
    // One reader and one writer of one token.
    bool seen = decay.getColumnOrder()[0] < decay.getRowOrder()[0];
    if (!seen || decay.getRows() == decay.getColumns()) {
      value = arith::ConstantOp::create(
          b, b.getFloatAttr(element, seen ? 1.0 : 0.0));
    } else {
      value = arith::SubFOp::create(b, scalarOf(decay.getRows()),
                                    scalarOf(decay.getColumns()));
      if (!element.isF64())
        value = arith::TruncFOp::create(b, element, value);
      value = math::ExpOp::create(b, value);
    }
  } else if (auto units = dyn_cast<tile::UnitColumnsOp>(op)) {
    Value isUnit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                         map.lookup(units.getFirst()), c(0));
    value = arith::SelectOp::create(
        b, isUnit, arith::ConstantOp::create(b, b.getFloatAttr(element, 1.0)),
        arith::ConstantOp::create(b, b.getFloatAttr(element, 0.0)));
  } else if (isa<tile::ScaleRowsOp, tile::ScaleColumnsOp>(op)) {
    value = arith::MulFOp::create(b, scalarOf(op->getOperand(1)),
                                  scalarOf(op->getOperand(0)));
  } else if (changesRounding(op)) {
    value = changeRounding(op, scalarOf(op->getOperand(0)));
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, scalarOf(operand));
    Operation *clone = b.clone(*op, mapping);
    value = clone->getResult(0);
    value.setType(element);
  }
  map.map(result, value);
  return success();
}

void Emitter::emitBuffered(Operation *op) {
  Value result = op->getResult(0);
  RankedTensorType type = tileType(result);
  Place to = placeOf(plan.bufferOf(result));
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    emitLoad(load);
  } else if (auto solve = dyn_cast<tile::SolveOp>(op)) {
    emitSolve(solve, to);
  } else if (auto invert = dyn_cast<tile::InvertOp>(op)) {
    emitInvert(invert, to);
  } else if (auto scores = dyn_cast<tile::DecayedDotOp>(op)) {
    emitDecayedDot(scores, to);
  } else if (auto product = dyn_cast<tile::DecayProductOp>(op)) {
    emitDecayProduct(product, to);
  } else if (auto response = dyn_cast<tile::ImpulseResponseOp>(op)) {
    emitImpulseResponse(response, to);
  } else if (auto response = dyn_cast<tile::InitialResponseOp>(op)) {
    emitInitialResponse(response, to);
  } else if (auto last = dyn_cast<tile::LastRowOp>(op)) {
    Place rows = placeOf(last.getInput());
    rows.pointer = at(rows, c(rowsOf(tileType(last.getInput())) - 1), c(0));
    forTiles(type, shapeFor(type, false), [&](const RegisterTile &tile) {
      writeTile(to, tile, readTile(rows, tile));
    });
  } else if (auto sum = dyn_cast<tile::GateSumOp>(op)) {
    materialize(sum.getGates(), to);
    Vectors start{arith::ConstantOp::create(b, b.getF64FloatAttr(0.0))};
    loopCarrying(c(0), c(columnsOf(type)), 1, start, [&](Value i, Vectors acc) {
      Value pointer = gep(to.pointer, to.element, i);
      Value next =
          arith::AddFOp::create(b, acc[0], loadScalar(pointer, to.element));
      storeValue(next, pointer, to.element);
      return Vectors{next};
    });
  } else if (auto interleave = dyn_cast<tile::InterleaveOp>(op)) {
    int64_t count = interleave.getInputs().size();
    for (auto [i, input] : llvm::enumerate(interleave.getInputs())) {
      if (type.getRank() == 2) {
        Place rows{gep(to.pointer, to.element, i * to.stride),
                   count * to.stride,
                   {},
                   to.element};
        materialize(input, rows);
        continue;
      }
      // Elements of a vector: through the part of the result that is not used
      // yet is not possible, so one by one.
      loop(0, columnsOf(tileType(input)), 1,
           [&, i = i, input = input](Value row) {
             Value element = rowScalar(input, row, 0);
             storeValue(element,
                        gep(gep(to.pointer, to.element, mul(row, c(count))),
                            to.element, i),
                        to.element);
           });
    }
  } else if (auto sum = dyn_cast<tile::SumColumnsOp>(op)) {
    RankedTensorType input = tileType(sum.getInput());
    int64_t n = options.lanes(input.getElementTypeBitWidth()),
            whole = columnsOf(input) / n * n;
    Type element = to.element;
    loop(0, rowsOf(input), 1, [&](Value row) {
      auto part = [&](Value column, Value acc, bool isTail) -> Value {
        Value x = evaluate(sum.getInput(), {row, column, 1, 1, n})[0];
        if (isTail)
          x = arith::SelectOp::create(b,
                                      tailMask(c(columnsOf(input) - whole), n),
                                      x, zeros(element, n));
        return arith::AddFOp::create(b, acc, x);
      };
      Vectors sums = loopCarrying(c(0), c(whole), n, {zeros(element, n)},
                                  [&](Value k, Vectors acc) {
                                    return Vectors{part(k, acc[0], false)};
                                  });
      if (whole < columnsOf(input))
        sums[0] = part(c(whole), sums[0], true);
      Value total =
          vector::ReductionOp::create(b, vector::CombiningKind::ADD, sums[0],
                                      arith::FastMathFlags::reassoc);
      storeValue(total, gep(to.pointer, element, row), element);
    });
  } else {
    materialize(result, to, /*define=*/true);
  }
  if (plan.needsTransposed(result))
    emitTranspose(result);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitLoop(scf::ForOp loopOp) {
  ArrayRef<CarriedTile> tiles = plan.carriedOf(loopOp);
  SmallVector<Value> inits;
  for (auto [init, tile] : llvm::zip(loopOp.getInitArgs(), tiles)) {
    if (tile.buffer < 0)
      inits.push_back(map.lookup(init));
    else if (!tile.initInPlace)
      materialize(init, placeOf(plan.buffer(tile.buffer)));
  }
  b.setLoc(loopOp.getLoc());
  auto lowered = scf::ForOp::create(b, map.lookup(loopOp.getLowerBound()),
                                    map.lookup(loopOp.getUpperBound()),
                                    map.lookup(loopOp.getStep()), inits);
  map.map(loopOp.getInductionVar(), lowered.getInductionVar());
  unsigned next = 0;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    if (tile.buffer >= 0)
      continue;
    map.map(loopOp.getRegionIterArg(i), lowered.getRegionIterArg(next));
    map.map(loopOp.getResult(i), lowered.getResult(next++));
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(lowered.getBody());
    if (failed(emitBlock(*loopOp.getBody())))
      return failure();
    emitYield(loopOp);
  }
  for (Value result : loopOp.getResults())
    if (isTile(result) && plan.needsTransposed(result))
      emitTranspose(result);
  return success();
}

/// Renews the carried tiles: those evaluated in place and the temporaries
/// first, since either may read tiles of the old iteration; then the copies.
void Emitter::emitYield(scf::ForOp loopOp) {
  ArrayRef<CarriedTile> tiles = plan.carriedOf(loopOp);
  auto yield = cast<scf::YieldOp>(loopOp.getBody()->getTerminator());
  SmallVector<Value> scalars;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    Value next = yield.getOperand(i);
    if (tile.buffer < 0)
      scalars.push_back(map.lookup(next));
    else if (!tile.yieldInPlace)
      materialize(next, placeOf(plan.buffer(tile.temporary)));
    else if (plan.formOf(next) == Form::lazy)
      materialize(next, placeOf(plan.buffer(tile.buffer)));
  }
  for (const CarriedTile &tile : tiles)
    if (tile.buffer >= 0 && !tile.yieldInPlace)
      copy(plan.buffer(tile.temporary), plan.buffer(tile.buffer));
  b.setLoc(yield.getLoc());
  flushPrefetches();
  flushRowPrefetches();
  if (!scalars.empty())
    scf::YieldOp::create(b, scalars);
}
