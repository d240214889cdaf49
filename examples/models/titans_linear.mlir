// Titans with a linear memory and no norm, mini-batches of 16. Two states: the memory M and its momentum S,
// S <- eta S - theta k (M_entry^T k - v)^T, M <- keep M + S, o = M^T q; keep = 1 - alpha, both gates as logarithms.
// Affine in (M, S) and M_entry: it has a parallel form by mini-batches.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %log_keep: tensor<?x?x2xf32> {scan.name = "log_keep"},
    %log_eta: tensor<?x?x2xf32> {scan.name = "log_eta"},
    %theta: tensor<?x?x2xf32> {scan.name = "theta"},
    %initial_m: tensor<?x2x32x32xf32> {scan.name = "initial_m", scan.optional},
    %initial_s: tensor<?x2x32x32xf32> {scan.name = "initial_s", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_m"},
        tensor<?x2x32x32xf32> {scan.name = "final_s"})
    attributes {scan.entry = "forward"} {
  %o, %final0, %final1 = scan.recurrence mini_batch 16
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %log_keep as "bth", %log_eta as "bth", %theta as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>)
      init(%initial_m as "nhkv", %initial_s as "nhkv" : tensor<?x2x32x32xf32>, tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv", "nhkv") {
  ^bb0(%M: tensor<32x32xf32>, %S: tensor<32x32xf32>, %M_entry: tensor<32x32xf32>, %S_entry: tensor<32x32xf32>,
       %q_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>, %log_keep_t: f32, %log_eta_t: f32,
       %theta_t: f32):
    %slowed = scan.decay %S by %log_eta_t along scalar : tensor<32x32xf32>, f32
    %pulled = scan.erase %slowed of %M_entry read %k_t write %k_t strength %theta_t : tensor<32x32xf32> of tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %momentum = scan.inject %pulled key %k_t value %v_t scale %theta_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %kept = scan.decay %M by %log_keep_t along scalar : tensor<32x32xf32>, f32
    %memory = arith.addf %kept, %momentum : tensor<32x32xf32>
    %o_t = scan.read %memory query %q_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %memory, %momentum, %o_t : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>, tensor<?x2x32x32xf32>)
  return %o, %final0, %final1 : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>, tensor<?x2x32x32xf32>
}
