// The nonlinear solver that reads the state (arXiv 2602.10796, eq. 6): a gradient step on 1/2 |tanh(S^T k) - v|^2,
// S <- S + k [tanh'(S^T k) (v - tanh(S^T k))]^T, o = S^T q. What is written depends on the state through tanh.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>):
    %z_zero = arith.constant dense<0.0> : tensor<32xf32>
    %z = linalg.vecmat ins(%k_t, %S : tensor<32xf32>, tensor<32x32xf32>) outs(%z_zero : tensor<32xf32>) -> tensor<32xf32>
    %guess = math.tanh %z : tensor<32xf32>
    %residual = arith.subf %v_t, %guess : tensor<32xf32>
    %square = arith.mulf %guess, %guess : tensor<32xf32>
    %one = arith.constant dense<1.0> : tensor<32xf32>
    %slope = arith.subf %one, %square : tensor<32xf32>
    %delta = arith.mulf %slope, %residual : tensor<32xf32>
    %next = scan.inject %S key %k_t value %delta : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>
    %o_t = scan.read %next query %q_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
