// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: prism-opt %s --convert-tile-to-gpu=strategy=registers | FileCheck %s
// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s --check-prefix=WIDE

// With chunk 1 the state lies in registers: no shared memory, no barrier; a sum
// over keys goes from lane to lane.
// CHECK-NOT: llvm.mlir.global
// CHECK: llvm.func @step(
// CHECK-SAME: prism.shared_bytes = 0 : i64, prism.strategy = "registers"
// CHECK-NOT: nvvm.barrier
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return

// What a thread has of a row is one access, in a version for arrays that are
// aligned so. The first step's query comes before the loop, the next one's in
// it, and that of a later step only goes to the cache.
// WIDE: scf.if %{{[0-9]+}} {
// WIDE: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// WIDE: scf.for {{.*}} iter_args
// WIDE-NOT: scf.if
// WIDE: llvm.inline_asm has_side_effects {{.*}}prefetch.global.L2
// WIDE: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// WIDE-NOT: scf.for
// WIDE: nvvm.shfl.sync bfly
// WIDE: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// The other version.
// WIDE: } else {
// WIDE-NOT: vector<
// WIDE: llvm.return
tile.program @step(
    %q: !tile.view<?x64xf32> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %s0: !tile.view<64x64xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x64xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 64 block 32 chunk 1 {
  %c0 = arith.constant 0 : index
  %step = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x32xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<64x64xf32> -> tensor<64x32xf32>
  %SN = scf.for %t = %c0 to %T step %step iter_args(%S = %S0) -> (tensor<64x32xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x64xf32> -> tensor<1x64xf32>
    %y = tile.dot %qc, %S, %zero : tensor<1x64xf32>, tensor<64x32xf32> -> tensor<1x32xf32>
    %S1 = tile.dot %qc transposed, %y, %S : tensor<1x64xf32>, tensor<1x32xf32> -> tensor<64x32xf32>
    tile.store %y, %o[%t, %vb] : tensor<1x32xf32>, !tile.view<?x64xf32>
    scf.yield %S1 : tensor<64x32xf32>
  }
  tile.return
}
