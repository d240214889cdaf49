// GRU, a layer of 32 units a head: z, r = sigmoid(x + h U), n = tanh(x + (r h) U), h <- (1 - z) n + z h. The gates read the
// state h.

func.func private @sigmoid(%x: tensor<32xf32>) -> tensor<32xf32> {
  %one = arith.constant dense<1.0> : tensor<32xf32>
  %minus = arith.negf %x : tensor<32xf32>
  %exp = math.exp %minus : tensor<32xf32>
  %sum = arith.addf %one, %exp : tensor<32xf32>
  %y = arith.divf %one, %sum : tensor<32xf32>
  return %y : tensor<32xf32>
}

func.func @forward(
    %x_z: tensor<?x?x2x32xf32> {scan.name = "x_z"},
    %x_r: tensor<?x?x2x32xf32> {scan.name = "x_r"},
    %x_n: tensor<?x?x2x32xf32> {scan.name = "x_n"},
    %U_z: tensor<2x32x32xf32> {scan.name = "U_z"},
    %U_r: tensor<2x32x32xf32> {scan.name = "U_r"},
    %U_n: tensor<2x32x32xf32> {scan.name = "U_n"},
    %initial_state: tensor<?x2x32xf32> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "y"},
        tensor<?x2x32xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %y, %final = scan.recurrence
      ins(%x_z as "bthv", %x_r as "bthv", %x_n as "bthv", %U_z as "hvw", %U_r as "hvw", %U_n as "hvw"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>)
      init(%initial_state as "nhv" : tensor<?x2x32xf32>)
      outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<32xf32>, %x_z_t: tensor<32xf32>, %x_r_t: tensor<32xf32>, %x_n_t: tensor<32xf32>,
       %U_z_t: tensor<32x32xf32>, %U_r_t: tensor<32x32xf32>, %U_n_t: tensor<32x32xf32>):
    %a_z = linalg.vecmat ins(%h, %U_z_t : tensor<32xf32>, tensor<32x32xf32>) outs(%x_z_t : tensor<32xf32>) -> tensor<32xf32>
    %a_r = linalg.vecmat ins(%h, %U_r_t : tensor<32xf32>, tensor<32x32xf32>) outs(%x_r_t : tensor<32xf32>) -> tensor<32xf32>
    %z = func.call @sigmoid(%a_z) : (tensor<32xf32>) -> tensor<32xf32>
    %r = func.call @sigmoid(%a_r) : (tensor<32xf32>) -> tensor<32xf32>
    %reset = arith.mulf %r, %h : tensor<32xf32>
    %a_n = linalg.vecmat ins(%reset, %U_n_t : tensor<32xf32>, tensor<32x32xf32>) outs(%x_n_t : tensor<32xf32>) -> tensor<32xf32>
    %n = math.tanh %a_n : tensor<32xf32>
    %one = arith.constant dense<1.0> : tensor<32xf32>
    %rest = arith.subf %one, %z : tensor<32xf32>
    %fresh = arith.mulf %rest, %n : tensor<32xf32>
    %kept = arith.mulf %z, %h : tensor<32xf32>
    %next = arith.addf %fresh, %kept : tensor<32xf32>
    scan.yield %next, %next : tensor<32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32xf32>)
  return %y, %final : tensor<?x?x2x32xf32>, tensor<?x2x32xf32>
}
