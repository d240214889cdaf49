// Programs that stay as they are, each with the reason.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles))' | FileCheck %s
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles))' --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Step by step.
//
// REMARK: remark: {{.*}}Remark="it steps token by token: a chunk of 1 has nothing to prepare"
// CHECK-LABEL: tile.program @one_step
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @one_step(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 1 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<4x16xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  tile.return
}

// Several loops.
//
// REMARK: remark: {{.*}}Remark="it has 2 loops, expected one"
// CHECK-LABEL: tile.program @two_loops
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @two_loops(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<4x16xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  %again = scf.for %t = %c0 to %length step %c4 iter_args(%state = %end) -> (tensor<8x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<4x16xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  tile.return
}

// A loop in the loop.
//
// REMARK: remark: {{.*}}Remark="its loop holds 'scf.for'"
// CHECK-LABEL: tile.program @nested
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @nested(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<4x16xf32>
    %inner = scf.for %i = %c0 to %c4 step %c4 iter_args(%sum = %vt) -> (tensor<4x16xf32>) {
      %twice = arith.addf %sum, %vt : tensor<4x16xf32>
      scf.yield %twice : tensor<4x16xf32>
    }
    %next = tile.dot %kt transposed, %inner, %state : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  tile.return
}

// Rows of one thing, columns of another.
//
// REMARK: remark: {{.*}}Remark="an axis of 4 elements is both a value and a row axis"
// CHECK-LABEL: tile.program @two_kinds
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @two_kinds(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<4x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <4x16xf32> -> tensor<4x16xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<4x16xf32>) {
    %kt = tile.load %k[%t, %column] : <?x4xf32> -> tensor<4x4xf32>
    %inverse = tile.invert %kt : tensor<4x4xf32>
    %next = tile.dot %inverse, %state, %state : tensor<4x4xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  tile.return
}

// The state is scaled in f64.
//
// REMARK: remark: {{.*}}Remark="'tile.splat_last' would send tensor<8xf64> to chain; messages hold 16-bit and f32 tiles"
// CHECK-LABEL: tile.program @wide_gates
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @wide_gates(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x16xf64> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf64> -> tensor<8x16xf64>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x16xf64>) {
    %gt = tile.load %g[%t] : <?xf32> -> tensor<4xf32>
    %wide = arith.extf %gt : tensor<4xf32> to tensor<4xf64>
    %sum = tile.gate_sum %wide : tensor<4xf64>
    %last = tile.splat_last %sum : tensor<4xf64> -> tensor<8xf64>
    %next = tile.scale_rows %state by %last : tensor<8x16xf64>, tensor<8xf64>
    scf.yield %next : tensor<8x16xf64>
  }
  tile.return
}

// The chunk before stays for the next: its slot would be gone.
//
// REMARK: remark: {{.*}}Remark="its loop carries on a tile as it was received"
// CHECK-LABEL: tile.program @previous
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @previous(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %none = arith.constant dense<0.0> : tensor<4x16xf32>
  %end:2 = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start, %before = %none) -> (tensor<8x16xf32>, tensor<4x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<4x16xf32>
    %next = tile.dot %kt transposed, %before, %state : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %next, %vt : tensor<8x16xf32>, tensor<4x16xf32>
  }
  tile.return
}

// What is read once serves every chunk.
//
// REMARK: remark: {{.*}}Remark="its loop prepares with what 'tile.load' made before it"
// CHECK-LABEL: tile.program @read_once
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @read_once(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %none = arith.constant dense<0.0> : tensor<4x4xf32>
  %first = tile.load %k[%c0, %c0] : <?x8xf32> -> tensor<4x8xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x16xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %scores = tile.dot %kt, %first transposed, %none : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
    %vt = tile.load %v[%t, %column] : <?x16xf32> -> tensor<4x16xf32>
    %seen = tile.dot %scores, %vt, %vt : tensor<4x4xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    %next = tile.dot %kt transposed, %seen, %state : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  tile.return
}

// No inputs.
//
// REMARK: remark: {{.*}}Remark="nothing in its loop can be done beside the state"
// CHECK-LABEL: tile.program @alone
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @alone(
    %initial: !tile.view<8x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x16xf32>) {
    %next = arith.addf %state, %state : tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  tile.return
}

// Roles.
//
// REMARK: remark: {{.*}}Remark="it has roles already"
// CHECK-LABEL: tile.program @split
// CHECK: tile.role
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @split(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 16 block 16 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
      tile.send %kt to %keys : tensor<4x8xf32> to !tile.channel<2 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}
