// RUN: prism-opt %s --convert-scan-to-tile --canonicalize --cse | FileCheck %s

// A memory %M that adds its momentum %S, in mini-batches of 8. What is erased and what is injected have one key and no state
// tells them apart: one writer. The memory at each token sees both states at the entry and all writers so far; its last row
// leaves. On rows past the end the states stay as they are.
// CHECK-LABEL: tile.program @forward
// CHECK: scf.for %[[T:.*]] = %{{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK: %[[ETA:.*]] = math.exp
// CHECK: %[[KEYS:.*]] = tile.load %arg0
// CHECK: %[[INSIDE:.*]] = tile.mask_rows %[[ONE:.*]] from %[[T]]
// CHECK: %[[SEEN:.*]] = tile.dot %[[KEYS]], %[[M]]
// CHECK: %[[WRITTEN:.*]] = arith.addf
// CHECK: %[[OUTSIDE:.*]] = arith.subf %[[ONE]], %[[INSIDE]]
// CHECK: %[[ETAS:.*]] = arith.mulf %[[ETA]], %[[INSIDE]]
// CHECK: %[[STAY:.*]] = arith.addf %[[ETAS]], %[[OUTSIDE]]
// CHECK: tile.initial_response 0 by(%[[ONE]], %[[ETAS]], %[[ZERO:.*]], %[[STAY]]) to(%[[ONE]], %[[ETAS]])
// CHECK: tile.initial_response 1 by(%[[ONE]], %[[ETAS]], %[[ZERO]], %[[STAY]]) to(%[[ONE]], %[[ETAS]])
// CHECK: %[[C:.*]] = tile.impulse_response by(%[[ONE]], %[[ETAS]], %[[ZERO]], %[[STAY]]) to(%[[ONE]], %[[ETAS]]) from(%[[ONE]], %[[ONE]]) direct %[[ONE]]
// CHECK: %[[SCORES:.*]] = arith.mulf %{{.*}}, %[[C]]
// CHECK: tile.dot %[[SCORES]], %[[WRITTEN]]
// CHECK: tile.last_row %[[C]]
// CHECK-NOT: tile.solve
func.func @forward(%k: tensor<?x?x4xf32> {scan.name = "k"}, %v: tensor<?x?x4xf32> {scan.name = "v"}, %g: tensor<?x?xf32> {scan.name = "g"})
    -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %m, %s = scan.recurrence mini_batch 8 ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1> {
  ^bb0(%M: tensor<4x4xf32>, %S: tensor<4x4xf32>, %E: tensor<4x4xf32>, %F: tensor<4x4xf32>, %kt: tensor<4xf32>, %vt: tensor<4xf32>, %gt: f32):
    %one = arith.constant 1.0 : f32
    %0 = scan.decay %S by %gt along scalar : tensor<4x4xf32>, f32
    %1 = scan.erase %0 of %E read %kt write %kt strength %one : tensor<4x4xf32> of tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, f32
    %2 = scan.inject %1 key %kt value %vt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %3 = arith.addf %M, %2 : tensor<4x4xf32>
    %y = scan.read %3 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %3, %2, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %m, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}
