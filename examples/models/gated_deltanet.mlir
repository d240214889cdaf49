// Gated DeltaNet: S <- alpha S, then S <- S - beta k (k^T S) + beta k v^T, o = S^T q; q and k normalised,
// beta = sigmoid(logit), log alpha = -exp(A_log) softplus(dt).

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %A_log: tensor<2xf32> {scan.name = "A_log"},
    %dt: tensor<?x?x2xf32> {scan.name = "dt"},
    %logit: tensor<?x?x2xf32> {scan.name = "logit"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %A_log as "h", %dt as "bth", %logit as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>, %A_log_t: f32,
       %dt_t: f32, %logit_t: f32):
    %dt_zero = arith.constant 0.0 : f32
    %dt_most = arith.maximumf %dt_t, %dt_zero : f32
    %dt_abs = math.absf %dt_t : f32
    %dt_minus = arith.negf %dt_abs : f32
    %dt_exp = math.exp %dt_minus : f32
    %dt_log = math.log1p %dt_exp : f32
    %rate = arith.addf %dt_most, %dt_log : f32
    %exp = math.exp %A_log_t : f32
    %A = arith.negf %exp : f32
    %log_alpha = arith.mulf %A, %rate : f32
    %logit_one = arith.constant 1.0 : f32
    %logit_neg = arith.negf %logit_t : f32
    %logit_exp = math.exp %logit_neg : f32
    %logit_sum = arith.addf %logit_one, %logit_exp : f32
    %beta = arith.divf %logit_one, %logit_sum : f32
    %query = scan.l2norm %q_t : tensor<32xf32> -> tensor<32xf32>
    %key = scan.l2norm %k_t : tensor<32xf32> -> tensor<32xf32>
    %kept = scan.decay %S by %log_alpha along scalar : tensor<32x32xf32>, f32
    %erased = scan.erase %kept read %key write %key strength %beta : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %erased key %key value %v_t scale %beta : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %o_t = scan.read %next query %query : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
