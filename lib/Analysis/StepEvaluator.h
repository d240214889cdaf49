//===- StepEvaluator.h - Evaluates a step on forms --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_ANALYSIS_STEPEVALUATOR_H
#define PRISM_LIB_ANALYSIS_STEPEVALUATOR_H

#include "Prism/Analysis/StateFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace prism::analysis {

/// The name under which equal functions are equal: the op's and its attributes.
mlir::Attribute functionName(mlir::Operation &op);

class StepEvaluator {
public:
  using Node = const FlowNode *;
  using Nodes = llvm::SmallVector<Node, 4>;

  /// Of a region with one block: a step, or one of a prefix scan.
  StepEvaluator(mlir::Region &region, FormContext &forms,
                std::deque<FlowNode> &nodes, mlir::Value cut)
      : region(region), forms(forms), nodes(nodes), cut(cut) {}

  /// Binds a block argument.
  Node bind(mlir::Value value, Form form, llvm::ArrayRef<Node> inputs = {});
  /// Evaluates all ops but the terminator.
  void evaluateBlock(mlir::Block &block);
  Node get(mlir::Value value);
  llvm::DenseMap<mlir::Value, Node> takeValues() { return std::move(values); }

private:
  void evaluate(mlir::Operation &op);
  /// What may be understood of a single op; false leaves it to the next.
  bool evaluateConstant(mlir::Operation &op);
  bool evaluateElementwise(mlir::Operation &op);
  bool evaluateTensor(mlir::Operation &op);
  bool evaluateScan(mlir::Operation &op);
  bool evaluateLinalg(mlir::Operation &op);
  bool evaluateControl(mlir::Operation &op);
  /// Of an op that is not understood.
  void evaluateUnknown(mlir::Operation &op);

  void evaluateFor(mlir::scf::ForOp op);
  void evaluateWhile(mlir::scf::WhileOp op);
  void evaluateIf(mlir::scf::IfOp op);
  void evaluateSwitch(mlir::scf::IndexSwitchOp op);
  void evaluateCall(mlir::func::CallOp op);
  /// The values with which the region is left, or nothing if it is not
  /// understood.
  std::optional<Nodes> evaluateRegion(mlir::Region &region);
  std::optional<Nodes> evaluateGraph(mlir::Region &region);
  /// Results that may be `a` or `b`, as a condition decides.
  Form choose(Node condition, const Form &a, const Form &b);
  /// A leaf for what may be either, and in a loop a later value of it.
  Form join(const Form &a, const Form &b);
  bool widen(llvm::SmallVectorImpl<Form> &carried, llvm::ArrayRef<Node> next);

  /// Nothing for types whose extents are not known.
  std::optional<Shape> shapeOf(mlir::Type type);
  Form unknownOf(mlir::Type type, Dependence dependence, bool readsEntry);
  std::optional<Form> constantForm(mlir::Attribute attr, mlir::Type type);
  std::optional<Form> elementwise(mlir::Operation &op, llvm::ArrayRef<Form> in,
                                  ShapeRef shape);
  std::optional<Form> sliceOf(mlir::tensor::ExtractSliceOp op, const Form &in);
  std::optional<Form> reduce(mlir::linalg::LinalgOp op, const Form &yielded,
                             const Form &accumulator, const Form &init,
                             mlir::AffineMap map);
  Form contract(const Form &a, const Form &b, ShapeRef space, unsigned keep);
  Nodes nodesOf(mlir::ValueRange values);
  void set(mlir::Value value, Form form, llvm::ArrayRef<Node> inputs);
  void setUnknown(mlir::Operation &op, Dependence dependence,
                  llvm::ArrayRef<Node> inputs);
  bool spend(int64_t ops = 1);

  mlir::Region &region;
  FormContext &forms;
  std::deque<FlowNode> &nodes;
  mlir::Value cut;
  llvm::DenseMap<mlir::Value, Node> values;
  /// The iteration space that scalars of a linalg body vary over.
  Shape space;
  llvm::SmallVector<mlir::Operation *> calls;
  unsigned nesting = 0;
  int64_t budget = 50000;
};

} // namespace prism::analysis

#endif // PRISM_LIB_ANALYSIS_STEPEVALUATOR_H
