// A prefix scan whose aggregation is not associative: tanh(W older) + 2 newer, on matrices. The tree in which elements are
// joined is part of the model; see docs/Dialects/Scan.md.

func.func @forward(
    %x: tensor<?x?x2x4x3xf32> {scan.name = "x"},
    %w: tensor<4x4xf32> {scan.name = "w"},
    %e: tensor<2x4x3xf32> {scan.name = "e"})
    -> (tensor<?x?x2x4x3xf32> {scan.name = "y"},
        tensor<?x2x4x3xf32> {scan.name = "total"})
    attributes {scan.entry = "forward"} {
  %y, %total = scan.prefix
      ins(%x as "bthkv" : tensor<?x?x2x4x3xf32>)
      identity(%e as "hkv" : tensor<2x4x3xf32>) evaluate
      outs("bthkv") finals("nhkv")
  enc {
  ^bb0(%x_t: tensor<4x3xf32>):
    scan.yield %x_t : tensor<4x3xf32>
  } agg {
  ^bb0(%older: tensor<4x3xf32>, %newer: tensor<4x3xf32>):
    %zero = arith.constant dense<0.0> : tensor<4x3xf32>
    %mixed = linalg.matmul ins(%w, %older : tensor<4x4xf32>, tensor<4x3xf32>) outs(%zero : tensor<4x3xf32>) -> tensor<4x3xf32>
    %bent = math.tanh %mixed : tensor<4x3xf32>
    %twice = arith.addf %newer, %newer : tensor<4x3xf32>
    %both = arith.addf %bent, %twice : tensor<4x3xf32>
    scan.yield %both : tensor<4x3xf32>
  } inf {
  ^bb0(%prefix: tensor<4x3xf32>, %x_t: tensor<4x3xf32>):
    %y_t = arith.mulf %prefix, %x_t : tensor<4x3xf32>
    scan.yield %y_t : tensor<4x3xf32>
  } -> (tensor<?x?x2x4x3xf32>), (tensor<?x2x4x3xf32>)
  return %y, %total : tensor<?x?x2x4x3xf32>, tensor<?x2x4x3xf32>
}
