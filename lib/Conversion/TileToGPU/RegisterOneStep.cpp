//===- RegisterOneStep.cpp - A call that is one step ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step from states in memory to states in memory is a copy, which needs many
// bytes on their way: no wait between what is asked for. So a kernel whose
// threads hold much of a state has a version for calls of one step, without a
// loop, in which all that the step reads is asked for at its start.
//
//===----------------------------------------------------------------------===//

#include "RegisterLowering.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Columns of a block, and elements of states of a thread, from which on a
/// program has the version: the planner gives that many where time goes with
/// the states' bytes, and fewer where each step waits for the one before.
static constexpr int64_t kFewestColumns = 64, kFewestStates = 33;
/// Registers that states and a step's inputs take: with more of them the
/// version would need more than the loop, and fewer warps would be resident.
static constexpr int64_t kMostAsked = 88;

/// A loop from the first step to the last.
static bool isOverSteps(scf::ForOp loop) {
  APInt lower, step;
  return loop.getUpperBound().getDefiningOp<LengthOp>() &&
         matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
         matchPattern(loop.getStep(), m_ConstantInt(&step)) && lower.isZero() &&
         step.isOne();
}

/// A step of one state that can ask for all it reads at once.
bool RegisterLowering::isCopy(scf::ForOp loop) {
  if (!isOverSteps(loop) || loop.getNumRegionIterArgs() != 1)
    return false;
  Value state = loop.getRegionIterArg(0);
  if (!isTensor(state) || tensorType(state).getRank() != 2)
    return false;
  int64_t states = shapeOf(state).first * shapeOf(state).second, asked = states;
  for (LoadOp input : loop.getBody()->getOps<LoadOp>()) {
    if (!canLoadAhead(input, loop))
      return false;
    asked += wordsOf(input);
  }
  return states >= kFewestStates && asked <= kMostAsked;
}

bool RegisterLowering::hasOneStep() {
  ProgramOp program = kernel.getProgram();
  if (int64_t(program.getValueBlock()) < kFewestColumns ||
      program.getSegments())
    return false;
  return llvm::any_of(program.getBody().getOps<scf::ForOp>(),
                      [&](scf::ForOp loop) { return isCopy(loop); });
}

static StringRef roleOf(const Slice &slice, ProgramOp program) {
  return program.getArgument_(slice.view.getArgNumber()).getRole().getValue();
}

bool RegisterLowering::isKnownThere(const Slice &slice) {
  StringRef role = roleOf(slice, kernel.getProgram());
  return oneStep && (role == "initial_state" || role == "final_state");
}

Value RegisterLowering::statesThere(StringRef role) {
  ProgramOp program = kernel.getProgram();
  Value all;
  llvm::SmallPtrSet<Value, 4> seen;
  auto note = [&](const Slice &slice) {
    if (roleOf(slice, program) == role && seen.insert(slice.view).second)
      all = b.both(all, kernel.present(slice));
  };
  program.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      note(Slice::of(load));
    else if (auto store = dyn_cast<StoreOp>(op))
      note(Slice::of(store));
  });
  return all;
}

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

/// Whole rows in wide accesses, which need no condition.
bool RegisterLowering::canAskForState(LoadOp op) {
  Slice slice = Slice::of(op);
  Value tile = op.getResult();
  if (!isKnownThere(slice) || widthOf(slice, tile) == 1)
    return false;
  return slice.extents.size() == 1 ||
         (isInside(plan.kind(tile, 0), slice.extents[0],
                   shapeOf(tile).first - 1) &&
          slice.isWhole(slice.axisOfTile[0], kernel.getProgram()));
}

void RegisterLowering::askForState(LoadOp op) {
  Slice slice = Slice::of(op);
  Value tile = op.getResult();
  auto [rows, columns] = shapeOf(tile);
  int64_t width = widthOf(slice, tile);
  Scalars &words = ahead[op];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; j += width) {
      auto indices = kernel.viewIndices(slice, localIndices(slice, tile, i, j));
      words.append(kernel.loadWords(
          slice, kernel.safeAddress(slice, indices, /*inside=*/Value()),
          /*offset=*/0, width));
    }
}

/// What is not asked for here is read where the program reads it.
void RegisterLowering::askForAll(Block &body) {
  auto isPlaced = [&](LoadOp op) {
    return llvm::all_of(Slice::of(op).offsets, [&](Value index) {
      return kernel.scalars.contains(index);
    });
  };
  for (Operation &op : body.without_terminator()) {
    auto load = dyn_cast<LoadOp>(op);
    if (load && isPlaced(load) && canAskForState(load))
      askForState(load);
    else if (op.getNumResults() == 1 && !isTensor(op.getResult(0)) &&
             isPure(&op))
      kernel.cloneScalarOp(&op);
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !isOverSteps(loop))
      continue;
    kernel.scalars.map(loop.getInductionVar(), b.i64(0));
    for (LoadOp input : loop.getBody()->getOps<LoadOp>())
      if (canLoadAhead(input, loop) && isPlaced(input))
        loadAt(input, addressOfFirst(input), ahead[input]);
  }
}

//===----------------------------------------------------------------------===//
// The version
//===----------------------------------------------------------------------===//

/// What a loop carries is what its only step is given, and what it yields.
void RegisterLowering::emitOnce(scf::ForOp loop) {
  auto hand = [&](Value from, Value to) {
    if (!isTensor(from)) {
      kernel.scalars.map(to, kernel.scalars.lookup(from));
      return;
    }
    Scalars all;
    auto [rows, columns] = shapeOf(to);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        all.push_back(get(from, i, j));
    held[to] = all;
  };
  kernel.scalars.map(loop.getInductionVar(),
                     kernel.scalars.lookup(loop.getLowerBound()));
  for (auto [init, carried] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    hand(init, carried);
  emitOps(*loop.getBody());
  for (auto [yielded, result] : llvm::zip(
           loop.getBody()->getTerminator()->getOperands(), loop.getResults()))
    hand(yielded, result);
}

void RegisterLowering::emitLoop(scf::ForOp loop) {
  oneStep &&isOverSteps(loop) ? emitOnce(loop) : emitFor(loop);
}

void prism::tiletogpu::emitIf(ScalarBuilder &b, Value condition,
                              llvm::function_ref<void()> emit) {
  auto choice = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  emit();
}

Value prism::tiletogpu::emitUnder(ScalarBuilder &b, Value condition,
                                  llvm::function_ref<Value()> emit) {
  if (!condition)
    return emit();
  auto choice = scf::IfOp::create(b, b.getI1Type(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, emit());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, b.integer(b.getI1Type(), 1));
  return choice.getResult(0);
}

/// A branch lies between what is asked for and what is computed: ptxas would
/// move loads of values and strengths behind the first instruction that waits
/// for a gate.
Value RegisterLowering::emitOneStep(Block &body, Value aligned) {
  Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      kernel.length(), b.i64(1)),
        areThere = statesThere("initial_state");
  wide = oneStep = true;
  held.clear();
  Value rest = emitUnder(b, b.both(b.both(aligned, isOne), areThere), [&] {
    askForAll(body);
    return emitUnder(b, statesThere("final_state"), [&]() -> Value {
      emitOps(body);
      return b.integer(b.getI1Type(), 0);
    });
  });
  oneStep = false;
  ahead.clear();
  return rest;
}
