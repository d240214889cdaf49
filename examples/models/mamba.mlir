// Mamba (S6): h <- exp(Delta A) h + Delta B x, y = C h, for each channel. The state is N x channels: keys are the N state
// dimensions, values the channels. A = -exp(A_log), Delta = softplus(dt). The skip D x is added by the layer around it.

func.func @forward(
    %C: tensor<?x?x2x32xf32> {scan.name = "C"},
    %B: tensor<?x?x2x32xf32> {scan.name = "B"},
    %x: tensor<?x?x2x32xf32> {scan.name = "x"},
    %dt: tensor<?x?x2x32xf32> {scan.name = "dt"},
    %A_log: tensor<2x32x32xf32> {scan.name = "A_log"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "y"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %y, %final = scan.recurrence
      ins(%C as "bthk", %B as "bthk", %x as "bthv", %dt as "bthv", %A_log as "hkv"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<2x32x32xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %C_t: tensor<32xf32>, %B_t: tensor<32xf32>, %x_t: tensor<32xf32>,
       %dt_t: tensor<32xf32>, %A_log_t: tensor<32x32xf32>):
    %dt_zero = arith.constant dense<0.0> : tensor<32xf32>
    %dt_most = arith.maximumf %dt_t, %dt_zero : tensor<32xf32>
    %dt_abs = math.absf %dt_t : tensor<32xf32>
    %dt_minus = arith.negf %dt_abs : tensor<32xf32>
    %dt_exp = math.exp %dt_minus : tensor<32xf32>
    %dt_log = math.log1p %dt_exp : tensor<32xf32>
    %delta = arith.addf %dt_most, %dt_log : tensor<32xf32>
    %exp = math.exp %A_log_t : tensor<32x32xf32>
    %A = arith.negf %exp : tensor<32x32xf32>
    %empty = tensor.empty() : tensor<32x32xf32>
    %delta_rows = linalg.broadcast ins(%delta : tensor<32xf32>) outs(%empty : tensor<32x32xf32>) dimensions = [0]
    %log_gate = arith.mulf %delta_rows, %A : tensor<32x32xf32>
    %kept = scan.decay %S by %log_gate along element : tensor<32x32xf32>, tensor<32x32xf32>
    %delta_x = arith.mulf %delta, %x_t : tensor<32xf32>
    %next = scan.inject %kept key %B_t value %delta_x : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>
    %y_t = scan.read %next query %C_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %y_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %y, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
