// RUN: prism-opt %s --tile-split-sequence=fold-maps | FileCheck %s
// RUN: prism-opt %s --tile-split-sequence=fold-maps | prism-opt --tile-specialize-roles | FileCheck %s --check-prefix=ROLES
// RUN: prism-opt %s --tile-split-sequence=fold-maps --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=FoldMaps

// A chain that only decays: a segment goes over the maps before it as it starts,
// and there is no array of starts.

// CHECK-LABEL: tile.program @decays_maps(
// CHECK: %[[MAP:.*]]: !tile.view<2x128xf32> as <name = "segment_map", axes = "nhskv", heads = 2, role = "intermediate", optional = false>) heads 2 values 17 block 16 chunk 8 segments inner
// CHECK: tile.value_offset
// CHECK: %[[COLUMN:.*]] = tile.value_offset
// CHECK: tile.unit_columns ones
// CHECK: %[[END:.*]] = scf.for
// CHECK: tile.store_map %[[END]], %[[MAP]][%[[COLUMN]]] : tensor<8x16xf32>, <2x128xf32>
// CHECK-NEXT: tile.return
// CHECK-NOT: @decays_combine
// CHECK-LABEL: tile.program @decays_segments(
// CHECK: %[[S0:.*]]: !tile.view<8x16xf32> as <name = "initial_state"
// CHECK: %[[MAP:.*]]: !tile.view<?x2x128xf32> as <name = "segment_map", {{.*}}) heads 2 values 16 block 16 chunk 8 segments all
// CHECK-NOT: segment_start
// CHECK: %[[INITIAL:.*]] = tile.load %[[S0]]
// CHECK-NEXT: %[[COLUMN:.*]] = tile.value_offset
// CHECK: %[[START:.*]] = tile.fold_maps %[[MAP]][%[[COLUMN]]] factors 16 into %[[INITIAL]] : <?x2x128xf32>, tensor<8x16xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[START]])

// Both are the chain's.
// ROLES-LABEL: tile.program @decays_maps(
// ROLES: tile.role "chain"
// ROLES: tile.store_map
// ROLES-LABEL: tile.program @decays_segments(
// ROLES: tile.role "chain"
// ROLES: tile.fold_maps
// ROLES: scf.for
tile.program @decays(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 2, role = "input", optional = false>,
    %s0: !tile.view<8x16xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %sn: !tile.view<8x16xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 16 block 16 chunk 8 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %end = scf.for %t = %c0 to %length step %c8 iter_args(%state = %start) -> (tensor<8x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<8x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<8x16xf32>
    %gt = tile.load %g[%t] : <?xf32> -> tensor<8xf32>
    %kept = tile.splat_last %gt : tensor<8xf32> -> tensor<8xf32>
    %less = tile.scale_rows %state by %kept : tensor<8x16xf32>, tensor<8xf32>
    %next = tile.dot %kt transposed, %vt, %less : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<8x16xf32>, <8x16xf32>
  tile.return
}

// What is not folded is combined as before.

// CHECK-LABEL: tile.program @by_erases_maps(
// CHECK: tile.store %{{.*}} : tensor<8x16xf32>, <8x24xf32>
// CHECK-LABEL: tile.program @by_erases_combine(
// CHECK-LABEL: tile.program @by_erases_segments(
// CHECK: tile.load %{{.*}} : <8x16xf32> -> tensor<8x16xf32>
// REMARK: remark: {{.*}}FoldMaps{{.*}}their maps mix keys
tile.program @by_erases(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<8x16xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 16 block 16 chunk 8 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant dense<0.0> : tensor<8x16xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c8 iter_args(%state = %none) -> (tensor<8x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<8x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<8x16xf32>
    %seen = tile.dot %kt, %state, %none : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
    %rest = arith.subf %vt, %seen : tensor<8x16xf32>
    %next = tile.dot %kt transposed, %rest, %state : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<8x16xf32>, <8x16xf32>
  tile.return
}

// Slabs have 16 columns.
// CHECK-LABEL: tile.program @narrow_combine(
// REMARK: remark: {{.*}}FoldMaps{{.*}}blocks of 8 value columns are no multiple of 16
tile.program @narrow(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<8x16xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 16 block 8 chunk 8 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant dense<0.0> : tensor<8x8xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c8 iter_args(%state = %none) -> (tensor<8x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<8x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<8x8xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<8x8xf32>, <8x16xf32>
  tile.return
}

// Pieces have 8 keys.
// CHECK-LABEL: tile.program @few_keys_combine(
// REMARK: remark: {{.*}}FoldMaps{{.*}}4 keys are no multiple of 8
tile.program @few_keys(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x16xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 16 block 16 chunk 8 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant dense<0.0> : tensor<4x16xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c8 iter_args(%state = %none) -> (tensor<4x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<8x4xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<8x16xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<8x4xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x16xf32>, <4x16xf32>
  tile.return
}

// CHECK-LABEL: tile.program @wide_numbers_combine(
// REMARK: remark: {{.*}}FoldMaps{{.*}}the state is not f32
tile.program @wide_numbers(
    %k: !tile.view<?x8xf64> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x16xf64> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<8x16xf64> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 16 block 16 chunk 8 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant dense<0.0> : tensor<8x16xf64>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c8 iter_args(%state = %none) -> (tensor<8x16xf64>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf64> -> tensor<8x8xf64>
    %vt = tile.load %v[%t, %column] : <?x16xf64> -> tensor<8x16xf64>
    %next = tile.dot %kt transposed, %vt, %state : tensor<8x8xf64>, tensor<8x16xf64> -> tensor<8x16xf64>
    scf.yield %next : tensor<8x16xf64>
  }
  tile.store %end, %sn[%c0, %column] : tensor<8x16xf64>, <8x16xf64>
  tile.return
}
