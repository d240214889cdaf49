// DeltaNet: S <- S - beta k (k^T S) + beta k v^T, o = S^T q; q and k normalised, beta = sigmoid(logit).

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %logit: tensor<?x?x2xf32> {scan.name = "logit"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %logit as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>, %logit_t: f32):
    %logit_one = arith.constant 1.0 : f32
    %logit_neg = arith.negf %logit_t : f32
    %logit_exp = math.exp %logit_neg : f32
    %logit_sum = arith.addf %logit_one, %logit_exp : f32
    %beta = arith.divf %logit_one, %logit_sum : f32
    %query = scan.l2norm %q_t : tensor<32xf32> -> tensor<32xf32>
    %key = scan.l2norm %k_t : tensor<32xf32> -> tensor<32xf32>
    %erased = scan.erase %S read %key write %key strength %beta : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %erased key %key value %v_t scale %beta : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %o_t = scan.read %next query %query : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
