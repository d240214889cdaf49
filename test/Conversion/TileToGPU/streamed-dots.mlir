// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s

// The walk from segment to segment: M comes from memory to registers, four
// elements at a time and one iteration ahead; S alone lies in shared memory.
// CHECK-LABEL: llvm.func @combine(
// Two states of 64 rows of 9 floats.
// CHECK-SAME: prism.shared_bytes = 4608 : i64
// The first segment's.
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, f32, f32)
// The next one's, before this one is multiplied.
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: math.fma
// Each exchange halves what a lane adds up: 16 of 32 sums first.
// CHECK-COUNT-30: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
tile.program @combine(
    %s0: !tile.view<64x64xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = false>,
    %map: !tile.view<?x64x128xf32> as <name = "segment_map", axes = "nhskv", heads = 1, role = "intermediate", optional = false>,
    %begin: !tile.view<?x64x64xf32> as <name = "segment_start", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 64 block 8 chunk 64 segments scan {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %column = tile.value_offset : index
  %count = tile.length : index
  %last = arith.subi %count, %c1 : index
  %start = tile.load %s0[%c0, %column] : <64x64xf32> -> tensor<64x8xf32>
  tile.store one_step %start, %begin[%c0, %c0, %column] : tensor<64x8xf32>, <?x64x64xf32>
  %end = scf.for %p = %c0 to %last step %c1 iter_args(%s = %start) -> (tensor<64x8xf32>) {
    %b = tile.load one_step %map[%p, %c0, %column] : <?x64x128xf32> -> tensor<64x8xf32>
    %m = tile.load one_step %map[%p, %c0, %c64] : <?x64x128xf32> -> tensor<64x64xf32>
    %next = tile.dot %m, %s, %b : tensor<64x64xf32>, tensor<64x8xf32> -> tensor<64x8xf32>
    %after = arith.addi %p, %c1 : index
    tile.store one_step %next, %begin[%after, %c0, %column] : tensor<64x8xf32>, <?x64x64xf32>
    scf.yield %next : tensor<64x8xf32>
  }
  tile.return
}
