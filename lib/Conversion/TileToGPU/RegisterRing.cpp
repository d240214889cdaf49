//===- RegisterRing.cpp - Several steps' inputs on their way --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where a step is a few instructions, one step's words on their way are too few
// bytes for memory's latency, and registers that are still to come cannot be
// handed on from step to step. So each thread copies its words of the next
// steps to slots of its own in shared memory, and reads a slot when it is full.
// Nobody else touches it: no barrier.
//
//   step t     asks for step t + slots - 1, in the slot that step t - 1 has
//   read
//              waits until all but the last slots - 1 steps asked for have come
//              reads slot t mod slots
//
//===----------------------------------------------------------------------===//

#include "RegisterLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Bytes of a step, and elements of states, with which a thread's step is
/// short.
static constexpr int64_t kMostBytes = 64, kMostStates = 8;
/// A warp's bytes on their way: of eight warps on a multiprocessor 64 KiB,
/// where bandwidth times latency is 32.
static constexpr int64_t kBytesOfWarp = 8192;
static constexpr int64_t kFewestSlots = 4, kMostSlots = 16;

/// What a thread takes of a step.
int64_t RegisterLowering::bytesOf(LoadOp op) {
  int64_t bits = cast<ViewType>(op.getView().getType())
                     .getElementType()
                     .getIntOrFloatBitWidth();
  return shapeOf(op.getResult()).second * bits / 8;
}

RegisterLowering::Ring RegisterLowering::planRing(scf::ForOp loop) {
  APInt lower, step;
  if (plan.lanesPerColumn > 1 ||
      !matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !lower.isZero() ||
      !step.isOne())
    return {};
  int64_t states = 0, bytes = 0;
  for (Value carried : loop.getRegionIterArgs())
    if (isTensor(carried))
      states += shapeOf(carried).first * shapeOf(carried).second;
  Ring ring;
  llvm::DenseMap<Operation *, int64_t> order;
  for (LoadOp op : loop.getBody()->getOps<LoadOp>()) {
    if (!canLoadAhead(op, loop))
      continue;
    // One access, of a size that copies have.
    int64_t each = bytesOf(op), columns = shapeOf(op.getResult()).second;
    bool isCopy = each == 4 || each == 8 || each == 16;
    if (!isCopy || widthOf(Slice::of(op), op.getResult()) != columns)
      return {};
    order[op] = int64_t(ring.loads.size());
    ring.loads.push_back(op);
    bytes += each;
  }
  if (ring.loads.empty() || states > kMostStates || bytes > kMostBytes)
    return {};
  // Wide ones first: each begins where its size divides.
  llvm::sort(ring.loads, [&](LoadOp x, LoadOp y) {
    return std::pair(-bytesOf(x), order.lookup(x)) <
           std::pair(-bytesOf(y), order.lookup(y));
  });
  ring.slots = llvm::bit_floor(uint64_t(kBytesOfWarp / (bytes * warpSize)));
  ring.slots = std::clamp(ring.slots, kFewestSlots, kMostSlots);
  ring.slotBytes = bytes * threadsOf(plan, warpSize);
  return ring;
}

static Value bytesFurther(ScalarBuilder &b, Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

/// Each load's bytes of all threads follow each other. A step that there is not
/// is copied as nothing, so that every step is one group.
void RegisterLowering::copyStep(const Ring &ring, ArrayRef<Value> addresses,
                                Value slot, Value isThere) {
  int64_t first = 0, threads = threadsOf(plan, warpSize);
  Value memory = bytesFurther(b, ring.memory, slot);
  for (auto [op, address] : llvm::zip_equal(ring.loads, addresses)) {
    int64_t size = bytesOf(op);
    Value mine = b.add(b.i32(first), b.mul(kernel.thread(), b.i32(size)));
    NVVM::CpAsyncOp::create(b, bytesFurther(b, memory, mine), address,
                            uint32_t(size),
                            size == 16 ? NVVM::LoadCacheModifierKind::CG
                                       : NVVM::LoadCacheModifierKind::CA,
                            b.select(isThere, b.i32(size), b.i32(0)));
    first += size * threads;
  }
  NVVM::CpAsyncCommitGroupOp::create(b);
}

RegisterLowering::Ring RegisterLowering::startRing(scf::ForOp loop,
                                                   Scalars &inits) {
  Ring ring = planRing(loop);
  if (!ring)
    return ring;
  ringBytes = std::max(ringBytes, ring.slots * ring.slotBytes);
  ring.memory = memoryOfBlock();
  kernel.scalars.map(loop.getInductionVar(),
                     b.wide(kernel.scalars.lookup(loop.getLowerBound())));
  Scalars addresses, strides;
  for (LoadOp op : ring.loads) {
    addresses.push_back(addressOfFirst(op));
    strides.push_back(kernel.stepStride(Slice::of(op)));
  }
  for (int64_t step = 0; step < ring.slots - 1; ++step) {
    copyStep(ring, addresses, b.i32(step * ring.slotBytes),
             b.below(b.i64(step), kernel.length()));
    for (auto [op, address, stride] :
         llvm::zip_equal(ring.loads, addresses, strides))
      address = kernel.advance(Slice::of(op), address, stride);
  }
  inits.append(addresses);
  inits.push_back(b.i32((ring.slots - 1) * ring.slotBytes));
  return ring;
}

RegisterLowering::Scalars RegisterLowering::turnRing(scf::ForOp loop,
                                                     const Ring &ring,
                                                     ValueRange carried) {
  Scalars addresses(carried.begin(), carried.end());
  Value slot = addresses.pop_back_val();
  Value step = b.wide(kernel.scalars.lookup(loop.getInductionVar()));
  copyStep(ring, addresses, slot,
           b.below(b.add(step, b.i64(ring.slots - 1)), kernel.length()));
  NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(ring.slots - 1));
  Value next = b.add(slot, b.i32(ring.slotBytes));
  next = b.select(b.below(next, b.i32(ring.slots * ring.slotBytes)), next,
                  b.i32(0));
  Value memory = bytesFurther(b, ring.memory, next);
  int64_t first = 0, threads = threadsOf(plan, warpSize);
  for (auto [load, address] : llvm::zip_equal(ring.loads, addresses)) {
    LoadOp op = load;
    Slice slice = Slice::of(op);
    Value mine =
        b.add(b.i32(first), b.mul(kernel.thread(), b.i32(bytesOf(op))));
    ahead[op] = kernel.loadWords(slice, bytesFurther(b, memory, mine),
                                 /*offset=*/0, shapeOf(op.getResult()).second);
    first += bytesOf(op) * threads;
    address = kernel.advance(slice, address, kernel.stepStride(slice));
  }
  addresses.push_back(next);
  return addresses;
}
