// TTT-Linear without its layer norm, mini-batches of 16: the inner loss 1/2 |W^T k - (v - k)|^2 takes its gradient at the
// weights W_entry that the mini-batch began with, W <- W - eta k (W_entry^T k - (v - k))^T, o = W^T q.
// Affine in W and W_entry: it has a parallel form by mini-batches, not by tokens.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %eta: tensor<?x?x2xf32> {scan.name = "eta"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence mini_batch 16
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %eta as "bth"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%W: tensor<32x32xf32>, %W_entry: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<32xf32>,
       %v_t: tensor<32xf32>, %eta_t: f32):
    %target = arith.subf %v_t, %k_t : tensor<32xf32>
    %erased = scan.erase %W of %W_entry read %k_t write %k_t strength %eta_t : tensor<32x32xf32> of tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %erased key %k_t value %target scale %eta_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %o_t = scan.read %next query %q_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
