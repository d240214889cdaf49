//===- ImportTest.cpp - The scan dialect of a spec ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Import/Import.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;

namespace {

class Import : public testing::Test {
protected:
  func::FuncOp import(StringRef text, StringRef entry = "forward") {
    spec::SpecDiagnostic diagnostic;
    auto model = spec::readSpec(text, "s.json", diagnostic);
    EXPECT_TRUE(succeeded(model)) << diagnostic.str();
    if (failed(model))
      return {};
    module = spec::importSpec(*model, &context);
    EXPECT_TRUE(bool(module));
    return module ? module->lookupSymbol<func::FuncOp>(entry) : func::FuncOp();
  }
  scan::RecurrenceOp recurrenceOf(func::FuncOp function) {
    return *function.getOps<scan::RecurrenceOp>().begin();
  }
  std::string names(func::FuncOp function, bool results) {
    std::string text;
    unsigned count =
        results ? function.getNumResults() : function.getNumArguments();
    for (unsigned i = 0; i < count; ++i) {
      auto name =
          results ? function.getResultAttrOfType<StringAttr>(i, scan::kNameAttr)
                  : function.getArgAttrOfType<StringAttr>(i, scan::kNameAttr);
      text += name.str() +
              (!results && function.getArgAttr(i, scan::kOptionalAttr) ? "? "
                                                                       : " ");
    }
    return text;
  }
  template <typename Op> SmallVector<Op> all(func::FuncOp function) {
    SmallVector<Op> ops;
    function.walk([&](Op op) { ops.push_back(op); });
    return ops;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr const char *kGated =
    R"json({ "prism_spec": 1, "family": "gated_deltanet",
  "dims": { "Hk": 2, "Hv": 4, "K": 8, "V": 16 }, "dtype": { "io": "bf16", "state": "bf16" } })json";

TEST_F(Import, SignatureOfBothEntries) {
  for (StringRef entry : {"forward", "decode"}) {
    func::FuncOp function = import(kGated, entry);
    ASSERT_TRUE(function);
    EXPECT_EQ(names(function, false),
              "q k v log_alpha beta initial_state? offsets? ");
    EXPECT_EQ(names(function, true), "o final_state ");
    EXPECT_EQ(function->getAttrOfType<StringAttr>(scan::kEntryAttr).getValue(),
              entry);
    OpBuilder b(&context);
    int64_t n = ShapedType::kDynamic;
    EXPECT_EQ(function.getArgumentTypes()[0],
              RankedTensorType::get({n, n, 2, 8}, b.getBF16Type()));
    EXPECT_EQ(function.getArgumentTypes()[3],
              RankedTensorType::get({n, n, 4}, b.getF32Type()));
    EXPECT_EQ(function.getArgumentTypes()[5],
              RankedTensorType::get({n, 4, 8, 16}, b.getBF16Type()));
    EXPECT_EQ(function.getArgumentTypes()[6],
              RankedTensorType::get({n}, b.getI64Type()));
    EXPECT_EQ(function.getResultTypes()[0],
              RankedTensorType::get({n, n, 4, 16}, b.getBF16Type()));
    EXPECT_EQ(recurrenceOf(function).getStateArgument(0).getType(),
              RankedTensorType::get({8, 16}, b.getF32Type()));
  }
}

TEST_F(Import, DecodeIsRecurrentAndForwardIsFree) {
  EXPECT_FALSE(recurrenceOf(import(kGated)).getPlan());
  auto plan = recurrenceOf(import(kGated, "decode")).getPlan();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->getSchedule(), scan::Schedule::recurrent);
  func::FuncOp planned = import(
      R"json({ "prism_spec": 1, "family": "retnet", "dims": { "H": 1, "K": 4, "V": 4 },
    "plan": { "schedule": "chunk", "chunk": 32, "value_block": 2, "stages": 3 } })json");
  plan = recurrenceOf(planned).getPlan();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->getSchedule(), scan::Schedule::chunk);
  EXPECT_EQ(plan->getChunk(), 32);
  EXPECT_EQ(plan->getValueBlock(), 2);
  EXPECT_EQ(plan->getStages(), 3);
}

TEST_F(Import, TiedKeysAreOneValueAndOrderIsKept) {
  func::FuncOp function = import(kGated);
  auto erase = all<scan::EraseOp>(function).front();
  auto inject = all<scan::InjectOp>(function).front();
  auto decay = all<scan::DecayOp>(function).front();
  EXPECT_EQ(erase.getRead(), erase.getWrite());
  EXPECT_EQ(erase.getRead(), inject.getKey());
  EXPECT_EQ(decay.getResult(), erase.getState()); // decay first, then error
  EXPECT_EQ(erase.getResult(), inject.getState());
  EXPECT_EQ(inject.getResult(),
            all<scan::ReadOp>(function).front().getState()); // read after
}

TEST_F(Import, LayoutsReverseAndLocations) {
  func::FuncOp function =
      import("{ \"prism_spec\": 1, \"name\": \"m\", \"dims\": { \"H\": 2, "
             "\"K\": 4, \"V\": 4 },\n"
             "\"layout\": \"head_first\", \"reverse\": true,\n"
             "\"inputs\": { \"q\": [\"B\",\"H\",\"T\",\"K\"], \"v\": "
             "[\"B\",\"T\",\"H\",\"V\"] },\n"
             "\"steps\": [ { \"read\": { \"query\": \"q\" } },\n"
             "  { \"inject\": { \"key\": \"q\", \"value\": \"v\", \"scale\": 2 "
             "} } ] }");
  scan::RecurrenceOp recurrence = recurrenceOf(function);
  EXPECT_TRUE(recurrence.getReverse());
  EXPECT_EQ(recurrence.getInputAxes(0), "bhtk");
  EXPECT_EQ(recurrence.getInputAxes(1), "bthv");
  EXPECT_EQ(cast<StringAttr>(recurrence.getOutputAxes()[0]).getValue(), "bhtv");
  auto read = all<scan::ReadOp>(function).front();
  EXPECT_EQ(read.getState(), recurrence.getStateArgument(0));
  auto inject = all<scan::InjectOp>(function).front();
  auto loc = dyn_cast<FileLineColLoc>(inject.getLoc());
  ASSERT_TRUE(loc);
  EXPECT_EQ(loc.getFilename().getValue(), "s.json");
  EXPECT_EQ(loc.getLine(), 5u);
  EXPECT_EQ(loc.getColumn(), 15u);
}

TEST_F(Import, RanksTakeOneScaleEach) {
  func::FuncOp function = import(
      R"json({ "prism_spec": 1, "name": "m", "dims": { "H": 1, "K": 4, "V": 4, "L": 3 },
    "inputs": { "q": ["B","T","H","K"], "c": ["B","T","H","L","K"], "w": ["B","T","H","L","V"], "s": ["B","T","H"] },
    "steps": [ { "erase": { "key": "c", "strength": 0.5, "of": "previous" } }, { "decay": "s" },
               { "erase": { "key": "c", "strength": "s", "of": "previous" } },
               { "inject": { "key": "c", "value": "w", "scale": "s" } }, { "read": { "query": "q" } } ] })json");
  OpBuilder b(&context);
  auto erases = all<scan::EraseOp>(function);
  EXPECT_FALSE(
      erases[0]
          .getOf()); // it is the first factor: the state is the previous one
  EXPECT_EQ(erases[1].getOf(), recurrenceOf(function).getStateArgument(0));
  for (scan::EraseOp erase : erases)
    EXPECT_EQ(erase.getStrength().getType(),
              RankedTensorType::get({3}, b.getF32Type()));
  EXPECT_EQ(all<scan::InjectOp>(function)[0].getScale().getType(),
            RankedTensorType::get({3}, b.getF32Type()));
}

TEST_F(Import, SeveralStatesAndComputedOutputs) {
  func::FuncOp function = import(
      R"json({ "prism_spec": 1, "family": "mlstm", "dims": { "H": 2, "K": 4, "V": 8 }, "dtype": { "io": "bf16" } })json");
  ASSERT_TRUE(function);
  EXPECT_EQ(names(function, false),
            "q k v log_i log_f initial_C? initial_n? initial_m? offsets? ");
  EXPECT_EQ(names(function, true), "o final_C final_n final_m ");
  scan::RecurrenceOp recurrence = recurrenceOf(function);
  OpBuilder b(&context);
  auto stateType = [&](int64_t keys, int64_t values) {
    return RankedTensorType::get({keys, values}, b.getF32Type());
  };
  ASSERT_EQ(recurrence.getNumStates(), 3u);
  EXPECT_EQ(recurrence.getStateArgument(0).getType(), stateType(4, 8));
  EXPECT_EQ(recurrence.getStateArgument(1).getType(), stateType(4, 1));
  EXPECT_EQ(recurrence.getStateArgument(2).getType(), stateType(1, 1));
  EXPECT_EQ(all<scan::ReadOp>(function)[1].getState(),
            all<scan::InjectOp>(function)[1].getResult());
  ValueRange yielded = recurrence.getYield().getValues();
  EXPECT_TRUE(yielded[2].getDefiningOp<tensor::FromElementsOp>());
  EXPECT_TRUE(yielded[3].getDefiningOp<arith::TruncFOp>());
}

TEST_F(Import, DoubleArraysAreComputedInDouble) {
  func::FuncOp function = import(
      R"json({ "prism_spec": 1, "family": "prism", "dims": { "H": 1, "K": 4, "V": 4, "L": 2 },
    "dtype": { "io": "f64", "gate": "f32" }, "options": { "l2norm": 1e-6 } })json");
  OpBuilder b(&context);
  EXPECT_EQ(all<scan::RefineOp>(function)[0].getResult().getType(),
            RankedTensorType::get({2, 4}, b.getF64Type()));
  EXPECT_EQ(all<scan::L2NormOp>(function)[0].getResult().getType(),
            RankedTensorType::get({4}, b.getF64Type()));
  EXPECT_TRUE(all<scan::DecayOp>(function)[0].getLogGate().getType().isF64());
}

TEST_F(Import, EveryFunctionOnScalarsAndVectors) {
  std::string lets, use;
  for (const auto &[name, function] : spec::getFunctions()) {
    bool two = name == "max" || name == "min" || name == "pow";
    if (name == "row" || name == "l2norm")
      continue;
    lets += "\"s_" + name.str() + "\": \"" + name.str() + "(s" +
            (two ? ", 2" : "") + ")\", ";
    lets += "\"k_" + name.str() + "\": \"" + name.str() + "(k" +
            (two ? ", s" : "") + ")\", ";
    use += "{ \"inject\": { \"key\": \"k_" + name.str() +
           "\", \"value\": \"v\", \"scale\": \"s_" + name.str() + "\" } }, ";
  }
  lets += R"json("norm": "l2norm(k / (1 - s), 1e-6)")json";
  func::FuncOp function = import(
      R"json({ "prism_spec": 1, "name": "m", "dims": { "H": 1, "K": 4, "V": 4 }, "dtype": { "io": "bf16" },
    "inputs": { "k": ["B","T","H","K"], "v": ["B","T","H","V"], "s": ["B","T","H"] }, "let": { )json" +
      lets + "}, \"steps\": [ " + use +
      R"json({ "read": { "query": "norm" } } ] })json");
  ASSERT_TRUE(function);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(all<scan::InjectOp>(function).size(),
            spec::getFunctions().size() - 2);
}

} // namespace
