// Two blocks of values and further ones that only prepare, as one cluster: keys go to
// both kinds, so they are loaded by both; what is prepared has a number of slots that
// the blocks that fill them divide, and no fewer than teams.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=1}))' --verify-roundtrip | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=1 prepare-teams=3 slots=4}))' | FileCheck %s --check-prefixes=CHECK,TEAMS
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=2 slots=3}))' | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=2 prepare-teams=3 slots=4}))' | FileCheck %s --check-prefixes=CHECK,FEWER
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=1 prepare-blocks=1}))' | FileCheck %s --check-prefix=ALONE
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=2 prepare-teams=2},tile-merge-roles{check-channels}))' | FileCheck %s --check-prefix=MERGED
// RUN: not prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=-1}))' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
//
// Each kind of block has its own shared memory (a slot takes 1024 bytes, 2048 are kept
// for other things). In one that only prepares keys lose slots first, down to two, and
// then what it prepares; in one of values values do, then keys, then what is prepared.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=1 slots=4 shared-memory=9216}))' | FileCheck %s --check-prefixes=CHECK,TIGHT
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=1 shared-memory=5120}))' | FileCheck %s --check-prefixes=CHECK,LEAST
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=2 shared-memory=5119}))' --remarks-filter=tile --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=PREPARING
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{cluster=2 prepare-blocks=1 shared-memory=5119}))' --remarks-filter=tile --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=VALUES

tile.program @two_blocks_of_values(
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

// CHECK-LABEL: tile.program @two_blocks_of_values
// ONE: %[[KEYS:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// ONE-NEXT: %[[OWN:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// ONE-NEXT: %[[V:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x64xf32>)>
// ONE-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x4xf32>)>
// TEAMS: %[[KEYS:[a-z0-9_]+]] = tile.channel : <3 x{{ ?}}(tensor<4x8xf32>)>
// TEAMS-NEXT: %[[OWN:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x8xf32>)>
// TEAMS-NEXT: %[[V:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x64xf32>)>
// TEAMS-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x4xf32>)>
// TWO: %[[KEYS:[a-z0-9_]+]] = tile.channel : <3 x{{ ?}}(tensor<4x8xf32>)>
// TWO-NEXT: %[[OWN:[a-z0-9_]+]] = tile.channel : <3 x{{ ?}}(tensor<4x8xf32>)>
// TWO-NEXT: %[[V:[a-z0-9_]+]] = tile.channel : <3 x{{ ?}}(tensor<4x64xf32>)>
// TWO-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x4xf32>)>
// FEWER: %[[KEYS:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x8xf32>)>
// FEWER-NEXT: %[[OWN:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x8xf32>)>
// FEWER-NEXT: %[[V:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x64xf32>)>
// FEWER-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <4 x{{ ?}}(tensor<4x4xf32>)>
// TIGHT: %[[KEYS:[a-z0-9_]+]] = tile.channel : <3 x{{ ?}}(tensor<4x8xf32>)>
// TIGHT-NEXT: %[[OWN:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// TIGHT-NEXT: %[[V:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x64xf32>)>
// TIGHT-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <3 x{{ ?}}(tensor<4x4xf32>)>
// LEAST: %[[KEYS:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// LEAST-NEXT: %[[OWN:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<4x8xf32>)>
// LEAST-NEXT: %[[V:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<4x64xf32>)>
// LEAST-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<4x4xf32>)>
// ONE: tile.role "load" warps 4 cluster 2 apart 1 {
// TEAMS: tile.role "load" warps 4 cluster 2 apart 1 {
// TWO: tile.role "load" warps 4 cluster 2 apart 2 {
// CHECK: tile.send %{{[a-z0-9_]+}} to %[[KEYS]]
// CHECK-NOT: tile.send
// ONE: tile.role "prepare" warps 4 cluster 2 apart 1 {
// TEAMS: tile.role "prepare" warps 12 cluster 2 apart 1 {
// TWO: tile.role "prepare" warps 4 cluster 2 apart 2 {
// FEWER: tile.role "prepare" warps 8 cluster 2 apart 2 {
// CHECK: tile.receive %[[KEYS]]
// CHECK: tile.send %{{[a-z0-9_]+}} to %[[READY]]
// CHECK: tile.role "load" warps 4 {
// CHECK: tile.send %{{[a-z0-9_]+}} to %[[OWN]]
// CHECK: tile.send %{{[a-z0-9_]+}} to %[[V]]
// CHECK: tile.role "chain" warps 4 {
// CHECK: tile.receive %[[OWN]]
// CHECK: tile.receive %[[READY]]

// ALONE: tile.role "prepare" warps 4 apart 1 {

// MERGED-LABEL: tile.program @two_blocks_of_values
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: scf.for
// MERGED-NOT: scf.for
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: tile.return

// NEGATIVE: error: tile-specialize-roles: prepare-blocks must be at least 0, found -1
// PREPARING: its channels need 3072 bytes of shared memory with one slot each in a block that only prepares, of 3071
// PREPARING-NOT: tile.role
// VALUES: its channels need 3072 bytes of shared memory with one slot each, of 3071
// VALUES-NOT: tile.role
