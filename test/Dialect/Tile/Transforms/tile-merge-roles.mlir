// Roles become one loop: ops in front of the loops, the loops' bodies and what
// follows them, senders before receivers; what each carries is carried.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-merge-roles{check-channels}))' | FileCheck %s
// RUN: prism-opt %S/../roles.mlir --pass-pipeline='builtin.module(tile.program(tile-merge-roles{check-channels iterations=17}))' | FileCheck %s --check-prefix=HAND

// HAND-LABEL: tile.program @gated_deltanet
// HAND-NOT: tile.{{role|channel|send|receive|release}}
// HAND: tile.return

// CHECK-LABEL: tile.program @out_of_order
// CHECK-NEXT: %[[K:.*]]: !tile.view<?x8xf32> as
// CHECK-NEXT: %[[O:.*]]: !tile.view<?x8xf32> as
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK: %[[LENGTH:.*]] = tile.length
// CHECK-NEXT: %[[FIRST:.*]] = tile.load %[[K]][%[[C0]], %[[C0]]]
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[FIRST]], %[[FIRST]]
// CHECK-NEXT: %[[END:.*]]:2 = scf.for %[[T:.*]] = %[[C0]] to %[[LENGTH]] step %[[C4]] iter_args(%[[COUNT:.*]] = %[[C0]], %[[SUM:.*]] = %[[TWICE]])
// CHECK-NEXT: %[[KT:.*]] = tile.load %[[K]][%[[T]], %[[C0]]]
// CHECK-NEXT: %[[COUNTED:.*]] = arith.addi %[[COUNT]], %[[C4]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[KT]]
// CHECK-NEXT: scf.yield %[[COUNTED]], %[[NEXT]]
// CHECK: tile.store %[[END]]#1, %[[O]][%[[C0]], %[[C0]]]
// CHECK-NEXT: tile.return
tile.program @out_of_order(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btk", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %keys = tile.channel : <2 x (tensor<4x8xf32>)>
  %start = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "chain" warps 4 {
    %first = tile.receive %start : !tile.channel<1 x (tensor<4x8xf32>)>
    %twice = arith.addf %first, %first : tensor<4x8xf32>
    tile.release %start : !tile.channel<1 x (tensor<4x8xf32>)>
    %end = scf.for %t = %c0 to %length step %c4 iter_args(%sum = %twice) -> (tensor<4x8xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<4x8xf32>)>
      %next = arith.addf %sum, %kt : tensor<4x8xf32>
      tile.release %keys : !tile.channel<2 x (tensor<4x8xf32>)>
      scf.yield %next : tensor<4x8xf32>
    }
    tile.store %end, %o[%c0, %c0] : tensor<4x8xf32>, <?x8xf32>
  }
  tile.role "load" warps 4 {
    %first = tile.load %k[%c0, %c0] : <?x8xf32> -> tensor<4x8xf32>
    tile.send %first to %start : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    %end = scf.for %t = %c0 to %length step %c4 iter_args(%count = %c0) -> (index) {
      %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
      tile.send %kt to %keys : tensor<4x8xf32> to !tile.channel<2 x (tensor<4x8xf32>)>
      %counted = arith.addi %count, %c4 : index
      scf.yield %counted : index
    }
  }
  tile.return
}

// Without roles nothing changes.
//
// CHECK-LABEL: tile.program @plain
// CHECK-NEXT: tile.return
tile.program @plain() heads 1 values 8 block 8 chunk 4 {
  tile.return
}
