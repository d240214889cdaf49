// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s

// One parameter by value: a word for each of 2 pointers, N, T, and 3 + 4 strides.
// CHECK: llvm.func @p(%{{.*}}: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<11 x i64>, nvvm.grid_constant})
// CHECK-SAME: nvvm.kernel
tile.program @p(
    %q: !tile.view<?x16xf32> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %s: !tile.view<16x16xf32> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 16 block 16 chunk 1 {
  tile.return
}
