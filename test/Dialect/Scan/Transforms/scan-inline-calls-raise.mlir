// RUN: prism-opt %s --scan-inline-calls --scan-raise-affine --scan-verify-state-independence | FileCheck %s
// RUN: prism-opt %s --scan-verify-state-independence | FileCheck %s --check-prefix=BEFORE

// The verdict is the same before and after; what a function does to the state is raised like what a step does itself.

func.func private @keep(%S: tensor<4x2xf32>, %g: f32) -> tensor<4x2xf32> {
  %a = math.exp %g : f32
  %all = tensor.splat %a : tensor<4x2xf32>
  %kept = arith.mulf %S, %all : tensor<4x2xf32>
  return %kept : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @forward
// CHECK: ^bb0(%[[S:.*]]: tensor<4x2xf32>, %[[K:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<2xf32>, %[[G:.*]]: f32)
// CHECK: %[[KEPT:.*]] = scan.decay %[[S]] by %[[G]] along scalar
// CHECK: %[[NEXT:.*]] = scan.inject %[[KEPT]] key %[[K]] value %[[V]]
// CHECK: scan.read %[[NEXT]] query %[[K]]
// CHECK: scan.state_independent = "token"
// BEFORE: func.call @keep
// BEFORE: scan.state_independent = "token"
func.func @forward(%k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x2xf32>, %g: tensor<?x?x2xf32>)
    -> (tensor<?x?x2x2xf32>, tensor<?x2x4x2xf32>) attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%k as "bthk", %v as "bthv", %g as "bth" : tensor<?x?x2x4xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %k_t: tensor<4xf32>, %v_t: tensor<2xf32>, %g_t: f32):
    %kept = func.call @keep(%S, %g_t) : (tensor<4x2xf32>, f32) -> tensor<4x2xf32>
    %next = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%k_t, %v_t : tensor<4xf32>, tensor<2xf32>) outs(%kept : tensor<4x2xf32>) {
      ^bb0(%x: f32, %y: f32, %s: f32):
        %xy = arith.mulf %x, %y : f32
        %z = arith.addf %s, %xy : f32
        linalg.yield %z : f32
    } -> tensor<4x2xf32>
    %zero = arith.constant dense<0.0> : tensor<2xf32>
    %o_t = linalg.vecmat ins(%k_t, %next : tensor<4xf32>, tensor<4x2xf32>) outs(%zero : tensor<2xf32>) -> tensor<2xf32>
    scan.yield %next, %o_t : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2x2xf32>), (tensor<?x2x4x2xf32>)
  return %o, %f : tensor<?x?x2x2xf32>, tensor<?x2x4x2xf32>
}
