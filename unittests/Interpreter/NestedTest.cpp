//===- NestedTest.cpp - Loops, conditions, calls, structured ops ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Ops with regions inside a step, each on values worked out by hand.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

using namespace prism::interpreter;

/// What a step of a 2 x 2 state makes of S = (1 2; 3 4), k = (5 7), v = (11 13)
/// in one step: `body` defines %next and may define functions beside.
static std::vector<double> stepOnce(llvm::StringRef body,
                                    llvm::StringRef functions = "") {
  std::string text = makeEntry(2, 2, "k:btk v:btv", body.str() + R"(
    %y = scan.read %next query %k_t : tensor<2x2xf64>, tensor<2xf64> -> tensor<2xf64>
    scan.yield %next, %y : tensor<2x2xf64>, tensor<2xf64>)");
  TestModel model(text + functions.str());
  Arrays in;
  in["k"] = Array({1, 1, 2}, {5, 7});
  in["v"] = Array({1, 1, 2}, {11, 13});
  in["initial_state"] = Array({1, 1, 2, 2}, {1, 2, 3, 4});
  return model.run(in)["final_state"].data;
}

using Values = std::vector<double>;

TEST(Nested, LoopCarriesItsValue) {
  // S, 2S, 4S, 8S: the index of the turn is added to each element.
  EXPECT_EQ(stepOnce(R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %next = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %S) -> tensor<2x2xf64> {
      %j = arith.index_cast %i : index to i64
      %f = arith.sitofp %j : i64 to f64
      %fs = tensor.splat %f : tensor<2x2xf64>
      %twice = arith.addf %x, %x : tensor<2x2xf64>
      %z = arith.addf %twice, %fs : tensor<2x2xf64>
      scf.yield %z : tensor<2x2xf64>
    })"),
            (Values{12, 20, 28, 36}));
  // No turn: the initial value.
  EXPECT_EQ(stepOnce(R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %next = scf.for %i = %c0 to %c0 step %c1 iter_args(%x = %S) -> tensor<2x2xf64> {
      %z = arith.negf %x : tensor<2x2xf64>
      scf.yield %z : tensor<2x2xf64>
    })"),
            (Values{1, 2, 3, 4}));
}

TEST(Nested, WhileTestsBeforeEveryTurn) {
  // Doubled while the first element is below 10: 1 2 4 8 16.
  EXPECT_EQ(stepOnce(R"(
    %c0 = arith.constant 0 : index
    %ten = arith.constant 10.0 : f64
    %next = scf.while (%x = %S) : (tensor<2x2xf64>) -> tensor<2x2xf64> {
      %e = tensor.extract %x[%c0, %c0] : tensor<2x2xf64>
      %below = arith.cmpf olt, %e, %ten : f64
      scf.condition(%below) %x : tensor<2x2xf64>
    } do {
    ^bb0(%x: tensor<2x2xf64>):
      %twice = arith.addf %x, %x : tensor<2x2xf64>
      scf.yield %twice : tensor<2x2xf64>
    })"),
            (Values{16, 32, 48, 64}));
}

static std::string branchOn(llvm::StringRef predicate) {
  return R"(
    %c0 = arith.constant 0 : index
    %e = tensor.extract %k_t[%c0] : tensor<2xf64>
    %five = arith.constant 5.0 : f64
    %test = arith.cmpf )" +
         predicate.str() + R"(, %e, %five : f64
    %next = scf.if %test -> tensor<2x2xf64> {
      %n = arith.negf %S : tensor<2x2xf64>
      scf.yield %n : tensor<2x2xf64>
    } else {
      scf.yield %S : tensor<2x2xf64>
    })";
}

TEST(Nested, OneBranchIsTaken) {
  EXPECT_EQ(stepOnce(branchOn("oeq")), (Values{-1, -2, -3, -4}));
  EXPECT_EQ(stepOnce(branchOn("olt")), (Values{1, 2, 3, 4}));
}

static std::string switchOn(int value) {
  return "%i = arith.constant " + std::to_string(value) + R"( : index
    %next = scf.index_switch %i -> tensor<2x2xf64>
    case 4 {
      %n = arith.negf %S : tensor<2x2xf64>
      scf.yield %n : tensor<2x2xf64>
    }
    case 7 {
      %n = arith.addf %S, %S : tensor<2x2xf64>
      scf.yield %n : tensor<2x2xf64>
    }
    default {
      scf.yield %S : tensor<2x2xf64>
    })";
}

TEST(Nested, SwitchTakesItsCaseOrTheDefault) {
  EXPECT_EQ(stepOnce(switchOn(4)), (Values{-1, -2, -3, -4}));
  EXPECT_EQ(stepOnce(switchOn(7)), (Values{2, 4, 6, 8}));
  EXPECT_EQ(stepOnce(switchOn(0)), (Values{1, 2, 3, 4}));
}

TEST(Nested, CallsAreFollowed) {
  llvm::StringRef functions = R"(
    func.func private @minus(%a: tensor<2x2xf64>, %b: tensor<2x2xf64>) -> tensor<2x2xf64> {
      %0 = arith.subf %a, %b : tensor<2x2xf64>
      return %0 : tensor<2x2xf64>
    })";
  // (S - 2S) - S, the same function twice.
  EXPECT_EQ(stepOnce(R"(
    %twice = arith.addf %S, %S : tensor<2x2xf64>
    %first = func.call @minus(%S, %twice) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %next = func.call @minus(%first, %S) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>)",
                     functions),
            (Values{-2, -4, -6, -8}));
}

TEST(Nested, StructuredOps) {
  // S times S; then each element gets ten times its row and once its column.
  EXPECT_EQ(stepOnce(R"(
    %zero = arith.constant dense<0.0> : tensor<2x2xf64>
    %square = linalg.matmul ins(%S, %S : tensor<2x2xf64>, tensor<2x2xf64>) outs(%zero : tensor<2x2xf64>) -> tensor<2x2xf64>
    %ten = arith.constant 10 : index
    %empty = tensor.empty() : tensor<2x2xf64>
    %next = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%square : tensor<2x2xf64>) outs(%empty : tensor<2x2xf64>) {
      ^bb0(%a: f64, %b: f64):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %tens = arith.muli %i, %ten : index
        %place = arith.addi %tens, %j : index
        %int = arith.index_cast %place : index to i64
        %float = arith.sitofp %int : i64 to f64
        %sum = arith.addf %a, %float : f64
        linalg.yield %sum : f64
      } -> tensor<2x2xf64>)"),
            (Values{7, 11, 25, 33}));
  // (5 7) S = (26 38) into rows.
  EXPECT_EQ(stepOnce(R"(
    %zero = arith.constant dense<0.0> : tensor<2xf64>
    %row = linalg.vecmat ins(%k_t, %S : tensor<2xf64>, tensor<2x2xf64>) outs(%zero : tensor<2xf64>) -> tensor<2xf64>
    %empty = tensor.empty() : tensor<2x2xf64>
    %next = linalg.broadcast ins(%row : tensor<2xf64>) outs(%empty : tensor<2x2xf64>) dimensions = [0])"),
            (Values{26, 38, 26, 38}));
}

TEST(Nested, PartsAtComputedPlaces) {
  EXPECT_EQ(stepOnce(R"(
    %c1 = arith.constant 1 : index
    %row = tensor.extract_slice %S[%c1, 0] [1, 2] [1, 1] : tensor<2x2xf64> to tensor<2xf64>
    %sum = arith.addf %row, %v_t : tensor<2xf64>
    %next = tensor.insert_slice %sum into %S[%c1, 0] [1, 2] [1, 1] : tensor<2xf64> into tensor<2x2xf64>)"),
            (Values{1, 2, 14, 17}));
  EXPECT_EQ(stepOnce(R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = tensor.extract %S[%c1, %c0] : tensor<2x2xf64>
    %next = tensor.insert %e into %S[%c0, %c1] : tensor<2x2xf64>)"),
            (Values{1, 3, 3, 4}));
  EXPECT_EQ(stepOnce(R"(
    %next = tensor.generate {
    ^bb0(%i: index, %j: index):
      %e = tensor.extract %S[%j, %i] : tensor<2x2xf64>
      tensor.yield %e : f64
    } : tensor<2x2xf64>)"),
            (Values{1, 3, 2, 4}));
}

/// A factor changes its state in place only if nothing reads it afterwards, in
/// nested regions as well.
TEST(Nested, StatesThatRegionsReadStay) {
  EXPECT_EQ(stepOnce(R"(
    %g = arith.constant 0.0 : f64
    %inf = arith.constant 0xFFF0000000000000 : f64
    %gone = scan.decay %S by %inf along scalar : tensor<2x2xf64>, f64
    %true = arith.constant true
    %next = scf.if %true -> tensor<2x2xf64> {
      %z = arith.addf %S, %gone : tensor<2x2xf64>
      scf.yield %z : tensor<2x2xf64>
    } else {
      scf.yield %gone : tensor<2x2xf64>
    })"),
            (Values{1, 2, 3, 4}));
}

/// y_t = x_t + the sum at the mini-batch's entry; the state is the sum of all
/// x.
static std::string entrySums() {
  return R"(
func.func @entry(%x: tensor<?x?xf64> {scan.name = "x"}, %offsets: tensor<?xi64> {scan.name = "offsets", scan.optional})
    -> (tensor<?x?xf64> {scan.name = "y"}, tensor<?x1xf64> {scan.name = "final_state"}) {
  %y, %f = scan.recurrence mini_batch 2 ins(%x as "bt" : tensor<?x?xf64>) offsets(%offsets : tensor<?xi64>)
      outs("bt") finals("nk") {
  ^bb0(%S: tensor<1xf64>, %E: tensor<1xf64>, %xt: f64):
    %c0 = arith.constant 0 : index
    %s = tensor.extract %S[%c0] : tensor<1xf64>
    %e = tensor.extract %E[%c0] : tensor<1xf64>
    %sum = arith.addf %s, %xt : f64
    %next = tensor.from_elements %sum : tensor<1xf64>
    %out = arith.addf %e, %xt : f64
    scan.yield %next, %out : tensor<1xf64>, f64
  } -> (tensor<?x?xf64>), (tensor<?x1xf64>)
  return %y, %f : tensor<?x?xf64>, tensor<?x1xf64>
})";
}

TEST(MiniBatches, EntryStateHoldsUntilTheNextOne) {
  TestModel model(entrySums());
  Arrays in;
  in["x"] = Array({1, 5}, {1, 2, 4, 8, 16});
  Arrays out = model.run(in);
  EXPECT_EQ(out["y"].data, (Values{1, 2, 7, 11, 31}));
  EXPECT_EQ(out["final_state"].data, (Values{31}));
  // Mini-batches begin with every sequence.
  in["offsets"] = Array({3}, {0, 3, 5});
  out = model.run(in);
  EXPECT_EQ(out["y"].data, (Values{1, 2, 7, 8, 16}));
  EXPECT_EQ(out["final_state"].data, (Values{7, 24}));
}

TEST(Captured, ValuesFromOutsideAreTheSameAtEveryStep) {
  TestModel model(R"(
func.func @entry(%x: tensor<?x?xf64> {scan.name = "x"}, %w: tensor<1xf64> {scan.name = "w"})
    -> (tensor<?x?xf64> {scan.name = "y"}, tensor<?x1xf64> {scan.name = "final_state"}) {
  %y, %f = scan.recurrence ins(%x as "bt" : tensor<?x?xf64>) outs("bt") finals("nk") {
  ^bb0(%S: tensor<1xf64>, %xt: f64):
    %xs = tensor.from_elements %xt : tensor<1xf64>
    %scaled = arith.mulf %xs, %w : tensor<1xf64>
    %next = arith.addf %S, %scaled : tensor<1xf64>
    scan.yield %next, %xt : tensor<1xf64>, f64
  } -> (tensor<?x?xf64>), (tensor<?x1xf64>)
  return %y, %f : tensor<?x?xf64>, tensor<?x1xf64>
})");
  Arrays in;
  in["x"] = Array({1, 3}, {1, 2, 4});
  in["w"] = Array({1}, {10});
  EXPECT_EQ(model.run(in)["final_state"].data, (Values{70}));
}

TEST(Errors, RecursionAndDeclarations) {
  auto errorOf = [](llvm::StringRef function) {
    TestModel model(makeEntry(1, 1, "k:btk", R"(
    %next = func.call @f(%S) : (tensor<1x1xf64>) -> tensor<1x1xf64>
    %y = scan.read %next query %k_t : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
    scan.yield %next, %y : tensor<1x1xf64>, tensor<1xf64>)") +
                    function.str());
    Arrays in;
    in["k"] = Array({1, 1, 1}, {1});
    return model.error(in);
  };
  EXPECT_EQ(errorOf("func.func private @f(tensor<1x1xf64>) -> tensor<1x1xf64>"),
            "the interpreter follows calls of functions with one block, found "
            "'f'\n");
  EXPECT_EQ(
      errorOf(R"(func.func private @f(%a: tensor<1x1xf64>) -> tensor<1x1xf64> {
      %0 = func.call @f(%a) : (tensor<1x1xf64>) -> tensor<1x1xf64>
      return %0 : tensor<1x1xf64>
    })"),
      "the interpreter does not follow recursive calls of 'f'\n");
}
