//===- RoundDotOperands.cpp - Operands of dots in 16 bits -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AfterRoles.h"
#include "LoadedTiles.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "StateDependence.h"
#include "TileAxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILEROUNDDOTOPERANDS
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

namespace {

class Rounding {
public:
  Rounding(ProgramOp program, Type element)
      : program(program), element(element) {}

  void run() {
    SmallVector<LoadOp> loads;
    SmallVector<InterleaveOp> interleaves;
    SmallVector<DotOp> dots;
    program.walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op))
        loads.push_back(load);
      else if (auto interleave = dyn_cast<InterleaveOp>(op))
        interleaves.push_back(interleave);
      else if (auto dot = dyn_cast<DotOp>(op))
        dots.push_back(dot);
    });
    for (LoadOp load : loads)
      loadAsItLies(load);
    for (InterleaveOp interleave : interleaves)
      interleaveAsItLies(interleave);
    for (DotOp dot : dots)
      round(dot);
    readFunctionsAsRounded();
    // Interleaves widen what loads widened: last first.
    for (Operation *op : llvm::reverse(widenings))
      if (op->use_empty())
        op->erase();
  }

private:
  RankedTensorType rounded(Value tile) const {
    return cast<RankedTensorType>(tile.getType()).clone(element);
  }

  /// Gives all users of an op, which yields tiles of the type from now on, the
  /// widened tile.
  void widen(Operation *op) {
    Value result = op->getResult(0);
    Type wide = result.getType();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    result.setType(rounded(result));
    auto extended = arith::ExtFOp::create(builder, op->getLoc(), wide, result);
    result.replaceAllUsesExcept(extended, extended);
    widenings.push_back(extended);
  }

  /// The tile of the type that `tile` is widened from; null if it is not.
  Value narrow(Value tile) const {
    auto extended = tile.getDefiningOp<arith::ExtFOp>();
    bool ours = extended && extended.getIn().getType() == rounded(tile);
    return ours ? extended.getIn() : Value();
  }

  /// A state, which no message brings, is widened where it is loaded.
  void loadAsItLies(LoadOp load) {
    if (load.getView().getType().hasTime() &&
        load.getView().getType().getElementType() == element &&
        load.getResult().getType().getElementType() != element)
      widen(load);
  }

  void interleaveAsItLies(InterleaveOp interleave) {
    auto isWidened = [&](Value input) { return bool(narrow(input)); };
    if (!llvm::all_of(interleave.getInputs(), isWidened))
      return;
    for (OpOperand &input : interleave->getOpOperands())
      input.set(narrow(input.get()));
    widen(interleave);
  }

  void round(DotOp dot) {
    Type operands = dot.getLhs().getType().getElementType();
    if (operands.getIntOrFloatBitWidth() == 16)
      return;
    auto options = remark::RemarkOpts::name("RoundDot").category("tile");
    if (!operands.isF32()) {
      remark::missed(dot.getLoc(), options)
          << "sums in f64: operands are not rounded";
      return;
    }
    if (isLoaded(dot.getLhs()) && isLoaded(dot.getRhs())) {
      remark::missed(dot.getLoc(), options)
          << "both operands are loaded in another type: the product stays in "
             "f32";
      return;
    }
    OpBuilder builder(dot);
    for (OpOperand *operand : {&dot.getLhsMutable(), &dot.getRhsMutable()}) {
      Value tile = operand->get(), low = narrow(tile);
      operand->set(low ? low
                       : arith::TruncFOp::create(builder, dot.getLoc(),
                                                 rounded(tile), tile));
    }
  }

  /// What functions make of values lives until the end of a chunk, in registers
  /// of the chain: once rounded for a product, it is read so by all.
  void readFunctionsAsRounded() {
    std::string reason;
    FailureOr<TileAxes> axes = TileAxes::analyze(program, reason);
    if (failed(axes))
      return;
    StateDependence state(program);
    llvm::MapVector<Value, SmallVector<arith::TruncFOp>> roundings;
    program.walk([&](arith::TruncFOp round) {
      Value tile = round.getIn();
      if (!isa<RankedTensorType>(tile.getType())) // a number
        return;
      if (round.getType() == rounded(tile) && isFunction(tile) &&
          axes->has(tile, TileAxis::Value) && !state.contains(tile))
        roundings[tile].push_back(round);
    });
    for (auto &[tile, ops] : roundings) {
      if (ops.size() == size_t(std::distance(tile.use_begin(), tile.use_end())))
        continue;
      OpBuilder builder(program.getContext());
      builder.setInsertionPointAfterValue(tile);
      Value low =
          arith::TruncFOp::create(builder, tile.getLoc(), rounded(tile), tile);
      Value wide =
          arith::ExtFOp::create(builder, tile.getLoc(), tile.getType(), low);
      for (arith::TruncFOp op : ops) {
        op.replaceAllUsesWith(low);
        op.erase();
      }
      tile.replaceAllUsesExcept(wide, low.getDefiningOp());
    }
  }

  /// Elementwise, of a function that is no mere product.
  static bool isFunction(Value tile) {
    llvm::SetVector<Value> sources;
    sources.insert(tile);
    for (size_t i = 0; i < sources.size(); ++i) {
      Operation *op = sources[i].getDefiningOp();
      auto type = dyn_cast<RankedTensorType>(sources[i].getType());
      if (!op || !type || type.getRank() != 2)
        continue;
      if (isa<math::MathDialect>(op->getDialect()))
        return true;
      if (OpTrait::hasElementwiseMappableTraits(op) ||
          isa<ScaleRowsOp, ScaleColumnsOp>(op))
        sources.insert(op->operand_begin(), op->operand_end());
    }
    return false;
  }

  ProgramOp program;
  Type element;
  SmallVector<Operation *> widenings;
};

struct RoundDotOperandsPass
    : prism::tile::impl::TileRoundDotOperandsBase<RoundDotOperandsPass> {
  using TileRoundDotOperandsBase::TileRoundDotOperandsBase;
  void runOnOperation() override {
    Builder builder(&getContext());
    if (type != "bf16" && type != "f16") {
      getOperation().emitError(
          "tile-round-dot-operands: type must be bf16 or f16, found '")
          << type << "'";
      return signalPassFailure();
    }
    if (comesAfterRoles(getOperation(), "RoundDot", "operands are rounded"))
      return;
    Type element = type == "bf16" ? Type(builder.getBF16Type())
                                  : Type(builder.getF16Type());
    Rounding(getOperation(), element).run();
  }
};

} // namespace
