// A tile is scaled once by what is known without the state.
//
// RUN: prism-opt %s --tile-join-scales | FileCheck %s
// RUN: prism-opt %S/../roles.mlir --tile-join-scales --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROLES
// ROLES: roles.mlir:{{.*}} remark: {{.*}}the program has been split into roles: scales are joined before

// CHECK-LABEL: tile.program @joined
// CHECK-DAG: %[[A:.*]] = tile.load %arg1
// CHECK-DAG: %[[B:.*]] = tile.load %arg2
// CHECK: scf.for %{{.*}} iter_args(%[[STATE:.*]] = %
tile.program @joined(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %a: !tile.view<?xf32> as <name = "a", axes = "bt", heads = 0, role = "input", optional = false>,
    %b: !tile.view<?xf32> as <name = "b", axes = "bt", heads = 0, role = "input", optional = false>,
    %s: !tile.view<4x8xf32> as <name = "s", axes = "nkv", heads = 0, role = "final_state", optional = true>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %none = arith.constant dense<0.0> : tensor<4x4xf32>
  %half = arith.constant dense<0.5> : tensor<4x4xf32>
  %length = tile.length : index
  %norm = tile.load %a[%c0] : <?xf32> -> tensor<4xf32>
  %decay = tile.load %b[%c0] : <?xf32> -> tensor<4xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %zero) -> (tensor<4x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<4x4xf32>
    // CHECK: %[[PRODUCT:.*]] = tile.dot %{{.*}}, %[[STATE]]
    // CHECK: %[[BOTH:.*]] = arith.mulf %[[A]], %[[B]] : tensor<4xf32>
    // CHECK: %[[SEEN:.*]] = tile.scale_rows %[[PRODUCT]] by %[[BOTH]]
    %product = tile.dot %kt, %state, %zero : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %read = tile.scale_rows %product by %norm : tensor<4x8xf32>, tensor<4xf32>
    %seen = tile.scale_rows %read by %decay : tensor<4x8xf32>, tensor<4xf32>
    // Through a scale of columns and a product, and the number too.
    // CHECK: %[[RAW:.*]] = tile.dot %{{.*}}, %{{.*}} transposed
    // CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<4xf32>
    // CHECK: %[[HALVES:.*]] = arith.mulf %[[B]], %[[HALF]] : tensor<4xf32>
    // CHECK: %[[COLUMNS:.*]] = tile.scale_columns %[[RAW]] by %[[HALVES]]
    // CHECK: %[[MASKED:.*]] = arith.mulf %[[COLUMNS]], %{{.*}} : tensor<4x4xf32>
    // CHECK: %[[ROWS:.*]] = arith.mulf %[[A]], %[[B]] : tensor<4xf32>
    // CHECK: %[[SCORES:.*]] = tile.scale_rows %[[MASKED]] by %[[ROWS]]
    // CHECK: tile.dot %[[SCORES]], %[[SEEN]]
    %raw = tile.dot %kt, %kt transposed, %none : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %rows = tile.scale_rows %raw by %norm : tensor<4x4xf32>, tensor<4xf32>
    %columns = tile.scale_columns %rows by %decay : tensor<4x4xf32>, tensor<4xf32>
    %mask = arith.addf %kt, %kt : tensor<4x4xf32>
    %masked = arith.mulf %columns, %mask : tensor<4x4xf32>
    %halves = arith.mulf %masked, %half : tensor<4x4xf32>
    %scores = tile.scale_rows %halves by %decay : tensor<4x4xf32>, tensor<4xf32>
    %out = tile.dot %scores, %seen, %zero : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    // What others read stays, and so does what is scaled by the state's numbers.
    // CHECK: %[[READ:.*]] = tile.scale_rows %{{.*}} by %[[A]]
    // CHECK: %[[AGAIN:.*]] = tile.scale_rows %[[READ]] by %[[B]]
    // CHECK: %[[SUM:.*]] = arith.addf %[[READ]], %[[AGAIN]]
    // CHECK: %[[NUMBERS:.*]] = tile.sum_columns %[[STATE]]
    // CHECK: %[[ONE:.*]] = tile.scale_rows %[[SUM]] by %[[NUMBERS]]
    // CHECK: %[[TWO:.*]] = tile.scale_rows %[[ONE]] by %[[A]]
    // CHECK: scf.yield %[[TWO]]
    %written = tile.dot %kt transposed, %out, %zero : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %first = tile.scale_rows %written by %norm : tensor<4x8xf32>, tensor<4xf32>
    %again = tile.scale_rows %first by %decay : tensor<4x8xf32>, tensor<4xf32>
    %sum = arith.addf %first, %again : tensor<4x8xf32>
    %numbers = tile.sum_columns %state : tensor<4x8xf32> -> tensor<4xf32>
    %one = tile.scale_rows %sum by %numbers : tensor<4x8xf32>, tensor<4xf32>
    %two = tile.scale_rows %one by %norm : tensor<4x8xf32>, tensor<4xf32>
    tile.store %out, %o[%t, %c0] : tensor<4x8xf32>, <?x8xf32>
    scf.yield %two : tensor<4x8xf32>
  }
  tile.store %end, %s[%c0, %c0] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// What the columns of scores are scaled by goes to their decays, which two scores
// of the same keys share.
// CHECK-LABEL: tile.program @decays
// CHECK: %[[NORM:.*]] = tile.load %arg1
// CHECK: %[[DECAY:.*]] = tile.decay_matrix
// CHECK: %[[KK:.*]] = tile.dot
// CHECK: %[[SCALED:.*]] = tile.scale_columns %[[DECAY]] by %[[NORM]] : tensor<4x4xf32>, tensor<4xf32>
// CHECK: %[[SYSTEM:.*]] = arith.mulf %[[KK]], %[[SCALED]]
// CHECK: %[[ROWS:.*]] = tile.scale_rows %{{.*}} by %[[NORM]]
// CHECK: %[[SCALED2:.*]] = tile.scale_columns %[[DECAY]] by %[[NORM]]
// CHECK: %[[SCORES:.*]] = arith.mulf %[[ROWS]], %[[SCALED2]]
// CHECK: arith.addf %[[SYSTEM]], %[[SCORES]]
tile.program @decays(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %a: !tile.view<?xf32> as <name = "a", axes = "bt", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x4xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 4 block 4 chunk 4 {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<4x4xf32>
  %norm = tile.load %a[%c0] : <?xf32> -> tensor<4xf32>
  %kt = tile.load %k[%c0, %c0] : <?x4xf32> -> tensor<4x4xf32>
  %gates = arith.extf %norm : tensor<4xf32> to tensor<4xf64>
  %sums = tile.gate_sum %gates : tensor<4xf64>
  %decay = tile.decay_matrix %sums at [1], %sums at [0] : tensor<4xf64>, tensor<4xf64> -> tensor<4x4xf32>
  %kk = tile.dot %kt, %kt transposed, %none : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %columns = tile.scale_columns %kk by %norm : tensor<4x4xf32>, tensor<4xf32>
  %system = arith.mulf %columns, %decay : tensor<4x4xf32>
  %qk = tile.dot %kk, %kt, %none : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %columns2 = tile.scale_columns %qk by %norm : tensor<4x4xf32>, tensor<4xf32>
  %rows = tile.scale_rows %columns2 by %norm : tensor<4x4xf32>, tensor<4xf32>
  %scores = arith.mulf %rows, %decay : tensor<4x4xf32>
  %sum = arith.addf %system, %scores : tensor<4x4xf32>
  tile.store %sum, %o[%c0, %c0] : tensor<4x4xf32>, <?x4xf32>
  tile.return
}
