// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: prism-opt %s --convert-tile-to-gpu=threads=128 | FileCheck %s --check-prefix=THREADS

// With a larger chunk the tiles lie in the block's dynamic shared memory.
// CHECK: llvm.mlir.global external @prism_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @chunk(
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK-SAME: prism.shared_bytes = {{[1-9][0-9]*}} : i64, prism.strategy = "shared"
// CHECK: nvvm.barrier
// CHECK-NOT: tile.
// THREADS: nvvm.reqntid = array<i32: 128, 1, 1>
tile.program @chunk(
    %q: !tile.view<?x64xf32> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %s0: !tile.view<64x64xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x64xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 64 block 64 chunk 16 {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<64x64xf32> -> tensor<64x64xf32>
  %SN = scf.for %t = %c0 to %T step %step iter_args(%S = %S0) -> (tensor<64x64xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x64xf32> -> tensor<16x64xf32>
    %y = tile.dot %qc, %S, %zero : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
    %S1 = tile.dot %qc transposed, %y, %S : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<64x64xf32>
    tile.store %y, %o[%t, %vb] : tensor<16x64xf32>, !tile.view<?x64xf32>
    scf.yield %S1 : tensor<64x64xf32>
  }
  tile.return
}
