//===- StepProgram.h - One step of a recurrence, made ready -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The step region, or a region of a prefix scan, as a list of closures over one
// flat array of doubles. Every value of the region has a slot in it; nothing is
// looked up while steps run.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_INTERPRETER_STEPPROGRAM_H
#define PRISM_LIB_INTERPRETER_STEPPROGRAM_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <vector>

namespace prism::interpreter {

/// Where a value lies in the memory of a step.
struct Slot {
  int64_t offset = 0;
  int64_t size = 0;

  llvm::MutableArrayRef<double> in(double *memory) const {
    return {memory + offset, size_t(size)};
  }
};

/// One op, ready to run on a step's memory.
using Instruction = std::function<void(double *)>;

class StepProgram {
public:
  /// Fails with a diagnostic at the first op that has no evaluation.
  static mlir::FailureOr<StepProgram> build(scan::RecurrenceOp op);
  /// The same for a region of its own: all its arguments are inputs, all that
  /// it yields are outputs.
  static mlir::FailureOr<StepProgram> build(mlir::Region &region);

  /// Fresh memory for one run: constants in place, all else zero.
  std::vector<double> makeMemory() const { return initial; }
  /// Runs one step. The states are replaced by the next ones.
  void runStep(double *memory) const {
    for (const Instruction &instruction : instructions)
      instruction(memory);
  }
  /// The states become what the step sees as those at a mini-batch's entry.
  void enterMiniBatch(double *memory) const {
    for (auto [state, entry] : llvm::zip(states, entries))
      llvm::copy(state.in(memory), entry.in(memory).begin());
  }

  llvm::SmallVector<Slot> states, entries, inputs, outputs;
  /// What the step reads from outside its region, the same at every step.
  llvm::SmallVector<std::pair<mlir::Value, Slot>> captured;

private:
  explicit StepProgram(mlir::Region &region) : region(&region) {}
  static mlir::FailureOr<StepProgram>
  build(mlir::Region &region, unsigned numStates, unsigned numEntries);

  Slot makeSlot(int64_t size);
  Slot makeSlot(mlir::Type type);
  mlir::LogicalResult add(mlir::Operation &inner);
  mlir::LogicalResult addFactor(scan::StateOpInterface factor);
  /// Ops with regions, and calls; false: it is none of them.
  mlir::FailureOr<bool> addNested(mlir::Operation &inner);
  mlir::LogicalResult addLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult addWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult addBranches(mlir::Operation &branch, mlir::Value flag,
                                  llvm::ArrayRef<int64_t> cases);
  mlir::LogicalResult addCall(mlir::func::CallOp call);
  mlir::LogicalResult addGenerate(mlir::tensor::GenerateOp op);
  mlir::LogicalResult addLinalg(mlir::linalg::LinalgOp op);
  /// The ops of a block as instructions of their own.
  mlir::FailureOr<std::vector<Instruction>> makeBlock(mlir::Block &block);
  mlir::FailureOr<llvm::SmallVector<Slot>> getOperands(mlir::Operation &user,
                                                       mlir::ValueRange values);
  llvm::SmallVector<Slot> makeSlots(mlir::ValueRange values);
  void addYield(mlir::ValueRange yielded);
  /// The slot of an operand; takes in constants defined outside the region.
  mlir::FailureOr<Slot> getOperand(mlir::Operation &user, mlir::Value value);
  void setConstant(mlir::Value value, mlir::Attribute attr);
  /// True if `factor` may change the memory of its own state operand.
  bool canReuse(scan::StateOpInterface factor) const;

  mlir::Region *region;
  llvm::DenseMap<mlir::Value, Slot> slots;
  std::vector<Instruction> instructions;
  llvm::SmallVector<mlir::Operation *> calls;
  std::vector<double> initial;
};

inline void runAll(llvm::ArrayRef<Instruction> instructions, double *memory) {
  for (const Instruction &instruction : instructions)
    instruction(memory);
}
/// Copies all, also where a target is a later source.
void copySlots(llvm::ArrayRef<Slot> from, llvm::ArrayRef<Slot> to,
               double *memory);

using Unary = double (*)(double);

/// Of a refinement or a convolution.
Unary activationOf(scan::Activation activation);

/// The instruction of an ordinary op or one of the loader slice, or null when
/// it has no evaluation.
Instruction makeInstruction(mlir::Operation &op, llvm::ArrayRef<Slot> operands,
                            Slot result);

/// The same for the ops that move values between tensors.
Instruction makeTensorInstruction(mlir::Operation &op,
                                  llvm::ArrayRef<Slot> operands, Slot result);

} // namespace prism::interpreter

#endif // PRISM_LIB_INTERPRETER_STEPPROGRAM_H
