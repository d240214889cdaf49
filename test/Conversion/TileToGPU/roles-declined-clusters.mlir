// Programs whose blocks share what there is no code for: each reason.
//
// RUN: prism-opt %s --convert-tile-to-gpu -split-input-file -verify-diagnostics

// expected-error @+1 {{has roles that there is no code for: only roles 'prepare' and 'load' run apart}}
tile.program @chain_apart(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xbf16>, tensor<64x64xbf16>)>
  tile.role "load" warps 4 apart 1 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      %vt = tile.load %v[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt, %vt to %keys : tensor<64x64xbf16>, tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>, tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 apart 1 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt, %vt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>, tensor<64x64xbf16>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>, tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// Two blocks take turns in filling three slots: neither would have the same ones every time.
// expected-error @+1 {{has roles that there is no code for: a channel of 3 slots is filled by 2 blocks}}
tile.program @uneven_slots(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x128xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 128 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <3 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 cluster 2 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %wide = arith.extf %kt : tensor<64x64xbf16> to tensor<64x64xf32>
      %negated = arith.negf %wide : tensor<64x64xf32>
      %m = arith.truncf %negated : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<3 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<3 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %m transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<3 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x128xf32>
  }
  tile.return
}

// -----

// Behind a block's last turn come three messages more, and nobody there gives back the first.
// expected-error @+1 {{has roles that there is no code for: 4 blocks take turns in preparing, and a message that all of them load has 2 slots, fewer than 3}}
tile.program @too_few_slots_for_turns(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x256xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 256 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <4 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 cluster 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %scores = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      %m = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<4 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %m = tile.receive %ready : !tile.channel<4 x (tensor<64x64xbf16>)>
      %next = tile.dot %kt transposed, %m, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<4 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x256xf32>
  }
  tile.return
}
