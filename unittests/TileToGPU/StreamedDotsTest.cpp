//===- StreamedDotsTest.cpp - Products with a matrix from memory ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// S <- M_p S + B_p from segment to segment, as a kernel in the interpreter, at
// sizes that are streamed and at some that are not, against f64.
//
//===----------------------------------------------------------------------===//

#include "KernelInterpreter.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Programs.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace prism;

namespace {

struct Case {
  int64_t keys, values, block, threads, segments;
  bool streamed;
};
void PrintTo(const Case &c, std::ostream *os) {
  *os << c.keys << " x " << c.values << " in blocks of " << c.block;
}

std::string textOf(const Case &c) {
  std::string k = std::to_string(c.keys), v = std::to_string(c.values),
              w = std::to_string(c.block),
              both = std::to_string(c.keys + c.values);
  std::string state = "!tile.view<" + k + "x" + v + "xf32>",
              map = "!tile.view<?x" + k + "x" + both + "xf32>",
              begin = "!tile.view<?x" + k + "x" + v + "xf32>",
              tile = "tensor<" + k + "x" + w + "xf32>",
              square = "tensor<" + k + "x" + k + "xf32>";
  return "tile.program @kernel(%s0: " + state +
         " as <name = \"initial_state\", axes = \"nhkv\", heads = 1, role = "
         "\"initial_state\", optional = false>, %map: " +
         map +
         " as <name = \"segment_map\", axes = \"nhskv\", heads = 1, role = "
         "\"intermediate\", optional = false>, %begin: " +
         begin +
         " as <name = \"segment_start\", axes = \"nhskv\", heads = 1, role = "
         "\"intermediate\", optional = false>) heads 1 values " +
         v + " block " + w + R"( chunk 1 segments scan {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = arith.constant )" +
         v + R"( : index
  %column = tile.value_offset : index
  %count = tile.length : index
  %last = arith.subi %count, %c1 : index
  %S0 = tile.load %s0[%c0, %column] : )" +
         state + " -> " + tile + R"(
  tile.store one_step %S0, %begin[%c0, %c0, %column] : )" +
         tile + ", " + begin + R"(
  %SN = scf.for %p = %c0 to %last step %c1 iter_args(%S = %S0) -> ()" +
         tile + R"() {
    %B = tile.load one_step %map[%p, %c0, %column] : )" +
         map + " -> " + tile + R"(
    %M = tile.load one_step %map[%p, %c0, %first] : )" +
         map + " -> " + square + R"(
    %N = tile.dot %M, %S, %B : )" +
         square + ", " + tile + " -> " + tile + R"(
    %next = arith.addi %p, %c1 : index
    tile.store one_step %N, %begin[%next, %c0, %column] : )" +
         tile + ", " + begin + R"(
    scf.yield %N : )" +
         tile + R"(
  }
  tile.return
})";
}

class StreamedDots : public testing::TestWithParam<Case> {};

TEST_P(StreamedDots, EqualTheRecurrence) {
  Case c = GetParam();
  MLIRContext context;
  test::prepare(context);
  std::string text = textOf(c);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  tiletogpu::GPUOptions options;
  options.target = *targetinfo::lookupChip("sm_90a");
  options.strategy = tiletogpu::Strategy::Shared;
  options.threads = c.threads;
  FailureOr<tiletogpu::GPUKernelInfo> info =
      tiletogpu::convertTileToGPU(*module, options);
  ASSERT_TRUE(succeeded(info) && succeeded(verify(*module)));
  // What is streamed has no place in shared memory beside S and the next S.
  EXPECT_EQ(info->sharedBytes < 4 * c.keys * (c.keys + 2 * c.block),
            c.streamed);

  int64_t width = c.keys + c.values;
  std::mt19937 random(c.keys + c.segments);
  std::normal_distribution<float> normal;
  std::vector<float> start(c.keys * c.values),
      maps(c.segments * c.keys * width),
      begins(c.segments * c.keys * c.values, NAN);
  for (float &x : start)
    x = normal(random);
  for (float &x : maps)
    x = normal(random) / std::sqrt(float(c.keys));

  test::KernelInterpreter interpreter(
      module->lookupSymbol<LLVM::LLVMFuncOp>("kernel"), info->threads,
      info->sharedBytes);
  std::vector<uint64_t> words;
  for (std::vector<float> *array : {&start, &maps, &begins}) {
    words.push_back(reinterpret_cast<uint64_t>(array->data()));
    interpreter.allow(array->data(), array->size() * sizeof(float));
  }
  int64_t map = c.keys * width, state = c.keys * c.values;
  for (int64_t word :
       {int64_t(1), c.segments, // one sequence, a step each
        state, state, c.values, int64_t(1), c.segments * map, c.segments * map,
        map, width, int64_t(1), c.segments * state, c.segments * state, state,
        c.values, int64_t(1), c.segments})
    words.push_back(word);
  for (int64_t block = 0; block * c.block < c.values; ++block)
    ASSERT_TRUE(interpreter.runBlock(block, words)) << interpreter.error();

  std::vector<double> now(start.begin(), start.end());
  for (int64_t p = 0; p < c.segments; ++p) {
    for (int64_t i = 0; i < state; ++i)
      EXPECT_NEAR(begins[p * state + i], now[i], 2e-5)
          << "segment " << p << ", element " << i;
    std::vector<double> next(state);
    for (int64_t r = 0; r < c.keys; ++r)
      for (int64_t v = 0; v < c.values; ++v) {
        const float *row = &maps[p * map + r * width];
        double sum = row[v];
        for (int64_t k = 0; k < c.keys; ++k)
          sum += double(row[c.values + k]) * now[k * c.values + v];
        next[r * c.values + v] = sum;
      }
    now = next;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, StreamedDots,
    testing::Values(Case{128, 16, 8, 256, 4, true}, // 8 lanes, 4 vectors
                    Case{64, 8, 8, 256, 3, true},   // 16 lanes, one vector
                    Case{32, 16, 16, 32, 3, true},  // 4 lanes
                    Case{64, 12, 8, 64, 3, true},   // a part of the last block
                    Case{128, 8, 8, 256, 1, true},  // no step
                    Case{128, 8, 8, 256, 2, true},  // one
                    Case{60, 8, 8, 256, 3, false},  // 15 groups
                    Case{64, 6, 6, 256, 3, false},  // 24 sums, 16 lanes
                    Case{128, 8, 8, 64, 2, false}), // too many registers
    [](const testing::TestParamInfo<Case> &at) {
      const Case &c = at.param;
      return std::to_string(c.keys) + "keys" + std::to_string(c.values) +
             "values" + std::to_string(c.threads) + "threads" +
             std::to_string(c.segments) + "segments";
    });

} // namespace
