tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "A_log", axes = "h", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "dt", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?xf32> as <name = "dt_bias", axes = "h", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?xf32> as <name = "beta_logit", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg8: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg9: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg10: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<1.250000e-01> : tensor<32x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<32xf32>
  %cst_3 = arith.constant dense<9.99999997E-7> : tensor<32xf32>
  %cst_4 = arith.constant dense<-1.024000e+03> : tensor<32xf64>
  %cst_5 = arith.constant dense<0.000000e+00> : tensor<32xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg7[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg11 = %c0 to %0 step %c32 iter_args(%arg12 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg11] : <?xf32> -> tensor<32xf32>
    %5 = math.exp %4 : tensor<32xf32>
    %6 = arith.negf %5 : tensor<32xf32>
    %7 = tile.load %arg4[%arg11] : <?xf32> -> tensor<32xf32>
    %8 = tile.load %arg5[%arg11] : <?xf32> -> tensor<32xf32>
    %9 = arith.addf %7, %8 : tensor<32xf32>
    %10 = arith.maximumf %9, %cst_5 : tensor<32xf32>
    %11 = math.absf %9 : tensor<32xf32>
    %12 = arith.negf %11 : tensor<32xf32>
    %13 = math.exp %12 : tensor<32xf32>
    %14 = math.log1p %13 : tensor<32xf32>
    %15 = arith.addf %10, %14 : tensor<32xf32>
    %16 = arith.mulf %6, %15 : tensor<32xf32>
    %17 = tile.mask_rows %16 from %arg11 : tensor<32xf32>
    %18 = arith.extf %17 : tensor<32xf32> to tensor<32xf64>
    %19 = arith.maximumf %18, %cst_4 : tensor<32xf64>
    %20 = tile.gate_sum %19 : tensor<32xf64>
    %21 = tile.load %arg1[%arg11, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %22 = arith.mulf %21, %21 : tensor<32x20xf32>
    %23 = tile.sum_columns %22 : tensor<32x20xf32> -> tensor<32xf32>
    %24 = arith.addf %23, %cst_3 : tensor<32xf32>
    %25 = math.rsqrt %24 : tensor<32xf32>
    %26 = tile.scale_rows %21 by %25 : tensor<32x20xf32>, tensor<32xf32>
    %27 = tile.load %arg6[%arg11] : <?xf32> -> tensor<32xf32>
    %28 = arith.cmpf olt, %27, %cst_5 : tensor<32xf32>
    %29 = math.absf %27 : tensor<32xf32>
    %30 = arith.negf %29 : tensor<32xf32>
    %31 = math.exp %30 : tensor<32xf32>
    %32 = arith.select %28, %31, %cst_2 : tensor<32xi1>, tensor<32xf32>
    %33 = arith.addf %31, %cst_2 : tensor<32xf32>
    %34 = arith.divf %32, %33 : tensor<32xf32>
    %35 = tile.mask_rows %34 from %arg11 : tensor<32xf32>
    %36 = tile.load %arg2[%arg11, %1] : <?x12xf32> -> tensor<32x12xf32>
    %37 = tile.dot %26, %arg12, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %38 = arith.truncf %20 : tensor<32xf64> to tensor<32xf32>
    %39 = math.exp %38 : tensor<32xf32>
    %40 = tile.scale_rows %37 by %39 : tensor<32x12xf32>, tensor<32xf32>
    %41 = arith.subf %36, %40 : tensor<32x12xf32>
    %42 = tile.scale_rows %41 by %35 : tensor<32x12xf32>, tensor<32xf32>
    %43 = tile.dot %26, %26 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %44 = tile.decay_matrix %20 at [1], %20 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %45 = arith.mulf %43, %44 : tensor<32x32xf32>
    %46 = tile.scale_rows %45 by %35 : tensor<32x32xf32>, tensor<32xf32>
    %47 = tile.solve %46, %42 : tensor<32x32xf32>, tensor<32x12xf32>
    %48 = tile.load %arg0[%arg11, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %49 = arith.mulf %48, %48 : tensor<32x20xf32>
    %50 = tile.sum_columns %49 : tensor<32x20xf32> -> tensor<32xf32>
    %51 = arith.addf %50, %cst_3 : tensor<32xf32>
    %52 = math.rsqrt %51 : tensor<32xf32>
    %53 = tile.scale_rows %48 by %52 : tensor<32x20xf32>, tensor<32xf32>
    %54 = tile.dot %53, %arg12, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %55 = tile.scale_rows %54 by %39 : tensor<32x12xf32>, tensor<32xf32>
    %56 = tile.dot %53, %26 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %57 = tile.decay_matrix %20 at [3], %20 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %58 = arith.mulf %56, %57 : tensor<32x32xf32>
    %59 = tile.dot %58, %47, %55 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %60 = arith.mulf %59, %cst : tensor<32x12xf32>
    %61 = tile.splat_last %39 : tensor<32xf32> -> tensor<20xf32>
    %62 = tile.scale_rows %arg12 by %61 : tensor<20x12xf32>, tensor<20xf32>
    %63 = tile.splat_last %20 : tensor<32xf64> -> tensor<32xf64>
    %64 = arith.subf %63, %20 : tensor<32xf64>
    %65 = arith.truncf %64 : tensor<32xf64> to tensor<32xf32>
    %66 = math.exp %65 : tensor<32xf32>
    %67 = tile.scale_rows %26 by %66 : tensor<32x20xf32>, tensor<32xf32>
    %68 = tile.dot %67 transposed, %47, %62 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    tile.store %60, %arg9[%arg11, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %68 : tensor<20x12xf32>
  }
  tile.store %3, %arg10[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "A_log", axes = "h", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "dt", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<?xf32> as <name = "dt_bias", axes = "h", heads = 2, role = "input", optional = false>, 
    %arg6: !tile.view<?xf32> as <name = "beta_logit", axes = "bth", heads = 2, role = "input", optional = false>, 
    %arg7: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg8: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg9: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg10: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<1.250000e-01> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<1xf32>
  %cst_3 = arith.constant dense<9.99999997E-7> : tensor<1xf32>
  %cst_4 = arith.constant dense<-1.024000e+03> : tensor<1xf64>
  %cst_5 = arith.constant dense<0.000000e+00> : tensor<1xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg7[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg11 = %c0 to %0 step %c1 iter_args(%arg12 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg11] : <?xf32> -> tensor<1xf32>
    %5 = math.exp %4 : tensor<1xf32>
    %6 = arith.negf %5 : tensor<1xf32>
    %7 = tile.load %arg4[%arg11] : <?xf32> -> tensor<1xf32>
    %8 = tile.load %arg5[%arg11] : <?xf32> -> tensor<1xf32>
    %9 = arith.addf %7, %8 : tensor<1xf32>
    %10 = arith.maximumf %9, %cst_5 : tensor<1xf32>
    %11 = math.absf %9 : tensor<1xf32>
    %12 = arith.negf %11 : tensor<1xf32>
    %13 = math.exp %12 : tensor<1xf32>
    %14 = math.log1p %13 : tensor<1xf32>
    %15 = arith.addf %10, %14 : tensor<1xf32>
    %16 = arith.mulf %6, %15 : tensor<1xf32>
    %17 = arith.extf %16 : tensor<1xf32> to tensor<1xf64>
    %18 = arith.maximumf %17, %cst_4 : tensor<1xf64>
    %19 = tile.load %arg1[%arg11, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %20 = arith.mulf %19, %19 : tensor<1x20xf32>
    %21 = tile.sum_columns %20 : tensor<1x20xf32> -> tensor<1xf32>
    %22 = arith.addf %21, %cst_3 : tensor<1xf32>
    %23 = math.rsqrt %22 : tensor<1xf32>
    %24 = tile.scale_rows %19 by %23 : tensor<1x20xf32>, tensor<1xf32>
    %25 = tile.load %arg6[%arg11] : <?xf32> -> tensor<1xf32>
    %26 = arith.cmpf olt, %25, %cst_5 : tensor<1xf32>
    %27 = math.absf %25 : tensor<1xf32>
    %28 = arith.negf %27 : tensor<1xf32>
    %29 = math.exp %28 : tensor<1xf32>
    %30 = arith.select %26, %29, %cst_2 : tensor<1xi1>, tensor<1xf32>
    %31 = arith.addf %29, %cst_2 : tensor<1xf32>
    %32 = arith.divf %30, %31 : tensor<1xf32>
    %33 = tile.load %arg2[%arg11, %1] : <?x12xf32> -> tensor<1x12xf32>
    %34 = tile.dot %24, %arg12, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %35 = arith.truncf %18 : tensor<1xf64> to tensor<1xf32>
    %36 = math.exp %35 : tensor<1xf32>
    %37 = tile.scale_rows %34 by %36 : tensor<1x12xf32>, tensor<1xf32>
    %38 = arith.subf %33, %37 : tensor<1x12xf32>
    %39 = tile.scale_rows %38 by %32 : tensor<1x12xf32>, tensor<1xf32>
    %40 = tile.load %arg0[%arg11, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %41 = arith.mulf %40, %40 : tensor<1x20xf32>
    %42 = tile.sum_columns %41 : tensor<1x20xf32> -> tensor<1xf32>
    %43 = arith.addf %42, %cst_3 : tensor<1xf32>
    %44 = math.rsqrt %43 : tensor<1xf32>
    %45 = tile.scale_rows %40 by %44 : tensor<1x20xf32>, tensor<1xf32>
    %46 = tile.dot %45, %arg12, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %47 = tile.scale_rows %46 by %36 : tensor<1x12xf32>, tensor<1xf32>
    %48 = tile.dot %45, %24 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %49 = tile.dot %48, %39, %47 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %50 = arith.mulf %49, %cst : tensor<1x12xf32>
    %51 = tile.splat_last %36 : tensor<1xf32> -> tensor<20xf32>
    %52 = tile.scale_rows %arg12 by %51 : tensor<20x12xf32>, tensor<20xf32>
    %53 = tile.dot %24 transposed, %39, %52 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    tile.store %50, %arg9[%arg11, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %53 : tensor<20x12xf32>
  }
  tile.store %3, %arg10[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
