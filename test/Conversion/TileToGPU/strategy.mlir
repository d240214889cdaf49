// RUN: prism-opt %s --convert-tile-to-gpu=strategy=shared | FileCheck %s
// RUN: not prism-opt %s --convert-tile-to-gpu=strategy=fast 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// A strategy can be forced.
// UNKNOWN: option strategy: expected automatic, shared or registers, found 'fast'
// CHECK: llvm.func @step(
// CHECK-SAME: prism.strategy = "shared"
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
