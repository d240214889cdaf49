// RUN: prism-opt %s --tile-split-sequence | FileCheck %s
// RUN: prism-opt %s --tile-split-sequence=combine-block=2 | FileCheck %s --check-prefix=NARROW

// The delta rule with a scalar decay a chunk. A product lies between the state
// and the next one: M has as many columns as there are keys.

// CHECK-LABEL: tile.program @delta_maps(
// CHECK: %[[MAP:.*]]: !tile.view<4x12xf32> as <name = "segment_map", axes = "nhskv", heads = 2, role = "intermediate", optional = false>,
// CHECK: %{{.*}}: !tile.view<4x8xf32> as <name = "segment_start", axes = "nhskv", heads = 2, role = "intermediate", optional = false>) heads 2 values 12 block 8 chunk 2 segments inner
// CHECK: tile.value_offset
// CHECK: %[[COLUMN:.*]] = tile.value_offset
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[FIRST:.*]] = arith.subi %[[COLUMN]], %[[EIGHT]]
// CHECK: %[[UNITS:.*]] = tile.unit_columns %[[FIRST]] : tensor<4x8xf32>
// CHECK: %[[END:.*]] = scf.for {{.*}} iter_args(%[[STATE:.*]] = %[[UNITS]])
// Reads are gone, with the queries.
// CHECK-NOT: tile.store
// CHECK: scf.yield
// CHECK: tile.store %[[END]], %[[MAP]][%{{.*}}, %[[COLUMN]]] : tensor<4x8xf32>, <4x12xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.program @delta_combine(
// CHECK: %[[S0:.*]]: !tile.view<4x8xf32> as <name = "initial_state"
// CHECK: %[[MAP:.*]]: !tile.view<?x4x12xf32> as <name = "segment_map"
// CHECK: %[[BEGIN:.*]]: !tile.view<?x4x8xf32> as <name = "segment_start", {{.*}}) heads 2 values 8 block 8 chunk 2 segments scan
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[COLUMN:.*]] = tile.value_offset
// CHECK: %[[COUNT:.*]] = tile.length
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %[[ONE]]
// CHECK: %[[START:.*]] = tile.load %[[S0]][%[[ZERO]], %[[COLUMN]]] : <4x8xf32> -> tensor<4x8xf32>
// CHECK: tile.store one_step %[[START]], %[[BEGIN]][%[[ZERO]], %[[ZERO]], %[[COLUMN]]]
// CHECK: scf.for %[[P:.*]] = %[[ZERO]] to %[[LAST]] step %c1{{.*}} iter_args(%[[S:.*]] = %[[START]])
// CHECK: %[[B:.*]] = tile.load one_step %[[MAP]][%[[P]], %{{.*}}, %[[COLUMN]]] : <?x4x12xf32> -> tensor<4x8xf32>
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[M:.*]] = tile.load one_step %[[MAP]][%[[P]], %{{.*}}, %[[C8]]] : <?x4x12xf32> -> tensor<4x4xf32>
// CHECK: %[[NEXT:.*]] = tile.dot %[[M]], %[[S]], %[[B]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[P]], %c1
// CHECK: tile.store one_step %[[NEXT]], %[[BEGIN]][%[[AFTER]], %c0{{.*}}, %[[COLUMN]]]
// CHECK: scf.yield %[[NEXT]]

// CHECK-LABEL: tile.program @delta_segments(
// CHECK: %[[SN:.*]]: !tile.view<4x8xf32> as <name = "final_state"
// CHECK: %[[BEGIN:.*]]: !tile.view<4x8xf32> as <name = "segment_start", {{.*}}) heads 2 values 8 block 8 chunk 2 segments all
// CHECK: %[[START:.*]] = tile.load %[[BEGIN]][%{{.*}}, %{{.*}}] : <4x8xf32> -> tensor<4x8xf32>
// CHECK: %[[END:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK: tile.store {{.*}} : tensor<2x8xf32>, <?x8xf32>
// CHECK: tile.store %[[END]], %[[SN]]

// NARROW: tile.program @delta_combine(
// NARROW: heads 2 values 8 block 2 chunk 2 segments scan
tile.program @delta(
    %q: !tile.view<?x4xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>,
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %b: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>,
    %s0: !tile.view<4x8xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<2x8xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <4x8xf32> -> tensor<4x8xf32>
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %start) -> (tensor<4x8xf32>) {
    %qt = tile.load %q[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %bt = tile.load %b[%t] : <?xf32> -> tensor<2xf32>
    %seen = tile.dot %kt, %state, %none : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %rest = arith.subf %vt, %seen : tensor<2x8xf32>
    %rhs = tile.scale_rows %rest by %bt : tensor<2x8xf32>, tensor<2xf32>
    %kk = tile.dot %kt, %kt transposed, %zero : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x2xf32>
    %system = tile.scale_rows %kk by %bt : tensor<2x2xf32>, tensor<2xf32>
    %x = tile.solve %system, %rhs : tensor<2x2xf32>, tensor<2x8xf32>
    %out = tile.dot %qt, %state, %none : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    tile.store %out, %o[%t, %column] : tensor<2x8xf32>, <?x8xf32>
    %next = tile.dot %kt transposed, %x, %state : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// A chain that only decays and injects: M is diagonal, one column of ones.

// CHECK-LABEL: tile.program @decays_maps(
// CHECK: !tile.view<4x12xf32> as <name = "segment_map"
// CHECK: values 9 block 8 chunk 2 segments inner
// CHECK: tile.unit_columns ones %{{.*}} : tensor<4x8xf32>

// CHECK-LABEL: tile.program @decays_combine(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %[[LAST:.*]] step %c4{{.*}} iter_args(%[[S:.*]] = %[[ZERO]])
// Maps of four segments are loaded before the first is taken; those beyond the
// last one are the last one's.
// CHECK: %[[B:.*]] = tile.load one_step %[[MAP:.*]][%[[P]], {{.*}} : <?x4x12xf32> -> tensor<4x8xf32>
// CHECK: %[[M:.*]] = tile.load one_step {{.*}} -> tensor<4x1xf32>
// CHECK: %[[END:.*]] = arith.subi %[[LAST]], %{{.*}}
// CHECK: %[[NEXT:.*]] = arith.addi %[[P]], %c1
// CHECK: %[[THERE:.*]] = arith.minsi %[[NEXT]], %[[END]]
// CHECK: %[[B1:.*]] = tile.load one_step %[[MAP]][%[[THERE]], {{.*}} -> tensor<4x8xf32>
// CHECK: %[[M1:.*]] = tile.load one_step {{.*}} -> tensor<4x1xf32>
// CHECK-COUNT-2: arith.minsi
// CHECK: %[[D:.*]] = tile.sum_columns %[[M]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK: %[[KEPT:.*]] = tile.scale_rows %[[S]] by %[[D]]
// CHECK: %[[S1:.*]] = arith.addf %[[KEPT]], %[[B]]
// CHECK: tile.store one_step %[[S1]]
// CHECK: %[[D1:.*]] = tile.sum_columns %[[M1]]
// CHECK: %[[KEPT1:.*]] = tile.scale_rows %[[S1]] by %[[D1]]
// CHECK: arith.addf %[[KEPT1]], %[[B1]]
tile.program @decays(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %none) -> (tensor<4x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %gt = tile.load %g[%t] : <?xf32> -> tensor<2xf32>
    %kept = tile.splat_last %gt : tensor<2xf32> -> tensor<4xf32>
    %less = tile.scale_rows %state by %kept : tensor<4x8xf32>, tensor<4xf32>
    %next = tile.dot %kt transposed, %vt, %less : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}
