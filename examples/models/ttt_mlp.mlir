// TTT-MLP, mini-batches of 16: the memory is a two-layer perceptron, W2^T gelu(W1^T k), inside a layer norm; both weights
// take a gradient step on 1/2 |layer_norm(...) - (v - k)|^2 at the weights that the mini-batch began with.

// The mean of all elements.
func.func private @mean(%x: tensor<32xf32>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %count = arith.constant 32.0 : f32
  %sum = linalg.reduce ins(%x : tensor<32xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  %total = tensor.extract %sum[] : tensor<f32>
  %mean = arith.divf %total, %count : f32
  return %mean : f32
}

// (x - mean x) / deviation, and 1 / deviation.
func.func private @normalize(%x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %epsilon = arith.constant 1.0e-6 : f32
  %mean = call @mean(%x) : (tensor<32xf32>) -> f32
  %means = tensor.splat %mean : tensor<32xf32>
  %centred = arith.subf %x, %means : tensor<32xf32>
  %squares = arith.mulf %centred, %centred : tensor<32xf32>
  %variance = call @mean(%squares) : (tensor<32xf32>) -> f32
  %shifted = arith.addf %variance, %epsilon : f32
  %inverse = math.rsqrt %shifted : f32
  %inverses = tensor.splat %inverse : tensor<32xf32>
  %normal = arith.mulf %centred, %inverses : tensor<32xf32>
  return %normal, %inverses : tensor<32xf32>, tensor<32xf32>
}

// The gradient of 1/2 |layer_norm(x) - target|^2 with respect to x.
func.func private @norm_loss_gradient(%x: tensor<32xf32>, %target: tensor<32xf32>) -> tensor<32xf32> {
  %normal, %inverses = call @normalize(%x) : (tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
  %residual = arith.subf %normal, %target : tensor<32xf32>
  %mean = call @mean(%residual) : (tensor<32xf32>) -> f32
  %along = arith.mulf %residual, %normal : tensor<32xf32>
  %mean_along = call @mean(%along) : (tensor<32xf32>) -> f32
  %means = tensor.splat %mean : tensor<32xf32>
  %means_along = tensor.splat %mean_along : tensor<32xf32>
  %back = arith.mulf %normal, %means_along : tensor<32xf32>
  %centred = arith.subf %residual, %means : tensor<32xf32>
  %direction = arith.subf %centred, %back : tensor<32xf32>
  %gradient = arith.mulf %direction, %inverses : tensor<32xf32>
  return %gradient : tensor<32xf32>
}

// GELU in its tanh form, and its derivative.
func.func private @gelu(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %half = arith.constant dense<0.5> : tensor<64xf32>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %root = arith.constant dense<0.7978845608> : tensor<64xf32>
  %cubic = arith.constant dense<0.044715> : tensor<64xf32>
  %cubic3 = arith.constant dense<0.134145> : tensor<64xf32>
  %square = arith.mulf %x, %x : tensor<64xf32>
  %cubed = arith.mulf %cubic, %square : tensor<64xf32>
  %bent = arith.addf %one, %cubed : tensor<64xf32>
  %scaled = arith.mulf %root, %x : tensor<64xf32>
  %inner = arith.mulf %scaled, %bent : tensor<64xf32>
  %tanh = math.tanh %inner : tensor<64xf32>
  %raised = arith.addf %one, %tanh : tensor<64xf32>
  %gate = arith.mulf %half, %raised : tensor<64xf32>
  %value = arith.mulf %x, %gate : tensor<64xf32>
  %tanh_square = arith.mulf %tanh, %tanh : tensor<64xf32>
  %slope = arith.subf %one, %tanh_square : tensor<64xf32>
  %cubed3 = arith.mulf %cubic3, %square : tensor<64xf32>
  %bent3 = arith.addf %one, %cubed3 : tensor<64xf32>
  %inner_slope = arith.mulf %root, %bent3 : tensor<64xf32>
  %half_x = arith.mulf %half, %x : tensor<64xf32>
  %chain = arith.mulf %slope, %inner_slope : tensor<64xf32>
  %bend = arith.mulf %half_x, %chain : tensor<64xf32>
  %derivative = arith.addf %gate, %bend : tensor<64xf32>
  return %value, %derivative : tensor<64xf32>, tensor<64xf32>
}

// scale a b^T.
func.func private @outer1(%a: tensor<32xf32>, %b: tensor<64xf32>, %scale: f32) -> tensor<32x64xf32> {
  %empty = tensor.empty() : tensor<32x64xf32>
  %product = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<32xf32>, tensor<64xf32>) outs(%empty : tensor<32x64xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %xy = arith.mulf %x, %y : f32
      %z = arith.mulf %scale, %xy : f32
      linalg.yield %z : f32
  } -> tensor<32x64xf32>
  return %product : tensor<32x64xf32>
}

// scale a b^T.
func.func private @outer2(%a: tensor<64xf32>, %b: tensor<32xf32>, %scale: f32) -> tensor<64x32xf32> {
  %empty = tensor.empty() : tensor<64x32xf32>
  %product = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<64xf32>, tensor<32xf32>) outs(%empty : tensor<64x32xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %xy = arith.mulf %x, %y : f32
      %z = arith.mulf %scale, %xy : f32
      linalg.yield %z : f32
  } -> tensor<64x32xf32>
  return %product : tensor<64x32xf32>
}

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %eta: tensor<?x?x2xf32> {scan.name = "eta"},
    %initial_w1: tensor<?x2x32x64xf32> {scan.name = "initial_w1", scan.optional},
    %initial_w2: tensor<?x2x64x32xf32> {scan.name = "initial_w2", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x64xf32> {scan.name = "final_w1"},
        tensor<?x2x64x32xf32> {scan.name = "final_w2"})
    attributes {scan.entry = "forward"} {
  %o, %final0, %final1 = scan.recurrence mini_batch 16
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %eta as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
      init(%initial_w1 as "nhkm", %initial_w2 as "nhmv" : tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>)
      outs("bthv") finals("nhkm", "nhmv") {
  ^bb0(%W1: tensor<32x64xf32>, %W2: tensor<64x32xf32>, %W1_entry: tensor<32x64xf32>,
       %W2_entry: tensor<64x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>,
       %eta_t: f32):
    %target = arith.subf %v_t, %k_t : tensor<32xf32>
    %z1_zero = arith.constant dense<0.0> : tensor<64xf32>
    %z1 = linalg.vecmat ins(%k_t, %W1_entry : tensor<32xf32>, tensor<32x64xf32>) outs(%z1_zero : tensor<64xf32>) -> tensor<64xf32>
    %hidden, %slope = func.call @gelu(%z1) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    %z2_zero = arith.constant dense<0.0> : tensor<32xf32>
    %z2 = linalg.vecmat ins(%hidden, %W2_entry : tensor<64xf32>, tensor<64x32xf32>) outs(%z2_zero : tensor<32xf32>) -> tensor<32xf32>
    %g2 = func.call @norm_loss_gradient(%z2, %target) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %back_zero = arith.constant dense<0.0> : tensor<64xf32>
    %back = linalg.matvec ins(%W2_entry, %g2 : tensor<64x32xf32>, tensor<32xf32>) outs(%back_zero : tensor<64xf32>) -> tensor<64xf32>
    %g1 = arith.mulf %back, %slope : tensor<64xf32>
    %change1 = func.call @outer1(%k_t, %g1, %eta_t) : (tensor<32xf32>, tensor<64xf32>, f32) -> tensor<32x64xf32>
    %change2 = func.call @outer2(%hidden, %g2, %eta_t) : (tensor<64xf32>, tensor<32xf32>, f32) -> tensor<64x32xf32>
    %next1 = arith.subf %W1, %change1 : tensor<32x64xf32>
    %next2 = arith.subf %W2, %change2 : tensor<64x32xf32>
    %y1_zero = arith.constant dense<0.0> : tensor<64xf32>
    %y1 = linalg.vecmat ins(%q_t, %next1 : tensor<32xf32>, tensor<32x64xf32>) outs(%y1_zero : tensor<64xf32>) -> tensor<64xf32>
    %read, %read_slope = func.call @gelu(%y1) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    %y2_zero = arith.constant dense<0.0> : tensor<32xf32>
    %y2 = linalg.vecmat ins(%read, %next2 : tensor<64xf32>, tensor<64x32xf32>) outs(%y2_zero : tensor<32xf32>) -> tensor<32xf32>
    %normal, %unused = func.call @normalize(%y2) : (tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
    %o_t = arith.addf %q_t, %normal : tensor<32xf32>
    scan.yield %next1, %next2, %o_t : tensor<32x64xf32>, tensor<64x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>)
  return %o, %final0, %final1 : tensor<?x?x2x32xf32>, tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>
}
