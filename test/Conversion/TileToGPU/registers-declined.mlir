// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: not prism-opt %s --convert-tile-to-gpu=strategy=registers 2>&1 | FileCheck %s --check-prefix=FORCED
// RUN: prism-opt %s --convert-tile-to-gpu --remarks-filter=convert-tile-to-gpu --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Threads of different value columns share nothing: the automatic strategy falls
// back to shared memory and says so, a forced one is refused.
// CHECK: llvm.func @sum(
// CHECK-SAME: prism.strategy = "shared"
// FORCED: error: 'tile.program' op cannot keep its state in registers: a sum runs over value columns
// REMARK: state stays in shared memory: a sum runs over value columns
tile.program @sum(
    %v: !tile.view<?x64xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?xf32> as <name = "o", axes = "bt", heads = 0, role = "output", optional = false>)
    heads 1 values 64 block 64 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %T = tile.length : index
  %vb = tile.value_offset : index
  scf.for %t = %c0 to %T step %c1 {
    %vc = tile.load %v[%t, %vb] : !tile.view<?x64xf32> -> tensor<1x64xf32>
    %y = tile.sum_columns %vc : tensor<1x64xf32> -> tensor<1xf32>
    tile.store %y, %o[%t] : tensor<1xf32>, !tile.view<?xf32>
  }
  tile.return
}
