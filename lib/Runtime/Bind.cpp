//===- Bind.cpp - Checks a call's arrays and builds its words --------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/Bind.h"
#include "Support.h"

#include <algorithm>
#include <cstring>

namespace prism::runtime {

std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    // An overflow is found by byteSize; here it must only not be undefined.
    if (__builtin_mul_overflow(strides[i], std::max<int64_t>(shape[i], 1),
                               &strides[i - 1]))
      strides[i - 1] = INT64_MAX;
  return strides;
}

std::optional<int64_t> byteSize(DType dtype,
                                const std::vector<int64_t> &shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t bytes = byteSize(dtype);
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  return bytes;
}

std::optional<int64_t> workItems(const Call &call, int64_t valueBlocks,
                                 Items kind) {
  int64_t items = call.sizes.sequences, each = 1;
  if (kind != Items::Sequences)
    each = call.sizes.segments - (kind == Items::InnerSegments);
  if (__builtin_mul_overflow(items, each, &items) ||
      __builtin_mul_overflow(items, call.valueHeads, &items) ||
      __builtin_mul_overflow(items, valueBlocks, &items))
    return std::nullopt;
  return items;
}

std::vector<int64_t> shapeOf(const ArgumentInfo &argument, const Sizes &sizes) {
  // A count that nothing can be added to is too large for an array anyway.
  int64_t offsets = sizes.sequences + (sizes.sequences < INT64_MAX);
  const int64_t extents[] = {
      0, sizes.batch, sizes.steps, sizes.sequences, offsets, sizes.segments};
  std::vector<int64_t> shape;
  for (const Dim &dim : argument.shape)
    shape.push_back(dim.kind == Dim::Number ? dim.number : extents[dim.kind]);
  return shape;
}

namespace {

/// An argument with the caller's array, or none.
struct Bound {
  const ArgumentInfo *info = nullptr;
  const Array *array = nullptr;
  std::vector<int64_t> strides; // in elements, as the words will have them
  uint64_t low = 0, high = 0;   // the bytes it covers: [low, high)
  bool isEmpty() const { return low == high; }
};

/// A size that the arguments share, and who said it first.
struct Unknown {
  const char *symbol;
  std::optional<int64_t> value = std::nullopt;
  const ArgumentInfo *source = nullptr;

  const std::string &argument() const { return source->name; }
  std::string origin() const;
};

std::string named(const std::string &argument) {
  return "argument " + quote(argument);
}

/// "argument 'q' has T = 65".
std::string claim(const ArgumentInfo &info, const char *symbol,
                  int64_t extent) {
  return named(info.name) + " has " + symbol + " = " + std::to_string(extent);
}

std::string Unknown::origin() const { return claim(*source, symbol, *value); }

/// Checks the arrays of one call. Every step leaves its complaint in
/// `failure` and says whether there was none. A right call is to cost little:
/// no text is made before something is wrong.
class Binder {
public:
  Binder(const EntryInfo &entry, const BindOptions &options)
      : entry(entry), options(options) {}

  bool match(const Bindings &bindings);
  bool require(bool written);
  bool checkArrays();
  bool unify();
  bool checkOffsets();
  bool checkOverlaps();
  Call call() const;

  Sizes sizes;
  Failure failure;

private:
  bool fail(const std::string &argument, std::string text,
            std::string nearest = "") {
    failure = {std::move(text), argument, std::move(nearest)};
    return false;
  }
  bool fail(const Bound &bound, std::string text) {
    return fail(bound.info->name, std::move(text));
  }
  bool failUnknown(const std::string &name);
  bool failShape(const Bound &bound, const std::string &why);
  bool checkShape(const Bound &bound);
  std::string swapHint(const Bound &bound) const;
  bool checkStrides(Bound &bound);
  bool checkReach(Bound &bound);
  bool checkSelfOverlap(const Bound &bound);
  bool note(Unknown &unknown, const Bound &bound, size_t axis);
  bool unifySequences();
  bool isUpdatedState(size_t written, size_t other) const;

  const EntryInfo &entry;
  const BindOptions &options;
  std::vector<Bound> bounds; // one per argument of the entry, in order
  Unknown batch{"B"}, steps{"T"}, sequences{"N"}, offsetCount{"N+1"};
};

bool Binder::match(const Bindings &bindings) {
  bounds.resize(entry.arguments.size());
  for (size_t i = 0; i < bounds.size(); ++i)
    bounds[i].info = &entry.arguments[i];
  for (const Binding &binding : bindings) {
    auto bound =
        std::find_if(bounds.begin(), bounds.end(), [&](const Bound &b) {
          return b.info->name == binding.name;
        });
    if (bound == bounds.end())
      return failUnknown(binding.name);
    if (bound->array)
      return fail(*bound, named(binding.name) + " is given twice");
    bound->array = &binding.array;
  }
  return true;
}

bool Binder::failUnknown(const std::string &name) {
  std::vector<std::string> names;
  for (const ArgumentInfo &argument : entry.arguments)
    names.push_back(argument.name);
  return fail(name,
              "entry " + quote(entry.name) + " has no " + named(name) +
                  didYouMean(name, names) + " (it has " + join(names) + ")",
              nearest(name, names));
}

bool Binder::require(bool written) {
  for (const Bound &bound : bounds)
    if (!bound.array && !bound.info->optional &&
        isWritten(bound.info->role) == written)
      return fail(bound, named(bound.info->name) + " is missing: expected " +
                             toString(bound.info->role) + " " +
                             toString(bound.info->dtype) + " " +
                             toString(bound.info->shape));
  return true;
}

bool Binder::checkArrays() {
  for (Bound &bound : bounds) {
    if (!bound.array)
      continue;
    if (bound.array->dtype != bound.info->dtype)
      return fail(bound, named(bound.info->name) + ": expected dtype " +
                             toString(bound.info->dtype) + ", found " +
                             toString(bound.array->dtype));
    if (!checkShape(bound) || !checkStrides(bound) || !checkReach(bound) ||
        !checkSelfOverlap(bound))
      return false;
  }
  return true;
}

bool Binder::failShape(const Bound &bound, const std::string &why) {
  return fail(bound, named(bound.info->name) + ": expected shape " +
                         toString(bound.info->shape) + ", found " +
                         showShape(bound.array->shape) + ": " + why);
}

/// Rank and fixed extents.
bool Binder::checkShape(const Bound &bound) {
  const std::vector<Dim> &expected = bound.info->shape;
  const std::vector<int64_t> &found = bound.array->shape;
  if (found.size() != expected.size())
    return failShape(bound, std::to_string(found.size()) +
                                " dimensions instead of " +
                                std::to_string(expected.size()));
  auto axis = [&](size_t i) {
    return "axis " + std::to_string(i) + " (" + bound.info->axes[i] + ") ";
  };
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] < 0)
      return failShape(bound, axis(i) + "is negative");
    if (expected[i].kind == Dim::Number && found[i] != expected[i].number)
      return failShape(bound, axis(i) + "must be " +
                                  std::to_string(expected[i].number) +
                                  swapHint(bound));
  }
  return true;
}

/// The commonest mistake has a name: time and heads in each other's place.
std::string Binder::swapHint(const Bound &bound) const {
  const std::string &axes = bound.info->axes;
  size_t t = axes.find('t'), h = axes.find('h');
  if (t == std::string::npos || h == std::string::npos)
    return "";
  std::vector<int64_t> swapped = bound.array->shape;
  std::swap(swapped[t], swapped[h]);
  for (size_t i = 0; i < swapped.size(); ++i)
    if (bound.info->shape[i].kind == Dim::Number &&
        swapped[i] != bound.info->shape[i].number)
      return "";
  std::string given = axes;
  std::swap(given[t], given[h]);
  return "; the array looks like " + quote(given) +
         ", this argument's axes are " + quote(axes);
}

bool Binder::checkStrides(Bound &bound) {
  const Array &array = *bound.array;
  bound.strides =
      array.strides.empty() ? rowMajorStrides(array.shape) : array.strides;
  if (bound.strides.size() != array.shape.size())
    return fail(bound, named(bound.info->name) + ": expected " +
                           std::to_string(array.shape.size()) +
                           " strides, found " +
                           std::to_string(bound.strides.size()));
  if (bound.strides.empty())
    return true;
  int64_t &last = bound.strides.back();
  char axis = bound.info->axes.back();
  // No element has another neighbour along an axis of one.
  if (array.shape.back() <= 1)
    last = 1;
  if (last != 1 && !std::strchr("bthn", axis))
    return fail(bound, named(bound.info->name) +
                           ": expected stride 1 along the last axis (" + axis +
                           "), found " + std::to_string(last));
  return true;
}

/// Computes the bytes that an array covers; they must exist.
bool Binder::checkReach(Bound &bound) {
  const Array &array = *bound.array;
  auto failHere = [&](const std::string &why) {
    return fail(bound, named(bound.info->name) + ": " + why);
  };
  std::optional<int64_t> bytes = byteSize(array.dtype, array.shape);
  int64_t size = byteSize(array.dtype);
  if (!bytes)
    return failHere("shape " + showShape(array.shape) +
                    " has more bytes than 64 bits count");
  if (*bytes == 0)
    return true;
  uint64_t address = reinterpret_cast<uint64_t>(array.data);
  if (!address)
    return failHere("expected an address, found null");
  if (address % static_cast<uint64_t>(size))
    return failHere("expected an address that is a multiple of " +
                    std::to_string(size) + " bytes, found one that is not");
  // In 128 bits nothing overflows: at most 8 products of 64 bits.
  __int128 low = address, high = static_cast<__int128>(address) + size;
  for (size_t i = 0; i < array.shape.size(); ++i) {
    __int128 reach =
        static_cast<__int128>(bound.strides[i]) * (array.shape[i] - 1) * size;
    (reach < 0 ? low : high) += reach;
  }
  if (low < 0 || high > static_cast<__int128>(UINT64_MAX))
    return failHere("strides " + showShape(bound.strides) +
                    " reach beyond the address space");
  bound.low = static_cast<uint64_t>(low);
  bound.high = static_cast<uint64_t>(high);
  return true;
}

/// An array that is written must not have two elements in one place. Checked
/// by the usual rule: each stride passes all that the smaller ones reach.
bool Binder::checkSelfOverlap(const Bound &bound) {
  if (!isWritten(bound.info->role) || bound.isEmpty())
    return true;
  std::vector<std::pair<uint64_t, int64_t>> axes;
  for (size_t i = 0; i < bound.strides.size(); ++i) {
    uint64_t stride = static_cast<uint64_t>(bound.strides[i]);
    if (bound.array->shape[i] > 1)
      axes.emplace_back(bound.strides[i] < 0 ? -stride : stride,
                        bound.array->shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  unsigned __int128 reach = 0;
  for (const auto &[stride, extent] : axes) {
    if (stride <= reach)
      return fail(bound, named(bound.info->name) +
                             ": is written, and its strides " +
                             showShape(bound.strides) +
                             " may put two elements in one place");
    reach += static_cast<unsigned __int128>(stride) *
             static_cast<uint64_t>(extent - 1);
  }
  return true;
}

/// One axis says what a size is; the first is believed, the others must agree.
bool Binder::note(Unknown &unknown, const Bound &bound, size_t axis) {
  int64_t extent = bound.array->shape[axis];
  if (!unknown.value) {
    unknown.value = extent;
    unknown.source = bound.info;
    return true;
  }
  if (*unknown.value == extent)
    return true;
  return fail(bound, claim(*bound.info, unknown.symbol, extent) + " (axis " +
                         std::to_string(axis) + " of " +
                         showShape(bound.array->shape) + "), but " +
                         unknown.origin());
}

bool Binder::unify() {
  Unknown *unknowns[] = {nullptr, &batch, &steps, &sequences, &offsetCount};
  std::optional<int64_t> fixedSteps;
  for (const Bound &bound : bounds) {
    for (size_t i = 0; i < bound.info->shape.size(); ++i) {
      const Dim &dim = bound.info->shape[i];
      if (dim.kind == Dim::Number && bound.info->axes[i] == 't')
        fixedSteps = dim.number;
      if (bound.array && dim.kind != Dim::Number &&
          !note(*unknowns[dim.kind], bound, i))
        return false;
    }
  }
  // An entry of one step may have no time axis at all.
  sizes.steps = steps.value.value_or(fixedSteps.value_or(1));
  return unifySequences();
}

/// N follows from the offsets, else from B.
bool Binder::unifySequences() {
  if (offsetCount.value) {
    if (*offsetCount.value < 1)
      return fail(offsetCount.argument(),
                  offsetCount.origin() + ", expected at least 1");
    if (batch.value && *batch.value != 1)
      return fail(batch.argument(),
                  batch.origin() +
                      ", expected B = 1: with offsets all sequences are packed "
                      "into one row");
    sizes.batch = 1;
    sizes.sequences = *offsetCount.value - 1;
    if (sequences.value && *sequences.value != sizes.sequences)
      return fail(sequences.argument(),
                  sequences.origin() + ", but " + offsetCount.origin() +
                      ", so N must be " + std::to_string(sizes.sequences));
    return true;
  }
  sizes.batch = batch.value.value_or(sequences.value.value_or(1));
  sizes.sequences = sizes.batch;
  if (sequences.value && *sequences.value != sizes.batch)
    return fail(sequences.argument(), sequences.origin() + ", but " +
                                          batch.origin() +
                                          " (without offsets N is B)");
  return true;
}

/// Reads the offsets: from 0, never falling, to T.
bool Binder::checkOffsets() {
  sizes.longest = sizes.steps;
  auto found = std::find_if(bounds.begin(), bounds.end(), [](const Bound &b) {
    return b.array && b.info->role == Role::Offsets;
  });
  if (found == bounds.end() || options.trustOffsets)
    return true;
  std::string start = named(found->info->name) + ": ";
  auto *data = static_cast<const int64_t *>(found->array->data);
  int64_t stride = found->strides[0];
  if (options.deviceMemory) {
    data = options.hostOffsets;
    stride = 1;
    if (!data)
      return fail(*found,
                  start + "expected a copy in host memory to check, or leave "
                          "to trust it, found neither");
  }
  if (data[0] != 0)
    return fail(*found, start + "element 0 must be 0, found " +
                            std::to_string(data[0]));
  sizes.longest = 0;
  for (int64_t i = 0; i < sizes.sequences; ++i) {
    int64_t begin = data[i * stride], end = data[(i + 1) * stride];
    if (end < begin)
      return fail(*found, start + "must not fall, found " +
                              std::to_string(begin) + " at element " +
                              std::to_string(i) + " and " +
                              std::to_string(end) + " at element " +
                              std::to_string(i + 1));
    sizes.longest = std::max(sizes.longest, end - begin);
  }
  int64_t last = data[sizes.sequences * stride];
  if (last != sizes.steps)
    return fail(*found, start + "the last element must be T = " +
                            std::to_string(sizes.steps) + ", found " +
                            std::to_string(last));
  return true;
}

/// Whether the written argument is a final state laid exactly over its own
/// initial state, which each work item reads before it writes.
bool Binder::isUpdatedState(size_t written, size_t other) const {
  const Bound &a = bounds[written], &b = bounds[other];
  auto rank = [&](size_t index, Role role) {
    return std::count_if(bounds.begin(),
                         bounds.begin() + static_cast<ptrdiff_t>(index),
                         [&](const Bound &x) { return x.info->role == role; });
  };
  return a.info->role == Role::FinalState &&
         b.info->role == Role::InitialState &&
         rank(written, Role::FinalState) == rank(other, Role::InitialState) &&
         a.array->data == b.array->data && a.strides == b.strides &&
         a.array->shape == b.array->shape && a.array->dtype == b.array->dtype;
}

bool Binder::checkOverlaps() {
  for (size_t i = 0; i < bounds.size(); ++i) {
    const Bound &a = bounds[i];
    if (!a.array || a.isEmpty() || !isWritten(a.info->role))
      continue;
    for (size_t j = 0; j < bounds.size(); ++j) {
      const Bound &b = bounds[j];
      if (i == j || !b.array || b.isEmpty() || a.low >= b.high ||
          b.low >= a.high || isUpdatedState(i, j) || isUpdatedState(j, i))
        continue;
      return fail(a, named(a.info->name) + " is written and overlaps " +
                         named(b.info->name) +
                         " (only a final state may be the same array as its "
                         "initial state)");
    }
  }
  return true;
}

Call Binder::call() const {
  // Present but without elements is not absent: such an argument needs an
  // address, which no kernel follows.
  alignas(64) static const char nowhere[64] = {};
  Call call;
  call.sizes = sizes;
  call.valueHeads = entry.valueHeads;
  call.arguments = static_cast<int64_t>(bounds.size());
  for (const Bound &bound : bounds) {
    const void *data = bound.array ? bound.array->data : nullptr;
    if (bound.array && !data)
      data = nowhere;
    call.words.push_back(reinterpret_cast<uint64_t>(data));
  }
  call.words.push_back(static_cast<uint64_t>(sizes.sequences));
  call.words.push_back(static_cast<uint64_t>(sizes.steps));
  for (const Bound &bound : bounds)
    for (size_t i = 0; i < bound.info->shape.size(); ++i)
      call.words.push_back(bound.array ? static_cast<uint64_t>(bound.strides[i])
                                       : 0);
  return call;
}

} // namespace

Result<Sizes> inferSizes(const EntryInfo &entry, const Bindings &bindings,
                         const BindOptions &options) {
  Binder binder(entry, options);
  if (binder.match(bindings) && binder.require(/*written=*/false) &&
      binder.checkArrays() && binder.unify() && binder.checkOffsets())
    return binder.sizes;
  return binder.failure;
}

Result<Call> bindCall(const EntryInfo &entry, const Bindings &bindings,
                      const BindOptions &options) {
  Binder binder(entry, options);
  if (binder.match(bindings) && binder.require(/*written=*/false) &&
      binder.require(/*written=*/true) && binder.checkArrays() &&
      binder.unify() && binder.checkOffsets() && binder.checkOverlaps())
    return binder.call();
  return binder.failure;
}

} // namespace prism::runtime
