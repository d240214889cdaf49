// LSTM, a layer of 32 units a head: the inputs are the gates' projections of x, the recurrent weights are constant in time.
// c <- f c + i g, h <- o tanh(c); i, f, o = sigmoid(x + h U), g = tanh(x + h U). The gates read the state h.

func.func private @sigmoid(%x: tensor<32xf32>) -> tensor<32xf32> {
  %one = arith.constant dense<1.0> : tensor<32xf32>
  %minus = arith.negf %x : tensor<32xf32>
  %exp = math.exp %minus : tensor<32xf32>
  %sum = arith.addf %one, %exp : tensor<32xf32>
  %y = arith.divf %one, %sum : tensor<32xf32>
  return %y : tensor<32xf32>
}

func.func @forward(
    %x_i: tensor<?x?x2x32xf32> {scan.name = "x_i"},
    %x_f: tensor<?x?x2x32xf32> {scan.name = "x_f"},
    %x_g: tensor<?x?x2x32xf32> {scan.name = "x_g"},
    %x_o: tensor<?x?x2x32xf32> {scan.name = "x_o"},
    %U_i: tensor<2x32x32xf32> {scan.name = "U_i"},
    %U_f: tensor<2x32x32xf32> {scan.name = "U_f"},
    %U_g: tensor<2x32x32xf32> {scan.name = "U_g"},
    %U_o: tensor<2x32x32xf32> {scan.name = "U_o"},
    %initial_h: tensor<?x2x32xf32> {scan.name = "initial_h", scan.optional},
    %initial_c: tensor<?x2x32xf32> {scan.name = "initial_c", scan.optional})
    -> (tensor<?x?x2x32xf32> {scan.name = "y"},
        tensor<?x2x32xf32> {scan.name = "final_h"},
        tensor<?x2x32xf32> {scan.name = "final_c"})
    attributes {scan.entry = "forward"} {
  %y, %final0, %final1 = scan.recurrence
      ins(%x_i as "bthv", %x_f as "bthv", %x_g as "bthv", %x_o as "bthv", %U_i as "hvw", %U_f as "hvw", %U_g as "hvw", %U_o as "hvw"
          : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>)
      init(%initial_h as "nhv", %initial_c as "nhv" : tensor<?x2x32xf32>, tensor<?x2x32xf32>)
      outs("bthv") finals("nhv", "nhv") {
  ^bb0(%h: tensor<32xf32>, %c: tensor<32xf32>, %x_i_t: tensor<32xf32>, %x_f_t: tensor<32xf32>,
       %x_g_t: tensor<32xf32>, %x_o_t: tensor<32xf32>, %U_i_t: tensor<32x32xf32>, %U_f_t: tensor<32x32xf32>,
       %U_g_t: tensor<32x32xf32>, %U_o_t: tensor<32x32xf32>):
    %z_i = linalg.vecmat ins(%h, %U_i_t : tensor<32xf32>, tensor<32x32xf32>) outs(%x_i_t : tensor<32xf32>) -> tensor<32xf32>
    %z_f = linalg.vecmat ins(%h, %U_f_t : tensor<32xf32>, tensor<32x32xf32>) outs(%x_f_t : tensor<32xf32>) -> tensor<32xf32>
    %z_g = linalg.vecmat ins(%h, %U_g_t : tensor<32xf32>, tensor<32x32xf32>) outs(%x_g_t : tensor<32xf32>) -> tensor<32xf32>
    %z_o = linalg.vecmat ins(%h, %U_o_t : tensor<32xf32>, tensor<32x32xf32>) outs(%x_o_t : tensor<32xf32>) -> tensor<32xf32>
    %i = func.call @sigmoid(%z_i) : (tensor<32xf32>) -> tensor<32xf32>
    %f = func.call @sigmoid(%z_f) : (tensor<32xf32>) -> tensor<32xf32>
    %g = math.tanh %z_g : tensor<32xf32>
    %o = func.call @sigmoid(%z_o) : (tensor<32xf32>) -> tensor<32xf32>
    %kept = arith.mulf %f, %c : tensor<32xf32>
    %written = arith.mulf %i, %g : tensor<32xf32>
    %cell = arith.addf %kept, %written : tensor<32xf32>
    %shown = math.tanh %cell : tensor<32xf32>
    %hidden = arith.mulf %o, %shown : tensor<32xf32>
    scan.yield %hidden, %cell, %hidden : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
  } -> (tensor<?x?x2x32xf32>), (tensor<?x2x32xf32>, tensor<?x2x32xf32>)
  return %y, %final0, %final1 : tensor<?x?x2x32xf32>, tensor<?x2x32xf32>, tensor<?x2x32xf32>
}
