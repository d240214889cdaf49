//===- RunTest.cpp - Running entries through the C API --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeltaRule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <thread>

using namespace prism::capi::test;

namespace {

struct Run : testing::Test {
  Program program = compile(deltaRule());
  Device device = cpu();
  const PrismEntry *forward = entryOf(program, "forward");
  const PrismEntry *decode = entryOf(program, "decode");

  PrismRunOptions options() {
    PrismRunOptions options = {};
    options.size = sizeof(options);
    return options;
  }
};

TEST_F(Run, EveryScheduleGivesTheRecurrence) {
  for (int64_t steps : {0, 1, 15, 16, 17, 65}) {
    for (const char *schedule : {"chunk", "recurrent"}) {
      Call call(2, steps);
      PrismRunOptions pinned = options();
      pinned.schedule = schedule;
      EXPECT_EQ(call.run(forward, device.get(), &pinned), "");
      EXPECT_LT(call.error(), 1e-5) << schedule << " " << steps;
    }
  }
}

TEST_F(Run, OptionalArgumentsMayBeLeftOut) {
  Call call(3, 20);
  call.remove("initial_state");
  EXPECT_EQ(call.run(forward, device.get()), "");
  EXPECT_LT(call.error(/*withInitial=*/false), 1e-5);
  Call outputs(3, 20);
  outputs.remove("final_state");
  EXPECT_EQ(outputs.run(forward, device.get()), "");
  EXPECT_TRUE(std::isnan(outputs.final[0]));
  EXPECT_FALSE(std::isnan(outputs.o.back()));
}

TEST_F(Run, PackedSequencesSomeEmpty) {
  Call call(1, 40, {0, 3, 0, 36, 1, 0});
  EXPECT_EQ(call.run(forward, device.get()), "");
  EXPECT_LT(call.error(), 1e-5);
  call.offsets[3] = 2;
  EXPECT_EQ(call.run(forward, device.get()),
            "argument 'offsets': must not fall, found 3 at element 2 and 2 at "
            "element 3");
}

TEST_F(Run, TheStateIsUpdatedInPlace) {
  Call whole(2, 12), state(2, 12);
  EXPECT_EQ(whole.run(forward, device.get()), "");
  // Token by token, strided out of the same arrays.
  std::vector<float> kept = whole.initial;
  state.array("initial_state").data = kept.data();
  state.array("final_state").data = kept.data();
  int64_t byKeys[] = {12 * heads * keys, heads * keys, keys, 1},
          byValues[] = {12 * heads * values, heads * values, values, 1},
          byGates[] = {12 * heads, heads, 1};
  for (auto &shape : state.shapes)
    if (shape.size() > 1 && shape[1] == 12)
      shape[1] = 1;
  for (const char *name : {"q", "k"})
    state.array(name).strides = byKeys;
  for (const char *name : {"v", "o"})
    state.array(name).strides = byValues;
  for (const char *name : {"g", "beta"})
    state.array(name).strides = byGates;
  for (int t = 0; t < 12; ++t) {
    EXPECT_EQ(state.run(decode, device.get()), "");
    for (PrismArray &array : state.arrays)
      if (array.strides)
        array.data = static_cast<float *>(array.data) + array.strides[1];
  }
  state.final = kept;
  EXPECT_LT(state.error(), 1e-5);
}

TEST_F(Run, WorkspaceIsAskedForAndGiven) {
  Call call(2, 33);
  PrismSizes sizes;
  PrismDiagnostic *error = nullptr;
  ASSERT_EQ(prismEntrySizes(forward, device.get(), call.arrays.data(), 6,
                            nullptr, &sizes, &error),
            PRISM_SUCCESS)
      << take(error);
  EXPECT_EQ(sizes.batch, 2);
  EXPECT_EQ(sizes.steps, 33);
  EXPECT_EQ(sizes.sequences, 2);
  EXPECT_EQ(sizes.longest, 33);
  int64_t shape[4];
  EXPECT_EQ(prismArgumentShape(prismEntryArgument(forward, "o"), &sizes, shape),
            int64_t(call.o.size()));
  EXPECT_EQ(std::vector<int64_t>(shape, shape + 4), call.shapes[1]);
  sizes.batch = sizes.steps = INT64_MAX / 2;
  EXPECT_EQ(
      prismArgumentShape(prismEntryArgument(forward, "o"), &sizes, nullptr),
      -1);
  sizes.batch = 2, sizes.steps = 33;

  int64_t bytes = -1;
  ASSERT_EQ(prismEntryWorkspace(forward, device.get(), &sizes, nullptr, &bytes,
                                &error),
            PRISM_SUCCESS)
      << take(error);
  ASSERT_GT(bytes, 0);
  EXPECT_EQ(bytes % (64 * prismDeviceThreads(device.get())), 0);
  std::unique_ptr<void, decltype(&free)> memory(
      aligned_alloc(64, size_t(bytes)), free);
  PrismRunOptions own = options();
  own.workspace = memory.get();
  own.workspaceBytes = bytes;
  EXPECT_EQ(call.run(forward, device.get(), &own), "");
  EXPECT_LT(call.error(), 1e-5);
  own.workspaceBytes = bytes - 1;
  EXPECT_EQ(call.run(forward, device.get(), &own),
            "expected a workspace of " + std::to_string(bytes) +
                " bytes, aligned to 64, found " + std::to_string(bytes - 1) +
                " bytes");
  own.workspaceBytes = bytes;
  own.workspace = static_cast<char *>(memory.get()) + 4;
  EXPECT_NE(call.run(forward, device.get(), &own), "");
}

TEST_F(Run, PrepareSaysWhatWouldRun) {
  PrismSizes sizes = {2, 65, 2, 65};
  const char *text = nullptr;
  PrismDiagnostic *error = nullptr;
  PrismRunOptions pinned = options();
  pinned.schedule = "chunk";
  EXPECT_EQ(
      prismEntryPrepare(forward, device.get(), &sizes, &pinned, &text, &error),
      PRISM_SUCCESS);
  EXPECT_EQ(std::string(text).find("chunk "), 0u) << text;
  pinned.schedule = "recurrent";
  pinned.isa = "x86-64-v3";
  EXPECT_EQ(
      prismEntryPrepare(forward, device.get(), &sizes, &pinned, &text, &error),
      PRISM_SUCCESS);
  EXPECT_STREQ(text, "recurrent 1, x86-64-v3");
  pinned.schedule = "tree";
  EXPECT_EQ(
      prismEntryPrepare(forward, device.get(), &sizes, &pinned, &text, &error),
      PRISM_FAILURE);
  EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_DEVICE);
  EXPECT_EQ(take(error), "entry 'forward': no kernel with schedule 'tree' for "
                         "cpu; the bundle holds chunk, recurrent");
}

TEST_F(Run, WrongArraysAreNamed) {
  auto complaint = [&](auto change) {
    Call call(2, 5);
    change(call);
    PrismDiagnostic *error = nullptr;
    EXPECT_EQ(prismEntryRun(forward, device.get(), call.arrays.data(),
                            call.arrays.size(), nullptr, &error),
              PRISM_FAILURE);
    EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_ARGUMENT);
    EXPECT_TRUE(std::isnan(call.o[0])) << "something ran";
    std::string about = prismDiagnosticArgument(error);
    return about + " | " + take(error);
  };
  EXPECT_EQ(complaint([](Call &c) { c.array("k").dtype = PRISM_DTYPE_F16; }),
            "k | argument 'k': expected dtype f32, found f16");
  EXPECT_EQ(complaint([](Call &c) { c.remove("v"); }),
            "v | argument 'v' is missing: expected input f32 [B, T, 2, 4]");
  EXPECT_EQ(complaint([](Call &c) { c.remove("o"); }),
            "o | argument 'o' is missing: expected output f32 [B, T, 2, 4]");
  EXPECT_EQ(complaint([](Call &c) { c.array("beta").name = "bet"; }),
            "bet | entry 'forward' has no argument 'bet'; did you mean 'beta'? "
            "(it has q, k, v, g, beta, initial_state, offsets, o, "
            "final_state)");
  EXPECT_EQ(complaint([](Call &c) { c.array("k").name = "q"; }),
            "q | argument 'q' is given twice");
  EXPECT_EQ(complaint([](Call &c) { c.array("q").data = nullptr; }),
            "q | argument 'q': expected an address, found null");
  EXPECT_EQ(complaint([](Call &c) { c.array("g").rank = 2; }),
            "g | argument 'g': expected shape [B, T, 2], found [2, 5]: 2 "
            "dimensions instead of 3");
  EXPECT_EQ(complaint([](Call &c) { c.array("o").data = c.v.data(); }),
            "o | argument 'o' is written and overlaps argument 'v' (only a "
            "final state may be the same array as its initial state)");
  static const int64_t wrong[] = {80, 16, 8, 2};
  EXPECT_EQ(complaint([](Call &c) { c.array("q").strides = wrong; }),
            "q | argument 'q': expected stride 1 along the last axis (k), "
            "found 2");
}

TEST_F(Run, WrongUseIsRefused) {
  auto complaint = [&](PrismRunOptions given) {
    Call call(1, 2);
    PrismDiagnostic *error = nullptr;
    EXPECT_EQ(prismEntryRun(forward, device.get(), call.arrays.data(),
                            call.arrays.size(), &given, &error),
              PRISM_FAILURE);
    EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_USAGE);
    return take(error);
  };
  PrismRunOptions wrong = options();
  wrong.size = 0;
  EXPECT_EQ(
      complaint(wrong).find("PrismRunOptions: expected a size of at most"), 0u);
  wrong.size = sizeof(wrong) + 8;
  EXPECT_NE(complaint(wrong).find("built for a newer library"),
            std::string::npos);
  wrong = options();
  wrong.stream = &wrong;
  EXPECT_EQ(complaint(wrong),
            "PrismRunOptions: a stream is for a GPU, the device is the CPU");
  Call call(1, 2);
  EXPECT_EQ(call.run(nullptr, device.get()), "expected an entry, found null");
  EXPECT_EQ(call.run(forward, nullptr), "expected a device, found null");
  call.array("q").dtype = PrismDType(77);
  EXPECT_EQ(call.run(forward, device.get()),
            "argument 'q': expected a PrismDType, found 77");
  PrismDiagnostic *error = nullptr;
  EXPECT_EQ(prismEntryRun(forward, device.get(), nullptr, 4, nullptr, &error),
            PRISM_FAILURE);
  EXPECT_EQ(take(error), "expected arrays, found null");
  EXPECT_FALSE(prismDeviceCreateCpu(5000, &error));
  EXPECT_EQ(take(error), "expected at most 1024 threads, found 5000");
}

/// A caller of an older version knows fewer fields.
TEST_F(Run, OptionsOfAnOlderCaller) {
  PrismRunOptions older = options();
  older.size = offsetof(PrismRunOptions, schedule);
  older.schedule = "not read";
  Call call(1, 3);
  EXPECT_EQ(call.run(forward, device.get(), &older), "");
  EXPECT_LT(call.error(), 1e-5);
}

/// bf16 is the upper half of an f32.
TEST(RunTypes, BFloat16) {
  Program program = compile(deltaRule("bf16"));
  Device device = cpu();
  Call call(2, 19);
  std::vector<std::vector<uint16_t>> halves;
  auto narrow = [&](const char *name, std::vector<float> &array) {
    std::vector<uint16_t> half;
    for (float &value : array) {
      uint32_t bits;
      memcpy(&bits, &value, 4);
      half.push_back(uint16_t(bits >> 16));
      bits &= 0xffff0000;
      memcpy(&value, &bits, 4);
    }
    halves.push_back(half);
    call.array(name).dtype = PRISM_DTYPE_BF16;
  };
  narrow("q", call.q), narrow("k", call.k), narrow("v", call.v);
  halves.push_back(std::vector<uint16_t>(call.o.size()));
  call.array("o").dtype = PRISM_DTYPE_BF16;
  for (int i = 0; i < 4; ++i)
    call.array(i == 0   ? "q"
               : i == 1 ? "k"
               : i == 2 ? "v"
                        : "o")
        .data = halves[i].data();
  EXPECT_EQ(call.run(entryOf(program, "forward"), device.get()), "");
  for (size_t i = 0; i < call.o.size(); ++i) {
    uint32_t bits = uint32_t(halves[3][i]) << 16;
    memcpy(&call.o[i], &bits, 4);
  }
  EXPECT_LT(call.error(), 5e-3);
  EXPECT_GT(call.error(), 1e-5) << "bf16 is no f32";
}

/// Calls, right and wrong ones, keep no memory.
TEST_F(Run, TenThousandCalls) {
  Call call(1, 1);
  auto calls = [&](int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(call.run(decode, device.get()), "");
      call.array("q").dtype = PRISM_DTYPE_F64;
      EXPECT_NE(call.run(decode, device.get()), "");
      call.array("q").dtype = PRISM_DTYPE_F32;
    }
    return mallinfo2().uordblks;
  };
  size_t before = calls(1000);
  EXPECT_EQ(calls(10000), before);
}

/// Two programs and one device, from several threads at once.
TEST_F(Run, FromThreads) {
  Program other = compile(deltaRule("f32", "\"reverse\": false,"));
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const PrismEntry *entry = entryOf(i % 2 ? other : program, "forward");
      for (unsigned j = 0; j < 50; ++j) {
        Call call(1 + j % 3, 1 + 7 * i, {}, j + 1);
        EXPECT_EQ(call.run(entry, device.get()), "");
        EXPECT_LT(call.error(), 1e-5);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Run, SavedAndLoaded) {
  std::string folder = testing::TempDir() + "prism-capi-saved/bundle";
  PrismDiagnostic *error = nullptr;
  ASSERT_EQ(prismProgramSave(program.get(), folder.c_str(), &error),
            PRISM_SUCCESS)
      << take(error);
  // Again, over what is there.
  ASSERT_EQ(prismProgramSave(program.get(), folder.c_str(), &error),
            PRISM_SUCCESS)
      << take(error);
  Program loaded(prismProgramLoad(folder.c_str(), &error));
  ASSERT_TRUE(loaded) << take(error);
  EXPECT_STREQ(prismProgramManifest(loaded.get()),
               prismProgramManifest(program.get()));
  Call call(2, 20);
  EXPECT_EQ(call.run(entryOf(loaded, "forward"), device.get()), "");
  EXPECT_LT(call.error(), 1e-5);
  // What was loaded can be saved, even over itself while it runs.
  ASSERT_EQ(prismProgramSave(loaded.get(), folder.c_str(), &error),
            PRISM_SUCCESS)
      << take(error);
  Call again(1, 3);
  EXPECT_EQ(again.run(entryOf(loaded, "decode"), device.get()), "");
  EXPECT_LT(again.error(), 1e-5);

  EXPECT_EQ(prismProgramSave(program.get(), "/proc/bundle", &error),
            PRISM_FAILURE);
  EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_BUNDLE);
  EXPECT_EQ(take(error).find("cannot write '/proc/bundle"), 0u);
  EXPECT_EQ(prismProgramSave(program.get(), "/tmp", &error), PRISM_FAILURE);
  EXPECT_EQ(take(error), "'/tmp' exists and is no bundle (it has no "
                         "manifest.json); name another folder or remove it");
  EXPECT_FALSE(prismProgramLoad("/no/bundle", &error));
  EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_BUNDLE);
  EXPECT_EQ(take(error),
            "/no/bundle/manifest.json: cannot open: No such file or directory");
}

/// A program that was destroyed leaves nothing behind that the next would take
/// for its own.
TEST_F(Run, ProgramsOneAfterTheOther) {
  for (int i = 0; i < 3; ++i) {
    std::string reversed =
        deltaRule("f32", i % 2 ? "\"reverse\": true," : "\"reverse\": false,");
    Program next = compile(reversed);
    Call call(1, 9);
    EXPECT_EQ(call.run(entryOf(next, "forward"), device.get()), "");
    EXPECT_EQ(call.error() < 1e-5, i % 2 == 0);
  }
}

} // namespace
