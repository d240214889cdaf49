//===- WideAccess.cpp - Several neighbours in one access ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

static Type elementOf(const Slice &slice) {
  return cast<ViewType>(slice.view.getType()).getElementType();
}

bool KernelBuilder::isContiguous(const Slice &slice) {
  auto view = cast<ViewType>(slice.view.getType());
  int64_t last = slice.axisOfTile.back();
  bool isTime = last == 0 && view.hasTime();
  ArgumentAttr argument = program.getArgument_(slice.view.getArgNumber());
  return !isTime && last == view.getRank() - 1 &&
         isFeatureAxis(argument.getAxes().getValue().back());
}

Value KernelBuilder::misalignment(unsigned argument, int64_t bytes) {
  const Access &access = accesses[argument];
  int64_t each = cast<ViewType>(program.getArgumentTypes()[argument])
                     .getElementType()
                     .getIntOrFloatBitWidth() /
                 8;
  Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), access.pointer),
        strides;
  for (Value stride : access.strides)
    if (stride)
      strides = strides ? arith::OrIOp::create(b, strides, stride).getResult()
                        : stride;
  if (strides)
    bits = arith::OrIOp::create(b, bits, b.mul(strides, b.i64(each)));
  Value rest = arith::AndIOp::create(b, bits, b.i64(bytes - 1));
  return access.present ? b.select(access.present, rest, b.i64(0)) : rest;
}

/// 16-bit elements travel in words of two.
static VectorType accessType(ScalarBuilder &b, Type element, int64_t count) {
  if (element.getIntOrFloatBitWidth() == 16)
    return VectorType::get({count / 2}, b.getI32Type());
  return VectorType::get({count}, element);
}

/// The two elements of a word. bf16 is the upper half of an f32.
static std::pair<Value, Value> unpack(ScalarBuilder &b, Value word,
                                      Type element) {
  Type f32 = b.getF32Type();
  if (element.isBF16()) {
    Value low = arith::ShLIOp::create(b, word, b.i32(16));
    Value high =
        arith::AndIOp::create(b, word, b.i32(int64_t(int32_t(0xffff0000))));
    return {arith::BitcastOp::create(b, f32, low),
            arith::BitcastOp::create(b, f32, high)};
  }
  Value both = LLVM::BitcastOp::create(b, VectorType::get({2}, element), word);
  return {LLVM::ExtractElementOp::create(b, both, b.i32(0)),
          LLVM::ExtractElementOp::create(b, both, b.i32(1))};
}

Type KernelBuilder::wordType(const Slice &slice, int64_t count) {
  Type element = elementOf(slice);
  if (count > 1)
    return accessType(b, element, count).getElementType();
  return element.isBF16() ? b.getI16Type() : element;
}

Value KernelBuilder::advance(const Slice &slice, Value address,
                             Value elements) {
  return LLVM::GEPOp::create(b, address.getType(), elementOf(slice), address,
                             ArrayRef<LLVM::GEPArg>{elements});
}

/// Four words of what is read once and by nobody else: the L2 cache asks memory
/// for 256 bytes at once.
static SmallVector<Value> loadFourOnce(ScalarBuilder &b, Type word,
                                       Value address) {
  SmallVector<Type> types(4, word);
  bool isReal = isa<FloatType>(word);
  Value loaded =
      LLVM::InlineAsmOp::create(
          b, TypeRange(LLVM::LLVMStructType::getLiteral(b.getContext(), types)),
          ValueRange{address},
          "ld.global.L2::256B.v4.b32 {$0, $1, $2, $3}, [$4];",
          isReal ? "=f,=f,=f,=f,l" : "=r,=r,=r,=r,l",
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractValueOp::create(b, loaded, i));
  return words;
}

SmallVector<Value> KernelBuilder::loadWords(const Slice &slice, Value address,
                                            int64_t offset, int64_t count) {
  Type element = elementOf(slice);
  if (offset)
    address = LLVM::GEPOp::create(b, address.getType(), element, address,
                                  ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  if (count == 1)
    return {LLVM::LoadOp::create(b, wordType(slice, 1), address)};
  auto vector = accessType(b, element, count);
  bool isState = !cast<ViewType>(slice.view.getType()).hasTime();
  bool isGlobal =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() == 1;
  if (hintsCache && isState && isGlobal && vector.getNumElements() == 4)
    return loadFourOnce(b, vector.getElementType(), address);
  Value loaded = LLVM::LoadOp::create(b, vector, address,
                                      /*alignment=*/count *
                                          element.getIntOrFloatBitWidth() / 8);
  SmallVector<Value> words;
  for (int64_t i = 0, e = vector.getNumElements(); i < e; ++i)
    words.push_back(LLVM::ExtractElementOp::create(b, loaded, b.i32(i)));
  return words;
}

SmallVector<Value> KernelBuilder::unpackWords(const Slice &slice,
                                              ValueRange words, Type type) {
  Type element = elementOf(slice);
  SmallVector<Value> values;
  auto put = [&](Value value) { values.push_back(b.castReal(value, type)); };
  for (Value word : words) {
    if (isa<FloatType>(word.getType())) {
      put(word);
    } else if (word.getType().isInteger(16)) {
      Value wide = arith::ExtUIOp::create(b, b.getI32Type(), word);
      put(unpack(b, wide, element).first);
    } else {
      auto [low, high] = unpack(b, word, element);
      put(low);
      put(high);
    }
  }
  return values;
}

void KernelBuilder::prefetch(Value address, Value condition) {
  Value wanted = arith::ExtUIOp::create(b, b.getI32Type(), condition);
  LLVM::InlineAsmOp::create(
      b, TypeRange(), ValueRange{address, wanted},
      "{ .reg .pred p; setp.ne.u32 p, $1, 0; @p prefetch.global.L2 [$0]; }",
      "l,r", /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
}

void KernelBuilder::storeElements(const Slice &slice, ValueRange indices,
                                  ValueRange values) {
  storeWords(slice, addressOf(slice, indices), values);
}

void KernelBuilder::storeWords(const Slice &slice, Value address,
                               ValueRange values) {
  Type element = elementOf(slice);
  int64_t width = element.getIntOrFloatBitWidth(), count = values.size();
  auto vector = accessType(b, element, count);
  auto put = [&](Value into, Value value, int64_t i) -> Value {
    return LLVM::InsertElementOp::create(b, into, value, b.i32(i));
  };
  Value all = LLVM::UndefOp::create(b, vector);
  for (int64_t i = 0, e = vector.getNumElements(); i < e; ++i) {
    if (width != 16) {
      all = put(all, b.castReal(values[i], element), i);
      continue;
    }
    auto pairOf = [&](Type type) { return VectorType::get({2}, type); };
    Value pair = LLVM::UndefOp::create(b, pairOf(values[2 * i].getType()));
    pair = put(put(pair, values[2 * i], 0), values[2 * i + 1], 1);
    Value rounded = arith::TruncFOp::create(b, pairOf(element), pair);
    all = put(all, LLVM::BitcastOp::create(b, b.getI32Type(), rounded), i);
  }
  LLVM::StoreOp::create(b, all, address, /*alignment=*/count * width / 8);
}
