tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_gamma", axes = "h", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg5: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg6: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg7: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<1.250000e-01> : tensor<32x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %cst_2 = arith.constant dense<-1.024000e+03> : tensor<32xf64>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg4[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg8 = %c0 to %0 step %c32 iter_args(%arg9 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg8] : <?xf32> -> tensor<32xf32>
    %5 = arith.extf %4 : tensor<32xf32> to tensor<32xf64>
    %6 = arith.maximumf %5, %cst_2 : tensor<32xf64>
    %7 = tile.gate_sum %6 : tensor<32xf64>
    %8 = tile.load %arg1[%arg8, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %9 = tile.load %arg2[%arg8, %1] : <?x12xf32> -> tensor<32x12xf32>
    %10 = tile.load %arg0[%arg8, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %11 = tile.dot %10, %arg9, %cst_1 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %12 = arith.truncf %7 : tensor<32xf64> to tensor<32xf32>
    %13 = math.exp %12 : tensor<32xf32>
    %14 = tile.scale_rows %11 by %13 : tensor<32x12xf32>, tensor<32xf32>
    %15 = tile.dot %10, %8 transposed, %cst_0 : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %16 = tile.decay_matrix %7 at [2], %7 at [1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %17 = arith.mulf %15, %16 : tensor<32x32xf32>
    %18 = tile.dot %17, %9, %14 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %19 = arith.mulf %18, %cst : tensor<32x12xf32>
    %20 = tile.splat_last %13 : tensor<32xf32> -> tensor<20xf32>
    %21 = tile.scale_rows %arg9 by %20 : tensor<20x12xf32>, tensor<20xf32>
    %22 = tile.splat_last %7 : tensor<32xf64> -> tensor<32xf64>
    %23 = arith.subf %22, %7 : tensor<32xf64>
    %24 = arith.truncf %23 : tensor<32xf64> to tensor<32xf32>
    %25 = math.exp %24 : tensor<32xf32>
    %26 = tile.scale_rows %8 by %25 : tensor<32x20xf32>, tensor<32xf32>
    %27 = tile.dot %26 transposed, %9, %21 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    tile.store %19, %arg6[%arg8, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %27 : tensor<20x12xf32>
  }
  tile.store %3, %arg7[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<?xf32> as <name = "log_gamma", axes = "h", heads = 2, role = "input", optional = false>, 
    %arg4: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg5: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg6: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg7: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<1.250000e-01> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_2 = arith.constant dense<-1.024000e+03> : tensor<1xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg4[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg8 = %c0 to %0 step %c1 iter_args(%arg9 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg8] : <?xf32> -> tensor<1xf32>
    %5 = arith.extf %4 : tensor<1xf32> to tensor<1xf64>
    %6 = arith.maximumf %5, %cst_2 : tensor<1xf64>
    %7 = tile.load %arg1[%arg8, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %8 = tile.load %arg2[%arg8, %1] : <?x12xf32> -> tensor<1x12xf32>
    %9 = tile.load %arg0[%arg8, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %10 = tile.dot %9, %arg9, %cst_1 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %11 = arith.truncf %6 : tensor<1xf64> to tensor<1xf32>
    %12 = math.exp %11 : tensor<1xf32>
    %13 = tile.scale_rows %10 by %12 : tensor<1x12xf32>, tensor<1xf32>
    %14 = tile.dot %9, %7 transposed, %cst_0 : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %15 = tile.dot %14, %8, %13 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %16 = arith.mulf %15, %cst : tensor<1x12xf32>
    %17 = tile.splat_last %12 : tensor<1xf32> -> tensor<20xf32>
    %18 = tile.scale_rows %arg9 by %17 : tensor<20x12xf32>, tensor<20xf32>
    %19 = tile.dot %7 transposed, %8, %18 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    tile.store %16, %arg6[%arg8, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %19 : tensor<20x12xf32>
  }
  tile.store %3, %arg7[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
