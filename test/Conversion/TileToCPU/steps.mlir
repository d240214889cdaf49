// RUN: prism-opt %s --convert-tile-to-cpu="isa=x86-64-v3 stop-before-llvm" | FileCheck %s
// RUN: prism-opt %s --convert-tile-to-cpu="isa=x86-64-v3" | FileCheck %s --check-prefix=LLVM

// A program of plain ops: the state is one buffer of the workspace, updated where it lies; the weight is read where it
// lies; the product's inner loop runs along rows. Nothing is allocated or copied in a step.

// CHECK: llvm.func @steps(%{{.*}}: !llvm.ptr {llvm.noalias}, %[[SPACE:.*]]: !llvm.ptr {llvm.noalias}
// CHECK-SAME: passthrough = ["prism-loops"], prism.workspace = 64 : i64
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %c8
// CHECK-NEXT: memref.load %[[STATE:.*]][
// CHECK-LABEL: }
// LLVM: llvm.load %{{.*}} {alias_scopes = [#{{.*}}], alignment
// LLVM-NOT: unrealized
tile.program @steps(
    %x: !tile.view<?x8xf32> as <name = "x", axes = "bthv", heads = 2, role = "input", optional = false>,
    %f: !tile.view<8xf32> as <name = "f", axes = "nhv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 1 attributes {tile.steps} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.length : index
  %init = tensor.splat %zero : tensor<8xf32>
  %last = scf.for %t = %c0 to %length step %c1 iter_args(%h = %init) -> (tensor<8xf32>) {
    %x_t = tile.load one_step %x[%t, %c0] : <?x8xf32> -> tensor<8xf32>
    %next = arith.addf %h, %x_t : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  tile.store %last, %f[%c0] : tensor<8xf32>, <8xf32>
  tile.return
}
