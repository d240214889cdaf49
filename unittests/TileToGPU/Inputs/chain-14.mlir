tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<?x20xf32> as <name = "a", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg5: !tile.view<?x12xf32> as <name = "w", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg6: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg7: !tile.view<?xf32> as <name = "eta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg8: !tile.view<?x20xf32> as <name = "g", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg9: !tile.view<?x20xf32> as <name = "gates", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg10: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg11: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg12: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg13: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 8 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<24x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<8x12xf32>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg10[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg14 = %c0 to %0 step %c8 iter_args(%arg15 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg8[%arg14, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %5 = math.exp %4 : tensor<8x20xf32>
    %6 = tile.load %arg3[%arg14] : <?xf32> -> tensor<8xf32>
    %7 = math.exp %6 : tensor<8xf32>
    %8 = tile.broadcast %7 : tensor<8xf32> -> tensor<8x20xf32>
    %9 = arith.mulf %5, %8 : tensor<8x20xf32>
    %10 = tile.load %arg9[%arg14, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %11 = math.exp %10 : tensor<8x20xf32>
    %12 = arith.mulf %9, %11 : tensor<8x20xf32>
    %13 = tile.load %arg4[%arg14, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %14 = tile.load %arg5[%arg14, %1] : <?x12xf32> -> tensor<8x12xf32>
    %15 = tile.load %arg6[%arg14] : <?xf32> -> tensor<8xf32>
    %16 = tile.scale_rows %14 by %15 : tensor<8x12xf32>, tensor<8xf32>
    %17 = tile.load %arg1[%arg14, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %18 = tile.load %arg7[%arg14] : <?xf32> -> tensor<8xf32>
    %19 = tile.load %arg2[%arg14, %1] : <?x12xf32> -> tensor<8x12xf32>
    %20 = tile.scale_rows %19 by %18 : tensor<8x12xf32>, tensor<8xf32>
    %21 = tile.interleave %17, %13, %13 : tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<24x20xf32>
    %22 = tile.interleave %17, %13, %17 : tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<24x20xf32>
    %23 = tile.interleave %15, %18, %18 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<24xf32>
    %24 = tile.decay_product exclusive %12 : tensor<8x20xf32>
    %25 = arith.mulf %24, %5 : tensor<8x20xf32>
    %26 = arith.mulf %25, %8 : tensor<8x20xf32>
    %27 = tile.interleave %25, %26, %26 : tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<24x20xf32>
    %28 = arith.mulf %21, %27 : tensor<24x20xf32>
    %29 = tile.dot %28, %arg15, %cst : tensor<24x20xf32>, tensor<20x12xf32> -> tensor<24x12xf32>
    %30 = tile.decayed_dot %21 at [1, 3, 4], %13 at [5] by %5, %8, %11 at [0, 2, 6] : tensor<24x20xf32>, tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<24x8xf32>
    %31 = tile.dot %30, %16, %29 : tensor<24x8xf32>, tensor<8x12xf32> -> tensor<24x12xf32>
    %32 = tile.interleave %cst_0, %cst_0, %20 : tensor<8x12xf32>, tensor<8x12xf32>, tensor<8x12xf32> -> tensor<24x12xf32>
    %33 = tile.scale_rows %31 by %23 : tensor<24x12xf32>, tensor<24xf32>
    %34 = arith.subf %32, %33 : tensor<24x12xf32>
    %35 = tile.decayed_dot %21 at [1, 3, 4], %22 at [1, 3, 4] by %5, %8, %11 at [0, 2, 5] : tensor<24x20xf32>, tensor<24x20xf32>, tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<24x24xf32>
    %36 = tile.scale_rows %35 by %23 : tensor<24x24xf32>, tensor<24xf32>
    %37 = tile.solve %36, %34 : tensor<24x24xf32>, tensor<24x12xf32>
    %38 = tile.load %arg0[%arg14, %c0] : <?x20xf32> -> tensor<8x20xf32>
    %39 = arith.mulf %38, %24 : tensor<8x20xf32>
    %40 = tile.dot %39, %arg15, %cst_0 : tensor<8x20xf32>, tensor<20x12xf32> -> tensor<8x12xf32>
    %41 = tile.decayed_dot %38 at [0], %13 at [2] by %5, %8, %11 at [0, 1, 3] : tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<8x8xf32>
    %42 = tile.dot %41, %16, %40 : tensor<8x8xf32>, tensor<8x12xf32> -> tensor<8x12xf32>
    %43 = tile.decayed_dot %38 at [0], %22 at [1, 3, 4] by %5, %8, %11 at [0, 2, 5] : tensor<8x20xf32>, tensor<24x20xf32>, tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<8x24xf32>
    %44 = tile.dot %43, %37, %42 : tensor<8x24xf32>, tensor<24x12xf32> -> tensor<8x12xf32>
    %45 = tile.decay_product %12 : tensor<8x20xf32>
    %46 = tile.last_row %45 : tensor<8x20xf32> -> tensor<20xf32>
    %47 = tile.scale_rows %arg15 by %46 : tensor<20x12xf32>, tensor<20xf32>
    %48 = tile.decay_product reverse exclusive %12 : tensor<8x20xf32>
    %49 = arith.mulf %48, %11 : tensor<8x20xf32>
    %50 = arith.mulf %13, %49 : tensor<8x20xf32>
    %51 = arith.mulf %48, %8 : tensor<8x20xf32>
    %52 = arith.mulf %51, %11 : tensor<8x20xf32>
    %53 = tile.interleave %52, %49, %49 : tensor<8x20xf32>, tensor<8x20xf32>, tensor<8x20xf32> -> tensor<24x20xf32>
    %54 = arith.mulf %22, %53 : tensor<24x20xf32>
    %55 = tile.dot %50 transposed, %16, %47 : tensor<8x20xf32>, tensor<8x12xf32> -> tensor<20x12xf32>
    %56 = tile.dot %54 transposed, %37, %55 : tensor<24x20xf32>, tensor<24x12xf32> -> tensor<20x12xf32>
    tile.store %44, %arg12[%arg14, %1] : tensor<8x12xf32>, <?x12xf32>
    scf.yield %56 : tensor<20x12xf32>
  }
  tile.store %3, %arg13[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
// -----
tile.program @forward(
    %arg0: !tile.view<?x20xf32> as <name = "q", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg1: !tile.view<?x20xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg2: !tile.view<?x12xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg3: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg4: !tile.view<?x20xf32> as <name = "a", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg5: !tile.view<?x12xf32> as <name = "w", axes = "bthv", heads = 2, role = "input", optional = false>,
    %arg6: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg7: !tile.view<?xf32> as <name = "eta", axes = "bth", heads = 2, role = "input", optional = false>,
    %arg8: !tile.view<?x20xf32> as <name = "g", axes = "bthk", heads = 2, role = "input", optional = false>,
    %arg9: !tile.view<?x20xf32> as <name = "gates", axes = "bthk", heads = 1, role = "input", optional = false>,
    %arg10: !tile.view<20x12xf32> as <name = "initial_state", axes = "nhkv", heads = 2, role = "initial_state", optional = true>,
    %arg11: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %arg12: !tile.view<?x12xf32> as <name = "o", axes = "bthv", heads = 2, role = "output", optional = false>,
    %arg13: !tile.view<20x12xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>) heads 2 values 12 block 12 chunk 1 attributes {scan.entry = "forward"} {
  %cst = arith.constant dense<0.000000e+00> : tensor<1x12xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<20x12xf32>
  %cst_1 = arith.constant dense<1.000000e+00> : tensor<1x12xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.length : index
  %1 = tile.value_offset : index
  %2 = tile.load %arg10[%c0, %1] : <20x12xf32> -> tensor<20x12xf32>
  %3 = scf.for %arg14 = %c0 to %0 step %c1 iter_args(%arg15 = %2) -> (tensor<20x12xf32>) {
    %4 = tile.load %arg8[%arg14, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %5 = math.exp %4 : tensor<1x20xf32>
    %6 = tile.dot %5 transposed, %cst_1, %cst_0 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %7 = arith.mulf %arg15, %6 : tensor<20x12xf32>
    %8 = tile.load %arg1[%arg14, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %9 = tile.load %arg6[%arg14] : <?xf32> -> tensor<1xf32>
    %10 = tile.dot %8, %7, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %11 = tile.scale_rows %10 by %9 : tensor<1x12xf32>, tensor<1xf32>
    %12 = arith.negf %11 : tensor<1x12xf32>
    %13 = tile.dot %8 transposed, %12, %7 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %14 = tile.load %arg3[%arg14] : <?xf32> -> tensor<1xf32>
    %15 = math.exp %14 : tensor<1xf32>
    %16 = tile.splat_last %15 : tensor<1xf32> -> tensor<20xf32>
    %17 = tile.broadcast %16 : tensor<20xf32> -> tensor<20x12xf32>
    %18 = arith.mulf %13, %17 : tensor<20x12xf32>
    %19 = tile.load %arg4[%arg14, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %20 = tile.load %arg7[%arg14] : <?xf32> -> tensor<1xf32>
    %21 = tile.dot %19, %18, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %22 = tile.scale_rows %21 by %20 : tensor<1x12xf32>, tensor<1xf32>
    %23 = arith.negf %22 : tensor<1x12xf32>
    %24 = tile.dot %19 transposed, %23, %18 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %25 = tile.dot %19, %24, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    %26 = tile.scale_rows %25 by %20 : tensor<1x12xf32>, tensor<1xf32>
    %27 = arith.negf %26 : tensor<1x12xf32>
    %28 = tile.dot %8 transposed, %27, %24 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %29 = tile.load %arg2[%arg14, %1] : <?x12xf32> -> tensor<1x12xf32>
    %30 = tile.scale_rows %29 by %20 : tensor<1x12xf32>, tensor<1xf32>
    %31 = tile.dot %8 transposed, %30, %28 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %32 = tile.load %arg5[%arg14, %1] : <?x12xf32> -> tensor<1x12xf32>
    %33 = tile.scale_rows %32 by %9 : tensor<1x12xf32>, tensor<1xf32>
    %34 = tile.dot %19 transposed, %33, %31 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %35 = tile.load %arg9[%arg14, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %36 = math.exp %35 : tensor<1x20xf32>
    %37 = tile.dot %36 transposed, %cst_1, %cst_0 : tensor<1x20xf32>, tensor<1x12xf32> -> tensor<20x12xf32>
    %38 = arith.mulf %34, %37 : tensor<20x12xf32>
    %39 = tile.load %arg0[%arg14, %c0] : <?x20xf32> -> tensor<1x20xf32>
    %40 = tile.dot %39, %arg15, %cst : tensor<1x20xf32>, tensor<20x12xf32> -> tensor<1x12xf32>
    tile.store %40, %arg12[%arg14, %1] : tensor<1x12xf32>, <?x12xf32>
    scf.yield %38 : tensor<20x12xf32>
  }
  tile.store %3, %arg13[%c0, %1] : tensor<20x12xf32>, <20x12xf32>
  tile.return
}
