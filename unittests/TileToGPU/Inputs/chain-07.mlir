tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?x12xf32> as <name = "u", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?x1x12xf32> as <name = "p", axes = "bthlv", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?x1x20xf32> as <name = "c", axes = "bthlk", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<?x1xf32> as <name = "b", axes = "bthl", heads = 2, role = "input", optional = false>, 
    %arg9: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg10: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg11: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg12: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.0883883461> : tensor<32x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<32x12xf32>
  %cst_3 = arith.constant dense<5.000000e-01> : tensor<32x12xf32>
  %cst_4 = arith.constant dense<0.707106769> : tensor<32x12xf32>
  %cst_5 = arith.constant dense<-1.024000e+03> : tensor<32xf64>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg9[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg13 = %c0 to %0 step %c32 iter_args(%arg14 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg13] : <?xf32> -> tensor<32xf32>
    %5 = arith.extf %4 : tensor<32xf32> to tensor<32xf64>
    %6 = arith.maximumf %5, %cst_5 : tensor<32xf64>
    %7 = tile.gate_sum %6 : tensor<32xf64>
    %8 = tile.load %arg7[%arg13, %c0, %c0] : <?x1x20xf32> -> tensor<32x20xf32>
    %9 = tile.load %arg5[%arg13, %1] : <?x12xf32> -> tensor<32x12xf32>
    %10 = tile.load %arg2[%arg13, %1] : <?x12xf32> -> tensor<32x12xf32>
    %11 = arith.subf %10, %9 : tensor<32x12xf32>
    %12 = tile.load %arg6[%arg13, %c0, %1] : <?x1x12xf32> -> tensor<32x12xf32>
    %13 = arith.mulf %12, %11 : tensor<32x12xf32>
    %14 = arith.mulf %13, %cst_4 : tensor<32x12xf32>
    %15 = math.erf %14 : tensor<32x12xf32>
    %16 = arith.mulf %13, %cst_3 : tensor<32x12xf32>
    %17 = arith.addf %15, %cst_2 : tensor<32x12xf32>
    %18 = arith.mulf %16, %17 : tensor<32x12xf32>
    %19 = tile.load %arg8[%arg13, %c0] : <?x1xf32> -> tensor<32xf32>
    %20 = tile.scale_rows %18 by %19 : tensor<32x12xf32>, tensor<32xf32>
    %21 = tile.load %arg1[%arg13, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %22 = tile.load %arg4[%arg13] : <?xf32> -> tensor<32xf32>
    %23 = tile.dot %21, %arg14, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %24 = arith.truncf %7 : tensor<32xf64> to tensor<32xf32>
    %25 = math.exp %24 : tensor<32xf32>
    %26 = tile.scale_rows %23 by %25 : tensor<32x12xf32>, tensor<32xf32>
    %27 = tile.dot %21, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %28 = tile.decay_matrix %7 at [1], %7 at [3] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %29 = arith.mulf %27, %28 : tensor<32x32xf32>
    %30 = tile.dot %29, %20, %26 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %31 = arith.subf %10, %30 : tensor<32x12xf32>
    %32 = tile.scale_rows %31 by %22 : tensor<32x12xf32>, tensor<32xf32>
    %33 = tile.dot %21, %21 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %34 = tile.decay_matrix %7 at [1], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %35 = arith.mulf %33, %34 : tensor<32x32xf32>
    %36 = tile.scale_rows %35 by %22 : tensor<32x32xf32>, tensor<32xf32>
    %37 = tile.solve %36, %32 : tensor<32x32xf32>, tensor<32x12xf32>
    %38 = tile.load %arg0[%arg13, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %39 = tile.dot %38, %arg14, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %40 = tile.scale_rows %39 by %25 : tensor<32x12xf32>, tensor<32xf32>
    %41 = tile.dot %38, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %42 = tile.decay_matrix %7 at [4], %7 at [3] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %43 = arith.mulf %41, %42 : tensor<32x32xf32>
    %44 = tile.dot %43, %20, %40 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %45 = tile.dot %38, %21 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %46 = tile.decay_matrix %7 at [4], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %47 = arith.mulf %45, %46 : tensor<32x32xf32>
    %48 = tile.dot %47, %37, %44 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %49 = arith.mulf %48, %cst : tensor<32x12xf32>
    %50 = tile.splat_last %25 : tensor<32xf32> -> tensor<20xf32>
    %51 = tile.scale_rows %arg14 by %50 : tensor<20x12xf32>, tensor<20xf32>
    %52 = tile.splat_last %7 : tensor<32xf64> -> tensor<32xf64>
    %53 = arith.subf %52, %7 : tensor<32xf64>
    %54 = arith.truncf %53 : tensor<32xf64> to tensor<32xf32>
    %55 = math.exp %54 : tensor<32xf32>
    %56 = tile.scale_rows %8 by %55 : tensor<32x20xf32>, tensor<32xf32>
    %57 = tile.scale_rows %21 by %55 : tensor<32x20xf32>, tensor<32xf32>
    %58 = tile.dot %56 transposed, %20, %51 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %59 = tile.dot %57 transposed, %37, %58 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    tile.store %49, %arg11[%arg13, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %59 : tensor<20x12xf32>
  }
  tile.store %3, %arg12[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?x12xf32> as <name = "u", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?x1x12xf32> as <name = "p", axes = "bthlv", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?x1x20xf32> as <name = "c", axes = "bthlk", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<?x1xf32> as <name = "b", axes = "bthl", heads = 2, role = "input", optional = false>, 
    %arg9: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg10: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg11: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg12: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.0883883461> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<1x12xf32>
  %cst_3 = arith.constant dense<5.000000e-01> : tensor<1x12xf32>
  %cst_4 = arith.constant dense<0.707106769> : tensor<1x12xf32>
  %cst_5 = arith.constant dense<-1.024000e+03> : tensor<1xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg9[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg13 = %c0 to %0 step %c1 iter_args(%arg14 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg13] : <?xf32> -> tensor<1xf32>
    %5 = arith.extf %4 : tensor<1xf32> to tensor<1xf64>
    %6 = arith.maximumf %5, %cst_5 : tensor<1xf64>
    %7 = tile.load %arg7[%arg13, %c0, %c0] : <?x1x20xf32> -> tensor<1x20xf32>
    %8 = tile.load %arg5[%arg13, %1] : <?x12xf32> -> tensor<1x12xf32>
    %9 = tile.load %arg2[%arg13, %1] : <?x12xf32> -> tensor<1x12xf32>
    %10 = arith.subf %9, %8 : tensor<1x12xf32>
    %11 = tile.load %arg6[%arg13, %c0, %1] : <?x1x12xf32> -> tensor<1x12xf32>
    %12 = arith.mulf %11, %10 : tensor<1x12xf32>
    %13 = arith.mulf %12, %cst_4 : tensor<1x12xf32>
    %14 = math.erf %13 : tensor<1x12xf32>
    %15 = arith.mulf %12, %cst_3 : tensor<1x12xf32>
    %16 = arith.addf %14, %cst_2 : tensor<1x12xf32>
    %17 = arith.mulf %15, %16 : tensor<1x12xf32>
    %18 = tile.load %arg8[%arg13, %c0] : <?x1xf32> -> tensor<1xf32>
    %19 = tile.scale_rows %17 by %18 : tensor<1x12xf32>, tensor<1xf32>
    %20 = tile.load %arg1[%arg13, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %21 = tile.load %arg4[%arg13] : <?xf32> -> tensor<1xf32>
    %22 = tile.dot %20, %arg14, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %23 = arith.truncf %6 : tensor<1xf64> to tensor<1xf32>
    %24 = math.exp %23 : tensor<1xf32>
    %25 = tile.scale_rows %22 by %24 : tensor<1x12xf32>, tensor<1xf32>
    %26 = arith.subf %9, %25 : tensor<1x12xf32>
    %27 = tile.scale_rows %26 by %21 : tensor<1x12xf32>, tensor<1xf32>
    %28 = tile.load %arg0[%arg13, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %29 = tile.dot %28, %arg14, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %30 = tile.scale_rows %29 by %24 : tensor<1x12xf32>, tensor<1xf32>
    %31 = tile.dot %28, %7 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %32 = tile.dot %31, %19, %30 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %33 = tile.dot %28, %20 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %34 = tile.dot %33, %27, %32 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %35 = arith.mulf %34, %cst : tensor<1x12xf32>
    %36 = tile.splat_last %24 : tensor<1xf32> -> tensor<20xf32>
    %37 = tile.scale_rows %arg14 by %36 : tensor<20x12xf32>, tensor<20xf32>
    %38 = tile.interleave %7, %20 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<2x20xf32>
    %39 = tile.interleave %19, %27 : tensor<1x12xf32>, tensor<1x12xf32> -> tensor<2x12xf32>
    %40 = tile.dot %38 transposed, %39, %37 : tensor<2x20xf32>, tensor<2x12xf32> -> tensor<20x12xf32>
    tile.store %35, %arg11[%arg13, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %40 : tensor<20x12xf32>
  }
  tile.store %3, %arg12[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
