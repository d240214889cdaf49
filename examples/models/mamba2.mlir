// Mamba-2 (SSD): S <- a S + B (Delta x)^T, y = S^T C, a = exp(Delta A), Delta = softplus(dt), A = -exp(A_log) a head.

func.func @forward(
    %C: tensor<?x?x2x32xf32> {scan.name = "C"},
    %B: tensor<?x?x2x32xf32> {scan.name = "B"},
    %x: tensor<?x?x2x32xf32> {scan.name = "x"},
    %dt: tensor<?x?x2xf32> {scan.name = "dt"},
    %A_log: tensor<2xf32> {scan.name = "A_log"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "y"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %y, %final = scan.recurrence
      ins(%C as "bthk", %B as "bthk", %x as "bthv", %dt as "bth", %A_log as "h"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>, tensor<2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %C_t: tensor<32xf32>, %B_t: tensor<32xf32>, %x_t: tensor<32xf32>, %dt_t: f32,
       %A_log_t: f32):
    %dt_zero = arith.constant 0.0 : f32
    %dt_most = arith.maximumf %dt_t, %dt_zero : f32
    %dt_abs = math.absf %dt_t : f32
    %dt_minus = arith.negf %dt_abs : f32
    %dt_exp = math.exp %dt_minus : f32
    %dt_log = math.log1p %dt_exp : f32
    %delta = arith.addf %dt_most, %dt_log : f32
    %exp = math.exp %A_log_t : f32
    %A = arith.negf %exp : f32
    %log_a = arith.mulf %delta, %A : f32
    %kept = scan.decay %S by %log_a along scalar : tensor<32x32xf32>, f32
    %next = scan.inject %kept key %B_t value %x_t scale %delta : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %y_t = scan.read %next query %C_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %y_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %y, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
