// RUN: prism-opt %s -convert-tile-to-cpu="stop-before-llvm=true isa=x86-64-v3" | FileCheck %s

// The next chunk's rows are asked for where this chunk's are read, if no tile of the loop is
// long enough to ask for them beside it. Long rows a multiple of 4096 bytes apart are copied
// though they could be read in place: the cache's sets repeat with them.
// CHECK-LABEL: llvm.func @eight_rows(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.intr.prefetch{{.*}}rw = 0
// CHECK: arith.constant 4095
// CHECK: %[[REST:.*]] = arith.andi
// CHECK: %[[SHARES:.*]] = arith.cmpi eq, %[[REST]]
// CHECK: %[[IN_PLACE:.*]] = arith.select %[[SHARES]], %false{{[_0-9]*}}, %
// CHECK: scf.if %[[IN_PLACE]]
// CHECK: llvm.return
tile.program @eight_rows(
    %k: !tile.view<?x16xf32> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %v: !tile.view<?x128xf32> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %s0: !tile.view<16x128xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %sT: !tile.view<16x128xf32> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 128 block 128 chunk 8 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %T = tile.length : index
  %S0 = tile.load %s0[%c0, %c0] : !tile.view<16x128xf32> -> tensor<16x128xf32>
  %SN = scf.for %t = %c0 to %T step %c8 iter_args(%S = %S0) -> (tensor<16x128xf32>) {
    %K = tile.load %k[%t, %c0] : !tile.view<?x16xf32> -> tensor<8x16xf32>
    %V = tile.load %v[%t, %c0] : !tile.view<?x128xf32> -> tensor<8x128xf32>
    %S1 = tile.dot %K transposed, %V, %S : tensor<8x16xf32>, tensor<8x128xf32> -> tensor<16x128xf32>
    scf.yield %S1 : tensor<16x128xf32>
  }
  tile.store %SN, %sT[%c0, %c0] : tensor<16x128xf32>, !tile.view<16x128xf32>
  tile.return
}
