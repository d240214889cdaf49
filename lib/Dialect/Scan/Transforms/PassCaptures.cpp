//===- PassCaptures.cpp - Values from outside the step as its inputs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An argument of the entry that a step takes without naming it among its inputs
// (a weight, say) is an input without batch, time and heads: the same at every
// step.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace prism::scan;

/// Letters that no axis of the recurrence has.
static std::string freeLetters(RecurrenceOp op) {
  std::string taken = "bthns", free;
  for (ArrayAttr axes : {op.getInputAxes(), op.getInitialAxes(),
                         op.getOutputAxes(), op.getFinalAxes()})
    for (Attribute one : axes)
      taken += cast<StringAttr>(one).getValue();
  for (char letter = 'a'; letter <= 'z'; ++letter)
    if (!StringRef(taken).contains(letter))
      free += letter;
  return free;
}

LogicalResult prism::scan::passCaptures(RecurrenceOp op) {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(op.getBody(), outside);
  std::string letters = freeLetters(op);
  size_t next = 0;
  Builder b(op.getContext());
  for (Value value : outside) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      continue; // constants are cloned, the rest is the lowering's to refuse
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getRank() == 0 ||
        !isa<FloatType>(type.getElementType()))
      return op.emitError("a step takes argument ")
             << argument.getArgNumber() << " of the entry, of type "
             << value.getType()
             << ", from outside; expected a float tensor of static shape with "
                "axes, or an "
                "input of the recurrence";
    if (next + type.getRank() > letters.size())
      return op.emitError("the step takes more axes from outside than there "
                          "are letters for; make them inputs");
    if (llvm::is_contained(op.getInputs(), value) ||
        llvm::is_contained(op.getInitialStates(), value))
      return op.emitError("a step takes argument ")
             << argument.getArgNumber()
             << " of the entry from outside, which is an operand of the "
                "recurrence as well; expected one of the two";
    SmallVector<Attribute> axes(op.getInputAxes().getValue());
    axes.push_back(b.getStringAttr(letters.substr(next, type.getRank())));
    next += type.getRank();
    op.setInputAxesAttr(b.getArrayAttr(axes));
    op.getInputsMutable().append(value);
    Value inside = op.getStepBlock()->addArgument(type, value.getLoc());
    value.replaceUsesWithIf(inside, [&](OpOperand &use) {
      return op.getBody().isAncestor(use.getOwner()->getParentRegion());
    });
  }
  return success();
}
