//===- TileAxes.cpp - What the axes of a program's tiles are --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TileAxes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace prism::tile;

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static RankedTensorType typeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType());
}

/// A tile without axes of its own: one constant serves tiles of any kind.
static bool isConstant(Value tile) {
  Operation *op = tile.getDefiningOp();
  return op && (matchPattern(op, m_Constant()) || isa<tensor::SplatOp>(op));
}

static StringRef nameOf(TileAxis kind) {
  return kind == TileAxis::Row   ? "row"
         : kind == TileAxis::Key ? "key"
                                 : "value";
}

//===----------------------------------------------------------------------===//
// Union-find
//===----------------------------------------------------------------------===//

unsigned TileAxes::nodeOf(Value tile, unsigned axis) {
  auto [it, inserted] = nodes.try_emplace({tile, axis}, parent.size());
  if (inserted) {
    parent.push_back(parent.size());
    kinds.push_back(TileAxis::Unknown);
  }
  return it->second;
}

unsigned TileAxes::find(unsigned node) const {
  while (parent[node] != node)
    node = parent[node];
  return node;
}

/// Tells a root what it is; remembers the first contradiction.
void TileAxes::join(TileAxis &known, TileAxis kind, int64_t extent) {
  if (kind == TileAxis::Unknown)
    return;
  if (known != TileAxis::Unknown && known != kind && conflict.empty())
    conflict = ("an axis of " + Twine(extent) + " elements is both a " +
                nameOf(known) + " and a " + nameOf(kind) + " axis")
                   .str();
  known = kind;
}

void TileAxes::tie(Value a, unsigned axisA, Value b, unsigned axisB) {
  if (isConstant(a) || isConstant(b))
    return;
  unsigned x = find(nodeOf(a, axisA)), y = find(nodeOf(b, axisB));
  if (x == y)
    return;
  parent[y] = x;
  join(kinds[x], kinds[y], typeOf(a).getDimSize(axisA));
}

void TileAxes::tieAll(Value a, Value b) {
  for (unsigned axis = 0, e = typeOf(a).getRank(); axis < e; ++axis)
    tie(a, axis, b, axis);
}

void TileAxes::fix(Value tile, unsigned axis, TileAxis kind) {
  if (!isConstant(tile))
    join(kinds[find(nodeOf(tile, axis))], kind, typeOf(tile).getDimSize(axis));
}

TileAxis TileAxes::kind(Value tile, unsigned axis) const {
  auto it = nodes.find({tile, axis});
  return it == nodes.end() ? TileAxis::Unknown : kinds[find(it->second)];
}

bool TileAxes::has(Value tile, TileAxis wanted) const {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  for (unsigned axis = 0, e = type ? type.getRank() : 0; axis < e; ++axis)
    if (kind(tile, axis) == wanted)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// A tile has the last axes of its view, or the time axis and the last ones.
void TileAxes::constrainSlice(Value tile, ViewType view, ValueRange offsets,
                              bool oneStep) {
  int64_t rank = typeOf(tile).getRank(), skip = view.getRank() - rank;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis == 0 && view.hasTime() && !oneStep)
      fix(tile, axis, TileAxis::Row);
    else if (offsets[skip + axis].getDefiningOp<ValueOffsetOp>())
      fix(tile, axis, TileAxis::Value);
  }
}

/// Ops that work on rows of the chunk: solves, gate sums, decays.
void TileAxes::constrainRows(Operation *op) {
  auto rows = [&](Value tile, ArrayRef<unsigned> axes) {
    for (unsigned axis : axes)
      fix(tile, axis, TileAxis::Row);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](SolveOp solve) {
        rows(solve.getMatrix(), {0, 1});
        rows(solve.getResult(), {0});
        tieAll(solve.getResult(), solve.getRhs());
      })
      .Case([&](InvertOp invert) {
        rows(invert.getMatrix(), {0, 1});
        rows(invert.getResult(), {0, 1});
      })
      .Case([&](GateSumOp sum) {
        rows(sum.getGates(), {0});
        rows(sum.getResult(), {0});
      })
      .Case([&](DecayMatrixOp decay) {
        rows(decay.getRows(), {0});
        rows(decay.getColumns(), {0});
        rows(decay.getResult(), {0, 1});
      })
      .Case([&](DecayProductOp product) {
        rows(product.getResult(), {0});
        tieAll(product.getResult(), product.getDecays());
      })
      .Case([&](DecayedDotOp dot) {
        rows(dot.getLhs(), {0});
        rows(dot.getRhs(), {0});
        rows(dot.getResult(), {0, 1});
        tie(dot.getLhs(), 1, dot.getRhs(), 1);
        for (Value decays : dot.getDecays()) {
          rows(decays, {0});
          tie(dot.getLhs(), 1, decays, 1);
        }
      })
      .Case(
          [&](LastRowOp last) { tie(last.getResult(), 0, last.getInput(), 1); })
      .Case([&](SplatLastOp last) { rows(last.getInput(), {0}); })
      .Case([&](InterleaveOp stack) {
        rows(stack.getResult(), {0});
        for (Value input : stack.getInputs()) {
          rows(input, {0});
          if (typeOf(input).getRank() == 2)
            tie(stack.getResult(), 1, input, 1);
        }
      })
      .Case([&](MaskRowsOp mask) {
        rows(mask.getResult(), {0});
        tieAll(mask.getResult(), mask.getInput());
      });
}

void TileAxes::constrainLoop(scf::ForOp loop) {
  auto yielded = loop.getBody()->getTerminator()->getOperands();
  for (auto [init, carried, next, result] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), yielded,
                 loop.getResults()))
    if (isTile(carried)) {
      tieAll(carried, init);
      tieAll(carried, next);
      tieAll(carried, result);
    }
}

void TileAxes::constrain(Operation *op) {
  constrainRows(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) {
        constrainSlice(load.getResult(), load.getView().getType(),
                       load.getIndices(), load.getOneStep());
      })
      .Case([&](StoreOp store) {
        constrainSlice(store.getValue(), store.getView().getType(),
                       store.getIndices(), store.getOneStep());
      })
      .Case(
          [&](StoreMapOp store) { fix(store.getValue(), 1, TileAxis::Value); })
      .Case([&](FoldMapsOp fold) {
        fix(fold.getResult(), 1, TileAxis::Value);
        tieAll(fold.getResult(), fold.getState());
      })
      .Case([&](DotOp dot) {
        unsigned left = dot.getTransposeLhs() ? 1 : 0,
                 right = dot.getTransposeRhs() ? 0 : 1;
        tie(dot.getResult(), 0, dot.getLhs(), left);
        tie(dot.getResult(), 1, dot.getRhs(), right);
        tie(dot.getLhs(), 1 - left, dot.getRhs(), 1 - right);
        tieAll(dot.getResult(), dot.getAcc());
      })
      .Case([&](ScaleRowsOp scale) {
        tie(scale.getResult(), 0, scale.getScale(), 0);
        tieAll(scale.getResult(), scale.getInput());
      })
      .Case([&](ScaleColumnsOp scale) {
        tie(scale.getResult(), 1, scale.getScale(), 0);
        tieAll(scale.getResult(), scale.getInput());
      })
      .Case(
          [&](SumColumnsOp sum) { tie(sum.getResult(), 0, sum.getInput(), 0); })
      .Case([&](BroadcastOp repeat) {
        tie(repeat.getResult(), repeat.getAlongRows() ? 1 : 0,
            repeat.getInput(), 0);
      })
      .Case([&](scf::ForOp loop) { constrainLoop(loop); })
      .Default([&](Operation *other) {
        if (!OpTrait::hasElementwiseMappableTraits(other))
          return;
        for (Value operand : other->getOperands())
          if (isTile(operand) && isTile(other->getResult(0)))
            tieAll(other->getResult(0), operand);
      });
}

/// What is open counts keys: the state's axis beside the values, and whatever
/// meets it in a product.
void TileAxes::settle(ProgramOp program) {
  program.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isTile(result) && !isConstant(result))
        for (unsigned axis = 0, e = typeOf(result).getRank(); axis < e; ++axis)
          nodeOf(result, axis);
  });
  for (TileAxis &kind : kinds)
    if (kind == TileAxis::Unknown)
      kind = TileAxis::Key;
}

FailureOr<TileAxes> TileAxes::analyze(ProgramOp program, std::string &reason) {
  TileAxes axes;
  program.getBody().walk([&](Operation *op) { axes.constrain(op); });
  axes.settle(program);
  if (axes.conflict.empty())
    return axes;
  reason = axes.conflict;
  return failure();
}
