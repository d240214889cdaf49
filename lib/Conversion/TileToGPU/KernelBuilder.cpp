//===- KernelBuilder.cpp - What both GPU strategies share -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <utility>

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

/// A tensor map's size and alignment.
static constexpr int64_t kMapBytes = 128, kMapAlignment = 64;

LLVM::LLVMFuncOp KernelBuilder::createKernel(StringRef symbol, int64_t threads,
                                             int64_t tensorMaps,
                                             int64_t cluster) {
  MLIRContext *ctx = b.getContext();
  numThreads = threads;
  int64_t numWords = program.getArgumentTypes().size() + 2;
  for (unsigned i = 0, e = program.getArgumentTypes().size(); i < e; ++i) {
    firstStride.push_back(numWords);
    numWords += program.getArgument_(i).getAxes().size();
  }
  segmentsWord = numWords;
  if (program.getSegments())
    ++numWords;
  // A word of flags, and the maps.
  int64_t alignment = 8;
  if (tensorMaps) {
    flagsWord = numWords;
    mapsByte = llvm::alignTo((numWords + 1) * 8, kMapAlignment);
    numWords = (mapsByte + tensorMaps * kMapBytes) / 8;
    alignment = kMapAlignment;
  }
  Type wordArray = LLVM::LLVMArrayType::get(b.getI64Type(), numWords);
  auto pointer = LLVM::LLVMPointerType::get(ctx);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ctx), {pointer});
  b.setInsertionPoint(program);
  kernel = LLVM::LLVMFuncOp::create(b, symbol, type);
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  if (cluster > 1)
    kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(cluster), 1, 1}));
  kernel.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                    TypeAttr::get(wordArray));
  kernel.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                    b.getI64IntegerAttr(alignment));
  kernel.setArgAttr(0, NVVM::NVVMDialect::getGridConstantAttrName(),
                    b.getUnitAttr());
  b.setInsertionPointToStart(kernel.addEntryBlock(b));
  words = kernel.getArgument(0);
  threadId = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  blockId = b.wide(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  return kernel;
}

void KernelBuilder::finish() { LLVM::ReturnOp::create(b, ValueRange()); }

Value KernelBuilder::word(int64_t index) {
  Value address =
      LLVM::GEPOp::create(b, words.getType(), b.getI64Type(), words,
                          ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(index))});
  return LLVM::LoadOp::create(b, b.getI64Type(), address);
}

Value KernelBuilder::countItems() {
  Value sequences = word(program.getArgumentTypes().size());
  if (Value each = segmentsOfSequence())
    sequences = b.mul(sequences, each);
  return b.mul(sequences,
               b.i64(program.getValueHeads() * program.getValueBlocks()));
}

/// How many segments of a sequence are work items, i64; null where it is whole.
Value KernelBuilder::segmentsOfSequence() {
  switch (program.getSegmentItems()) {
  case SegmentItems::All:
    return word(segmentsWord);
  case SegmentItems::Inner:
    return b.sub(word(segmentsWord), b.i64(1));
  case SegmentItems::None:
  case SegmentItems::Scan:
    return {};
  }
  llvm_unreachable("unknown items");
}

/// The blocks of a cluster follow each other: they share all but the column.
KernelBuilder::Item KernelBuilder::takeApart(Value number) {
  int64_t blocks = program.getValueBlocks(), heads = program.getValueHeads();
  Value pair = b.divide(number, blocks);
  Item item;
  item.firstColumn =
      b.mul(b.remainder(number, blocks), b.i64(program.getValueBlock()));
  item.head = b.remainder(pair, heads);
  item.sequence = b.divide(pair, heads);
  if (Value each = segmentsOfSequence()) {
    item.segment = arith::RemUIOp::create(b, item.sequence, each);
    item.sequence = arith::DivUIOp::create(b, item.sequence, each);
  }
  item.batch = item.sequence;
  return item;
}

void KernelBuilder::enterItem(Value number, bool isUnpacked) {
  itemNumber = number;
  item = takeApart(number);
  readLength(isUnpacked);
  cutSegment();
  accesses.clear();
  for (unsigned i = 0, e = program.getArgumentTypes().size(); i < e; ++i)
    accesses.push_back(locate(i, item));
}

/// The steps become the segment's, a scan's the segments. In reversed time the
/// first segment has the last rows.
void KernelBuilder::cutSegment() {
  if (!program.getSegments())
    return;
  segments = word(segmentsWord);
  if (!item.segment) {
    steps = segments;
    return;
  }
  int64_t chunk = program.getChunk();
  Value chunks = b.divide(b.add(steps, b.i64(chunk - 1)), chunk);
  Value each = arith::DivUIOp::create(
      b, b.add(chunks, b.sub(segments, b.i64(1))), segments);
  Value perSegment = b.mul(each, b.i64(chunk));
  Value first = b.minimum(b.mul(item.segment, perSegment), steps),
        end = b.minimum(b.add(first, perSegment), steps);
  firstRow = b.add(firstRow, program.getReverse() ? b.sub(steps, end) : first);
  steps = b.sub(end, first);
}

std::optional<unsigned> KernelBuilder::offsetsArgument() {
  for (unsigned i = 0, e = program.getArgumentTypes().size(); i < e; ++i)
    if (program.getArgument_(i).getRole().getValue() == "offsets")
      return i;
  return std::nullopt;
}

Value KernelBuilder::hasOffsets() {
  std::optional<unsigned> argument = offsetsArgument();
  if (!argument)
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, word(*argument),
                               b.i64(0));
}

/// Without offsets sequence s is batch row s with T steps; with them it is the
/// rows offsets[s] .. offsets[s + 1] of batch row 0.
void KernelBuilder::readLength(bool isUnpacked) {
  steps = word(program.getArgumentTypes().size() + 1);
  firstRow = b.i64(0);
  isPacked = isUnpacked ? Value() : hasOffsets();
  if (!isPacked)
    return;
  unsigned argument = *offsetsArgument();
  Type i64 = b.getI64Type();
  auto read = [&](Value at) -> Value {
    auto global = LLVM::LLVMPointerType::get(b.getContext(), 1);
    Value pointer = LLVM::IntToPtrOp::create(b, global, word(argument));
    Value address = LLVM::GEPOp::create(b, global, i64, pointer,
                                        ArrayRef<LLVM::GEPArg>{at});
    return LLVM::LoadOp::create(b, i64, address);
  };
  auto choice = scf::IfOp::create(b, TypeRange{i64, i64, i64}, isPacked,
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  Value stride = word(firstStride[argument]);
  Value first = read(b.mul(item.sequence, stride));
  Value last = read(b.mul(b.add(item.sequence, b.i64(1)), stride));
  scf::YieldOp::create(b, ValueRange{first, b.sub(last, first), b.i64(0)});
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, ValueRange{firstRow, steps, item.batch});
  b.setInsertionPointAfter(choice);
  firstRow = choice.getResult(0);
  steps = choice.getResult(1);
  item.batch = choice.getResult(2);
}

/// Value head h uses head floor(h * heads / value_heads) of an argument.
Value KernelBuilder::headOf(ArgumentAttr argument, const Item &item) {
  int64_t heads = argument.getHeads(), valueHeads = program.getValueHeads();
  if (heads == valueHeads)
    return item.head;
  return b.divide(b.mul(item.head, b.i64(heads)), valueHeads);
}

KernelBuilder::Access KernelBuilder::locate(unsigned i, const Item &item,
                                            Value zero) {
  Access access;
  ArgumentAttr argument = program.getArgument_(i);
  auto view = cast<ViewType>(program.getArgumentTypes()[i]);
  if (argument.getRole().getValue() == "offsets")
    return access;
  auto own = [&](Value word) {
    return zero ? b.add(word, b.wide(zero)) : word;
  };
  Value base = own(word(i));
  if (argument.getOptional())
    access.present =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, base, b.i64(0));
  if (item.segment && argument.getRole().getValue() == "final_state")
    access.present =
        b.both(access.present,
               arith::CmpIOp::create(b, arith::CmpIPredicate::eq, item.segment,
                                     b.sub(segments, b.i64(1))));
  bool isIntermediate = argument.getRole().getValue() == kIntermediate;
  Value offset = b.i64(0);
  StringRef axes = argument.getAxes().getValue();
  SmallVector<Value, 3> features;
  Value time;
  for (auto [position, letter] : llvm::enumerate(axes)) {
    bool unit = isFeatureAxis(letter) && position + 1 == axes.size();
    Value stride = unit ? Value() : own(word(firstStride[i] + position));
    auto advance = [&](Value index) {
      offset = b.add(offset, b.mul(index, stride));
    };
    if (letter == 'b') {
      advance(item.batch);
    } else if (letter == 'n') {
      advance(item.sequence);
    } else if (letter == 'h') {
      advance(headOf(argument, item));
    } else if (letter == 't') {
      advance(own(firstRow));
      time = stride;
    } else if (isIntermediate && letter == 's') {
      if (item.segment && !view.hasTime())
        advance(item.segment);
      time = stride; // of all segments
    } else {
      features.push_back(stride);
    }
  }
  if (view.hasTime()) // a parameter is the same at every step
    access.strides.push_back(time ? time : b.i64(0));
  access.strides.append(features);
  auto global = LLVM::LLVMPointerType::get(b.getContext(), 1);
  Value pointer = LLVM::IntToPtrOp::create(b, global, base);
  access.pointer = LLVM::GEPOp::create(b, global, view.getElementType(),
                                       pointer, ArrayRef<LLVM::GEPArg>{offset});
  return access;
}

bool KernelBuilder::cloneScalarOp(Operation *op) {
  if (isa<LengthOp, ValueOffsetOp>(op)) {
    Value value = isa<LengthOp>(op) ? steps : item.firstColumn;
    scalars.map(op->getResult(0),
                arith::IndexCastOp::create(b, b.getIndexType(), value));
    return true;
  }
  if (auto sum = dyn_cast<SumStepsOp>(op)) {
    scalars.map(op->getResult(0), sumSteps(sum));
    return true;
  }
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (op->getNumRegions() != 0 ||
      !llvm::all_of(op->getResultTypes(), isScalar) ||
      !llvm::all_of(op->getOperandTypes(), isScalar) ||
      op->getNumResults() == 0)
    return false;
  b.clone(*op, scalars);
  return true;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<Value, 3> KernelBuilder::viewIndices(const Slice &slice,
                                                 ValueRange local) {
  SmallVector<Value, 3> indices;
  for (Value offset : slice.offsets)
    indices.push_back(b.wide(scalars.lookup(offset)));
  for (auto [axis, index] : llvm::zip_equal(slice.axisOfTile, local)) {
    if (axis != slice.axisOfTile.front() || slice.ranks == 1) {
      indices[axis] = b.add(indices[axis], b.wide(index));
      continue;
    }
    Value step = b.divide(index, slice.ranks),
          rank = b.remainder(index, slice.ranks);
    indices[axis] = b.add(indices[axis], b.wide(step));
    indices[slice.rankAxis] = b.add(indices[slice.rankAxis], b.wide(rank));
  }
  return indices;
}

Value KernelBuilder::axisInside(const Slice &slice, int64_t axis, Value index) {
  auto view = cast<ViewType>(slice.view.getType());
  if (axis == 0 && view.hasTime())
    return b.below(index, steps);
  if (slice.isWhole(axis, program))
    return {};
  return b.below(index, b.i64(view.getShape()[axis]));
}

Value KernelBuilder::present(const Slice &slice) {
  return accesses[slice.view.getArgNumber()].present;
}

Value KernelBuilder::indicesInside(const Slice &slice, ValueRange indices,
                                   unsigned first) {
  Value inside;
  for (unsigned axis = first, e = indices.size(); axis < e; ++axis)
    inside = b.both(inside, axisInside(slice, axis, indices[axis]));
  return inside;
}

Value KernelBuilder::elementInside(const Slice &slice, ValueRange indices) {
  Value there = present(slice);
  return b.both(there, indicesInside(slice, indices));
}

Value KernelBuilder::addressOf(const Slice &slice, ValueRange indices) {
  auto view = cast<ViewType>(slice.view.getType());
  const Access &access = accesses[slice.view.getArgNumber()];
  Value offset;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value step = index;
    if (axis == 0 && view.hasTime() && program.getReverse())
      step = b.sub(b.sub(steps, b.i64(1)), index);
    if (Value stride = access.strides[axis])
      step = b.mul(step, stride);
    offset = offset ? b.add(offset, step) : step;
  }
  return LLVM::GEPOp::create(b, access.pointer.getType(), view.getElementType(),
                             access.pointer, ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelBuilder::addressOfSlab(Value map, Value segment, Value slab) {
  const Access &access = accesses[cast<BlockArgument>(map).getArgNumber()];
  Value offset = b.mul(slab, access.strides[segment ? 1 : 0]);
  if (segment)
    offset = b.add(offset, b.mul(segment, access.strides[0]));
  return LLVM::GEPOp::create(b, access.pointer.getType(), b.getF32Type(),
                             access.pointer, ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelBuilder::safeAddress(const Slice &slice, ValueRange indices,
                                 Value inside) {
  Value address = addressOf(slice, indices);
  if (!inside)
    return address;
  return b.select(inside, address, accesses[slice.view.getArgNumber()].pointer);
}

Value KernelBuilder::stepStride(const Slice &slice) {
  Value stride = accesses[slice.view.getArgNumber()].strides.front();
  if (!stride)
    stride = b.i64(1);
  return program.getReverse() ? b.sub(b.i64(0), stride) : stride;
}

Value KernelBuilder::rowStride(const Slice &slice) {
  int64_t axis = slice.axisOfTile.front();
  if (axis == 0 && cast<ViewType>(slice.view.getType()).hasTime())
    return stepStride(slice);
  Value stride = accesses[slice.view.getArgNumber()].strides[axis];
  return stride ? stride : b.i64(1);
}

Value KernelBuilder::alignmentBits(const Slice &slice) {
  const Access &access = accesses[slice.view.getArgNumber()];
  Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), access.pointer);
  int64_t bytes = cast<ViewType>(slice.view.getType())
                      .getElementType()
                      .getIntOrFloatBitWidth() /
                  8;
  auto add = [&](Value elements) {
    bits = arith::OrIOp::create(b, bits, b.mul(elements, b.i64(bytes)));
  };
  for (Value stride : access.strides)
    if (stride)
      add(stride);
  add(b.wide(scalars.lookup(slice.offsets.back())));
  return access.present ? b.select(access.present, bits, b.i64(0)) : bits;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

Value KernelBuilder::hasTensorMaps(uint64_t bits) {
  Value wanted = b.i64(int64_t(bits));
  Value there = arith::AndIOp::create(b, word(flagsWord), wanted);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, there, wanted);
}

/// Behind the last row of a packed sequence lies the next one.
Value KernelBuilder::isOfOneSequence(const Slice &slice) {
  if (!isPacked)
    return {};
  Value end =
      b.add(b.wide(scalars.lookup(slice.offsets[0])), b.i64(slice.steps()));
  Value isWhole =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, steps);
  Value isAlone =
      arith::XOrIOp::create(b, isPacked, b.integer(b.getI1Type(), 1));
  return arith::OrIOp::create(b, isWhole, isAlone);
}

Value KernelBuilder::tensorMap(int64_t map, Value zero) {
  Value byte = b.add(zero, b.i32(mapsByte + map * kMapBytes));
  return LLVM::GEPOp::create(b, words.getType(), b.getI8Type(), words,
                             ArrayRef<LLVM::GEPArg>{byte});
}

/// The last axis, that of several ranks, time, then the others in their order.
SmallVector<Value> KernelBuilder::mapCoordinates(const Slice &slice, Value row,
                                                 Value column, Value zero) {
  ArgumentAttr argument = program.getArgument_(slice.view.getArgNumber());
  SmallVector<Value> coordinates = {column};
  if (slice.ranks > 1)
    coordinates.push_back(
        b.wide(scalars.lookup(slice.offsets[slice.rankAxis])));
  coordinates.push_back(b.add(firstRow, row));
  Item own = itemAnew(zero);
  int64_t axis = 1; // of the view, after time
  for (char letter : argument.getAxes().getValue().drop_back()) {
    if (letter == 'b')
      coordinates.push_back(own.batch);
    else if (letter == 'n')
      coordinates.push_back(own.sequence);
    else if (letter == 'h')
      coordinates.push_back(headOf(argument, own));
    else if (letter != 't') {
      if (slice.ranks == 1 || axis != slice.rankAxis)
        coordinates.push_back(b.wide(scalars.lookup(slice.offsets[axis])));
      ++axis;
    }
  }
  for (Value &coordinate : coordinates)
    coordinate = arith::TruncIOp::create(b, b.getI32Type(), coordinate);
  return coordinates;
}

/// The same item, which the compiler does not see to be the same.
KernelBuilder::Item KernelBuilder::itemAnew(Value zero) {
  Value number =
      b.add(arith::TruncIOp::create(b, b.getI32Type(), itemNumber), zero);
  Item own = takeApart(arith::ExtUIOp::create(b, b.getI64Type(), number));
  if (isPacked)
    own.batch = b.select(isPacked, b.i64(0), own.sequence);
  return own;
}

void KernelBuilder::withOwnPlace(const Slice &slice, Value zero,
                                 llvm::function_ref<void()> body) {
  unsigned argument = slice.view.getArgNumber();
  withAccess(argument, locate(argument, itemAnew(zero), zero), body);
}

void KernelBuilder::withItem(const Slice &slice, Value number,
                             llvm::function_ref<void()> body) {
  unsigned argument = slice.view.getArgNumber();
  withAccess(argument, locate(argument, takeApart(number)), body);
}

void KernelBuilder::withAccess(unsigned argument, const Access &access,
                               llvm::function_ref<void()> body) {
  Access kept = std::exchange(accesses[argument], access);
  body();
  accesses[argument] = kept;
}

Value KernelBuilder::loadElement(const Slice &slice, ValueRange indices,
                                 Type type) {
  return loadFrom(slice, addressOf(slice, indices), type);
}

Value KernelBuilder::loadFrom(const Slice &slice, Value address, Type type) {
  Type element = cast<ViewType>(slice.view.getType()).getElementType();
  if (!element.isBF16())
    return b.castReal(LLVM::LoadOp::create(b, element, address), type);
  // bf16 is the upper half of an f32; no chip needs an instruction for it.
  Value bits = LLVM::LoadOp::create(b, b.getI16Type(), address);
  bits = arith::ShLIOp::create(
      b, arith::ExtUIOp::create(b, b.getI32Type(), bits), b.i32(16));
  return b.castReal(arith::BitcastOp::create(b, b.getF32Type(), bits), type);
}

void KernelBuilder::storeElement(const Slice &slice, ValueRange indices,
                                 Value value) {
  Type element = cast<ViewType>(slice.view.getType()).getElementType();
  Value address = addressOf(slice, indices);
  LLVM::StoreOp::create(b, b.castReal(value, element), address);
}
