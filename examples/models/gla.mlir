// Gated linear attention: S <- diag(alpha) S + k v^T, o = S^T q, alpha = sigmoid(g)^(1/16), one gate a key.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %g: tensor<?x?x2x32xf32> {scan.name = "g"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %g as "bthk"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>,
       %g_t: tensor<32xf32>):
    %g_zero = arith.constant dense<0.0> : tensor<32xf32>
    %g_least = arith.minimumf %g_t, %g_zero : tensor<32xf32>
    %g_abs = math.absf %g_t : tensor<32xf32>
    %g_minus = arith.negf %g_abs : tensor<32xf32>
    %g_exp = math.exp %g_minus : tensor<32xf32>
    %g_log = math.log1p %g_exp : tensor<32xf32>
    %log_sigmoid = arith.subf %g_least, %g_log : tensor<32xf32>
    %sixteenth = arith.constant dense<0.0625> : tensor<32xf32>
    %log_alpha = arith.mulf %log_sigmoid, %sixteenth : tensor<32xf32>
    %kept = scan.decay %S by %log_alpha along key : tensor<32x32xf32>, tensor<32xf32>
    %next = scan.inject %kept key %k_t value %v_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>
    %o_t = scan.read %next query %q_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
