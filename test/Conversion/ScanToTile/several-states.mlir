// RUN: prism-opt %s --convert-scan-to-tile --canonicalize --cse | FileCheck %s

// Two states with the same keys, queries and gate: scores, decays and decayed keys are computed once. The output is made of both
// reads, row by row.
// CHECK-LABEL: tile.program @shared
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[Z:.*]] = %{{.*}})
// CHECK: %[[SUMS:.*]] = tile.gate_sum
// CHECK-NOT: tile.gate_sum
// CHECK: %[[SCORES:.*]] = tile.dot %[[Q:.*]], %[[K:.*]] transposed
// CHECK: %[[D:.*]] = tile.decay_matrix %[[SUMS]] at [1], %[[SUMS]] at [0]
// CHECK: %[[SEEN:.*]] = arith.mulf %[[SCORES]], %[[D]]
// CHECK: %[[READ:.*]] = tile.dot %[[SEEN]], %{{.*}} -> tensor<8x6xf32>
// CHECK: %[[KEYS:.*]] = tile.scale_rows %[[K]]
// CHECK: tile.dot %[[KEYS]] transposed, {{.*}} -> tensor<4x6xf32>
// CHECK-NOT: tile.decay_matrix
// CHECK-NOT: tile.dot %[[Q]], %[[K]] transposed
// CHECK: %[[SUM:.*]] = tile.dot %[[SEEN]], %{{.*}} -> tensor<8x1xf32>
// CHECK-NOT: tile.scale_rows %[[K]]
// CHECK: tile.dot %[[KEYS]] transposed, {{.*}} -> tensor<4x1xf32>
// CHECK: %[[NUMBERS:.*]] = tile.sum_columns %[[SUM]]
// CHECK: %[[ROWS:.*]] = tile.broadcast %[[NUMBERS]]
// CHECK: %[[O:.*]] = arith.divf %[[READ]], %[[ROWS]]
// CHECK: tile.store %[[O]]
func.func @shared(%k: tensor<?x?x4xf32>, %q: tensor<?x?x4xf32>, %v: tensor<?x?x6xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x6xf32>, tensor<?x1x4x6xf32>, tensor<?x1x4x1xf32>) attributes {scan.entry = "forward"} {
  %o, %s:2 = scan.recurrence ins(%k as "btk", %q as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x6xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv", "nhky")
      plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x6xf32>, %Z: tensor<4x1xf32>, %kt: tensor<4xf32>, %qt: tensor<4xf32>, %vt: tensor<6xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %0 = scan.decay %S by %gt along scalar : tensor<4x6xf32>, f32
    %1 = scan.inject %0 key %kt value %vt : tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>
    %2 = scan.decay %Z by %gt along scalar : tensor<4x1xf32>, f32
    %3 = scan.inject %2 key %kt value %one : tensor<4x1xf32>, tensor<4xf32>, tensor<1xf32>
    %y = scan.read %1 query %qt : tensor<4x6xf32>, tensor<4xf32> -> tensor<6xf32>
    %z = scan.read %3 query %qt : tensor<4x1xf32>, tensor<4xf32> -> tensor<1xf32>
    %n = tensor.extract %z[%c0] : tensor<1xf32>
    %r = tensor.splat %n : tensor<6xf32>
    %d = arith.divf %y, %r : tensor<6xf32>
    scan.yield %1, %3, %d : tensor<4x6xf32>, tensor<4x1xf32>, tensor<6xf32>
  } -> (tensor<?x?x6xf32>), (tensor<?x1x4x6xf32>, tensor<?x1x4x1xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x6xf32>, tensor<?x1x4x6xf32>, tensor<?x1x4x1xf32>
}

// A number that no other state flows into is stepped through the chunk first and stays what it is past the sequence's end. What
// it was before each token is a column, of which the gates of the other state are made at once.
// CHECK-LABEL: tile.program @number_first
// CHECK: scf.for %[[T:.*]] = {{.*}} iter_args(%[[M0:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK: %[[INSIDE:.*]] = tile.mask_rows %{{.*}} from %[[T]]
// CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[INSIDE]]
// CHECK: tile.load %arg1[%[[T]]] : <?xf32> -> tensor<1xf32>
// CHECK: %[[NEXT:.*]] = arith.maximumf
// CHECK: %[[NUMBER:.*]] = tile.broadcast %[[NEXT]]
// CHECK: %[[M1:.*]] = arith.select %[[IS]], %[[NUMBER]], %[[M0]]
// CHECK: %[[T1:.*]] = arith.addi %[[T]]
// CHECK: tile.mask_rows %{{.*}} from %[[T1]]
// CHECK: %[[M2:.*]] = arith.select %{{.*}}, %{{.*}}, %[[M1]]
// CHECK: %[[BEFORE:.*]] = tile.interleave %[[M0]], %[[M1]]
// CHECK: %[[COLUMN:.*]] = tile.sum_columns %[[BEFORE]]
// CHECK: %[[GATE:.*]] = arith.subf %[[COLUMN]]
// CHECK: tile.mask_rows %[[GATE]] from %[[T]] : tensor<2xf32>
// CHECK: scf.yield %[[M2]], %{{.*}}
func.func @number_first(%k: tensor<?x?x4xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x1x1x1xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s:2 = scan.recurrence ins(%k as "btk", %g as "bt" : tensor<?x?x4xf32>, tensor<?x?xf32>)
      outs("btv") finals("nhzy", "nhkv") plan #scan.plan<schedule = chunk, chunk = 2, value_block = 0, stages = 1> {
  ^bb0(%M: tensor<1x1xf32>, %S: tensor<4x4xf32>, %kt: tensor<4xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    %m = tensor.extract %M[%c0, %c0] : tensor<1x1xf32>
    %next = arith.maximumf %m, %gt : f32
    %gate = arith.subf %m, %next : f32
    %N = tensor.from_elements %next : tensor<1x1xf32>
    %0 = scan.decay %S by %gate along scalar : tensor<4x4xf32>, f32
    %1 = scan.inject %0 key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %N, %1, %y : tensor<1x1xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x1x1xf32>, tensor<?x1x4x4xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x1x1xf32>, tensor<?x1x4x4xf32>
}
