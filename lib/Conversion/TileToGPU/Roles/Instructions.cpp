//===- Instructions.cpp - Warp and warpgroup instructions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism::tiletogpu;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value Instructions::advance(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(
      b, pointer.getType(), b.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
}

Value Instructions::advance(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value Instructions::load(Type type, Value pointer, int64_t alignment) {
  return LLVM::LoadOp::create(b, type, pointer, alignment);
}

void Instructions::store(Value value, Value pointer, int64_t alignment) {
  LLVM::StoreOp::create(b, value, pointer, alignment);
}

std::pair<Value, Value> Instructions::loadPair(Value pointer) {
  Value both = load(VectorType::get({2}, b.getF32Type()), pointer, 8);
  return {LLVM::ExtractElementOp::create(b, both, b.i32(0)),
          LLVM::ExtractElementOp::create(b, both, b.i32(1))};
}

void Instructions::storePair(Value first, Value second, Value pointer) {
  Value both = LLVM::UndefOp::create(b, VectorType::get({2}, b.getF32Type()));
  both = LLVM::InsertElementOp::create(b, both, first, b.i32(0));
  both = LLVM::InsertElementOp::create(b, both, second, b.i32(1));
  store(both, pointer, 8);
}

Value Instructions::bitAnd(Value a, int64_t mask) {
  return arith::AndIOp::create(b, a, b.integer(a.getType(), mask));
}

Value Instructions::bitXor(Value a, Value c) {
  return arith::XOrIOp::create(b, a, c);
}

Value Instructions::equals(Value a, int64_t constant) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, a,
                               b.integer(a.getType(), constant));
}

Value Instructions::opaque(Value a) {
  return LLVM::InlineAsmOp::create(
             b, TypeRange(b.getI32Type()), ValueRange(a), "mov.b32 $0, $1;",
             "=r,r", /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Instructions::initialise(Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(b, barrier, b.i32(arrivals), Value());
}

void Instructions::arrive(Value barrier, int64_t count) {
  NVVM::MBarrierArriveOp::create(b, b.getI64Type(), barrier,
                                 count > 1 ? b.i32(count) : Value());
}

void Instructions::wait(Value barrier, Value parity) {
  // The hint is how long a thread may sleep in one try, in nanoseconds.
  NVVM::MBarrierTryWaitParityOp::create(b, barrier, parity, b.i32(0x989680));
}

void Instructions::fenceForAsync() {
  auto *ctx = b.getContext();
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKindAttr::get(ctx, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(ctx, NVVM::SharedSpace::shared_cta));
}

void Instructions::syncWarp() { NVVM::SyncWarpOp::create(b, b.i32(-1)); }

void Instructions::syncThreads(Value id, int64_t threads) {
  NVVM::BarrierOp::create(b, TypeRange(), id, b.i32(threads),
                          NVVM::BarrierReductionAttr(), Value());
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

Value Instructions::rank() {
  return NVVM::ClusterId::create(b, b.getI32Type());
}

void Instructions::turnRanks(Value turn, int64_t blocks) {
  this->turn = turn;
  turnedBlocks = blocks;
}

Value Instructions::multiprocessor() {
  return NVVM::SmIdOp::create(b, b.getI32Type());
}

Value Instructions::loadFrom(Value pointer, Value rank) {
  return load(b.getI32Type(), pointerIn(pointer, rank), 4);
}

void Instructions::syncCluster() {
  NVVM::ClusterArriveOp::create(b, UnitAttr());
  NVVM::ClusterWaitOp::create(b, UnitAttr());
}

/// What `pointer` is in the block `rank`.
Value Instructions::pointerIn(Value pointer, Value rank) {
  Type remote = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  if (turn)
    rank = b.remainder(b.add(rank, turn), turnedBlocks);
  return NVVM::MapaOp::create(b, remote, pointer, rank);
}

/// The same as a number: assembly text takes it so.
Value Instructions::mapTo(Value pointer, Value rank) {
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), pointerIn(pointer, rank));
}

void Instructions::assembly(StringRef text, StringRef constraints,
                            ValueRange operands) {
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text, constraints,
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                            ArrayAttr());
}

// NVVM's ops on barriers of other blocks name the cluster as their scope, which
// ptxas makes a fence of the whole chip (1,000 cycles). Here the data are moved
// by the copy engine, whose bytes the barrier counts, and a reader has waited
// for its products: no other access is to be ordered.
void Instructions::arriveAt(Value barrier, Value rank) {
  assembly("mbarrier.arrive.shared::cluster.b64 _, [$0];", "r,~{memory}",
           mapTo(barrier, rank));
}

void Instructions::announceAt(Value barrier, Value rank, int64_t bytes) {
  assembly("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [$0], $1;",
           "r,r,~{memory}", {mapTo(barrier, rank), b.i32(bytes)});
}

void Instructions::copyTo(Value rank, Value memory, int64_t bytes,
                          Value barrier) {
  Value from = LLVM::PtrToIntOp::create(b, b.getI32Type(), memory);
  assembly("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx"
           "::bytes [$0], [$1], $2, [$3];",
           "r,r,r,r,~{memory}",
           {mapTo(memory, rank), from, b.i32(bytes), mapTo(barrier, rank)});
}

//===----------------------------------------------------------------------===//
// Warpgroup products
//===----------------------------------------------------------------------===//

void Instructions::fence() { NVVM::WgmmaFenceAlignedOp::create(b); }
void Instructions::commit() { NVVM::WgmmaGroupSyncAlignedOp::create(b); }
void Instructions::waitForAllBut(int64_t groups) {
  NVVM::WgmmaWaitGroupSyncOp::create(b, uint64_t(groups));
}

Type Instructions::accumulatorType(int64_t registers) {
  SmallVector<Type> members(registers, b.getF32Type());
  return LLVM::LLVMStructType::getLiteral(b.getContext(), members);
}

Value Instructions::pack(ValueRange registers) {
  SmallVector<Type> members(registers.getTypes());
  Value all = LLVM::UndefOp::create(
      b, LLVM::LLVMStructType::getLiteral(b.getContext(), members));
  for (auto [i, value] : llvm::enumerate(registers))
    all = LLVM::InsertValueOp::create(b, all, value,
                                      ArrayRef<int64_t>{int64_t(i)});
  return all;
}

SmallVector<Value> Instructions::unpack(Value accumulator) {
  SmallVector<Value> registers;
  auto type = cast<LLVM::LLVMStructType>(accumulator.getType());
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    registers.push_back(
        LLVM::ExtractValueOp::create(b, accumulator, ArrayRef<int64_t>{i}));
  return registers;
}

/// PTX ISA, "Matrix Descriptor Format": address / 16 in bits 0-13, the stride
/// between slabs in bits 16-29 (read along rows only), that between groups of
/// eight rows in bits 32-45, the 128-byte swizzle as 1 in bits 62-63. In a
/// cluster the upper bits of a shared address name the block: they are cut off.
Value Instructions::descriptor(Value tile, Swizzled layout, Contracted along) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), tile);
  Value units = arith::ShRUIOp::create(b, bitAnd(address, 0x3ffff), b.i32(4));
  int64_t leading =
      along == Contracted::AlongRows ? layout.slabBytes() / 16 : 1;
  return arith::OrIOp::create(b, units, b.i32(leading << 16));
}

Value Instructions::descriptorStep(Value lower, Swizzled layout,
                                   Contracted along, int64_t step) {
  int64_t bytes = along == Contracted::AlongColumns
                      ? step / 4 * layout.slabBytes() + step % 4 * 32
                      : step * 16 * kSlabRowBytes;
  if (bytes)
    lower = b.add(lower, b.i32(bytes / 16));
  int64_t upper = int64_t(1) << 30 | kSwizzleBytes / 16;
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), lower);
  return arith::OrIOp::create(b, wide, b.i64(upper << 32));
}

Value Instructions::multiply(Value acc, int64_t columns, Value a,
                             Contracted alongA, Value bOperand,
                             Contracted alongB) {
  auto *ctx = b.getContext();
  auto layoutA = alongA == Contracted::AlongColumns ? NVVM::MMALayout::row
                                                    : NVVM::MMALayout::col;
  auto layoutB = alongB == Contracted::AlongColumns ? NVVM::MMALayout::col
                                                    : NVVM::MMALayout::row;
  auto scale = acc ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero;
  if (!acc)
    acc = LLVM::UndefOp::create(b, accumulatorType(columns / 2));
  auto shape = NVVM::MMAShapeAttr::get(ctx, 64, int(columns), 16);
  auto type = operands.isF16() ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
  return NVVM::WgmmaMmaAsyncOp::create(
      b, acc.getType(), acc, a, bOperand, shape, type, type,
      NVVM::WGMMATypes::f32, scale, NVVM::WGMMAScaleIn::one,
      NVVM::WGMMAScaleIn::one, layoutA, layoutB, NVVM::MMAIntOverflowAttr());
}

/// NVVM has no op for A in registers. A product that starts anew has outputs
/// only: zeros moved into its registers would make ptxas wait for whatever ran
/// in them before (C7517).
Value Instructions::multiply(Value acc, int64_t columns, ValueRange a,
                             Value bOperand, Contracted alongB) {
  int64_t registers = columns / 2, inputs = acc ? registers : 0;
  std::string text, constraints;
  llvm::raw_string_ostream os(text), cs(constraints);
  os << "wgmma.mma_async.sync.aligned.m64n" << columns << "k16.f32"
     << (operands.isF16() ? ".f16.f16 {" : ".bf16.bf16 {");
  for (int64_t i = 0; i < registers; ++i)
    os << (i ? ", $" : "$") << i;
  os << "}, {";
  for (int64_t i = 0; i < 4; ++i)
    os << (i ? ", $" : "$") << registers + inputs + i;
  os << "}, $" << registers + inputs + 4 << ", " << (acc ? 1 : 0) << ", 1, 1, "
     << (alongB == Contracted::AlongRows ? 1 : 0) << ";";
  for (int64_t i = 0; i < registers; ++i)
    cs << "=f,";
  for (int64_t i = 0; i < inputs; ++i)
    cs << i << ",";
  cs << "r,r,r,r,l";
  SmallVector<Value> values;
  if (acc)
    values = unpack(acc);
  values.append(a.begin(), a.end());
  values.push_back(bOperand);
  auto product = LLVM::InlineAsmOp::create(
      b, TypeRange(accumulatorType(registers)), values, text, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return product.getResult(0);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

SmallVector<Value> Instructions::multiplyWarpTf32(ValueRange acc,
                                                  ArrayRef<Value> a,
                                                  ArrayRef<Value> bOperand) {
  auto bits = [&](ArrayRef<Value> operands) {
    SmallVector<Value> words;
    for (Value operand : operands)
      words.push_back(arith::BitcastOp::create(b, b.getI32Type(), operand));
    return words;
  };
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  Value product = NVVM::MmaOp::create(
      b, result, bits(a), bits(bOperand), acc, ArrayRef<int64_t>{16, 8, 8},
      std::nullopt, std::nullopt,
      std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::tf32, NVVM::MMATypes::tf32},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  return unpack(product);
}

SmallVector<Value> Instructions::multiplyWarp(ValueRange acc, ValueRange a,
                                              ValueRange bOperand) {
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  auto type = operands.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  // Pairs of bf16 come as words, those of f16 as vectors.
  auto pairs = [&](ValueRange words) {
    SmallVector<Value> typed(words);
    if (operands.isF16())
      for (Value &word : typed)
        word = LLVM::BitcastOp::create(b, VectorType::get({2}, operands), word);
    return typed;
  };
  Value product = NVVM::MmaOp::create(
      b, result, pairs(a), pairs(bOperand), acc, ArrayRef<int64_t>{16, 8, 16},
      std::nullopt, std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  return unpack(product);
}

SmallVector<Value> Instructions::loadMatrices(Value pointer, bool transposed) {
  auto *ctx = b.getContext();
  Type result = LLVM::LLVMStructType::getLiteral(
      ctx, SmallVector<Type>(4, b.getI32Type()));
  Value four = NVVM::LdMatrixOp::create(
      b, result, pointer, 4,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(ctx, 8, 8), NVVM::LdStMatrixEltType::B16);
  return unpack(four);
}

void Instructions::storeMatrices(Value pointer, ValueRange four,
                                 bool transposed) {
  NVVM::StMatrixOp::create(b, pointer, four,
                           transposed ? NVVM::MMALayout::col
                                      : NVVM::MMALayout::row,
                           NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
                           NVVM::LdStMatrixEltType::B16);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Instructions::packPair(Value low, Value high) {
  auto pair = VectorType::get({2}, operands);
  Value packed;
  if (operands.isF16())
    packed = NVVM::ConvertF32x2ToF16x2Op::create(b, pair, high, low, Value(),
                                                 NVVM::FPRoundingMode::RN);
  else
    packed = NVVM::ConvertF32x2ToBF16x2Op::create(b, pair, high, low, Value(),
                                                  NVVM::FPRoundingMode::RN);
  return LLVM::BitcastOp::create(b, b.getI32Type(), packed);
}

Value Instructions::packPairHere(Value low, Value high) {
  StringRef text = operands.isF16() ? "cvt.rn.f16x2.f32 $0, $1, $2;"
                                    : "cvt.rn.bf16x2.f32 $0, $1, $2;";
  return LLVM::InlineAsmOp::create(
             b, TypeRange(b.getI32Type()), ValueRange{high, low}, text,
             "=r,f,f", /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// bf16 is the upper half of an f32.
std::pair<Value, Value> Instructions::unpackPair(Value pair) {
  auto f32 = b.getF32Type();
  if (operands.isF16()) {
    Value both =
        LLVM::BitcastOp::create(b, VectorType::get({2}, operands), pair);
    auto element = [&](int64_t i) {
      return b.castReal(LLVM::ExtractElementOp::create(b, both, b.i32(i)), f32);
    };
    return {element(0), element(1)};
  }
  Value low = arith::ShLIOp::create(b, pair, b.i32(16));
  Value high = bitAnd(pair, int64_t(int32_t(0xffff0000)));
  return {arith::BitcastOp::create(b, f32, low),
          arith::BitcastOp::create(b, f32, high)};
}

Value Instructions::exp2(Value a) {
  return LLVM::CallIntrinsicOp::create(
             b, b.getF32Type(), b.getStringAttr("llvm.nvvm.ex2.approx.ftz"),
             ValueRange(a))
      .getResult(0);
}

Value Instructions::reciprocal(Value a) {
  return LLVM::CallIntrinsicOp::create(
             b, b.getF32Type(), b.getStringAttr("llvm.nvvm.rcp.approx.ftz.f"),
             ValueRange(a))
      .getResult(0);
}

Value Instructions::reciprocalRoot(Value a) {
  return LLVM::CallIntrinsicOp::create(
             b, b.getF32Type(), b.getStringAttr("llvm.nvvm.rsqrt.approx.ftz.f"),
             ValueRange(a))
      .getResult(0);
}

Value Instructions::shuffleUp(Value f32, int64_t lanes) {
  return NVVM::ShflOp::create(b, f32.getType(), b.i32(-1), f32, b.i32(lanes),
                              b.i32(0), NVVM::ShflKind::up, UnitAttr());
}
Value Instructions::shuffleAcross(Value f32, int64_t mask) {
  return NVVM::ShflOp::create(b, f32.getType(), b.i32(-1), f32, b.i32(mask),
                              b.i32(31), NVVM::ShflKind::bfly, UnitAttr());
}
Value Instructions::shuffleFrom(Value f32, Value lane) {
  return NVVM::ShflOp::create(b, f32.getType(), b.i32(-1), f32, lane, b.i32(31),
                              NVVM::ShflKind::idx, UnitAttr());
}

//===----------------------------------------------------------------------===//
// Copies and registers
//===----------------------------------------------------------------------===//

void Instructions::copyAsync(Value to, Value from, int64_t size, Value bytes) {
  NVVM::CpAsyncOp::create(b, to, from, uint32_t(size),
                          size == 16 ? NVVM::LoadCacheModifierKind::CG
                                     : NVVM::LoadCacheModifierKind::CA,
                          bytes);
}
/// The block's own memory, named as a place of its cluster: PTX before 8.6 has
/// copies to no other.
static Value asPlaceOfCluster(ScalarBuilder &b, Value to) {
  auto cluster = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  return LLVM::AddrSpaceCastOp::create(b, cluster, to);
}

void Instructions::copyBox(Value to, Value map, ValueRange coordinates,
                           Value barrier) {
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, asPlaceOfCluster(b, to), map, coordinates, barrier, ValueRange(),
      Value(), Value(), NVVM::TMALoadMode::TILE,
      /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(), Value());
}

void Instructions::storeBox(Value from, Value map, ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      b, map, from, coordinates, Value(), NVVM::TMAStoreMode::TILE, Value());
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
}

void Instructions::copyFromGlobal(Value to, Value from, int64_t bytes,
                                  Value barrier) {
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(b, asPlaceOfCluster(b, to),
                                                   from, barrier, b.i32(bytes),
                                                   Value(), Value());
}

void Instructions::copyToGlobal(Value to, Value from, int64_t bytes) {
  NVVM::CpAsyncBulkSharedCTAToGlobalOp::create(b, to, from, b.i32(bytes),
                                               Value(), Value());
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
}

void Instructions::waitForReads() {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, uint32_t(0), b.getUnitAttr());
}

void Instructions::expectBytes(Value barrier, int64_t bytes, bool arrives) {
  if (arrives)
    NVVM::MBarrierArriveExpectTxOp::create(
        b, b.getI64Type(), barrier, b.i32(bytes), NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, Value());
  else
    NVVM::MBarrierExpectTxOp::create(b, barrier, b.i32(bytes));
}

Value Instructions::anyLane(Value condition) {
  return NVVM::VoteSyncOp::create(b, b.getI1Type(), b.i32(-1), condition,
                                  NVVM::VoteSyncKind::any);
}

Value Instructions::elect() {
  return NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
}

void Instructions::commitCopies() { NVVM::CpAsyncCommitGroupOp::create(b); }
void Instructions::waitForCopies(int64_t groupsLeft) {
  NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(groupsLeft));
}
void Instructions::setRegisters(int64_t count, bool more) {
  NVVM::SetMaxRegisterOp::create(b, uint32_t(count),
                                 more ? NVVM::SetMaxRegisterAction::increase
                                      : NVVM::SetMaxRegisterAction::decrease);
}
