// Decays per key that the tensor-core lowering has no code for: each reason.
// RUN: prism-opt %s --convert-tile-to-gpu -split-input-file -verify-diagnostics

// expected-error @+1 {{has roles that there is no code for: 'tile.decay_product' reads a tile that 'tile.dot' makes as a whole}}
tile.program @made_as_a_whole(
    %g: !tile.view<?x64xf32> as <name = "g", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<64x64xf32>)>
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.load %g[%t, %c0] : <?x64xf32> -> tensor<64x64xf32>
      tile.send %gt to %gates : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %w = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      %p = tile.decay_product %w : tensor<64x64xf32>
      %m = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %m transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: the last row is of something else than all decays of a chunk}}
tile.program @last_of_some(
    %g: !tile.view<?x64xf32> as <name = "g", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<64x64xf32>)>
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.load %g[%t, %c0] : <?x64xf32> -> tensor<64x64xf32>
      tile.send %gt to %gates : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %d = math.exp %gt : tensor<64x64xf32>
      %p = tile.decay_product exclusive %d : tensor<64x64xf32>
      %m = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xbf16>
      %l = tile.last_row %p : tensor<64x64xf32> -> tensor<64xf32>
      tile.release %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %m transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: decays per key are made by 'tile.receive', not by 'math.exp'}}
tile.program @not_of_gates(
    %g: !tile.view<?x64xf32> as <name = "g", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<64x64xf32>)>
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.load %g[%t, %c0] : <?x64xf32> -> tensor<64x64xf32>
      tile.send %gt to %gates : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %p = tile.decay_product %gt : tensor<64x64xf32>
      %m = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xbf16>
      %l = tile.last_row %p : tensor<64x64xf32> -> tensor<64xf32>
      tile.release %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %m transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: a product of decays is used otherwise than to be sent}}
tile.program @kept(
    %g: !tile.view<?x64xf32> as <name = "g", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<64x64xf32>)>
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.load %g[%t, %c0] : <?x64xf32> -> tensor<64x64xf32>
      tile.send %gt to %gates : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %d = math.exp %gt : tensor<64x64xf32>
      %p = tile.decay_product %d : tensor<64x64xf32>
      %r = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xbf16>
      %w = arith.extf %r : tensor<64x64xbf16> to tensor<64x64xf32>
      %m = arith.truncf %w : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %m transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: 'tile.decay_product' of decays per key stands on the chain}}
tile.program @on_the_chain(
    %g: !tile.view<?x64xf32> as <name = "g", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<64x64xf32>)>
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.load %g[%t, %c0] : <?x64xf32> -> tensor<64x64xf32>
      tile.send %gt to %gates : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %d = math.exp %gt : tensor<64x64xf32>
      %p = tile.decay_product %d : tensor<64x64xf32>
      %m = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %p = tile.decay_product %state : tensor<64x64xf32>
      %next = tile.dot %m transposed, %vt, %p : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: it computes by keys of tensor<64x72xf32>, not of 64 rows and 16 to 128 columns in steps of 16}}
tile.program @of_72_keys(
    %g: !tile.view<?x72xf32> as <name = "g", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<64x72xf32>)>
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.load %g[%t, %c0] : <?x72xf32> -> tensor<64x72xf32>
      tile.send %gt to %gates : tensor<64x72xf32> to !tile.channel<2 x (tensor<64x72xf32>)>
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<64x72xf32>)>
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %d = math.exp %gt : tensor<64x72xf32>
      %p = tile.decay_product %d : tensor<64x72xf32>
      %l = tile.last_row %p : tensor<64x72xf32> -> tensor<72xf32>
      %w = arith.extf %kt : tensor<64x64xbf16> to tensor<64x64xf32>
      %m = arith.truncf %w : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %gates : !tile.channel<2 x (tensor<64x72xf32>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %m transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: it rounds tensor<64x64xf32> as it was received}}
tile.program @rounded_as_received(
    %g: !tile.view<?x64xf32> as <name = "g", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = tile.channel : <2 x (tensor<64x64xf32>)>
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.load %g[%t, %c0] : <?x64xf32> -> tensor<64x64xf32>
      tile.send %gt to %gates : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %gt = tile.receive %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %m = arith.truncf %gt : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %gates : !tile.channel<2 x (tensor<64x64xf32>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %m transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}
