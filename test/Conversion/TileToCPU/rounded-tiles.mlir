// Tiles of 16 bits are kept in f32: loads widen as they read, a rounding is
// done by integer arithmetic on registers, dots are those of f32.
//
// RUN: prism-opt %s --split-input-file --convert-tile-to-cpu="isa=x86-64-v3 stop-before-llvm" --verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.func @rounded
// CHECK: llvm.load {{.*}} -> vector<8xi16>
// CHECK: arith.extui {{.*}} : vector<8xi16> to vector<8xi32>
// CHECK-NOT: bf16
// CHECK: arith.trunci {{.*}} : vector<8xi32> to vector<8xi16>
// CHECK-NOT: bf16
// CHECK: vector.fma {{.*}} : vector<8xf32>
tile.program @rounded(
    %k: !tile.view<?x4xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %s: !tile.view<4x8xf32> as <name = "s", axes = "nkv", heads = 0, role = "initial_state", optional = false>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %kt = tile.load %k[%c0, %c0] : <?x4xbf16> -> tensor<4x4xbf16>
  %state = tile.load %s[%c0, %c0] : <4x8xf32> -> tensor<4x8xf32>
  %state16 = arith.truncf %state : tensor<4x8xf32> to tensor<4x8xbf16>
  %x = tile.dot %kt, %state16, %none : tensor<4x4xbf16>, tensor<4x8xbf16> -> tensor<4x8xf32>
  tile.store %x, %o[%c0, %c0] : tensor<4x8xf32>, <?x8xf32>
  tile.return
}

// -----

// Nothing is computed in 16 bits.
tile.program @computed_in_16_bits(
    %k: !tile.view<?x4xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x4xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 4 block 4 chunk 4 {
  %c0 = arith.constant 0 : index
  %kt = tile.load %k[%c0, %c0] : <?x4xbf16> -> tensor<4x4xbf16>
  // expected-error @below {{'arith.negf' on 'tensor<4x4xbf16>' has no CPU lowering}}
  %minus = arith.negf %kt : tensor<4x4xbf16>
  %wide = arith.extf %minus : tensor<4x4xbf16> to tensor<4x4xf32>
  tile.store %wide, %o[%c0, %c0] : tensor<4x4xf32>, <?x4xf32>
  tile.return
}
