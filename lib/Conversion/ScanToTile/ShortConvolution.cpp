//===- ShortConvolution.cpp - Tiles of convolved inputs -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ShortConvolution.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>

using namespace mlir;
using namespace prism;

Value prism::activateTile(TileBuilder &tb, scan::Activation activation,
                          Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  auto number = [&](double value) { return tb.constant(type, value); };
  switch (activation) {
  case scan::Activation::identity:
    return x;
  case scan::Activation::gelu: {
    Value erf = tb.create<math::ErfOp>(tb.mul(x, number(std::sqrt(0.5))));
    return tb.mul(tb.mul(x, number(0.5)), tb.add(erf, number(1.0)));
  }
  case scan::Activation::silu: {
    // x sigmoid(x) with an exponential that cannot overflow.
    Value e = tb.exp(tb.neg(tb.create<math::AbsFOp>(x)));
    Value denominator = tb.add(e, number(1.0));
    Value isNegative =
        tb.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, number(0.0));
    Value numerator = tb.create<arith::SelectOp>(isNegative, e, number(1.0));
    return tb.mul(x, tb.create<arith::DivFOp>(numerator, denominator));
  }
  case scan::Activation::tanh:
    return tb.create<math::TanhOp>(x);
  case scan::Activation::relu:
    return tb.create<arith::MaximumFOp>(x, number(0.0));
  }
  llvm_unreachable("unknown activation");
}

/// Columns first, first + 1, ... of the identity.
static Value unitColumns(TileBuilder &tb, int64_t rows, int64_t columns,
                         Value first) {
  return tb.create<tile::UnitColumnsOp>(tb.matrix(rows, columns), first,
                                        /*ones=*/false);
}

/// The window as it is given: a row for each channel.
Value ShortConvolution::windowTile(TileBuilder &tb, int64_t channels,
                                   Value column) {
  return tb.create<tile::LoadOp>(
      tb.matrix(channels, op.getTaps() - 1), views.initialWindow,
      ValueRange{column, tb.index(0)}, /*one_step=*/false);
}

const ShortConvolution::Prepared &
ShortConvolution::prepare(TileBuilder &tb, int64_t channels, bool alongValues) {
  std::optional<Prepared> &known = alongValues ? ofValues : ofChannels;
  if (known)
    return *known;
  // The loop that asks is being made and will stand after this.
  OpBuilder::InsertionGuard guard(tb.builder);
  tb.builder.setInsertionPointToEnd(body);
  Prepared &made = known.emplace();
  int64_t taps = op.getTaps(), before = taps - 1;
  Value zero = tb.index(0);
  made.column =
      alongValues
          ? Value(tb.create<tile::ValueOffsetOp>(tb.builder.getIndexType()))
          : zero;
  Value weight = tb.create<tile::LoadOp>(
      tb.matrix(channels, taps), views.weight,
      ValueRange{zero, made.column, zero}, /*one_step=*/true);
  for (int64_t j = 0; j < taps; ++j) {
    Value column =
        tb.dot(weight, false, unitColumns(tb, taps, 1, tb.index(j)), false);
    made.taps.push_back(
        tb.create<tile::SumColumnsOp>(tb.vector(channels), column));
  }
  if (views.bias)
    made.bias = tb.create<tile::LoadOp>(tb.vector(channels), views.bias,
                                        ValueRange{zero, made.column},
                                        /*one_step=*/true);
  if (!views.initialWindow)
    return made;
  // Row r sees column r + j of the window through tap j.
  Value window = windowTile(tb, channels, made.column);
  for (int64_t j = 0; j < before; ++j) {
    Value seen = tb.dot(unitColumns(tb, before, before, tb.index(-j)), false,
                        window, true);
    Value scaled =
        tb.create<tile::ScaleColumnsOp>(seen.getType(), seen, made.taps[j]);
    made.past = made.past ? tb.add(made.past, scaled) : scaled;
  }
  return made;
}

Value ShortConvolution::tile(TileBuilder &tb, RankedTensorType type,
                             Value first, bool alongValues) {
  llvm::SaveAndRestore<Location> where(tb.loc, op.getLoc());
  int64_t tokens = type.getDimSize(0), before = op.getTaps() - 1;
  const Prepared &prepared = prepare(tb, type.getDimSize(1), alongValues);
  Value sum;
  if (prepared.past) {
    // Row r of this tile is row first + r of the past, if there is one.
    Value back = tb.create<arith::SubIOp>(tb.index(0), first);
    sum = tb.dot(unitColumns(tb, tokens, before, back), false, prepared.past,
                 false);
  }
  for (int64_t j = 0; j <= before; ++j) {
    Value step = first;
    if (j < before)
      step = tb.create<arith::AddIOp>(first, tb.index(j - before));
    Value seen = tb.create<tile::LoadOp>(type, views.input,
                                         ValueRange{step, prepared.column},
                                         /*one_step=*/false);
    Value scaled =
        tb.create<tile::ScaleColumnsOp>(type, seen, prepared.taps[j]);
    sum = sum ? tb.add(sum, scaled) : scaled;
  }
  if (prepared.bias)
    sum = tb.add(sum, tb.create<tile::BroadcastOp>(type, prepared.bias,
                                                   /*along_rows=*/true));
  return activateTile(tb, op.getActivation(), sum);
}

/// The last W - 1 tokens, and where there are fewer, what the window had left.
/// The same from every work item of the sequence and head.
void ShortConvolution::storeWindow(TileBuilder &tb, Value length,
                                   Value finalWindow) {
  llvm::SaveAndRestore<Location> where(tb.loc, op.getLoc());
  int64_t channels = op.getChannels(), before = op.getTaps() - 1;
  Value zero = tb.index(0);
  Value start = tb.create<arith::AddIOp>(length, tb.index(-before));
  Value tokens = tb.create<tile::LoadOp>(tb.matrix(before, channels),
                                         views.input, ValueRange{start, zero},
                                         /*one_step=*/false);
  Value window =
      tb.dot(tokens, true, unitColumns(tb, before, before, zero), false);
  if (views.initialWindow)
    window = tb.dot(windowTile(tb, channels, zero), false,
                    unitColumns(tb, before, before, length), false, window);
  tb.create<tile::StoreOp>(window, finalWindow, ValueRange{zero, zero});
}
