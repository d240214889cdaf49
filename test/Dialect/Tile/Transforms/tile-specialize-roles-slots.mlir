// How many slots each channel gets: a matrix takes a multiple of 1024 bytes, 2048
// bytes are kept for other things; each channel gives one before any gives another,
// values before keys.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles))' | FileCheck %s --check-prefix=TWO
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{slots=3}))' | FileCheck %s --check-prefix=THREE
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{slots=3 shared-memory=6144}))' | FileCheck %s --check-prefix=KEYS
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{slots=3 shared-memory=6143}))' | FileCheck %s --check-prefix=FEWER
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{shared-memory=4096}))' | FileCheck %s --check-prefix=ONE
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{shared-memory=4095}))' --remarks-filter=tile --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{slots=0}))' 2>&1 | FileCheck %s --check-prefix=ZERO

// TWO: tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// TWO: tile.channel : <2 x{{ ?}}(tensor<4x16xf32>)>
// THREE: tile.channel : <3 x{{ ?}}(tensor<4x8xf32>)>
// THREE: tile.channel : <3 x{{ ?}}(tensor<4x16xf32>)>
// KEYS: tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// KEYS: tile.channel : <2 x{{ ?}}(tensor<4x16xf32>)>
// FEWER: tile.channel : <2 x{{ ?}}(tensor<4x8xf32>)>
// FEWER: tile.channel : <1 x{{ ?}}(tensor<4x16xf32>)>
// ONE: tile.channel : <1 x{{ ?}}(tensor<4x8xf32>)>
// ONE: tile.channel : <1 x{{ ?}}(tensor<4x16xf32>)>
// NONE: its channels need 2048 bytes of shared memory with one slot each, of 2047
// NONE-NOT: tile.role
// ZERO: error: tile-specialize-roles: slots must be at least 1, found 0
tile.program @injection(
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
  tile.return
}
