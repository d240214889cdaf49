// RWKV-7: S <- diag(w) S - (kk iclr) (kk^T S_before) + k v^T, o = S^T r; kk is the normalised removal key, and it reads the
// state before the decay. log w = -0.6065 sigmoid(g).

func.func @forward(
    %r: tensor<?x?x2x32xf32> {scan.name = "r"},
    %k: tensor<?x?x2x32xf32> {scan.name = "k"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
    %removal: tensor<?x?x2x32xf32> {scan.name = "removal"},
    %iclr: tensor<?x?x2x32xf32> {scan.name = "iclr"},
    %g: tensor<?x?x2x32xf32> {scan.name = "g"},
    %initial_state: tensor<?x2x32x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "o"},
        tensor<?x2x32x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%r as "bthk", %k as "bthk", %v as "bthv", %removal as "bthk", %iclr as "bthk", %g as "bthk"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %r_t: tensor<32xf32>, %k_t: tensor<32xf32>, %v_t: tensor<32xf32>,
       %removal_t: tensor<32xf32>, %iclr_t: tensor<32xf32>, %g_t: tensor<32xf32>):
    %g_one = arith.constant dense<1.0> : tensor<32xf32>
    %g_neg = arith.negf %g_t : tensor<32xf32>
    %g_exp = math.exp %g_neg : tensor<32xf32>
    %g_sum = arith.addf %g_one, %g_exp : tensor<32xf32>
    %gate = arith.divf %g_one, %g_sum : tensor<32xf32>
    %most = arith.constant dense<-0.6065> : tensor<32xf32>
    %log_w = arith.mulf %most, %gate : tensor<32xf32>
    %kk = scan.l2norm %removal_t : tensor<32xf32> -> tensor<32xf32>
    %write = arith.mulf %kk, %iclr_t : tensor<32xf32>
    %all = arith.constant 1.0 : f32
    %kept = scan.decay %S by %log_w along key : tensor<32x32xf32>, tensor<32xf32>
    %erased = scan.erase %kept of %S read %kk write %write strength %all : tensor<32x32xf32> of tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %erased key %k_t value %v_t : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>
    %o_t = scan.read %next query %r_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
