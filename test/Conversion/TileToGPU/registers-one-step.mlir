// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s

// A thread holds 64 elements of the state, 16 rows of 4 columns. A call of one
// step asks for all of them and for the step's inputs before it computes
// anything, without a loop, and says that nothing is left.
// CHECK-LABEL: llvm.func @step(
// CHECK: %[[REST:.*]] = scf.if %{{.*}} -> (i1) {
// CHECK-COUNT-16: ld.global.L2::256B
// CHECK-NOT: nvvm.shfl
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-NOT: nvvm.shfl
// CHECK: scf.if %{{.*}} -> (i1) {
// CHECK-NOT: scf.for
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: scf.for
// CHECK-COUNT-16: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: scf.yield %false
// CHECK: scf.if %[[REST]] {
// CHECK: scf.for
tile.program @step(
    %q: !tile.view<?x128xbf16> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %s0: !tile.view<128x64xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x64xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>,
    %sT: !tile.view<128x64xf32> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 1 {
  %c0 = arith.constant 0 : index
  %step = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x64xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<128x64xf32> -> tensor<128x64xf32>
  %SN = scf.for %t = %c0 to %T step %step iter_args(%S = %S0) -> (tensor<128x64xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x128xbf16> -> tensor<1x128xf32>
    %y = tile.dot %qc, %S, %zero : tensor<1x128xf32>, tensor<128x64xf32> -> tensor<1x64xf32>
    %S1 = tile.dot %qc transposed, %y, %S : tensor<1x128xf32>, tensor<1x64xf32> -> tensor<128x64xf32>
    tile.store %y, %o[%t, %vb] : tensor<1x64xf32>, !tile.view<?x64xf32>
    scf.yield %S1 : tensor<128x64xf32>
  }
  tile.store %SN, %sT[%c0, %vb] : tensor<128x64xf32>, !tile.view<128x64xf32>
  tile.return
}
