// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s

// f64 sums of gates are plain additions and stay.
// CHECK-LABEL: llvm.func @sums(
// CHECK: arith.addf {{.*}} : f64
tile.program @sums(
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?xf32> as <name = "o", axes = "bt", heads = 0, role = "output", optional = false>)
    heads 1 values 1 block 1 chunk 16 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %T = tile.length : index
  scf.for %t = %c0 to %T step %c16 {
    %gc = tile.load %g[%t] : !tile.view<?xf32> -> tensor<16xf64>
    %G = tile.gate_sum %gc : tensor<16xf64>
    tile.store %G, %o[%t] : tensor<16xf64>, !tile.view<?xf32>
  }
  tile.return
}
