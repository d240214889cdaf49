//===- KernelTest.cpp - GPU kernels run on the host -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every kernel is run block by block in the interpreter, which knows races and
// bounds, and compared with a plain double loop over the recurrence.
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
using tiletogpu::GPUKernelInfo;
using tiletogpu::GPUOptions;
using tiletogpu::Strategy;

namespace {

struct Case {
  const char *name;
  test::Shape shape;
  std::vector<int64_t> lengths; ///< of the sequences
  bool packed = false, initialState = true, finalState = true;
  Strategy strategy = Strategy::Automatic;
  bool shifted = false; ///< arrays start 4 bytes after a multiple of 16
};
void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

/// Numbers at a multiple of 16 bytes, or 4 bytes after one.
class Floats {
public:
  void shift() { first = 1; }
  void push_back(float number) { assign(size() + 1, number); }
  void assign(size_t count, float number) {
    storage.resize(first + count, number);
  }
  size_t size() const { return std::max(storage.size(), first) - first; }
  const float *data() const { return storage.data() + first; }
  float &operator[](size_t i) { return storage[first + i]; }
  const float &operator[](size_t i) const { return storage[first + i]; }

private:
  size_t first = 0;
  std::vector<float> storage;
};

/// Arrays of one call, f32, the rows of all sequences one after another when
/// packed, else a batch.
class Call {
public:
  Call(const Case &c) : c(c), s(c.shape), sequences(c.lengths.size()) {
    if (c.shifted)
      for (Floats *array : {&q, &k, &v, &gates, &beta, &initial, &out, &finals})
        array->shift();
    for (int64_t length : c.lengths) {
      starts.push_back(rows);
      rows += length;
    }
    starts.push_back(rows);
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    auto fill = [&](Floats &to, size_t count, auto value) {
      for (size_t i = 0; i < count; ++i)
        to.push_back(value());
    };
    auto key = [&] { return normal(random) / std::sqrt(float(s.keys)); };
    auto number = [&] { return normal(random); };
    fill(q, rows * s.keyHeads * s.keys, key);
    fill(k, rows * s.keyHeads * s.keys, key);
    fill(v, rows * s.valueHeads * s.values, number);
    fill(gates, rows * s.valueHeads,
         [&] { return -std::fabs(normal(random)) / 4; });
    fill(beta, rows * s.valueHeads,
         [&] { return 1 / (1 + std::exp(-normal(random))); });
    fill(initial, sequences * s.valueHeads * s.keys * s.values, number);
    for (size_t i = 0; i < gates.size(); i += 11) // resets
      gates[i] = i % 2 ? -20.f : -INFINITY;
    out.assign(v.size(), NAN);
    finals.assign(initial.size(), NAN);
  }

  std::vector<uint64_t> words() const {
    auto address = [](const auto &array) {
      return reinterpret_cast<uint64_t>(array.data());
    };
    int64_t steps = c.packed ? rows : c.lengths[0];
    std::vector<uint64_t> w = {address(q),
                               address(k),
                               address(v),
                               address(gates),
                               address(beta),
                               c.initialState ? address(initial) : 0,
                               c.packed ? address(starts) : 0,
                               address(out),
                               c.finalState ? address(finals) : 0,
                               uint64_t(sequences),
                               uint64_t(steps)};
    auto tokens = [&](int64_t heads, int64_t features) {
      for (int64_t stride :
           {steps * heads * features, heads * features, features, int64_t(1)})
        w.push_back(stride);
    };
    auto state = [&] {
      for (int64_t stride : {s.valueHeads * s.keys * s.values,
                             s.keys * s.values, s.values, int64_t(1)})
        w.push_back(stride);
    };
    tokens(s.keyHeads, s.keys);
    tokens(s.keyHeads, s.keys);
    tokensOfValues(w, steps);
    for (int i = 0; i < 2; ++i)
      for (int64_t stride : {steps * s.valueHeads, s.valueHeads, int64_t(1)})
        w.push_back(stride);
    state();
    w.push_back(1);
    tokensOfValues(w, steps);
    state();
    return w;
  }

  void allow(test::KernelInterpreter &interpreter) const {
    for (const auto *array :
         {&q, &k, &v, &gates, &beta, &initial, &out, &finals})
      interpreter.allow(array->data(), array->size() * sizeof(float));
    interpreter.allow(starts.data(), starts.size() * sizeof(int64_t));
  }

  /// Compares out and finals with the recurrence; RMS ratios.
  void check() const {
    double outError = 0, outNorm = 0, stateError = 0, stateNorm = 0;
    auto add = [](double got, double want, double &error, double &norm) {
      // A NaN must count.
      error += std::isnan(got) ? INFINITY : (got - want) * (got - want);
      norm += want * want;
    };
    for (int64_t n = 0; n < sequences; ++n)
      for (int64_t h = 0; h < s.valueHeads; ++h) {
        std::vector<double> state(s.keys * s.values);
        size_t base = (n * s.valueHeads + h) * state.size();
        for (size_t i = 0; i < state.size() && c.initialState; ++i)
          state[i] = initial[base + i];
        for (int64_t step = 0; step < c.lengths[n]; ++step) {
          int64_t row =
              starts[n] + (s.reverse ? c.lengths[n] - 1 - step : step);
          const std::vector<double> o = advance(state, row, h);
          for (int64_t j = 0; j < s.values; ++j)
            add(out[(row * s.valueHeads + h) * s.values + j], o[j], outError,
                outNorm);
        }
        for (size_t i = 0; i < state.size() && c.finalState; ++i)
          add(finals[base + i], state[i], stateError, stateNorm);
      }
    EXPECT_LE(std::sqrt(outError), 1e-5 * std::sqrt(outNorm));
    EXPECT_LE(std::sqrt(stateError), 1e-5 * std::sqrt(stateNorm));
  }

  int64_t items(int64_t blocks) const {
    return sequences * s.valueHeads * blocks;
  }

private:
  void tokensOfValues(std::vector<uint64_t> &w, int64_t steps) const {
    for (int64_t stride : {steps * s.valueHeads * s.values,
                           s.valueHeads * s.values, s.values, int64_t(1)})
      w.push_back(stride);
  }

  std::vector<double> advance(std::vector<double> &state, int64_t row,
                              int64_t h) const {
    int64_t hk = h * s.keyHeads / s.valueHeads;
    const float *key = &k[(row * s.keyHeads + hk) * s.keys],
                *query = &q[(row * s.keyHeads + hk) * s.keys];
    double decay = std::exp(double(gates[row * s.valueHeads + h])),
           strength = beta[row * s.valueHeads + h];
    std::vector<double> o(s.values);
    for (int64_t j = 0; j < s.values; ++j) {
      double seen = 0;
      for (int64_t i = 0; i < s.keys; ++i)
        seen += (state[i * s.values + j] *= decay) * key[i];
      double write =
          strength * (v[(row * s.valueHeads + h) * s.values + j] - seen);
      for (int64_t i = 0; i < s.keys; ++i)
        o[j] += (state[i * s.values + j] += key[i] * write) * query[i];
    }
    return o;
  }

  const Case &c;
  const test::Shape &s;
  int64_t sequences, rows = 0;
  std::vector<int64_t> starts;
  Floats q, k, v, gates, beta, initial, out, finals;
};

class Kernel : public testing::TestWithParam<Case> {};

TEST_P(Kernel, EqualsTheRecurrence) {
  const Case &c = GetParam();
  MLIRContext context;
  test::prepare(context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(test::deltaProgram(c.shape), &context);
  ASSERT_TRUE(module);
  GPUOptions options;
  options.target = *targetinfo::lookupChip("sm_90a");
  options.strategy = c.strategy;
  options.threads = 64;
  FailureOr<GPUKernelInfo> info = tiletogpu::convertTileToGPU(*module, options);
  ASSERT_TRUE(succeeded(info));
  ASSERT_TRUE(succeeded(verify(*module)));
  Call call(c);
  test::KernelInterpreter interpreter(
      module->lookupSymbol<LLVM::LLVMFuncOp>("delta"), info->threads,
      info->sharedBytes);
  call.allow(interpreter);
  int64_t items =
      call.items((c.shape.values + c.shape.block - 1) / c.shape.block);
  std::vector<uint64_t> words = call.words();
  for (int64_t block = 0; block * info->itemsPerBlock < items; ++block)
    ASSERT_TRUE(interpreter.runBlock(block, words)) << interpreter.error();
  call.check();
}

test::Shape shape(int64_t keys, int64_t values, int64_t block, int64_t chunk,
                  int64_t valueHeads = 2, int64_t keyHeads = 1,
                  bool reverse = false) {
  return {keys, values, block, chunk, valueHeads, keyHeads, reverse, "f32"};
}

const Case cases[] = {
    {"Step", shape(8, 6, 6, 1), {5}},
    {"StepOneByOne", shape(1, 1, 1, 1, 3, 3), {4}},
    {"StepOddTails", shape(37, 13, 5, 1), {6, 6}},
    {"StepManyLanes", shape(100, 7, 7, 1), {4}},
    {"StepManyColumns", shape(20, 300, 300, 1, 1, 1), {3}},
    {"StepReversePacked", shape(19, 10, 4, 1, 6, 2, true), {5, 0, 3, 1}, true},
    {"StepNoStates", shape(16, 8, 8, 1), {5, 5, 5}, false, false, false},
    {"StepInSharedMemory",
     shape(9, 6, 6, 1),
     {5},
     false,
     true,
     true,
     Strategy::Shared},
    {"StepNothing", shape(16, 8, 8, 1), {0}},
    {"StepWide", shape(64, 32, 32, 1), {1, 1}},
    {"StepWidePacked", shape(32, 48, 16, 1, 4, 2, true), {3, 0, 12, 1}, true},
    {"StepWideNothing", shape(32, 32, 32, 1), {0}},
    {"StepOffAlignment",
     shape(64, 32, 32, 1),
     {3, 3},
     false,
     true,
     true,
     Strategy::Automatic,
     true},
    {"Chunk", shape(8, 6, 6, 4), {8}},
    {"ChunkTail", shape(17, 13, 13, 8), {19, 19}},
    {"ChunkOddBlocks", shape(33, 11, 4, 5), {13}},
    {"ChunkReversePacked",
     shape(12, 10, 10, 8, 6, 2, true),
     {9, 0, 17, 1},
     true},
    {"ChunkNoStates", shape(16, 16, 16, 16), {20}, false, false, false},
    {"ChunkNothing", shape(16, 8, 8, 4), {0}},
    {"ChunkLargerThanTime", shape(6, 5, 5, 16), {3}},
    {"ChunkRegisterBlocks", shape(40, 36, 36, 16, 1, 1), {18}},
};

INSTANTIATE_TEST_SUITE_P(Delta, Kernel, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return std::string(info.param.name);
                         });

/// The watch itself works. Of this kernel's eleven barriers four are spare:
/// they stand between ops whose threads happen to touch only their own
/// elements. Each of the others is missed at once.
TEST(KernelInterpreter, CatchesMissingBarriers) {
  MLIRContext context;
  test::prepare(context);
  Case c{"", shape(8, 6, 6, 4), {8}};
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(test::deltaProgram(c.shape), &context);
  GPUOptions options;
  options.target = *targetinfo::lookupChip("sm_90a");
  options.threads = 64;
  FailureOr<GPUKernelInfo> info = tiletogpu::convertTileToGPU(*module, options);
  ASSERT_TRUE(succeeded(info));
  SmallVector<Operation *> barriers;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == "nvvm.barrier0")
      barriers.push_back(op);
  });
  ASSERT_EQ(barriers.size(), 11u);
  int caught = 0;
  for (Operation *barrier : barriers) {
    Call call(c);
    Block *block = barrier->getBlock();
    Operation *after = barrier->getNextNode();
    barrier->remove();
    test::KernelInterpreter interpreter(
        module->lookupSymbol<LLVM::LLVMFuncOp>("delta"), info->threads,
        info->sharedBytes);
    call.allow(interpreter);
    bool ok = interpreter.runBlock(0, call.words());
    caught +=
        !ok && interpreter.error().find("missing barrier") != std::string::npos;
    block->getOperations().insert(Block::iterator(after), barrier);
  }
  EXPECT_EQ(caught, 7);
}

} // namespace
