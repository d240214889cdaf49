//===- Matrix.cpp - Matrix instructions of one warp -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Floats.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::test;
using llvm::Twine;

static bool isWholeWarp(Machine &machine, Warp &warp) {
  if (warp.mask == ~0u)
    return true;
  machine.fail("a matrix instruction that some lane does not reach");
  return false;
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix
//===----------------------------------------------------------------------===//

namespace {
struct Tiles {
  uint32_t address;
  Registers registers; ///< one for each 8 x 8 matrix
  bool isTransposed;
};
} // namespace

/// Lane l of matrix t holds (l / 4, 2 (l % 4)) and the element beside it;
/// transposed, the element below. Lanes 8t .. 8t+7 give the rows' addresses.
static void runLoad(Machine &machine, Warp &warp, const Tiles &tiles) {
  if (!isWholeWarp(machine, warp))
    return;
  for (unsigned tile = 0; tile < tiles.registers.size(); ++tile) {
    uint16_t matrix[8][8] = {};
    for (unsigned row = 0; row < 8; ++row) {
      unsigned lane = 8 * tile + row;
      machine.shared.read(warp.lane(tiles.address)[lane], 16, matrix[row],
                          warp.thread(lane));
    }
    uint64_t *out = warp.lane(tiles.registers[tile]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned major = lane / 4, minor = 2 * (lane % 4);
      out[lane] =
          tiles.isTransposed
              ? matrix[minor][major] | uint32_t(matrix[minor + 1][major]) << 16
              : matrix[major][minor] | uint32_t(matrix[major][minor + 1]) << 16;
    }
  }
}

static void runStore(Machine &machine, Warp &warp, const Tiles &tiles) {
  if (!isWholeWarp(machine, warp))
    return;
  for (unsigned tile = 0; tile < tiles.registers.size(); ++tile) {
    uint16_t matrix[8][8];
    const uint64_t *in = warp.lane(tiles.registers[tile]);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned half = 0; half < 2; ++half) {
        unsigned major = lane / 4, minor = 2 * (lane % 4) + half;
        uint16_t bits = uint16_t(in[lane] >> 16 * half);
        (tiles.isTransposed ? matrix[minor][major] : matrix[major][minor]) =
            bits;
      }
    for (unsigned row = 0; row < 8; ++row) {
      unsigned lane = 8 * tile + row;
      machine.shared.write(warp.lane(tiles.address)[lane], 16, matrix[row],
                           warp.thread(lane));
    }
  }
  ++machine.events;
}

static bool isPlain(NVVM::LdStMatrixShapeAttr shape,
                    NVVM::LdStMatrixEltType type) {
  return shape.getM() == 8 && shape.getN() == 8 &&
         type == NVVM::LdStMatrixEltType::B16;
}

static bool decodeLoadStore(Decoder &decoder, Operation *op) {
  if (auto load = dyn_cast<NVVM::LdMatrixOp>(op)) {
    if (!isPlain(load.getShape(), load.getEltType()))
      return false;
    Tiles tiles{decoder.scalar(load.getPtr()), decoder.fresh(load.getType()),
                load.getLayout() == NVVM::MMALayout::col};
    decoder.bind(load, tiles.registers);
    decoder.emit(
        {tiles.address}, tiles.registers,
        [=](Machine &machine, Warp &warp) { runLoad(machine, warp, tiles); });
    return true;
  }
  auto store = dyn_cast<NVVM::StMatrixOp>(op);
  if (!store || !isPlain(store.getShape(), store.getEltType()))
    return false;
  Tiles tiles{decoder.scalar(store.getPtr()),
              {},
              store.getLayout() == NVVM::MMALayout::col};
  for (Value source : store.getSources())
    tiles.registers.push_back(decoder.scalar(source));
  Registers reads = tiles.registers;
  reads.push_back(tiles.address);
  decoder.emit(reads, {}, [=](Machine &machine, Warp &warp) {
    runStore(machine, warp, tiles);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

static float half(uint64_t bits, unsigned index, bool isBF16) {
  uint64_t element = bits >> 16 * index;
  return isBF16 ? asBF16(element) : asF16(element);
}

/// m16n8k16. Lane l = 4g + t. A: register r holds row g + 8 (r % 2), columns
/// 2t + 8 (r / 2) and the next. B: rows 2t + 8r and the next, column g. C:
/// register r holds row g + 8 (r / 2), column 2t + r % 2.
static void runProduct(Machine &machine, Warp &warp, const Registers &from,
                       const Registers &to, bool isBF16) {
  if (!isWholeWarp(machine, warp))
    return;
  float a[16][16], b[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane / 4, twice = 2 * (lane % 4);
    for (unsigned h = 0; h < 2; ++h) {
      for (unsigned r = 0; r < 4; ++r)
        a[group + 8 * (r % 2)][twice + 8 * (r / 2) + h] =
            half(warp.lane(from[r])[lane], h, isBF16);
      for (unsigned r = 0; r < 2; ++r)
        b[twice + 8 * r + h][group] =
            half(warp.lane(from[4 + r])[lane], h, isBF16);
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 4; ++r) {
      unsigned row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
      double sum = asF32(warp.lane(from[6 + r])[lane]);
      for (unsigned k = 0; k < 16; ++k)
        sum += double(a[row][k]) * b[k][column];
      warp.lane(to[r])[lane] = bitsOfF32(float(sum));
    }
}

/// m16n8k8 of tf32: f32 bits of which the last 13 are not looked at. Lane l =
/// 4g + t. A: register r holds row g + 8 (r % 2), column t + 4 (r / 2). B: row
/// t + 4r, column g. C as above.
static void runProductTf32(Machine &machine, Warp &warp, const Registers &from,
                           const Registers &to) {
  if (!isWholeWarp(machine, warp))
    return;
  auto element = [&](unsigned reg, unsigned lane) {
    return asF32(warp.lane(from[reg])[lane] & 0xffffe000);
  };
  float a[16][8], b[8][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane / 4, within = lane % 4;
    for (unsigned r = 0; r < 4; ++r)
      a[group + 8 * (r % 2)][within + 4 * (r / 2)] = element(r, lane);
    for (unsigned r = 0; r < 2; ++r)
      b[within + 4 * r][group] = element(4 + r, lane);
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 4; ++r) {
      unsigned row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
      double sum = asF32(warp.lane(from[6 + r])[lane]);
      for (unsigned k = 0; k < 8; ++k)
        sum += double(a[row][k]) * b[k][column];
      warp.lane(to[r])[lane] = bitsOfF32(float(sum));
    }
}

static bool decodeProduct(Decoder &decoder, Operation *op) {
  auto mma = dyn_cast<NVVM::MmaOp>(op);
  if (!mma)
    return false;
  NVVM::MMAShapeAttr shape = mma.getShape();
  auto type = mma.getMultiplicandAPtxType();
  if (!type || type != mma.getMultiplicandBPtxType())
    return false;
  bool isTf32 = *type == NVVM::MMATypes::tf32,
       isBF16 = *type == NVVM::MMATypes::bf16;
  if ((!isTf32 && !isBF16 && *type != NVVM::MMATypes::f16) ||
      shape.getM() != 16 || shape.getN() != 8 ||
      shape.getK() != (isTf32 ? 8 : 16) ||
      mma.getLayoutA() != NVVM::MMALayout::row ||
      mma.getLayoutB() != NVVM::MMALayout::col)
    return false;
  Registers from;
  for (Value operand : op->getOperands())
    llvm::append_range(from, decoder.of(operand));
  Registers to = decoder.fresh(mma.getType());
  // An f16 accumulator has two registers, not four.
  if (from.size() != 10 || to.size() != 4)
    return false;
  decoder.bind(mma, to);
  decoder.emit(from, to, [=](Machine &machine, Warp &warp) {
    isTf32 ? runProductTf32(machine, warp, from, to)
           : runProduct(machine, warp, from, to, isBF16);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// What is packed of two f32, where a text says it.
static std::optional<Float> packedByText(Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!assembly || assembly.getConstraints() != "=r,f,f")
    return std::nullopt;
  return llvm::StringSwitch<std::optional<Float>>(assembly.getAsmString())
      .Case("cvt.rn.bf16x2.f32 $0, $1, $2;", Float::BF16)
      .Case("cvt.rn.f16x2.f32 $0, $1, $2;", Float::F16)
      .Default(std::nullopt);
}

static bool decodePacking(Decoder &decoder, Operation *op) {
  uint32_t high, low;
  Float kind;
  auto read = [&](auto convert, Float to) {
    high = decoder.scalar(convert.getSrcHi());
    low = decoder.scalar(convert.getSrcLo());
    kind = to;
    return convert.getRnd() == NVVM::FPRoundingMode::RN && !convert.getRelu() &&
           !convert.getRandomBits() &&
           convert.getSat() == NVVM::SaturationMode::NONE;
  };
  if (auto convert = dyn_cast<NVVM::ConvertF32x2ToBF16x2Op>(op)) {
    if (!read(convert, Float::BF16))
      return false;
  } else if (auto convert = dyn_cast<NVVM::ConvertF32x2ToF16x2Op>(op)) {
    if (!read(convert, Float::F16))
      return false;
  } else if (std::optional<Float> packed = packedByText(op)) {
    kind = *packed;
    high = decoder.scalar(op->getOperand(0));
    low = decoder.scalar(op->getOperand(1));
  } else {
    return false;
  }
  uint32_t to = decoder.fresh();
  decoder.bind(op->getResult(0), {to});
  decoder.emit({high, low}, {to}, [=](Machine &, Warp &warp) {
    forLanes(warp.mask, [&](unsigned lane) {
      warp.lane(to)[lane] = fromReal(kind, asF32(warp.lane(low)[lane])) |
                            fromReal(kind, asF32(warp.lane(high)[lane])) << 16;
    });
  });
  return true;
}

bool prism::test::decodeMatrix(Decoder &decoder, Operation *op) {
  return decodeLoadStore(decoder, op) || decodeProduct(decoder, op) ||
         decodePacking(decoder, op);
}
