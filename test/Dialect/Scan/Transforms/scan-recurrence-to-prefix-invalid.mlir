// RUN: prism-opt %s --scan-recurrence-to-prefix --remarks-filter=scan --remark-format=emitRemark -split-input-file -verify-diagnostics | FileCheck %s

// What is declined stays as it is; a remark says where and why.
// CHECK-COUNT-10: scan.recurrence
// CHECK-NOT: scan.prefix

// Each column would decay in its own way between erases.
func.func @columns(%k: tensor<?x?x2xf32>, %g: tensor<?x?x3xf32>, %a: tensor<?x?xf32>) -> tensor<?x2x3xf32> {
  %s = scan.recurrence ins(%k as "btk", %g as "btv", %a as "bt" : tensor<?x?x2xf32>, tensor<?x?x3xf32>, tensor<?x?xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x3xf32>, %kt: tensor<2xf32>, %gt: tensor<3xf32>, %at: f32):
    // expected-remark@+1 {{a decay along value beside an erase: each value column would need a carried matrix of its own}}
    %1 = scan.decay %S by %gt along value : tensor<2x3xf32>, tensor<3xf32>
    %2 = scan.erase %1 read %kt write %kt strength %at : tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, f32
    scan.yield %2 : tensor<2x3xf32>
  } -> (), (tensor<?x2x3xf32>)
  return %s : tensor<?x2x3xf32>
}

// -----

func.func @mini_batches(%k: tensor<?x?x2xf32>) -> tensor<?x2x2xf32> {
  // expected-remark@+1 {{its step reads states at a mini-batch's entry; maps are carried from token to token}}
  %s = scan.recurrence mini_batch 4 ins(%k as "btk" : tensor<?x?x2xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x2xf32>, %E: tensor<2x2xf32>, %kt: tensor<2xf32>):
    %r = scan.read %E query %kt : tensor<2x2xf32>, tensor<2xf32> -> tensor<2xf32>
    %1 = scan.inject %S key %kt value %r : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
    scan.yield %1 : tensor<2x2xf32>
  } -> (), (tensor<?x2x2xf32>)
  return %s : tensor<?x2x2xf32>
}

// -----

// Affine, but plain: another pass makes factors.
func.func @plain(%x: tensor<?x?x2x2xf32>) -> tensor<?x2x2xf32> {
  %s = scan.recurrence ins(%x as "btkv" : tensor<?x?x2x2xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x2xf32>, %xt: tensor<2x2xf32>):
    // expected-remark@+1 {{the next value of state 0 is no chain of factors of it; scan-raise-affine makes factors of plain ops}}
    %1 = arith.addf %S, %xt : tensor<2x2xf32>
    scan.yield %1 : tensor<2x2xf32>
  } -> (), (tensor<?x2x2xf32>)
  return %s : tensor<?x2x2xf32>
}

// -----

func.func @serial(%x: tensor<?x?x2x2xf32>) -> tensor<?x2x2xf32> {
  %s = scan.recurrence ins(%x as "btkv" : tensor<?x?x2x2xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x2xf32>, %xt: tensor<2x2xf32>):
    // expected-remark@+1 {{state 0 does not follow an affine recurrence: 'math.tanh'}}
    %1 = math.tanh %S : tensor<2x2xf32>
    scan.yield %1 : tensor<2x2xf32>
  } -> (), (tensor<?x2x2xf32>)
  return %s : tensor<?x2x2xf32>
}

// -----

// The value that is injected is read from the other state: affine in both together, but no map of each.
func.func @coupled(%k: tensor<?x?x2xf32>) -> tensor<?x2x2xf32> {
  %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x2xf32>) outs() finals("nkv", "nkv") {
  ^bb0(%S: tensor<2x2xf32>, %R: tensor<2x2xf32>, %kt: tensor<2xf32>):
    %r = scan.read %R query %kt : tensor<2x2xf32>, tensor<2xf32> -> tensor<2xf32>
    // expected-remark@+1 {{operand 2 of 'scan.inject' on the chain of state 0 is computed from a state: the token's map is not known before the state is}}
    %1 = scan.inject %S key %kt value %r : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
    scan.yield %1, %R : tensor<2x2xf32>, tensor<2x2xf32>
  } -> (), (tensor<?x2x2xf32>, tensor<?x2x2xf32>)
  return %s#0 : tensor<?x2x2xf32>
}

// -----

func.func private @log(f32)
func.func @effects(%g: tensor<?x?xf32>) -> tensor<?x2x2xf32> {
  %s = scan.recurrence ins(%g as "bt" : tensor<?x?xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x2xf32>, %gt: f32):
    // expected-remark@+1 {{'func.call' may have effects, and would run in enc and inf}}
    func.call @log(%gt) : (f32) -> ()
    %1 = scan.decay %S by %gt along scalar : tensor<2x2xf32>, f32
    scan.yield %1 : tensor<2x2xf32>
  } -> (), (tensor<?x2x2xf32>)
  return %s : tensor<?x2x2xf32>
}

// -----

func.func @no_axis(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  // expected-remark@+1 {{a state without an axis or without elements has no element of a prefix scan}}
  %s = scan.recurrence ins(%x as "bt" : tensor<?x?xf32>) outs() finals("n") {
  ^bb0(%S: tensor<f32>, %xt: f32):
    scan.yield %S : tensor<f32>
  } -> (), (tensor<?xf32>)
  return %s : tensor<?xf32>
}

// -----

func.func @large(%k: tensor<?x?x1025xf32>, %b: tensor<?x?xf32>) -> tensor<?x1025x2xf32> {
  %s = scan.recurrence ins(%k as "btk", %b as "bt" : tensor<?x?x1025xf32>, tensor<?x?xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<1025x2xf32>, %kt: tensor<1025xf32>, %bt: f32):
    // expected-remark@+1 {{the carried matrix of 1025 x 1025 is larger than 1024 x 1024}}
    %1 = scan.erase %S read %kt write %kt strength %bt : tensor<1025x2xf32>, tensor<1025xf32>, tensor<1025xf32>, f32
    scan.yield %1 : tensor<1025x2xf32>
  } -> (), (tensor<?x1025x2xf32>)
  return %s : tensor<?x1025x2xf32>
}

// -----

func.func @letters(%k: tensor<?x?x2xf32>, %b: tensor<?x?xf32>, %all: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<?x2x2xf32> {
  // expected-remark@+1 {{no letter is left for the columns of a carried matrix: the axes use all of a to z}}
  %s = scan.recurrence ins(%k as "btk", %b as "bt", %all as "acdefgijlmopqrsuwxyz"
      : tensor<?x?x2xf32>, tensor<?x?xf32>, tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x2xf32>, %kt: tensor<2xf32>, %bt: f32, %at: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>):
    %1 = scan.erase %S read %kt write %kt strength %bt : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
    scan.yield %1 : tensor<2x2xf32>
  } -> (), (tensor<?x2x2xf32>)
  return %s : tensor<?x2x2xf32>
}

// -----

func.func @value_first(%k: tensor<?x?x2xf32>, %v: tensor<?x?x3xf32>) -> tensor<?x3x2xf32> {
  %s = scan.recurrence ins(%k as "btk", %v as "btv" : tensor<?x?x2xf32>, tensor<?x?x3xf32>) outs() finals("nvk") {
  ^bb0(%S: tensor<3x2xf32>, %kt: tensor<2xf32>, %vt: tensor<3xf32>):
    %keys_first = tensor.empty() : tensor<2x3xf32>
    %1 = linalg.transpose ins(%S : tensor<3x2xf32>) outs(%keys_first : tensor<2x3xf32>) permutation = [1, 0]
    // expected-remark@+1 {{the state is written values first; maps are composed of keys first}}
    %2 = scan.inject %1 key %kt value %vt : tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>
    %values_first = tensor.empty() : tensor<3x2xf32>
    %3 = linalg.transpose ins(%2 : tensor<2x3xf32>) outs(%values_first : tensor<3x2xf32>) permutation = [1, 0]
    scan.yield %3 : tensor<3x2xf32>
  } -> (), (tensor<?x3x2xf32>)
  return %s : tensor<?x3x2xf32>
}
