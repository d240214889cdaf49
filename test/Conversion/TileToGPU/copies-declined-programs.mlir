// Programs that are no steps of one state from its load to its store, which is
// what a kernel that copies the state takes: each reason.
//
// RUN: prism-opt %s --convert-tile-to-gpu=copies-state -split-input-file -verify-diagnostics

// expected-error @+1 {{cannot copy its state: it reads more than one state}}
tile.program @read_twice(
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
  %again = tile.load %s0[%c0, %column] : <128x128xbf16> -> tensor<128x128xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %start) -> (tensor<128x128xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x128xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x128xf32>, <?x128xbf16>
    scf.yield %next : tensor<128x128xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: it writes more than one state}}
tile.program @written_twice(
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
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: it is no loop over the steps of one state}}
tile.program @later_steps(
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
  %end = scf.for %t = %c1 to %length step %c1 iter_args(%S = %start) -> (tensor<128x128xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x128xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x128xf32>, <?x128xbf16>
    scf.yield %next : tensor<128x128xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: it computes tiles outside its steps}}
tile.program @doubled(
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
  %doubled = arith.addf %start, %start : tensor<128x128xf32>
  %end = scf.for %t = %c0 to %length step %c1 iter_args(%S = %doubled) -> (tensor<128x128xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x128xbf16> -> tensor<1x128xf32>
    %vt = tile.load %v[%t, %column] : <?x128xbf16> -> tensor<1x128xf32>
    %seen = tile.dot %kt, %S, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %next = tile.dot %kt transposed, %vt, %S : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    tile.store %seen, %o[%t, %column] : tensor<1x128xf32>, <?x128xbf16>
    scf.yield %next : tensor<128x128xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.return
}

// -----

// expected-error @+1 {{cannot copy its state: its steps are cut into segments or go backwards}}
tile.program reverse @backwards(
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
  tile.store %end, %sn[%c0, %column] : tensor<128x128xf32>, <128x128xbf16>
  tile.return
}
