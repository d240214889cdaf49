tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?x12xf32> as <name = "u", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?x2x12xf32> as <name = "p", axes = "bthlv", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?x2x20xf32> as <name = "c", axes = "bthlk", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<?x2xf32> as <name = "b", axes = "bthl", heads = 2, role = "input", optional = false>, 
    %arg9: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg10: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg11: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg12: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.0883883461> : tensor<32x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %c1 = arith.constant 1 : index
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
    %8 = tile.load %arg7[%arg13, %c0, %c0] : <?x2x20xf32> -> tensor<32x20xf32>
    %9 = tile.load %arg5[%arg13, %1] : <?x12xf32> -> tensor<32x12xf32>
    %10 = tile.load %arg2[%arg13, %1] : <?x12xf32> -> tensor<32x12xf32>
    %11 = arith.subf %10, %9 : tensor<32x12xf32>
    %12 = tile.load %arg6[%arg13, %c0, %1] : <?x2x12xf32> -> tensor<32x12xf32>
    %13 = arith.mulf %12, %11 : tensor<32x12xf32>
    %14 = arith.mulf %13, %cst_4 : tensor<32x12xf32>
    %15 = math.erf %14 : tensor<32x12xf32>
    %16 = arith.mulf %13, %cst_3 : tensor<32x12xf32>
    %17 = arith.addf %15, %cst_2 : tensor<32x12xf32>
    %18 = arith.mulf %16, %17 : tensor<32x12xf32>
    %19 = arith.subf %11, %18 : tensor<32x12xf32>
    %20 = tile.load %arg6[%arg13, %c1, %1] : <?x2x12xf32> -> tensor<32x12xf32>
    %21 = arith.mulf %20, %19 : tensor<32x12xf32>
    %22 = arith.mulf %21, %cst_4 : tensor<32x12xf32>
    %23 = math.erf %22 : tensor<32x12xf32>
    %24 = arith.mulf %21, %cst_3 : tensor<32x12xf32>
    %25 = arith.addf %23, %cst_2 : tensor<32x12xf32>
    %26 = arith.mulf %24, %25 : tensor<32x12xf32>
    %27 = tile.load %arg8[%arg13, %c0] : <?x2xf32> -> tensor<32xf32>
    %28 = tile.scale_rows %18 by %27 : tensor<32x12xf32>, tensor<32xf32>
    %29 = tile.load %arg7[%arg13, %c1, %c0] : <?x2x20xf32> -> tensor<32x20xf32>
    %30 = tile.load %arg8[%arg13, %c1] : <?x2xf32> -> tensor<32xf32>
    %31 = tile.scale_rows %26 by %30 : tensor<32x12xf32>, tensor<32xf32>
    %32 = tile.load %arg1[%arg13, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %33 = tile.load %arg4[%arg13] : <?xf32> -> tensor<32xf32>
    %34 = tile.dot %32, %arg14, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %35 = arith.truncf %7 : tensor<32xf64> to tensor<32xf32>
    %36 = math.exp %35 : tensor<32xf32>
    %37 = tile.scale_rows %34 by %36 : tensor<32x12xf32>, tensor<32xf32>
    %38 = tile.dot %32, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %39 = tile.decay_matrix %7 at [1], %7 at [3] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %40 = arith.mulf %38, %39 : tensor<32x32xf32>
    %41 = tile.dot %40, %28, %37 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %42 = tile.dot %32, %29 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %43 = arith.mulf %42, %39 : tensor<32x32xf32>
    %44 = tile.dot %43, %31, %41 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %45 = arith.subf %10, %44 : tensor<32x12xf32>
    %46 = tile.scale_rows %45 by %33 : tensor<32x12xf32>, tensor<32xf32>
    %47 = tile.dot %32, %32 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %48 = tile.decay_matrix %7 at [1], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %49 = arith.mulf %47, %48 : tensor<32x32xf32>
    %50 = tile.scale_rows %49 by %33 : tensor<32x32xf32>, tensor<32xf32>
    %51 = tile.solve %50, %46 : tensor<32x32xf32>, tensor<32x12xf32>
    %52 = tile.load %arg0[%arg13, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %53 = tile.dot %52, %arg14, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %54 = tile.scale_rows %53 by %36 : tensor<32x12xf32>, tensor<32xf32>
    %55 = tile.dot %52, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %56 = tile.decay_matrix %7 at [4], %7 at [3] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %57 = arith.mulf %55, %56 : tensor<32x32xf32>
    %58 = tile.dot %57, %28, %54 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %59 = tile.dot %52, %29 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %60 = arith.mulf %59, %56 : tensor<32x32xf32>
    %61 = tile.dot %60, %31, %58 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %62 = tile.dot %52, %32 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %63 = tile.decay_matrix %7 at [4], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %64 = arith.mulf %62, %63 : tensor<32x32xf32>
    %65 = tile.dot %64, %51, %61 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %66 = arith.mulf %65, %cst : tensor<32x12xf32>
    %67 = tile.splat_last %36 : tensor<32xf32> -> tensor<20xf32>
    %68 = tile.scale_rows %arg14 by %67 : tensor<20x12xf32>, tensor<20xf32>
    %69 = tile.splat_last %7 : tensor<32xf64> -> tensor<32xf64>
    %70 = arith.subf %69, %7 : tensor<32xf64>
    %71 = arith.truncf %70 : tensor<32xf64> to tensor<32xf32>
    %72 = math.exp %71 : tensor<32xf32>
    %73 = tile.scale_rows %8 by %72 : tensor<32x20xf32>, tensor<32xf32>
    %74 = tile.scale_rows %29 by %72 : tensor<32x20xf32>, tensor<32xf32>
    %75 = tile.scale_rows %32 by %72 : tensor<32x20xf32>, tensor<32xf32>
    %76 = tile.dot %73 transposed, %28, %68 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %77 = tile.dot %74 transposed, %31, %76 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %78 = tile.dot %75 transposed, %51, %77 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    tile.store %66, %arg11[%arg13, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %78 : tensor<20x12xf32>
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
    %arg6: !tile.view<?x2x12xf32> as <name = "p", axes = "bthlv", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?x2x20xf32> as <name = "c", axes = "bthlk", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<?x2xf32> as <name = "b", axes = "bthl", heads = 2, role = "input", optional = false>, 
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
    %7 = tile.load %arg7[%arg13, %c0, %c0] : <?x2x20xf32> -> tensor<1x20xf32>
    %8 = tile.load %arg5[%arg13, %1] : <?x12xf32> -> tensor<1x12xf32>
    %9 = tile.load %arg2[%arg13, %1] : <?x12xf32> -> tensor<1x12xf32>
    %10 = arith.subf %9, %8 : tensor<1x12xf32>
    %11 = tile.load %arg6[%arg13, %c0, %1] : <?x2x12xf32> -> tensor<1x12xf32>
    %12 = arith.mulf %11, %10 : tensor<1x12xf32>
    %13 = arith.mulf %12, %cst_4 : tensor<1x12xf32>
    %14 = math.erf %13 : tensor<1x12xf32>
    %15 = arith.mulf %12, %cst_3 : tensor<1x12xf32>
    %16 = arith.addf %14, %cst_2 : tensor<1x12xf32>
    %17 = arith.mulf %15, %16 : tensor<1x12xf32>
    %18 = arith.subf %10, %17 : tensor<1x12xf32>
    %19 = tile.load %arg6[%arg13, %c1, %1] : <?x2x12xf32> -> tensor<1x12xf32>
    %20 = arith.mulf %19, %18 : tensor<1x12xf32>
    %21 = arith.mulf %20, %cst_4 : tensor<1x12xf32>
    %22 = math.erf %21 : tensor<1x12xf32>
    %23 = arith.mulf %20, %cst_3 : tensor<1x12xf32>
    %24 = arith.addf %22, %cst_2 : tensor<1x12xf32>
    %25 = arith.mulf %23, %24 : tensor<1x12xf32>
    %26 = tile.load %arg8[%arg13, %c0] : <?x2xf32> -> tensor<1xf32>
    %27 = tile.scale_rows %17 by %26 : tensor<1x12xf32>, tensor<1xf32>
    %28 = tile.load %arg7[%arg13, %c1, %c0] : <?x2x20xf32> -> tensor<1x20xf32>
    %29 = tile.load %arg8[%arg13, %c1] : <?x2xf32> -> tensor<1xf32>
    %30 = tile.scale_rows %25 by %29 : tensor<1x12xf32>, tensor<1xf32>
    %31 = tile.load %arg1[%arg13, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %32 = tile.load %arg4[%arg13] : <?xf32> -> tensor<1xf32>
    %33 = tile.dot %31, %arg14, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %34 = arith.truncf %6 : tensor<1xf64> to tensor<1xf32>
    %35 = math.exp %34 : tensor<1xf32>
    %36 = tile.scale_rows %33 by %35 : tensor<1x12xf32>, tensor<1xf32>
    %37 = arith.subf %9, %36 : tensor<1x12xf32>
    %38 = tile.scale_rows %37 by %32 : tensor<1x12xf32>, tensor<1xf32>
    %39 = tile.load %arg0[%arg13, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %40 = tile.dot %39, %arg14, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %41 = tile.scale_rows %40 by %35 : tensor<1x12xf32>, tensor<1xf32>
    %42 = tile.dot %39, %7 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %43 = tile.dot %42, %27, %41 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %44 = tile.dot %39, %28 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %45 = tile.dot %44, %30, %43 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %46 = tile.dot %39, %31 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %47 = tile.dot %46, %38, %45 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %48 = arith.mulf %47, %cst : tensor<1x12xf32>
    %49 = tile.splat_last %35 : tensor<1xf32> -> tensor<20xf32>
    %50 = tile.scale_rows %arg14 by %49 : tensor<20x12xf32>, tensor<20xf32>
    %51 = tile.interleave %7, %28, %31 : tensor<1x20xf32>, tensor<1x20xf32>, tensor<1x20xf32> -> tensor<3x20xf32>
    %52 = tile.interleave %27, %30, %38 : tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32> -> tensor<3x12xf32>
    %53 = tile.dot %51 transposed, %52, %50 : tensor<3x20xf32>, tensor<3x12xf32> -> tensor<20x12xf32>
    tile.store %48, %arg11[%arg13, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %53 : tensor<20x12xf32>
  }
  tile.store %3, %arg12[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
