// Titans with a linear memory inside a layer norm, mini-batches of 16: S <- eta S - theta k g^T, M <- keep M + S, where g is
// the gradient of 1/2 |layer_norm(M_entry^T k) - v|^2. The norm makes it nonlinear in M_entry.

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

// scale a b^T.
func.func private @outer(%a: tensor<32xf32>, %b: tensor<32xf32>, %scale: f32) -> tensor<32x32xf32> {
  %empty = tensor.empty() : tensor<32x32xf32>
  %product = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32x32xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %xy = arith.mulf %x, %y : f32
      %z = arith.mulf %scale, %xy : f32
      linalg.yield %z : f32
  } -> tensor<32x32xf32>
  return %product : tensor<32x32xf32>
}

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %log_keep: tensor<?x?x2xf32> {scan.name = "log_keep"},
    %log_eta: tensor<?x?x2xf32> {scan.name = "log_eta"},
    %theta: tensor<?x?x2xf32> {scan.name = "theta"},
    %initial_m: tensor<?x2x32x32xf32> {scan.name = "initial_m", scan.optional},
    %initial_s: tensor<?x2x32x32xf32> {scan.name = "initial_s", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_m"},
        tensor<?x2x32x32xf32> {scan.name = "final_s"})
    attributes {scan.entry = "forward"} {
  %o, %final0, %final1 = scan.recurrence mini_batch 16
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %log_keep as "bth", %log_eta as "bth", %theta as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>)
      init(%initial_m as "nhkv", %initial_s as "nhkv" : tensor<?x2x32x32xf32>, tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv", "nhkv") {
  ^bb0(%M: tensor<32x32xf32>, %S: tensor<32x32xf32>, %M_entry: tensor<32x32xf32>, %S_entry: tensor<32x32xf32>,
       %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>, %log_keep_t: f32, %log_eta_t: f32,
       %theta_t: f32):
    %z_zero = arith.constant dense<0.0> : tensor<32xf32>
    %z = linalg.vecmat ins(%k_t, %M_entry : tensor<32xf32>, tensor<32x32xf32>) outs(%z_zero : tensor<32xf32>) -> tensor<32xf32>
    %g = func.call @norm_loss_gradient(%z, %v_t) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %change = func.call @outer(%k_t, %g, %theta_t) : (tensor<32xf32>, tensor<32xf32>, f32) -> tensor<32x32xf32>
    %slowed = scan.decay %S by %log_eta_t along scalar : tensor<32x32xf32>, f32
    %momentum = arith.subf %slowed, %change : tensor<32x32xf32>
    %kept = scan.decay %M by %log_keep_t along scalar : tensor<32x32xf32>, f32
    %memory = arith.addf %kept, %momentum : tensor<32x32xf32>
    %y_zero = arith.constant dense<0.0> : tensor<32xf32>
    %y = linalg.vecmat ins(%q_t, %memory : tensor<32xf32>, tensor<32x32xf32>) outs(%y_zero : tensor<32xf32>) -> tensor<32xf32>
    %o_t, %unused = func.call @normalize(%y) : (tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
    scan.yield %memory, %momentum, %o_t : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>, tensor<?x2x32x32xf32>)
  return %o, %final0, %final1 : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>, tensor<?x2x32x32xf32>
}
