// RUN: prism-opt %s --convert-scan-to-tile --canonicalize --cse | FileCheck %s

// A state of one row: nothing is multiplied out.
// CHECK-LABEL: tile.program @row
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = {{.*}}) -> (tensor<1x8xf32>)
// CHECK: %[[G:.*]] = tile.load %arg1
// CHECK: %[[E:.*]] = math.exp %[[G]]
// CHECK: %[[D:.*]] = arith.mulf %[[S]], %[[E]]
// CHECK: %[[V:.*]] = tile.load %arg0
// CHECK: %[[NEXT:.*]] = arith.addf %[[D]], %[[V]]
// CHECK: tile.store %[[NEXT]], %arg3
// CHECK: scf.yield %[[NEXT]]
// CHECK-NOT: tile.dot
func.func @row(%v: tensor<?x?x8xf32>, %g: tensor<?x?x8xf32>, %s0: tensor<?x1x1x8xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x1x1x8xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%v as "btv", %g as "btv" : tensor<?x?x8xf32>, tensor<?x?x8xf32>)
      init(%s0 as "nhkv" : tensor<?x1x1x8xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<1x8xf32>, %vt: tensor<8xf32>, %gt: tensor<8xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %1 = scan.decay %S by %gt along value : tensor<1x8xf32>, tensor<8xf32>
    %2 = scan.inject %1 key %one value %vt : tensor<1x8xf32>, tensor<1xf32>, tensor<8xf32>
    %y = scan.read %2 query %one : tensor<1x8xf32>, tensor<1xf32> -> tensor<8xf32>
    scan.yield %2, %y : tensor<1x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x1x1x8xf32>)
  return %o, %s : tensor<?x?x8xf32>, tensor<?x1x1x8xf32>
}

// A vector along a new axis is an outer product with ones, in one token's tile.
// CHECK-LABEL: tile.program @repeated
// CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<1x4xf32>
// CHECK-DAG: %[[V:.*]] = tile.load %arg1{{.*}} -> tensor<1x8xf32>
// CHECK: tile.dot %[[ONES]] transposed, %[[V]], {{.*}} -> tensor<4x8xf32>
func.func @repeated(%k: tensor<?x?x4xf32>, %v: tensor<?x?x8xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x1x4x8xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv" : tensor<?x?x4xf32>, tensor<?x?x8xf32>)
      outs("btv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x8xf32>, %kt: tensor<4xf32>, %vt: tensor<8xf32>):
    %e = tensor.empty() : tensor<4x8xf32>
    %g = linalg.broadcast ins(%vt : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
    %1 = scan.decay %S by %g along element : tensor<4x8xf32>, tensor<4x8xf32>
    %y = scan.read %1 query %kt : tensor<4x8xf32>, tensor<4xf32> -> tensor<8xf32>
    scan.yield %1, %y : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x1x4x8xf32>)
  return %o, %s : tensor<?x?x8xf32>, tensor<?x1x4x8xf32>
}

// Three states side by side; the third is a number, set by what is computed of
// it, and the output is computed from two reads.
// CHECK-LABEL: tile.program @three
// CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[C:.*]] = {{.*}}, %[[N:.*]] = {{.*}}, %[[M:.*]] = {{.*}}) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1x1xf32>)
// CHECK: %[[C1:.*]] = arith.mulf %[[C]], {{.*}} : tensor<4x8xf32>
// CHECK: %[[N1:.*]] = arith.mulf %[[N]], {{.*}} : tensor<4x1xf32>
// CHECK: %[[NUM:.*]] = tile.dot %{{.*}}, %[[C1]], {{.*}} -> tensor<1x8xf32>
// CHECK: %[[DEN:.*]] = tile.dot %{{.*}}, %[[N1]], {{.*}} -> tensor<1x1xf32>
// CHECK: tile.sum_columns %[[M]] : tensor<1x1xf32> -> tensor<1xf32>
// CHECK: %[[SET:.*]] = tile.broadcast {{.*}} -> tensor<1x1xf32>
// CHECK: tile.sum_columns %[[DEN]]
// CHECK: arith.divf %[[NUM]]
// CHECK: scf.yield %[[C1]], %[[N1]], %[[SET]]
// CHECK: tile.store %[[LOOP]]#0
// CHECK: tile.store %[[LOOP]]#1
// CHECK: tile.store %[[LOOP]]#2
func.func @three(%k: tensor<?x?x4xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x1x4x8xf32>, tensor<?x1x4x1xf32>, tensor<?x1x1x1xf32>)
    attributes {scan.entry = "forward"} {
  %o, %s:3 = scan.recurrence ins(%k as "btk", %g as "bt" : tensor<?x?x4xf32>, tensor<?x?xf32>)
      outs("btv") finals("nhkv", "nhky", "nhzy")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%C: tensor<4x8xf32>, %N: tensor<4x1xf32>, %M: tensor<1x1xf32>, %kt: tensor<4xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    %m = tensor.extract %M[%c0, %c0] : tensor<1x1xf32>
    %next = arith.maximumf %m, %gt : f32
    %M1 = tensor.from_elements %next : tensor<1x1xf32>
    %C1 = scan.decay %C by %gt along scalar : tensor<4x8xf32>, f32
    %N1 = scan.decay %N by %gt along scalar : tensor<4x1xf32>, f32
    %num = scan.read %C1 query %kt : tensor<4x8xf32>, tensor<4xf32> -> tensor<8xf32>
    %sum = scan.read %N1 query %kt : tensor<4x1xf32>, tensor<4xf32> -> tensor<1xf32>
    %den = tensor.extract %sum[%c0] : tensor<1xf32>
    %all = tensor.splat %den : tensor<8xf32>
    %y = arith.divf %num, %all : tensor<8xf32>
    scan.yield %C1, %N1, %M1, %y : tensor<4x8xf32>, tensor<4x1xf32>, tensor<1x1xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x1x4x8xf32>, tensor<?x1x4x1xf32>, tensor<?x1x1x1xf32>)
  return %o, %s#0, %s#1, %s#2 : tensor<?x?x8xf32>, tensor<?x1x4x8xf32>, tensor<?x1x4x1xf32>, tensor<?x1x1x1xf32>
}
