//===- ScanCall.cpp - The arrays of one op over time ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ScanCall.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Window::Window(ArrayRef<int64_t> shape, StringRef axes) {
  int64_t stride = 1;
  SmallVector<std::pair<int64_t, int64_t>> features; // extent, stride
  for (int i = int(axes.size()) - 1; i >= 0; --i) {
    if (axes[i] == 'b' || axes[i] == 'n')
      outer = stride;
    else if (axes[i] == 't')
      time = stride;
    else if (axes[i] == 'h')
      head = stride, heads = shape[i];
    else
      features.insert(features.begin(), {shape[i], stride});
    stride *= shape[i];
  }
  for (auto [extent, step] : features) {
    std::vector<int64_t> next;
    for (int64_t base : places)
      for (int64_t i = 0; i < extent; ++i)
        next.push_back(base + i * step);
    places = std::move(next);
  }
}

void Window::gather(const Array &array, int64_t base,
                    MutableArrayRef<double> to) const {
  for (auto [x, place] : llvm::zip_equal(to, places))
    x = array.data[base + place];
}

void Window::scatter(ArrayRef<double> from, int64_t base, Array &array) const {
  for (auto [x, place] : llvm::zip_equal(from, places))
    array.data[base + place] = x;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static StringRef axesOf(ArrayAttr axes, unsigned i) {
  return cast<StringAttr>(axes[i]).getValue();
}

LogicalResult ScanCall::bindPlain(Value value, StringRef what, unsigned index,
                                  bool mayBeAbsent, const Bindings &bindings,
                                  const Array *&array) {
  auto found = bindings.find(value);
  if (found == bindings.end())
    return op->emitError("the interpreter has no value for ")
           << what << " " << index;
  array = found->second;
  if (!array && !mayBeAbsent)
    return op->emitError() << what << " " << index << " may not be absent";
  return success();
}

LogicalResult ScanCall::bind(ValueRange values, ArrayAttr axes, StringRef what,
                             bool mayBeAbsent, const Bindings &bindings,
                             SmallVectorImpl<BoundOperand> &bound) {
  for (auto [i, value] : llvm::enumerate(values)) {
    BoundOperand &operand = bound.emplace_back();
    if (failed(bindPlain(value, what, i, mayBeAbsent, bindings, operand.array)))
      return failure();
    if (!operand.array)
      continue;
    ArrayRef<int64_t> shape = operand.array->shape;
    if (failed(settle(shape, axesOf(axes, i), what + " " + Twine(i))))
      return failure();
    operand.window = Window(shape, axesOf(axes, i));
  }
  return success();
}

LogicalResult ScanCall::bindOffsets(Value value, const Bindings &bindings) {
  return value ? bindPlain(value, "offsets", 0, true, bindings, offsets)
               : success();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Every b, t and n has one extent throughout.
LogicalResult ScanCall::settle(ArrayRef<int64_t> shape, StringRef axes,
                               const Twine &what) {
  for (auto [extent, letter] : llvm::zip_equal(shape, axes)) {
    std::optional<int64_t> *known = extentOf(letter);
    if (!known || ShapedType::isDynamic(extent))
      continue;
    if (*known && **known != extent)
      return op->emitError()
             << what << " has extent " << extent << " on axis '"
             << std::string(1, letter) << "', expected " << **known;
    *known = extent;
  }
  return success();
}

LogicalResult ScanCall::settle(ValueRange results, ArrayAttr axes,
                               StringRef what) {
  for (auto [i, value] : llvm::enumerate(results))
    if (failed(settle(cast<RankedTensorType>(value.getType()).getShape(),
                      axesOf(axes, i), what + " " + Twine(i))))
      return failure();
  return success();
}

LogicalResult ScanCall::settleSequences() {
  assert(steps && "the verifier asks for an input with axis t");
  if (offsets)
    return checkOffsets();
  if (!rows)
    rows = sequences.value_or(1);
  if (sequences.value_or(*rows) != *rows)
    return op->emitError(
               "without offsets every batch row is a sequence, found ")
           << *rows << " rows and " << *sequences << " states";
  sequences = rows;
  return success();
}

LogicalResult ScanCall::checkOffsets() {
  if (rows.value_or(1) != 1)
    return op->emitError("packed sequences need a batch of 1, found ") << *rows;
  rows = 1;
  const std::vector<double> &at = offsets->data;
  if (at.empty() || at.front() != 0.0 || at.back() != double(*steps) ||
      !llvm::is_sorted(at))
    return op->emitError("offsets must rise from 0 to the number of steps, ")
           << *steps;
  int64_t count = int64_t(at.size()) - 1;
  if (sequences.value_or(count) != count)
    return op->emitError("offsets tell ")
           << count << " sequences, the states have " << *sequences;
  sequences = count;
  return success();
}

void ScanCall::makeResults(ValueRange values, ArrayAttr axes,
                           std::vector<Array> &results,
                           SmallVectorImpl<Window> &windows) {
  for (auto [i, value] : llvm::enumerate(values)) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    for (auto [extent, letter] : llvm::zip_equal(shape, axesOf(axes, i)))
      if (std::optional<int64_t> *known = extentOf(letter))
        extent = **known;
    results.emplace_back(shape);
    windows.emplace_back(shape, axesOf(axes, i));
  }
}

Rows ScanCall::getRows(int64_t sequence) const {
  if (!offsets)
    return {sequence, 0, *steps};
  return {0, int64_t(offsets->data[sequence]),
          int64_t(offsets->data[sequence + 1])};
}
