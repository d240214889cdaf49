// RUN: prism-opt %s --prism-scan-to-tile="schedule=recurrent" | FileCheck %s

// A serial step that no tile stands for stays as it is between loads and stores. What it calls is inlined first; a state
// factor becomes linalg ops. The state at a mini-batch's entry is carried, and copied on every fourth step.

func.func private @bend(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = math.tanh %x : tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: tile.program @forward(
// CHECK: %arg3: {{.*}} values 3 block 3 chunk 1 attributes {scan.entry = "forward", tile.steps}
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[LENGTH:.*]] = tile.length : index
// CHECK: %[[INIT:.*]] = tile.load %{{.*}}[%[[C0]], %[[C0]]] : <2x3xf32> -> tensor<2x3xf32>
// CHECK: scf.for %[[T:.*]] = %[[C0]] to %[[LENGTH]] step %{{.*}} iter_args(%[[S:.*]] = %[[INIT]], %[[E:.*]] = %[[INIT]])
// CHECK: %[[PLACE:.*]] = arith.remui %[[T]], %[[C4]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[PLACE]], %[[C0]]
// CHECK: %[[ENTRY:.*]] = scf.if %[[FIRST]]
// CHECK: linalg.copy ins(%[[S]] : tensor<2x3xf32>) outs(%[[E]] : tensor<2x3xf32>)
// CHECK: tile.load one_step %{{.*}}[%[[T]], %[[C0]]] : <?x2xf32> -> tensor<2xf32>
// CHECK: %[[Z:.*]] = linalg.vecmat ins(%{{.*}}, %[[ENTRY]]
// CHECK: math.tanh %[[Z]]
// CHECK: %[[NEXT:.*]] = linalg.generic {{.*}} outs(%[[S]] : tensor<2x3xf32>)
// CHECK: tile.store one_step %{{.*}}, %{{.*}}[%[[T]], %[[C0]]]
// CHECK: scf.yield %[[NEXT]], %[[ENTRY]]
// CHECK-NOT: scan.
func.func @forward(%k: tensor<?x?x2x2xf32> {scan.name = "k"}, %i: tensor<?x2x2x3xf32> {scan.name = "i"})
    -> (tensor<?x?x2x3xf32> {scan.name = "y"}, tensor<?x2x2x3xf32> {scan.name = "f"}) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence mini_batch 4 ins(%k as "bthk" : tensor<?x?x2x2xf32>)
      init(%i as "nhkv" : tensor<?x2x2x3xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<2x3xf32>, %entry: tensor<2x3xf32>, %k_t: tensor<2xf32>):
    %zeros = arith.constant dense<0.0> : tensor<3xf32>
    %z = linalg.vecmat ins(%k_t, %entry : tensor<2xf32>, tensor<2x3xf32>) outs(%zeros : tensor<3xf32>) -> tensor<3xf32>
    %w = func.call @bend(%z) : (tensor<3xf32>) -> tensor<3xf32>
    %next = scan.inject %S key %k_t value %w : tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>
    scan.yield %next, %w : tensor<2x3xf32>, tensor<3xf32>
  } attributes {scan.serial} -> (tensor<?x?x2x3xf32>), (tensor<?x2x2x3xf32>)
  return %y, %f : tensor<?x?x2x3xf32>, tensor<?x2x2x3xf32>
}
