//===- LoadChecks.cpp - What the role `load` can copy ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "RolesChecks.h"
#include "RolesPlan.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// What the user calls the array that is loaded from.
static std::string nameOf(LoadOp load) {
  auto program = load->getParentOfType<ProgramOp>();
  unsigned number = cast<BlockArgument>(load.getView()).getArgNumber();
  return "'" + program.getArgument_(number).getName().str() + "'";
}

/// Loads to be sent become asynchronous copies of 16 bytes. f32 is for what the
/// preparation computes with.
static LogicalResult checkLoad(LoadOp load, Type operands,
                               std::string &reason) {
  auto type = tensorType(load.getResult());
  Destination to = destinationOf(load.getResult());
  bool isWide =
      load.getView().getType().getElementType().isF32() && to.send &&
      isWideMessage(to.send.getChannel().getDefiningOp<ChannelOp>(), to.part);
  if (type.getRank() == 2 && type.getElementType() != operands && !isWide) {
    reason = "of " + nameOf(load) + " it sends a matrix " + textOf(type) +
             ", not " + textOf(operands);
    return failure();
  }
  int64_t width = load.getView().getType().getShape().back();
  if (type.getRank() == 2 && width % 8) {
    reason = "rows of " + nameOf(load) + " have " + std::to_string(width) +
             " elements, which are no whole pieces of 16 bytes (8 elements)";
    return failure();
  }
  return success();
}

/// Rows of a step are copied by the same loops if they are those of one array
/// in its order, and four rows are whole steps.
static LogicalResult checkStack(InterleaveOp stack, Type operands,
                                std::string &reason) {
  auto type = tensorType(stack.getResult());
  std::optional<Slice> slice = Slice::of(stack);
  if (slice && 4 % slice->ranks == 0 &&
      (type.getRank() == 1 || type.getElementType() == operands))
    return success();
  SmallVector<std::string> names;
  for (Value input : stack.getInputs())
    if (auto load = input.getDefiningOp<LoadOp>();
        load && !llvm::is_contained(names, nameOf(load)))
      names.push_back(nameOf(load));
  reason = "rows of " + llvm::join(names, ", ") +
           " are stacked, a token's together, and only 2 or 4 rows of one "
           "array in its order can be";
  return failure();
}

LogicalResult prism::tiletogpu::checkLoaded(Operation *op, Type operands,
                                            std::string &reason) {
  auto stack = dyn_cast<InterleaveOp>(op);
  return stack ? checkStack(stack, operands, reason)
               : checkLoad(cast<LoadOp>(op), operands, reason);
}
