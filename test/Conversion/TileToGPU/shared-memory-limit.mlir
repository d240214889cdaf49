// RUN: not prism-opt %s --convert-tile-to-gpu -split-input-file 2>&1 | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: not prism-opt %s --convert-tile-to-gpu=target=cuda:sm_120a -split-input-file 2>&1 | FileCheck %s --check-prefixes=CHECK,SM120
// RUN: not prism-opt %s "--convert-tile-to-gpu=target=cuda:sm_90a{smem=64K}" -split-input-file 2>&1 | FileCheck %s --check-prefixes=CHECK,SMALL

// What does not fit: the bytes needed, the bytes there are, the extent to reduce.
// SM90: error: 'tile.program' op needs 574592 bytes of shared memory, sm_90a offers 232448 a block; reduce the value block (now 512 of 512 value columns)
// SM120: error: 'tile.program' op needs 574592 bytes of shared memory, sm_120a offers 101376 a block; reduce the value block (now 512 of 512 value columns)
// SMALL: error: 'tile.program' op needs 574592 bytes of shared memory, sm_90a offers 65536 a block; reduce the value block (now 512 of 512 value columns)
tile.program @wide(
    %q: !tile.view<?x256xf32> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %s0: !tile.view<256x512xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x512xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 512 block 512 chunk 16 {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x512xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<256x512xf32> -> tensor<256x512xf32>
  %SN = scf.for %t = %c0 to %T step %step iter_args(%S = %S0) -> (tensor<256x512xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x256xf32> -> tensor<16x256xf32>
    %y = tile.dot %qc, %S, %zero : tensor<16x256xf32>, tensor<256x512xf32> -> tensor<16x512xf32>
    %S1 = tile.dot %qc transposed, %y, %S : tensor<16x256xf32>, tensor<16x512xf32> -> tensor<256x512xf32>
    tile.store %y, %o[%t, %vb] : tensor<16x512xf32>, !tile.view<?x512xf32>
    scf.yield %S1 : tensor<256x512xf32>
  }
  tile.return
}

// -----

// CHECK: error: 'tile.program' op needs {{[0-9]+}} bytes of shared memory, {{.*}}; reduce the chunk (now 512)
tile.program @long(
    %q: !tile.view<?x128xf32> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %s0: !tile.view<128x32xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x32xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 32 block 32 chunk 512 {
  %c0 = arith.constant 0 : index
  %step = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<512x32xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<128x32xf32> -> tensor<128x32xf32>
  %SN = scf.for %t = %c0 to %T step %step iter_args(%S = %S0) -> (tensor<128x32xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x128xf32> -> tensor<512x128xf32>
    %y = tile.dot %qc, %S, %zero : tensor<512x128xf32>, tensor<128x32xf32> -> tensor<512x32xf32>
    %S1 = tile.dot %qc transposed, %y, %S : tensor<512x128xf32>, tensor<512x32xf32> -> tensor<128x32xf32>
    tile.store %y, %o[%t, %vb] : tensor<512x32xf32>, !tile.view<?x32xf32>
    scf.yield %S1 : tensor<128x32xf32>
  }
  tile.return
}
