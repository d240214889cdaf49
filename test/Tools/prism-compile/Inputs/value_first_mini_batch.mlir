// Mini-batches of a state of values by keys: S <- S + (v - S_entry k) k^T.
func.func @forward(%k: tensor<?x?x2x8xf32> {scan.name = "k"}, %v: tensor<?x?x2x4xf32> {scan.name = "v"})
    -> (tensor<?x2x4x8xf32> {scan.name = "final_state"}) attributes {scan.entry = "forward"} {
  %final = scan.recurrence mini_batch 16 ins(%k as "bthk", %v as "bthv" : tensor<?x?x2x8xf32>, tensor<?x?x2x4xf32>)
      outs() finals("nhvk") {
  ^bb0(%S: tensor<4x8xf32>, %entry: tensor<4x8xf32>, %k_t: tensor<8xf32>, %v_t: tensor<4xf32>):
    %zeros = arith.constant dense<0.0> : tensor<4xf32>
    %seen = linalg.matvec ins(%entry, %k_t : tensor<4x8xf32>, tensor<8xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
    %error = arith.subf %v_t, %seen : tensor<4xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
        ins(%error, %k_t : tensor<4xf32>, tensor<8xf32>) outs(%S : tensor<4x8xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %xy = arith.mulf %x, %y : f32
        %sum = arith.addf %z, %xy : f32
        linalg.yield %sum : f32
      } -> tensor<4x8xf32>
    scan.yield %next : tensor<4x8xf32>
  } -> (), (tensor<?x2x4x8xf32>)
  return %final : tensor<?x2x4x8xf32>
}
