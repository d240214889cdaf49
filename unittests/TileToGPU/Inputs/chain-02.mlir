tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bhtk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bhtk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bhtv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bht", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bht", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg6: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg7: !tile.view<?x12xf32> as <name = "o", axes = "bhtv", heads = 2, role = "output", optional = false>, 
    %arg8: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %cst_1 = arith.constant dense<-1.024000e+03> : tensor<32xf64>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg5[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg9 = %c0 to %0 step %c32 iter_args(%arg10 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg9] : <?xf32> -> tensor<32xf32>
    %5 = arith.extf %4 : tensor<32xf32> to tensor<32xf64>
    %6 = arith.maximumf %5, %cst_1 : tensor<32xf64>
    %7 = tile.gate_sum %6 : tensor<32xf64>
    %8 = tile.load %arg1[%arg9, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %9 = tile.load %arg4[%arg9] : <?xf32> -> tensor<32xf32>
    %10 = tile.load %arg2[%arg9, %1] : <?x12xf32> -> tensor<32x12xf32>
    %11 = tile.dot %8, %arg10, %cst_0 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %12 = arith.truncf %7 : tensor<32xf64> to tensor<32xf32>
    %13 = math.exp %12 : tensor<32xf32>
    %14 = tile.scale_rows %11 by %13 : tensor<32x12xf32>, tensor<32xf32>
    %15 = arith.subf %10, %14 : tensor<32x12xf32>
    %16 = tile.scale_rows %15 by %9 : tensor<32x12xf32>, tensor<32xf32>
    %17 = tile.dot %8, %8 transposed, %cst : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %18 = tile.decay_matrix %7 at [1], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %19 = arith.mulf %17, %18 : tensor<32x32xf32>
    %20 = tile.scale_rows %19 by %9 : tensor<32x32xf32>, tensor<32xf32>
    %21 = tile.solve %20, %16 : tensor<32x32xf32>, tensor<32x12xf32>
    %22 = tile.load %arg0[%arg9, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %23 = tile.dot %22, %arg10, %cst_0 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %24 = tile.scale_rows %23 by %13 : tensor<32x12xf32>, tensor<32xf32>
    %25 = tile.dot %22, %8 transposed, %cst : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %26 = tile.decay_matrix %7 at [3], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %27 = arith.mulf %25, %26 : tensor<32x32xf32>
    %28 = tile.dot %27, %21, %24 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %29 = tile.splat_last %13 : tensor<32xf32> -> tensor<20xf32>
    %30 = tile.scale_rows %arg10 by %29 : tensor<20x12xf32>, tensor<20xf32>
    %31 = tile.splat_last %7 : tensor<32xf64> -> tensor<32xf64>
    %32 = arith.subf %31, %7 : tensor<32xf64>
    %33 = arith.truncf %32 : tensor<32xf64> to tensor<32xf32>
    %34 = math.exp %33 : tensor<32xf32>
    %35 = tile.scale_rows %8 by %34 : tensor<32x20xf32>, tensor<32xf32>
    %36 = tile.dot %35 transposed, %21, %30 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    tile.store %28, %arg7[%arg9, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %36 : tensor<20x12xf32>
  }
  tile.store %3, %arg8[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bhtk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bhtk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bhtv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bht", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bht", heads = 2, role = "input", optional = false>, 
    %arg5: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg6: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg7: !tile.view<?x12xf32> as <name = "o", axes = "bhtv", heads = 2, role = "output", optional = false>, 
    %arg8: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_1 = arith.constant dense<-1.024000e+03> : tensor<1xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg5[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg9 = %c0 to %0 step %c1 iter_args(%arg10 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg9] : <?xf32> -> tensor<1xf32>
    %5 = arith.extf %4 : tensor<1xf32> to tensor<1xf64>
    %6 = arith.maximumf %5, %cst_1 : tensor<1xf64>
    %7 = tile.load %arg1[%arg9, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %8 = tile.load %arg4[%arg9] : <?xf32> -> tensor<1xf32>
    %9 = tile.load %arg2[%arg9, %1] : <?x12xf32> -> tensor<1x12xf32>
    %10 = tile.dot %7, %arg10, %cst_0 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %11 = arith.truncf %6 : tensor<1xf64> to tensor<1xf32>
    %12 = math.exp %11 : tensor<1xf32>
    %13 = tile.scale_rows %10 by %12 : tensor<1x12xf32>, tensor<1xf32>
    %14 = arith.subf %9, %13 : tensor<1x12xf32>
    %15 = tile.scale_rows %14 by %8 : tensor<1x12xf32>, tensor<1xf32>
    %16 = tile.load %arg0[%arg9, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %17 = tile.dot %16, %arg10, %cst_0 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %18 = tile.scale_rows %17 by %12 : tensor<1x12xf32>, tensor<1xf32>
    %19 = tile.dot %16, %7 transposed, %cst : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %20 = tile.dot %19, %15, %18 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %21 = tile.splat_last %12 : tensor<1xf32> -> tensor<20xf32>
    %22 = tile.scale_rows %arg10 by %21 : tensor<20x12xf32>, tensor<20xf32>
    %23 = tile.dot %7 transposed, %15, %22 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    tile.store %20, %arg7[%arg9, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %23 : tensor<20x12xf32>
  }
  tile.store %3, %arg8[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
