// The gated delta rule on states of values by keys: S <- a S (I - b k k^T) + b v k^T, o = S q.
func.func @forward(
    %q: tensor<?x?x2x8xf32> {scan.name = "q"}, %k: tensor<?x?x2x8xf32> {scan.name = "k"},
    %v: tensor<?x?x2x20xf32> {scan.name = "v"}, %g: tensor<?x?x2xf32> {scan.name = "g"},
    %beta: tensor<?x?x2xf32> {scan.name = "beta"},
    %initial: tensor<?x2x20x8xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x20xf32> {scan.name = "o"}, tensor<?x2x20x8xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence ins(%q as "bthk", %k as "bthk", %v as "bthv", %g as "bth", %beta as "bth"
      : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x20xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>)
      init(%initial as "nhvk" : tensor<?x2x20x8xf32>) outs("bthv") finals("nhvk") {
  ^bb0(%S: tensor<20x8xf32>, %q_t: tensor<8xf32>, %k_t: tensor<8xf32>, %v_t: tensor<20xf32>, %g_t: f32, %beta_t: f32):
    %zeros = arith.constant dense<0.0> : tensor<20xf32>
    %empty = tensor.empty() : tensor<20x8xf32>
    %a = math.exp %g_t : f32
    %as = tensor.splat %a : tensor<20x8xf32>
    %kept = arith.mulf %S, %as : tensor<20x8xf32>
    %seen = linalg.matvec ins(%kept, %k_t : tensor<20x8xf32>, tensor<8xf32>) outs(%zeros : tensor<20xf32>) -> tensor<20xf32>
    %error = arith.subf %v_t, %seen : tensor<20xf32>
    %betas = tensor.splat %beta_t : tensor<20xf32>
    %scaled = arith.mulf %error, %betas : tensor<20xf32>
    %written = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                               iterator_types = ["parallel", "parallel"]}
        ins(%scaled, %k_t : tensor<20xf32>, tensor<8xf32>) outs(%empty : tensor<20x8xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %xy = arith.mulf %x, %y : f32
        linalg.yield %xy : f32
      } -> tensor<20x8xf32>
    %next = arith.addf %kept, %written : tensor<20x8xf32>
    %o_t = linalg.matvec ins(%next, %q_t : tensor<20x8xf32>, tensor<8xf32>) outs(%zeros : tensor<20xf32>) -> tensor<20xf32>
    scan.yield %next, %o_t : tensor<20x8xf32>, tensor<20xf32>
  } -> (tensor<?x?x2x20xf32>), (tensor<?x2x20x8xf32>)
  return %o, %final : tensor<?x?x2x20xf32>, tensor<?x2x20x8xf32>
}
