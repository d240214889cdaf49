// Scores of 32 readers and 64 writers become 64 x 32, and are contracted by their
// rows. Decays of rows in the chain's order are those of a triangle.
//
// RUN: prism-opt %s --tile-transpose-scores --verify-roundtrip | FileCheck %s
// RUN: prism-opt %S/../roles.mlir --tile-transpose-scores --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROLES
// ROLES: roles.mlir:{{.*}} remark: {{.*}}the program has been split into roles: scores are transposed before

// CHECK-LABEL: tile.program @two_writers
// CHECK: %[[G:.*]] = tile.gate_sum
// CHECK: %[[G2:.*]] = tile.interleave %[[G]], %[[G]]
// CHECK: %[[Q:.*]] = tile.load %arg0
// CHECK: %[[K:.*]] = tile.interleave
// CHECK: %[[V:.*]] = tile.load %arg2
// CHECK: %[[SYSTEM:.*]] = tile.decay_matrix %[[G2]] at [0], %[[G2]] at [0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
// CHECK: tile.solve %[[SYSTEM]], %[[V]]
// CHECK-DAG: %[[PRODUCTS:.*]] = tile.dot %[[K]], %[[Q]] transposed, %{{.*}} : tensor<64x16xf32>, tensor<32x16xf32> -> tensor<64x32xf32>
// CHECK-DAG: %[[DECAY:.*]] = tile.decay_matrix transposed %[[G]] at [2], %[[G2]] at [0, 1] : tensor<32xf64>, tensor<64xf64> -> tensor<64x32xf32>
// CHECK: %[[MASKED:.*]] = arith.mulf %[[PRODUCTS]], %[[DECAY]] : tensor<64x32xf32>
// CHECK: %[[SCALED:.*]] = tile.scale_columns %[[MASKED]] by %{{.*}} : tensor<64x32xf32>, tensor<32xf32>
// CHECK: tile.dot %[[SCALED]] transposed, %{{.*}} : tensor<64x32xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
tile.program @two_writers(
    %q: !tile.view<?x16xf32> as <name = "q", axes = "btk", heads = 0, role = "input", optional = false>,
    %k: !tile.view<?x2x16xf32> as <name = "k", axes = "btmk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x64xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 64 block 64 chunk 32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<32x64xf32>
  %gates = tile.load %g[%c0] : <?xf32> -> tensor<32xf32>
  %wide = arith.extf %gates : tensor<32xf32> to tensor<32xf64>
  %sums = tile.gate_sum %wide : tensor<32xf64>
  %sums2 = tile.interleave %sums, %sums : tensor<32xf64>, tensor<32xf64> -> tensor<64xf64>
  %qt = tile.load %q[%c0, %c0] : <?x16xf32> -> tensor<32x16xf32>
  %k0 = tile.load %k[%c0, %c0, %c0] : <?x2x16xf32> -> tensor<32x16xf32>
  %k1 = tile.load %k[%c0, %c1, %c0] : <?x2x16xf32> -> tensor<32x16xf32>
  %kt = tile.interleave %k0, %k1 : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  %vt = tile.load %v[%c0, %c0] : <?x64xf32> -> tensor<64x64xf32>
  %system = tile.decay_matrix %sums2 at [0, 1], %sums2 at [0, 1] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
  %x = tile.solve %system, %vt : tensor<64x64xf32>, tensor<64x64xf32>
  %products = tile.dot %qt, %kt transposed, %none : tensor<32x16xf32>, tensor<64x16xf32> -> tensor<32x64xf32>
  %decay = tile.decay_matrix %sums at [2], %sums2 at [0, 1] : tensor<32xf64>, tensor<64xf64> -> tensor<32x64xf32>
  %masked = arith.mulf %products, %decay : tensor<32x64xf32>
  %scores = tile.scale_rows %masked by %gates : tensor<32x64xf32>, tensor<32xf32>
  %read = tile.dot %scores, %x, %none : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  tile.store %read, %o[%c0, %c0] : tensor<32x64xf32>, <?x64xf32>
  tile.return
}

// Readers that fill a warpgroup, and orders that are no triangle, stay.
// CHECK-LABEL: tile.program @whole
// CHECK: tile.decay_matrix %{{.*}} at [0, 0], %{{.*}} at [0, 0]
// CHECK: tile.dot %{{.*}}, %{{.*}} transposed, %{{.*}} : tensor<64x16xf32>, tensor<64x16xf32> -> tensor<64x64xf32>
tile.program @whole(
    %k: !tile.view<?x16xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x64xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 64 block 64 chunk 64 {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %gates = tile.load %g[%c0] : <?xf32> -> tensor<64xf32>
  %sums = arith.extf %gates : tensor<64xf32> to tensor<64xf64>
  %kt = tile.load %k[%c0, %c0] : <?x16xf32> -> tensor<64x16xf32>
  %decay = tile.decay_matrix %sums at [0, 0], %sums at [0, 0] : tensor<64xf64>, tensor<64xf64> -> tensor<64x64xf32>
  %products = tile.dot %kt, %kt transposed, %none : tensor<64x16xf32>, tensor<64x16xf32> -> tensor<64x64xf32>
  %masked = arith.mulf %products, %decay : tensor<64x64xf32>
  %read = tile.dot %masked, %masked, %none : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %read, %o[%c0, %c0] : tensor<64x64xf32>, <?x64xf32>
  tile.return
}
