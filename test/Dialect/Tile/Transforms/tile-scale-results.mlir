// What is multiplied is what was loaded: a scale of an axis that a dot keeps goes
// to the result.
//
// RUN: prism-opt %s --tile-scale-results --cse | FileCheck %s
// RUN: prism-opt %S/../roles.mlir --tile-scale-results --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROLES
// ROLES: roles.mlir:{{.*}} remark: {{.*}}the program has been split into roles: results are scaled before

// The pass's example, scores of two scaled tiles, and a sum.
// CHECK-LABEL: tile.program @kept
// CHECK-DAG: %[[K:.*]] = tile.load %arg0
// CHECK-DAG: %[[Q:.*]] = tile.load %arg1
// CHECK-DAG: %[[NORM:.*]] = tile.load %arg2
// CHECK-DAG: %[[STATE:.*]] = tile.load %arg3
tile.program @kept(
    %k: !tile.view<?x2xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %q: !tile.view<?x2xf32> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %s: !tile.view<2x8xf32> as <name = "s", axes = "nkv", heads = 0, role = "final_state", optional = true>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %none = arith.constant dense<0.0> : tensor<4x4xf32>
  %nothing = arith.constant dense<0.0> : tensor<2x8xf32>
  %norm = tile.load %g[%c0] : <?xf32> -> tensor<4xf32>
  %kt = tile.load %k[%c0, %c0] : <?x2xf32> -> tensor<4x2xf32>
  %qt = tile.load %q[%c0, %c0] : <?x2xf32> -> tensor<4x2xf32>
  %state = tile.load %s[%c0, %c0] : <2x8xf32> -> tensor<2x8xf32>
  // CHECK: %[[UNIT:.*]] = tile.scale_rows %[[K]] by %[[NORM]]
  %unit = tile.scale_rows %kt by %norm : tensor<4x2xf32>, tensor<4xf32>
  // CHECK: %[[PRODUCT:.*]] = tile.dot %[[K]], %[[STATE]], %{{.*}} : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  // CHECK: %[[READ:.*]] = tile.scale_rows %[[PRODUCT]] by %[[NORM]]
  %read = tile.dot %unit, %state, %zero : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  // Rows by the left operand's scales, columns by the right one's.
  // CHECK: %[[RAW:.*]] = tile.dot %[[Q]], %[[K]] transposed, %
  // CHECK: %[[COLUMNS:.*]] = tile.scale_columns %[[RAW]] by %[[NORM]]
  // CHECK: %[[ONCE:.*]] = tile.scale_rows %[[COLUMNS]] by %[[NORM]]
  // CHECK: %[[SCORES:.*]] = tile.scale_rows %[[ONCE]] by %[[NORM]]
  %once = tile.scale_rows %qt by %norm : tensor<4x2xf32>, tensor<4xf32>
  %twice = tile.scale_rows %once by %norm : tensor<4x2xf32>, tensor<4xf32>
  %scores = tile.dot %twice, %unit transposed, %none : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<4x4xf32>
  // What there is already is not scaled.
  // CHECK: %[[SEEN:.*]] = tile.dot %[[SCORES]], %[[READ]], %[[READ]]
  // CHECK: %[[MORE:.*]] = tile.dot %[[Q]], %[[STATE]], %
  // CHECK: %[[SCALED:.*]] = tile.scale_rows %[[MORE]] by %[[NORM]]
  // CHECK: %[[OUT:.*]] = arith.addf %[[SEEN]], %[[SCALED]]
  %seen = tile.dot %scores, %read, %read : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %out = tile.dot %once, %state, %seen : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  // A scale of the contracted axis, and one of what is computed, stay.
  // CHECK: %[[WRITE:.*]] = tile.dot %[[UNIT]] transposed, %[[OUT]]
  // CHECK: %[[OTHER:.*]] = tile.scale_rows %[[OUT]] by %[[NORM]]
  // CHECK: tile.dot %[[OTHER]], %[[WRITE]] transposed
  %write = tile.dot %unit transposed, %out, %nothing : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  %other = tile.scale_rows %out by %norm : tensor<4x8xf32>, tensor<4xf32>
  %x = arith.constant dense<0.0> : tensor<4x2xf32>
  %back = tile.dot %other, %write transposed, %x : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<4x2xf32>
  %end = tile.dot %back transposed, %out, %nothing : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  tile.store %out, %o[%c0, %c0] : tensor<4x8xf32>, <?x8xf32>
  tile.store %end, %s[%c0, %c0] : tensor<2x8xf32>, <2x8xf32>
  tile.return
}

// Two ranks of a token: norms are those of the stacked keys. What was computed
// otherwise for one rank than for the other is interleaved as it was.
// CHECK-LABEL: tile.program @stacked
// CHECK: %[[K0:.*]] = tile.load %arg0[%c0, %c0, %c0]
// CHECK: %[[K1:.*]] = tile.load %arg0[%c0, %c1, %c0]
// CHECK: %[[KEYS:.*]] = tile.interleave %[[K0]], %[[K1]] : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
// CHECK: %[[SQUARES:.*]] = arith.mulf %[[KEYS]], %[[KEYS]] : tensor<8x2xf32>
// CHECK: %[[SUMS:.*]] = tile.sum_columns %[[SQUARES]] : tensor<8x2xf32> -> tensor<8xf32>
// CHECK: %[[EPSILON:.*]] = arith.constant dense<9.99999997E-7> : tensor<8xf32>
// CHECK: %[[SHIFTED:.*]] = arith.addf %[[SUMS]], %[[EPSILON]]
// CHECK: %[[NORMS:.*]] = math.rsqrt %[[SHIFTED]] : tensor<8xf32>
// CHECK: %[[PRODUCT:.*]] = tile.dot %[[KEYS]], %{{.*}}, %{{.*}} : tensor<8x2xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
// CHECK: tile.scale_rows %[[PRODUCT]] by %[[NORMS]]
// CHECK: %[[OTHERWISE:.*]] = tile.interleave %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
// CHECK: tile.scale_rows %[[PRODUCT]] by %[[OTHERWISE]]
tile.program @stacked(
    %k: !tile.view<?x2x2xf32> as <name = "k", axes = "btmk", heads = 0, role = "input", optional = false>,
    %s: !tile.view<2x8xf32> as <name = "s", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %epsilon = arith.constant dense<1.0e-06> : tensor<4xf32>
  %state = tile.load %s[%c0, %c0] : <2x8xf32> -> tensor<2x8xf32>
  %k0 = tile.load %k[%c0, %c0, %c0] : <?x2x2xf32> -> tensor<4x2xf32>
  %squares0 = arith.mulf %k0, %k0 : tensor<4x2xf32>
  %sums0 = tile.sum_columns %squares0 : tensor<4x2xf32> -> tensor<4xf32>
  %shifted0 = arith.addf %sums0, %epsilon : tensor<4xf32>
  %norm0 = math.rsqrt %shifted0 : tensor<4xf32>
  %unit0 = tile.scale_rows %k0 by %norm0 : tensor<4x2xf32>, tensor<4xf32>
  %k1 = tile.load %k[%c0, %c1, %c0] : <?x2x2xf32> -> tensor<4x2xf32>
  %squares1 = arith.mulf %k1, %k1 : tensor<4x2xf32>
  %sums1 = tile.sum_columns %squares1 : tensor<4x2xf32> -> tensor<4xf32>
  %shifted1 = arith.addf %sums1, %epsilon : tensor<4xf32>
  %norm1 = math.rsqrt %shifted1 : tensor<4xf32>
  %unit1 = tile.scale_rows %k1 by %norm1 : tensor<4x2xf32>, tensor<4xf32>
  %units = tile.interleave %unit0, %unit1 : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  %read = tile.dot %units, %state, %zero : tensor<8x2xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %half = tile.scale_rows %k1 by %sums1 : tensor<4x2xf32>, tensor<4xf32>
  %mixed = tile.interleave %unit0, %half : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  %other = tile.dot %mixed, %state, %read : tensor<8x2xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  tile.store %other, %o[%c0, %c0] : tensor<8x8xf32>, <?x8xf32>
  tile.return
}

// Rows past the end are zeros; the root of nothing is not, and times zero no number.
// CHECK-LABEL: tile.program @masked
// CHECK: scf.for %[[T:.*]] = %
// CHECK: %[[KT:.*]] = tile.load %arg0[%[[T]]
// CHECK: %[[ROOT:.*]] = math.rsqrt
// CHECK: %[[INSIDE:.*]] = tile.mask_rows %[[ROOT]] from %[[T]] : tensor<4xf32>
// CHECK: %[[READ:.*]] = tile.dot %[[KT]]
// CHECK: tile.scale_rows %[[READ]] by %[[INSIDE]]
// Of other rows than were loaded nothing is known.
// CHECK: %[[LATER:.*]] = tile.mask_rows %{{.*}} from %{{.*}} : tensor<4x2xf32>
// CHECK: tile.dot %[[LATER]]
tile.program @masked(
    %k: !tile.view<?x2xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %s: !tile.view<2x8xf32> as <name = "s", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %state = tile.load %s[%c0, %c0] : <2x8xf32> -> tensor<2x8xf32>
  scf.for %t = %c0 to %length step %c4 {
    %kt = tile.load %k[%t, %c0] : <?x2xf32> -> tensor<4x2xf32>
    %squares = arith.mulf %kt, %kt : tensor<4x2xf32>
    %sums = tile.sum_columns %squares : tensor<4x2xf32> -> tensor<4xf32>
    %norm = math.rsqrt %sums : tensor<4xf32>
    %unit = tile.scale_rows %kt by %norm : tensor<4x2xf32>, tensor<4xf32>
    %inside = tile.mask_rows %unit from %t : tensor<4x2xf32>
    %read = tile.dot %inside, %state, %zero : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    %later = tile.mask_rows %unit from %c4 : tensor<4x2xf32>
    %out = tile.dot %later, %state, %read : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    tile.store %out, %o[%t, %c0] : tensor<4x8xf32>, <?x8xf32>
  }
  tile.return
}
