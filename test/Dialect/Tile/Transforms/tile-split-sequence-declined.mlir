// Programs that stay as they are, each with the reason.
//
// RUN: prism-opt %s --tile-split-sequence | FileCheck %s
// RUN: prism-opt %s --tile-split-sequence --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// An absolute value.
// REMARK: remark: {{.*}}Remark="'math.absf' is not seen to be linear in the state, with the same factor for every value column"
// CHECK-LABEL: tile.program @not_linear(
// CHECK-NOT: segments
tile.program @not_linear(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
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
    %bent = math.absf %state : tensor<4x8xf32>
    %next = tile.dot %kt transposed, %vt, %bent : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// A decay along values, and the mean of a row: neither one M for all columns
// nor a factor for each element.
// REMARK: remark: {{.*}}Remark="'arith.mulf' is not seen to be linear in the state, with the same factor for every value column"
// CHECK-LABEL: tile.program @by_columns(
// CHECK-NOT: segments
tile.program @by_columns(
    %g: !tile.view<?x8xf32> as <name = "g", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%state = %none) -> (tensor<4x8xf32>) {
    %row = tile.load one_step %g[%t, %column] : <?x8xf32> -> tensor<8xf32>
    %gates = tile.broadcast rows %row : tensor<8xf32> -> tensor<4x8xf32>
    %less = arith.mulf %state, %gates : tensor<4x8xf32>
    %sums = tile.sum_columns %state : tensor<4x8xf32> -> tensor<4xf32>
    %next = tile.scale_rows %less by %sums : tensor<4x8xf32>, tensor<4xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// The state on the left: its value columns are contracted.
// REMARK: remark: {{.*}}Remark="'tile.dot' is not seen to be linear in the state, with the same factor for every value column"
// CHECK-LABEL: tile.program @transposed(
// CHECK-NOT: segments
tile.program @transposed(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
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
    %w = arith.constant dense<0.5> : tensor<8x8xf32>
    %mixed = tile.dot %state, %w, %none : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %next = tile.dot %kt transposed, %vt, %mixed : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// exp(0) is no zero: what is written does not vanish with the values.
// REMARK: remark: {{.*}}Remark="what a step writes is not seen to be zero where the values are"
// CHECK-LABEL: tile.program @injects_anyway(
// CHECK-NOT: segments
tile.program @injects_anyway(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
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
    %grown = math.exp %vt : tensor<2x8xf32>
    %next = tile.dot %kt transposed, %grown, %state : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// REMARK: remark: {{.*}}Remark="its last state is not stored once"
// CHECK-LABEL: tile.program @forgets(
// CHECK-NOT: segments
tile.program @forgets(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
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
    %next = tile.dot %kt transposed, %vt, %state : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.return
}

// REMARK: remark: {{.*}}Remark="its loop does not go over all chunks of a sequence"
// CHECK-LABEL: tile.program @half(
// CHECK-NOT: segments
tile.program @half(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %column iter_args(%state = %none) -> (tensor<4x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// REMARK: remark: {{.*}}Remark="its state starts neither from zero nor from an argument"
// CHECK-LABEL: tile.program @ones(
// CHECK-NOT: segments
tile.program @ones(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<1.0> : tensor<4x8xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %none) -> (tensor<4x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// REMARK: remark: {{.*}}Remark="it has 0 loops, expected one"
// CHECK-LABEL: tile.program @nothing(
// CHECK-NOT: segments
tile.program @nothing(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  tile.return
}

// REMARK: remark: {{.*}}Remark="its loop does not carry one state"
// CHECK-LABEL: tile.program @two_states(
// CHECK-NOT: segments
tile.program @two_states(
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %ends:2 = scf.for %t = %c0 to %length step %c2 iter_args(%a = %none, %b = %none) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    scf.yield %b, %a : tensor<4x8xf32>, tensor<4x8xf32>
  }
  tile.return
}

// REMARK: remark: {{.*}}Remark="it is split already"
// CHECK-LABEL: tile.program @scans(
// CHECK-SAME: segments scan
tile.program @scans() heads 2 values 8 block 8 chunk 2 segments scan {
  tile.return
}
