// RUN: prism-opt %s --convert-tile-to-gpu=copies-state | FileCheck %s
// RUN: not prism-opt %s --convert-tile-to-gpu="copies-state target=cuda:sm_80" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: 'tile.program' op cannot copy its state: sm_80 has no bulk copies

// Of one step each warp has a barrier and brings its rows of the state; its next
// state is written over the words and goes back, here before the warps' parts of
// the output meet, which the state does not wait for. Between copies and sums
// each thread asks the L2 cache for a line of a later block's state, if there is
// such a block. Other calls take a loop.
// CHECK: llvm.func @rows(
// CHECK-SAME: nvvm.minctasm = 3
// CHECK: scf.if
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: arith.constant 132 : i64
// CHECK: arith.cmpi ult
// CHECK: prefetch.global.L2
// CHECK: nvvm.cp.async.bulk.global.shared.cta
// CHECK: nvvm.barrier0
// CHECK: nvvm.cp.async.bulk.wait_group
// CHECK: } else {
// CHECK-NOT: bulk
// CHECK: scf.for
// CHECK: llvm.return
tile.program @rows(
    %k: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %s0: !tile.view<128x128xbf16> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %sn: !tile.view<128x128xbf16> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 128 block 128 chunk 1 {
  %none = arith.constant dense<0.0> : tensor<1x128xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <128x128xbf16> -> tensor<128x128xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %start) -> (tensor<128x128xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x128xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x128xf32>, <?x128xbf16>
    scf.yield %next : tensor<128x128xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.return
}
