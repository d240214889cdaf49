// Two states, arithmetic beside the loop, an index that is computed, loads that
// widen. Keys and gates are one message. Each role computes its own indices and
// widens what it receives; the chain scales a vector itself that it receives anyway;
// scores in f32 are sent as such.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles))' --verify-roundtrip | FileCheck %s
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles,tile-merge-roles{check-channels}))' | FileCheck %s --check-prefix=MERGED

tile.program @two_states(
    %k: !tile.view<?x8xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x16xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xbf16> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x16xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %o: !tile.view<?x16xbf16> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 4 {
  %none = arith.constant dense<0.0> : tensor<4x16xf32>
  %no_scores = arith.constant dense<0.0> : tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x16xf32> -> tensor<8x16xf32>
  %more = arith.addf %start, %start : tensor<8x16xf32>
  %end:2 = scf.for %t = %c0 to %length step %c4 iter_args(%fast = %start, %slow = %more) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %half = arith.constant dense<5.000000e-01> : tensor<4xf32>
    %place = arith.addi %t, %c0 : index
    %kt = tile.load %k[%place, %c0] : <?x8xbf16> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x16xbf16> -> tensor<4x16xf32>
    %gt = tile.load %g[%t] : <?xbf16> -> tensor<4xf32>
    %strength = arith.mulf %gt, %half : tensor<4xf32>
    %scores = tile.dot %kt, %kt transposed, %no_scores : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
    %strong = tile.scale_rows %scores by %strength : tensor<4x4xf32>, tensor<4xf32>
    %read = tile.dot %kt, %fast, %none : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    %both = tile.dot %kt, %slow, %read : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    %out = tile.dot %strong, %vt, %both : tensor<4x4xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    %weak = tile.scale_rows %vt by %strength : tensor<4x16xf32>, tensor<4xf32>
    %again = tile.scale_rows %weak by %gt : tensor<4x16xf32>, tensor<4xf32>
    %fast_next = tile.dot %kt transposed, %vt, %fast : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    %slow_next = tile.dot %kt transposed, %again, %slow : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    tile.store %out, %o[%t, %column] : tensor<4x16xf32>, <?x16xbf16>
    scf.yield %fast_next, %slow_next : tensor<8x16xf32>, tensor<8x16xf32>
  }
  tile.return
}

// MERGED-LABEL: tile.program @two_states
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: scf.for
// MERGED-NOT: scf.for
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: tile.return

// CHECK-LABEL: tile.program @two_states
// CHECK-NEXT: %[[K:arg[0-9]+]]: !tile.view<?x8xbf16> as <name = "k"
// CHECK-NEXT: %[[V:arg[0-9]+]]: !tile.view<?x16xbf16> as <name = "v"
// CHECK-NEXT: %[[G:arg[0-9]+]]: !tile.view<?xbf16> as <name = "g"
// CHECK-NEXT: %[[INITIALSTATE:arg[0-9]+]]: !tile.view<8x16xf32> as <name = "initial_state"
// CHECK-NEXT: %[[O:arg[0-9]+]]: !tile.view<?x16xbf16> as <name = "o"
// CHECK-DAG: %[[NONE:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<4x16xf32>
// CHECK-DAG: %[[NO_SCORES:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<4x4xf32>
// CHECK-NEXT: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-NEXT: %[[C4:[a-z0-9_]+]] = arith.constant 4 : index
// CHECK-NEXT: %[[LENGTH:[a-z0-9_]+]] = tile.length : index
// CHECK-NEXT: %[[COLUMN:[a-z0-9_]+]] = tile.value_offset : index
// CHECK-DAG: %[[HALF:[a-z0-9_]+]] = arith.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT: %[[KEYS:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x8xbf16>, tensor<4xbf16>)>
// CHECK-NEXT: %[[VALUES:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x16xbf16>)>
// CHECK-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<4x4xf32>)>
// CHECK-NEXT: tile.role "load" warps 4 {
// CHECK-NEXT: scf.for %[[T:[a-z0-9]+]] = %[[C0]] to %[[LENGTH]] step %[[C4]] {
// CHECK-NEXT: %[[ADDI:[a-z0-9_]+]] = arith.addi %[[T]], %[[C0]] : index
// CHECK-NEXT: %[[LOAD:[a-z0-9_]+]] = tile.load %[[K]][%[[ADDI]], %[[C0]]] : <?x8xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT: %[[LOAD2:[a-z0-9_]+]] = tile.load %[[G]][%[[T]]] : <?xbf16> -> tensor<4xbf16>
// CHECK-NEXT: tile.send %[[LOAD]], %[[LOAD2]] to %[[KEYS]] : tensor<4x8xbf16>, tensor<4xbf16> to <2 x{{ ?}}(tensor<4x8xbf16>, tensor<4xbf16>)>
// CHECK-NEXT: %[[LOAD3:[a-z0-9_]+]] = tile.load %[[V]][%[[T]], %[[COLUMN]]] : <?x16xbf16> -> tensor<4x16xbf16>
// CHECK-NEXT: tile.send %[[LOAD3]] to %[[VALUES]] : tensor<4x16xbf16> to <2 x{{ ?}}(tensor<4x16xbf16>)>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tile.role "prepare" warps 4 {
// CHECK-NEXT: scf.for %[[T2:[a-z0-9]+]] = %[[C0]] to %[[LENGTH]] step %[[C4]] {
// CHECK-NEXT: %[[RECEIVE:[a-z0-9_]+]]:2 = tile.receive %[[KEYS]] : <2 x{{ ?}}(tensor<4x8xbf16>, tensor<4xbf16>)>
// CHECK-NEXT: %[[EXTF:[a-z0-9_]+]] = arith.extf %[[RECEIVE]]#1 : tensor<4xbf16> to tensor<4xf32>
// CHECK-NEXT: %[[MULF:[a-z0-9_]+]] = arith.mulf %[[EXTF]], %[[HALF]] : tensor<4xf32>
// CHECK-NEXT: %[[EXTF2:[a-z0-9_]+]] = arith.extf %[[RECEIVE]]#0 : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK-NEXT: tile.release %[[KEYS]] : <2 x{{ ?}}(tensor<4x8xbf16>, tensor<4xbf16>)>
// CHECK-NEXT: %[[DOT:[a-z0-9_]+]] = tile.dot %[[EXTF2]], %[[EXTF2]] transposed, %[[NO_SCORES]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
// CHECK-NEXT: %[[SCALE_ROWS:[a-z0-9_]+]] = tile.scale_rows %[[DOT]] by %[[MULF]] : tensor<4x4xf32>, tensor<4xf32>
// CHECK-NEXT: tile.send %[[SCALE_ROWS]] to %[[READY]] : tensor<4x4xf32> to <2 x{{ ?}}(tensor<4x4xf32>)>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tile.role "chain" warps 4 {
// CHECK-NEXT: %[[LOAD4:[a-z0-9_]+]] = tile.load %[[INITIALSTATE]][%[[C0]], %[[COLUMN]]] : <8x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[ADDF:[a-z0-9_]+]] = arith.addf %[[LOAD4]], %[[LOAD4]] : tensor<8x16xf32>
// CHECK-NEXT: %[[LOOP:[a-z0-9_]+]]:2 = scf.for %[[T3:[a-z0-9]+]] = %[[C0]] to %[[LENGTH]] step %[[C4]] iter_args(%[[STATE:[a-z0-9]+]] = %[[LOAD4]], %[[STATE2:[a-z0-9]+]] = %[[ADDF]]) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
// CHECK-NEXT: %[[RECEIVE2:[a-z0-9_]+]]:2 = tile.receive %[[KEYS]] : <2 x{{ ?}}(tensor<4x8xbf16>, tensor<4xbf16>)>
// CHECK-NEXT: %[[EXTF3:[a-z0-9_]+]] = arith.extf %[[RECEIVE2]]#1 : tensor<4xbf16> to tensor<4xf32>
// CHECK-NEXT: %[[MULF2:[a-z0-9_]+]] = arith.mulf %[[EXTF3]], %[[HALF]] : tensor<4xf32>
// CHECK-NEXT: %[[EXTF4:[a-z0-9_]+]] = arith.extf %[[RECEIVE2]]#0 : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK-NEXT: tile.release %[[KEYS]] : <2 x{{ ?}}(tensor<4x8xbf16>, tensor<4xbf16>)>
// CHECK-NEXT: %[[DOT2:[a-z0-9_]+]] = tile.dot %[[EXTF4]], %[[STATE]], %[[NONE]] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
// CHECK-NEXT: %[[DOT3:[a-z0-9_]+]] = tile.dot %[[EXTF4]], %[[STATE2]], %[[DOT2]] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
// CHECK-NEXT: %[[RECEIVE3:[a-z0-9_]+]] = tile.receive %[[VALUES]] : <2 x{{ ?}}(tensor<4x16xbf16>)>
// CHECK-NEXT: %[[EXTF5:[a-z0-9_]+]] = arith.extf %[[RECEIVE3]] : tensor<4x16xbf16> to tensor<4x16xf32>
// CHECK-NEXT: tile.release %[[VALUES]] : <2 x{{ ?}}(tensor<4x16xbf16>)>
// CHECK-NEXT: %[[SCALE_ROWS2:[a-z0-9_]+]] = tile.scale_rows %[[EXTF5]] by %[[MULF2]] : tensor<4x16xf32>, tensor<4xf32>
// CHECK-NEXT: %[[SCALE_ROWS3:[a-z0-9_]+]] = tile.scale_rows %[[SCALE_ROWS2]] by %[[EXTF3]] : tensor<4x16xf32>, tensor<4xf32>
// CHECK-NEXT: %[[DOT4:[a-z0-9_]+]] = tile.dot %[[EXTF4]] transposed, %[[EXTF5]], %[[STATE]] : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[DOT5:[a-z0-9_]+]] = tile.dot %[[EXTF4]] transposed, %[[SCALE_ROWS3]], %[[STATE2]] : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[RECEIVE4:[a-z0-9_]+]] = tile.receive %[[READY]] : <2 x{{ ?}}(tensor<4x4xf32>)>
// CHECK-NEXT: %[[DOT6:[a-z0-9_]+]] = tile.dot %[[RECEIVE4]], %[[EXTF5]], %[[DOT3]] : tensor<4x4xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
// CHECK-NEXT: tile.release %[[READY]] : <2 x{{ ?}}(tensor<4x4xf32>)>
// CHECK-NEXT: tile.store %[[DOT6]], %[[O]][%[[T3]], %[[COLUMN]]] : tensor<4x16xf32>, <?x16xbf16>
// CHECK-NEXT: scf.yield %[[DOT4]], %[[DOT5]] : tensor<8x16xf32>, tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
// CHECK-NEXT: }
