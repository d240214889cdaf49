tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?x20xf32> as <name = "log_alpha", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg5: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg6: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg7: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg8: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 8 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<8x12xf32>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg5[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg9 = %c0 to %0 step %c8 iter_args(%arg10 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg9, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %5 = math.exp %4 : tensor<8x20xf32>
    %6 = tile.load %arg1[%arg9, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %7 = tile.load %arg4[%arg9] : <?xf32> -> tensor<8xf32>
    %8 = tile.load %arg2[%arg9, %1] : <?x12xf32> -> tensor<8x12xf32>
    %9 = tile.decay_product %5 : tensor<8x20xf32>
    %10 = arith.mulf %6, %9 : tensor<8x20xf32>
    %11 = tile.dot %10, %arg10, %cst : tensor<8x20xf32>, tensor<20x12xf32> -> tensor<8x12xf32>
    %12 = arith.subf %8, %11 : tensor<8x12xf32>
    %13 = tile.scale_rows %12 by %7 : tensor<8x12xf32>, tensor<8xf32>
    %14 = tile.decayed_dot %6 at [2], %6 at [1] by %5 at [0] : tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<8x8xf32>
    %15 = tile.scale_rows %14 by %7 : tensor<8x8xf32>, tensor<8xf32>
    %16 = tile.solve %15, %13 : tensor<8x8xf32>, tensor<8x12xf32>
    %17 = tile.load %arg0[%arg9, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %18 = arith.mulf %17, %9 : tensor<8x20xf32>
    %19 = tile.dot %18, %arg10, %cst : tensor<8x20xf32>, tensor<20x12xf32> -> tensor<8x12xf32>
    %20 = tile.decayed_dot %17 at [2], %6 at [1] by %5 at [0] : tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<8x8xf32>
    %21 = tile.dot %20, %16, %19 : tensor<8x8xf32>, tensor<8x12xf32> -> tensor<8x12xf32>
    %22 = tile.last_row %9 : tensor<8x20xf32> -> tensor<20xf32>
    %23 = tile.scale_rows %arg10 by %22 : tensor<20x12xf32>, tensor<20xf32>
    %24 = tile.decay_product reverse exclusive %5 : tensor<8x20xf32>
    %25 = arith.mulf %6, %24 : tensor<8x20xf32>
    %26 = tile.dot %25 transposed, %16, %23 : tensor<8x20xf32>, tensor<8x12xf32> -> tensor<20x12xf32>
    tile.store %21, %arg7[%arg9, %1] : tensor<8x12xf32>, <?x12xf32>
    scf.yield %26 : tensor<20x12xf32>
  }
  tile.store %3, %arg8[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?x20xf32> as <name = "log_alpha", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg5: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg6: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg7: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg8: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<20x12xf32>
  %cst_1 = arith.constant dense<1.000000e+00> : tensor<1x12xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg5[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg9 = %c0 to %0 step %c1 iter_args(%arg10 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg9, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %5 = math.exp %4 : tensor<1x20xf32>
    %6 = tile.dot %5 transposed, %cst_1, %cst_0 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %7 = arith.mulf %arg10, %6 : tensor<20x12xf32>
    %8 = tile.load %arg1[%arg9, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %9 = tile.load %arg4[%arg9] : <?xf32> -> tensor<1xf32>
    %10 = tile.dot %8, %7, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %11 = tile.scale_rows %10 by %9 : tensor<1x12xf32>, tensor<1xf32>
    %12 = arith.negf %11 : tensor<1x12xf32>
    %13 = tile.dot %8 transposed, %12, %7 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %14 = tile.load %arg2[%arg9, %1] : <?x12xf32> -> tensor<1x12xf32>
    %15 = tile.scale_rows %14 by %9 : tensor<1x12xf32>, tensor<1xf32>
    %16 = tile.dot %8 transposed, %15, %13 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %17 = tile.load %arg0[%arg9, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %18 = tile.dot %17, %16, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    tile.store %18, %arg7[%arg9, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %16 : tensor<20x12xf32>
  }
  tile.store %3, %arg8[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
