// PRISM with a base write and an erase key of its own, L = 2:
// S <- alpha S (I - beta k k^T) + beta v k^T + sum over l of b_l delta_l c_l^T. Without the sum it is Gated DeltaNet.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %beta: tensor<?x?x2xf32> {scan.name = "beta"},
    %log_alpha: tensor<?x?x2xf32> {scan.name = "log_alpha"},
    %u: tensor<?x?x2x32xf32> {scan.name = "u"},
    %p: tensor<?x?x2x2x32xf32> {scan.name = "p"},
    %c: tensor<?x?x2x2x32xf32> {scan.name = "c"},
    %b: tensor<?x?x2x2xf32> {scan.name = "b"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %beta as "bth", %log_alpha as "bth", %u as "bthv", %p as "bthlv", %c as "bthlk", %b as "bthl"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x2x32xf32>, tensor<?x?x2x2x32xf32>, tensor<?x?x2x2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>, %beta_t: f32,
       %log_alpha_t: f32, %u_t: tensor<32xf32>, %p_t: tensor<2x32xf32>, %c_t: tensor<2x32xf32>,
       %b_t: tensor<2xf32>):
    %delta = scan.refine anchor %u_t value %v_t gain %p_t activation gelu : tensor<32xf32>, tensor<32xf32>, tensor<2x32xf32> -> tensor<2x32xf32>
    %kept = scan.decay %S by %log_alpha_t along scalar : tensor<32x32xf32>, f32
    %erased = scan.erase %kept read %k_t write %k_t strength %beta_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %based = scan.inject %erased key %k_t value %v_t scale %beta_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %based key %c_t value %delta scale %b_t : tensor<32x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2xf32>
    %o_t = scan.read %next query %q_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
