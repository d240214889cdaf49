// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-merge-roles{check-channels}))' -split-input-file -verify-diagnostics

// The chain takes one message of the second channel in advance, and the loads wait
// for the first channel's slot: nobody can go on.
// expected-error @below {{'tile.program' op comes to a halt: load waits for an empty slot, chain waits for a message}}
tile.program @halt(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  %b = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      // expected-note @below {{load waits here}}
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
      tile.send %zero to %b : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    %early = tile.receive %b : !tile.channel<1 x (tensor<4x8xf32>)>
    tile.release %b : !tile.channel<1 x (tensor<4x8xf32>)>
    scf.for %t = %c0 to %length step %c4 {
      // expected-note @below {{chain waits here}}
      %x = tile.receive %b : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %b : !tile.channel<1 x (tensor<4x8xf32>)>
      %y = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

// expected-error @below {{'tile.program' op comes to a halt: load waits for a message, chain waits for a message}}
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
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      // expected-note @below {{load waits here}}
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.send %zero to %b : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      // expected-note @below {{chain waits here}}
      %x = tile.receive %b : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %b : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @unread(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error @below {{'tile.channel' op is never received}}
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @unsent(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error @below {{'tile.channel' op is never sent}}
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @two_senders(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      // expected-error @below {{'tile.send' op fills a channel that another role fills}}
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @own_message(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      // expected-error @below {{'tile.release' op receives what its own role sends}}
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "prepare" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @twice(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <1 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
      // expected-error @below {{'tile.send' op uses a slot a second time in one iteration}}
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      %x = tile.receive %a : !tile.channel<1 x (tensor<4x8xf32>)>
      tile.release %a : !tile.channel<1 x (tensor<4x8xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @left(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %length = tile.length : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %a = tile.channel : <5 x (tensor<4x8xf32>)>
  tile.role "load" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      tile.send %zero to %a : tensor<4x8xf32> to !tile.channel<5 x (tensor<4x8xf32>)>
    }
  }
  // expected-error @below {{'tile.role' op leaves messages unread: 5 were sent, it receives 1}}
  tile.role "chain" warps 4 {
    %x = tile.receive %a : !tile.channel<5 x (tensor<4x8xf32>)>
    tile.release %a : !tile.channel<5 x (tensor<4x8xf32>)>
  }
  tile.return
}
