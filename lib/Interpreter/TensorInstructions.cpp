//===- TensorInstructions.cpp - tensor ops on f64 values ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

/// A place from 0 to `last`, the nearest there is; of a NaN the first.
static int64_t placeOf(double value, int64_t last) {
  return value > 0 ? int64_t(std::min(value, double(last))) : 0;
}

namespace {
/// Where an element lies whose places on the axes are values.
class ElementPlace {
public:
  ElementPlace(ArrayRef<Slot> indices, ArrayRef<int64_t> shape) {
    for (auto [slot, extent] : llvm::zip_equal(indices, shape))
      this->indices.push_back({slot, extent});
  }
  int64_t in(double *m) const {
    int64_t at = 0;
    for (auto [index, extent] : indices)
      at = at * extent + placeOf(m[index.offset], extent - 1);
    return at;
  }

private:
  SmallVector<std::pair<Slot, int64_t>> indices;
};
} // namespace

static Instruction makeExtract(tensor::ExtractOp op, ArrayRef<Slot> in,
                               Slot out) {
  ElementPlace place(
      in.drop_front(),
      cast<RankedTensorType>(op.getTensor().getType()).getShape());
  return [tensor = in[0], place, out](double *m) {
    m[out.offset] = m[tensor.offset + place.in(m)];
  };
}

namespace {
/// Where the elements of a slice lie in the whole; offsets may be values.
class SlicePlaces {
public:
  SlicePlaces(OffsetSizeAndStrideOpInterface op, ArrayRef<int64_t> shape,
              ArrayRef<Slot> dynamicOffsets) {
    const Slot *next = dynamicOffsets.begin();
    places = {0};
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      int64_t offset = op.getStaticOffsets()[axis];
      int64_t size = op.getStaticSizes()[axis];
      int64_t step = op.getStaticStrides()[axis];
      for (Offset &before : offsets)
        before.stride *= extent;
      if (ShapedType::isDynamic(offset)) {
        int64_t span = size > 0 ? (size - 1) * step + 1 : 0;
        offsets.push_back({*next++, 1, extent - span});
        offset = 0;
      }
      std::vector<int64_t> deeper;
      for (int64_t base : places)
        for (int64_t i = 0; i < size; ++i)
          deeper.push_back(base * extent + offset + i * step);
      places = std::move(deeper);
    }
  }

  /// Sizes and strides are known now.
  static bool isSupported(OffsetSizeAndStrideOpInterface op) {
    return llvm::none_of(op.getStaticSizes(), ShapedType::isDynamic) &&
           llvm::none_of(op.getStaticStrides(), ShapedType::isDynamic);
  }
  int64_t base(double *m) const {
    int64_t at = 0;
    for (const Offset &offset : offsets)
      at += placeOf(m[offset.slot.offset], offset.last) * offset.stride;
    return at;
  }

  std::vector<int64_t> places;

private:
  struct Offset {
    Slot slot;
    int64_t stride, last;
  };
  SmallVector<Offset> offsets;
};
} // namespace

/// The result may drop unit axes, which does not change the order of elements.
static Instruction makeExtractSlice(tensor::ExtractSliceOp op,
                                    ArrayRef<Slot> in, Slot out) {
  if (!SlicePlaces::isSupported(op))
    return {};
  SlicePlaces slice(op, op.getSourceType().getShape(), in.drop_front());
  return [a = in[0], out, slice](double *m) {
    int64_t base = slice.base(m);
    for (int64_t i = 0; i < out.size; ++i) {
      assert(base + slice.places[i] < a.size && "slice beyond its tensor");
      m[out.offset + i] = m[a.offset + base + slice.places[i]];
    }
  };
}

static Instruction makeInsertSlice(tensor::InsertSliceOp op, ArrayRef<Slot> in,
                                   Slot out) {
  if (!SlicePlaces::isSupported(op))
    return {};
  SlicePlaces slice(op, op.getType().getShape(), in.drop_front(2));
  return [part = in[0], whole = in[1], out, slice](double *m) {
    llvm::copy(whole.in(m), out.in(m).begin());
    int64_t base = slice.base(m);
    for (int64_t i = 0; i < part.size; ++i) {
      assert(base + slice.places[i] < out.size && "slice beyond its tensor");
      m[out.offset + base + slice.places[i]] = m[part.offset + i];
    }
  };
}

static Instruction makeInsert(tensor::InsertOp op, ArrayRef<Slot> in,
                              Slot out) {
  ElementPlace place(in.drop_front(2), op.getType().getShape());
  return [element = in[0], whole = in[1], out, place](double *m) {
    llvm::copy(whole.in(m), out.in(m).begin());
    m[out.offset + place.in(m)] = m[element.offset];
  };
}

static Instruction makeConcat(tensor::ConcatOp op, ArrayRef<Slot> in,
                              Slot out) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  int64_t outer = 1;
  for (int64_t extent : shape.take_front(op.getDim()))
    outer *= extent;
  return [outer, parts = SmallVector<Slot>(in), out](double *m) {
    double *to = m + out.offset;
    for (int64_t o = 0; o < outer; ++o)
      for (const Slot &part : parts) {
        int64_t size = part.size / outer;
        to = std::copy_n(m + part.offset + o * size, size, to);
      }
  };
}

Instruction interpreter::makeTensorInstruction(Operation &op, ArrayRef<Slot> in,
                                               Slot out) {
  return llvm::TypeSwitch<Operation *, Instruction>(&op)
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
            tensor::CastOp>([&](auto) -> Instruction {
        return [a = in[0], out](double *m) {
          llvm::copy(a.in(m), out.in(m).begin());
        };
      })
      .Case([&](tensor::SplatOp) -> Instruction {
        return
            [a = in[0], out](double *m) { llvm::fill(out.in(m), m[a.offset]); };
      })
      .Case([&](tensor::FromElementsOp) -> Instruction {
        return [elements = SmallVector<Slot>(in), out](double *m) {
          for (auto [i, element] : llvm::enumerate(elements))
            m[out.offset + i] = m[element.offset];
        };
      })
      .Case([&](tensor::ExtractOp e) { return makeExtract(e, in, out); })
      .Case([&](tensor::ExtractSliceOp s) {
        return makeExtractSlice(s, in, out);
      })
      .Case(
          [&](tensor::InsertSliceOp s) { return makeInsertSlice(s, in, out); })
      .Case([&](tensor::InsertOp i) { return makeInsert(i, in, out); })
      .Case([&](tensor::DimOp d) -> Instruction {
        auto shape = cast<RankedTensorType>(d.getSource().getType()).getShape();
        return [axis = in[1], out,
                extents = SmallVector<int64_t>(shape)](double *m) {
          m[out.offset] =
              double(extents[placeOf(m[axis.offset], extents.size() - 1)]);
        };
      })
      .Case([&](tensor::ConcatOp c) { return makeConcat(c, in, out); })
      .Default([](Operation *) { return Instruction(); });
}
