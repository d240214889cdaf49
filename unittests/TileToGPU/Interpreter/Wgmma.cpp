//===- Wgmma.cpp - Descriptors and products of a warp group ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The product is computed when it is issued. That is as good as at its wait:
// until then its results must not be used nor its operands changed, and both
// are faults here.
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "Floats.h"

using namespace prism::test;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

unsigned Descriptor::pieces() const {
  static const unsigned ofMode[] = {1, 8, 4, 2};
  return ofMode[bits >> 62];
}

std::optional<std::string> Descriptor::fault() const {
  constexpr uint64_t kFields = 0xc0003fff3fff3fffull;
  if (bits & ~kFields)
    return "a descriptor with bits outside its fields (a base offset, or an "
           "address that is not masked)";
  // The pattern repeats every 16 * 8 * pieces bytes and starts at 0.
  if (start() & 128 * (pieces() - 1))
    return "a descriptor that does not start where its swizzle pattern does";
  return std::nullopt;
}

uint64_t Descriptor::addressOf(unsigned mn, unsigned k, bool isMajorMN) const {
  unsigned width = pieces();
  uint64_t address = start();
  if (isMajorMN) {
    unsigned piece = mn / 8;
    address += k % 8 * width * 16 + mn % 8 * 2;
    address += width == 1 ? piece * stride() + k / 8 * leading()
                          : piece % width * 16 + piece / width * leading() +
                                k / 8 * stride();
  } else {
    address += mn % 8 * width * 16 + mn / 8 * stride() + k % 8 * 2;
    address += k / 8 * (width == 1 ? leading() : 16);
  }
  return address ^ (address >> 7 & (width - 1)) << 4;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static float half(uint64_t bits, bool isBF16) {
  return isBF16 ? asBF16(bits) : asF16(bits);
}

/// All 128 lanes must have the same descriptor.
static std::optional<Descriptor> readDescriptor(Machine &machine,
                                                unsigned group, uint32_t reg) {
  uint64_t first = machine.warps[4 * group].lane(reg)[0];
  for (unsigned warp = 4 * group; warp < 4 * group + 4; ++warp)
    for (unsigned lane = 0; lane < 32; ++lane)
      if (machine.warps[warp].lane(reg)[lane] != first) {
        machine.fail("a descriptor that is not the same in the warp group");
        return std::nullopt;
      }
  Descriptor descriptor(first);
  if (std::optional<std::string> fault = descriptor.fault()) {
    machine.fail(*fault);
    return std::nullopt;
  }
  return descriptor;
}

/// Fills `to`[mn][k] piece by piece: eight elements that lie side by side.
static void readShared(Machine &machine, const Descriptor &descriptor,
                       unsigned count, bool isMajorMN, bool isBF16,
                       const WgmmaReader &reader,
                       std::vector<std::array<float, 16>> &to) {
  // A descriptor has no room for the block: it is the warp group's own.
  unsigned rank = machine.warps[4 * reader.group].rank;
  unsigned stepMN = isMajorMN ? 8 : 1, stepK = isMajorMN ? 1 : 8;
  for (unsigned mn = 0; mn < count; mn += stepMN)
    for (unsigned k = 0; k < 16; k += stepK) {
      const uint8_t *piece = machine.shared.readByWgmma(
          SharedMemory::mapTo(descriptor.addressOf(mn, k, isMajorMN), rank),
          reader);
      if (!piece || machine.hasFailed())
        return;
      for (unsigned i = 0; i < 8; ++i) {
        uint64_t bits = piece[2 * i] | piece[2 * i + 1] << 8;
        to[isMajorMN ? mn + i : mn][isMajorMN ? k : k + i] = half(bits, isBF16);
      }
    }
}

/// Register r of lane 4g + t holds row g + 8 (r % 2), columns 2t + 8 (r / 2)
/// and the next; a warp has 16 rows.
static void readFragment(Machine &machine, unsigned group,
                         const WgmmaSpec &spec,
                         std::vector<std::array<float, 16>> &to) {
  for (unsigned w = 0; w < 4; ++w)
    for (unsigned r = 0; r < 4; ++r) {
      const uint64_t *bits = machine.warps[4 * group + w].lane(spec.a[r]);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned h = 0; h < 2; ++h)
          to[16 * w + lane / 4 + 8 * (r % 2)]
            [2 * (lane % 4) + 8 * (r / 2) + h] =
                half(bits[lane] >> 16 * h, spec.isBF16);
    }
}

//===----------------------------------------------------------------------===//
// Rules of registers
//===----------------------------------------------------------------------===//

static bool checkFenced(Machine &machine, Warp &warp, uint32_t reg) {
  if (warp.states[reg].stamp <= warp.fenced)
    return true;
  machine.fail("missing wgmma.fence: warp " + Twine(warp.index) +
               " wrote a register of this wgmma after its last fence");
  return false;
}

static bool checkRegisters(Machine &machine, Warp &warp, const WgmmaSpec &spec,
                           bool adds) {
  if (!warp.fenced) {
    machine.fail("missing wgmma.fence before the first wgmma");
    return false;
  }
  const std::vector<uint16_t> &shapes = machine.shapes[warp.index / 4];
  for (uint32_t reg : spec.inputs) {
    uint32_t product = warp.states[reg].product;
    if (product == kUndefined && adds) {
      machine.fail("a wgmma that adds to an undefined accumulator");
      return false;
    }
    // In one shape wgmmas follow each other in order, in flight or not.
    if (product != kUndefined && product > warp.retired &&
        shapes[product - 1] != spec.n) {
      machine.fail("an accumulator in flight from a wgmma of another shape");
      return false;
    }
    if (!checkFenced(machine, warp, reg))
      return false;
  }
  if (spec.a.size() == 1)
    return true;
  for (uint32_t reg : spec.a) {
    if (warp.states[reg].product > warp.retired) {
      machine.fail("an A fragment that is undefined or that a wgmma not waited "
                   "for writes");
      return false;
    }
    if (!checkFenced(machine, warp, reg))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Product
//===----------------------------------------------------------------------===//

/// Register i of lane 4g + t holds row g + 8 (i / 2 % 2), column 8 (i / 4) + 2t
/// + i % 2.
static void multiply(Warp &warp, unsigned rank, const WgmmaSpec &spec,
                     bool adds, const std::vector<std::array<float, 16>> &a,
                     const std::vector<std::array<float, 16>> &b) {
  bool isNegated = spec.isNegatedA != spec.isNegatedB;
  for (unsigned i = 0; i < spec.n / 2; ++i) {
    const uint64_t *in = warp.lane(spec.inputs[i]);
    uint64_t *out = warp.lane(spec.outputs[i]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const auto &row = a[16 * rank + lane / 4 + 8 * (i / 2 % 2)];
      const auto &column = b[8 * (i / 4) + 2 * (lane % 4) + i % 2];
      double sum = 0;
      for (unsigned k = 0; k < 16; ++k)
        sum += double(row[k]) * column[k];
      sum = isNegated ? -sum : sum;
      out[lane] = bitsOfF32(float(adds ? asF32(in[lane]) + sum : sum));
    }
  }
}

static std::optional<bool> readScale(Machine &machine, unsigned group,
                                     const WgmmaSpec &spec) {
  if (!spec.predicate)
    return spec.addsToD;
  bool first = machine.warps[4 * group].lane(*spec.predicate)[0] != 0;
  for (unsigned warp = 4 * group; warp < 4 * group + 4; ++warp)
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((machine.warps[warp].lane(*spec.predicate)[lane] != 0) != first) {
        machine.fail("a scale-d that is not the same in the warp group");
        return std::nullopt;
      }
  return first;
}

void prism::test::issueWgmma(Machine &machine, unsigned group,
                             const WgmmaSpec &spec) {
  std::optional<bool> adds = readScale(machine, group, spec);
  if (!adds)
    return;
  for (unsigned warp = 4 * group; warp < 4 * group + 4; ++warp)
    if (!checkRegisters(machine, machine.warps[warp], spec, *adds))
      return;
  machine.shapes[group].push_back(uint16_t(spec.n));
  WgmmaReader reader{group, uint32_t(machine.shapes[group].size()),
                     machine.clocks.common(128 * group, 128)};
  std::vector<std::array<float, 16>> a(64), b(spec.n);
  if (spec.a.size() == 4)
    readFragment(machine, group, spec, a);
  else if (auto descriptor = readDescriptor(machine, group, spec.a[0]))
    readShared(machine, *descriptor, 64, spec.isTransposedA, spec.isBF16,
               reader, a);
  if (auto descriptor = readDescriptor(machine, group, spec.b))
    readShared(machine, *descriptor, spec.n, spec.isTransposedB, spec.isBF16,
               reader, b);
  for (unsigned w = 0; w < 4 && !machine.hasFailed(); ++w) {
    Warp &warp = machine.warps[4 * group + w];
    multiply(warp, w, spec, *adds, a, b);
    warp.issued = reader.number;
    for (uint32_t reg : spec.outputs)
      warp.states[reg] = {reader.number, 0, 0};
    if (spec.a.size() == 4)
      for (uint32_t reg : spec.a)
        warp.states[reg].reader = reader.number;
  }
}
