// Steps with a factor for each element of the state: M is a tile like the state,
// which the loop of the maps carries beside it, and its rows lie below B's.
//
// RUN: prism-opt %s --tile-split-sequence | FileCheck %s

// One row, decayed along value columns.

// CHECK-LABEL: tile.program @row_maps(
// CHECK: %[[MAP:.*]]: !tile.view<2x64xf32> as <name = "segment_map", axes = "nhskv", heads = 2, role = "intermediate", optional = false>,
// CHECK: !tile.view<1x64xf32> as <name = "segment_start"{{.*}}) heads 2 values 64 block 64 chunk 1 segments inner
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
// CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<1x64xf32>
// CHECK: %[[END:.*]]:2 = scf.for {{.*}} iter_args(%[[B:.*]] = %[[NONE]], %[[M:.*]] = %[[ONES]])
// CHECK: %[[KEEP:.*]] = math.exp
// CHECK: %[[KEPT:.*]] = arith.mulf %[[B]], %[[KEEP]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[KEPT]], %{{.*}}
// CHECK-NOT: tile.store
// CHECK: %[[FACTORS:.*]] = arith.mulf %[[M]], %[[KEEP]]
// CHECK-NEXT: scf.yield %[[NEXT]], %[[FACTORS]]
// CHECK: tile.store %[[END]]#0, %[[MAP]][%c0{{.*}}, %[[COLUMN:.*]]] : tensor<1x64xf32>, <2x64xf32>
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: tile.store %[[END]]#1, %[[MAP]][%[[ONE]], %[[COLUMN]]] : tensor<1x64xf32>, <2x64xf32>

// Sixteen maps are loaded together, in blocks of a warp's columns.
// CHECK-LABEL: tile.program @row_combine(
// CHECK: %[[MAP:.*]]: !tile.view<?x2x64xf32> as <name = "segment_map"
// CHECK: heads 2 values 64 block 32 chunk 1 segments scan
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c16{{.*}} iter_args(%[[S:.*]] =
// CHECK: %[[B:.*]] = tile.load one_step %[[MAP]][%[[P]], %{{.*}}, %[[COLUMN:.*]]] : <?x2x64xf32> -> tensor<1x32xf32>
// CHECK: %[[BELOW:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[M:.*]] = tile.load one_step %[[MAP]][%[[P]], %[[BELOW]], %[[COLUMN]]] : <?x2x64xf32> -> tensor<1x32xf32>
// CHECK: %[[KEPT:.*]] = arith.mulf %[[M]], %[[S]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[KEPT]], %[[B]]
// CHECK: tile.store one_step %[[NEXT]]

// CHECK-LABEL: tile.program @row_segments(
// CHECK: heads 2 values 64 block 64 chunk 1 segments all
tile.program @row(
    %x: !tile.view<?x64xf32> as <name = "x", axes = "bthv", heads = 2, role = "input", optional = false>,
    %g: !tile.view<?x64xf32> as <name = "log_a", axes = "bthv", heads = 2, role = "input", optional = false>,
    %o: !tile.view<?x64xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %sn: !tile.view<1x64xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 64 block 64 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<1x64xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%state = %none) -> (tensor<1x64xf32>) {
    %gt = tile.load %g[%t, %column] : <?x64xf32> -> tensor<1x64xf32>
    %keep = math.exp %gt : tensor<1x64xf32>
    %kept = arith.mulf %state, %keep : tensor<1x64xf32>
    %xt = tile.load %x[%t, %column] : <?x64xf32> -> tensor<1x64xf32>
    %next = arith.addf %kept, %xt : tensor<1x64xf32>
    tile.store %next, %o[%t, %column] : tensor<1x64xf32>, <?x64xf32>
    scf.yield %next : tensor<1x64xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<1x64xf32>, <1x64xf32>
  tile.return
}

// A decay of each element and an injection with a key, which M does not see; what
// is subtracted from turns the sign of the factor.

// CHECK-LABEL: tile.program @elements_maps(
// CHECK: !tile.view<8x32xf32> as <name = "segment_map"
// CHECK: scf.for {{.*}} iter_args(%[[B:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}) -> (tensor<4x32xf32>, tensor<4x32xf32>)
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %{{.*}}, %{{.*}} : tensor<4x32xf32>
// CHECK: %[[NEXT:.*]] = tile.dot
// CHECK: %[[FACTORS:.*]] = arith.mulf %[[M]], %[[GATE:.*]] : tensor<4x32xf32>
// CHECK-NEXT: %[[TURNED:.*]] = arith.negf %[[FACTORS]]
// CHECK-NEXT: scf.yield %[[NEXT]], %[[TURNED]]
// CHECK-LABEL: tile.program @elements_combine(
// CHECK: step %c4
tile.program @elements(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x32xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %g: !tile.view<?x4x32xf32> as <name = "g", axes = "bthkv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x32xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 32 block 32 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<4x32xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%state = %none) -> (tensor<4x32xf32>) {
    %gate = tile.load one_step %g[%t, %c0, %column] : <?x4x32xf32> -> tensor<4x32xf32>
    %kept = arith.mulf %state, %gate : tensor<4x32xf32>
    %less = arith.subf %gate, %kept : tensor<4x32xf32>
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<1x4xf32>
    %vt = tile.load %v[%t, %column] : <?x32xf32> -> tensor<1x32xf32>
    %next = tile.dot %kt transposed, %vt, %less : tensor<1x4xf32>, tensor<1x32xf32> -> tensor<4x32xf32>
    scf.yield %next : tensor<4x32xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x32xf32>, <4x32xf32>
  tile.return
}
