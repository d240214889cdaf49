// RUN: prism-opt %s --scan-recurrence-to-prefix -split-input-file | FileCheck %s

// What is carried of M is as small as the chain allows. Values are compared in unittests/Analysis/PrefixTest.cpp.

// Nothing but injections: N alone. The step is kept whole in inf, its next state is gone.
// CHECK-LABEL: func.func @added
func.func @added(%q: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x3xf32>) -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x3xf32>
  // CHECK: %[[O:.*]], %[[S:.*]] = scan.prefix associative
  // CHECK-SAME: ins(%{{.*}} as "bthk", %{{.*}} as "bthv" : {{.*}}) identity(%[[ZERO]] as "kv" : tensor<4x3xf32>) outs("bthv") finals("nhkv") enc {
  // CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<3xf32>):
  // CHECK-NEXT: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<4x3xf32>
  // CHECK-NEXT: %[[N:.*]] = scan.inject %[[NONE]] key %[[Q]] value %[[V]]
  // CHECK-NEXT: scan.yield %[[N]]
  // CHECK-NEXT: } agg {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<4x3xf32>):
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK-NEXT: scan.yield %[[SUM]]
  // CHECK-NEXT: } inf {
  // CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<4x3xf32>, %[[QI:.*]]: tensor<4xf32>, %{{.*}}: tensor<3xf32>):
  // CHECK-NEXT: %[[Y:.*]] = scan.read %[[P]] query %[[QI]]
  // CHECK-NEXT: scan.yield %[[Y]]
  // CHECK-NEXT: } -> (tensor<?x?x2x3xf32>), (tensor<?x2x4x3xf32>)
  // CHECK-NEXT: return %[[O]], %[[S]]
  %o, %s = scan.recurrence ins(%q as "bthk", %v as "bthv" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<4x3xf32>, %qt: tensor<4xf32>, %vt: tensor<3xf32>):
    %y = scan.read %S query %qt : tensor<4x3xf32>, tensor<4xf32> -> tensor<3xf32>
    %1 = scan.inject %S key %qt value %vt : tensor<4x3xf32>, tensor<4xf32>, tensor<3xf32>
    scan.yield %1, %y : tensor<4x3xf32>, tensor<3xf32>
  } -> (tensor<?x?x2x3xf32>), (tensor<?x2x4x3xf32>)
  return %o, %s : tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>
}

// -----

// Scalar gates of bf16 are summed in f32. The initial state is the N of an identity that is evaluated; other clauses stay, a plan goes.
// CHECK-LABEL: func.func @scalar
func.func @scalar(%v: tensor<?x?x3xf32>, %g: tensor<?x?xbf16>, %s0: tensor<?x4x3xf32>, %at: tensor<?xi64>) -> tensor<?x4x3xf32> {
  // CHECK: %[[KEEP:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: %{{.*}}:2 = scan.prefix reverse associative ins({{.*}}) identity(%[[KEEP]] as "", %{{.*}} as "nkv" : tensor<f32>, tensor<?x4x3xf32>) evaluate offsets(%{{.*}} : tensor<?xi64>) outs() finals("n", "nkv") enc {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<3xf32>, %[[G:.*]]: bf16):
  // CHECK: %[[WIDE:.*]] = arith.extf %[[G]] : bf16 to f32
  // CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<4x3xf32>
  // CHECK: %[[D:.*]] = scan.decay %[[NONE]] by %[[G]] along scalar
  // CHECK: %[[N:.*]] = scan.inject %[[D]]
  // CHECK: scan.yield %[[WIDE]], %[[N]] : f32, tensor<4x3xf32>
  // CHECK-NEXT: } agg {
  // CHECK-NEXT: ^bb0(%[[GA:.*]]: f32, %[[NA:.*]]: tensor<4x3xf32>, %[[GB:.*]]: f32, %[[NB:.*]]: tensor<4x3xf32>):
  // CHECK-DAG: %[[GATES:.*]] = arith.addf %[[GA]], %[[GB]] : f32
  // CHECK-DAG: %[[KEPT:.*]] = scan.decay %[[NA]] by %[[GB]] along scalar
  // CHECK: %[[SUM:.*]] = arith.addf %[[KEPT]], %[[NB]]
  // CHECK: scan.yield %[[GATES]], %[[SUM]]
  %s = scan.recurrence reverse ins(%v as "btv", %g as "bt" : tensor<?x?x3xf32>, tensor<?x?xbf16>) init(%s0 as "nkv" : tensor<?x4x3xf32>)
      offsets(%at : tensor<?xi64>) outs() finals("nkv") plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x3xf32>, %vt: tensor<3xf32>, %gt: bf16):
    %k = arith.constant dense<1.0> : tensor<4xf32>
    %1 = scan.decay %S by %gt along scalar : tensor<4x3xf32>, bf16
    %2 = scan.inject %1 key %k value %vt : tensor<4x3xf32>, tensor<4xf32>, tensor<3xf32>
    scan.yield %2 : tensor<4x3xf32>
  } -> (), (tensor<?x4x3xf32>)
  return %s : tensor<?x4x3xf32>
}

// -----

// A gate per key and one per value: one for each element.
// CHECK-LABEL: func.func @element
func.func @element(%a: tensor<?x?x4xf32>, %b: tensor<?x?x3xf32>) -> tensor<?x4x3xf32> {
  // CHECK: scan.prefix associative {{.*}} identity(%{{.*}} as "kv", %{{.*}} as "kv" : tensor<4x3xf32>, tensor<4x3xf32>)
  // CHECK: ^bb0(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<3xf32>):
  // CHECK: %[[AS:.*]] = linalg.broadcast ins(%[[A]] : tensor<4xf32>) outs(%{{.*}} : tensor<4x3xf32>) dimensions = [1]
  // CHECK: %[[BS:.*]] = linalg.broadcast ins(%[[B]] : tensor<3xf32>) outs(%{{.*}} : tensor<4x3xf32>) dimensions = [0]
  // CHECK: arith.addf %[[AS]], %[[BS]]
  // CHECK: } agg {
  // CHECK: scan.decay %{{.*}} by %{{.*}} along element
  %s = scan.recurrence ins(%a as "btk", %b as "btv" : tensor<?x?x4xf32>, tensor<?x?x3xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<4x3xf32>, %at: tensor<4xf32>, %bt: tensor<3xf32>):
    %1 = scan.decay %S by %at along key : tensor<4x3xf32>, tensor<4xf32>
    %2 = scan.decay %1 by %bt along value : tensor<4x3xf32>, tensor<3xf32>
    scan.yield %2 : tensor<4x3xf32>
  } -> (), (tensor<?x4x3xf32>)
  return %s : tensor<?x4x3xf32>
}

// -----

// An erase mixes keys: a matrix, the chain on the identity. Its columns have a letter that nothing else has.
// CHECK-LABEL: func.func @matrix
func.func @matrix(%k: tensor<?x?x2xf32>, %g: tensor<?x?xf32>, %a: tensor<?x?xf32>) -> tensor<?x2x3xf32> {
  // CHECK: %[[I:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
  // CHECK: %[[F:.*]]:2 = scan.prefix associative {{.*}} identity(%[[I]] as "ka", %{{.*}} as "kv" : tensor<2x2xf32>, tensor<2x3xf32>) outs() finals("nka", "nkv")
  // CHECK: %[[D:.*]] = scan.decay %[[I]] by %[[G:.*]] along scalar : tensor<2x2xf32>, f32
  // CHECK: %[[M:.*]] = scan.erase %[[D]] of %[[I]] read %[[K:.*]] write %[[K]] strength %{{.*}} : tensor<2x2xf32> of tensor<2x2xf32>
  // CHECK: scan.yield %[[M]], %{{.*}} : tensor<2x2xf32>, tensor<2x3xf32>
  // CHECK-NEXT: } agg {
  // CHECK-NEXT: ^bb0(%[[MA:.*]]: tensor<2x2xf32>, %[[NA:.*]]: tensor<2x3xf32>, %[[MB:.*]]: tensor<2x2xf32>, %[[NB:.*]]: tensor<2x3xf32>):
  // CHECK: %[[MM:.*]] = linalg.matmul ins(%[[MB]], %[[MA]] :
  // CHECK: %[[NN:.*]] = linalg.matmul ins(%[[MB]], %[[NA]] : {{.*}}) outs(%[[NB]] :
  // CHECK: scan.yield %[[MM]], %[[NN]]
  // CHECK: return %[[F]]#1
  %s = scan.recurrence ins(%k as "btk", %g as "bt", %a as "bt" : tensor<?x?x2xf32>, tensor<?x?xf32>, tensor<?x?xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x3xf32>, %kt: tensor<2xf32>, %gt: f32, %at: f32):
    %1 = scan.decay %S by %gt along scalar : tensor<2x3xf32>, f32
    %2 = scan.erase %1 of %S read %kt write %kt strength %at : tensor<2x3xf32> of tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, f32
    scan.yield %2 : tensor<2x3xf32>
  } -> (), (tensor<?x2x3xf32>)
  return %s : tensor<?x2x3xf32>
}

// -----

// Two states, the second of them read by an output of plain ops.
// CHECK-LABEL: func.func @two_states
func.func @two_states(%k: tensor<?x?x2xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>) {
  // CHECK: %[[O:.*]], %[[F:.*]]:3 = scan.prefix {{.*}} outs("btuv") finals("nkv", "n", "nkv")
  // CHECK: } inf {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2x2xf32>, %{{.*}}: f32, %[[B:.*]]: tensor<2x2xf32>,
  // CHECK: arith.mulf %[[A]], %[[B]]
  // CHECK: return %[[O]], %[[F]]#0, %[[F]]#2
  %o, %s:2 = scan.recurrence ins(%k as "btk", %g as "bt" : tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btuv") finals("nkv", "nkv") {
  ^bb0(%S: tensor<2x2xf32>, %R: tensor<2x2xf32>, %kt: tensor<2xf32>, %gt: f32):
    %1 = scan.inject %S key %kt value %kt : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
    %2 = scan.decay %R by %gt along scalar : tensor<2x2xf32>, f32
    %y = arith.mulf %S, %R : tensor<2x2xf32>
    scan.yield %1, %2, %y : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  } -> (tensor<?x?x2x2xf32>), (tensor<?x2x2xf32>, tensor<?x2x2xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>
}

// -----

// Matrices of two sizes have columns of two letters.
// CHECK-LABEL: func.func @two_matrices
func.func @two_matrices(%k: tensor<?x?x2xf32>, %l: tensor<?x?x3xf32>, %b: tensor<?x?xf32>) -> (tensor<?x2x2xf32>, tensor<?x3x2xf32>) {
  // CHECK: scan.prefix {{.*}} outs() finals("nka", "nkv", "nlc", "nlv")
  %s:2 = scan.recurrence ins(%k as "btk", %l as "btl", %b as "bt" : tensor<?x?x2xf32>, tensor<?x?x3xf32>, tensor<?x?xf32>) outs() finals("nkv", "nlv") {
  ^bb0(%S: tensor<2x2xf32>, %R: tensor<3x2xf32>, %kt: tensor<2xf32>, %lt: tensor<3xf32>, %bt: f32):
    %1 = scan.erase %S read %kt write %kt strength %bt : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
    %2 = scan.erase %R read %lt write %lt strength %bt : tensor<3x2xf32>, tensor<3xf32>, tensor<3xf32>, f32
    scan.yield %1, %2 : tensor<2x2xf32>, tensor<3x2xf32>
  } -> (), (tensor<?x2x2xf32>, tensor<?x3x2xf32>)
  return %s#0, %s#1 : tensor<?x2x2xf32>, tensor<?x3x2xf32>
}
