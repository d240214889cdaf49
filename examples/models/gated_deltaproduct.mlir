// Gated DeltaProduct with two Householder steps a token, keys normalised: the gate acts before the first, the read comes after the last.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %k: tensor<?x?x2x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x2x32xf32> {scan.name = "v"},
    %log_alpha: tensor<?x?x2xf32> {scan.name = "log_alpha"},
    %beta: tensor<?x?x2x2xf32> {scan.name = "beta"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthrk", %v as "bthrv", %log_alpha as "bth", %beta as "bthr"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x2x32xf32>, tensor<?x?x2x2x32xf32>, tensor<?x?x2xf32>, tensor<?x?x2x2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %k_t: tensor<2x32xf32>, %v_t: tensor<2x32xf32>,
       %log_alpha_t: f32, %beta_t: tensor<2xf32>):
    %first = arith.constant 0 : index
    %second = arith.constant 1 : index
    %keys = scan.l2norm %k_t : tensor<2x32xf32> -> tensor<2x32xf32>
    %k0 = tensor.extract_slice %keys[0, 0] [1, 32] [1, 1] : tensor<2x32xf32> to tensor<32xf32>
    %k1 = tensor.extract_slice %keys[1, 0] [1, 32] [1, 1] : tensor<2x32xf32> to tensor<32xf32>
    %v0 = tensor.extract_slice %v_t[0, 0] [1, 32] [1, 1] : tensor<2x32xf32> to tensor<32xf32>
    %v1 = tensor.extract_slice %v_t[1, 0] [1, 32] [1, 1] : tensor<2x32xf32> to tensor<32xf32>
    %beta0 = tensor.extract %beta_t[%first] : tensor<2xf32>
    %beta1 = tensor.extract %beta_t[%second] : tensor<2xf32>
    %kept = scan.decay %S by %log_alpha_t along scalar : tensor<32x32xf32>, f32
    %erased0 = scan.erase %kept read %k0 write %k0 strength %beta0 : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %written0 = scan.inject %erased0 key %k0 value %v0 scale %beta0 : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %erased1 = scan.erase %written0 read %k1 write %k1 strength %beta1 : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %erased1 key %k1 value %v1 scale %beta1 : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %o_t = scan.read %next query %q_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
