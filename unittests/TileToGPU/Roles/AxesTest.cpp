//===- AxesTest.cpp - Arrays whose last axis is not a token's own ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A spec has heads before keys and values; a module may have them behind. What
// are neighbours in a tile are then none in memory: no access may take several
// at once, however well they are aligned.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "gtest/gtest.h"

using namespace prism::test;

namespace {

constexpr int64_t kSize = 64, kHeads = 8;

/// An array of 16-bit or 32-bit elements whose axes are those letters.
std::string typeOf(const std::string &axes, const std::string &element) {
  std::string type = "tensor<";
  for (char axis : axes)
    type += (axis == 'h'                  ? std::to_string(kHeads)
             : axis == 'k' || axis == 'v' ? std::to_string(kSize)
                                          : "?") +
            "x";
  return type + element + ">";
}

/// S <- exp(g) S + k v', o = S'q, with arrays in these orders; g of each key.
std::string moduleOf(const std::string &keys, const std::string &values,
                     const std::string &gates, const std::string &outputs) {
  std::string q = typeOf("bthk", "bf16"), k = typeOf(keys, "bf16"),
              v = typeOf(values, "bf16"), g = typeOf(gates, "f32"),
              o = typeOf(outputs, "bf16"), s = typeOf("nhkv", "f32");
  return "func.func @forward(%q: " + q + " {scan.name = \"q\"}, %k: " + k +
         " {scan.name = \"k\"}, %v: " + v + " {scan.name = \"v\"}, %g: " + g +
         " {scan.name = \"g\"}) -> (" + o + " {scan.name = \"o\"}, " + s +
         " {scan.name = \"final_state\"}) attributes {scan.entry = "
         "\"forward\"} {\n"
         "  %o, %s = scan.recurrence ins(%q as \"bthk\", %k as \"" +
         keys + "\", %v as \"" + values + "\", %g as \"" + gates + "\" : " + q +
         ", " + k + ", " + v + ", " + g + ") outs(\"" + outputs +
         "\") finals(\"nhkv\") {\n"
         "  ^bb0(%S: tensor<64x64xf32>, %qt: tensor<64xbf16>, %kt: "
         "tensor<64xbf16>, %vt: tensor<64xbf16>, %gt: tensor<64xf32>):\n"
         "    %1 = scan.decay %S by %gt along key : tensor<64x64xf32>, "
         "tensor<64xf32>\n"
         "    %2 = scan.inject %1 key %kt value %vt : tensor<64x64xf32>, "
         "tensor<64xbf16>, tensor<64xbf16>\n"
         "    %3 = scan.read %2 query %qt : tensor<64x64xf32>, "
         "tensor<64xbf16> -> tensor<64xbf16>\n"
         "    scan.yield %2, %3 : tensor<64x64xf32>, tensor<64xbf16>\n"
         "  } -> (" +
         o + "), (" + s + ")\n  return %o, %s : " + o + ", " + s + "\n}\n";
}

void expectRightOf(const std::string &module) {
  RoleKernel kernel(module, 64);
  ASSERT_EQ(kernel.whyNot(), "") << module;
  expectRight(kernel, callOf(70, prism::check::GateSet::mild, false));
}

TEST(Axes, InTheirOrder) {
  expectRightOf(moduleOf("bthk", "bthv", "bthk", "bthv"));
}
TEST(Axes, KeysBeforeHeads) {
  expectRightOf(moduleOf("btkh", "bthv", "bthk", "bthv"));
}
TEST(Axes, ValuesBeforeHeads) {
  expectRightOf(moduleOf("bthk", "btvh", "bthk", "bthv"));
}
TEST(Axes, GatesBeforeHeads) {
  expectRightOf(moduleOf("bthk", "bthv", "btkh", "bthv"));
}
TEST(Axes, OutputsBeforeHeads) {
  expectRightOf(moduleOf("bthk", "bthv", "bthk", "btvh"));
}
/// Steps next to each other.
TEST(Axes, StepsLast) {
  expectRightOf(moduleOf("bhkt", "bhvt", "bhkt", "bhvt"));
}

} // namespace
