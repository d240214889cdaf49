tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg4: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg5: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg6: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 32 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x12xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<32xf64>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg3[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg7 = %c0 to %0 step %c32 iter_args(%arg8 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg1[%arg7, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %5 = tile.load %arg2[%arg7, %1] : <?x12xf32> -> tensor<32x12xf32>
    %6 = tile.load %arg0[%arg7, %c0] : <?x20xf32> -> tensor<32x20xf32>
    %7 = tile.dot %6, %arg8, %cst_0 : tensor<32x20xf32>, tensor<20x12xf32> -> tensor<32x12xf32>
    %8 = tile.dot %6, %4 transposed, %cst : tensor<32x20xf32>, tensor<32x20xf32> -> tensor<32x32xf32>
    %9 = tile.decay_matrix %cst_1 at [1], %cst_1 at [0] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
    %10 = arith.mulf %8, %9 : tensor<32x32xf32>
    %11 = tile.dot %10, %5, %7 : tensor<32x32xf32>, tensor<32x12xf32> -> tensor<32x12xf32>
    %12 = tile.dot %4 transposed, %5, %arg8 : tensor<32x20xf32>, tensor<32x12xf32> -> tensor<20x12xf32>
    tile.store %11, %arg5[%arg7, %1] : tensor<32x12xf32>, <?x12xf32>
    scf.yield %12 : tensor<20x12xf32>
  }
  tile.store %3, %arg6[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>, 
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>, 
    %arg3: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>, 
    %arg4: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>, 
    %arg5: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>, 
    %arg6: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg3[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg7 = %c0 to %0 step %c1 iter_args(%arg8 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg1[%arg7, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %5 = tile.load %arg2[%arg7, %1] : <?x12xf32> -> tensor<1x12xf32>
    %6 = tile.load %arg0[%arg7, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %7 = tile.dot %6, %arg8, %cst_0 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %8 = tile.dot %6, %4 transposed, %cst : tensor<1x20xf32>, tensor<1x20xf32> -> tensor<1x1xf32>
    %9 = tile.dot %8, %5, %7 : tensor<1x1xf32>, tensor<1x12xf32> -> tensor<1x12xf32>
    %10 = tile.dot %4 transposed, %5, %arg8 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    tile.store %9, %arg5[%arg7, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %10 : tensor<20x12xf32>
  }
  tile.store %3, %arg6[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
