// A gate is split into a multiple of a power of two, of which an f32 holds sums of
// all gates down to -1024, and a rest. 1.5 * 2^23 of it moves what is added to it to
// such a multiple: of 2^-8 for 64 gates, of 2^-7 for 96 and for 128.
//
// RUN: prism-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: sed 's/96/64/g' %s | prism-opt --convert-tile-to-gpu | FileCheck %s --check-prefix=OF64
// RUN: sed 's/96/128/g' %s | prism-opt --convert-tile-to-gpu | FileCheck %s

// CHECK: arith.constant 9.830400e+04 : f32
// OF64: arith.constant 4.915200e+04 : f32
tile.program @decays(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<64x64xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 96 {
  %c0 = arith.constant 0 : index
  %c96 = arith.constant 96 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<96xf32>)>
  %decays = tile.channel : <2 x (tensor<96xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c96 {
      %gt = tile.load %g[%t] : <?xf32> -> tensor<96xf32>
      tile.send %gt to %gates : tensor<96xf32> to !tile.channel<2 x (tensor<96xf32>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c96 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<96xf32>)>
      %wide = arith.extf %gt : tensor<96xf32> to tensor<96xf64>
      %sum = tile.gate_sum %wide : tensor<96xf64>
      %low = arith.truncf %sum : tensor<96xf64> to tensor<96xf32>
      tile.send %low to %decays : tensor<96xf32> to !tile.channel<2 x (tensor<96xf32>)>
      tile.release %gates : !tile.channel<2 x (tensor<96xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    %start = tile.load %initial[%c0, %column] : <64x64xf32> -> tensor<64x64xf32>
    %end = scf.for %t = %c0 to %length step %c96 iter_args(%state = %start) -> (tensor<64x64xf32>) {
      %sums = tile.receive %decays : !tile.channel<2 x (tensor<96xf32>)>
      %all = tile.splat_last %sums : tensor<96xf32> -> tensor<64xf32>
      %decay = math.exp %all : tensor<64xf32>
      %next = tile.scale_rows %state by %decay : tensor<64x64xf32>, tensor<64xf32>
      tile.release %decays : !tile.channel<2 x (tensor<96xf32>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}
