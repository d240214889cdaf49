// RUN: prism-opt %s --convert-tile-to-cpu="isa=x86-64-v3 stop-before-llvm" | FileCheck %s
// RUN: prism-opt %s --convert-tile-to-cpu="isa=x86-64-v3" | FileCheck %s --check-prefix=LLVM

// A program of plain ops: the state is one buffer of the workspace, updated where it lies; the weight is read where it
// lies; the product's inner loop runs along rows. Nothing is allocated or copied in a step.

// CHECK: llvm.func @steps({{.*}} attributes {passthrough = ["prism-loops"], prism.workspace = 64 : i64}
// CHECK-NOT: memref.alloc
// CHECK: %[[STATE:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %[[LENGTH:.*]] step
// CHECK: %[[X:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<8xf32, strided<[1]>>
// CHECK-NEXT: scf.for %[[I:.*]] = %c0 to %c8 step %c1
// CHECK-NEXT: %[[H:.*]] = memref.load %[[STATE]][%[[I]]]
// CHECK-NEXT: %[[X_I:.*]] = memref.load %[[X]][%[[I]]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[H]], %[[X_I]]
// CHECK-NEXT: memref.store %[[SUM]], %[[STATE]][%[[I]]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// LLVM: llvm.func @steps
// LLVM-NOT: builtin.unrealized_conversion_cast
// LLVM: llvm.store {{.*}} {alias_scopes = [#alias_scope], noalias_scopes = []}
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
