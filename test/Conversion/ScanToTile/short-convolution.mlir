// RUN: prism-opt %s --convert-scan-to-tile --canonicalize --cse | FileCheck %s

// A chunk of a convolved input is a load for each tap, summed from the oldest on.

// CHECK-LABEL: tile.program @convolved(
// CHECK: %[[X:.*]]: !tile.view<?x4xf32> as <name = "x", axes = "bthk", heads = 1, role = "input", optional = false>
// CHECK: %[[W:.*]]: !tile.view<?x4x3xf32> as <name = "w", axes = "hkw", heads = 1, role = "input", optional = false>
// CHECK: %[[B:.*]]: !tile.view<?x4xf32> as <name = "b", axes = "hk", heads = 1, role = "input", optional = false>
// CHECK: %[[S:.*]]: !tile.view<4x2xf32> as <name = "window", axes = "nhkc", heads = 1, role = "initial_window", optional = true>
// CHECK: %[[AFTER:[a-z0-9]+]]: !tile.view<4x2xf32> as <name = "result2", axes = "nhkc", heads = 1, role = "final_window", optional = true>

// Before the loop the taps, a vector each, and what the window adds to the first two tokens.
// CHECK: %[[LENGTH:.*]] = tile.length
// CHECK: %[[ALL:.*]] = tile.load one_step %[[W]][%c0, %c0, %c0] : <?x4x3xf32> -> tensor<4x3xf32>
// CHECK: %[[FIRST:.*]] = tile.unit_columns %c0 : tensor<3x1xf32>
// CHECK: %[[COLUMN:.*]] = tile.dot %[[ALL]], %[[FIRST]]
// CHECK: %[[OLDEST:.*]] = tile.sum_columns %[[COLUMN]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK: %[[BIAS:.*]] = tile.load one_step %[[B]][%c0, %c0] : <?x4xf32> -> tensor<4xf32>
// CHECK: %[[WINDOW:.*]] = tile.load %[[S]][%c0, %c0] : <4x2xf32> -> tensor<4x2xf32>
// CHECK: %[[BOTH:.*]] = tile.unit_columns %c0 : tensor<2x2xf32>
// CHECK: %[[SEEN:.*]] = tile.dot %[[BOTH]], %[[WINDOW]] transposed
// CHECK: %[[SEEN_OLDEST:.*]] = tile.scale_columns %[[SEEN]] by %[[OLDEST]]
// CHECK: %[[PAST:.*]] = arith.addf %[[SEEN_OLDEST]], %{{.*}} : tensor<2x4xf32>
// CHECK: scf.for %[[T:.*]] = %c0 to %[[LENGTH]] step %c16
// CHECK:   %[[BACK:.*]] = arith.subi %c0, %[[T]]
// CHECK:   %[[ROWS:.*]] = tile.unit_columns %[[BACK]] : tensor<16x2xf32>
// CHECK:   %[[FROM:.*]] = tile.dot %[[ROWS]], %[[PAST]]
// CHECK:   %[[TWO_BEFORE:.*]] = arith.addi %[[T]], %c-2
// CHECK:   %[[X2:.*]] = tile.load %[[X]][%[[TWO_BEFORE]], %c0] : <?x4xf32> -> tensor<16x4xf32>
// CHECK:   %[[SCALED2:.*]] = tile.scale_columns %[[X2]] by %[[OLDEST]]
// CHECK:   %[[SUM2:.*]] = arith.addf %[[FROM]], %[[SCALED2]]
// CHECK:   tile.load %[[X]][%{{.*}}, %c0]
// CHECK:   %[[SUM1:.*]] = arith.addf %[[SUM2]], %{{.*}}
// CHECK:   tile.load %[[X]][%[[T]], %c0]
// CHECK:   %[[SUM0:.*]] = arith.addf %[[SUM1]], %{{.*}}
// CHECK:   %[[BIASES:.*]] = tile.broadcast rows %[[BIAS]] : tensor<4xf32> -> tensor<16x4xf32>
// CHECK:   %[[Y:.*]] = arith.addf %[[SUM0]], %[[BIASES]]
// It is not zero past the end, where loads are.
// CHECK:   tile.mask_rows %[[Y]] from %[[T]]

// After it the last two tokens, and what is left of the window where there are fewer.
// CHECK: %[[START:.*]] = arith.addi %[[LENGTH]], %c-2
// CHECK: %[[TOKENS:.*]] = tile.load %[[X]][%[[START]], %c0] : <?x4xf32> -> tensor<2x4xf32>
// CHECK: %[[TURNED:.*]] = tile.dot %[[TOKENS]] transposed, %[[BOTH]]
// CHECK: %[[LEFT:.*]] = tile.unit_columns %[[LENGTH]] : tensor<2x2xf32>
// CHECK: %[[NEXT:.*]] = tile.dot %{{.*}}, %[[LEFT]], %[[TURNED]]
// CHECK: tile.store %[[NEXT]], %[[AFTER]][%c0, %c0] : tensor<4x2xf32>, <4x2xf32>
func.func @convolved(%x: tensor<?x?x1x4xf32> {scan.name = "x"}, %w: tensor<1x4x3xf32> {scan.name = "w"}, %b: tensor<1x4xf32> {scan.name = "b"},
    %s0: tensor<?x1x4x2xf32> {scan.name = "window", scan.optional})
    -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>) attributes {scan.entry = "forward"} {
  %y, %after = scan.short_convolution %x as "bthk" weight %w bias %b window %s0 activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>, tensor<1x4xf32>, tensor<?x1x4x2xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%y as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s, %after : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>
}
