// RetNet: S <- gamma S + k v^T, o = S^T q / sqrt(K). One constant log gamma a head.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %log_gamma: tensor<2xf32> {scan.name = "log_gamma"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %log_gamma as "h"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>,
       %log_gamma_t: f32):
    %kept = scan.decay %S by %log_gamma_t along scalar : tensor<32x32xf32>, f32
    %next = scan.inject %kept key %k_t value %v_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>
    %o_t = scan.read %next query %q_t {scale = 0.17677669529663689 : f64} : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
