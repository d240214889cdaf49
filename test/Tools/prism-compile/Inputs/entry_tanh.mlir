// W <- W - eta k (tanh(W_entry^T k) - v)^T, o = q + W^T q, in mini-batches of 8.
func.func @forward(
    %q: tensor<?x?x2x8xf32> {scan.name = "q"}, %k: tensor<?x?x2x8xf32> {scan.name = "k"},
    %v: tensor<?x?x2x8xf32> {scan.name = "v"}, %eta: tensor<?x?x2xf32> {scan.name = "eta"},
    %initial: tensor<?x2x8x8xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x8xf32> {scan.name = "o"}, tensor<?x2x8x8xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence mini_batch 8
      ins(%q as "bthk", %k as "bthk", %v as "bthk", %eta as "bth"
          : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2xf32>)
      init(%initial as "nhkv" : tensor<?x2x8x8xf32>) outs("bthk") finals("nhkv") {
  ^bb0(%W: tensor<8x8xf32>, %W_entry: tensor<8x8xf32>, %q_t: tensor<8xf32>, %k_t: tensor<8xf32>, %v_t: tensor<8xf32>,
       %eta_t: f32):
    %seen = scan.read %W_entry query %k_t : tensor<8x8xf32>, tensor<8xf32> -> tensor<8xf32>
    %bent = math.tanh %seen : tensor<8xf32>
    %error = arith.subf %v_t, %bent : tensor<8xf32>
    %next = scan.inject %W key %k_t value %error scale %eta_t : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, f32
    %read = scan.read %next query %q_t : tensor<8x8xf32>, tensor<8xf32> -> tensor<8xf32>
    %o_t = arith.addf %q_t, %read : tensor<8xf32>
    scan.yield %next, %o_t : tensor<8x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x2x8xf32>), (tensor<?x2x8x8xf32>)
  return %o, %final : tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>
}
