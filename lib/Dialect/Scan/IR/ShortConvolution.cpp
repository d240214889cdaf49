//===- ShortConvolution.cpp - Verifier of scan.short_convolution ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Messages cite the numbered constraints of docs/Dialects/Scan.md.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace prism::scan;

/// Taps that a convolution has.
static constexpr int64_t kFewestTaps = 2, kMostTaps = 8;

/// The n-th letter that is no outer axis and not the channels'.
static char freeLetter(char channels, unsigned n) {
  for (char letter : StringRef("wcd"))
    if (letter != channels && n-- == 0)
      return letter;
  llvm_unreachable("two letters are asked for");
}

std::string ShortConvolutionOp::getWeightAxes() {
  char channels = getInputAxes().back();
  return {'h', channels, freeLetter(channels, 0)};
}

std::string ShortConvolutionOp::getBiasAxes() {
  return {'h', getInputAxes().back()};
}

/// Not the taps' letter: a window is shorter.
std::string ShortConvolutionOp::getWindowAxes() {
  char channels = getInputAxes().back();
  return {'n', 'h', channels, freeLetter(channels, 1)};
}

/// [V1] The input's axes: b, t and h in any order, then the channels.
static LogicalResult verifyAxes(ShortConvolutionOp op) {
  StringRef axes = op.getInputAxes();
  std::string outer = axes.drop_back(axes.empty() ? 0 : 1).str();
  llvm::sort(outer);
  bool isFeature = !axes.empty() && llvm::isLower(axes.back()) &&
                   !StringRef("bthn").contains(axes.back());
  if (outer != "bht" || !isFeature)
    return op.emitOpError("[V1] expects an input of axes b, t, h in any order "
                          "and one of its own, the last, found \"")
           << axes << "\"";
  if (op.getInput().getType().getRank() != 4)
    return op.emitOpError("[V1] names 4 axes of an input ")
           << op.getInput().getType();
  return success();
}

LogicalResult ShortConvolutionOp::verify() {
  if (failed(verifyAxes(*this)))
    return failure();
  RankedTensorType input = getInput().getType();
  int64_t heads = input.getDimSize(getInputAxes().find('h')),
          channels = input.getShape().back();
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(channels) ||
      heads < 1 || channels < 1)
    return emitOpError("[V2] expects static, positive heads and channels, "
                       "found ")
           << input;
  ArrayRef<int64_t> weight = getWeight().getType().getShape();
  if (weight.size() != 3 || weight[0] != heads || weight[1] != channels)
    return emitOpError("[V3] expects a weight of ")
           << heads << "x" << channels << " and the taps, found "
           << getWeight().getType();
  if (weight[2] < kFewestTaps || weight[2] > kMostTaps)
    return emitOpError("[V3] expects ")
           << kFewestTaps << " to " << kMostTaps << " taps, found "
           << getWeight().getType();
  if (getBias() && getBias().getType().getShape() != weight.take_front(2))
    return emitOpError("[V3] expects a bias of ")
           << heads << "x" << channels << ", found " << getBias().getType();
  auto checkWindow = [&](RankedTensorType type,
                         StringRef what) -> LogicalResult {
    ArrayRef<int64_t> shape = type.getShape();
    if (shape.size() == 4 && shape[1] == heads && shape[2] == channels &&
        shape[3] == weight[2] - 1 &&
        type.getElementType() == input.getElementType())
      return success();
    return emitOpError("[V4] expects ")
           << what << " of Nx" << heads << "x" << channels << "x"
           << weight[2] - 1 << " elements of the input's type, found " << type;
  };
  if (failed(checkWindow(getFinalWindow().getType(), "a final window")) ||
      (getInitialWindow() &&
       failed(checkWindow(getInitialWindow().getType(), "an initial window"))))
    return failure();
  if (getResult().getType().getShape() != input.getShape())
    return emitOpError("[V5] expects a result of the input's shape ")
           << input << ", found " << getResult().getType();
  return success();
}
