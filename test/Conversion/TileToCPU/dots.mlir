// RUN: prism-opt %s -convert-tile-to-cpu="stop-before-llvm=true" | FileCheck %s

// Chained dots keep their accumulators in registers: two loops over the
// contraction, the second starting from the scaled sums of the first, and no
// store before the output's.
// CHECK-LABEL: llvm.func @chain(
// CHECK: %[[FIRST:.*]]:16 = scf.for {{.*}} -> (vector<16xf32>,
// CHECK: arith.mulf %{{.*}}, %[[FIRST]]#0
// CHECK-NOT: llvm.store
// CHECK: %[[SECOND:.*]]:16 = scf.for
// CHECK: llvm.store %[[SECOND]]#0
tile.program @chain(
    %a: !tile.view<32x32xf32> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %b: !tile.view<32x64xf32> as <name = "b", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<32x64xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 64 block 64 chunk 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %two = arith.constant dense<2.0> : tensor<32x64xf32>
  %A = tile.load %a[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32>
  %B = tile.load %b[%c0, %c0] : !tile.view<32x64xf32> -> tensor<32x64xf32>
  %x = tile.dot %A, %B, %zero : tensor<32x32xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  %y = arith.mulf %two, %x : tensor<32x64xf32>
  %z = tile.dot %A, %B, %y : tensor<32x32xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  tile.store %z, %r[%c0, %c0] : tensor<32x64xf32>, !tile.view<32x64xf32>
  tile.return
}
