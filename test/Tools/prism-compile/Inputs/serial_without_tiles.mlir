// Steps that no tiles stand for, and that need no serial form for their values' sake, or only for their number's.

// A number whose step branches, and a matrix that it decays.
func.func @number(%x: tensor<?x?x2x4xf32> {scan.name = "x"},
    %k: tensor<?x?x2x3xf32> {scan.name = "k"}, %g: tensor<?x?x2xf32> {scan.name = "g"})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x1x1xf32> {scan.name = "m"}, tensor<?x2x3x4xf32> {scan.name = "f"}) attributes {scan.entry = "forward"} {
  %y, %fm, %f = scan.recurrence
      ins(%x as "bthv", %k as "bthk", %g as "bth" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2xf32>)
      outs("bthv") finals("nhij", "nhkv") {
  ^bb0(%m: tensor<1x1xf32>, %S: tensor<3x4xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>, %g_t: f32):
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %m0 = tensor.extract %m[%c0, %c0] : tensor<1x1xf32>
    %pos = arith.cmpf ogt, %m0, %zero : f32
    %m1 = scf.if %pos -> f32 {
      %t = math.tanh %m0 : f32
      scf.yield %t : f32
    } else {
      %t = arith.addf %m0, %g_t : f32
      scf.yield %t : f32
    }
    %mn = tensor.from_elements %m1 : tensor<1x1xf32>
    %a = math.absf %m0 : f32
    %n = arith.negf %a : f32
    %1 = scan.decay %S by %n along scalar : tensor<3x4xf32>, f32
    %2 = scan.inject %1 key %k_t value %x_t : tensor<3x4xf32>, tensor<3xf32>, tensor<4xf32>
    %o = scan.read %2 query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    scan.yield %mn, %2, %o : tensor<1x1xf32>, tensor<3x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x1xf32>, tensor<?x2x3x4xf32>)
  return %y, %fm, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x1xf32>, tensor<?x2x3x4xf32>
}

// Numbers stepped by functions: of elementwise ops, and of others.
func.func private @bend(%m: f32, %g: f32) -> f32 {
  %sum = arith.addf %m, %g : f32
  %t = math.tanh %sum : f32
  return %t : f32
}
func.func @called_bend(%x: tensor<?x?x2x4xf32> {scan.name = "x"}, %k: tensor<?x?x2x3xf32> {scan.name = "k"},
    %g: tensor<?x?x2xf32> {scan.name = "g"})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x1x1xf32> {scan.name = "m"}, tensor<?x2x3x4xf32> {scan.name = "f"})
    attributes {scan.entry = "forward"} {
  %y, %fm, %f = scan.recurrence
      ins(%x as "bthv", %k as "bthk", %g as "bth" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2xf32>)
      outs("bthv") finals("nhij", "nhkv") {
  ^bb0(%m: tensor<1x1xf32>, %S: tensor<3x4xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>, %g_t: f32):
    %c0 = arith.constant 0 : index
    %m0 = tensor.extract %m[%c0, %c0] : tensor<1x1xf32>
    %m1 = func.call @bend(%m0, %g_t) : (f32, f32) -> f32
    %mn = tensor.from_elements %m1 : tensor<1x1xf32>
    %a = math.absf %m0 : f32
    %n = arith.negf %a : f32
    %1 = scan.decay %S by %n along scalar : tensor<3x4xf32>, f32
    %2 = scan.inject %1 key %k_t value %x_t : tensor<3x4xf32>, tensor<3xf32>, tensor<4xf32>
    %o = scan.read %2 query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    scan.yield %mn, %2, %o : tensor<1x1xf32>, tensor<3x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x1xf32>, tensor<?x2x3x4xf32>)
  return %y, %fm, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x1xf32>, tensor<?x2x3x4xf32>
}
