// Two erases with keys of their own: what is stacked of loads, or of loads and
// zeros, is stacked where it is loaded, in 16 bits; what is stacked of gate sums is
// prepared. Vectors come with the keys, stacked or not.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles))' --verify-roundtrip | FileCheck %s
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles,tile-merge-roles{check-channels}))' | FileCheck %s --check-prefix=MERGED

// CHECK-LABEL: tile.program @two_erases
// CHECK-NEXT: %[[Q:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "q"
// CHECK-NEXT: %[[K:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "k"
// CHECK-NEXT: %[[M:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "m"
// CHECK-NEXT: %[[V:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "v"
// CHECK-NEXT: %[[W:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "w"
// CHECK-NEXT: %[[LOGALPHA:arg[0-9]+]]: !tile.view<?xf32> as <name = "log_alpha"
// CHECK-NEXT: %[[BETA:arg[0-9]+]]: !tile.view<?xf32> as <name = "beta"
// CHECK-NEXT: %[[GAMMA:arg[0-9]+]]: !tile.view<?xf32> as <name = "gamma"
// CHECK-NEXT: %[[INITIALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "initial_state"
// CHECK-NEXT: %{{[a-z0-9_]+}}: !tile.view<1xi64> as <name = "offsets"
// CHECK-NEXT: %[[O:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "o"
// CHECK-NEXT: %[[FINALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "final_state"
// CHECK: %[[KEYS:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<64x128xbf16>, tensor<128x128xbf16>, tensor<64x128xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<128xf32>)>
// CHECK: %[[VALUES:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<128x128xbf16>)>
// CHECK: %[[READY:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<128x64xbf16>, tensor<128x128xbf16>, tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<128xf32>)>
// CHECK: tile.role "load" warps 4 {
// CHECK: %[[LOAD:[a-z0-9_]+]] = tile.load %[[K]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD2:[a-z0-9_]+]] = tile.load %[[M]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[INTERLEAVE:[a-z0-9_]+]] = tile.interleave %[[LOAD]], %[[LOAD2]] : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xbf16>
// CHECK: %[[LOAD3:[a-z0-9_]+]] = tile.load %[[Q]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD4:[a-z0-9_]+]] = tile.load %[[LOGALPHA]][%{{[a-z0-9_]+}}] : <?xf32> -> tensor<64xf32>
// CHECK: %[[LOAD5:[a-z0-9_]+]] = tile.load %[[BETA]][%{{[a-z0-9_]+}}] : <?xf32> -> tensor<64xf32>
// CHECK: %[[LOAD6:[a-z0-9_]+]] = tile.load %[[GAMMA]][%{{[a-z0-9_]+}}] : <?xf32> -> tensor<64xf32>
// CHECK: %[[INTERLEAVE2:[a-z0-9_]+]] = tile.interleave %[[LOAD5]], %[[LOAD6]] : tensor<64xf32>, tensor<64xf32> -> tensor<128xf32>
// CHECK: tile.send %[[LOAD]], %[[INTERLEAVE]], %[[LOAD3]], %[[LOAD4]], %[[LOAD5]], %[[INTERLEAVE2]] to %[[KEYS]]
// CHECK: %[[LOAD7:[a-z0-9_]+]] = tile.load %[[V]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD8:[a-z0-9_]+]] = tile.load %[[W]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[INTERLEAVE3:[a-z0-9_]+]] = tile.interleave %{{[a-z0-9_]+}}, %[[LOAD8]] : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xbf16>
// CHECK: tile.send %[[LOAD7]], %[[LOAD8]], %[[INTERLEAVE3]] to %[[VALUES]]
// CHECK: tile.role "prepare" warps 4 {
// CHECK: %[[RECEIVE:[a-z0-9_]+]]:6 = tile.receive %[[KEYS]]
// CHECK: tile.dot %[[RECEIVE]]#1, %[[RECEIVE]]#1 transposed, %{{[a-z0-9_]+}}
// CHECK: %[[GATE_SUM:[a-z0-9_]+]] = tile.gate_sum %{{[a-z0-9_]+}}
// CHECK: tile.interleave %{{[a-z0-9_]+}}, %[[GATE_SUM]] : tensor<64xf64>, tensor<64xf64> -> tensor<128xf64>
// CHECK: tile.dot %[[RECEIVE]]#1, %[[RECEIVE]]#0 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.invert %{{[a-z0-9_]+}}
// CHECK: tile.dot %[[RECEIVE]]#2, %[[RECEIVE]]#0 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.dot %[[RECEIVE]]#2, %[[RECEIVE]]#1 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.release %[[KEYS]]
// CHECK: tile.send %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} to %[[READY]]
// CHECK: tile.role "chain" warps 8 {
// CHECK: tile.load %[[INITIALSTATE]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <128x128xf32> -> tensor<128x128xf32>
// CHECK: %[[RECEIVE2:[a-z0-9_]+]]:6 = tile.receive %[[KEYS]]
// CHECK: %[[DOT5:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#1, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}
// CHECK: %[[DOT6:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#2, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}
// CHECK: %[[RECEIVE3:[a-z0-9_]+]]:3 = tile.receive %[[VALUES]]
// CHECK: %[[RECEIVE4:[a-z0-9_]+]]:9 = tile.receive %[[READY]]
// CHECK: %[[LAST:[a-z0-9_]+]] = tile.splat_last %[[RECEIVE4]]#6 : tensor<64xf32> -> tensor<128xf32>
// CHECK: %[[SCALE_ROWS3:[a-z0-9_]+]] = tile.scale_rows %[[DOT5]] by %[[RECEIVE4]]#4
// CHECK: tile.dot %[[RECEIVE4]]#0, %[[RECEIVE3]]#0, %[[SCALE_ROWS3]]
// CHECK: %[[SCALE_ROWS4:[a-z0-9_]+]] = tile.scale_rows %[[DOT6]] by %[[RECEIVE4]]#5
// CHECK: %[[SCALE_ROWS5:[a-z0-9_]+]] = tile.scale_rows %{{[a-z0-9_]+}} by %[[LAST]]
// CHECK: tile.dot %[[RECEIVE4]]#1, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}
// CHECK: %[[DOT9:[a-z0-9_]+]] = tile.dot %[[RECEIVE4]]#2, %[[RECEIVE3]]#0, %[[SCALE_ROWS4]]
// CHECK: %[[DOT10:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#0 transposed, %{{[a-z0-9_]+}}, %[[SCALE_ROWS5]]
// CHECK: %[[DOT11:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#1 transposed, %{{[a-z0-9_]+}}, %[[DOT10]]
// CHECK: tile.release %[[KEYS]]
// CHECK: %[[DOT12:[a-z0-9_]+]] = tile.dot %[[RECEIVE4]]#3, %{{[a-z0-9_]+}}, %[[DOT9]]
// CHECK: tile.release %[[READY]]
// CHECK: tile.store %[[DOT12]], %[[O]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]
// CHECK: tile.release %[[VALUES]]
// CHECK: scf.yield %[[DOT11]]
// CHECK: tile.store %{{[a-z0-9_]+}}, %[[FINALSTATE]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]

// MERGED-LABEL: tile.program @two_erases
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: scf.for
// MERGED-NOT: scf.for
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: tile.return
tile.program @two_erases(
    %arg0: !tile.view<?x128xbf16> as <name = "q", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg1: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg2: !tile.view<?x128xbf16> as <name = "m", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg3: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %arg4: !tile.view<?x128xbf16> as <name = "w", axes = "bthv", heads = 4, role = "input", optional = false>,
    %arg5: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 4, role = "input", optional = false>,
    %arg6: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 4, role = "input", optional = false>,
    %arg7: !tile.view<?xf32> as <name = "gamma", axes = "bth", heads = 4, role = "input", optional = false>,
    %arg8: !tile.view<128x128xf32> as <name = "initial_state", axes = "nhkv", heads = 4, role = "initial_state", optional = true>,
    %arg9: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg10: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>,
    %arg11: !tile.view<128x128xf32> as <name = "final_state", axes = "nhkv", heads = 4, role = "final_state", optional = true>) heads 4 values 128 block 128 chunk 64 {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
  %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %cst_3 = arith.constant dense<-1.024000e+03> : tensor<64xf64>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg8[%c0, %1] : <128x128xf32> -> tensor<128x128xf32>
  %3 = scf.for %arg12 = %c0 to %0 step %c64 iter_args(%arg13 = %2) -> (tensor<128x128xf32>) {
    %4 = tile.load %arg5[%arg12] : <?xf32> -> tensor<64xf32>
    %5 = arith.extf %4 : tensor<64xf32> to tensor<64xf64>
    %6 = arith.maximumf %5, %cst_3 : tensor<64xf64>
    %7 = tile.gate_sum %6 : tensor<64xf64>
    %8 = tile.load %arg1[%arg12, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %9 = tile.load %arg3[%arg12, %1] : <?x128xbf16> -> tensor<64x128xbf16>
    %10 = arith.extf %9 : tensor<64x128xbf16> to tensor<64x128xf32>
    %11 = tile.load %arg6[%arg12] : <?xf32> -> tensor<64xf32>
    %12 = tile.scale_rows %10 by %11 : tensor<64x128xf32>, tensor<64xf32>
    %13 = arith.subf %7, %6 : tensor<64xf64>
    %14 = tile.load %arg2[%arg12, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %15 = tile.load %arg7[%arg12] : <?xf32> -> tensor<64xf32>
    %16 = tile.load %arg4[%arg12, %1] : <?x128xbf16> -> tensor<64x128xbf16>
    %17 = arith.extf %16 : tensor<64x128xbf16> to tensor<64x128xf32>
    %18 = tile.interleave %8, %14 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xbf16>
    %19 = tile.interleave %13, %7 : tensor<64xf64>, tensor<64xf64> -> tensor<128xf64>
    %20 = tile.interleave %11, %15 : tensor<64xf32>, tensor<64xf32> -> tensor<128xf32>
    %21 = arith.truncf %arg13 : tensor<128x128xf32> to tensor<128x128xbf16>
    %22 = tile.dot %18, %21, %cst_1 : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    %23 = arith.truncf %19 : tensor<128xf64> to tensor<128xf32>
    %24 = math.exp %23 : tensor<128xf32>
    %25 = tile.scale_rows %22 by %24 : tensor<128x128xf32>, tensor<128xf32>
    %26 = tile.dot %18, %8 transposed, %cst_0 : tensor<128x128xbf16>, tensor<64x128xbf16> -> tensor<128x64xf32>
    %27 = tile.decay_matrix %19 at [0, 1], %7 at [2] : tensor<128xf64>, tensor<64xf64> -> tensor<128x64xf32>
    %28 = arith.mulf %26, %27 : tensor<128x64xf32>
    %29 = tile.scale_columns %28 by %11 : tensor<128x64xf32>, tensor<64xf32>
    %30 = arith.truncf %29 : tensor<128x64xf32> to tensor<128x64xbf16>
    %31 = tile.dot %30, %9, %25 : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
    %32 = tile.interleave %cst_2, %17 : tensor<64x128xf32>, tensor<64x128xf32> -> tensor<128x128xf32>
    %33 = tile.scale_rows %31 by %20 : tensor<128x128xf32>, tensor<128xf32>
    %34 = arith.subf %32, %33 : tensor<128x128xf32>
    %35 = tile.dot %18, %18 transposed, %cst_1 : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    %36 = tile.decay_matrix %19 at [0, 1], %19 at [0, 1] : tensor<128xf64>, tensor<128xf64> -> tensor<128x128xf32>
    %37 = arith.mulf %35, %36 : tensor<128x128xf32>
    %38 = tile.scale_rows %37 by %20 : tensor<128x128xf32>, tensor<128xf32>
    %39 = tile.invert %38 : tensor<128x128xf32>
    %40 = arith.truncf %39 : tensor<128x128xf32> to tensor<128x128xbf16>
    %41 = arith.truncf %34 : tensor<128x128xf32> to tensor<128x128xbf16>
    %42 = tile.dot %40, %41, %cst_1 : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    %43 = tile.load %arg0[%arg12, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %44 = tile.dot %43, %21, %cst_2 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %45 = arith.truncf %13 : tensor<64xf64> to tensor<64xf32>
    %46 = math.exp %45 : tensor<64xf32>
    %47 = tile.scale_rows %44 by %46 : tensor<64x128xf32>, tensor<64xf32>
    %48 = tile.dot %43, %8 transposed, %cst : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %49 = tile.decay_matrix %13 at [0], %7 at [1] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
    %50 = arith.mulf %48, %49 : tensor<64x64xf32>
    %51 = tile.scale_columns %50 by %11 : tensor<64x64xf32>, tensor<64xf32>
    %52 = arith.truncf %51 : tensor<64x64xf32> to tensor<64x64xbf16>
    %53 = tile.dot %52, %9, %47 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %54 = tile.dot %43, %18 transposed, %cst_2 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %55 = tile.decay_matrix %13 at [0], %19 at [0, 1] : tensor<64xf64>, tensor<128xf64> -> tensor<64x128xf32>
    %56 = arith.mulf %54, %55 : tensor<64x128xf32>
    %57 = arith.truncf %56 : tensor<64x128xf32> to tensor<64x128xbf16>
    %58 = arith.truncf %42 : tensor<128x128xf32> to tensor<128x128xbf16>
    %59 = tile.dot %57, %58, %53 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %60 = arith.truncf %7 : tensor<64xf64> to tensor<64xf32>
    %61 = math.exp %60 : tensor<64xf32>
    %62 = tile.splat_last %61 : tensor<64xf32> -> tensor<128xf32>
    %63 = tile.scale_rows %arg13 by %62 : tensor<128x128xf32>, tensor<128xf32>
    %64 = tile.splat_last %7 : tensor<64xf64> -> tensor<64xf64>
    %65 = arith.subf %64, %7 : tensor<64xf64>
    %66 = arith.truncf %65 : tensor<64xf64> to tensor<64xf32>
    %67 = math.exp %66 : tensor<64xf32>
    %68 = tile.splat_last %7 : tensor<64xf64> -> tensor<128xf64>
    %69 = arith.subf %68, %19 : tensor<128xf64>
    %70 = arith.truncf %69 : tensor<128xf64> to tensor<128xf32>
    %71 = math.exp %70 : tensor<128xf32>
    %72 = tile.scale_rows %12 by %67 : tensor<64x128xf32>, tensor<64xf32>
    %73 = arith.truncf %72 : tensor<64x128xf32> to tensor<64x128xbf16>
    %74 = tile.dot %8 transposed, %73, %63 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
    %75 = tile.scale_rows %42 by %71 : tensor<128x128xf32>, tensor<128xf32>
    %76 = arith.truncf %75 : tensor<128x128xf32> to tensor<128x128xbf16>
    %77 = tile.dot %18 transposed, %76, %74 : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
    tile.store %59, %arg10[%arg12, %1] : tensor<64x128xf32>, <?x128xbf16>
    scf.yield %77 : tensor<128x128xf32>
  }
  tile.store %3, %arg11[%c0, %1] : tensor<128x128xf32>, <128x128xf32>
  tile.return
}
