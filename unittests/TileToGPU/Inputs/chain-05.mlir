tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x20xf32> as <name = "m", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?x12xf32> as <name = "w", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?xf32> as <name = "gamma", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg9: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg10: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg11: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x12xf32>
  %cst_4 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %cst_5 = arith.constant dense<-1.024000e+03> : tensor<32xf64>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg8[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg12 = %c0 to %0 step %c32 iter_args(%arg13 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg5[%arg12] : <?xf32> -> tensor<32xf32>
    %5 = arith.extf %4 : tensor<32xf32> to tensor<32xf64>
    %6 = arith.maximumf %5, %cst_5 : tensor<32xf64>
    %7 = tile.gate_sum %6 : tensor<32xf64>
    %8 = tile.load %arg1[%arg12, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %9 = tile.load %arg3[%arg12, %1] : <?x12xf32> -> tensor<32x12xf32>
    %10 = tile.load %arg6[%arg12] : <?xf32> -> tensor<32xf32>
    %11 = tile.scale_rows %9 by %10 : tensor<32x12xf32>, tensor<32xf32>
    %12 = arith.subf %7, %6 : tensor<32xf64>
    %13 = tile.load %arg2[%arg12, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %14 = tile.load %arg7[%arg12] : <?xf32> -> tensor<32xf32>
    %15 = tile.load %arg4[%arg12, %1] : <?x12xf32> -> tensor<32x12xf32>
    %16 = tile.interleave %8, %13 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<64x20xf32>
    %17 = tile.interleave %12, %7 : tensor<32xf64>, tensor<32xf64> -> tensor<64xf64>
    %18 = tile.interleave %10, %14 : tensor<32xf32>, tensor<32xf32> -> tensor<64xf32>
    %19 = tile.dot %16, %arg13, %cst_3 : tensor<64x20xf32>, tensor<20x12xf32> -> tensor<64x12xf32>
    %20 = arith.truncf %17 : tensor<64xf64> to tensor<64xf32>
    %21 = math.exp %20 : tensor<64xf32>
    %22 = tile.scale_rows %19 by %21 : tensor<64x12xf32>, tensor<64xf32>
    %23 = tile.dot %16, %8 transposed, %cst_2 : tensor<64x20xf32>, tensor<32x20xf32> -> tensor<64x32xf32>
    %24 = tile.decay_matrix %17 at [0, 2], %7 at [3] : tensor<64xf64>, tensor<32xf64> -> tensor<64x32xf32>
    %25 = arith.mulf %23, %24 : tensor<64x32xf32>
    %26 = tile.dot %25, %11, %22 : tensor<64x32xf32>, tensor<32x12xf32> -> tensor<64x12xf32>
    %27 = tile.interleave %cst_4, %15 : tensor<32x12xf32>, tensor<32x12xf32> -> tensor<64x12xf32>
    %28 = tile.scale_rows %26 by %18 : tensor<64x12xf32>, tensor<64xf32>
    %29 = arith.subf %27, %28 : tensor<64x12xf32>
    %30 = tile.dot %16, %16 transposed, %cst_1 : tensor<64x20xf32>, tensor<64x20xf32> -> tensor<64x64xf32>
    %31 = tile.decay_matrix %17 at [0, 2], %17 at [0, 2] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
    %32 = arith.mulf %30, %31 : tensor<64x64xf32>
    %33 = tile.scale_rows %32 by %18 : tensor<64x64xf32>, tensor<64xf32>
    %34 = tile.solve %33, %29 : tensor<64x64xf32>, tensor<64x12xf32>
    %35 = tile.load %arg0[%arg12, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %36 = tile.dot %35, %arg13, %cst_4 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %37 = arith.truncf %12 : tensor<32xf64> to tensor<32xf32>
    %38 = math.exp %37 : tensor<32xf32>
    %39 = tile.scale_rows %36 by %38 : tensor<32x12xf32>, tensor<32xf32>
    %40 = tile.dot %35, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %41 = tile.decay_matrix %12 at [0], %7 at [3] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %42 = arith.mulf %40, %41 : tensor<32x32xf32>
    %43 = tile.dot %42, %11, %39 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %44 = tile.dot %35, %16 transposed, %cst : tensor<32x20xf32>, tensor<64x20xf32> -> tensor<32x64xf32>
    %45 = tile.decay_matrix %12 at [0], %17 at [0, 2] : tensor<32xf64>, tensor<64xf64> -> tensor<32x64xf32>
    %46 = arith.mulf %44, %45 : tensor<32x64xf32>
    %47 = tile.dot %46, %34, %43 : tensor<32x64xf32>, tensor<64x12xf32> -> tensor<32x12xf32>
    %48 = arith.truncf %7 : tensor<32xf64> to tensor<32xf32>
    %49 = math.exp %48 : tensor<32xf32>
    %50 = tile.splat_last %49 : tensor<32xf32> -> tensor<20xf32>
    %51 = tile.scale_rows %arg13 by %50 : tensor<20x12xf32>, tensor<20xf32>
    %52 = tile.splat_last %7 : tensor<32xf64> -> tensor<32xf64>
    %53 = arith.subf %52, %7 : tensor<32xf64>
    %54 = arith.truncf %53 : tensor<32xf64> to tensor<32xf32>
    %55 = math.exp %54 : tensor<32xf32>
    %56 = tile.scale_rows %8 by %55 : tensor<32x20xf32>, tensor<32xf32>
    %57 = tile.splat_last %7 : tensor<32xf64> -> tensor<64xf64>
    %58 = arith.subf %57, %17 : tensor<64xf64>
    %59 = arith.truncf %58 : tensor<64xf64> to tensor<64xf32>
    %60 = math.exp %59 : tensor<64xf32>
    %61 = tile.scale_rows %16 by %60 : tensor<64x20xf32>, tensor<64xf32>
    %62 = tile.dot %56 transposed, %11, %51 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %63 = tile.dot %61 transposed, %34, %62 : tensor<64x20xf32>, tensor<64x12xf32> -> tensor<20x12xf32>
    tile.store %47, %arg10[%arg12, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %63 : tensor<20x12xf32>
  }
  tile.store %3, %arg11[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x20xf32> as <name = "m", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?x12xf32> as <name = "w", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?xf32> as <name = "gamma", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg9: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg10: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg11: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<2x12xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_2 = arith.constant dense<-1.024000e+03> : tensor<1xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg8[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg12 = %c0 to %0 step %c1 iter_args(%arg13 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg5[%arg12] : <?xf32> -> tensor<1xf32>
    %5 = arith.extf %4 : tensor<1xf32> to tensor<1xf64>
    %6 = arith.maximumf %5, %cst_2 : tensor<1xf64>
    %7 = tile.load %arg1[%arg12, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %8 = tile.load %arg3[%arg12, %1] : <?x12xf32> -> tensor<1x12xf32>
    %9 = tile.load %arg6[%arg12] : <?xf32> -> tensor<1xf32>
    %10 = tile.scale_rows %8 by %9 : tensor<1x12xf32>, tensor<1xf32>
    %11 = arith.subf %6, %6 : tensor<1xf64>
    %12 = tile.load %arg2[%arg12, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %13 = tile.load %arg7[%arg12] : <?xf32> -> tensor<1xf32>
    %14 = tile.load %arg4[%arg12, %1] : <?x12xf32> -> tensor<1x12xf32>
    %15 = tile.interleave %7, %12 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<2x20xf32>
    %16 = tile.interleave %11, %6 : tensor<1xf64>, tensor<1xf64> -> tensor<2xf64>
    %17 = tile.interleave %9, %13 : tensor<1xf32>, tensor<1xf32> -> tensor<2xf32>
    %18 = tile.dot %15, %arg13, %cst_0 : tensor<2x20xf32>, tensor<20x12xf32> -> tensor<2x12xf32>
    %19 = arith.truncf %16 : tensor<2xf64> to tensor<2xf32>
    %20 = math.exp %19 : tensor<2xf32>
    %21 = tile.scale_rows %18 by %20 : tensor<2x12xf32>, tensor<2xf32>
    %22 = tile.interleave %cst_1, %14 : tensor<1x12xf32>, tensor<1x12xf32> -> tensor<2x12xf32>
    %23 = tile.scale_rows %21 by %17 : tensor<2x12xf32>, tensor<2xf32>
    %24 = arith.subf %22, %23 : tensor<2x12xf32>
    %25 = tile.dot %15, %15 transposed, %cst : tensor<2x20xf32>, tensor<2x20xf32> -> tensor<2x2xf32>
    %26 = tile.decay_matrix %16 at [0, 2], %16 at [0, 2] : tensor<2xf64>, tensor<2xf64> -> tensor<2x2xf32>
    %27 = arith.mulf %25, %26 : tensor<2x2xf32>
    %28 = tile.scale_rows %27 by %17 : tensor<2x2xf32>, tensor<2xf32>
    %29 = tile.solve %28, %24 : tensor<2x2xf32>, tensor<2x12xf32>
    %30 = tile.load %arg0[%arg12, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %31 = tile.dot %30, %arg13, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %32 = arith.truncf %6 : tensor<1xf64> to tensor<1xf32>
    %33 = math.exp %32 : tensor<1xf32>
    %34 = tile.splat_last %33 : tensor<1xf32> -> tensor<20xf32>
    %35 = tile.scale_rows %arg13 by %34 : tensor<20x12xf32>, tensor<20xf32>
    %36 = tile.splat_last %6 : tensor<1xf64> -> tensor<2xf64>
    %37 = arith.subf %36, %16 : tensor<2xf64>
    %38 = arith.truncf %37 : tensor<2xf64> to tensor<2xf32>
    %39 = math.exp %38 : tensor<2xf32>
    %40 = tile.scale_rows %15 by %39 : tensor<2x20xf32>, tensor<2xf32>
    %41 = tile.dot %7 transposed, %10, %35 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %42 = tile.dot %40 transposed, %29, %41 : tensor<2x20xf32>, tensor<2x12xf32> -> tensor<20x12xf32>
    tile.store %31, %arg10[%arg12, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %42 : tensor<20x12xf32>
  }
  tile.store %3, %arg11[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
