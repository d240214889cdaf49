// Chains of factors beside the plain one: what is sent, and in which order it is
// loaded, prepared and used.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles))' --verify-roundtrip | FileCheck %s
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles,tile-merge-roles{check-channels}))' | FileCheck %s --check-prefix=MERGED

// A decay and an injection: the scores are all that is prepared, and the output is
// computed after everything that the next chunk waits for.
//
// CHECK-LABEL: tile.program @one_decay
// CHECK-NEXT: %[[Q:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "q"
// CHECK-NEXT: %[[K:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "k"
// CHECK-NEXT: %[[V:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "v"
// CHECK-NEXT: %[[LOGGAMMA:arg[0-9]+]]: !tile.view<?xf32> as <name = "log_gamma"
// CHECK-NEXT: %[[INITIALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "initial_state"
// CHECK-NEXT: %{{[a-z0-9_]+}}: !tile.view<1xi64> as <name = "offsets"
// CHECK-NEXT: %[[O:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "o"
// CHECK-NEXT: %[[FINALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "final_state"
// CHECK: %[[KEYS:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64xf32>)>
// CHECK: %[[VALUES:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<64x128xbf16>)>
// CHECK: %[[READY:[a-z0-9_]+]] = tile.channel : <2 x{{ ?}}(tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>)>
// CHECK: tile.role "load" warps 4 {
// CHECK: %[[LOAD:[a-z0-9_]+]] = tile.load %[[K]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD2:[a-z0-9_]+]] = tile.load %[[Q]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD3:[a-z0-9_]+]] = tile.load %[[LOGGAMMA]][%{{[a-z0-9_]+}}] : <?xf32> -> tensor<64xf32>
// CHECK: tile.send %[[LOAD]], %[[LOAD2]], %[[LOAD3]] to %[[KEYS]]
// CHECK: %[[LOAD4:[a-z0-9_]+]] = tile.load %[[V]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: tile.send %[[LOAD4]] to %[[VALUES]]
// CHECK: tile.role "prepare" warps 4 {
// CHECK: %[[RECEIVE:[a-z0-9_]+]]:3 = tile.receive %[[KEYS]]
// CHECK: tile.dot %[[RECEIVE]]#1, %[[RECEIVE]]#0 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.release %[[KEYS]]
// CHECK: tile.gate_sum %{{[a-z0-9_]+}}
// CHECK: tile.send %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} to %[[READY]]
// CHECK: tile.role "chain" warps 8 {
// CHECK: tile.load %[[INITIALSTATE]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <128x128xf32> -> tensor<128x128xf32>
// CHECK: %[[RECEIVE2:[a-z0-9_]+]]:3 = tile.receive %[[KEYS]]
// CHECK: %[[DOT2:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#1, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}
// CHECK: %[[RECEIVE3:[a-z0-9_]+]]:3 = tile.receive %[[READY]]
// CHECK: %[[SCALE_ROWS:[a-z0-9_]+]] = tile.scale_rows %{{[a-z0-9_]+}} by %{{[a-z0-9_]+}}
// CHECK: %[[RECEIVE4:[a-z0-9_]+]] = tile.receive %[[VALUES]]
// CHECK: %[[DOT3:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#0 transposed, %{{[a-z0-9_]+}}, %[[SCALE_ROWS]]
// CHECK: tile.release %[[KEYS]]
// CHECK: %[[SCALE_ROWS3:[a-z0-9_]+]] = tile.scale_rows %[[DOT2]] by %[[RECEIVE3]]#1
// CHECK: tile.dot %[[RECEIVE3]]#0, %[[RECEIVE4]], %[[SCALE_ROWS3]]
// CHECK: tile.release %[[VALUES]]
// CHECK: tile.release %[[READY]]
// CHECK: tile.store %{{[a-z0-9_]+}}, %[[O]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]
// CHECK: scf.yield %[[DOT3]]
// CHECK: tile.store %{{[a-z0-9_]+}}, %[[FINALSTATE]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]

// MERGED-LABEL: tile.program @one_decay
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: scf.for
// MERGED-NOT: scf.for
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: tile.return
tile.program @one_decay(
    %arg0: !tile.view<?x128xbf16> as <name = "q", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg1: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg2: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %arg3: !tile.view<?xf32> as <name = "log_gamma", axes = "h", heads = 4, role = "input", optional = false>,
    %arg4: !tile.view<128x128xf32> as <name = "initial_state", axes = "nhkv", heads = 4, role = "initial_state", optional = true>,
    %arg5: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg6: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>,
    %arg7: !tile.view<128x128xf32> as <name = "final_state", axes = "nhkv", heads = 4, role = "final_state", optional = true>) heads 4 values 128 block 128 chunk 64 {
  %cst = arith.constant dense<1.250000e-01> : tensor<64x128xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %cst_2 = arith.constant dense<-1.024000e+03> : tensor<64xf64>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg4[%c0, %1] : <128x128xf32> -> tensor<128x128xf32>
  %3 = scf.for %arg8 = %c0 to %0 step %c64 iter_args(%arg9 = %2) -> (tensor<128x128xf32>) {
    %4 = tile.load %arg3[%arg8] : <?xf32> -> tensor<64xf32>
    %5 = arith.extf %4 : tensor<64xf32> to tensor<64xf64>
    %6 = arith.maximumf %5, %cst_2 : tensor<64xf64>
    %7 = tile.gate_sum %6 : tensor<64xf64>
    %8 = tile.load %arg1[%arg8, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %9 = tile.load %arg2[%arg8, %1] : <?x128xbf16> -> tensor<64x128xbf16>
    %10 = arith.extf %9 : tensor<64x128xbf16> to tensor<64x128xf32>
    %11 = tile.load %arg0[%arg8, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %12 = arith.truncf %arg9 : tensor<128x128xf32> to tensor<128x128xbf16>
    %13 = tile.dot %11, %12, %cst_1 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %14 = arith.truncf %7 : tensor<64xf64> to tensor<64xf32>
    %15 = math.exp %14 : tensor<64xf32>
    %16 = tile.scale_rows %13 by %15 : tensor<64x128xf32>, tensor<64xf32>
    %17 = tile.dot %11, %8 transposed, %cst_0 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %18 = tile.decay_matrix %7 at [1], %7 at [0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
    %19 = arith.mulf %17, %18 : tensor<64x64xf32>
    %20 = arith.truncf %19 : tensor<64x64xf32> to tensor<64x64xbf16>
    %21 = tile.dot %20, %9, %16 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %22 = arith.mulf %21, %cst : tensor<64x128xf32>
    %23 = tile.splat_last %15 : tensor<64xf32> -> tensor<128xf32>
    %24 = tile.scale_rows %arg9 by %23 : tensor<128x128xf32>, tensor<128xf32>
    %25 = tile.splat_last %7 : tensor<64xf64> -> tensor<64xf64>
    %26 = arith.subf %25, %7 : tensor<64xf64>
    %27 = arith.truncf %26 : tensor<64xf64> to tensor<64xf32>
    %28 = math.exp %27 : tensor<64xf32>
    %29 = tile.scale_rows %10 by %28 : tensor<64x128xf32>, tensor<64xf32>
    %30 = arith.truncf %29 : tensor<64x128xf32> to tensor<64x128xbf16>
    %31 = tile.dot %8 transposed, %30, %24 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
    tile.store %22, %arg6[%arg8, %1] : tensor<64x128xf32>, <?x128xbf16>
    scf.yield %31 : tensor<128x128xf32>
  }
  tile.store %3, %arg7[%c0, %1] : tensor<128x128xf32>, <128x128xf32>
  tile.return
}

// Two injections, refined from values: the refinement has value columns and stays
// in the chain, between the products with the state and what was prepared. What the
// output adds up ahead of the last erased value stands beside the products that lead
// to it. The vectors of both injections come with the keys. Shared memory holds one
// slot of each channel.
//
// CHECK-LABEL: tile.program @two_injections
// CHECK-NEXT: %[[Q:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "q"
// CHECK-NEXT: %[[K:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "k"
// CHECK-NEXT: %[[V:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "v"
// CHECK-NEXT: %[[LOGALPHA:arg[0-9]+]]: !tile.view<?xf32> as <name = "log_alpha"
// CHECK-NEXT: %[[BETA:arg[0-9]+]]: !tile.view<?xf32> as <name = "beta"
// CHECK-NEXT: %[[U:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "u"
// CHECK-NEXT: %[[P:arg[0-9]+]]: !tile.view<?x2x128xbf16> as <name = "p"
// CHECK-NEXT: %[[C:arg[0-9]+]]: !tile.view<?x2x128xbf16> as <name = "c"
// CHECK-NEXT: %[[B:arg[0-9]+]]: !tile.view<?x2xf32> as <name = "b"
// CHECK-NEXT: %[[INITIALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "initial_state"
// CHECK-NEXT: %{{[a-z0-9_]+}}: !tile.view<1xi64> as <name = "offsets"
// CHECK-NEXT: %[[O:arg[0-9]+]]: !tile.view<?x128xbf16> as <name = "o"
// CHECK-NEXT: %[[FINALSTATE:arg[0-9]+]]: !tile.view<128x128xf32> as <name = "final_state"
// CHECK: %[[KEYS:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)>
// CHECK: %[[VALUES:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>)>
// CHECK: %[[READY:[a-z0-9_]+]] = tile.channel : <1 x{{ ?}}(tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>)>
// CHECK: tile.role "load" warps 4 {
// CHECK: %[[LOAD:[a-z0-9_]+]] = tile.load %[[C]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x2x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD2:[a-z0-9_]+]] = tile.load %[[C]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x2x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD3:[a-z0-9_]+]] = tile.load %[[K]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD4:[a-z0-9_]+]] = tile.load %[[Q]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD5:[a-z0-9_]+]] = tile.load %[[LOGALPHA]][%{{[a-z0-9_]+}}] : <?xf32> -> tensor<64xf32>
// CHECK: %[[LOAD6:[a-z0-9_]+]] = tile.load %[[BETA]][%{{[a-z0-9_]+}}] : <?xf32> -> tensor<64xf32>
// CHECK: %[[LOAD7:[a-z0-9_]+]] = tile.load %[[B]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x2xf32> -> tensor<64xf32>
// CHECK: %[[LOAD8:[a-z0-9_]+]] = tile.load %[[B]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x2xf32> -> tensor<64xf32>
// CHECK: tile.send %[[LOAD]], %[[LOAD2]], %[[LOAD3]], %[[LOAD4]], %[[LOAD5]], %[[LOAD6]], %[[LOAD7]], %[[LOAD8]] to %[[KEYS]]
// CHECK: %[[LOAD9:[a-z0-9_]+]] = tile.load %[[U]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD10:[a-z0-9_]+]] = tile.load %[[V]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD11:[a-z0-9_]+]] = tile.load %[[P]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x2x128xbf16> -> tensor<64x128xbf16>
// CHECK: %[[LOAD12:[a-z0-9_]+]] = tile.load %[[P]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <?x2x128xbf16> -> tensor<64x128xbf16>
// CHECK: tile.send %[[LOAD9]], %[[LOAD10]], %[[LOAD11]], %[[LOAD12]] to %[[VALUES]]
// CHECK: tile.role "prepare" warps 4 {
// CHECK: %[[RECEIVE:[a-z0-9_]+]]:8 = tile.receive %[[KEYS]]
// CHECK: tile.dot %[[RECEIVE]]#2, %[[RECEIVE]]#2 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.gate_sum %{{[a-z0-9_]+}}
// CHECK: tile.dot %[[RECEIVE]]#2, %[[RECEIVE]]#0 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.invert %{{[a-z0-9_]+}}
// CHECK: tile.dot %[[RECEIVE]]#2, %[[RECEIVE]]#1 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.dot %[[RECEIVE]]#3, %[[RECEIVE]]#0 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.dot %[[RECEIVE]]#3, %[[RECEIVE]]#1 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.dot %[[RECEIVE]]#3, %[[RECEIVE]]#2 transposed, %{{[a-z0-9_]+}}
// CHECK: tile.release %[[KEYS]]
// CHECK: tile.send %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} to %[[READY]]
// CHECK: tile.role "chain" warps 8 {
// CHECK: tile.load %[[INITIALSTATE]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : <128x128xf32> -> tensor<128x128xf32>
// CHECK: %[[RECEIVE2:[a-z0-9_]+]]:8 = tile.receive %[[KEYS]]
// CHECK: %[[DOT7:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#2, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}
// CHECK: %[[DOT8:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#3, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}
// CHECK: tile.receive %[[VALUES]]
// CHECK: tile.release %[[VALUES]]
// CHECK: %[[RECEIVE4:[a-z0-9_]+]]:8 = tile.receive %[[READY]]
// CHECK: %[[SCALE_ROWS4:[a-z0-9_]+]] = tile.scale_rows %[[DOT7]] by %[[RECEIVE4]]#6
// CHECK: %[[DOT9:[a-z0-9_]+]] = tile.dot %[[RECEIVE4]]#0, %{{[a-z0-9_]+}}, %[[SCALE_ROWS4]]
// CHECK: %[[SCALE_ROWS5:[a-z0-9_]+]] = tile.scale_rows %[[DOT8]] by %[[RECEIVE4]]#6
// CHECK: %[[SCALE_ROWS7:[a-z0-9_]+]] = tile.scale_rows %{{[a-z0-9_]+}} by %{{[a-z0-9_]+}} : tensor<128x128xf32>
// CHECK: tile.dot %[[RECEIVE4]]#1, %{{[a-z0-9_]+}}, %[[DOT9]]
// CHECK: %[[DOT11:[a-z0-9_]+]] = tile.dot %[[RECEIVE4]]#3, %{{[a-z0-9_]+}}, %[[SCALE_ROWS5]]
// CHECK: tile.dot %[[RECEIVE4]]#2, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}
// CHECK: %[[DOT13:[a-z0-9_]+]] = tile.dot %[[RECEIVE4]]#4, %{{[a-z0-9_]+}}, %[[DOT11]]
// CHECK: %[[DOT14:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#0 transposed, %{{[a-z0-9_]+}}, %[[SCALE_ROWS7]]
// CHECK: %[[DOT15:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#1 transposed, %{{[a-z0-9_]+}}, %[[DOT14]]
// CHECK: %[[DOT16:[a-z0-9_]+]] = tile.dot %[[RECEIVE2]]#2 transposed, %{{[a-z0-9_]+}}, %[[DOT15]]
// CHECK: tile.release %[[KEYS]]
// CHECK: tile.dot %[[RECEIVE4]]#5, %{{[a-z0-9_]+}}, %[[DOT13]]
// CHECK: tile.release %[[READY]]
// CHECK: tile.store %{{[a-z0-9_]+}}, %[[O]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]
// CHECK: scf.yield %[[DOT16]]
// CHECK: tile.store %{{[a-z0-9_]+}}, %[[FINALSTATE]][%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]

// MERGED-LABEL: tile.program @two_injections
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: scf.for
// MERGED-NOT: scf.for
// MERGED-NOT: tile.{{role|channel|send|receive|release}}
// MERGED: tile.return
tile.program @two_injections(
    %arg0: !tile.view<?x128xbf16> as <name = "q", axes = "bthk", heads = 8, role = "input", optional = false>,
    %arg1: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 8, role = "input", optional = false>,
    %arg2: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 8, role = "input", optional = false>,
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 8, role = "input", optional = false>,
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 8, role = "input", optional = false>,
    %arg5: !tile.view<?x128xbf16> as <name = "u", axes = "bthv", heads = 8, role = "input", optional = false>,
    %arg6: !tile.view<?x2x128xbf16> as <name = "p", axes = "bthlv", heads = 8, role = "input", optional = false>,
    %arg7: !tile.view<?x2x128xbf16> as <name = "c", axes = "bthlk", heads = 8, role = "input", optional = false>,
    %arg8: !tile.view<?x2xf32> as <name = "b", axes = "bthl", heads = 8, role = "input", optional = false>,
    %arg9: !tile.view<128x128xf32> as <name = "initial_state", axes = "nhkv", heads = 8, role = "initial_state", optional = true>,
    %arg10: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg11: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 8, role = "output", optional = false>,
    %arg12: !tile.view<128x128xf32> as <name = "final_state", axes = "nhkv", heads = 8, role = "final_state", optional = true>) heads 8 values 128 block 128 chunk 64 {
  %cst = arith.constant dense<0.0883883461> : tensor<64x128xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %c1 = arith.constant 1 : index
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<64x128xf32>
  %cst_3 = arith.constant dense<5.000000e-01> : tensor<64x128xf32>
  %cst_4 = arith.constant dense<0.707106769> : tensor<64x128xf32>
  %cst_5 = arith.constant dense<-1.024000e+03> : tensor<64xf64>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg9[%c0, %1] : <128x128xf32> -> tensor<128x128xf32>
  %3 = scf.for %arg13 = %c0 to %0 step %c64 iter_args(%arg14 = %2) -> (tensor<128x128xf32>) {
    %4 = tile.load %arg3[%arg13] : <?xf32> -> tensor<64xf32>
    %5 = arith.extf %4 : tensor<64xf32> to tensor<64xf64>
    %6 = arith.maximumf %5, %cst_5 : tensor<64xf64>
    %7 = tile.gate_sum %6 : tensor<64xf64>
    %8 = tile.load %arg7[%arg13, %c0, %c0] : <?x2x128xbf16> -> tensor<64x128xbf16>
    %9 = tile.load %arg5[%arg13, %1] : <?x128xbf16> -> tensor<64x128xbf16>
    %10 = arith.extf %9 : tensor<64x128xbf16> to tensor<64x128xf32>
    %11 = tile.load %arg2[%arg13, %1] : <?x128xbf16> -> tensor<64x128xbf16>
    %12 = arith.extf %11 : tensor<64x128xbf16> to tensor<64x128xf32>
    %13 = arith.subf %12, %10 : tensor<64x128xf32>
    %14 = tile.load %arg6[%arg13, %c0, %1] : <?x2x128xbf16> -> tensor<64x128xbf16>
    %15 = arith.extf %14 : tensor<64x128xbf16> to tensor<64x128xf32>
    %16 = arith.mulf %15, %13 : tensor<64x128xf32>
    %17 = arith.mulf %16, %cst_4 : tensor<64x128xf32>
    %18 = math.erf %17 : tensor<64x128xf32>
    %19 = arith.mulf %16, %cst_3 : tensor<64x128xf32>
    %20 = arith.addf %18, %cst_2 : tensor<64x128xf32>
    %21 = arith.mulf %19, %20 : tensor<64x128xf32>
    %22 = arith.subf %13, %21 : tensor<64x128xf32>
    %23 = tile.load %arg6[%arg13, %c1, %1] : <?x2x128xbf16> -> tensor<64x128xbf16>
    %24 = arith.extf %23 : tensor<64x128xbf16> to tensor<64x128xf32>
    %25 = arith.mulf %24, %22 : tensor<64x128xf32>
    %26 = arith.mulf %25, %cst_4 : tensor<64x128xf32>
    %27 = math.erf %26 : tensor<64x128xf32>
    %28 = arith.mulf %25, %cst_3 : tensor<64x128xf32>
    %29 = arith.addf %27, %cst_2 : tensor<64x128xf32>
    %30 = arith.mulf %28, %29 : tensor<64x128xf32>
    %31 = tile.load %arg8[%arg13, %c0] : <?x2xf32> -> tensor<64xf32>
    %32 = tile.scale_rows %21 by %31 : tensor<64x128xf32>, tensor<64xf32>
    %33 = tile.load %arg7[%arg13, %c1, %c0] : <?x2x128xbf16> -> tensor<64x128xbf16>
    %34 = tile.load %arg8[%arg13, %c1] : <?x2xf32> -> tensor<64xf32>
    %35 = tile.scale_rows %30 by %34 : tensor<64x128xf32>, tensor<64xf32>
    %36 = tile.load %arg1[%arg13, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %37 = tile.load %arg4[%arg13] : <?xf32> -> tensor<64xf32>
    %38 = arith.truncf %arg14 : tensor<128x128xf32> to tensor<128x128xbf16>
    %39 = tile.dot %36, %38, %cst_1 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %40 = arith.truncf %7 : tensor<64xf64> to tensor<64xf32>
    %41 = math.exp %40 : tensor<64xf32>
    %42 = tile.scale_rows %39 by %41 : tensor<64x128xf32>, tensor<64xf32>
    %43 = tile.dot %36, %8 transposed, %cst_0 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %44 = tile.decay_matrix %7 at [0], %7 at [1] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
    %45 = arith.mulf %43, %44 : tensor<64x64xf32>
    %46 = arith.truncf %45 : tensor<64x64xf32> to tensor<64x64xbf16>
    %47 = arith.truncf %32 : tensor<64x128xf32> to tensor<64x128xbf16>
    %48 = tile.dot %46, %47, %42 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %49 = tile.dot %36, %33 transposed, %cst_0 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %50 = arith.mulf %49, %44 : tensor<64x64xf32>
    %51 = arith.truncf %50 : tensor<64x64xf32> to tensor<64x64xbf16>
    %52 = arith.truncf %35 : tensor<64x128xf32> to tensor<64x128xbf16>
    %53 = tile.dot %51, %52, %48 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %54 = arith.subf %12, %53 : tensor<64x128xf32>
    %55 = tile.scale_rows %54 by %37 : tensor<64x128xf32>, tensor<64xf32>
    %56 = tile.dot %36, %36 transposed, %cst_0 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %57 = tile.decay_matrix %7 at [1], %7 at [0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
    %58 = arith.mulf %56, %57 : tensor<64x64xf32>
    %59 = tile.scale_rows %58 by %37 : tensor<64x64xf32>, tensor<64xf32>
    %60 = tile.invert %59 : tensor<64x64xf32>
    %61 = arith.truncf %60 : tensor<64x64xf32> to tensor<64x64xbf16>
    %62 = arith.truncf %55 : tensor<64x128xf32> to tensor<64x128xbf16>
    %63 = tile.dot %61, %62, %cst_1 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %64 = tile.load %arg0[%arg13, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %65 = tile.dot %64, %38, %cst_1 : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
    %66 = tile.scale_rows %65 by %41 : tensor<64x128xf32>, tensor<64xf32>
    %67 = tile.dot %64, %8 transposed, %cst_0 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %68 = arith.mulf %67, %57 : tensor<64x64xf32>
    %69 = arith.truncf %68 : tensor<64x64xf32> to tensor<64x64xbf16>
    %70 = tile.dot %69, %47, %66 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %71 = tile.dot %64, %33 transposed, %cst_0 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %72 = arith.mulf %71, %57 : tensor<64x64xf32>
    %73 = arith.truncf %72 : tensor<64x64xf32> to tensor<64x64xbf16>
    %74 = tile.dot %73, %52, %70 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %75 = tile.dot %64, %36 transposed, %cst_0 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    %76 = arith.mulf %75, %57 : tensor<64x64xf32>
    %77 = arith.truncf %76 : tensor<64x64xf32> to tensor<64x64xbf16>
    %78 = arith.truncf %63 : tensor<64x128xf32> to tensor<64x128xbf16>
    %79 = tile.dot %77, %78, %74 : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
    %80 = arith.mulf %79, %cst : tensor<64x128xf32>
    %81 = tile.splat_last %41 : tensor<64xf32> -> tensor<128xf32>
    %82 = tile.scale_rows %arg14 by %81 : tensor<128x128xf32>, tensor<128xf32>
    %83 = tile.splat_last %7 : tensor<64xf64> -> tensor<64xf64>
    %84 = arith.subf %83, %7 : tensor<64xf64>
    %85 = arith.truncf %84 : tensor<64xf64> to tensor<64xf32>
    %86 = math.exp %85 : tensor<64xf32>
    %87 = tile.scale_rows %32 by %86 : tensor<64x128xf32>, tensor<64xf32>
    %88 = arith.truncf %87 : tensor<64x128xf32> to tensor<64x128xbf16>
    %89 = tile.dot %8 transposed, %88, %82 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
    %90 = tile.scale_rows %35 by %86 : tensor<64x128xf32>, tensor<64xf32>
    %91 = arith.truncf %90 : tensor<64x128xf32> to tensor<64x128xbf16>
    %92 = tile.dot %33 transposed, %91, %89 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
    %93 = tile.scale_rows %63 by %86 : tensor<64x128xf32>, tensor<64xf32>
    %94 = arith.truncf %93 : tensor<64x128xf32> to tensor<64x128xbf16>
    %95 = tile.dot %36 transposed, %94, %92 : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
    tile.store %80, %arg11[%arg13, %1] : tensor<64x128xf32>, <?x128xbf16>
    scf.yield %95 : tensor<128x128xf32>
  }
  tile.store %3, %arg12[%c0, %1] : tensor<128x128xf32>, <128x128xf32>
  tile.return
}
