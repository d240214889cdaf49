// Decays per key: the preparation alone reads the keys, so a vector that the chain
// reads too does not come with them. Once keys have given a slot, values take
// theirs back if there is room for it.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(prism-tile-prepare-tensor-cores,tile.program(tile-specialize-roles{slots=2 shared-memory=96000}))' | FileCheck %s --check-prefixes=CHECK,ROOM
// RUN: prism-opt %s --pass-pipeline='builtin.module(prism-tile-prepare-tensor-cores,tile.program(tile-specialize-roles{slots=2 shared-memory=92160}))' | FileCheck %s --check-prefixes=CHECK,NONE

// CHECK: tile.channel : <1 x{{ ?}}(tensor<64x64xf32>, tensor<64x64xbf16>, tensor<64x64xbf16>)>
// CHECK-NEXT: tile.channel : <2 x{{ ?}}(tensor<64xf32>)>
// ROOM-NEXT: tile.channel : <2 x{{ ?}}(tensor<64x64xbf16>)>
// NONE-NEXT: tile.channel : <1 x{{ ?}}(tensor<64x64xbf16>)>
// CHECK-NEXT: tile.channel : <1 x{{ ?}}(tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>)>
tile.program @forward(
    %arg0: !tile.view<?x64xbf16> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x64xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x64xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %arg3: !tile.view<?x64xf32> as <name = "log_alpha", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 1, role = "input", optional = false>,
    %arg5: !tile.view<64x64xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %arg6: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg7: !tile.view<?x64xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %arg8: !tile.view<64x64xf32> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>) heads 1 values 64 block 64 chunk 64 {
  %cst = arith.constant dense<0.0883883461> : tensor<64x64xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg5[%c0, %1] : <64x64xf32> -> tensor<64x64xf32>
  %3 = scf.for %arg9 = %c0 to %0 step %c64 iter_args(%arg10 = %2) -> (tensor<64x64xf32>) {
    %4 = tile.load %arg3[%arg9, %c0] : <?x64xf32> -> tensor<64x64xf32>
    %5 = math.exp %4 : tensor<64x64xf32>
    %6 = tile.load %arg1[%arg9, %c0] : <?x64xbf16> -> tensor<64x64xf32>
    %7 = tile.load %arg4[%arg9] : <?xf32> -> tensor<64xf32>
    %8 = tile.load %arg2[%arg9, %1] : <?x64xbf16> -> tensor<64x64xf32>
    %9 = tile.decay_product %5 : tensor<64x64xf32>
    %10 = arith.mulf %6, %9 : tensor<64x64xf32>
    %11 = tile.dot %10, %arg10, %cst_0 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %12 = arith.subf %8, %11 : tensor<64x64xf32>
    %13 = tile.scale_rows %12 by %7 : tensor<64x64xf32>, tensor<64xf32>
    %14 = tile.decayed_dot %6 at [2], %6 at [1] by %5 at [0] : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %15 = tile.scale_rows %14 by %7 : tensor<64x64xf32>, tensor<64xf32>
    %16 = tile.solve %15, %13 : tensor<64x64xf32>, tensor<64x64xf32>
    %17 = tile.load %arg0[%arg9, %c0] : <?x64xbf16> -> tensor<64x64xf32>
    %18 = arith.mulf %17, %9 : tensor<64x64xf32>
    %19 = tile.dot %18, %arg10, %cst_0 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %20 = tile.decayed_dot %17 at [2], %6 at [1] by %5 at [0] : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %21 = tile.dot %20, %16, %19 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %22 = arith.mulf %21, %cst : tensor<64x64xf32>
    %23 = tile.last_row %9 : tensor<64x64xf32> -> tensor<64xf32>
    %24 = tile.scale_rows %arg10 by %23 : tensor<64x64xf32>, tensor<64xf32>
    %25 = tile.decay_product reverse exclusive %5 : tensor<64x64xf32>
    %26 = arith.mulf %6, %25 : tensor<64x64xf32>
    %27 = tile.dot %26 transposed, %16, %24 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    // Outputs are scaled by it too: the chain reads it.
    %scaled = tile.scale_rows %22 by %7 : tensor<64x64xf32>, tensor<64xf32>
    tile.store %scaled, %arg7[%arg9, %1] : tensor<64x64xf32>, <?x64xbf16>
    scf.yield %27 : tensor<64x64xf32>
  }
  tile.store %3, %arg8[%c0, %1] : tensor<64x64xf32>, <64x64xf32>
  tile.return
}
