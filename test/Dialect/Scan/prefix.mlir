// RUN: prism-opt %s | prism-opt | FileCheck %s
// RUN: prism-opt %s -mlir-print-op-generic | prism-opt | FileCheck %s
// RUN: prism-opt %s --emit-bytecode | prism-opt | FileCheck %s

// scan.prefix with every clause, and with none that may be left out.

// CHECK-LABEL: func.func @all_clauses
func.func @all_clauses(%q: tensor<?x?x2x4xbf16>, %v: tensor<?x?x4x3xf32>, %w: tensor<4xf32>, %m: tensor<2xf64>,
    %s: tensor<?x4x4x3xf32> {scan.optional}, %offsets: tensor<?xi64>)
    -> (tensor<?x?x4x3xbf16>, tensor<?x4xf64>, tensor<4x?x4x3xf32>) {
  // CHECK: %[[Y:.*]], %[[T:.*]]:2 = scan.prefix reverse associative chunk 8
  // CHECK-SAME: ins(%{{.*}} as "bthk", %{{.*}} as "bthv", %{{.*}} as "k" : tensor<?x?x2x4xbf16>, tensor<?x?x4x3xf32>, tensor<4xf32>)
  // CHECK-SAME: identity(%{{.*}} as "h", %{{.*}} as "nhkv" : tensor<2xf64>, tensor<?x4x4x3xf32>) evaluate
  // CHECK-SAME: offsets(%{{.*}} : tensor<?xi64>) outs("bthv") finals("nh", "hnkv") enc {
  %y, %t:2 = scan.prefix reverse associative chunk 8
      ins(%q as "bthk", %v as "bthv", %w as "k" : tensor<?x?x2x4xbf16>, tensor<?x?x4x3xf32>, tensor<4xf32>)
      identity(%m as "h", %s as "nhkv" : tensor<2xf64>, tensor<?x4x4x3xf32>) evaluate
      offsets(%offsets : tensor<?xi64>) outs("bthv") finals("nh", "hnkv")
  enc {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<8x4xbf16>, %{{.*}}: tensor<8x3xf32>, %{{.*}}: tensor<4xf32>):
  ^bb0(%qc: tensor<8x4xbf16>, %vc: tensor<8x3xf32>, %wc: tensor<4xf32>):
    %one = arith.constant 1.0 : f64
    %zero = arith.constant dense<0.0> : tensor<4x3xf32>
    // CHECK: scan.yield %{{.*}}, %{{.*}} : f64, tensor<4x3xf32>
    scan.yield %one, %zero : f64, tensor<4x3xf32>
  // CHECK-NEXT: } agg {
  // CHECK-NEXT: ^bb0(%[[M:.*]]: f64, %[[A:.*]]: tensor<4x3xf32>, %{{.*}}: f64, %{{.*}}: tensor<4x3xf32>):
  } agg {
  ^bb0(%a0: f64, %a1: tensor<4x3xf32>, %b0: f64, %b1: tensor<4x3xf32>):
    // CHECK-NEXT: scan.yield %[[M]], %[[A]] : f64, tensor<4x3xf32>
    scan.yield %a0, %a1 : f64, tensor<4x3xf32>
  // CHECK-NEXT: } inf {
  // CHECK-NEXT: ^bb0(%{{.*}}: f64, %{{.*}}: tensor<4x3xf32>, %{{.*}}: tensor<8x4xbf16>, %{{.*}}: tensor<8x3xf32>, %{{.*}}: tensor<4xf32>):
  } inf {
  ^bb0(%p0: f64, %p1: tensor<4x3xf32>, %qc: tensor<8x4xbf16>, %vc: tensor<8x3xf32>, %wc: tensor<4xf32>):
    %o = arith.truncf %vc : tensor<8x3xf32> to tensor<8x3xbf16>
    scan.yield %o : tensor<8x3xbf16>
  // CHECK: } attributes {mark = 1 : i64} -> (tensor<?x?x4x3xbf16>), (tensor<?x4xf64>, tensor<4x?x4x3xf32>)
  } attributes {mark = 1} -> (tensor<?x?x4x3xbf16>), (tensor<?x4xf64>, tensor<4x?x4x3xf32>)
  // CHECK: return %[[Y]], %[[T]]#0, %[[T]]#1
  return %y, %t#0, %t#1 : tensor<?x?x4x3xbf16>, tensor<?x4xf64>, tensor<4x?x4x3xf32>
}

// One scalar component, no finals; the largest chunk for which inclusive may be said.
// CHECK-LABEL: func.func @smallest
func.func @smallest(%x: tensor<?x?xf32>, %e: tensor<f32>) -> tensor<?x?xf32> {
  // CHECK: scan.prefix inclusive chunk 1 ins(%{{.*}} as "bt" : tensor<?x?xf32>) identity(%{{.*}} as "" : tensor<f32>) outs("bt") finals() enc {
  %y = scan.prefix inclusive chunk 1 ins(%x as "bt" : tensor<?x?xf32>) identity(%e as "" : tensor<f32>) outs("bt") finals()
  enc {
  ^bb0(%t: f32):
    scan.yield %t : f32
  } agg {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    scan.yield %s : f32
  } inf {
  ^bb0(%p: f32, %t: f32):
    scan.yield %p : f32
  } -> (tensor<?x?xf32>), ()
  return %y : tensor<?x?xf32>
}

// No outputs: only the total is wanted. The longest chunk, static extents, a step captured from outside.
// CHECK-LABEL: func.func @only_total
func.func @only_total(%x: tensor<2x100x1xf64>, %e: tensor<1xf64>, %w: tensor<1xf64>) -> tensor<2x1xf64> {
  // CHECK: scan.prefix chunk 65536 ins({{.*}}) identity({{.*}}) outs() finals("nv") enc {
  %f = scan.prefix chunk 65536 ins(%x as "btv" : tensor<2x100x1xf64>) identity(%e as "v" : tensor<1xf64>) outs() finals("nv")
  enc {
  ^bb0(%t: tensor<65536x1xf64>):
    scan.yield %w : tensor<1xf64>
  } agg {
  ^bb0(%a: tensor<1xf64>, %b: tensor<1xf64>):
    scan.yield %w : tensor<1xf64>
  } inf {
  ^bb0(%p: tensor<1xf64>, %t: tensor<65536x1xf64>):
    scan.yield
  } -> (), (tensor<2x1xf64>)
  return %f : tensor<2x1xf64>
}
