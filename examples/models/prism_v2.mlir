// PRISM as published first (arXiv 2602.10796 v2, eq. 18), L = 2:
// S <- alpha S (I - b1 c1 c1^T) + sum over l of b_l delta_l c_l^T. The erase is tied to the first injection's key and scale.
// The deltas come from the refinement loop on the anchor u, which does not read the state.

func.func @forward(
    %q: tensor<?x?x2x32xf32> {scan.name = "q"},
    %v: tensor<?x?x2x32xf32> {scan.name = "v"},
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
      ins(%q as "bthk", %v as "bthv", %log_alpha as "bth", %u as "bthv", %p as "bthlv", %c as "bthlk", %b as "bthl"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x2x32xf32>, tensor<?x?x2x2x32xf32>, tensor<?x?x2x2xf32>)
      init(%initial_state as "nhkv" : tensor<?x2x32x32xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<32x32xf32>, %q_t: tensor<32xf32>, %v_t: tensor<32xf32>, %log_alpha_t: f32,
       %u_t: tensor<32xf32>, %p_t: tensor<2x32xf32>, %c_t: tensor<2x32xf32>, %b_t: tensor<2xf32>):
    %first = arith.constant 0 : index
    %c1 = tensor.extract_slice %c_t[0, 0] [1, 32] [1, 1] : tensor<2x32xf32> to tensor<32xf32>
    %b1 = tensor.extract %b_t[%first] : tensor<2xf32>
    %delta = scan.refine anchor %u_t value %v_t gain %p_t activation gelu : tensor<32xf32>, tensor<32xf32>, tensor<2x32xf32> -> tensor<2x32xf32>
    %kept = scan.decay %S by %log_alpha_t along scalar : tensor<32x32xf32>, f32
    %erased = scan.erase %kept read %c1 write %c1 strength %b1 : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, f32
    %next = scan.inject %erased key %c_t value %delta scale %b_t : tensor<32x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2xf32>
    %o_t = scan.read %next query %q_t : tensor<32x32xf32>, tensor<32xf32> -> tensor<32xf32>
    scan.yield %next, %o_t : tensor<32x32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32x32xf32>)
  return %o, %final : tensor<?x?x2x32xf32>, tensor<?x2x32x32xf32>
}
