// RUN: prism-opt %s --scan-classify | FileCheck %s
// RUN: prism-opt %s --scan-classify --scan-choose-chunk-size --remarks-filter=scan --remark-format=emitRemark -verify-diagnostics -o /dev/null
// RUN: prism-opt %prism_src/examples/models/gated_deltanet.mlir --scan-recurrence-to-prefix --scan-classify | FileCheck %s --check-prefix=MAPS
// RUN: prism-opt %prism_src/examples/models/gla.mlir --scan-raise-affine --scan-recurrence-to-prefix --scan-classify | FileCheck %s --check-prefix=MAPS

// The class of prefix scans, and that their chunk stays. Proofs are tested in unittests/Analysis/AssociativityTest.cpp.

// MAPS: scan.class = {{[{]}}associative = "by proof", depth = "log n", kind = "associative", memory = "1", spd = "SPD-(n, 1)", work = "n"}

// CHECK-LABEL: func.func @proof
func.func @proof(%x: tensor<?x?xf32>, %e: tensor<f32>) -> tensor<?x?xf32> {
  // CHECK: scan.class = {{[{]}}associative = "by proof", depth = "log n", kind = "associative", memory = "1", spd = "SPD-(n, 1)", work = "n"}
  // expected-remark@+1 {{chunk 1 stays: enc encodes chunks of this length}}
  %y = scan.prefix ins(%x as "bt" : tensor<?x?xf32>) identity(%e as "" : tensor<f32>) outs("bt") finals()
  enc {
  ^bb0(%t: f32):
    scan.yield %t : f32
  } agg {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    scan.yield %s : f32
  } inf {
  ^bb0(%p: f32, %t: f32):
    scan.yield %p : f32
  } -> (tensor<?x?xf32>), ()
  return %y : tensor<?x?xf32>
}

// What is declared is believed, and not proved: max(tanh a, tanh b) is not associative.
// CHECK-LABEL: func.func @declaration
func.func @declaration(%x: tensor<?x?xf32>, %e: tensor<f32>) -> tensor<?x?xf32> {
  // CHECK: scan.class = {{[{]}}associative = "by declaration", depth = "log n", kind = "associative", memory = "1", spd = "SPD-(n, 1)", work = "n"}
  // expected-remark@+2 {{agg is declared to be associative, which is not proved}}
  // expected-remark@+1 {{chunk 4 stays: enc encodes chunks of this length}}
  %y = scan.prefix associative chunk 4 ins(%x as "bt" : tensor<?x?xf32>) identity(%e as "" : tensor<f32>) outs("bt") finals()
  enc {
  ^bb0(%t: tensor<4xf32>):
    %c0 = arith.constant 0 : index
    %z = tensor.extract %t[%c0] : tensor<4xf32>
    scan.yield %z : f32
  } agg {
  ^bb0(%a: f32, %b: f32):
    %ta = math.tanh %a : f32
    %tb = math.tanh %b : f32
    %s = arith.maximumf %ta, %tb : f32
    scan.yield %s : f32
  } inf {
  ^bb0(%p: f32, %t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } -> (tensor<?x?xf32>), ()
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @tree
func.func @tree(%x: tensor<?x?xf32>, %e: tensor<f32>, %w: f32) -> tensor<?x?xf32> {
  // CHECK: scan.class = {{[{]}}associative = "no", depth = "log n", kind = "non-associative", memory = "log n", spd = "SPD-(n, log n)", work = "n"}
  // expected-remark@+2 {{agg is not proved to be associative: its tree is part of the model}}
  // expected-remark@+1 {{chunk 1 stays: agg is not associative, so chunk and tree are part of the model}}
  %y = scan.prefix ins(%x as "bt" : tensor<?x?xf32>) identity(%e as "" : tensor<f32>) outs("bt") finals()
  enc {
  ^bb0(%t: f32):
    scan.yield %t : f32
  } agg {
  ^bb0(%a: f32, %b: f32):
    %h = arith.mulf %a, %w : f32
    %s = arith.addf %h, %b : f32
    scan.yield %s : f32
  } inf {
  ^bb0(%p: f32, %t: f32):
    scan.yield %p : f32
  } -> (tensor<?x?xf32>), ()
  return %y : tensor<?x?xf32>
}
