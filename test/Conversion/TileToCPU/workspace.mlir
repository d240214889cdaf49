// RUN: prism-opt %s -convert-tile-to-cpu | FileCheck %s

// A carried state lies in the caller's workspace; the function allocates nothing
// and calls nothing.
// CHECK-LABEL: llvm.func @state(
// At least its 1024 bytes.
// CHECK-SAME: prism.workspace = {{[1-9][0-9][0-9][0-9]}} : i64
// CHECK-NOT: llvm.alloca
// CHECK-NOT: llvm.call
tile.program @state(
    %s0: !tile.view<16x16xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %sT: !tile.view<16x16xf32> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 16 block 16 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant dense<2.0> : tensor<16x16xf32>
  %T = tile.length : index
  %S0 = tile.load %s0[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  %SN = scf.for %t = %c0 to %T step %c1 iter_args(%S = %S0) -> (tensor<16x16xf32>) {
    %S1 = arith.mulf %S, %two : tensor<16x16xf32>
    scf.yield %S1 : tensor<16x16xf32>
  }
  tile.store %SN, %sT[%c0, %c0] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}
