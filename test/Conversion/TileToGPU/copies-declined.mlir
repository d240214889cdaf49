// Programs whose state no kernel copies in bulk: each reason.
//
// RUN: prism-opt %s --convert-tile-to-gpu=copies-state -split-input-file -verify-diagnostics

// expected-error @+1 {{cannot copy its state: its state is not of 16 bits}}
tile.program @wide_numbers(
    %k: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %s0: !tile.view<128x128xf32> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %sn: !tile.view<128x128xf32> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 128 block 128 chunk 1 {
  %none = arith.constant dense<0.0> : tensor<1x128xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <128x128xf32> -> tensor<128x128xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %start) -> (tensor<128x128xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x128xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x128xf32>, <?x128xbf16>
    scf.yield %next : tensor<128x128xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xf32>
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: its rows of values are not whole in a block}}
tile.program @part_of_rows(
    %k: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %s0: !tile.view<128x128xbf16> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %sn: !tile.view<128x128xbf16> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 128 block 64 chunk 1 {
  %none = arith.constant dense<0.0> : tensor<1x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <128x128xbf16> -> tensor<128x64xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %start) -> (tensor<128x64xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x64xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x64xf32> -> tensor<1x64xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x64xf32> -> tensor<128x64xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x64xf32>, <?x128xbf16>
    scf.yield %next : tensor<128x64xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<128x64xf32>, <128x128xbf16>
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: a state of 64 keys x 64 values is not 4 to 8 warps of 8 rows x 8 columns a thread}}
tile.program @small(
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %v: !tile.view<?x64xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %s0: !tile.view<64x64xbf16> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x64xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %sn: !tile.view<64x64xbf16> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 1 {
  %none = arith.constant dense<0.0> : tensor<1x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <64x64xbf16> -> tensor<64x64xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %start) -> (tensor<64x64xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x64xbf16> -> tensor<1x64xf32>
    %vt = tile.load %v[%t, %column] : <?x64xbf16> -> tensor<1x64xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x64xf32>, tensor<64x64xf32> -> tensor<1x64xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x64xf32>, tensor<1x64xf32> -> tensor<64x64xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x64xf32>, <?x64xbf16>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<64x64xf32>, <64x64xbf16>
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: its steps do not lead from an initial to a final state}}
tile.program @no_end(
    %k: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %s0: !tile.view<128x128xbf16> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %sn: !tile.view<128x128xbf16> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 128 block 128 chunk 1 {
  %none = arith.constant dense<0.0> : tensor<1x128xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <128x128xbf16> -> tensor<128x128xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %start) -> (tensor<128x128xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x128xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x128xf32>, <?x128xbf16>
    scf.yield %next : tensor<128x128xf32>
  }
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: a step has 'math.exp' of keys x values}}
tile.program @function(
    %k: !tile.view<?x128xbf16> as <name = "k", axes = "bthk", heads = 1, role = "input", optional = false>,
    %v: !tile.view<?x128xbf16> as <name = "v", axes = "bthv", heads = 1, role = "input", optional = false>,
    %s0: !tile.view<128x128xbf16> as <name = "initial_state", axes = "nhkv", heads = 1, role = "initial_state", optional = true>,
    %o: !tile.view<?x128xbf16> as <name = "o", axes = "bthv", heads = 1, role = "output", optional = false>,
    %sn: !tile.view<128x128xbf16> as <name = "final_state", axes = "nhkv", heads = 1, role = "final_state", optional = true>)
    heads 1 values 128 block 128 chunk 1 {
  %none = arith.constant dense<0.0> : tensor<1x128xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s0[%c0, %column] : <128x128xbf16> -> tensor<128x128xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %start) -> (tensor<128x128xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x128xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    %grown = math.exp %next : tensor<128x128xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x128xf32>, <?x128xbf16>
    scf.yield %grown : tensor<128x128xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.return
}
