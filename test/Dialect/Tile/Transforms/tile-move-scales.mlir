// Loaded operands of dots stay as they were loaded: a scale along the contracted
// axis goes to the other side.
//
// RUN: prism-opt %s --tile-move-scales | FileCheck %s
// RUN: prism-opt %s --tile-move-scales --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: prism-opt %S/../roles.mlir --tile-move-scales --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROLES
// ROLES: roles.mlir:{{.*}} remark: {{.*}}the program has been split into roles: scales are moved before

// CHECK-LABEL: tile.program @scales
// CHECK: %[[DECAY:.*]] = tile.load %arg3
// CHECK: %[[K:.*]] = tile.load %arg0
// CHECK: %[[A:.*]] = tile.load %arg1
// CHECK: %[[V:.*]] = tile.load %arg2
// CHECK: %[[X:.*]] = arith.addf
tile.program @scales(
    %k: !tile.view<?x2xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %a: !tile.view<?x2xf32> as <name = "a", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %o: !tile.view<2x8xf32> as <name = "o", axes = "nkv", heads = 0, role = "final_state", optional = true>,
    %s: !tile.view<?x8xf32> as <name = "s", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<2x8xf32>
  %no_scores = arith.constant dense<0.0> : tensor<4x8xf32>
  %decay = tile.load %g[%c0] : <?xf32> -> tensor<4xf32>
  %kt = tile.load %k[%c0, %c0] : <?x2xf32> -> tensor<4x2xf32>
  %at = tile.load %a[%c0, %c0] : <?x2xf32> -> tensor<4x2xf32>
  %vt = tile.load %v[%c0, %c0] : <?x8xf32> -> tensor<4x8xf32>
  %x = arith.addf %vt, %vt : tensor<4x8xf32>

  // The write of a chunk to the state: keys as loaded, what is written scaled.
  // CHECK: %[[KEPT:.*]] = tile.scale_rows %[[X]] by %[[DECAY]] : tensor<4x8xf32>, tensor<4xf32>
  // CHECK: %[[WRITE:.*]] = tile.dot %[[K]] transposed, %[[KEPT]], %{{.*}} : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  %kept = tile.scale_rows %kt by %decay : tensor<4x2xf32>, tensor<4xf32>
  %write = tile.dot %kept transposed, %x, %zero : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>

  // Both loaded: the right side takes the scale.
  // CHECK: %[[VALUES:.*]] = tile.scale_rows %[[V]] by %[[DECAY]] : tensor<4x8xf32>, tensor<4xf32>
  // CHECK: %[[WRITE2:.*]] = tile.dot %[[K]] transposed, %[[VALUES]], %[[WRITE]]
  %write2 = tile.dot %kept transposed, %vt, %write : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>

  // And keeps it, also where the left one brings its own.
  // CHECK: %[[OWN:.*]] = tile.scale_rows %[[V]] by %[[DECAY]]
  // CHECK: %[[WRITE3:.*]] = tile.dot %[[A]] transposed, %[[OWN]], %[[WRITE2]]
  // CHECK: %[[TWICE:.*]] = tile.scale_rows %[[OWN]] by %[[DECAY]]
  // CHECK: %[[WRITE4:.*]] = tile.dot %[[K]] transposed, %[[TWICE]], %[[WRITE3]]
  %own = tile.scale_rows %vt by %decay : tensor<4x8xf32>, tensor<4xf32>
  // REMARK: [[@LINE+1]]:{{.*}} remark: {{.*}}both operands are loaded: the right one is scaled
  %write3 = tile.dot %at transposed, %own, %write2 : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  %write4 = tile.dot %kept transposed, %own, %write3 : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>

  // Two keys a token, interleaved, are loaded too; all scales of one tile go.
  // CHECK: %[[KEYS:.*]] = tile.interleave %[[K]], %[[A]]
  // CHECK: %[[STRENGTH:.*]] = tile.interleave %[[DECAY]], %[[DECAY]]
  // CHECK: %[[VALUES2:.*]] = tile.interleave %[[X]], %[[X]]
  // CHECK: %[[ONCE:.*]] = tile.scale_rows %[[VALUES2]] by %[[STRENGTH]] : tensor<8x8xf32>, tensor<8xf32>
  // CHECK: %[[BOTH:.*]] = tile.scale_rows %[[ONCE]] by %[[STRENGTH]] : tensor<8x8xf32>, tensor<8xf32>
  // CHECK: %[[WRITE5:.*]] = tile.dot %[[KEYS]] transposed, %[[BOTH]], %[[WRITE4]]
  %keys = tile.interleave %kt, %at : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  %strength = tile.interleave %decay, %decay : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  %values2 = tile.interleave %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %once = tile.scale_rows %keys by %strength : tensor<8x2xf32>, tensor<8xf32>
  %both = tile.scale_rows %once by %strength : tensor<8x2xf32>, tensor<8xf32>
  %write5 = tile.dot %both transposed, %values2, %write4 : tensor<8x2xf32>, tensor<8x8xf32> -> tensor<2x8xf32>

  // From right to left: the left side is computed, its columns are contracted.
  // CHECK: %[[SCORES:.*]] = arith.negf
  // CHECK: %[[COLUMNS:.*]] = tile.scale_columns %[[SCORES]] by %[[DECAY]] : tensor<2x4xf32>, tensor<4xf32>
  // CHECK: %[[READ:.*]] = tile.dot %[[COLUMNS]], %[[V]], %[[WRITE5]]
  %wide = tile.load %o[%c0, %c0] : <2x8xf32> -> tensor<2x4xf32>
  %scores = arith.negf %wide : tensor<2x4xf32>
  %read = tile.dot %scores, %own, %write5 : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>

  // A transposed right side: both sides are contracted along their columns.
  // CHECK: %[[RIGHT:.*]] = arith.addf
  // CHECK: %[[FEATURES:.*]] = tile.scale_columns %[[RIGHT]] by %[[W:.*]] : tensor<8x2xf32>, tensor<2xf32>
  // CHECK: tile.dot %[[K]], %[[FEATURES]] transposed
  %right = arith.addf %keys, %keys : tensor<8x2xf32>
  %w = tile.splat_last %decay : tensor<4xf32> -> tensor<2xf32>
  %left = tile.scale_columns %kt by %w : tensor<4x2xf32>, tensor<2xf32>
  %shown = tile.dot %left, %right transposed, %no_scores : tensor<4x2xf32>, tensor<8x2xf32> -> tensor<4x8xf32>

  // What is computed may as well be scaled.
  // CHECK: %[[XS:.*]] = tile.scale_rows %[[X]] by %[[DECAY]]
  // CHECK: tile.dot %[[K]] transposed, %[[XS]]
  %xs = tile.scale_rows %x by %decay : tensor<4x8xf32>, tensor<4xf32>
  // REMARK: [[@LINE+1]]:{{.*}} remark: {{.*}}what is scaled is computed, not loaded: the scale stays
  %write6 = tile.dot %kt transposed, %xs, %read : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>

  // The scale of an axis that is kept is none of this.
  // CHECK: %[[ROWS:.*]] = tile.scale_rows %[[K]] by %[[DECAY]]
  // CHECK: tile.dot %[[ROWS]], %[[WRITE5]], %
  %rows = tile.scale_rows %kt by %decay : tensor<4x2xf32>, tensor<4xf32>
  %last = tile.dot %rows, %write5, %shown : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  tile.store %last, %s[%c0, %c0] : tensor<4x8xf32>, <?x8xf32>
  tile.store %write6, %o[%c0, %c0] : tensor<2x8xf32>, <2x8xf32>
  tile.return
}

// What a system is solved for is scaled by what does not depend on the state: its
// inverse takes the scale. And what only the output is multiplied by goes to what
// is computed without the state.
// CHECK-LABEL: tile.program @chain
// CHECK: %[[G:.*]] = tile.load %arg1
// CHECK: scf.for {{.*}} iter_args(%[[STATE:.*]] = %
// CHECK: %[[INVERSE:.*]] = tile.invert
// CHECK: %[[SCALED:.*]] = tile.scale_columns %[[INVERSE]] by %[[G]]
// CHECK: tile.dot %[[SCALED]], %[[STATE]]
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK: %[[G2:.*]] = arith.mulf %[[G]], %[[HALF]] : tensor<4xf32>
// CHECK: %[[READ:.*]] = tile.scale_rows %{{.*}} by %[[G2]]
// CHECK: %[[HALVES:.*]] = arith.constant dense<5.000000e-01> : tensor<4x4xf32>
// CHECK: %[[SCORES:.*]] = arith.mulf %{{.*}}, %[[HALVES]] : tensor<4x4xf32>
// CHECK: %[[OUT:.*]] = tile.dot %[[SCORES]], %{{.*}}, %[[READ]]
// CHECK: tile.store %[[OUT]]
tile.program @chain(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %s: !tile.view<4x8xf32> as <name = "s", axes = "nkv", heads = 0, role = "final_state", optional = true>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %none = arith.constant dense<0.0> : tensor<4x4xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %length = tile.length : index
  %gate = tile.load %g[%c0] : <?xf32> -> tensor<4xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %zero) -> (tensor<4x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<4x4xf32>
    %scores = tile.dot %kt, %kt transposed, %none : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %inverse = tile.invert %scores : tensor<4x4xf32>
    %rhs = tile.scale_rows %state by %gate : tensor<4x8xf32>, tensor<4xf32>
    %x = tile.dot %inverse, %rhs, %zero : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %seen = tile.dot %kt, %state, %zero : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %start = tile.scale_rows %seen by %gate : tensor<4x8xf32>, tensor<4xf32>
    %read = tile.dot %scores, %x, %start : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %out = arith.mulf %read, %half : tensor<4x8xf32>
    tile.store %out, %o[%t, %c0] : tensor<4x8xf32>, <?x8xf32>
    scf.yield %x : tensor<4x8xf32>
  }
  tile.store %end, %s[%c0, %c0] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}
