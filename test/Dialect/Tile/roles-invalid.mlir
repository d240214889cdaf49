// RUN: prism-opt %s -split-input-file -verify-diagnostics

// One block of values has nobody to take turns with.
tile.program @one_block() heads 1 values 8 block 8 chunk 4 {
  // expected-error @+1 {{'tile.role' op is shared by the blocks of a cluster, whose number divides the blocks of values, 1, found 2}}
  tile.role "prepare" warps 4 cluster 2 {
  }
  tile.return
}

// -----

tile.program @uneven() heads 1 values 32 block 8 chunk 4 {
  // expected-error @+1 {{'tile.role' op is shared by the blocks of a cluster, whose number divides the blocks of values, 4, found 3}}
  tile.role "prepare" warps 4 cluster 3 {
  }
  tile.return
}

// -----

tile.program @no_block() heads 1 values 16 block 8 chunk 4 {
  // expected-error @+1 {{'tile.role' op is shared by the blocks of a cluster, whose number divides the blocks of values, 2, found 0}}
  tile.role "prepare" warps 4 cluster 0 {
  }
  tile.return
}

// -----

tile.program @no_warp() heads 1 values 16 block 8 chunk 4 {
  // expected-error @+1 {{'tile.role' op runs on at least one warp, found 0}}
  tile.role "prepare" warps 0 {
  }
  tile.return
}

// -----

// expected-error @+1 {{a channel has at least one slot, found 0}}
func.func private @no_slot(!tile.channel<0 x (tensor<8xf32>)>)

// -----

// expected-error @+1 {{a message is made of vector and matrix tiles, found 'f32'}}
func.func private @number(!tile.channel<1 x (f32)>)

// -----

// expected-error @+1 {{a message is made of vector and matrix tiles, found 'tensor<?xf32>'}}
func.func private @dynamic(!tile.channel<1 x (tensor<?xf32>)>)

// -----

tile.program @outside(%a: !tile.view<?xf32> as <name = "a", axes = "bth", heads = 1, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %channel = tile.channel : <1 x (tensor<4xf32>)>
  %x = tile.load %a[%c0] : <?xf32> -> tensor<4xf32>
  // expected-error @+1 {{'tile.send' op stands in a role, directly or in one loop; its iteration is the slot}}
  tile.send %x to %channel : tensor<4xf32> to !tile.channel<1 x (tensor<4xf32>)>
  tile.return
}

// -----

tile.program @parts(%a: !tile.view<?xf32> as <name = "a", axes = "bth", heads = 1, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %channel = tile.channel : <1 x (tensor<4xf32>, tensor<4xf32>)>
  tile.role "load" warps 4 {
    %x = tile.load %a[%c0] : <?xf32> -> tensor<4xf32>
    // expected-error @+1 {{'tile.send' op fills a message of 2 parts with 1 values}}
    tile.send %x to %channel : tensor<4xf32> to !tile.channel<1 x (tensor<4xf32>, tensor<4xf32>)>
  }
  tile.return
}

// -----

tile.program @part(%a: !tile.view<?xf32> as <name = "a", axes = "bth", heads = 1, role = "input", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %channel = tile.channel : <1 x (tensor<8xf32>)>
  tile.role "load" warps 4 {
    %x = tile.load %a[%c0] : <?xf32> -> tensor<4xf32>
    // expected-error @+1 {{'tile.send' op fills a part 'tensor<8xf32>' with a value 'tensor<4xf32>'}}
    tile.send %x to %channel : tensor<4xf32> to !tile.channel<1 x (tensor<8xf32>)>
  }
  tile.return
}

// -----

tile.program @not_received() heads 1 values 8 block 8 chunk 4 {
  %channel = tile.channel : <1 x (tensor<4xf32>)>
  tile.role "chain" warps 4 {
    // expected-error @+1 {{'tile.release' op follows a receive from the same channel in its block}}
    tile.release %channel : !tile.channel<1 x (tensor<4xf32>)>
  }
  tile.return
}

// -----

tile.program @read_late() heads 1 values 8 block 8 chunk 4 {
  %channel = tile.channel : <1 x (tensor<4xf32>)>
  tile.role "chain" warps 4 {
    %x = tile.receive %channel : !tile.channel<1 x (tensor<4xf32>)>
    // expected-note @+1 {{released here}}
    tile.release %channel : !tile.channel<1 x (tensor<4xf32>)>
    // expected-error @+1 {{'arith.addf' op reads a message after its slot was released}}
    %y = arith.addf %x, %x : tensor<4xf32>
  }
  tile.return
}

// -----

tile.program @kept() heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %channel = tile.channel : <1 x (tensor<4xf32>)>
  tile.role "chain" warps 4 {
    scf.for %t = %c0 to %length step %c4 {
      // expected-error @+1 {{'tile.receive' op is never released in this iteration}}
      %x = tile.receive %channel : !tile.channel<1 x (tensor<4xf32>)>
    }
  }
  tile.return
}

// -----

tile.program @in_no_block() heads 1 values 16 block 8 chunk 4 {
  // expected-error @+1 {{'tile.role' op runs apart in at least one block, found -1}}
  tile.role "prepare" warps 4 cluster 2 apart -1 {
  }
  tile.return
}

// -----

tile.program @both_ways() heads 1 values 16 block 8 chunk 4 {
  tile.role "load" warps 4 cluster 2 apart 1 {
  }
  // expected-error @+1 {{'tile.role' op is shared by the blocks of a cluster that has blocks of its own for what they share}}
  tile.role "prepare" warps 4 cluster 2 {
  }
  tile.return
}

// -----

tile.program @of_two_sizes() heads 1 values 16 block 8 chunk 4 {
  // expected-error @+1 {{'tile.role' op runs in 1 blocks beside 2, another role in 2 beside 2}}
  tile.role "load" warps 4 cluster 2 apart 1 {
  }
  tile.role "prepare" warps 4 cluster 2 apart 2 {
  }
  tile.return
}

// -----

tile.program @from_values(%a: !tile.view<?xf32> as <name = "a", axes = "bth", heads = 1, role = "input", optional = false>)
    heads 1 values 16 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %channel = tile.channel : <1 x (tensor<4xf32>)>
  tile.role "load" warps 4 {
    %x = tile.load %a[%c0] : <?xf32> -> tensor<4xf32>
    tile.send %x to %channel : tensor<4xf32> to !tile.channel<1 x (tensor<4xf32>)>
  }
  tile.role "prepare" warps 4 cluster 2 apart 1 {
    // expected-error @+1 {{'tile.receive' op stands in a role that runs apart, and 'load', which sends this, does not}}
    %x = tile.receive %channel : !tile.channel<1 x (tensor<4xf32>)>
    tile.release %channel : !tile.channel<1 x (tensor<4xf32>)>
  }
  tile.return
}
