// RUN: prism-opt %s -split-input-file -convert-tile-to-cpu -verify-diagnostics

// What has no lowering is an error at the op.
tile.program @unknown_op(
    %a: !tile.view<4x16xf32> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<4x16xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 1 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<4x16xf32> -> tensor<4x16xf32>
  // expected-error@+1 {{'tensor.cast' has no CPU lowering}}
  %B = tensor.cast %A : tensor<4x16xf32> to tensor<?x16xf32>
  tile.store %A, %r[%c0, %c0] : tensor<4x16xf32>, !tile.view<4x16xf32>
  tile.return
}

// -----

tile.program @constant(
    %r: !tile.view<1x2xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 2 block 2 chunk 1 {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{a constant tile must be a splat, found 'tensor<1x2xf32>'}}
  %A = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  tile.store %A, %r[%c0, %c0] : tensor<1x2xf32>, !tile.view<1x2xf32>
  tile.return
}

// -----

// f32 math goes through polynomials; what has none is refused, not called.
tile.program @function(
    %a: !tile.view<4x16xf32> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<4x16xf32> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 1 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<4x16xf32> -> tensor<4x16xf32>
  // expected-error@+1 {{'math.round' on 'f32' has no vector form on the CPU}}
  %B = math.round %A : tensor<4x16xf32>
  tile.store %B, %r[%c0, %c0] : tensor<4x16xf32>, !tile.view<4x16xf32>
  tile.return
}
