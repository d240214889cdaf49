//===- KernelInterpreter.cpp - Runs a GPU kernel on the host --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelInterpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace prism::test;

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static unsigned widthOf(Type type) {
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

static uint64_t truncate(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((1ull << width) - 1);
}

static int64_t toSigned(uint64_t bits, Type type) {
  unsigned shift = 64 - widthOf(type);
  return int64_t(bits << shift) >> shift;
}

static double toReal(uint64_t bits, Type type) {
  APFloat value(cast<FloatType>(type).getFloatSemantics(),
                APInt(widthOf(type), truncate(bits, widthOf(type))));
  bool lossy;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}

static uint64_t fromReal(double real, Type type) {
  if (type.isF32()) {
    float narrow = float(real);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  APFloat value(real);
  bool lossy;
  value.convert(cast<FloatType>(type).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &lossy);
  return value.bitcastToAPInt().getZExtValue();
}

KernelInterpreter::Lanes &KernelInterpreter::lanes(Value value) {
  Lanes &found = values[value.getAsOpaquePointer()];
  if (found.empty())
    found.resize(threads);
  return found;
}

void KernelInterpreter::fail(const std::string &what) {
  if (!fault.empty())
    return;
  llvm::raw_string_ostream os(fault);
  os << what;
  if (current)
    os << " at " << *current;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint32_t KernelInterpreter::loadShared(uint64_t address, int64_t thread) {
  if (address % 4 || address / 4 >= shared.size())
    return fail("shared read out of bounds, byte " + std::to_string(address)),
           0;
  Cell &cell = shared[address / 4];
  if (!cell.isWritten)
    fail("shared read of byte " + std::to_string(address) + ", never written");
  if (cell.writeEpoch == epoch && cell.writer != thread)
    fail("missing barrier: thread " + std::to_string(thread) + " reads byte " +
         std::to_string(address) + " that thread " +
         std::to_string(cell.writer) + " wrote");
  cell.manyReaders =
      cell.readEpoch == epoch && (cell.manyReaders || cell.reader != thread);
  cell.reader = thread;
  cell.readEpoch = epoch;
  return cell.bits;
}

void KernelInterpreter::storeShared(uint64_t address, uint32_t bits,
                                    int64_t thread) {
  if (address % 4 || address / 4 >= shared.size())
    return fail("shared write out of bounds, byte " + std::to_string(address));
  Cell &cell = shared[address / 4];
  if (cell.writeEpoch == epoch && cell.writer != thread)
    fail("missing barrier: two threads write byte " + std::to_string(address));
  if (cell.readEpoch == epoch && (cell.manyReaders || cell.reader != thread))
    fail("missing barrier: thread " + std::to_string(thread) + " writes byte " +
         std::to_string(address) + " that another one reads");
  cell.bits = bits;
  cell.isWritten = true;
  cell.writer = thread;
  cell.writeEpoch = epoch;
}

bool KernelInterpreter::isAllowed(uint64_t address, unsigned bytes) const {
  for (auto [base, size] : ranges)
    if (address >= base && address + bytes <= base + size)
      return true;
  return false;
}

uint64_t KernelInterpreter::load(Type pointer, uint64_t address, unsigned bytes,
                                 int64_t thread) {
  unsigned space = cast<LLVM::LLVMPointerType>(pointer).getAddressSpace();
  if (space == 3) {
    uint64_t low = loadShared(address, thread);
    return bytes == 8 ? low | uint64_t(loadShared(address + 4, thread)) << 32
                      : low;
  }
  if (space == 0) { // the parameter
    if (address % 8 || address / 8 >= parameter.size())
      return fail("parameter read out of bounds"), 0;
    return parameter[address / 8];
  }
  if (!isAllowed(address, bytes))
    return fail("global read out of bounds by thread " +
                std::to_string(thread)),
           0;
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void *>(address), bytes);
  return bits;
}

void KernelInterpreter::store(Type pointer, uint64_t address, unsigned bytes,
                              uint64_t bits, int64_t thread) {
  unsigned space = cast<LLVM::LLVMPointerType>(pointer).getAddressSpace();
  if (space == 3) {
    storeShared(address, bits, thread);
    if (bytes == 8)
      storeShared(address + 4, bits >> 32, thread);
    return;
  }
  if (space != 1 || !isAllowed(address, bytes))
    return fail("global write out of bounds by thread " +
                std::to_string(thread));
  std::memcpy(reinterpret_cast<void *>(address), &bits, bytes);
}

void KernelInterpreter::runMemory(Operation *op, const Mask &mask) {
  if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
    int64_t size = widthOf(gep.getElemType()) / 8;
    const Lanes &base = lanes(gep.getBase());
    auto index = *gep.getIndices().begin();
    Lanes &out = lanes(op->getResult(0));
    for (int64_t t = 0; t < threads; ++t) {
      int64_t offset;
      if (auto constant = dyn_cast<IntegerAttr>(index))
        offset = constant.getInt();
      else
        offset = toSigned(lanes(cast<Value>(index))[t],
                          cast<Value>(index).getType());
      out[t] = base[t] + offset * size;
    }
    return;
  }
  if (auto read = dyn_cast<LLVM::LoadOp>(op)) {
    for (int64_t t = 0; t < threads; ++t)
      if (mask[t])
        lanes(read.getResult())[t] =
            load(read.getAddr().getType(), lanes(read.getAddr())[t],
                 widthOf(read.getType()) / 8, t);
    return;
  }
  auto write = cast<LLVM::StoreOp>(op);
  for (int64_t t = 0; t < threads; ++t)
    if (mask[t])
      store(write.getAddr().getType(), lanes(write.getAddr())[t],
            widthOf(write.getValue().getType()) / 8, lanes(write.getValue())[t],
            t);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static std::optional<double> realFunction(Operation *op, double a, double b,
                                          double c) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](arith::AddFOp) { return a + b; })
      .Case([&](arith::SubFOp) { return a - b; })
      .Case([&](arith::MulFOp) { return a * b; })
      .Case([&](arith::DivFOp) { return a / b; })
      .Case([&](arith::NegFOp) { return -a; })
      .Case([&](arith::MaximumFOp) { return std::isnan(a) || a > b ? a : b; })
      .Case([&](arith::MinimumFOp) { return std::isnan(a) || a < b ? a : b; })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](Operation *) { return a; })
      .Case([&](math::FmaOp) { return std::fma(a, b, c); })
      .Case([&](math::ExpOp) { return std::exp(a); })
      .Case([&](math::LogOp) { return std::log(a); })
      .Case([&](math::Log1pOp) { return std::log1p(a); })
      .Case([&](math::ErfOp) { return std::erf(a); })
      .Case([&](math::TanhOp) { return std::tanh(a); })
      .Case([&](math::RsqrtOp) { return 1 / std::sqrt(a); })
      .Case([&](math::AbsFOp) { return std::fabs(a); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<uint64_t> integerFunction(Operation *op, uint64_t a,
                                               uint64_t b) {
  Type type = op->getOperand(0).getType();
  auto cmp = [&](arith::CmpIOp compare) -> uint64_t {
    auto apply = arith::applyCmpPredicate(compare.getPredicate(),
                                          APInt(widthOf(type), a),
                                          APInt(widthOf(type), b));
    return apply;
  };
  return llvm::TypeSwitch<Operation *, std::optional<uint64_t>>(op)
      .Case([&](arith::AddIOp) { return a + b; })
      .Case([&](arith::SubIOp) { return a - b; })
      .Case([&](arith::MulIOp) { return a * b; })
      .Case([&](arith::DivUIOp) { return b ? a / b : 0; })
      .Case([&](arith::RemUIOp) { return b ? a % b : 0; })
      .Case([&](arith::MinUIOp) { return std::min(a, b); })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::ShLIOp) { return b < 64 ? a << b : 0; })
      .Case([&](arith::ShRUIOp) { return b < 64 ? a >> b : 0; })
      .Case([&](arith::CmpIOp compare) { return cmp(compare); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](Operation *) { return uint64_t(toSigned(a, type)); })
      .Case<arith::ExtUIOp, arith::TruncIOp, arith::BitcastOp,
            LLVM::IntToPtrOp>([&](Operation *) { return a; })
      .Default([](Operation *) { return std::nullopt; });
}

bool KernelInterpreter::runScalar(Operation *op, const Mask &mask) {
  Type type = op->getResult(0).getType();
  Lanes &out = lanes(op->getResult(0));
  auto operand = [&](unsigned i, int64_t t) {
    return i < op->getNumOperands() ? lanes(op->getOperand(i))[t] : 0;
  };
  auto real = [&](unsigned i, int64_t t) {
    return i < op->getNumOperands()
               ? toReal(operand(i, t), op->getOperand(i).getType())
               : 0.0;
  };
  bool isReal =
      isa<FloatType>(type) && !isa<arith::BitcastOp, arith::SelectOp>(op);
  for (int64_t t = 0; t < threads; ++t) {
    if (!mask[t])
      continue;
    if (isa<arith::SelectOp>(op)) {
      out[t] = operand(0, t) ? operand(1, t) : operand(2, t);
    } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      out[t] = arith::applyCmpPredicate(
          compare.getPredicate(), APFloat(real(0, t)), APFloat(real(1, t)));
    } else if (isReal) {
      std::optional<double> value =
          realFunction(op, real(0, t), real(1, t), real(2, t));
      if (!value)
        return false;
      out[t] = fromReal(*value, type);
    } else {
      std::optional<uint64_t> value =
          integerFunction(op, operand(0, t), operand(1, t));
      if (!value)
        return false;
      out[t] = truncate(*value, widthOf(type));
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void KernelInterpreter::copy(Value to, Value from, const Mask &mask) {
  Lanes source = lanes(from);
  Lanes &target = lanes(to);
  for (int64_t t = 0; t < threads; ++t)
    if (mask[t])
      target[t] = source[t];
}

void KernelInterpreter::runIf(Operation *op, const Mask &mask) {
  auto choice = cast<scf::IfOp>(op);
  Mask sides[2] = {mask, mask};
  const Lanes condition = lanes(choice.getCondition());
  for (int64_t t = 0; t < threads; ++t) {
    sides[0][t] &= condition[t] != 0;
    sides[1][t] &= condition[t] == 0;
  }
  Region *regions[2] = {&choice.getThenRegion(), &choice.getElseRegion()};
  for (int side = 0; side < 2; ++side) {
    if (regions[side]->empty() || !llvm::is_contained(sides[side], 1))
      continue;
    runOps(regions[side]->front(), sides[side]);
    for (auto [result, operand] :
         llvm::zip(op->getResults(),
                   regions[side]->front().getTerminator()->getOperands()))
      copy(result, operand, sides[side]);
  }
}

void KernelInterpreter::runFor(Operation *op, const Mask &mask) {
  auto loop = cast<scf::ForOp>(op);
  copy(loop.getInductionVar(), loop.getLowerBound(), mask);
  for (auto [carried, init] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    copy(carried, init, mask);
  Type type = loop.getInductionVar().getType();
  const Lanes upper = lanes(loop.getUpperBound()), step = lanes(loop.getStep());
  while (fault.empty()) {
    Mask active = mask;
    Lanes &index = lanes(loop.getInductionVar());
    for (int64_t t = 0; t < threads; ++t)
      active[t] &= toSigned(index[t], type) < toSigned(upper[t], type);
    if (!llvm::is_contained(active, 1))
      break;
    runOps(*loop.getBody(), active);
    // All at once: a yielded value may be another carried one.
    std::vector<Lanes> next;
    for (Value operand : loop.getBody()->getTerminator()->getOperands())
      next.push_back(lanes(operand));
    for (int64_t t = 0; t < threads; ++t) {
      if (!active[t])
        continue;
      for (auto [i, carried] : llvm::enumerate(loop.getRegionIterArgs()))
        lanes(carried)[t] = next[i][t];
      Lanes &now = lanes(loop.getInductionVar());
      now[t] = truncate(now[t] + step[t], widthOf(type));
    }
  }
  for (auto [result, carried] :
       llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    copy(result, carried, mask);
}

void KernelInterpreter::runShuffle(Operation *op, const Mask &mask) {
  auto shuffle = cast<NVVM::ShflOp>(op);
  const Lanes value = lanes(shuffle.getVal()),
              distance = lanes(shuffle.getOffset());
  for (int64_t t = 0; t < threads; ++t) {
    if (!mask[t])
      continue;
    int64_t other = t ^ int64_t(distance[t]);
    if (shuffle.getKind() != NVVM::ShflKind::bfly || other / 32 != t / 32)
      fail("a shuffle that the lowering should not make");
    for (int64_t lane = t / 32 * 32; lane < t / 32 * 32 + 32; ++lane)
      if (!mask[lane])
        return fail("a shuffle that lane " + std::to_string(lane % 32) +
                    " does not reach");
    lanes(op->getResult(0))[t] = value[other];
  }
}

void KernelInterpreter::runOp(Operation *op, const Mask &mask) {
  current = op;
  if (isa<scf::IfOp>(op))
    return runIf(op, mask);
  if (isa<scf::ForOp>(op))
    return runFor(op, mask);
  if (isa<NVVM::ShflOp>(op))
    return runShuffle(op, mask);
  if (isa<LLVM::GEPOp, LLVM::LoadOp, LLVM::StoreOp>(op))
    return runMemory(op, mask);
  if (isa<NVVM::Barrier0Op>(op)) {
    if (llvm::is_contained(mask, 0))
      fail("a barrier that some thread does not reach");
    ++epoch;
    ++barriers;
    return;
  }
  if (isa<scf::YieldOp, LLVM::ReturnOp>(op))
    return;
  if (isa<NVVM::ThreadIdXOp, NVVM::BlockIdXOp, LLVM::AddressOfOp>(op)) {
    for (int64_t t = 0; t < threads; ++t)
      lanes(op->getResult(0))[t] = isa<NVVM::ThreadIdXOp>(op)  ? t
                                   : isa<NVVM::BlockIdXOp>(op) ? blockId
                                                               : 0;
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    uint64_t bits = 0;
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      bits = truncate(number.getValue().getSExtValue(),
                      widthOf(constant.getType()));
    else
      bits = cast<FloatAttr>(constant.getValue())
                 .getValue()
                 .bitcastToAPInt()
                 .getZExtValue();
    lanes(constant.getResult()).assign(threads, bits);
    return;
  }
  if (!runScalar(op, mask))
    fail("the interpreter does not know this op");
}

void KernelInterpreter::runOps(Block &block, const Mask &mask) {
  for (Operation &op : block) {
    if (!fault.empty())
      return;
    runOp(&op, mask);
  }
}

bool KernelInterpreter::runBlock(int64_t block, ArrayRef<uint64_t> words) {
  values.clear();
  fault.clear();
  blockId = block;
  parameter = words;
  shared.assign(sharedBytes / 4, Cell());
  epoch = 0;
  lanes(kernel.getArgument(0)).assign(threads, 0);
  runOps(kernel.getBody().front(), Mask(threads, 1));
  return fault.empty();
}
