// Programs of roles that the tensor-core lowering has no code for: each reason.
//
// RUN: prism-opt %s --convert-tile-to-gpu -split-input-file -verify-diagnostics

tile.program @taken(
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

// -----

// expected-error @+1 {{has roles that there is no code for: of 'k' it sends a matrix tensor<64x64xf32>, not bf16}}
tile.program @wide_matrix(
    %k: !tile.view<?x64xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xf32>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xf32> -> tensor<64x64xf32>
      tile.send %kt to %keys : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xf32>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %wide = arith.extf %vt : tensor<64x64xbf16> to tensor<64x64xf32>
      %next = tile.dot %kt transposed, %wide, %state : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xf32>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: rows of 'k' have 68 elements, which are no whole pieces of 16 bytes (8 elements)}}
tile.program @short_rows(
    %k: !tile.view<?x68xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<68x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<68x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x68xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x68xbf16> -> tensor<64x68xbf16>
      tile.send %kt to %keys : tensor<64x68xbf16> to !tile.channel<2 x (tensor<64x68xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<68x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x68xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x68xbf16>, tensor<64x64xbf16> -> tensor<68x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x68xbf16>)>
      scf.yield %next : tensor<68x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<68x64xf32>, <68x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: it multiplies tensor<64x64xf32>, not rounded to bf16}}
tile.program @product_of_f32(
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
      %wide = arith.extf %kt : tensor<64x64xbf16> to tensor<64x64xf32>
      %values32 = arith.extf %vt : tensor<64x64xbf16> to tensor<64x64xf32>
      %next = tile.dot %wide transposed, %values32, %state : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: a product of 64 x 72 is no multiple of 64 x 16 up to 256 columns}}
tile.program @columns(
    %k: !tile.view<?x72xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<72x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<72x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x72xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x72xbf16> -> tensor<64x72xbf16>
      tile.send %kt to %keys : tensor<64x72xbf16> to !tile.channel<2 x (tensor<64x72xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<72x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x72xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x72xbf16>, tensor<64x64xbf16> -> tensor<72x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x72xbf16>)>
      scf.yield %next : tensor<72x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<72x64xf32>, <72x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: it contracts 72 elements, not a multiple of 16}}
tile.program @contracted(
    %k: !tile.view<?x72xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<72x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<72x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x72xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x72xbf16> -> tensor<64x72xbf16>
      tile.send %kt to %keys : tensor<64x72xbf16> to !tile.channel<2 x (tensor<64x72xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<72x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x72xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %state16 = arith.truncf %state : tensor<72x64xf32> to tensor<72x64xbf16>
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %seen = tile.dot %kt, %state16, %zero : tensor<64x72xbf16>, tensor<72x64xbf16> -> tensor<64x64xf32>
      %next = arith.addf %state, %state : tensor<72x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x72xbf16>)>
      scf.yield %next : tensor<72x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<72x64xf32>, <72x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: it sums gates of tensor<64xf64>}}
tile.program @gates_of_the_chain(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %gates = arith.constant dense<0.0> : tensor<64xf64>
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
      %sum = tile.gate_sum %gates : tensor<64xf64>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: there is no code for 'tile.solve'}}
tile.program @unknown_op(
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
      %next = tile.solve %none, %state : tensor<64x64xf32>, tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: role 'load' has no one loop over chunks}}
tile.program @two_loops(
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
    scf.for %t = %c0 to %length step %c64 {
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

// -----

// expected-error @+1 {{has roles that there is no code for: a role other than 'load' loads in its loop}}
tile.program @load_in_the_chain(
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
      %again = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      %next = tile.dot %again transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: an inverse is used otherwise than to be sent}}
tile.program @used_inverse(
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
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %product = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %inverse = tile.invert %product : tensor<64x64xf32>
      %twice = arith.addf %inverse, %inverse : tensor<64x64xf32>
      %twice16 = arith.truncf %twice : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.send %twice16 to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// The reason says where its op stands.
// expected-error-re @+1 {{has roles that there is no code for: it inverts tensor<32x32xf32>, not 64 rows ({{.*}}:{{[0-9]+}}:{{[0-9]+}})}}
tile.program @small_inverse(
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
  %ready = tile.channel : <2 x (tensor<32x32xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %product = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %small = arith.constant dense<0.0> : tensor<32x32xf32>
      %inverse = tile.invert %small : tensor<32x32xf32>
      %inverse16 = arith.truncf %inverse : tensor<32x32xf32> to tensor<32x32xbf16>
      tile.send %inverse16 to %ready : tensor<32x32xbf16> to !tile.channel<2 x (tensor<32x32xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %m = tile.receive %ready : !tile.channel<2 x (tensor<32x32xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<32x32xbf16>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: a message holds tensor<64x64xf32>}}
tile.program @wide_message(
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
  %ready = tile.channel : <2 x (tensor<64x64xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %product = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %product to %ready : tensor<64x64xf32> to !tile.channel<2 x (tensor<64x64xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xf32>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xf32>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: a channel has no sender or no receiver}}
tile.program @no_sender(
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
  %empty = tile.channel : <2 x (tensor<64xf32>)>
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

// -----

// expected-error @+1 {{has roles that there is no code for: role 'chain' has 6 warps, no whole warpgroups}}
tile.program @odd_warps(
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
  tile.role "chain" warps 6 {
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

// -----

// expected-error @+1 {{has roles that there is no code for: role 'chain' has 4 warps for 128 value columns, 16 of them each}}
tile.program @few_warps(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x128xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 128 block 128 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x128xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %kt to %keys : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<64x128xbf16>
      tile.send %vt to %values : tensor<64x128xbf16> to !tile.channel<2 x (tensor<64x128xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x128xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x128xbf16>)>
      %next = tile.dot %kt transposed, %vt, %state : tensor<64x64xbf16>, tensor<64x128xbf16> -> tensor<64x128xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x128xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x128xf32>, <64x128xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: its roles need 1024 threads, more than registers suffice for}}
tile.program @many_warps(
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
  tile.role "chain" warps 28 {
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

// -----

// One type of operands: that of the dots.
// expected-error @+1 {{has roles that there is no code for: of 'v' it sends a matrix tensor<64x64xbf16>, not f16}}
tile.program @two_types(
    %k: !tile.view<?x64xf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xf16> -> tensor<64x64xf16>
      tile.send %kt to %keys : tensor<64x64xf16> to !tile.channel<2 x (tensor<64x64xf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %wide = arith.extf %vt : tensor<64x64xbf16> to tensor<64x64xf32>
      %rounded = arith.truncf %wide : tensor<64x64xf32> to tensor<64x64xf16>
      %next = tile.dot %kt transposed, %rounded, %state : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// Powers of rows cannot be taken out of a product that contracts these rows.
// expected-error @+1 {{has roles that there is no code for: what is prepared in f16 (tensor<64x64xf16>) is used otherwise than as the left operand of products of the chain}}
tile.program @contracted_powers(
    %k: !tile.view<?x64xf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xf16>)>
  %values = tile.channel : <2 x (tensor<64x64xf16>)>
  %products = tile.channel : <2 x (tensor<64x64xf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x64xf16> -> tensor<64x64xf16>
      tile.send %kt to %keys : tensor<64x64xf16> to !tile.channel<2 x (tensor<64x64xf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xf16> -> tensor<64x64xf16>
      tile.send %vt to %values : tensor<64x64xf16> to !tile.channel<2 x (tensor<64x64xf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x64xf16>)>
      %wide = tile.dot %kt, %kt transposed, %none : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      %scores = arith.truncf %wide : tensor<64x64xf32> to tensor<64x64xf16>
      tile.send %scores to %products : tensor<64x64xf16> to !tile.channel<2 x (tensor<64x64xf16>)>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %scores = tile.receive %products : !tile.channel<2 x (tensor<64x64xf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xf16>)>
      %next = tile.dot %scores transposed, %vt, %state : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xf16>)>
      tile.release %products : !tile.channel<2 x (tensor<64x64xf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: rows of 'k', 'v' are stacked, a token's together, and only 2 or 4 rows of one array in its order can be}}
tile.program @rows_of_two_arrays(
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
      %k0 = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<32x64xbf16>
      %k1 = tile.load %v[%t, %c0] : <?x64xbf16> -> tensor<32x64xbf16>
      %kt = tile.interleave %k0, %k1 : tensor<32x64xbf16>, tensor<32x64xbf16> -> tensor<64x64xbf16>
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

// -----

// Maps of segments lie as the chain holds states.
// expected-error @+1 {{has roles that there is no code for: a role other than 'chain' has maps of segments}}
tile.program @folds_in_loads(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>,
    %map: !tile.view<?x5x1024xf32> as <name = "segment_map", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 64 block 64 chunk 64 segments all {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x64xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    %start = tile.fold_maps %map[%column] factors 64 into %none : <?x5x1024xf32>, tensor<64x64xf32>
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
