// Sums along rows and masks of rows that the lowering of roles has no code for, after one
// program that it takes: an error with the reason.
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
      %w = arith.extf %kt : tensor<64x64xbf16> to tensor<64x64xf32>
      %squares = arith.mulf %w, %w : tensor<64x64xf32>
      %sums = tile.sum_columns %squares : tensor<64x64xf32> -> tensor<64xf32>
      %r = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      %x = tile.scale_rows %r by %sums : tensor<64x64xf32>, tensor<64xf32>
      %m = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xbf16>
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

// expected-error @+1 {{has roles that there is no code for: it sums squares of tensor<64x72xbf16>, not of 16, 32 or 64 rows and columns in steps of 16}}
tile.program @columns(
    %k: !tile.view<?x72xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %final: !tile.view<64x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 64 {
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %keys = tile.channel : <2 x (tensor<64x72xbf16>)>
  %values = tile.channel : <2 x (tensor<64x64xbf16>)>
  %ready = tile.channel : <2 x (tensor<64x64xbf16>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.load %k[%t, %c0] : <?x72xbf16> -> tensor<64x72xbf16>
      tile.send %kt to %keys : tensor<64x72xbf16> to !tile.channel<2 x (tensor<64x72xbf16>)>
      %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      tile.send %vt to %values : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c64 {
      %kt = tile.receive %keys : !tile.channel<2 x (tensor<64x72xbf16>)>
      %w = arith.extf %kt : tensor<64x72xbf16> to tensor<64x72xf32>
      %squares = arith.mulf %w, %w : tensor<64x72xf32>
      %sums = tile.sum_columns %squares : tensor<64x72xf32> -> tensor<64xf32>
      %r = tile.dot %kt, %kt transposed, %none : tensor<64x72xbf16>, tensor<64x72xbf16> -> tensor<64x64xf32>
      %x = tile.scale_rows %r by %sums : tensor<64x64xf32>, tensor<64xf32>
      %m = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %keys : !tile.channel<2 x (tensor<64x72xbf16>)>
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

// expected-error @+1 {{has roles that there is no code for: it sums along rows of tensor<64x64xf32>, which are computed as a whole}}
tile.program @sums_of_products(
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
      %r = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      %sums = tile.sum_columns %r : tensor<64x64xf32> -> tensor<64xf32>
      %x = tile.scale_rows %r by %sums : tensor<64x64xf32>, tensor<64xf32>
      %m = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xbf16>
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

// expected-error @+1 {{has roles that there is no code for: it sums along the value columns of tensor<64x64xf32>}}
tile.program @values(
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
      %r = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      %m = arith.truncf %r : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.release %keys : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.send %m to %ready : tensor<64x64xbf16> to !tile.channel<2 x (tensor<64x64xbf16>)>
    }
  }
  tile.role "chain" warps 4 {
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %none) -> (tensor<64x64xf32>) {
      %m = tile.receive %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      %vt = tile.receive %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      %w = arith.extf %vt : tensor<64x64xbf16> to tensor<64x64xf32>
      %sums = tile.sum_columns %w : tensor<64x64xf32> -> tensor<64xf32>
      %kept = tile.scale_rows %state by %sums : tensor<64x64xf32>, tensor<64xf32>
      %next = tile.dot %m transposed, %vt, %kept : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.release %values : !tile.channel<2 x (tensor<64x64xbf16>)>
      tile.release %ready : !tile.channel<2 x (tensor<64x64xbf16>)>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %end, %final[%c0, %column] : tensor<64x64xf32>, <64x64xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{has roles that there is no code for: it masks rows of tensor<64x64xf32>, and only numbers of tokens are masked there}}
tile.program @masked_matrix(
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
      %r = tile.dot %kt, %kt transposed, %none : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      %inside = tile.mask_rows %r from %t : tensor<64x64xf32>
      %m = arith.truncf %inside : tensor<64x64xf32> to tensor<64x64xbf16>
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
