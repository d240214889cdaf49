// The function of the state makes every step wait for the one before.
func.func @forward(%k: tensor<?x?x2x4xf32> {scan.name = "k"}, %v: tensor<?x?x2x4xf32> {scan.name = "v"})
    -> (tensor<?x?x2x4xf32> {scan.name = "o"}, tensor<?x2x4x4xf32> {scan.name = "final_state"}) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "bthk", %v as "bthv" : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>, %vt: tensor<4xf32>):
    %0 = math.tanh %S : tensor<4x4xf32>
    %1 = scan.inject %0 key %kt value %vt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    %z = math.tanh %y : tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4x4xf32>)
  return %o, %s : tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>
}
