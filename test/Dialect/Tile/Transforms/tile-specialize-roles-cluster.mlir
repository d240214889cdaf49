// Two blocks of values as one cluster: their preparation is shared, and each fills
// the same slots every time, so that the channel of what is prepared has a multiple
// of two. Blocks take turns instead of warp groups.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2}))' --verify-roundtrip | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 slots=1}))' | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 slots=3}))' | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 slots=2 prepare-teams=2}))' | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=1}))' | FileCheck %s --check-prefix=ALONE
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2},tile-merge-roles{check-channels}))' | FileCheck %s --check-prefix=MERGED
// RUN: not prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=3}))' 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=0}))' 2>&1 | FileCheck %s --check-prefix=ZERO
//
// Where shared memory does not hold them (a slot takes 1024 bytes, 2048 are kept for
// other things), values lose a slot, then what is prepared one for each block, which
// keeps one for each.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 slots=4 shared-memory=14336}))' | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 slots=4 shared-memory=11264}))' | FileCheck %s --check-prefixes=CHECK,TOGETHER
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 shared-memory=6144}))' | FileCheck %s --check-prefixes=CHECK,LEAST
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 shared-memory=6143}))' --remarks-filter=tile --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=NONE

tile.program @two_blocks(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x128xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x128xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %o: !tile.view<?x128xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 128 block 64 chunk 4 {
  %none = arith.constant dense<0.0> : tensor<4x64xf32>
  %no_scores = arith.constant dense<0.0> : tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x128xf32> -> tensor<8x64xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x64xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x128xf32> -> tensor<4x64xf32>
    %scores = tile.dot %kt, %kt transposed, %no_scores : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
    %read = tile.dot %kt, %state, %none : tensor<4x8xf32>, tensor<8x64xf32> -> tensor<4x64xf32>
    %out = tile.dot %scores, %vt, %read : tensor<4x4xf32>, tensor<4x64xf32> -> tensor<4x64xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<4x8xf32>, tensor<4x64xf32> -> tensor<8x64xf32>
    tile.store %out, %o[%t, %column] : tensor<4x64xf32>, <?x128xf32>
    scf.yield %next : tensor<8x64xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.program @two_blocks
// TWO: tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// TWO-NEXT: tile.channel : <2 x{{ ?}}(tensor<4x64xf32>)>
// TWO-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x4xf32>)>
// ONE: tile.channel : <1 x{{ ?}}(tensor<4x8xf32>)>
// ONE-NEXT: tile.channel : <1 x{{ ?}}(tensor<4x64xf32>)>
// ONE-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x4xf32>)>
// THREE: tile.channel : <3 x{{ ?}}(tensor<4x8xf32>)>
// THREE-NEXT: tile.channel : <3 x{{ ?}}(tensor<4x64xf32>)>
// THREE-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x4xf32>)>
// FOUR: tile.channel : <4 x{{ ?}}(tensor<4x8xf32>)>
// FOUR-NEXT: tile.channel : <4 x{{ ?}}(tensor<4x64xf32>)>
// FOUR-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x4xf32>)>
// TOGETHER: tile.channel : <4 x{{ ?}}(tensor<4x8xf32>)>
// TOGETHER-NEXT: tile.channel : <3 x{{ ?}}(tensor<4x64xf32>)>
// TOGETHER-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x4xf32>)>
// LEAST: tile.channel : <1 x{{ ?}}(tensor<4x8xf32>)>
// LEAST-NEXT: tile.channel : <1 x{{ ?}}(tensor<4x64xf32>)>
// LEAST-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x4xf32>)>
// CHECK: tile.role "load" warps 4 {
// CHECK: tile.role "prepare" warps 4 cluster 2 {
// CHECK: tile.send %{{[a-z0-9_]+}} to %[[READY]]
// CHECK: tile.role "chain" warps 4 {
// CHECK: tile.receive %[[READY]]

// ALONE: tile.role "prepare" warps 4 {

// MERGED-LABEL: tile.program @two_blocks
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: scf.for
// MERGED-NOT: scf.for
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: tile.return

// UNEVEN: error: tile-specialize-roles: cluster must divide the blocks of values, 2, found 3
// ZERO: error: tile-specialize-roles: cluster must divide the blocks of values, 2, found 0
// NONE: its channels need 4096 bytes of shared memory with one slot each, 2 for what the blocks of a cluster prepare, of 4095
// NONE-NOT: tile.role
