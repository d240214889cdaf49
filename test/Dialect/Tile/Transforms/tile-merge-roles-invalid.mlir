// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-merge-roles))' -split-input-file -verify-diagnostics

// Each waits for what the other sends.
tile.program @circle(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  %b = tile.channel : <1 x (tensor<4x8xf32>)>
  // expected-error @below {{'tile.role' op waits for messages that wait for its own}}
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.send %zero to %b : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      %x = tile.receive %b : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %b : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @ranges(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    // expected-note @below {{that role's loop}}
    scf.for %t = %c0 to %length step %c4 {
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    // expected-error @below {{'scf.for' op runs over another range than a role beside it}}
    scf.for %t = %c0 to %length step %c8 {
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @two_loops(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  // expected-error @below {{'tile.role' op has 2 loops, expected one}}
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
    }
    scf.for %t = %c0 to %length step %c4 {
    }
  }
  tile.return
}

// -----

tile.program @other_part(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
  }
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      // expected-error @below {{'tile.receive' op has no send in the same part of another role}}
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @layout(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32, "shared">)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32, "shared">)>
    }
  }
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      // expected-error @below {{'tile.receive' op receives 'tensor<4x8xf32, "shared">' where 'tensor<4x8xf32>' was sent}}
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32, "shared">)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32, "shared">)>
    }
  }
  tile.return
}
