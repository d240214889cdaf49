// Gates are summed where they are loaded: their sums go with the keys, and the
// preparation begins with decays.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{sums-by-load}))' --verify-roundtrip | FileCheck %s
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{sums-by-load},tile-merge-roles{check-channels}))' | FileCheck %s --check-prefix=MERGED

tile.program @one_erase(
    %arg0: !tile.view<?x128xbf16> as <name = "q", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg1: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg2: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 4, role = "input", optional = false>,
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 4, role = "input", optional = false>,
    %arg5: !tile.view<128x128xf32> as <name = "initial_state", axes = "nhkv", heads = 4, role = "initial_state", optional = true>,
    %arg6: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg7: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>,
    %arg8: !tile.view<128x128xf32> as <name = "final_state", axes = "nhkv", heads = 4, role = "final_state", optional = true>) heads 4 values 128 block 128 chunk 64 {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %cst_1 = arith.constant dense<-1.024000e+03> : tensor<64xf64>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg5[%c0, %1] : <128x128xf32> -> tensor<128x128xf32>
  %3 = scf.for %arg9 = %c0 to %0 step %c64 iter_args(%arg10 = %2) -> (tensor<128x128xf32>) {
    %4 = tile.load %arg3[%arg9] : <?xf32> -> tensor<64xf32>
    %5 = arith.extf %4 : tensor<64xf32> to tensor<64xf64>
    %6 = arith.maximumf %5, %cst_1 : tensor<64xf64>
    %7 = tile.gate_sum %6 : tensor<64xf64>
    %8 = tile.load %arg1[%arg9, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %9 = tile.load %arg4[%arg9] : <?xf32> -> tensor<64xf32>
    %10 = tile.load %arg2[%arg9, %1] : <?x128xbf16> -> tensor<64x128xbf16>
    %11 = arith.extf %10 : tensor<64x128xbf16> to tensor<64x128xf32>
    %12 = arith.truncf %arg10 : tensor<128x128xf32> to tensor<128x128xbf16>
    %13 = tile.dot %8, %12, %cst_0 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %14 = arith.truncf %7 : tensor<64xf64> to tensor<64xf32>
    %15 = math.exp %14 : tensor<64xf32>
    %16 = tile.scale_rows %13 by %15 : tensor<64x128xf32>, tensor<64xf32>
    %17 = arith.subf %11, %16 : tensor<64x128xf32>
    %18 = tile.scale_rows %17 by %9 : tensor<64x128xf32>, tensor<64xf32>
    %19 = tile.dot %8, %8 transposed, %cst : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %20 = tile.decay_matrix %7 at [1], %7 at [0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
    %21 = arith.mulf %19, %20 : tensor<64x64xf32>
    %22 = tile.scale_rows %21 by %9 : tensor<64x64xf32>, tensor<64xf32>
    %23 = tile.invert %22 : tensor<64x64xf32>
    %24 = arith.truncf %23 : tensor<64x64xf32> to tensor<64x64xbf16>
    %25 = arith.truncf %18 : tensor<64x128xf32> to tensor<64x128xbf16>
    %26 = tile.dot %24, %25, %cst_0 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %27 = tile.load %arg0[%arg9, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %28 = tile.dot %27, %12, %cst_0 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %29 = tile.scale_rows %28 by %15 : tensor<64x128xf32>, tensor<64xf32>
    %30 = tile.dot %27, %8 transposed, %cst : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %31 = arith.mulf %30, %20 : tensor<64x64xf32>
    %32 = arith.truncf %31 : tensor<64x64xf32> to tensor<64x64xbf16>
    %33 = arith.truncf %26 : tensor<64x128xf32> to tensor<64x128xbf16>
    %34 = tile.dot %32, %33, %29 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %35 = tile.splat_last %15 : tensor<64xf32> -> tensor<128xf32>
    %36 = tile.scale_rows %arg10 by %35 : tensor<128x128xf32>, tensor<128xf32>
    %37 = tile.splat_last %7 : tensor<64xf64> -> tensor<64xf64>
    %38 = arith.subf %37, %7 : tensor<64xf64>
    %39 = arith.truncf %38 : tensor<64xf64> to tensor<64xf32>
    %40 = math.exp %39 : tensor<64xf32>
    %41 = tile.scale_rows %26 by %40 : tensor<64x128xf32>, tensor<64xf32>
    %42 = arith.truncf %41 : tensor<64x128xf32> to tensor<64x128xbf16>
    %43 = tile.dot %8 transposed, %42, %36 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
    tile.store %34, %arg7[%arg9, %1] : tensor<64x128xf32>, <?x128xbf16>
    scf.yield %43 : tensor<128x128xf32>
  }
  tile.store %3, %arg8[%c0, %1] : tensor<128x128xf32>, <128x128xf32>
  tile.return
}

// MERGED-LABEL: tile.program @one_erase
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: scf.for
// MERGED-NOT: scf.for
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: tile.return

// CHECK-LABEL: tile.program @one_erase
// CHECK-NEXT: %[[Q:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "q"
// CHECK-NEXT: %[[K:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "k"
// CHECK-NEXT: %[[V:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "v"
// CHECK-NEXT: %[[LOGALPHA:arg[0-9]+]]: !tile.view<?xf32> as <name = "log_alpha"
// CHECK-NEXT: %[[BETA:arg[0-9]+]]: !tile.view<?xf32> as <name = "beta"
// CHECK-NEXT: %[[INITIALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "initial_state"
// CHECK-NEXT: %[[OFFSETS:arg[0-9]+]]: !tile.view<1xi64> as <name = "offsets"
// CHECK-NEXT: %[[O:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "o"
// CHECK-NEXT: %[[FINALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "final_state"
// CHECK-DAG: %[[NO_SCORES:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG: %[[NONE:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
// CHECK-DAG: %[[FLOOR:[a-z0-9_]+]] = arith.constant dense<-1.024000e+03> : tensor<64xf64>
// CHECK-NEXT: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-NEXT: %[[C64:[a-z0-9_]+]] = arith.constant 64 : index
// CHECK-NEXT: %[[LENGTH:[a-z0-9_]+]] = tile.length : index
// CHECK-NEXT: %[[COLUMN:[a-z0-9_]+]] = tile.value_offset : index
// CHECK-NEXT: %[[KEYS:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64xf64>, tensor<64xf32>)>
// CHECK-NEXT: %[[VALUES:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<64x128xbf16>)>
// CHECK-NEXT: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>)>
// CHECK-NEXT: tile.role "load" warps 4 {
// CHECK-NEXT: scf.for %[[T:[a-z0-9]+]] = %[[C0]] to %[[LENGTH]] step %[[C64]] {
// CHECK-NEXT: %[[LOAD:[a-z0-9_]+]] = tile.load %[[K]][%[[T]], %[[C0]]] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK-NEXT: %[[LOAD2:[a-z0-9_]+]] = tile.load %[[Q]][%[[T]], %[[C0]]] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK-NEXT: %[[LOAD3:[a-z0-9_]+]] = tile.load %[[LOGALPHA]][%[[T]]] : <?xf32> -> tensor<64xf32>
// CHECK-NEXT: %[[EXTF:[a-z0-9_]+]] = arith.extf %[[LOAD3]] : tensor<64xf32> to tensor<64xf64>
// CHECK-NEXT: %[[MAXIMUMF:[a-z0-9_]+]] = arith.maximumf %[[EXTF]], %[[FLOOR]] : tensor<64xf64>
// CHECK-NEXT: %[[GATE_SUM:[a-z0-9_]+]] = tile.gate_sum %[[MAXIMUMF]] : tensor<64xf64>
// CHECK-NEXT: %[[LOAD4:[a-z0-9_]+]] = tile.load %[[BETA]][%[[T]]] : <?xf32> -> tensor<64xf32>
// CHECK-NEXT: tile.send %[[LOAD]], %[[LOAD2]], %[[GATE_SUM]], %[[LOAD4]] to %[[KEYS]] : tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64xf64>, tensor<64xf32> to <2 x{{ ?}}(tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64xf64>, tensor<64xf32>)>
// CHECK: tile.role "prepare" warps 4 {
// CHECK-NEXT: scf.for %[[T2:[a-z0-9]+]] = %[[C0]] to %[[LENGTH]] step %[[C64]] {
// CHECK-NEXT: %[[RECEIVE:[a-z0-9_]+]]:4 = tile.receive %[[KEYS]] : <2 x{{ ?}}(tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64xf64>, tensor<64xf32>)>
// CHECK-NEXT: %[[DOT:[a-z0-9_]+]] = tile.dot %[[RECEIVE]]#0, %[[RECEIVE]]#0 transposed, %[[NO_SCORES]] : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
// CHECK-NEXT: %[[TRUNCF:[a-z0-9_]+]] = arith.truncf %[[RECEIVE]]#2 : tensor<64xf64> to tensor<64xf32>
// CHECK-NEXT: %[[EXP:[a-z0-9_]+]] = math.exp %[[TRUNCF]] : tensor<64xf32>
// CHECK-NEXT: %[[DECAY_MATRIX:[a-z0-9_]+]] = tile.decay_matrix %[[RECEIVE]]#2 at [1], %[[RECEIVE]]#2 at [0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
