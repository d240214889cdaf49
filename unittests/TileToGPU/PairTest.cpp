//===- PairTest.cpp - The forms of one recurrence against each other ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs/ holds recurrences as the compiler writes them, each in chunks and
// step by step. The step form is run in registers and in shared memory, the
// chunk form in shared memory, on the same arrays: three ways that share no
// code for a chunk, and must agree. Both forms must also assemble.
//
//===----------------------------------------------------------------------===//

#include "KernelInterpreter.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "Prism/Target/GPU/GPU.h"
#include "Programs.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace prism;
using tiletogpu::GPUKernelInfo;
using tiletogpu::GPUOptions;
using tiletogpu::Strategy;

namespace {

constexpr int64_t kBatch = 2, kSteps = 35;

/// One array per argument of a program, filled by a seed that the argument's
/// number gives: programs with the same arguments get the same inputs.
struct Arrays {
  explicit Arrays(tile::ProgramOp program) {
    for (unsigned i = 0; i < program.getArgumentTypes().size(); ++i) {
      tile::ArgumentAttr argument = program.getArgument_(i);
      auto view = cast<tile::ViewType>(program.getArgumentTypes()[i]);
      StringRef role = argument.getRole().getValue();
      SmallVector<int64_t> shape;
      int64_t feature = view.hasTime() ? 1 : 0;
      for (char letter : argument.getAxes().getValue()) {
        if (letter == 'b' || letter == 'n')
          shape.push_back(kBatch);
        else if (letter == 't')
          shape.push_back(kSteps);
        else if (letter == 'h')
          shape.push_back(argument.getHeads());
        else
          shape.push_back(view.getShape()[feature++]);
      }
      int64_t count = 1;
      SmallVector<int64_t> stride(shape.size());
      for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
        stride[axis] = count;
        count *= shape[axis];
      }
      strides.insert(strides.end(), stride.begin(), stride.end());
      bool isOutput = role == "output" || role == "final_state";
      data.emplace_back(role == "offsets" ? 0 : count, isOutput ? NAN : 0.f);
      outputs.push_back(isOutput);
      std::mt19937 random(i);
      std::uniform_real_distribution<float> number(-0.4f, 0.4f);
      for (float &element : data.back())
        element = isOutput ? NAN : number(random);
    }
  }

  std::vector<uint64_t> words() const {
    std::vector<uint64_t> out;
    for (const std::vector<float> &array : data)
      out.push_back(array.empty() ? 0
                                  : reinterpret_cast<uint64_t>(array.data()));
    out.push_back(kBatch);
    out.push_back(kSteps);
    out.insert(out.end(), strides.begin(), strides.end());
    return out;
  }

  std::vector<std::vector<float>> data;
  std::vector<bool> outputs;
  std::vector<int64_t> strides;
};

/// Converts the program in `text`, runs every block, and assembles it.
std::unique_ptr<Arrays> run(const std::string &text, Strategy strategy,
                            Strategy expected) {
  MLIRContext context;
  test::prepare(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return nullptr;
  tile::ProgramOp program = *module->getOps<tile::ProgramOp>().begin();
  auto arrays = std::make_unique<Arrays>(program);
  int64_t items = kBatch * program.getValueHeads() * program.getValueBlocks();
  GPUOptions options;
  options.target = *targetinfo::lookupChip("sm_90a");
  options.strategy = strategy;
  options.threads = 128;
  FailureOr<GPUKernelInfo> info = tiletogpu::convertTileToGPU(*module, options);
  if (failed(info) || failed(verify(*module)))
    return nullptr;
  EXPECT_EQ(info->strategy, expected) << info->declined;
  test::KernelInterpreter interpreter(
      module->lookupSymbol<LLVM::LLVMFuncOp>(info->symbol), info->threads,
      info->sharedBytes);
  for (const std::vector<float> &array : arrays->data)
    interpreter.allow(array.data(), array.size() * sizeof(float));
  std::vector<uint64_t> words = arrays->words();
  for (int64_t block = 0; block * info->itemsPerBlock < items; ++block)
    if (!interpreter.runBlock(block, words)) {
      ADD_FAILURE() << interpreter.error();
      return nullptr;
    }
  EXPECT_TRUE(succeeded(lowerKernelToNVVM(*module)));
  FailureOr<std::string> ptx = emitPTX(*module, options.target);
  EXPECT_TRUE(succeeded(ptx));
  std::string error;
  if (succeeded(ptx)) {
    FailureOr<Assembled> assembled = assemble(*ptx, "sm_90a", error);
    EXPECT_TRUE(succeeded(assembled)) << error;
    if (succeeded(assembled)) {
      // In registers nothing spills. In shared memory ptxas parks a few uniform
      // values, though it leaves most registers unused.
      int64_t budget = expected == Strategy::Registers ? 0 : 32;
      EXPECT_LE(assembled->resources.spillStores, budget)
          << assembled->resources.registers << " registers";
    }
  }
  return arrays;
}

void expectEqual(const Arrays &got, const Arrays &want, const char *what) {
  for (auto [i, isOutput] : llvm::enumerate(want.outputs)) {
    if (!isOutput)
      continue;
    double error = 0, norm = 0;
    for (size_t j = 0; j < want.data[i].size(); ++j) {
      double difference = double(got.data[i][j]) - want.data[i][j];
      error += std::isnan(difference) ? INFINITY : difference * difference;
      norm += double(want.data[i][j]) * want.data[i][j];
    }
    EXPECT_GT(norm, 0);
    EXPECT_LE(std::sqrt(error), 2e-5 * std::sqrt(norm))
        << what << ", argument " << i;
  }
}

std::vector<std::string> inputs() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(PRISM_TILE_INPUTS, error), end;
       it != end && !error; it.increment(error))
    files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

class Pair : public testing::TestWithParam<std::string> {};

TEST_P(Pair, FormsAgree) {
  auto buffer = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(bool(buffer));
  auto [chunk, step] = (*buffer)->getBuffer().split("// -----\n");
  auto registers = run(step.str(), Strategy::Automatic, Strategy::Registers);
  auto shared = run(step.str(), Strategy::Shared, Strategy::Shared);
  auto chunks = run(chunk.str(), Strategy::Automatic, Strategy::Shared);
  ASSERT_TRUE(registers && shared && chunks);
  expectEqual(*shared, *registers, "step form in shared memory");
  expectEqual(*chunks, *registers, "chunk form");
}

INSTANTIATE_TEST_SUITE_P(Inputs, Pair, testing::ValuesIn(inputs()),
                         [](const auto &info) {
                           return "chain" + std::to_string(info.index);
                         });

} // namespace
