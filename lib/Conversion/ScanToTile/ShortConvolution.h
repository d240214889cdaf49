//===- ShortConvolution.h - Tiles of convolved inputs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A chunk of a convolved input is a sum of W loads, each a step further on and
// scaled by its tap. What lies before the sequence reads as zero there; what
// the window says of it is summed once, before the loop over chunks, and added
// to the sequence's first W - 1 tokens. The taps that see the window are the
// oldest, so every token is summed from its oldest tap to its newest whatever
// the chunk, and a sequence gives the same sums in one call and in several.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_SHORTCONVOLUTION_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_SHORTCONVOLUTION_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "TileBuilder.h"

namespace prism {

/// x of an activation, element by element.
mlir::Value activateTile(TileBuilder &tb, scan::Activation activation,
                         mlir::Value x);

class ShortConvolution {
public:
  /// Views of the op's operands in the program; null for absent ones.
  struct Views {
    mlir::Value input, weight, bias, initialWindow;
  };
  ShortConvolution(scan::ShortConvolutionOp op, Views views, mlir::Block *body)
      : op(op), views(views), body(body) {}

  /// As many tokens as the tile has rows, from step `first` on; all channels,
  /// or the work item's value columns.
  mlir::Value tile(TileBuilder &tb, mlir::RankedTensorType type,
                   mlir::Value first, bool alongValues);
  /// Stores the window after the last token.
  void storeWindow(TileBuilder &tb, mlir::Value length,
                   mlir::Value finalWindow);

private:
  /// What is the same for all chunks.
  struct Prepared {
    llvm::SmallVector<mlir::Value> taps; // a vector of channels each
    mlir::Value bias;                    // likewise, or null
    mlir::Value past; // what the window adds to the first W - 1 tokens, or null
    mlir::Value column;
  };
  const Prepared &prepare(TileBuilder &tb, int64_t channels, bool alongValues);
  mlir::Value windowTile(TileBuilder &tb, int64_t channels, mlir::Value column);

  scan::ShortConvolutionOp op;
  Views views;
  mlir::Block *body; // of the program
  std::optional<Prepared> ofChannels, ofValues;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_SHORTCONVOLUTION_H
