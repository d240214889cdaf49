//===- WarpTest.cpp - Matrix instructions and shuffles of a warp ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace prism::test;

namespace {

const char *kStruct2 = "!llvm.struct<(i32, i32)>";
const char *kStruct4 = "!llvm.struct<(i32, i32, i32, i32)>";
const char *kPlain = "shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType "
                     "= #nvvm.ld_st_matrix_elt_type<b16>";

std::string typeOf(unsigned count) {
  return count == 1 ? "i32" : count == 2 ? kStruct2 : kStruct4;
}

struct Matrices {
  unsigned count;
  bool isTransposed;
};

class MatrixMoves : public testing::TestWithParam<Matrices> {};

/// Matrix m has its row r at 16-byte piece (r * 4 + m): rows apart, so that
/// addresses count. Element (r, c) of matrix m is m * 64 + r * 8 + c.
const char *kRows = R"(
  %matrix = arith.shrui %lane, %c3 : i32
  %r = arith.andi %lane, %c7 : i32
  %r4 = arith.muli %r, %c4 : i32
  %piece = arith.addi %r4, %matrix : i32
  %rowBytes = arith.muli %piece, %c16 : i32
  %row = llvm.getelementptr %smem[%rowBytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %bytes = arith.muli %lane, %c16 : i32
  %own = llvm.getelementptr %smem[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %from = llvm.getelementptr %in[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %to = llvm.getelementptr %out[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
)";

/// What register `m` of `lane` holds, as two elements.
std::pair<uint16_t, uint16_t> expected(unsigned m, unsigned lane,
                                       bool isTransposed) {
  auto element = [&](unsigned major, unsigned minor) {
    return uint16_t(isTransposed ? m * 64 + minor * 8 + major
                                 : m * 64 + major * 8 + minor);
  };
  unsigned major = lane / 4, minor = lane % 4 * 2;
  return {element(major, minor), element(major, minor + 1)};
}

TEST_P(MatrixMoves, Load) {
  auto [count, isTransposed] = GetParam();
  std::string body = std::string(kRows) + R"(
  %image = llvm.load %from : !llvm.ptr<1> -> vector<4xi32>
  llvm.store %image, %own : vector<4xi32>, !llvm.ptr<3>
  nvvm.bar.warp.sync %all : i32
  %m = nvvm.ldmatrix %row {num = )" +
                     std::to_string(count) +
                     " : i32, layout = #nvvm.mma_layout<" +
                     (isTransposed ? "col" : "row") + ">, " + kPlain +
                     "} : (!llvm.ptr<3>) -> " + typeOf(count) + "\n";
  for (unsigned i = 0; i < count; ++i) {
    std::string n = std::to_string(i);
    std::string value = "%m";
    if (count > 1) {
      value = "%v" + n;
      body += "  " + value + " = llvm.extractvalue %m[" + n +
              "] : " + typeOf(count) + "\n";
    }
    body += "  %t" + n + " = llvm.getelementptr %to[" + n +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n  llvm.store " + value +
            ", %t" + n + " : i32, !llvm.ptr<1>\n";
  }
  std::vector<uint8_t> in(512), out(512);
  for (unsigned m = 0; m < 4; ++m)
    for (unsigned r = 0; r < 8; ++r)
      for (unsigned c = 0; c < 8; ++c)
        put(in, (r * 4 + m) * 16 + c * 2, uint16_t(m * 64 + r * 8 + c));
  ASSERT_EQ(Kernel(wrap(body), 32).run(in, out), "");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned m = 0; m < count; ++m) {
      auto [low, high] = expected(m, lane, isTransposed);
      EXPECT_EQ(at<uint16_t>(out, lane * 8 + m * 2), low);
      EXPECT_EQ(at<uint16_t>(out, lane * 8 + m * 2 + 1), high);
    }
}

TEST_P(MatrixMoves, Store) {
  auto [count, isTransposed] = GetParam();
  std::string body = std::string(kRows), list, types;
  for (unsigned i = 0; i < count; ++i) {
    std::string n = std::to_string(i);
    body += "  %f" + n + " = llvm.getelementptr %from[" + n +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n  %v" + n +
            " = llvm.load %f" + n + " : !llvm.ptr<1> -> i32\n";
    list += (i ? ", %v" : "%v") + n;
    types += ", i32";
  }
  body += "  nvvm.stmatrix %row, " + list + " {layout = #nvvm.mma_layout<" +
          (isTransposed ? "col" : "row") + ">, " + kPlain + "} : !llvm.ptr<3>" +
          types + R"(
  nvvm.bar.warp.sync %all : i32
  %few = arith.cmpi ult, %lane, %limit : i32
  scf.if %few {
    %image = llvm.load %row : !llvm.ptr<3> -> vector<4xi32>
    llvm.store %image, %to : vector<4xi32>, !llvm.ptr<1>
  }
)";
  body = "  %limit = arith.constant " + std::to_string(8 * count) + " : i32\n" +
         body;
  std::vector<uint8_t> in(512), out(512);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned m = 0; m < count; ++m) {
      auto [low, high] = expected(m, lane, isTransposed);
      put(in, lane * 16 + m * 4, low);
      put(in, lane * 16 + m * 4 + 2, high);
    }
  ASSERT_EQ(Kernel(wrap(body), 32).run(in, out), "");
  // Lane 8m + r reads back row r of matrix m.
  for (unsigned i = 0; i < count * 64; ++i)
    EXPECT_EQ(at<uint16_t>(out, i), i);
}

INSTANTIATE_TEST_SUITE_P(All, MatrixMoves,
                         testing::Values(Matrices{1, false}, Matrices{2, false},
                                         Matrices{4, false}, Matrices{1, true},
                                         Matrices{2, true}, Matrices{4, true}),
                         [](const testing::TestParamInfo<Matrices> &info) {
                           return "x" + std::to_string(info.param.count) +
                                  (info.param.isTransposed ? "Transposed" : "");
                         });

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// The body of a kernel of one mma.sync: 40 bytes a lane in, A (four words), B
/// (two) and C (four), and D out.
static std::string mmaBody(const std::string &operand, unsigned depth,
                           const std::string &types) {
  std::string body = R"(
  %words = arith.muli %lane, %c10 : i32
  %from = llvm.getelementptr %in[%words] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %places = arith.muli %lane, %c4 : i32
  %to = llvm.getelementptr %out[%places] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
)";
  for (unsigned i = 0; i < 10; ++i) {
    std::string n = std::to_string(i), type = i < 6 ? operand : "f32";
    body += "  %p" + n + " = llvm.getelementptr %from[" + n +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n  %v" + n +
            " = llvm.load %p" + n + " : !llvm.ptr<1> -> " + type + "\n";
  }
  body += "  %d = nvvm.mma.sync A[%v0, %v1, %v2, %v3] B[%v4, %v5] C[%v6, %v7, "
          "%v8, %v9] {layoutA = #nvvm.mma_layout<row>, layoutB = "
          "#nvvm.mma_layout<col>, " +
          types +
          "shape = #nvvm.shape<m = 16, n = 8, k = " + std::to_string(depth) +
          ">} : (" + operand + ", " + operand +
          ", f32) -> !llvm.struct<(f32, f32, f32, f32)>\n";
  for (unsigned i = 0; i < 4; ++i) {
    std::string n = std::to_string(i);
    body += "  %e" + n + " = llvm.extractvalue %d[" + n +
            "] : !llvm.struct<(f32, f32, f32, f32)>\n  %t" + n +
            " = llvm.getelementptr %to[" + n +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n  llvm.store %e" + n +
            ", %t" + n + " : f32, !llvm.ptr<1>\n";
  }
  return body;
}

static std::string bothTypes(const std::string &type) {
  return "multiplicandAPtxType = #nvvm.mma_type<" + type +
         ">, multiplicandBPtxType = #nvvm.mma_type<" + type + ">, ";
}

/// Puts C beside A and B (16 x depth and depth x 8) into `in`, runs the kernel
/// and compares D with the plain product.
static void expectProduct(const std::string &body, std::vector<uint8_t> &in,
                          const std::vector<float> &a,
                          const std::vector<float> &b, unsigned depth) {
  std::vector<float> c = randomHalves(16 * 8, 5);
  std::vector<uint8_t> out(512);
  auto placeOfC = [](unsigned m, unsigned n) {
    return std::pair(m % 8 * 4 + n / 2, m / 8 * 2 + n % 2);
  };
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned n = 0; n < 8; ++n) {
      auto [lane, reg] = placeOfC(m, n);
      put(in, lane * 40 + 24 + reg * 4, c[m * 8 + n]);
    }
  ASSERT_EQ(Kernel(wrap(body), 32).run(in, out), "");
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned n = 0; n < 8; ++n) {
      float sum = c[m * 8 + n];
      for (unsigned k = 0; k < depth; ++k)
        sum += a[m * depth + k] * b[k * 8 + n];
      auto [lane, reg] = placeOfC(m, n);
      EXPECT_EQ(at<float>(out, lane * 4 + reg), sum);
    }
}

class MmaSync : public testing::TestWithParam<bool> {};

TEST_P(MmaSync, EqualsThePlainProduct) {
  bool isBF16 = GetParam();
  std::vector<float> a = randomHalves(16 * 16, 3), b = randomHalves(16 * 8, 4);
  std::vector<uint8_t> in(1280);
  // By element: which lane, register and half holds it.
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned k = 0; k < 16; ++k)
      put(in,
          (m % 8 * 4 + k % 8 / 2) * 40 + (k / 8 * 2 + m / 8) * 4 + k % 2 * 2,
          toHalf(a[m * 16 + k], isBF16));
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned n = 0; n < 8; ++n)
      put(in, (n * 4 + k % 8 / 2) * 40 + 16 + k / 8 * 4 + k % 2 * 2,
          toHalf(b[k * 8 + n], isBF16));
  expectProduct(isBF16 ? mmaBody("i32", 16, bothTypes("bf16"))
                       : mmaBody("vector<2xf16>", 16, ""),
                in, a, b, 16);
}

INSTANTIATE_TEST_SUITE_P(Types, MmaSync, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return info.param ? "bf16" : "f16";
                         });

TEST(MmaSyncTf32, TruncatesAndEqualsThePlainProduct) {
  std::vector<float> a = randomHalves(16 * 8, 3), b = randomHalves(8 * 8, 4);
  // Bits that tf32 does not have: the same result without them.
  auto withMore = [](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    bits |= 0x1fff;
    std::memcpy(&value, &bits, 4);
    return value;
  };
  std::vector<uint8_t> in(1280);
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned k = 0; k < 8; ++k)
      put(in, (m % 8 * 4 + k % 4) * 40 + (k / 4 * 2 + m / 8) * 4,
          withMore(a[m * 8 + k]));
  for (unsigned k = 0; k < 8; ++k)
    for (unsigned n = 0; n < 8; ++n)
      put(in, (n * 4 + k % 4) * 40 + 16 + k / 4 * 4, withMore(b[k * 8 + n]));
  expectProduct(mmaBody("i32", 8, bothTypes("tf32")), in, a, b, 8);
}

TEST(MatrixInstructions, NeedEveryLane) {
  std::string fault = Kernel(wrap(R"(
  %few = arith.cmpi ult, %lane, %c5 : i32
  scf.if %few {
    %v = nvvm.ldmatrix %smem {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
  })"))
                          .run();
  EXPECT_NE(fault.find("some lane does not reach"), std::string::npos) << fault;
}

//===----------------------------------------------------------------------===//
// Shuffles, votes, elections
//===----------------------------------------------------------------------===//

/// Stores the value of %v (i32) of each lane.
std::vector<int32_t> valuesOf(const std::string &body, std::string &fault) {
  std::vector<uint8_t> in(128), out(128);
  fault = Kernel(wrap(body + R"(
  %o = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %v, %o : i32, !llvm.ptr<1>)"),
                 32)
              .run(in, out);
  std::vector<int32_t> values;
  for (unsigned lane = 0; lane < 32; ++lane)
    values.push_back(at<int32_t>(out, lane));
  return values;
}

TEST(Shuffles, EveryKind) {
  std::string fault;
  auto shuffled = [&](const char *form) {
    std::vector<int32_t> values = valuesOf(
        std::string("  %v = nvvm.shfl.sync ") + form + " : i32 -> i32", fault);
    EXPECT_EQ(fault, "");
    return values;
  };
  auto bfly = shuffled("bfly %all, %lane, %c5, %c31");
  auto up = shuffled("up %all, %lane, %c3, %c0");
  auto down = shuffled("down %all, %lane, %c3, %c31");
  auto idx = shuffled("idx %all, %lane, %c9, %c31");
  for (int32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(bfly[lane], lane ^ 5);
    EXPECT_EQ(up[lane], lane < 3 ? lane : lane - 3);
    EXPECT_EQ(down[lane], lane > 28 ? lane : lane + 3);
    EXPECT_EQ(idx[lane], 9);
  }
  valuesOf(R"(
  %few = arith.cmpi ult, %lane, %c5 : i32
  %v = scf.if %few -> (i32) {
    %w = nvvm.shfl.sync idx %all, %lane, %c0, %c31 : i32 -> i32
    scf.yield %w : i32
  } else {
    scf.yield %c0 : i32
  })",
           fault);
  EXPECT_NE(fault.find("a shuffle that lane 5 does not reach"),
            std::string::npos)
      << fault;
}

TEST(Votes, BallotAndElection) {
  std::string fault;
  auto ballot = valuesOf(R"(
  %few = arith.cmpi ult, %lane, %c5 : i32
  %v = nvvm.vote.sync ballot %all, %few -> i32)",
                         fault);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(ballot[20], 31);
  auto elected = valuesOf(R"(
  %e = nvvm.elect.sync -> i1
  %v = arith.extui %e : i1 to i32)",
                          fault);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(std::count(elected.begin(), elected.end(), 1), 1);
}

TEST(Control, DivergentLanes) {
  std::string fault;
  auto values = valuesOf(R"(
  %kind = arith.remui %lane, %c3 : i32
  %case = arith.index_cast %kind : i32 to index
  %x = scf.index_switch %case -> i32
  case 0 {
    %a = arith.addi %lane, %c128 : i32
    scf.yield %a : i32
  }
  case 2 {
    %a = scf.for %i = %c0 to %lane step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %t = arith.addi %s, %i : i32
      scf.yield %t : i32
    }
    scf.yield %a : i32
  }
  default {
    scf.yield %c7 : i32
  }
  %big = arith.cmpi ugt, %x, %c64 : i32
  %v = scf.if %big -> (i32) {
    %y = arith.subi %x, %c64 : i32
    scf.yield %y : i32
  } else {
    scf.yield %x : i32
  })",
                         fault);
  ASSERT_EQ(fault, "");
  for (int lane = 0; lane < 32; ++lane) {
    int x = lane % 3 == 0   ? lane + 128
            : lane % 3 == 2 ? lane * (lane - 1) / 2
                            : 7;
    EXPECT_EQ(values[lane], x > 64 ? x - 64 : x) << lane;
  }
}

TEST(Packing, PairsAndVectors) {
  std::string fault;
  // 1.5 and -2, packed by the instruction, by truncf and by insertelement.
  for (const char *how : {R"(
  %p = nvvm.convert.f32x2.to.bf16x2 %hi, %lo {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>)",
                          R"(
  %u = llvm.mlir.undef : vector<2xf32>
  %x = llvm.insertelement %lo, %u[%c0 : i32] : vector<2xf32>
  %y = llvm.insertelement %hi, %x[%c1 : i32] : vector<2xf32>
  %p = arith.truncf %y : vector<2xf32> to vector<2xbf16>)",
                          R"(
  %u = llvm.mlir.undef : vector<2xbf16>
  %a = arith.truncf %lo : f32 to bf16
  %b = arith.truncf %hi : f32 to bf16
  %x = llvm.insertelement %a, %u[%c0 : i32] : vector<2xbf16>
  %p = llvm.insertelement %b, %x[%c1 : i32] : vector<2xbf16>)"}) {
    auto values = valuesOf(std::string(R"(
  %lo = arith.constant 1.5 : f32
  %hi = arith.constant -2.0 : f32)") +
                               how +
                               R"(
  %v = llvm.bitcast %p : vector<2xbf16> to i32)",
                           fault);
    EXPECT_EQ(fault, "");
    EXPECT_EQ(uint32_t(values[0]), 0xc0003fc0u);
  }
}

/// The interpreter's numbers against C++.
TEST(Arithmetic, Reals) {
  std::string fault;
  auto values = valuesOf(R"(
  %x = arith.sitofp %lane : i32 to f32
  %k = arith.constant 0.37 : f32
  %a = llvm.fmul %x, %k : f32
  %b = llvm.intr.exp2(%a) : (f32) -> f32
  %c = llvm.intr.fma(%b, %k, %x) : (f32, f32, f32) -> f32
  %d = arith.cmpf ugt, %c, %b : f32
  %e = arith.select %d, %c, %b : f32
  %f = llvm.bitcast %e : f32 to i32
  %v = llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" %f : (i32) -> i32)",
                         fault);
  EXPECT_EQ(fault, "");
  for (int lane = 0; lane < 32; ++lane) {
    float x = float(lane), k = 0.37f;
    float b = float(std::exp2(double(x * k))), c = std::fma(b, k, x);
    float expected = c > b ? c : b;
    int32_t bits;
    std::memcpy(&bits, &expected, 4);
    EXPECT_EQ(values[lane], bits);
  }
}

} // namespace
