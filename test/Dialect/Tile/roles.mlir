// The chunk form of Gated DeltaNet as three roles that meet in channels: what
// tile-specialize-roles makes of it, and what the tensor-core lowering takes.
//
// RUN: prism-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: tile.program @gated_deltanet
// CHECK: tile.channel : <3 x(tensor<64x128xbf16>, tensor<64x128xbf16>)>
// CHECK: tile.role "load" warps 4
// CHECK: tile.send %{{.*}}, %{{.*}} to
// CHECK: tile.role "prepare" warps 4
// CHECK: tile.receive
// CHECK: tile.invert
// CHECK: tile.release
// CHECK: tile.role "chain" warps 8
tile.program @gated_deltanet(
    %q: !tile.view<?x128xbf16> as <name = "q", axes = "bthk", heads = 4, role = "input", optional = false>,
    %k: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 4, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %log_alpha: !tile.view<?xf32> as <name = "log_alpha", axes = "bth", heads = 4, role = "input", optional = false>,
    %beta: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 4, role = "input", optional = false>,
    %initial: !tile.view<128x128xf32> as <name = "initial_state", axes = "nhkv", heads = 4, role = "initial_state", optional = true>,
    %o: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>,
    %final: !tile.view<128x128xf32> as <name = "final_state", axes = "nhkv", heads = 4, role = "final_state", optional = true>)
    heads 4 values 128 block 128 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  %no_scores = arith.constant dense<0.0> : tensor<64x64xf32>
  %floor = arith.constant dense<-1.024000e+03> : tensor<64xf64>
  %scale = arith.constant dense<0.0883883461> : tensor<64x128xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <3 x (tensor<64x128xbf16>, tensor<64x128xbf16>)>
  %gates = tile.channel : <2 x (tensor<64xf32>, tensor<64xf32>)>
  %values = tile.channel : <2 x (tensor<64x128xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
      %qt = tile.load %q[%t, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
      tile.send %kt, %qt to %keys : tensor<64x128xbf16>, tensor<64x128xbf16> to !tile.channel<3 x (tensor<64x128xbf16>, tensor<64x128xbf16>)>
      %gt = tile.load %log_alpha[%t] : <?xf32> -> tensor<64xf32>
      %bt = tile.load %beta[%t] : <?xf32> -> tensor<64xf32>
      tile.send %gt, %bt to %gates : tensor<64xf32>, tensor<64xf32> to !tile.channel<2 x (tensor<64xf32>, tensor<64xf32>)>
      %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<64x128xbf16>
      tile.send %vt to %values : tensor<64x128xbf16> to !tile.channel<2 x (tensor<64x128xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt, %qt = tile.receive %keys : !tile.channel<3 x (tensor<64x128xbf16>, tensor<64x128xbf16>)>
      %kk = tile.dot %kt, %kt transposed, %no_scores : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
      %qk = tile.dot %qt, %kt transposed, %no_scores : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
      %gt, %bt = tile.receive %gates : !tile.channel<2 x (tensor<64xf32>, tensor<64xf32>)>
      %wide = arith.extf %gt : tensor<64xf32> to tensor<64xf64>
      %floored = arith.maximumf %wide, %floor : tensor<64xf64>
      %sum = tile.gate_sum %floored : tensor<64xf64>
      %narrow = arith.truncf %sum : tensor<64xf64> to tensor<64xf32>
      %decay = math.exp %narrow : tensor<64xf32>
      %last = tile.splat_last %sum : tensor<64xf64> -> tensor<64xf64>
      %rest = arith.subf %last, %sum : tensor<64xf64>
      %rest32 = arith.truncf %rest : tensor<64xf64> to tensor<64xf32>
      %remaining = math.exp %rest32 : tensor<64xf32>
      %matrix = tile.decay_matrix %sum at [1], %sum at [0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
      tile.release %keys : !tile.channel<3 x (tensor<64x128xbf16>, tensor<64x128xbf16>)>
      %scores = arith.mulf %qk, %matrix : tensor<64x64xf32>
      %scores16 = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xbf16>
      %decayed = arith.mulf %kk, %matrix : tensor<64x64xf32>
      %system = tile.scale_rows %decayed by %bt : tensor<64x64xf32>, tensor<64xf32>
      %inverse = tile.invert %system : tensor<64x64xf32>
      %inverse16 = arith.truncf %inverse : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.send %inverse16, %scores16, %decay, %remaining, %bt to %ready : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32> to !tile.channel<2 x (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)>
      tile.release %gates : !tile.channel<2 x (tensor<64xf32>, tensor<64xf32>)>
    }
  }
  tile.role "chain" warps 8 {
    %start = tile.load %initial[%c0, %column] : <128x128xf32> -> tensor<128x128xf32>
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %start) -> (tensor<128x128xf32>) {
      %state16 = arith.truncf %state : tensor<128x128xf32> to tensor<128x128xbf16>
      %kt, %qt = tile.receive %keys : !tile.channel<3 x (tensor<64x128xbf16>, tensor<64x128xbf16>)>
      %read = tile.dot %kt, %state16, %none : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
      %out = tile.dot %qt, %state16, %none : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
      %inverse, %scores, %decay, %remaining, %bt = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)>
      %decayed = tile.scale_rows %read by %decay : tensor<64x128xf32>, tensor<64xf32>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x128xbf16>)>
      %v32 = arith.extf %vt : tensor<64x128xbf16> to tensor<64x128xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x128xbf16>)>
      %difference = arith.subf %v32, %decayed : tensor<64x128xf32>
      %strong = tile.scale_rows %difference by %bt : tensor<64x128xf32>, tensor<64xf32>
      %strong16 = arith.truncf %strong : tensor<64x128xf32> to tensor<64x128xbf16>
      %writes = tile.dot %inverse, %strong16, %none : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
      %out_decayed = tile.scale_rows %out by %decay : tensor<64x128xf32>, tensor<64xf32>
      %writes16 = arith.truncf %writes : tensor<64x128xf32> to tensor<64x128xbf16>
      %out_all = tile.dot %scores, %writes16, %out_decayed : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
      %all = tile.splat_last %decay : tensor<64xf32> -> tensor<128xf32>
      %kept = tile.scale_rows %state by %all : tensor<128x128xf32>, tensor<128xf32>
      %fresh = tile.scale_rows %writes by %remaining : tensor<64x128xf32>, tensor<64xf32>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)>
      %fresh16 = arith.truncf %fresh : tensor<64x128xf32> to tensor<64x128xbf16>
      %next = tile.dot %kt transposed, %fresh16, %kept : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
      tile.release %keys : !tile.channel<3 x (tensor<64x128xbf16>, tensor<64x128xbf16>)>
      %scaled = arith.mulf %out_all, %scale : tensor<64x128xf32>
      tile.store %scaled, %o[%t, %column] : tensor<64x128xf32>, <?x128xbf16>
      scf.yield %next : tensor<128x128xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<128x128xf32>, <128x128xf32>
  }
  tile.return
}
