// RUN: prism-opt %s --convert-tile-to-gpu -split-input-file -verify-diagnostics

tile.program @unknown_op(
    %a: !tile.view<4x16xf32> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<4x16xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 16 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<4x16xf32> -> tensor<4x16xf32>
  // expected-error @+1 {{'tensor.cast' op has no GPU lowering inside a tile.program}}
  %B = tensor.cast %A : tensor<4x16xf32> to tensor<?x16xf32>
  tile.store %A, %r[%c0, %c0] : tensor<4x16xf32>, !tile.view<4x16xf32>
  tile.return
}

// -----

tile.program @inverse(
    %a: !tile.view<16x16xf32> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<16x16xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 16 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  // expected-error @+1 {{'tile.invert' op has no GPU lowering inside a tile.program}}
  %B = tile.invert %A : tensor<16x16xf32>
  tile.store %B, %r[%c0, %c0] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}
