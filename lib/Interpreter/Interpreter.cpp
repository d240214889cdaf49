//===- Interpreter.cpp - The f64 oracle -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Binds arrays to the arguments of the entry, evaluates its convolutions,
// recurrences and prefix scans, and collects the results.
//
//===----------------------------------------------------------------------===//

#include "Prism/Interpreter/Interpreter.h"
#include "Prism/Dialect/Scan/IR/StepIndices.h"
#include "ScanRuns.h"
#include "mlir/IR/Matchers.h"
#include <deque>

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}

Array::Array(ArrayRef<int64_t> shape)
    : shape(shape), data(product(shape), 0.0) {}
Array::Array(ArrayRef<int64_t> shape, std::vector<double> data)
    : shape(shape), data(std::move(data)) {}

static std::string nameOr(Attribute attr, const char *kind, unsigned index) {
  if (auto name = dyn_cast_if_present<StringAttr>(attr))
    return name.str();
  return kind + std::to_string(index);
}

std::string interpreter::getArgumentName(func::FuncOp entry, unsigned index) {
  return nameOr(entry.getArgAttr(index, scan::kNameAttr), "arg", index);
}
std::string interpreter::getResultName(func::FuncOp entry, unsigned index) {
  return nameOr(entry.getResultAttr(index, scan::kNameAttr), "result", index);
}

static LogicalResult checkNames(func::FuncOp entry, const Arrays &inputs) {
  SmallVector<std::string> known;
  for (unsigned i = 0, e = entry.getNumArguments(); i < e; ++i)
    known.push_back(getArgumentName(entry, i));
  for (const auto &input : inputs) {
    StringRef name = input.getKey();
    if (llvm::is_contained(known, name))
      continue;
    InFlightDiagnostic diag = entry.emitError("has no argument '")
                              << name << "'";
    auto nearest = llvm::min_element(known, [&](StringRef a, StringRef b) {
      return name.edit_distance(a) < name.edit_distance(b);
    });
    if (nearest != known.end() && name.edit_distance(*nearest) <= 3)
      diag << "; did you mean '" << *nearest << "'?";
    return diag;
  }
  return success();
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") +
            (ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
  return text.empty() ? "no axes" : text;
}

static LogicalResult checkShape(func::FuncOp entry, StringRef name, Type type,
                                const Array &array) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  ArrayRef<int64_t> want;
  if (tensor)
    want = tensor.getShape();
  bool fits = want.size() == array.shape.size();
  for (auto [wanted, found] : llvm::zip(want, array.shape))
    fits &= found >= 0 && (ShapedType::isDynamic(wanted) || wanted == found);
  if (!fits)
    return entry.emitError("argument '")
           << name << "' expects shape " << shapeText(want) << ", found "
           << shapeText(array.shape);
  if (int64_t(array.data.size()) != product(array.shape))
    return entry.emitError("argument '")
           << name << "' of shape " << shapeText(array.shape) << " holds "
           << array.data.size() << " elements";
  return success();
}

/// Binds every argument to its array, or to null if it is absent.
static LogicalResult bindArguments(func::FuncOp entry, const Arrays &inputs,
                                   Bindings &bindings) {
  if (failed(checkNames(entry, inputs)))
    return failure();
  for (BlockArgument argument : entry.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::string name = getArgumentName(entry, index);
    auto found = inputs.find(name);
    if (found != inputs.end()) {
      if (failed(checkShape(entry, name, argument.getType(), found->second)))
        return failure();
      bindings[argument] = &found->second;
    } else if (entry.getArgAttr(index, scan::kOptionalAttr)) {
      bindings[argument] = nullptr;
    } else {
      return entry.emitError("argument '") << name << "' is missing";
    }
  }
  return success();
}

/// A dense float or integer constant of the entry's body as an array.
static std::optional<Array> readConstant(Operation &op) {
  DenseElementsAttr dense;
  if (!matchPattern(&op, m_Constant(&dense)))
    return std::nullopt;
  Array array(dense.getType().getShape());
  if (isa<FloatType>(dense.getElementType()))
    for (auto [x, value] :
         llvm::zip_equal(array.data, dense.getValues<APFloat>())) {
      APFloat wide = value;
      bool loses = false;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
      x = wide.convertToDouble();
    }
  else
    for (auto [x, value] :
         llvm::zip_equal(array.data, dense.getValues<APInt>()))
      x = double(value.getSExtValue());
  return array;
}

static FailureOr<std::vector<Array>>
runOverTime(Operation &op, const Bindings &bindings, JoinOrder order) {
  if (auto convolution = dyn_cast<scan::ShortConvolutionOp>(op))
    return runShortConvolution(convolution, bindings);
  if (auto prefix = dyn_cast<scan::PrefixOp>(op))
    return runPrefix(prefix, bindings, order);
  return runRecurrence(cast<scan::RecurrenceOp>(op), bindings);
}

FailureOr<Arrays> interpreter::evaluate(func::FuncOp entry,
                                        const Arrays &inputs, JoinOrder order) {
  if (entry.isExternal() || !entry.getBody().hasOneBlock())
    return entry.emitError("the interpreter evaluates functions of one block");
  Bindings bindings;
  if (failed(scan::checkIndices(entry)) ||
      failed(bindArguments(entry, inputs, bindings)))
    return failure();

  // Arrays that ops of the body make; their addresses must stay.
  std::deque<Array> made;
  for (Operation &op : entry.getBody().front().without_terminator()) {
    if (isa<scan::RecurrenceOp, scan::PrefixOp, scan::ShortConvolutionOp>(op)) {
      FailureOr<std::vector<Array>> results = runOverTime(op, bindings, order);
      if (failed(results))
        return failure();
      for (auto [value, array] : llvm::zip_equal(op.getResults(), *results))
        bindings[value] = &made.emplace_back(std::move(array));
    } else if (std::optional<Array> constant = readConstant(op)) {
      bindings[op.getResult(0)] = &made.emplace_back(std::move(*constant));
    } else if (!op.hasTrait<OpTrait::ConstantLike>()) {
      // Scalar constants are read where they are used.
      return op.emitError("the interpreter has no evaluation of '")
             << op.getName() << "' outside a recurrence or prefix scan";
    }
  }

  Arrays outputs;
  auto yield = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
    const Array *array = bindings.lookup(value);
    if (!array)
      return yield.emitError("result '")
             << getResultName(entry, i) << "' has no value";
    outputs[getResultName(entry, i)] = *array;
  }
  return outputs;
}
