// A linear memory with momentum in mini-batches of 8, written in plain ops: S <- eta S - theta k (M_entry^T k - v)^T,
// M <- keep M + S, o = M^T q.
func.func @forward(
    %q: tensor<?x?x2x8xf32> {scan.name = "q"}, %k: tensor<?x?x2x8xf32> {scan.name = "k"},
    %v: tensor<?x?x2x4xf32> {scan.name = "v"}, %log_keep: tensor<?x?x2xf32> {scan.name = "log_keep"},
    %log_eta: tensor<?x?x2xf32> {scan.name = "log_eta"}, %theta: tensor<?x?x2xf32> {scan.name = "theta"},
    %initial_m: tensor<?x2x8x4xf32> {scan.name = "initial_m", scan.optional},
    %initial_s: tensor<?x2x8x4xf32> {scan.name = "initial_s", scan.optional})
    -> (tensor<?x?x2x4xf32> {scan.name = "o"}, tensor<?x2x8x4xf32> {scan.name = "final_m"},
        tensor<?x2x8x4xf32> {scan.name = "final_s"}) attributes {scan.entry = "forward"} {
  %o, %m, %s = scan.recurrence mini_batch 8
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %log_keep as "bth", %log_eta as "bth", %theta as "bth"
          : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>,
            tensor<?x?x2xf32>)
      init(%initial_m as "nhkv", %initial_s as "nhkv" : tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>)
      outs("bthv") finals("nhkv", "nhkv") {
  ^bb0(%M: tensor<8x4xf32>, %S: tensor<8x4xf32>, %M_entry: tensor<8x4xf32>, %S_entry: tensor<8x4xf32>,
       %q_t: tensor<8xf32>, %k_t: tensor<8xf32>, %v_t: tensor<4xf32>, %log_keep_t: f32, %log_eta_t: f32, %theta_t: f32):
    %zeros = arith.constant dense<0.0> : tensor<4xf32>
    %empty = tensor.empty() : tensor<8x4xf32>
    %seen = linalg.vecmat ins(%k_t, %M_entry : tensor<8xf32>, tensor<8x4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
    %error = arith.subf %v_t, %seen : tensor<4xf32>
    %written = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                               iterator_types = ["parallel", "parallel"]}
        ins(%k_t, %error : tensor<8xf32>, tensor<4xf32>) outs(%empty : tensor<8x4xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %xy = arith.mulf %x, %y : f32
        linalg.yield %xy : f32
      } -> tensor<8x4xf32>
    %theta_all = tensor.splat %theta_t : tensor<8x4xf32>
    %step = arith.mulf %written, %theta_all : tensor<8x4xf32>
    %eta = math.exp %log_eta_t : f32
    %eta_all = tensor.splat %eta : tensor<8x4xf32>
    %slowed = arith.mulf %S, %eta_all : tensor<8x4xf32>
    %momentum = arith.addf %slowed, %step : tensor<8x4xf32>
    %keep = math.exp %log_keep_t : f32
    %keep_all = tensor.splat %keep : tensor<8x4xf32>
    %kept = arith.mulf %M, %keep_all : tensor<8x4xf32>
    %memory = arith.addf %kept, %momentum : tensor<8x4xf32>
    %o_t = linalg.vecmat ins(%q_t, %memory : tensor<8xf32>, tensor<8x4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
    scan.yield %memory, %momentum, %o_t : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>)
  return %o, %m, %s : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>
}
