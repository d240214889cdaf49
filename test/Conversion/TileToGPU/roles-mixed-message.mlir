// A message of a matrix and a vector: only the matrix can come in a box, so the
// barrier is told of its bytes alone, and every warp arrives when the vector
// has landed, whichever way the matrix comes.
//
// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s

// CHECK-LABEL: llvm.func @scaled_injection
// CHECK: nvvm.elect.sync
// CHECK-NOT: nvvm.mbarrier.arrive
// CHECK: nvvm.mbarrier.expect_tx
// CHECK-NOT: nvvm.mbarrier.arrive
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: nvvm.mbarrier.arrive
// CHECK: } else {
// CHECK-NOT: nvvm.mbarrier.arrive
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.fence.proxy
// CHECK: nvvm.mbarrier.arrive
// The values come alone.
// CHECK: nvvm.cp.async.wait.group 0
tile.program @scaled_injection(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xbf16>, tensor<64xf32>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      %gt = tile.load %g[%t] : <?xf32> -> tensor<64xf32>
      tile.send %kt, %gt to %keys : tensor<64x64xbf16>, tensor<64xf32> to !tile.channel<2 x (tensor<64x64xbf16>, tensor<64xf32>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt, %gt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>, tensor<64xf32>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %ve = arith.extf %vt : tensor<64x64xbf16> to tensor<64x64xf32>
      %scaled = tile.scale_rows %ve by %gt : tensor<64x64xf32>, tensor<64xf32>
      %vs = arith.truncf %scaled : tensor<64x64xf32> to tensor<64x64xbf16>
      %next = tile.dot %kt transposed, %vs, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>, tensor<64xf32>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}
