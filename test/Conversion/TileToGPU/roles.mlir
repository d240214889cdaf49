// A program of two roles: the frame of its kernel. Barriers count who meets in a
// channel; each role has its branch and its registers.
//
// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: not prism-opt %s --convert-tile-to-gpu='target=cuda:sm_90a{smem=32K}' 2>&1 | FileCheck %s --check-prefix=LIMIT

// LIMIT: error: 'tile.program' op cannot be launched: its kernel needs {{[0-9]+}} bytes of shared memory, and sm_90a offers 32768 a block

// CHECK: llvm.mlir.global external @prism_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// Fourteen words, one of flags, and maps of keys and values from byte 128 on.
// CHECK-LABEL: llvm.func @injection
// CHECK-SAME: {llvm.align = 64 : i64, llvm.byval = !llvm.array<48 x i64>, nvvm.grid_constant}
// CHECK-SAME: nvvm.minctasm = 1 : i32
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK-SAME: prism.strategy = "roles"
// Keys and values have two slots each: full and empty of each.
// CHECK: scf.if
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier0
// The chain: waits, multiplies from registers, releases.
// CHECK: nvvm.setmaxregister
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive
// The loads: keys by a map and published at once, or by copies, which are
// waited for at the end.
// CHECK: nvvm.setmaxregister
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: %[[KEYS:.*]] = arith.cmpi eq, %{{.*}}, %c1_i64{{.*}}
// CHECK: scf.if %[[KEYS]] {
// CHECK: nvvm.elect.sync
// CHECK: %[[BYTES:.*]] = arith.constant 8192 : i32
// CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%{{.*}}, %{{.*}}, %{{.*}}] : !llvm.ptr<7>, !llvm.ptr
// CHECK: } else {
// CHECK-NEXT: nvvm.mbarrier.arrive %
// CHECK: } else {
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: %[[VALUES:.*]] = arith.cmpi eq, %{{.*}}, %c2_i64{{.*}}
// CHECK: scf.if %[[VALUES]] {
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: %[[COPIED:.*]] = arith.xori %[[KEYS]], %true{{.*}}
// CHECK: scf.if %[[COPIED]] {
// CHECK-NEXT: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.fence.proxy
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.mbarrier.arrive
tile.program @injection(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}
