// Titans with a two-layer perceptron as memory, mini-batches of 16: momentum S <- eta S - theta g for both layers, memory
// M <- keep M + S, where g is the gradient of 1/2 |M2^T gelu(M1^T k) - v|^2 at the memory that the mini-batch began with.

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
    %log_keep: tensor<?x?x2xf32> {scan.name = "log_keep"},
    %log_eta: tensor<?x?x2xf32> {scan.name = "log_eta"},
    %theta: tensor<?x?x2xf32> {scan.name = "theta"},
    %initial_m1: tensor<?x2x32x64xf32> {scan.name = "initial_m1", scan.optional},
    %initial_m2: tensor<?x2x64x32xf32> {scan.name = "initial_m2", scan.optional},
    %initial_s1: tensor<?x2x32x64xf32> {scan.name = "initial_s1", scan.optional},
    %initial_s2: tensor<?x2x64x32xf32> {scan.name = "initial_s2", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x64xf32> {scan.name = "final_m1"},
        tensor<?x2x64x32xf32> {scan.name = "final_m2"},
        tensor<?x2x32x64xf32> {scan.name = "final_s1"},
        tensor<?x2x64x32xf32> {scan.name = "final_s2"})
    attributes {scan.entry = "forward"} {
  %o, %final0, %final1, %final2, %final3 = scan.recurrence mini_batch 16
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %log_keep as "bth", %log_eta as "bth", %theta as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>)
      init(%initial_m1 as "nhkm", %initial_m2 as "nhmv", %initial_s1 as "nhkm", %initial_s2 as "nhmv" : tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>, tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>)
      outs("bthv") finals("nhkm", "nhmv", "nhkm", "nhmv") {
  ^bb0(%M1: tensor<32x64xf32>, %M2: tensor<64x32xf32>, %S1: tensor<32x64xf32>, %S2: tensor<64x32xf32>,
       %M1_entry: tensor<32x64xf32>, %M2_entry: tensor<64x32xf32>, %S1_entry: tensor<32x64xf32>,
       %S2_entry: tensor<64x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>,
       %log_keep_t: f32, %log_eta_t: f32, %theta_t: f32):
    %z1_zero = arith.constant dense<0.0> : tensor<64xf32>
    %z1 = linalg.vecmat ins(%k_t, %M1_entry : tensor<32xf32>, tensor<32x64xf32>) outs(%z1_zero : tensor<64xf32>) -> tensor<64xf32>
    %hidden, %slope = func.call @gelu(%z1) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    %z2_zero = arith.constant dense<0.0> : tensor<32xf32>
    %z2 = linalg.vecmat ins(%hidden, %M2_entry : tensor<64xf32>, tensor<64x32xf32>) outs(%z2_zero : tensor<32xf32>) -> tensor<32xf32>
    %g2 = arith.subf %z2, %v_t : tensor<32xf32>
    %back_zero = arith.constant dense<0.0> : tensor<64xf32>
    %back = linalg.matvec ins(%M2_entry, %g2 : tensor<64x32xf32>, tensor<32xf32>) outs(%back_zero : tensor<64xf32>) -> tensor<64xf32>
    %g1 = arith.mulf %back, %slope : tensor<64xf32>
    %change1 = func.call @outer1(%k_t, %g1, %theta_t) : (tensor<32xf32>, tensor<64xf32>, f32) -> tensor<32x64xf32>
    %change2 = func.call @outer2(%hidden, %g2, %theta_t) : (tensor<64xf32>, tensor<32xf32>, f32) -> tensor<64x32xf32>
    %slowed1 = scan.decay %S1 by %log_eta_t along scalar : tensor<32x64xf32>, f32
    %slowed2 = scan.decay %S2 by %log_eta_t along scalar : tensor<64x32xf32>, f32
    %momentum1 = arith.subf %slowed1, %change1 : tensor<32x64xf32>
    %momentum2 = arith.subf %slowed2, %change2 : tensor<64x32xf32>
    %kept1 = scan.decay %M1 by %log_keep_t along scalar : tensor<32x64xf32>, f32
    %kept2 = scan.decay %M2 by %log_keep_t along scalar : tensor<64x32xf32>, f32
    %memory1 = arith.addf %kept1, %momentum1 : tensor<32x64xf32>
    %memory2 = arith.addf %kept2, %momentum2 : tensor<64x32xf32>
    %y1_zero = arith.constant dense<0.0> : tensor<64xf32>
    %y1 = linalg.vecmat ins(%q_t, %memory1 : tensor<32xf32>, tensor<32x64xf32>) outs(%y1_zero : tensor<64xf32>) -> tensor<64xf32>
    %read, %read_slope = func.call @gelu(%y1) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    %o_t_zero = arith.constant dense<0.0> : tensor<32xf32>
    %o_t = linalg.vecmat ins(%read, %memory2 : tensor<64xf32>, tensor<64x32xf32>) outs(%o_t_zero : tensor<32xf32>) -> tensor<32xf32>
    scan.yield %memory1, %memory2, %momentum1, %momentum2, %o_t : tensor<32x64xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>, tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>)
  return %o, %final0, %final1, %final2, %final3 : tensor<?x?x2x32xf32>, tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>, tensor<?x2x32x64xf32>, tensor<?x2x64x32xf32>
}
