// A repeated element of a vector is sent as the vector, of which the chain reads it.
//
// RUN: prism-opt %s --tile-specialize-roles | FileCheck %s

// CHECK-LABEL: tile.program @last_element
// CHECK: tile.role "prepare"
// CHECK: %[[DECAY:.*]] = math.exp
// CHECK: %[[BOTH:.*]] = arith.mulf %{{.*}}, %[[DECAY]] : tensor<4xf32>
// CHECK-NOT: tile.splat_last
// CHECK: tile.send %{{.*}}, %[[DECAY]], %[[BOTH]] to
// CHECK: tile.role "chain"
// CHECK: tile.receive
// CHECK: %[[M:.*]]:3 = tile.receive
// CHECK: %[[LAST:.*]] = tile.splat_last %[[M]]#1 : tensor<4xf32> -> tensor<8xf32>
// CHECK: tile.scale_rows %{{.*}} by %[[LAST]]
// CHECK: tile.scale_rows %{{.*}} by %[[M]]#2
tile.program @last_element(
    %k: !tile.view<?x8xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x8xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %s: !tile.view<?xf32> as <name = "s", axes = "bt", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x8xbf16> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %none = arith.constant dense<0.0> : tensor<8x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %nothing = arith.constant dense<0.0> : tensor<4x4xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %none) -> (tensor<8x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xbf16> -> tensor<4x8xbf16>
    %vt = tile.load %v[%t, %column] : <?x8xbf16> -> tensor<4x8xbf16>
    %gt = tile.load %g[%t] : <?xf32> -> tensor<4xf32>
    %st = tile.load %s[%t] : <?xf32> -> tensor<4xf32>
    %wide = arith.extf %gt : tensor<4xf32> to tensor<4xf64>
    %sums = tile.gate_sum %wide : tensor<4xf64>
    %gates = arith.truncf %sums : tensor<4xf64> to tensor<4xf32>
    %decay = math.exp %gates : tensor<4xf32>
    %root = math.rsqrt %st : tensor<4xf32>
    %both = arith.mulf %root, %decay : tensor<4xf32>
    %rounded = arith.truncf %state : tensor<8x8xf32> to tensor<8x8xbf16>
    %read = tile.dot %kt, %rounded, %zero : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
    %seen = tile.scale_rows %read by %both : tensor<4x8xf32>, tensor<4xf32>
    %products = tile.dot %kt, %kt transposed, %nothing : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<4x4xf32>
    %mask = tile.decay_matrix %sums at [1], %sums at [0] : tensor<4xf64>, tensor<4xf64> -> tensor<4x4xf32>
    %scores = arith.mulf %products, %mask : tensor<4x4xf32>
    %operand = arith.truncf %scores : tensor<4x4xf32> to tensor<4x4xbf16>
    %out = tile.dot %operand, %vt, %seen : tensor<4x4xbf16>, tensor<4x8xbf16> -> tensor<4x8xf32>
    %last = tile.splat_last %decay : tensor<4xf32> -> tensor<8xf32>
    %kept = tile.scale_rows %state by %last : tensor<8x8xf32>, tensor<8xf32>
    %next = tile.dot %kt transposed, %vt, %kept : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xf32>
    tile.store %out, %o[%t, %column] : tensor<4x8xf32>, <?x8xbf16>
    scf.yield %next : tensor<8x8xf32>
  }
  tile.return
}
