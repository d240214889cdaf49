// RUN: prism-opt %s --convert-tile-to-gpu -split-input-file -verify-diagnostics

// f64 functions need a device library; f64 entries are for the CPU.
// expected-error @+1 {{argument "a" is f64; f64 entries run on the CPU only for now, give the entry an I/O type of f32, bf16 or f16 for the GPU}}
tile.program @argument(
    %a: !tile.view<4x16xf64> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<4x16xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 1 {
  tile.return
}

// -----

tile.program @function(
    %a: !tile.view<4x16xf32> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<4x16xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 1 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<4x16xf32> -> tensor<4x16xf64>
  // expected-error @+1 {{'math.exp' op is an f64 function; f64 entries run on the CPU only for now}}
  %E = math.exp %A : tensor<4x16xf64>
  tile.store %E, %r[%c0, %c0] : tensor<4x16xf64>, !tile.view<4x16xf32>
  tile.return
}
