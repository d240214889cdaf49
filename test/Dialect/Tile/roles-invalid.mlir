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
