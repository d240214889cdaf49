// RUN: prism-opt %s -convert-tile-to-cpu="stop-before-llvm=true" | FileCheck %s

// Of a parameter (no axis t) the exponential is taken once, of an input at every step.
// CHECK-LABEL: llvm.func @rates(
// CHECK: %[[RATE:.*]] = math.exp
// CHECK: llvm.store %[[RATE]]
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: math.tanh
// CHECK-NOT: math.exp
// CHECK: llvm.return
tile.program @rates(
    %x: !tile.view<?x16xf32> as <name = "x", axes = "bthv", heads = 1, role = "input", optional = false>,
    %a: !tile.view<?x16xf32> as <name = "a", axes = "hv", heads = 1, role = "input", optional = false>,
    %s: !tile.view<1x16xf32> as <name = "s", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x16xf32> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %T = tile.length : index
  %start = tile.load %s[%c0, %c0] : !tile.view<1x16xf32> -> tensor<1x16xf32>
  %end = scf.for %t = %c0 to %T step %c1 iter_args(%h = %start) -> (tensor<1x16xf32>) {
    %A = tile.load %a[%t, %c0] : !tile.view<?x16xf32> -> tensor<1x16xf32>
    %rate = math.exp %A : tensor<1x16xf32>
    %X = tile.load %x[%t, %c0] : !tile.view<?x16xf32> -> tensor<1x16xf32>
    %input = math.tanh %X : tensor<1x16xf32>
    %kept = arith.mulf %h, %rate : tensor<1x16xf32>
    %next = arith.addf %kept, %input : tensor<1x16xf32>
    tile.store %next, %o[%t, %c0] : tensor<1x16xf32>, !tile.view<?x16xf32>
    scf.yield %next : tensor<1x16xf32>
  }
  tile.return
}

// Of rows of 1024 bytes, of the input and of the output, a line is asked for
// beside each vector that is evaluated (the first such loop writes the zeros).
// CHECK-LABEL: llvm.func @long_rows(
// CHECK: scf.for {{.*}} step %c128_i64
// CHECK-NOT: prefetch
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} step %c128_i64
// CHECK: getelementptr %{{.*}}[%[[COLUMN]]]
// CHECK-COUNT-8: llvm.intr.prefetch{{.*}}rw = 0
// CHECK-COUNT-8: llvm.intr.prefetch{{.*}}rw = 1
// CHECK: math.tanh
// CHECK-NOT: prefetch
// CHECK: llvm.return
tile.program @long_rows(
    %x: !tile.view<?x256xf32> as <name = "x", axes = "bthv", heads = 1, role = "input", optional = false>,
    %o: !tile.view<?x256xf32> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>)
    heads 1 values 256 block 256 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %T = tile.length : index
  %start = arith.constant dense<0.0> : tensor<1x256xf32>
  %end = scf.for %t = %c0 to %T step %c1 iter_args(%h = %start) -> (tensor<1x256xf32>) {
    %X = tile.load %x[%t, %c0] : !tile.view<?x256xf32> -> tensor<1x256xf32>
    %input = math.tanh %X : tensor<1x256xf32>
    %next = arith.addf %h, %input : tensor<1x256xf32>
    tile.store %next, %o[%t, %c0] : tensor<1x256xf32>, !tile.view<?x256xf32>
    scf.yield %next : tensor<1x256xf32>
  }
  tile.return
}
