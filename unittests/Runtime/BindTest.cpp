//===- BindTest.cpp - Arrays against an entry ------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include <gtest/gtest.h>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

/// A call that is right, to be made wrong in one place.
struct Fixture : testing::Test {
  EntryInfo entry = testEntry();
  Floats x{{2, 5, 3, 8}}, g{{2, 5, 3}}, initial{{2, 3, 8}}, y{{2, 5, 3, 8}},
      final{{2, 3, 8}};
  Bindings bindings = {{"x", x.array()},
                       {"g", g.array()},
                       {"initial_state", initial.array()},
                       {"y", y.array()},
                       {"final_state", final.array()}};
  BindOptions options;

  Array &operator[](const std::string &name) {
    for (Binding &binding : bindings)
      if (binding.name == name)
        return binding.array;
    bindings.push_back({name, Array{}});
    return bindings.back().array;
  }
  void remove(const std::string &name) {
    for (size_t i = 0; i < bindings.size(); ++i)
      if (bindings[i].name == name)
        bindings.erase(bindings.begin() + static_cast<ptrdiff_t>(i--));
  }
  std::string error() {
    Result<Call> call = bindCall(entry, bindings, options);
    return call ? "" : call.error();
  }
  /// Packed rows instead: B = 1, T = 10.
  void pack(std::vector<int64_t> &offsets) {
    (*this)["x"].shape = (*this)["y"].shape = {1, 10, 3, 8};
    (*this)["g"].shape = {1, 10, 3};
    (*this)["offsets"] = {
        offsets.data(), DType::I64, {static_cast<int64_t>(offsets.size())}, {}};
  }
};

using Bind = Fixture;

TEST_F(Bind, BuildsWords) {
  remove("initial_state");
  Result<Call> call = bindCall(entry, bindings);
  ASSERT_TRUE(call) << call.error();
  auto word = [](void *p) { return reinterpret_cast<uint64_t>(p); };
  std::vector<uint64_t> head(call->words.begin(), call->words.begin() + 8);
  EXPECT_EQ(head, (std::vector<uint64_t>{
                      word(x.values.data()), word(g.values.data()), 0, 0,
                      word(y.values.data()), word(final.values.data()), 2, 5}));
  std::vector<uint64_t> strides(call->words.begin() + 8,
                                call->words.begin() + 15);
  EXPECT_EQ(strides, (std::vector<uint64_t>{120, 24, 8, 1, 15, 3, 1}));
  EXPECT_EQ(call->words.size(), 8u + 4 + 3 + 3 + 1 + 4 + 3);
  EXPECT_EQ(workItems(*call, 2), 12);
  EXPECT_EQ(workItems(*call, INT64_MAX), std::nullopt);
}

TEST_F(Bind, NamesAndPresence) {
  (*this)["initial_stat"] = initial.array();
  EXPECT_EQ(error(), "entry 'forward' has no argument 'initial_stat'; did you "
                     "mean 'initial_state'? (it has x, g, initial_state, "
                     "offsets, y, final_state)");
  remove("initial_stat");
  bindings.push_back({"g", g.array()});
  EXPECT_EQ(error(), "argument 'g' is given twice");
  remove("g");
  EXPECT_EQ(error(), "");
  remove("y");
  EXPECT_EQ(error(), "argument 'y' is missing: expected output f32 "
                     "[B, T, 3, 8]");
  EXPECT_TRUE(inferSizes(entry, bindings));
  remove("x");
  EXPECT_EQ(error(),
            "argument 'x' is missing: expected input f32 [B, T, 3, 8]");
}

TEST_F(Bind, DtypeAndShape) {
  (*this)["g"].dtype = DType::BF16;
  EXPECT_EQ(error(), "argument 'g': expected dtype f32, found bf16");
  (*this)["g"] = g.array();
  (*this)["g"].shape = {2, 5};
  EXPECT_EQ(error(), "argument 'g': expected shape [B, T, 3], found [2, 5]: 2 "
                     "dimensions instead of 3");
  (*this)["g"].shape = {2, 5, 4};
  EXPECT_EQ(error(), "argument 'g': expected shape [B, T, 3], found "
                     "[2, 5, 4]: axis 2 (h) must be 3");
  (*this)["g"].shape = {2, -5, 3};
  EXPECT_EQ(error(), "argument 'g': expected shape [B, T, 3], found "
                     "[2, -5, 3]: axis 1 (t) is negative");
}

TEST_F(Bind, TimeAndHeadsSwapped) {
  (*this)["x"].shape = {2, 3, 5, 8};
  EXPECT_EQ(error(),
            "argument 'x': expected shape [B, T, 3, 8], found [2, 3, 5, 8]: "
            "axis 2 (h) must be 3; the array looks like 'bhtv', this "
            "argument's axes are 'bthv'");
}

TEST_F(Bind, SizesDisagree) {
  (*this)["g"].shape = {2, 4, 3};
  EXPECT_EQ(error(), "argument 'g' has T = 4 (axis 1 of [2, 4, 3]), but "
                     "argument 'x' has T = 5");
  (*this)["g"].shape = {3, 5, 3};
  EXPECT_EQ(error(), "argument 'g' has B = 3 (axis 0 of [3, 5, 3]), but "
                     "argument 'x' has B = 2");
  (*this)["g"] = g.array();
  (*this)["initial_state"].shape = {1, 3, 8};
  remove("final_state");
  EXPECT_EQ(error(), "argument 'initial_state' has N = 1, but argument 'x' "
                     "has B = 2 (without offsets N is B)");
}

TEST_F(Bind, Strides) {
  (*this)["x"].strides = {120, 24, 8};
  EXPECT_EQ(error(), "argument 'x': expected 4 strides, found 3");
  (*this)["x"].strides = {120, 8, 40, 2};
  EXPECT_EQ(error(), "argument 'x': expected stride 1 along the last axis (v), "
                     "found 2");
  // Any strides but the last, negative and 0 too; any at all for a gate.
  (*this)["x"].strides = {-1, 0, 8, 1};
  (*this)["g"].strides = {3, -6, 7};
  EXPECT_EQ(error(), "");
  (*this)["y"].strides = {120, 0, 8, 1};
  EXPECT_EQ(error(), "argument 'y': is written, and its strides [120, 0, 8, 1] "
                     "may put two elements in one place");
  (*this)["y"].strides = {8, 16, 80, 1};
  EXPECT_EQ(error(), "") << "a permuted output is no overlap";
  (*this)["y"].strides = {INT64_MAX, 24, 8, 1};
  EXPECT_EQ(error(), "argument 'y': strides [9223372036854775807, 24, 8, 1] "
                     "reach beyond the address space");
}

TEST_F(Bind, Addresses) {
  (*this)["x"].data = nullptr;
  EXPECT_EQ(error(), "argument 'x': expected an address, found null");
  (*this)["x"].data = reinterpret_cast<char *>(x.values.data()) + 1;
  EXPECT_EQ(error(), "argument 'x': expected an address that is a multiple of "
                     "4 bytes, found one that is not");
  (*this)["x"] = x.array();
  (*this)["x"].shape = {INT64_MAX / 2, INT64_MAX / 2, 3, 8};
  EXPECT_EQ(error(), "argument 'x': shape [4611686018427387903, "
                     "4611686018427387903, 3, 8] has more bytes than 64 bits "
                     "count");
}

TEST_F(Bind, EmptyIsNotAbsent) {
  (*this)["x"].shape = (*this)["y"].shape = {2, 0, 3, 8};
  (*this)["g"].shape = {2, 0, 3};
  (*this)["x"].data = (*this)["y"].data = (*this)["g"].data = nullptr;
  Result<Call> call = bindCall(entry, bindings);
  ASSERT_TRUE(call) << call.error();
  EXPECT_NE(call->words[1], 0u);
  EXPECT_EQ(call->sizes.steps, 0);
  EXPECT_EQ(call->sizes.sequences, 2);
}

TEST_F(Bind, Overlaps) {
  (*this)["y"] = (*this)["x"];
  EXPECT_EQ(error(),
            "argument 'y' is written and overlaps argument 'x' (only a final "
            "state may be the same array as its initial state)");
  (*this)["y"] = y.array();
  (*this)["final_state"] = (*this)["initial_state"];
  EXPECT_EQ(error(), "");
  (*this)["final_state"].strides = {8, 16, 1};
  EXPECT_NE(error().find("argument 'final_state' is written and overlaps "
                         "argument 'initial_state'"),
            std::string::npos);
}

// Several work items may read one window.
TEST_F(Bind, WindowsAreNotUpdatedInPlace) {
  entry.arguments[2].role = Role::InitialWindow;
  entry.arguments[5].role = Role::FinalWindow;
  EXPECT_EQ(error(), "");
  (*this)["final_state"] = (*this)["initial_state"];
  EXPECT_EQ(error(),
            "argument 'final_state' is written and overlaps argument "
            "'initial_state' (only a final state may be the same array as its "
            "initial state)");
}

TEST_F(Bind, Offsets) {
  std::vector<int64_t> offsets = {0, 4, 10};
  pack(offsets);
  Result<Call> call = bindCall(entry, bindings);
  ASSERT_TRUE(call) << call.error();
  EXPECT_EQ(call->sizes.sequences, 2);
  EXPECT_EQ(call->sizes.longest, 6);
  std::string start = "argument 'offsets': ";
  offsets[0] = 1;
  EXPECT_EQ(error(), start + "element 0 must be 0, found 1");
  offsets = {0, 11, 10};
  EXPECT_EQ(error(), start + "must not fall, found 11 at element 1 and 10 at "
                             "element 2");
  offsets = {0, 4, 9};
  EXPECT_EQ(error(), start + "the last element must be T = 10, found 9");
  options.deviceMemory = true;
  EXPECT_EQ(error(), start + "expected a copy in host memory to check, or "
                             "leave to trust it, found neither");
  options.trustOffsets = true;
  EXPECT_EQ(error(), "");
  EXPECT_EQ(bindCall(entry, bindings, options)->sizes.longest, 10);
  options.trustOffsets = false;
  std::vector<int64_t> host = {0, 3, 10};
  options.hostOffsets = host.data();
  EXPECT_EQ(bindCall(entry, bindings, options)->sizes.longest, 7);
}

TEST_F(Bind, OffsetsAndSizes) {
  std::vector<int64_t> offsets = {0, 4, 7, 10};
  pack(offsets);
  EXPECT_EQ(error(), "argument 'initial_state' has N = 2, but argument "
                     "'offsets' has N+1 = 4, so N must be 3");
  (*this)["offsets"].shape = {0};
  EXPECT_EQ(error(), "argument 'offsets' has N+1 = 0, expected at least 1");
  (*this)["offsets"].shape = {3};
  (*this)["x"].shape = (*this)["y"].shape = {2, 5, 3, 8};
  (*this)["g"].shape = {2, 5, 3};
  EXPECT_EQ(error(), "argument 'x' has B = 2, expected B = 1: with offsets all "
                     "sequences are packed into one row");
  (*this)["offsets"].dtype = DType::F64;
  EXPECT_EQ(error(), "argument 'offsets': expected dtype i64, found f64");
}

TEST_F(Bind, ShapesOfOutputs) {
  Sizes sizes;
  sizes.batch = 1, sizes.steps = 10, sizes.sequences = 3;
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shapeOf(*entry.argument("y"), sizes), (Shape{1, 10, 3, 8}));
  EXPECT_EQ(shapeOf(*entry.argument("final_state"), sizes), (Shape{3, 3, 8}));
  EXPECT_EQ(shapeOf(*entry.argument("offsets"), sizes), (Shape{4}));
  sizes.sequences = INT64_MAX; // which nothing can be added to
  EXPECT_EQ(shapeOf(*entry.argument("offsets"), sizes), (Shape{INT64_MAX}));
}

} // namespace
