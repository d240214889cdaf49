tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?x12xf32> as <name = "u", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?x4x12xf32> as <name = "p", axes = "bthlv", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?x4x20xf32> as <name = "c", axes = "bthlk", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<?x4xf32> as <name = "b", axes = "bthl", heads = 2, role = "input", optional = false>, 
    %arg9: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg10: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg11: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg12: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.0883883461> : tensor<32x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
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
    %8 = tile.load %arg7[%arg13, %c0, %c0] : <?x4x20xf32> -> tensor<32x20xf32>
    %9 = tile.load %arg5[%arg13, %1] : <?x12xf32> -> tensor<32x12xf32>
    %10 = tile.load %arg2[%arg13, %1] : <?x12xf32> -> tensor<32x12xf32>
    %11 = arith.subf %10, %9 : tensor<32x12xf32>
    %12 = tile.load %arg6[%arg13, %c0, %1] : <?x4x12xf32> -> tensor<32x12xf32>
    %13 = arith.mulf %12, %11 : tensor<32x12xf32>
    %14 = arith.mulf %13, %cst_4 : tensor<32x12xf32>
    %15 = math.erf %14 : tensor<32x12xf32>
    %16 = arith.mulf %13, %cst_3 : tensor<32x12xf32>
    %17 = arith.addf %15, %cst_2 : tensor<32x12xf32>
    %18 = arith.mulf %16, %17 : tensor<32x12xf32>
    %19 = arith.subf %11, %18 : tensor<32x12xf32>
    %20 = tile.load %arg6[%arg13, %c1, %1] : <?x4x12xf32> -> tensor<32x12xf32>
    %21 = arith.mulf %20, %19 : tensor<32x12xf32>
    %22 = arith.mulf %21, %cst_4 : tensor<32x12xf32>
    %23 = math.erf %22 : tensor<32x12xf32>
    %24 = arith.mulf %21, %cst_3 : tensor<32x12xf32>
    %25 = arith.addf %23, %cst_2 : tensor<32x12xf32>
    %26 = arith.mulf %24, %25 : tensor<32x12xf32>
    %27 = arith.subf %19, %26 : tensor<32x12xf32>
    %28 = tile.load %arg6[%arg13, %c2, %1] : <?x4x12xf32> -> tensor<32x12xf32>
    %29 = arith.mulf %28, %27 : tensor<32x12xf32>
    %30 = arith.mulf %29, %cst_4 : tensor<32x12xf32>
    %31 = math.erf %30 : tensor<32x12xf32>
    %32 = arith.mulf %29, %cst_3 : tensor<32x12xf32>
    %33 = arith.addf %31, %cst_2 : tensor<32x12xf32>
    %34 = arith.mulf %32, %33 : tensor<32x12xf32>
    %35 = arith.subf %27, %34 : tensor<32x12xf32>
    %36 = tile.load %arg6[%arg13, %c3, %1] : <?x4x12xf32> -> tensor<32x12xf32>
    %37 = arith.mulf %36, %35 : tensor<32x12xf32>
    %38 = arith.mulf %37, %cst_4 : tensor<32x12xf32>
    %39 = math.erf %38 : tensor<32x12xf32>
    %40 = arith.mulf %37, %cst_3 : tensor<32x12xf32>
    %41 = arith.addf %39, %cst_2 : tensor<32x12xf32>
    %42 = arith.mulf %40, %41 : tensor<32x12xf32>
    %43 = tile.load %arg8[%arg13, %c0] : <?x4xf32> -> tensor<32xf32>
    %44 = tile.scale_rows %18 by %43 : tensor<32x12xf32>, tensor<32xf32>
    %45 = tile.load %arg7[%arg13, %c1, %c0] : <?x4x20xf32> -> tensor<32x20xf32>
    %46 = tile.load %arg8[%arg13, %c1] : <?x4xf32> -> tensor<32xf32>
    %47 = tile.scale_rows %26 by %46 : tensor<32x12xf32>, tensor<32xf32>
    %48 = tile.load %arg7[%arg13, %c2, %c0] : <?x4x20xf32> -> tensor<32x20xf32>
    %49 = tile.load %arg8[%arg13, %c2] : <?x4xf32> -> tensor<32xf32>
    %50 = tile.scale_rows %34 by %49 : tensor<32x12xf32>, tensor<32xf32>
    %51 = tile.load %arg7[%arg13, %c3, %c0] : <?x4x20xf32> -> tensor<32x20xf32>
    %52 = tile.load %arg8[%arg13, %c3] : <?x4xf32> -> tensor<32xf32>
    %53 = tile.scale_rows %42 by %52 : tensor<32x12xf32>, tensor<32xf32>
    %54 = tile.load %arg1[%arg13, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %55 = tile.load %arg4[%arg13] : <?xf32> -> tensor<32xf32>
    %56 = tile.dot %54, %arg14, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %57 = arith.truncf %7 : tensor<32xf64> to tensor<32xf32>
    %58 = math.exp %57 : tensor<32xf32>
    %59 = tile.scale_rows %56 by %58 : tensor<32x12xf32>, tensor<32xf32>
    %60 = tile.dot %54, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %61 = tile.decay_matrix %7 at [1], %7 at [3] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %62 = arith.mulf %60, %61 : tensor<32x32xf32>
    %63 = tile.dot %62, %44, %59 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %64 = tile.dot %54, %45 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %65 = arith.mulf %64, %61 : tensor<32x32xf32>
    %66 = tile.dot %65, %47, %63 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %67 = tile.dot %54, %48 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %68 = arith.mulf %67, %61 : tensor<32x32xf32>
    %69 = tile.dot %68, %50, %66 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %70 = tile.dot %54, %51 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %71 = arith.mulf %70, %61 : tensor<32x32xf32>
    %72 = tile.dot %71, %53, %69 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %73 = arith.subf %10, %72 : tensor<32x12xf32>
    %74 = tile.scale_rows %73 by %55 : tensor<32x12xf32>, tensor<32xf32>
    %75 = tile.dot %54, %54 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %76 = tile.decay_matrix %7 at [1], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %77 = arith.mulf %75, %76 : tensor<32x32xf32>
    %78 = tile.scale_rows %77 by %55 : tensor<32x32xf32>, tensor<32xf32>
    %79 = tile.solve %78, %74 : tensor<32x32xf32>, tensor<32x12xf32>
    %80 = tile.load %arg0[%arg13, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %81 = tile.dot %80, %arg14, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %82 = tile.scale_rows %81 by %58 : tensor<32x12xf32>, tensor<32xf32>
    %83 = tile.dot %80, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %84 = tile.decay_matrix %7 at [4], %7 at [3] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %85 = arith.mulf %83, %84 : tensor<32x32xf32>
    %86 = tile.dot %85, %44, %82 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %87 = tile.dot %80, %45 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %88 = arith.mulf %87, %84 : tensor<32x32xf32>
    %89 = tile.dot %88, %47, %86 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %90 = tile.dot %80, %48 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %91 = arith.mulf %90, %84 : tensor<32x32xf32>
    %92 = tile.dot %91, %50, %89 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %93 = tile.dot %80, %51 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %94 = arith.mulf %93, %84 : tensor<32x32xf32>
    %95 = tile.dot %94, %53, %92 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %96 = tile.dot %80, %54 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %97 = tile.decay_matrix %7 at [4], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %98 = arith.mulf %96, %97 : tensor<32x32xf32>
    %99 = tile.dot %98, %79, %95 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %100 = arith.mulf %99, %cst : tensor<32x12xf32>
    %101 = tile.splat_last %58 : tensor<32xf32> -> tensor<20xf32>
    %102 = tile.scale_rows %arg14 by %101 : tensor<20x12xf32>, tensor<20xf32>
    %103 = tile.splat_last %7 : tensor<32xf64> -> tensor<32xf64>
    %104 = arith.subf %103, %7 : tensor<32xf64>
    %105 = arith.truncf %104 : tensor<32xf64> to tensor<32xf32>
    %106 = math.exp %105 : tensor<32xf32>
    %107 = tile.scale_rows %8 by %106 : tensor<32x20xf32>, tensor<32xf32>
    %108 = tile.scale_rows %45 by %106 : tensor<32x20xf32>, tensor<32xf32>
    %109 = tile.scale_rows %48 by %106 : tensor<32x20xf32>, tensor<32xf32>
    %110 = tile.scale_rows %51 by %106 : tensor<32x20xf32>, tensor<32xf32>
    %111 = tile.scale_rows %54 by %106 : tensor<32x20xf32>, tensor<32xf32>
    %112 = tile.dot %107 transposed, %44, %102 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %113 = tile.dot %108 transposed, %47, %112 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %114 = tile.dot %109 transposed, %50, %113 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %115 = tile.dot %110 transposed, %53, %114 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    %116 = tile.dot %111 transposed, %79, %115 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    tile.store %100, %arg11[%arg13, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %116 : tensor<20x12xf32>
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
    %arg6: !tile.view<?x4x12xf32> as <name = "p", axes = "bthlv", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<?x4x20xf32> as <name = "c", axes = "bthlk", heads = 2, role = "input", optional = false>, 
    %arg8: !tile.view<?x4xf32> as <name = "b", axes = "bthl", heads = 2, role = "input", optional = false>, 
    %arg9: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg10: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg11: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg12: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.0883883461> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
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
    %7 = tile.load %arg7[%arg13, %c0, %c0] : <?x4x20xf32> -> tensor<1x20xf32>
    %8 = tile.load %arg5[%arg13, %1] : <?x12xf32> -> tensor<1x12xf32>
    %9 = tile.load %arg2[%arg13, %1] : <?x12xf32> -> tensor<1x12xf32>
    %10 = arith.subf %9, %8 : tensor<1x12xf32>
    %11 = tile.load %arg6[%arg13, %c0, %1] : <?x4x12xf32> -> tensor<1x12xf32>
    %12 = arith.mulf %11, %10 : tensor<1x12xf32>
    %13 = arith.mulf %12, %cst_4 : tensor<1x12xf32>
    %14 = math.erf %13 : tensor<1x12xf32>
    %15 = arith.mulf %12, %cst_3 : tensor<1x12xf32>
    %16 = arith.addf %14, %cst_2 : tensor<1x12xf32>
    %17 = arith.mulf %15, %16 : tensor<1x12xf32>
    %18 = arith.subf %10, %17 : tensor<1x12xf32>
    %19 = tile.load %arg6[%arg13, %c1, %1] : <?x4x12xf32> -> tensor<1x12xf32>
    %20 = arith.mulf %19, %18 : tensor<1x12xf32>
    %21 = arith.mulf %20, %cst_4 : tensor<1x12xf32>
    %22 = math.erf %21 : tensor<1x12xf32>
    %23 = arith.mulf %20, %cst_3 : tensor<1x12xf32>
    %24 = arith.addf %22, %cst_2 : tensor<1x12xf32>
    %25 = arith.mulf %23, %24 : tensor<1x12xf32>
    %26 = arith.subf %18, %25 : tensor<1x12xf32>
    %27 = tile.load %arg6[%arg13, %c2, %1] : <?x4x12xf32> -> tensor<1x12xf32>
    %28 = arith.mulf %27, %26 : tensor<1x12xf32>
    %29 = arith.mulf %28, %cst_4 : tensor<1x12xf32>
    %30 = math.erf %29 : tensor<1x12xf32>
    %31 = arith.mulf %28, %cst_3 : tensor<1x12xf32>
    %32 = arith.addf %30, %cst_2 : tensor<1x12xf32>
    %33 = arith.mulf %31, %32 : tensor<1x12xf32>
    %34 = arith.subf %26, %33 : tensor<1x12xf32>
    %35 = tile.load %arg6[%arg13, %c3, %1] : <?x4x12xf32> -> tensor<1x12xf32>
    %36 = arith.mulf %35, %34 : tensor<1x12xf32>
    %37 = arith.mulf %36, %cst_4 : tensor<1x12xf32>
    %38 = math.erf %37 : tensor<1x12xf32>
    %39 = arith.mulf %36, %cst_3 : tensor<1x12xf32>
    %40 = arith.addf %38, %cst_2 : tensor<1x12xf32>
    %41 = arith.mulf %39, %40 : tensor<1x12xf32>
    %42 = tile.load %arg8[%arg13, %c0] : <?x4xf32> -> tensor<1xf32>
    %43 = tile.scale_rows %17 by %42 : tensor<1x12xf32>, tensor<1xf32>
    %44 = tile.load %arg7[%arg13, %c1, %c0] : <?x4x20xf32> -> tensor<1x20xf32>
    %45 = tile.load %arg8[%arg13, %c1] : <?x4xf32> -> tensor<1xf32>
    %46 = tile.scale_rows %25 by %45 : tensor<1x12xf32>, tensor<1xf32>
    %47 = tile.load %arg7[%arg13, %c2, %c0] : <?x4x20xf32> -> tensor<1x20xf32>
    %48 = tile.load %arg8[%arg13, %c2] : <?x4xf32> -> tensor<1xf32>
    %49 = tile.scale_rows %33 by %48 : tensor<1x12xf32>, tensor<1xf32>
    %50 = tile.load %arg7[%arg13, %c3, %c0] : <?x4x20xf32> -> tensor<1x20xf32>
    %51 = tile.load %arg8[%arg13, %c3] : <?x4xf32> -> tensor<1xf32>
    %52 = tile.scale_rows %41 by %51 : tensor<1x12xf32>, tensor<1xf32>
    %53 = tile.load %arg1[%arg13, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %54 = tile.load %arg4[%arg13] : <?xf32> -> tensor<1xf32>
    %55 = tile.dot %53, %arg14, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %56 = arith.truncf %6 : tensor<1xf64> to tensor<1xf32>
    %57 = math.exp %56 : tensor<1xf32>
    %58 = tile.scale_rows %55 by %57 : tensor<1x12xf32>, tensor<1xf32>
    %59 = arith.subf %9, %58 : tensor<1x12xf32>
    %60 = tile.scale_rows %59 by %54 : tensor<1x12xf32>, tensor<1xf32>
    %61 = tile.load %arg0[%arg13, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %62 = tile.dot %61, %arg14, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %63 = tile.scale_rows %62 by %57 : tensor<1x12xf32>, tensor<1xf32>
    %64 = tile.dot %61, %7 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %65 = tile.dot %64, %43, %63 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %66 = tile.dot %61, %44 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %67 = tile.dot %66, %46, %65 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %68 = tile.dot %61, %47 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %69 = tile.dot %68, %49, %67 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %70 = tile.dot %61, %50 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %71 = tile.dot %70, %52, %69 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %72 = tile.dot %61, %53 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %73 = tile.dot %72, %60, %71 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %74 = arith.mulf %73, %cst : tensor<1x12xf32>
    %75 = tile.splat_last %57 : tensor<1xf32> -> tensor<20xf32>
    %76 = tile.scale_rows %arg14 by %75 : tensor<20x12xf32>, tensor<20xf32>
    %77 = tile.interleave %7, %44, %47, %50, %53 : tensor<1x20xf32>, tensor<1x20xf32>, tensor<1x20xf32>, tensor<1x20xf32>, tensor<1x20xf32> -> tensor<5x20xf32>
    %78 = tile.interleave %43, %46, %49, %52, %60 : tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32> -> tensor<5x12xf32>
    %79 = tile.dot %77 transposed, %78, %76 : tensor<5x20xf32>, tensor<5x12xf32> -> tensor<20x12xf32>
    tile.store %74, %arg11[%arg13, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %79 : tensor<20x12xf32>
  }
  tile.store %3, %arg12[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
