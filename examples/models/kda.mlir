// Kimi Delta Attention: S <- diag(alpha) S, then S <- S - beta k (k^T S) + beta k v^T, o = S^T q; a log gate for each key,
// q and k normalised.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %log_alpha: tensor<?x?x2x32xf32> {scan.name = "log_alpha"},
    %beta: tensor<?x?x2xf32> {scan.name = "beta"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %log_alpha as "bthk", %beta as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>,
       %log_alpha_t: tensor<32xf32>, %beta_t: f32):
    %query = scan.l2norm %q_t : tensor<32xf32> -> tensor<32xf32>
    %key = scan.l2norm %k_t : tensor<32xf32> -> tensor<32xf32>
    %kept = scan.decay %S by %log_alpha_t along key : tensor<32x32xf32>, tensor<32xf32>
    %erased = scan.erase %kept read %key write %key strength %beta_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %erased key %key value %v_t scale %beta_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %o_t = scan.read %next query %query : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
