tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?x20xf32> as <name = "g", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg5: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg6: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg7: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 16 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<5.000000e-01> : tensor<16x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x12xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg4[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg8 = %c0 to %0 step %c16 iter_args(%arg9 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg8, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %5 = math.exp %4 : tensor<16x20xf32>
    %6 = tile.load %arg1[%arg8, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %7 = tile.load %arg2[%arg8, %1] : <?x12xf32> -> tensor<16x12xf32>
    %8 = tile.load %arg0[%arg8, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %9 = tile.decay_product %5 : tensor<16x20xf32>
    %10 = arith.mulf %8, %9 : tensor<16x20xf32>
    %11 = tile.dot %10, %arg9, %cst_0 : tensor<16x20xf32>, tensor<20x12xf32> -> tensor<16x12xf32>
    %12 = tile.decayed_dot %8 at [2], %6 at [1] by %5 at [0] : tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32> -> tensor<16x16xf32>
    %13 = tile.dot %12, %7, %11 : tensor<16x16xf32>, tensor<16x12xf32> -> tensor<16x12xf32>
    %14 = arith.mulf %13, %cst : tensor<16x12xf32>
    %15 = tile.last_row %9 : tensor<16x20xf32> -> tensor<20xf32>
    %16 = tile.scale_rows %arg9 by %15 : tensor<20x12xf32>, tensor<20xf32>
    %17 = tile.decay_product reverse exclusive %5 : tensor<16x20xf32>
    %18 = arith.mulf %6, %17 : tensor<16x20xf32>
    %19 = tile.dot %18 transposed, %7, %16 : tensor<16x20xf32>, tensor<16x12xf32> -> tensor<20x12xf32>
    tile.store %14, %arg6[%arg8, %1] : tensor<16x12xf32>, <?x12xf32>
    scf.yield %19 : tensor<20x12xf32>
  }
  tile.store %3, %arg7[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?x20xf32> as <name = "g", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg5: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg6: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg7: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<5.000000e-01> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<20x12xf32>
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<1x12xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg4[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg8 = %c0 to %0 step %c1 iter_args(%arg9 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg8, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %5 = math.exp %4 : tensor<1x20xf32>
    %6 = tile.dot %5 transposed, %cst_2, %cst_1 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %7 = arith.mulf %arg9, %6 : tensor<20x12xf32>
    %8 = tile.load %arg1[%arg8, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %9 = tile.load %arg2[%arg8, %1] : <?x12xf32> -> tensor<1x12xf32>
    %10 = tile.dot %8 transposed, %9, %7 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %11 = tile.load %arg0[%arg8, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %12 = tile.dot %11, %10, %cst_0 : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %13 = arith.mulf %12, %cst : tensor<1x12xf32>
    tile.store %13, %arg6[%arg8, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %10 : tensor<20x12xf32>
  }
  tile.store %3, %arg7[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
