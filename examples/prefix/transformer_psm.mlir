// A Transformer-PSM (arXiv 2506.10918), small: chunks of 4 embedded tokens of 6 features, one layer with one head.
// agg joins two chunks: a block over both, bidirectional, of which the newer half is kept. inf is a causal block over the prefix
// and the chunk. Both have weights of their own.

// z + attention(z), then + gelu(. W1) W2. `bias` is added to the scores.
func.func private @block(%z: tensor<8x6xf32>, %bias: tensor<8x8xf32>, %wq: tensor<6x6xf32>, %wk: tensor<6x6xf32>,
    %wv: tensor<6x6xf32>, %w1: tensor<6x24xf32>, %w2: tensor<24x6xf32>) -> tensor<8x6xf32> {
  %none = arith.constant dense<0.0> : tensor<8x6xf32>
  %q = linalg.matmul ins(%z, %wq : tensor<8x6xf32>, tensor<6x6xf32>) outs(%none : tensor<8x6xf32>) -> tensor<8x6xf32>
  %k = linalg.matmul ins(%z, %wk : tensor<8x6xf32>, tensor<6x6xf32>) outs(%none : tensor<8x6xf32>) -> tensor<8x6xf32>
  %v = linalg.matmul ins(%z, %wv : tensor<8x6xf32>, tensor<6x6xf32>) outs(%none : tensor<8x6xf32>) -> tensor<8x6xf32>
  %turned = tensor.empty() : tensor<6x8xf32>
  %kt = linalg.transpose ins(%k : tensor<8x6xf32>) outs(%turned : tensor<6x8xf32>) permutation = [1, 0]
  %scores = linalg.matmul ins(%q, %kt : tensor<8x6xf32>, tensor<6x8xf32>) outs(%bias : tensor<8x8xf32>) -> tensor<8x8xf32>
  %least = arith.constant dense<0xFF800000> : tensor<8xf32>
  %largest = linalg.reduce { arith.maximumf } ins(%scores : tensor<8x8xf32>) outs(%least : tensor<8xf32>) dimensions = [1]
  %square = tensor.empty() : tensor<8x8xf32>
  %large = linalg.broadcast ins(%largest : tensor<8xf32>) outs(%square : tensor<8x8xf32>) dimensions = [1]
  %below = arith.subf %scores, %large : tensor<8x8xf32>
  %weights = math.exp %below : tensor<8x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%weights : tensor<8x8xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<8xf32>) outs(%square : tensor<8x8xf32>) dimensions = [1]
  %p = arith.divf %weights, %sums : tensor<8x8xf32>
  %o = linalg.matmul ins(%p, %v : tensor<8x8xf32>, tensor<8x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %wide = arith.constant dense<0.0> : tensor<8x24xf32>
  %h = linalg.matmul ins(%o, %w1 : tensor<8x6xf32>, tensor<6x24xf32>) outs(%wide : tensor<8x24xf32>) -> tensor<8x24xf32>
  %root = arith.constant dense<0.7071067811865476> : tensor<8x24xf32>
  %half = arith.constant dense<0.5> : tensor<8x24xf32>
  %scaled = arith.mulf %h, %root : tensor<8x24xf32>
  %erf = math.erf %scaled : tensor<8x24xf32>
  %halves = arith.mulf %h, %half : tensor<8x24xf32>
  %bent = arith.mulf %halves, %erf : tensor<8x24xf32>
  %gelu = arith.addf %halves, %bent : tensor<8x24xf32>
  %r = linalg.matmul ins(%gelu, %w2 : tensor<8x24xf32>, tensor<24x6xf32>) outs(%o : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}

func.func @forward(
    %x: tensor<?x?x6xf32> {scan.name = "x"},
    %e: tensor<4x6xf32> {scan.name = "e"},
    %agg_q: tensor<6x6xf32> {scan.name = "agg_q"}, %agg_k: tensor<6x6xf32> {scan.name = "agg_k"},
    %agg_v: tensor<6x6xf32> {scan.name = "agg_v"}, %agg_1: tensor<6x24xf32> {scan.name = "agg_1"},
    %agg_2: tensor<24x6xf32> {scan.name = "agg_2"},
    %inf_q: tensor<6x6xf32> {scan.name = "inf_q"}, %inf_k: tensor<6x6xf32> {scan.name = "inf_k"},
    %inf_v: tensor<6x6xf32> {scan.name = "inf_v"}, %inf_1: tensor<6x24xf32> {scan.name = "inf_1"},
    %inf_2: tensor<24x6xf32> {scan.name = "inf_2"})
    -> (tensor<?x?x6xf32> {scan.name = "y"})
    attributes {scan.entry = "forward"} {
  %y = scan.prefix chunk 4
      ins(%x as "btd" : tensor<?x?x6xf32>)
      identity(%e as "cd" : tensor<4x6xf32>)
      outs("btd") finals()
  enc {
  ^bb0(%chunk: tensor<4x6xf32>):
    scan.yield %chunk : tensor<4x6xf32>
  } agg {
  ^bb0(%older: tensor<4x6xf32>, %newer: tensor<4x6xf32>):
    %both = tensor.concat dim(0) %older, %newer : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %all = arith.constant dense<0.0> : tensor<8x8xf32>
    %r = func.call @block(%both, %all, %agg_q, %agg_k, %agg_v, %agg_1, %agg_2)
        : (tensor<8x6xf32>, tensor<8x8xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x24xf32>, tensor<24x6xf32>)
        -> tensor<8x6xf32>
    %half = tensor.extract_slice %r[4, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
    scan.yield %half : tensor<4x6xf32>
  } inf {
  ^bb0(%prefix: tensor<4x6xf32>, %chunk: tensor<4x6xf32>):
    %both = tensor.concat dim(0) %prefix, %chunk : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %causal = tensor.generate {
    ^bb0(%row: index, %column: index):
      %later = arith.cmpi slt, %row, %column : index
      %drop = arith.constant 0xFF800000 : f32
      %keep = arith.constant 0.0 : f32
      %bias = arith.select %later, %drop, %keep : f32
      tensor.yield %bias : f32
    } : tensor<8x8xf32>
    %r = func.call @block(%both, %causal, %inf_q, %inf_k, %inf_v, %inf_1, %inf_2)
        : (tensor<8x6xf32>, tensor<8x8xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x24xf32>, tensor<24x6xf32>)
        -> tensor<8x6xf32>
    %half = tensor.extract_slice %r[4, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
    scan.yield %half : tensor<4x6xf32>
  } -> (tensor<?x?x6xf32>), ()
  return %y : tensor<?x?x6xf32>
}
