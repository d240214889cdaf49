// Gated DeltaNet's chunk form as tensor cores take it: the system inverted beside
// the chain of states, keys as they were loaded, operands in bf16.
//
// RUN: prism-opt %s --prism-tile-prepare-tensor-cores | FileCheck %s

// CHECK-LABEL: tile.program @forward
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
// CHECK-DAG: %[[NO_SCORES:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK: scf.for {{.*}} iter_args(%[[STATE:.*]] = %{{.*}}) -> (tensor<128x128xf32>)
// CHECK: %[[SUM:.*]] = tile.gate_sum
// CHECK: %[[K:.*]] = tile.load %arg1{{.*}} -> tensor<64x128xbf16>
// CHECK: %[[BETA:.*]] = tile.load %arg4
// CHECK: %[[V:.*]] = tile.load %arg2{{.*}} -> tensor<64x128xbf16>
// CHECK: %[[V32:.*]] = arith.extf %[[V]]
// CHECK: %[[STATE16:.*]] = arith.truncf %[[STATE]] : tensor<128x128xf32> to tensor<128x128xbf16>
// CHECK: %[[READ:.*]] = tile.dot %[[K]], %[[STATE16]], %[[NONE]]
// CHECK: %[[DECAY:.*]] = math.exp
// CHECK: %[[DECAYED:.*]] = tile.scale_rows %[[READ]] by %[[DECAY]]
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[V32]], %[[DECAYED]]
// CHECK: %[[KK:.*]] = tile.dot %[[K]], %[[K]] transposed, %[[NO_SCORES]]
// CHECK: %[[MATRIX:.*]] = tile.decay_matrix %[[SUM]] at [1], %[[SUM]] at [0]
// CHECK: arith.mulf %[[KK]], %[[MATRIX]]
// CHECK: %[[SYSTEM:.*]] = tile.scale_rows
// CHECK: %[[INVERSE:.*]] = tile.invert %[[SYSTEM]]
// CHECK: %[[STRONG:.*]] = tile.scale_columns %[[INVERSE]] by %[[BETA]]
// CHECK: %[[STRONG16:.*]] = arith.truncf %[[STRONG]]
// CHECK: %[[DIFFERENCE16:.*]] = arith.truncf %[[DIFFERENCE]]
// CHECK: %[[WRITES:.*]] = tile.dot %[[STRONG16]], %[[DIFFERENCE16]], %[[NONE]]
// CHECK: %[[Q:.*]] = tile.load %arg0{{.*}} -> tensor<64x128xbf16>
// CHECK: %[[OUT:.*]] = tile.dot %[[Q]], %[[STATE16]], %[[NONE]]
// CHECK: %[[OUT_DECAYED:.*]] = tile.scale_rows %[[OUT]] by %[[DECAY]]
// CHECK: %[[QK:.*]] = tile.dot %[[Q]], %[[K]] transposed, %[[NO_SCORES]]
// CHECK: %[[SCORES:.*]] = arith.mulf %[[QK]], %[[MATRIX]]
// CHECK: %[[SCORES16:.*]] = arith.truncf %[[SCORES]]
// CHECK: %[[WRITES16:.*]] = arith.truncf %[[WRITES]]
// CHECK: tile.dot %[[SCORES16]], %[[WRITES16]], %[[OUT_DECAYED]]
// CHECK: %[[KEPT:.*]] = tile.scale_rows %[[STATE]]
// CHECK: %[[REMAINING:.*]] = math.exp
// CHECK: %[[FRESH:.*]] = tile.scale_rows %[[WRITES]] by %[[REMAINING]]
// CHECK: %[[FRESH16:.*]] = arith.truncf %[[FRESH]]
// CHECK: %[[NEXT:.*]] = tile.dot %[[K]] transposed, %[[FRESH16]], %[[KEPT]] : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
// CHECK: scf.yield %[[NEXT]]
tile.program @forward(
    %arg0: !tile.view<?x128xbf16> as <name = "q", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg1: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 4, role = "input", optional = false>,
    %arg2: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 4, role = "input", optional = false>,
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 4, role = "input", optional = false>,
    %arg5: !tile.view<128x128xf32> as <name = "initial_state", axes = "nhkv", heads = 4, role = "initial_state", optional = true>,
    %arg6: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg7: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>,
    %arg8: !tile.view<128x128xf32> as <name = "final_state", axes = "nhkv", heads = 4, role = "final_state", optional = true>) heads 4 values 128 block 128 chunk 64 attributes {scan.entry = "forward"} {
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
    %8 = tile.load %arg1[%arg9, %c0] : <?x128xbf16> -> tensor<64x128xf32>
    %9 = tile.load %arg4[%arg9] : <?xf32> -> tensor<64xf32>
    %10 = tile.load %arg2[%arg9, %1] : <?x128xbf16> -> tensor<64x128xf32>
    %11 = tile.dot %8, %arg10, %cst_0 : tensor<64x128xf32>, tensor<128x128xf32> -> tensor<64x128xf32>
    %12 = arith.truncf %7 : tensor<64xf64> to tensor<64xf32>
    %13 = math.exp %12 : tensor<64xf32>
    %14 = tile.scale_rows %11 by %13 : tensor<64x128xf32>, tensor<64xf32>
    %15 = arith.subf %10, %14 : tensor<64x128xf32>
    %16 = tile.scale_rows %15 by %9 : tensor<64x128xf32>, tensor<64xf32>
    %17 = tile.dot %8, %8 transposed, %cst : tensor<64x128xf32>, tensor<64x128xf32> -> tensor<64x64xf32>
    %18 = tile.decay_matrix %7 at [1], %7 at [0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
    %19 = arith.mulf %17, %18 : tensor<64x64xf32>
    %20 = tile.scale_rows %19 by %9 : tensor<64x64xf32>, tensor<64xf32>
    %21 = tile.solve %20, %16 : tensor<64x64xf32>, tensor<64x128xf32>
    %22 = tile.load %arg0[%arg9, %c0] : <?x128xbf16> -> tensor<64x128xf32>
    %23 = tile.dot %22, %arg10, %cst_0 : tensor<64x128xf32>, tensor<128x128xf32> -> tensor<64x128xf32>
    %24 = tile.scale_rows %23 by %13 : tensor<64x128xf32>, tensor<64xf32>
    %25 = tile.dot %22, %8 transposed, %cst : tensor<64x128xf32>, tensor<64x128xf32> -> tensor<64x64xf32>
    %26 = arith.mulf %25, %18 : tensor<64x64xf32>
    %27 = tile.dot %26, %21, %24 : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
    %28 = tile.splat_last %13 : tensor<64xf32> -> tensor<128xf32>
    %29 = tile.scale_rows %arg10 by %28 : tensor<128x128xf32>, tensor<128xf32>
    %30 = tile.splat_last %7 : tensor<64xf64> -> tensor<64xf64>
    %31 = arith.subf %30, %7 : tensor<64xf64>
    %32 = arith.truncf %31 : tensor<64xf64> to tensor<64xf32>
    %33 = math.exp %32 : tensor<64xf32>
    %34 = tile.scale_rows %8 by %33 : tensor<64x128xf32>, tensor<64xf32>
    %35 = tile.dot %34 transposed, %21, %29 : tensor<64x128xf32>, tensor<64x128xf32> -> tensor<128x128xf32>
    tile.store %27, %arg7[%arg9, %1] : tensor<64x128xf32>, <?x128xbf16>
    scf.yield %35 : tensor<128x128xf32>
  }
  tile.store %3, %arg8[%c0, %1] : tensor<128x128xf32>, <128x128xf32>
  tile.return
}
