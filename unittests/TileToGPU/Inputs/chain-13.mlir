tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?x20xf32> as <name = "w", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<?x20xf32> as <name = "a", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg5: !tile.view<?x20xf32> as <name = "b", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg6: !tile.view<?xf32> as <name = "eta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg7: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg8: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg9: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg10: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 16 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<16x12xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg7[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg11 = %c0 to %0 step %c16 iter_args(%arg12 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg11, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %5 = math.exp %4 : tensor<16x20xf32>
    %6 = tile.load %arg1[%arg11, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %7 = tile.load %arg2[%arg11, %1] : <?x12xf32> -> tensor<16x12xf32>
    %8 = tile.load %arg4[%arg11, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %9 = tile.load %arg5[%arg11, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %10 = tile.load %arg6[%arg11] : <?xf32> -> tensor<16xf32>
    %11 = tile.decay_product exclusive %5 : tensor<16x20xf32>
    %12 = arith.mulf %8, %11 : tensor<16x20xf32>
    %13 = tile.dot %12, %arg12, %cst : tensor<16x20xf32>, tensor<20x12xf32> -> tensor<16x12xf32>
    %14 = tile.decayed_dot %8 at [0], %6 at [1] by %5 at [0] : tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32> -> tensor<16x16xf32>
    %15 = tile.dot %14, %7, %13 : tensor<16x16xf32>, tensor<16x12xf32> -> tensor<16x12xf32>
    %16 = tile.scale_rows %15 by %10 : tensor<16x12xf32>, tensor<16xf32>
    %17 = arith.negf %16 : tensor<16x12xf32>
    %18 = tile.decayed_dot %8 at [0], %9 at [1] by %5 at [0] : tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32> -> tensor<16x16xf32>
    %19 = tile.scale_rows %18 by %10 : tensor<16x16xf32>, tensor<16xf32>
    %20 = tile.solve %19, %17 : tensor<16x16xf32>, tensor<16x12xf32>
    %21 = tile.load %arg0[%arg11, %c0] : <?x20xf32> -> tensor<16x20xf32>
    %22 = tile.decay_product %5 : tensor<16x20xf32>
    %23 = arith.mulf %21, %22 : tensor<16x20xf32>
    %24 = tile.dot %23, %arg12, %cst : tensor<16x20xf32>, tensor<20x12xf32> -> tensor<16x12xf32>
    %25 = tile.decayed_dot %21 at [2], %6 at [1] by %5 at [0] : tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32> -> tensor<16x16xf32>
    %26 = tile.dot %25, %7, %24 : tensor<16x16xf32>, tensor<16x12xf32> -> tensor<16x12xf32>
    %27 = tile.decayed_dot %21 at [2], %9 at [1] by %5 at [0] : tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32> -> tensor<16x16xf32>
    %28 = tile.dot %27, %20, %26 : tensor<16x16xf32>, tensor<16x12xf32> -> tensor<16x12xf32>
    %29 = tile.last_row %22 : tensor<16x20xf32> -> tensor<20xf32>
    %30 = tile.scale_rows %arg12 by %29 : tensor<20x12xf32>, tensor<20xf32>
    %31 = tile.decay_product reverse exclusive %5 : tensor<16x20xf32>
    %32 = arith.mulf %6, %31 : tensor<16x20xf32>
    %33 = arith.mulf %9, %31 : tensor<16x20xf32>
    %34 = tile.dot %32 transposed, %7, %30 : tensor<16x20xf32>, tensor<16x12xf32> -> tensor<20x12xf32>
    %35 = tile.dot %33 transposed, %20, %34 : tensor<16x20xf32>, tensor<16x12xf32> -> tensor<20x12xf32>
    tile.store %28, %arg9[%arg11, %1] : tensor<16x12xf32>, <?x12xf32>
    scf.yield %35 : tensor<20x12xf32>
  }
  tile.store %3, %arg10[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?x20xf32> as <name = "w", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<?x20xf32> as <name = "a", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg5: !tile.view<?x20xf32> as <name = "b", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg6: !tile.view<?xf32> as <name = "eta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg7: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg8: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg9: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg10: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<20x12xf32>
  %cst_1 = arith.constant dense<1.000000e+00> : tensor<1x12xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg7[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg11 = %c0 to %0 step %c1 iter_args(%arg12 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg3[%arg11, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %5 = math.exp %4 : tensor<1x20xf32>
    %6 = tile.dot %5 transposed, %cst_1, %cst_0 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %7 = arith.mulf %arg12, %6 : tensor<20x12xf32>
    %8 = tile.load %arg4[%arg11, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %9 = tile.load %arg5[%arg11, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %10 = tile.load %arg6[%arg11] : <?xf32> -> tensor<1xf32>
    %11 = tile.dot %8, %arg12, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %12 = tile.scale_rows %11 by %10 : tensor<1x12xf32>, tensor<1xf32>
    %13 = arith.negf %12 : tensor<1x12xf32>
    %14 = tile.dot %9 transposed, %13, %7 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %15 = tile.load %arg1[%arg11, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %16 = tile.load %arg2[%arg11, %1] : <?x12xf32> -> tensor<1x12xf32>
    %17 = tile.dot %15 transposed, %16, %14 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %18 = tile.load %arg0[%arg11, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %19 = tile.dot %18, %17, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    tile.store %19, %arg9[%arg11, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %17 : tensor<20x12xf32>
  }
  tile.store %3, %arg10[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
