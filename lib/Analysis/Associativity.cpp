//===- Associativity.cpp - Whether a scan may be joined in any order ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/Associativity.h"
#include "Polynomial.h"
#include "StepEvaluator.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

namespace {
/// Evaluates `agg` on forms.
class Aggregation {
public:
  explicit Aggregation(scan::PrefixOp op) : op(op), forms(op.getContext()) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(op.getAgg(), used);
    // Constants, and what has no extents to compute with, are left to the
    // evaluator.
    for (Value value : used) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      if (!matchPattern(value, m_Constant()) &&
          (value.getType().isIntOrIndexOrFloat() ||
           (tensor && tensor.hasStaticShape())))
        captured.push_back({value, leafOf(value.getType())});
    }
  }

  using Element = SmallVector<Form>;

  /// An element that nothing is known of.
  Element makeElement() {
    Element element;
    for (unsigned i = 0; i < op.getNumComponents(); ++i)
      element.push_back(leafOf(op.getComponentType(i)));
    return element;
  }

  Element join(const Element &older, const Element &newer) {
    StepEvaluator evaluator(op.getAgg(), forms, nodes, /*cut=*/{});
    Block &block = op.getAgg().front();
    unsigned components = op.getNumComponents();
    for (unsigned i = 0; i < components; ++i) {
      evaluator.bind(block.getArgument(i), older[i]);
      evaluator.bind(block.getArgument(components + i), newer[i]);
    }
    // What is captured is the same each time.
    for (auto &[value, form] : captured)
      evaluator.bind(value, form);
    evaluator.evaluateBlock(block);
    Element result;
    for (Value value : scan::PrefixOp::getYield(op.getAgg()).getValues())
      result.push_back(evaluator.get(value)->form);
    return result;
  }

private:
  Form leafOf(Type type) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    return forms.leaf(shaped ? shaped.getShape() : ArrayRef<int64_t>(),
                      Dependence::none);
  }

  scan::PrefixOp op;
  FormContext forms;
  std::deque<FlowNode> nodes;
  SmallVector<std::pair<Value, Form>> captured;
};
} // namespace

bool analysis::isProvedAssociative(scan::PrefixOp op) {
  Aggregation agg(op);
  Aggregation::Element a = agg.makeElement(), b = agg.makeElement(),
                       c = agg.makeElement();
  Aggregation::Element left = agg.join(agg.join(a, b), c),
                       right = agg.join(a, agg.join(b, c));
  return llvm::all_of(llvm::zip_equal(left, right), [&](auto pair) {
    auto &[x, y] = pair;
    if (isEqual(x, y))
      return true;
    PolynomialBuilder builder(op.getContext());
    std::optional<std::string> first = builder.keyOf(x),
                               second = builder.keyOf(y);
    return first && second && *first == *second;
  });
}

Associativity analysis::associativityOf(scan::PrefixOp op) {
  return isProvedAssociative(op) ? Associativity::proof
         : op.getAssociative()   ? Associativity::declaration
                                 : Associativity::no;
}

StringRef analysis::stringify(Associativity associativity) {
  return associativity == Associativity::proof         ? "by proof"
         : associativity == Associativity::declaration ? "by declaration"
                                                       : "no";
}

std::string analysis::describeClass(Associativity associativity) {
  if (associativity == Associativity::no)
    return "not associative, the tree is part of the model: SPD-(n, log n): "
           "work n, depth log n, memory log n";
  return ("associative " + stringify(associativity) +
          ": SPD-(n, 1): work n, depth log n, memory 1")
      .str();
}
