//===- WgmmaTest.cpp - wgmma against a plain product ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tests lay the operands out by their own formulas, as the swizzle modes of
// the PTX ISA are described in terms of rows, and fetch the result by the
// layout of the accumulator. All numbers are small multiples of powers of two,
// so the product is exact.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "gtest/gtest.h"

using namespace prism::test;

namespace {

enum class Swizzle { None = 0, B128 = 1, B64 = 2, B32 = 3 };

struct Operand {
  Swizzle swizzle = Swizzle::B128;
  bool isMajorMN = false;
};

struct Case {
  std::string name;
  unsigned n;
  Operand a, b;
  bool isBF16 = true, inRegisters = false, inAssembly = false;
  bool isUntied = false; ///< the first product has outputs only
};

constexpr unsigned kDepth = 64; ///< of the product: four wgmmas
constexpr unsigned kOperandBytes = 32768;

/// 16-byte pieces in a row of a swizzled tile.
unsigned piecesOf(Swizzle swizzle) {
  return swizzle == Swizzle::B128  ? 8
         : swizzle == Swizzle::B64 ? 4
         : swizzle == Swizzle::B32 ? 2
                                   : 1;
}

/// A matrix of `lines` lines with `length` neighbours each is cut into slabs as
/// wide as the swizzle; a slab is stored line by line, each line's pieces
/// permuted. (Without swizzle a slab is one piece wide.)
struct Layout {
  Layout(Operand operand, unsigned mn)
      : operand(operand), lines(operand.isMajorMN ? kDepth : mn),
        pieces(piecesOf(operand.swizzle)) {}

  unsigned slabBytes() const { return lines * pieces * 16; }

  unsigned place(unsigned mn, unsigned k) const {
    unsigned line = operand.isMajorMN ? k : mn,
             column = operand.isMajorMN ? mn : k;
    unsigned slab = column / (8 * pieces), piece = column / 8 % pieces;
    unsigned phase = line;
    if (operand.swizzle == Swizzle::B64)
      phase = line / 2;
    if (operand.swizzle == Swizzle::B32)
      phase = line / 4;
    unsigned swizzled =
        operand.swizzle == Swizzle::None ? 0 : piece ^ (phase % pieces);
    return slab * slabBytes() + (line * pieces + swizzled) * 16 +
           column % 8 * 2;
  }

  /// Of the wgmma that takes k from 16 * step on; the address is added later.
  uint64_t descriptor(unsigned step) const {
    uint64_t leading = 1, stride = 8 * pieces * 16, start = 0;
    if (operand.isMajorMN) {
      // 16 lines further.
      start = step * 16 * pieces * 16;
      leading = slabBytes() / 16;
      if (operand.swizzle == Swizzle::None) {
        stride = slabBytes();
        leading = 8; // eight lines of 16 bytes, in units of 16
      }
    } else if (operand.swizzle == Swizzle::None) {
      start = step * 2 * slabBytes();
      leading = slabBytes() / 16;
    } else {
      unsigned slab = step * 16 / (8 * pieces);
      start = slab * slabBytes() + step * 32 % (pieces * 16);
    }
    return start / 16 | leading << 16 | stride / 16 << 32 |
           uint64_t(operand.swizzle) << 62;
  }

  Operand operand;
  unsigned lines, pieces;
};

std::string number(uint64_t value) { return std::to_string(int64_t(value)); }

/// Copies kOperandBytes twice to shared memory and hands them over.
std::string copyIn() {
  return R"(
  %bytes = arith.constant 65536 : i32
  %step = arith.constant 2048 : i32
  %mine = arith.muli %tid, %c16 : i32
  scf.for %i = %mine to %bytes step %step : i32 {
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %to = llvm.getelementptr %smem[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %from : !llvm.ptr<1> -> vector<4xi32>
    llvm.store %v, %to : vector<4xi32>, !llvm.ptr<3>
  }
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.barrier0
  %address = llvm.ptrtoint %smem : !llvm.ptr<3> to i64
  %mask = arith.constant 0x3ffff : i64
  %four = arith.constant 4 : i64
  %masked = arith.andi %address, %mask : i64
  %units = arith.shrui %masked, %four : i64
)";
}

/// "%da0" to "%da3" or "%db0" to "%db3".
std::string makeDescriptors(const std::string &name, const Layout &layout,
                            unsigned offset) {
  std::string text;
  for (unsigned step = 0; step < kDepth / 16; ++step) {
    std::string id = name + std::to_string(step);
    text += "  %f" + id + " = arith.constant " +
            number(layout.descriptor(step) + offset / 16) + " : i64\n" + "  %" +
            id + " = llvm.add %units, %f" + id + " : i64\n";
  }
  return text;
}

/// A's fragments by ldmatrix from a row-major 64 x 64 tile without swizzle or
/// padding: "%a<step>_0" to "%a<step>_3".
std::string loadFragments() {
  std::string text = R"(
  %lr = arith.andi %lane, %c15 : i32
  %warpRow = arith.muli %warp, %c16 : i32
  %row = arith.addi %lr, %warpRow : i32
  %rowBytes = arith.muli %row, %c128 : i32
  %lc = arith.shrui %lane, %c4 : i32
  %lcBytes = arith.muli %lc, %c16 : i32
  %fragment = arith.addi %rowBytes, %lcBytes : i32
  %fragments = llvm.getelementptr %smem[%fragment] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
)";
  for (unsigned step = 0; step < kDepth / 16; ++step) {
    std::string s = std::to_string(step);
    text += "  %p" + s + " = llvm.getelementptr %fragments[" +
            std::to_string(32 * step) +
            "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n" + "  %a" + s +
            " = nvvm.ldmatrix %p" + s +
            " {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = "
            "#nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = "
            "#nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> "
            "!llvm.struct<(i32, i32, i32, i32)>\n";
    for (unsigned r = 0; r < 4; ++r)
      text += "  %a" + s + "_" + std::to_string(r) + " = llvm.extractvalue %a" +
              s + "[" + std::to_string(r) +
              "] : !llvm.struct<(i32, i32, i32, i32)>\n";
  }
  return text;
}

std::string nvvmProduct(const Case &c, unsigned step) {
  std::string type = c.isBF16 ? "bf16" : "f16", s = std::to_string(step);
  std::string in = step ? "%d" + std::to_string(step - 1) : "%zero";
  auto operand = [&](const char *name, bool isRow) {
    return std::string(name) + " [#nvvm.wgmma_type<" + type +
           ">, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<" +
           (isRow ? "row" : "col") + ">]";
  };
  return "  %d" + s + " = nvvm.wgmma.mma_async %da" + s + ", %db" + s + ", " +
         in + ", #nvvm.shape<m = 64, n = " + std::to_string(c.n) +
         ", k = 16>, D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<" +
         (step ? "one" : "zero") + ">], " + operand("A", !c.a.isMajorMN) +
         ", " + operand("B", c.b.isMajorMN) + " : !acc -> !acc\n";
}

std::string assemblyProduct(const Case &c, unsigned step) {
  std::string type = c.isBF16 ? "bf16" : "f16", s = std::to_string(step);
  std::string in = step ? "%d" + std::to_string(step - 1) : "%zero";
  unsigned count = c.n / 2;
  bool isUntied = c.isUntied && step == 0;
  std::string text, list, outs, ties, operands, types;
  for (unsigned i = 0; i < count; ++i) {
    std::string n = std::to_string(i), comma = i ? ", " : "";
    outs += "=f,";
    list += comma + "$" + n;
    if (isUntied)
      continue;
    text += "  %x" + s + "_" + n + " = llvm.extractvalue " + in + "[" + n +
            "] : !acc\n";
    ties += n + ",";
    operands += "%x" + s + "_" + n + ", ";
    types += "f32, ";
  }
  unsigned next = isUntied ? count : 2 * count;
  std::string a, constraints;
  if (c.inRegisters) {
    a = "{";
    for (unsigned r = 0; r < 4; ++r) {
      a += (r ? ", $" : "$") + std::to_string(next++);
      operands += "%a" + s + "_" + std::to_string(r) + ", ";
      types += "i32, ";
      constraints += "r,";
    }
    a += "}";
  } else {
    a = "$" + std::to_string(next++);
    operands += "%da" + s + ", ";
    types += "i64, ";
    constraints += "l,";
  }
  std::string b = "$" + std::to_string(next);
  text += "  %d" + s +
          " = llvm.inline_asm has_side_effects asm_dialect = att "
          "\"wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(c.n) + "k16.f32." + type + "." + type + " {" + list +
          "}, " + a + ", " + b + ", " + (step ? "1" : "0") + ", 1, 1" +
          (c.inRegisters   ? ""
           : c.a.isMajorMN ? ", 1"
                           : ", 0") +
          (c.b.isMajorMN ? ", 1" : ", 0") + ";\", \"" + outs + ties +
          constraints + "l\" " + operands + "%db" + s + " : (" + types +
          "i64) -> !acc\n";
  return text;
}

std::string makeKernel(const Case &c) {
  std::string body = "  %zero = llvm.mlir.zero : !acc\n" + copyIn();
  body += makeDescriptors("db", Layout(c.b, c.n), kOperandBytes);
  if (c.inRegisters)
    body += loadFragments();
  else
    body += makeDescriptors("da", Layout(c.a, 64), 0);
  body += "  nvvm.wgmma.fence.aligned\n";
  for (unsigned step = 0; step < kDepth / 16; ++step)
    body += c.inAssembly || c.inRegisters ? assemblyProduct(c, step)
                                          : nvvmProduct(c, step);
  body += "  nvvm.wgmma.commit.group.sync.aligned\n"
          "  nvvm.wgmma.wait.group.sync.aligned 0\n"
          "  %count = arith.constant " +
          std::to_string(c.n / 2) +
          " : i32\n"
          "  %first = arith.muli %tid, %count : i32\n"
          "  %where = llvm.getelementptr %out[%first] : (!llvm.ptr<1>, i32) -> "
          "!llvm.ptr<1>, f32\n";
  for (unsigned i = 0; i < c.n / 2; ++i) {
    std::string n = std::to_string(i);
    body += "  %e" + n + " = llvm.extractvalue %d3[" + n + "] : !acc\n  %w" +
            n + " = llvm.getelementptr %where[" + n +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n  llvm.store %e" + n +
            ", %w" + n + " : f32, !llvm.ptr<1>\n";
  }
  std::string type = "!acc = !llvm.struct<(f32";
  for (unsigned i = 1; i < c.n / 2; ++i)
    type += ", f32";
  return type + ")>\n" + wrap(body);
}

class Wgmma : public testing::TestWithParam<Case> {};

TEST_P(Wgmma, EqualsThePlainProduct) {
  const Case &c = GetParam();
  std::vector<float> a = randomHalves(64 * kDepth, 1),
                     b = randomHalves(c.n * kDepth, 2);
  std::vector<uint8_t> in(2 * kOperandBytes), out(64 * c.n * 4);
  Layout layoutA(c.a, 64), layoutB(c.b, c.n);
  for (unsigned k = 0; k < kDepth; ++k) {
    for (unsigned m = 0; m < 64; ++m)
      put(in, c.inRegisters ? m * 128 + k * 2 : layoutA.place(m, k),
          toHalf(a[m * kDepth + k], c.isBF16));
    for (unsigned n = 0; n < c.n; ++n)
      put(in, kOperandBytes + layoutB.place(n, k),
          toHalf(b[n * kDepth + k], c.isBF16));
  }
  Kernel kernel(makeKernel(c), 128, 2 * kOperandBytes);
  ASSERT_TRUE(kernel.isParsed());
  ASSERT_EQ(kernel.run(in, out), "");
  for (unsigned m = 0; m < 64; ++m)
    for (unsigned n = 0; n < c.n; ++n) {
      float expected = 0;
      for (unsigned k = 0; k < kDepth; ++k)
        expected += a[m * kDepth + k] * b[n * kDepth + k];
      // Row m is held by warp m / 16, in the eight groups of four lanes and in
      // two halves; a group holds two columns of eight in each lane.
      unsigned lane = m % 8 * 4 + n % 8 / 2;
      unsigned reg = n / 8 * 4 + m % 16 / 8 * 2 + n % 2;
      ASSERT_EQ(at<float>(out, (m / 16 * 32 + lane) * (c.n / 2) + reg),
                expected)
          << "row " << m << ", column " << n;
    }
}

std::vector<Case> makeCases() {
  std::vector<Case> cases;
  for (Swizzle swizzle :
       {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128})
    for (unsigned majors = 0; majors < 4; ++majors) {
      Operand a{swizzle, (majors & 1) != 0}, b{swizzle, (majors & 2) != 0};
      cases.push_back({"Pieces" + std::to_string(piecesOf(swizzle)) +
                           (a.isMajorMN ? "MMajor" : "KMajor") +
                           (b.isMajorMN ? "NMajor" : "KMajor"),
                       64, a, b});
    }
  Operand k{Swizzle::B128, false}, mn{Swizzle::B128, true};
  cases.push_back({"N8", 8, k, k});
  cases.push_back({"N24", 24, k, k});
  cases.push_back({"N128", 128, k, mn});
  cases.push_back({"N256", 256, mn, k});
  cases.push_back({"F16", 64, k, mn, false});
  cases.push_back({"AssemblyDescriptors", 64, mn, k, true, false, true});
  cases.push_back({"AInRegisters", 64, k, k, true, true});
  cases.push_back({"AInRegistersNMajor", 128, k, mn, true, true});
  cases.push_back({"AInRegistersF16", 32, k, k, false, true});
  cases.push_back({"AInRegistersUntied", 64, k, mn, true, true, false, true});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Forms, Wgmma, testing::ValuesIn(makeCases()),
                         [](const testing::TestParamInfo<Case> &info) {
                           return info.param.name;
                         });

} // namespace
