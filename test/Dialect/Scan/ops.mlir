// RUN: prism-opt %s | prism-opt | FileCheck %s
// RUN: prism-opt %s -mlir-print-op-generic | prism-opt | FileCheck %s
// RUN: prism-opt %s --emit-bytecode | prism-opt | FileCheck %s

// Every operation, attribute and clause, with the extreme shapes that are legal.

// Gated DeltaNet with all clauses.
// CHECK-LABEL: func.func @all_clauses
// CHECK-SAME: {scan.name = "q"}
// CHECK-SAME: {scan.name = "offsets", scan.optional}
// CHECK-SAME: attributes {scan.entry = "forward"}
func.func @all_clauses(%q: tensor<?x?x2x64xbf16> {scan.name = "q"}, %k: tensor<?x?x2x64xbf16>,
    %v: tensor<?x?x4x60xbf16>, %g: tensor<?x?x4xf32>, %beta: tensor<?x?x4xf32>,
    %s0: tensor<?x4x64x60xf32> {scan.optional}, %offsets: tensor<?xi64> {scan.name = "offsets", scan.optional})
    -> (tensor<?x?x4x60xbf16> {scan.name = "o"}, tensor<?x4x64x60xf32>) attributes {scan.entry = "forward"} {
  // CHECK: scan.recurrence reverse ins(%{{.*}} as "bthk", %{{.*}} as "bthk", %{{.*}} as "bthv", %{{.*}} as "bth", %{{.*}} as "bth" :
  // CHECK-SAME: init(%{{.*}} as "nhkv" : tensor<?x4x64x60xf32>) offsets(%{{.*}} : tensor<?xi64>) outs("bthv") finals("nhkv")
  // CHECK-SAME: plan #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 1> {
  %o, %f = scan.recurrence reverse
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %g as "bth", %beta as "bth"
          : tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x4x60xbf16>, tensor<?x?x4xf32>, tensor<?x?x4xf32>)
      init(%s0 as "nhkv" : tensor<?x4x64x60xf32>) offsets(%offsets : tensor<?xi64>)
      outs("bthv") finals("nhkv") plan #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 1> {
  // CHECK: ^bb0(%[[S:.*]]: tensor<64x60xf32>, %[[Q:.*]]: tensor<64xbf16>, %[[K:.*]]: tensor<64xbf16>, %[[V:.*]]: tensor<60xbf16>, %[[G:.*]]: f32, %[[B:.*]]: f32):
  ^bb0(%S: tensor<64x60xf32>, %qt: tensor<64xbf16>, %kt: tensor<64xbf16>, %vt: tensor<60xbf16>, %gt: f32, %bt: f32):
    // CHECK: %[[N:.*]] = scan.l2norm %[[K]] {epsilon = 0.000000e+00 : f64} : tensor<64xbf16> -> tensor<64xf32>
    %kn = scan.l2norm %kt {epsilon = 0.0 : f64} : tensor<64xbf16> -> tensor<64xf32>
    // CHECK: %[[D:.*]] = scan.decay %[[S]] by %[[G]] along scalar : tensor<64x60xf32>, f32
    %1 = scan.decay %S by %gt along scalar : tensor<64x60xf32>, f32
    // CHECK: %[[E:.*]] = scan.erase %[[D]] of %[[S]] read %[[N]] write %[[K]] strength %[[B]] : tensor<64x60xf32> of tensor<64x60xf32>, tensor<64xf32>, tensor<64xbf16>, f32
    %2 = scan.erase %1 of %S read %kn write %kt strength %bt
        : tensor<64x60xf32> of tensor<64x60xf32>, tensor<64xf32>, tensor<64xbf16>, f32
    // CHECK: %[[I:.*]] = scan.inject %[[E]] key %[[K]] value %[[V]] scale %[[B]] : tensor<64x60xf32>, tensor<64xbf16>, tensor<60xbf16>, f32
    %3 = scan.inject %2 key %kt value %vt scale %bt : tensor<64x60xf32>, tensor<64xbf16>, tensor<60xbf16>, f32
    // CHECK: scan.read %[[I]] query %[[Q]] {scale = 1.250000e-01 : f64} : tensor<64x60xf32>, tensor<64xbf16> -> tensor<60xbf16>
    %y = scan.read %3 query %qt {scale = 0.125 : f64} : tensor<64x60xf32>, tensor<64xbf16> -> tensor<60xbf16>
    // CHECK: scan.yield %[[I]], %{{.*}} : tensor<64x60xf32>, tensor<60xbf16>
    scan.yield %3, %y : tensor<64x60xf32>, tensor<60xbf16>
  // CHECK: } -> (tensor<?x?x4x60xbf16>), (tensor<?x4x64x60xf32>)
  } -> (tensor<?x?x4x60xbf16>), (tensor<?x4x64x60xf32>)
  return %o, %f : tensor<?x?x4x60xbf16>, tensor<?x4x64x60xf32>
}

// No clause that may be left out; no heads; one key, one value; a discardable attribute.
// CHECK-LABEL: func.func @smallest
func.func @smallest(%x: tensor<?x?x1xf64>) -> tensor<?x1x1xf64> {
  // CHECK: scan.recurrence ins(%{{.*}} as "btv" : tensor<?x?x1xf64>) outs() finals("nkv") {
  %f = scan.recurrence ins(%x as "btv" : tensor<?x?x1xf64>) outs() finals("nkv") {
  ^bb0(%S: tensor<1x1xf64>, %xt: tensor<1xf64>):
    // CHECK: scan.inject %{{.*}} key %{{.*}} value %{{.*}} : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
    %1 = scan.inject %S key %xt value %xt : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
    scan.yield %1 : tensor<1x1xf64>
  // CHECK: } attributes {note = "kept"} -> (), (tensor<?x1x1xf64>)
  } attributes {note = "kept"} -> (), (tensor<?x1x1xf64>)
  return %f : tensor<?x1x1xf64>
}

// Two states, inputs without time, batch or head, an output without features,
// axes in an unusual order, a multiple of key heads.
// CHECK-LABEL: func.func @two_states
func.func @two_states(%k: tensor<3x?xf16>, %w: tensor<3x5xf32>, %x: tensor<6x5x?x4xf16>, %g: tensor<3x2xf32>)
    -> (tensor<6x?x4xf32>, tensor<3x5x6x?xf32>, tensor<4x6x5x5xf64>) {
  // CHECK: scan.recurrence ins(%{{.*}} as "kt", %{{.*}} as "kv", %{{.*}} as "hvtb", %{{.*}} as "kh" :
  // CHECK-SAME: outs("htb") finals("kvhn", "nhvu")
  %y, %a, %b = scan.recurrence ins(%k as "kt", %w as "kv", %x as "hvtb", %g as "kh"
      : tensor<3x?xf16>, tensor<3x5xf32>, tensor<6x5x?x4xf16>, tensor<3x2xf32>)
      outs("htb") finals("kvhn", "nhvu") plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 2, stages = 8> {
  ^bb0(%A: tensor<3x5xf32>, %B: tensor<5x5xf64>, %kt: tensor<3xf16>, %wt: tensor<3x5xf32>, %xt: tensor<5xf16>, %gt: tensor<3xf32>):
    %i = arith.constant 0 : index
    // CHECK: along key : tensor<3x5xf32>, tensor<3xf32>
    %1 = scan.decay %A by %gt along key : tensor<3x5xf32>, tensor<3xf32>
    // CHECK: along element : tensor<3x5xf32>, tensor<3x5xf32>
    %2 = scan.decay %1 by %wt along element : tensor<3x5xf32>, tensor<3x5xf32>
    // CHECK: along value : tensor<5x5xf64>, tensor<5xf16>
    %3 = scan.decay %B by %xt along value : tensor<5x5xf64>, tensor<5xf16>
    %z = scan.read %2 query %kt : tensor<3x5xf32>, tensor<3xf16> -> tensor<5xf32>
    %s = tensor.extract %z[%i] : tensor<5xf32>
    scan.yield %2, %3, %s : tensor<3x5xf32>, tensor<5x5xf64>, f32
  } -> (tensor<6x?x4xf32>), (tensor<3x5x6x?xf32>, tensor<4x6x5x5xf64>)
  return %y, %a, %b : tensor<6x?x4xf32>, tensor<3x5x6x?xf32>, tensor<4x6x5x5xf64>
}

// Rank axes and the refinement loop, for L = 2 and for L = 0.
// CHECK-LABEL: func.func @ranks
func.func @ranks(%u: tensor<?x?x8xf32>, %p: tensor<?x?x2x8xf32>, %c: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>,
                 %p0: tensor<?x?x0x8xf32>, %c0: tensor<?x?x0x4xf32>, %b0: tensor<?x?x0xf32>) -> tensor<?x4x8xf32> {
  %f = scan.recurrence ins(%u as "btv", %p as "btlv", %c as "btlk", %b as "btl", %p0 as "btmv", %c0 as "btmk", %b0 as "btm"
      : tensor<?x?x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2xf32>,
        tensor<?x?x0x8xf32>, tensor<?x?x0x4xf32>, tensor<?x?x0xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %ut: tensor<8xf32>, %pt: tensor<2x8xf32>, %ct: tensor<2x4xf32>, %bt: tensor<2xf32>,
       %p0t: tensor<0x8xf32>, %c0t: tensor<0x4xf32>, %b0t: tensor<0xf32>):
    // CHECK: scan.refine anchor %{{.*}} value %{{.*}} gain %{{.*}} activation gelu : tensor<8xf32>, tensor<8xf32>, tensor<2x8xf32> -> tensor<2x8xbf16>
    %d = scan.refine anchor %ut value %ut gain %pt activation gelu : tensor<8xf32>, tensor<8xf32>, tensor<2x8xf32> -> tensor<2x8xbf16>
    // CHECK: activation silu : tensor<8xf32>, tensor<8xf32>, tensor<0x8xf32> -> tensor<0x8xf32>
    %d0 = scan.refine anchor %ut value %ut gain %p0t activation silu : tensor<8xf32>, tensor<8xf32>, tensor<0x8xf32> -> tensor<0x8xf32>
    // CHECK: scan.l2norm %{{.*}} : tensor<2x4xf32> -> tensor<2x4xf32>
    %cn = scan.l2norm %ct : tensor<2x4xf32> -> tensor<2x4xf32>
    // CHECK: scan.erase %{{.*}} read %[[C:.*]] write %[[C]] strength %{{.*}} : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xf32>
    %1 = scan.erase %S read %cn write %cn strength %bt : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xf32>
    // CHECK: scan.inject %{{.*}} key %{{.*}} value %{{.*}} scale %{{.*}} : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x8xbf16>, tensor<2xf32>
    %2 = scan.inject %1 key %cn value %d scale %bt : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x8xbf16>, tensor<2xf32>
    // CHECK: scan.erase %{{.*}} tensor<0x4xf32>, tensor<0x4xf32>, tensor<0xf32>
    %3 = scan.erase %2 read %c0t write %c0t strength %b0t : tensor<4x8xf32>, tensor<0x4xf32>, tensor<0x4xf32>, tensor<0xf32>
    // CHECK: scan.inject %{{.*}} tensor<0x4xf32>, tensor<0x8xf32>, tensor<0xf32>
    %4 = scan.inject %3 key %c0t value %d0 scale %b0t : tensor<4x8xf32>, tensor<0x4xf32>, tensor<0x8xf32>, tensor<0xf32>
    scan.yield %4 : tensor<4x8xf32>
  } -> (), (tensor<?x4x8xf32>)
  return %f : tensor<?x4x8xf32>
}

// CHECK-LABEL: func.func private @plans
// CHECK-SAME: #scan.plan<schedule = chunk, chunk = 256, value_block = 1, stages = 8>
// CHECK-SAME: #scan.plan<schedule = chunk, chunk = 1, value_block = 0, stages = 1>
func.func private @plans() attributes {
  first = #scan.plan<schedule = chunk, chunk = 256, value_block = 1, stages = 8>,
  second = #scan.plan<schedule = chunk, chunk = 1, value_block = 0, stages = 1>}

// CHECK-LABEL: func.func @activations
func.func @activations(%u: tensor<8xf32>, %p: tensor<1x8xf32>) {
  // CHECK: activation identity
  %0 = scan.refine anchor %u value %u gain %p activation identity : tensor<8xf32>, tensor<8xf32>, tensor<1x8xf32> -> tensor<1x8xf32>
  // CHECK: activation tanh
  %1 = scan.refine anchor %u value %u gain %p activation tanh : tensor<8xf32>, tensor<8xf32>, tensor<1x8xf32> -> tensor<1x8xf32>
  // CHECK: activation relu
  %2 = scan.refine anchor %u value %u gain %p activation relu : tensor<8xf32>, tensor<8xf32>, tensor<1x8xf32> -> tensor<1x8xf32>
  return
}

// CHECK-LABEL: func.func @mini_batches
// CHECK: scan.recurrence reverse mini_batch 16 ins(
func.func @mini_batches(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence reverse mini_batch 16 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %E: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %E query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}
