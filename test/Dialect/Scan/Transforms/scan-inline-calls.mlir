// RUN: prism-opt %s --scan-inline-calls --split-input-file | FileCheck %s
// RUN: prism-opt %s --scan-inline-calls --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: prism-opt %s --split-input-file | FileCheck %s --check-prefix=PLAIN

// One function twice, one that calls another, a call in a nested region; several results; a constant of its own. The
// functions stay, and a call elsewhere too. An op has the place of its line and that of the call.

func.func private @twice(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %y = arith.mulf %two, %x : f32
  return %y : f32
}
func.func private @step(%S: tensor<1x1xf32>, %x: f32) -> (tensor<1x1xf32>, f32) {
  %y = call @twice(%x) : (f32) -> f32
  %z = call @twice(%y) : (f32) -> f32
  %1 = scan.decay %S by %x along scalar : tensor<1x1xf32>, f32
  return %1, %z : tensor<1x1xf32>, f32
}
func.func private @unused(%x: f32) -> f32 {
  return %x : f32
}
func.func @elsewhere(%x: f32) -> f32 {
  %y = call @twice(%x) : (f32) -> f32
  return %y : f32
}

// CHECK: func.func private @twice
// CHECK: func.func private @unused
// CHECK: func.func @elsewhere
// CHECK: call @twice
// CHECK-LABEL: func.func @forward
// CHECK: ^bb0(%[[S:.*]]: tensor<1x1xf32>, %[[X:.*]]: f32)
// CHECK-NOT: call
// CHECK: %[[TWO:.*]] = arith.constant 2.0
// CHECK: %[[Y:.*]] = arith.mulf %{{.*}}, %[[X]]
// CHECK: arith.mulf %{{.*}}, %[[Y]]
// CHECK: %[[NEXT:.*]] = scan.decay %[[S]] by %[[X]]
// CHECK: scf.if
// CHECK-NOT: call
// CHECK: arith.mulf
// CHECK: scan.yield %[[NEXT]]
// LOC-LABEL: func.func @forward
// LOC: arith.mulf %{{.*}} loc(#[[MUL:.*]])
// LOC: #[[MUL]] = loc(callsite(#{{.*}} at #
// PLAIN-LABEL: func.func @forward
// PLAIN: func.call @step
// PLAIN: func.call @twice
func.func @forward(%v: tensor<?x?x2xf32>) -> (tensor<?x?x2xf32>, tensor<?x2x1x1xf32>)
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%v as "bth" : tensor<?x?x2xf32>) outs("bth") finals("nhkv") {
  ^bb0(%S: tensor<1x1xf32>, %v_t: f32):
    %next, %z = func.call @step(%S, %v_t) : (tensor<1x1xf32>, f32) -> (tensor<1x1xf32>, f32)
    %zero = arith.constant 0.0 : f32
    %is = arith.cmpf ogt, %v_t, %zero : f32
    %o_t = scf.if %is -> f32 {
      %w = func.call @twice(%z) : (f32) -> f32
      scf.yield %w : f32
    } else {
      scf.yield %z : f32
    }
    scan.yield %next, %o_t : tensor<1x1xf32>, f32
  } -> (tensor<?x?x2xf32>), (tensor<?x2x1x1xf32>)
  return %o, %f : tensor<?x?x2xf32>, tensor<?x2x1x1xf32>
}
