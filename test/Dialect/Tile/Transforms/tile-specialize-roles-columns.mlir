// Of decays per key the preparation makes vectors first, norms here, and what
// it rounds of keys after them; dots of the same columns follow each other,
// each rounded before the next.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(prism-tile-prepare-tensor-cores,tile.program(tile-specialize-roles))' | FileCheck %s

// CHECK: tile.role "prepare"
// CHECK: %[[KEYS:.*]]:5 = tile.receive
// CHECK: tile.sum_columns
// CHECK-NEXT: arith.addf
// CHECK-NEXT: math.rsqrt
// CHECK: tile.mask_rows
// CHECK-NOT: tile.sum_columns
// CHECK: tile.decayed_dot %[[ERASED:.*]] at [0], %[[INJECTED:.*]] at [1] by
// CHECK-NEXT: arith.truncf
// CHECK: tile.decayed_dot %[[READER:.*]] at [2], %[[INJECTED]] at [1] by
// CHECK-NEXT: arith.truncf
// CHECK: tile.decayed_dot %[[ERASED]] at [0], %[[REMOVED:.*]] at [1] by
// CHECK: tile.invert
// CHECK: tile.decayed_dot %[[READER]] at [2], %[[REMOVED]] at [1] by
// CHECK-NEXT: arith.truncf
// CHECK: tile.send
tile.program @forward(
    %arg0: !tile.view<?x64xbf16> as <name = "r", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x64xf32> as <name = "log_w", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x64xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg3: !tile.view<?x64xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %arg4: !tile.view<?x64xbf16> as <name = "kappa", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg5: !tile.view<?x64xbf16> as <name = "a", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg6: !tile.view<64x64xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %arg7: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg8: !tile.view<?x64xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %arg9: !tile.view<64x64xf32> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>) heads 1 values 64 block 64 chunk 64 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %cst_0 = arith.constant dense<1.000000e+00> : tensor<64xf32>
  %cst_1 = arith.constant dense<9.99999997E-7> : tensor<64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg6[%c0, %1] : <64x64xf32> -> tensor<64x64xf32>
  %3 = scf.for %arg10 = %c0 to %0 step %c64 iter_args(%arg11 = %2) -> (tensor<64x64xf32>) {
    %4 = tile.load %arg1[%arg10, %c0] : <?x64xf32> -> tensor<64x64xf32>
    %5 = math.exp %4 : tensor<64x64xf32>
    %6 = tile.load %arg2[%arg10, %c0] : <?x64xbf16> -> tensor<64x64xf32>
    %7 = tile.load %arg3[%arg10, %1] : <?x64xbf16> -> tensor<64x64xf32>
    %8 = tile.load %arg4[%arg10, %c0] : <?x64xbf16> -> tensor<64x64xf32>
    %9 = arith.mulf %8, %8 : tensor<64x64xf32>
    %10 = tile.sum_columns %9 : tensor<64x64xf32> -> tensor<64xf32>
    %11 = arith.addf %10, %cst_1 : tensor<64xf32>
    %12 = math.rsqrt %11 : tensor<64xf32>
    %13 = tile.scale_rows %8 by %12 : tensor<64x64xf32>, tensor<64xf32>
    %14 = tile.load %arg5[%arg10, %c0] : <?x64xbf16> -> tensor<64x64xf32>
    %15 = arith.mulf %14, %13 : tensor<64x64xf32>
    %16 = tile.mask_rows %cst_0 from %arg10 : tensor<64xf32>
    %17 = tile.decay_product exclusive %5 : tensor<64x64xf32>
    %18 = arith.mulf %13, %17 : tensor<64x64xf32>
    %19 = tile.dot %18, %arg11, %cst : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %20 = tile.decayed_dot %13 at [0], %6 at [1] by %5 at [0] : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %21 = tile.dot %20, %7, %19 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %22 = tile.scale_rows %21 by %16 : tensor<64x64xf32>, tensor<64xf32>
    %23 = arith.negf %22 : tensor<64x64xf32>
    %24 = tile.decayed_dot %13 at [0], %15 at [1] by %5 at [0] : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %25 = tile.scale_rows %24 by %16 : tensor<64x64xf32>, tensor<64xf32>
    %26 = tile.solve %25, %23 : tensor<64x64xf32>, tensor<64x64xf32>
    %27 = tile.load %arg0[%arg10, %c0] : <?x64xbf16> -> tensor<64x64xf32>
    %28 = tile.decay_product %5 : tensor<64x64xf32>
    %29 = arith.mulf %27, %28 : tensor<64x64xf32>
    %30 = tile.dot %29, %arg11, %cst : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %31 = tile.decayed_dot %27 at [2], %6 at [1] by %5 at [0] : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %32 = tile.dot %31, %7, %30 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %33 = tile.decayed_dot %27 at [2], %15 at [1] by %5 at [0] : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %34 = tile.dot %33, %26, %32 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %35 = tile.last_row %28 : tensor<64x64xf32> -> tensor<64xf32>
    %36 = tile.scale_rows %arg11 by %35 : tensor<64x64xf32>, tensor<64xf32>
    %37 = tile.decay_product reverse exclusive %5 : tensor<64x64xf32>
    %38 = arith.mulf %6, %37 : tensor<64x64xf32>
    %39 = arith.mulf %15, %37 : tensor<64x64xf32>
    %40 = tile.dot %38 transposed, %7, %36 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %41 = tile.dot %39 transposed, %26, %40 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.store %34, %arg8[%arg10, %1] : tensor<64x64xf32>, <?x64xbf16>
    scf.yield %41 : tensor<64x64xf32>
  }
  tile.store %3, %arg9[%c0, %1] : tensor<64x64xf32>, <64x64xf32>
  tile.return
}
