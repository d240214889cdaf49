// Serial steps on 16-bit floats: their arrays, their arithmetic, and f64 beside them.

// A state in f32, its arrays in bf16; it is rounded and stored as the output.
func.func @arrays(%x: tensor<?x?x2x17xf32> {scan.name = "x"}, %i: tensor<?x2x17xTYPE> {scan.name = "initial", scan.optional})
    -> (tensor<?x?x2x17xTYPE> {scan.name = "y"}, tensor<?x2x17xTYPE> {scan.name = "final"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x17xf32>) init(%i as "nhv" : tensor<?x2x17xTYPE>)
      outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<17xf32>, %x_t: tensor<17xf32>):
    %t = math.tanh %h : tensor<17xf32>
    %next = arith.addf %t, %x_t : tensor<17xf32>
    %y_t = arith.truncf %next : tensor<17xf32> to tensor<17xTYPE>
    scan.yield %next, %y_t : tensor<17xf32>, tensor<17xTYPE>
  } -> (tensor<?x?x2x17xTYPE>), (tensor<?x2x17xTYPE>)
  return %y, %f : tensor<?x?x2x17xTYPE>, tensor<?x2x17xTYPE>
}

// Elementwise ops, a constant of several numbers, a select, a branch, a product and a function on TYPE itself.
func.func @arithmetic(%x: tensor<?x?x2x16xTYPE> {scan.name = "x"}, %w: tensor<16x16xTYPE> {scan.name = "w"})
    -> (tensor<?x?x2x16xTYPE> {scan.name = "y"}, tensor<?x2x16xf32> {scan.name = "final"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv", %w as "vw" : tensor<?x?x2x16xTYPE>, tensor<16x16xTYPE>)
      outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<16xf32>, %x_t: tensor<16xTYPE>, %w_t: tensor<16x16xTYPE>):
    %squashed = math.tanh %h : tensor<16xf32>
    %narrow = arith.truncf %squashed : tensor<16xf32> to tensor<16xTYPE>
    %few = arith.constant dense<[0.5, -0.5, 0.25, -0.25, 0.5, -0.5, 0.25, -0.25, 0.5, -0.5, 0.25, -0.25, 0.5, -0.5, 0.25, -0.25]> : tensor<16xTYPE>
    %zero = arith.constant dense<0.0> : tensor<16xTYPE>
    %product = linalg.vecmat ins(%x_t, %w_t : tensor<16xTYPE>, tensor<16x16xTYPE>) outs(%zero : tensor<16xTYPE>) -> tensor<16xTYPE>
    %sum = arith.addf %narrow, %x_t : tensor<16xTYPE>
    %scaled = arith.mulf %sum, %few : tensor<16xTYPE>
    %positive = arith.cmpf ogt, %x_t, %zero : tensor<16xTYPE>
    %chosen = arith.select %positive, %scaled, %x_t : tensor<16xi1>, tensor<16xTYPE>
    %c3 = arith.constant 3 : index
    %none = arith.constant 0.0 : TYPE
    %first = tensor.extract %x_t[%c3] : tensor<16xTYPE>
    %is = arith.cmpf olt, %first, %none : TYPE
    %one = scf.if %is -> TYPE {
      %e = math.exp %first : TYPE
      scf.yield %e : TYPE
    } else {
      scf.yield %first : TYPE
    }
    %all = tensor.splat %one : tensor<16xTYPE>
    %half = arith.mulf %product, %few : tensor<16xTYPE>
    %part = arith.mulf %half, %few : tensor<16xTYPE>
    %wide_chosen = arith.extf %chosen : tensor<16xTYPE> to tensor<16xf32>
    %wide_all = arith.extf %all : tensor<16xTYPE> to tensor<16xf32>
    %wide_part = arith.extf %part : tensor<16xTYPE> to tensor<16xf32>
    %a = arith.addf %wide_chosen, %wide_all : tensor<16xf32>
    %next = arith.addf %a, %wide_part : tensor<16xf32>
    %b = arith.truncf %next : tensor<16xf32> to tensor<16xTYPE>
    scan.yield %next, %b : tensor<16xf32>, tensor<16xTYPE>
  } -> (tensor<?x?x2x16xTYPE>), (tensor<?x2x16xf32>)
  return %y, %f : tensor<?x?x2x16xTYPE>, tensor<?x2x16xf32>
}

// Computed in f64, arrays of 16 bits.
func.func @doubles(%x: tensor<?x?x2x17xTYPE> {scan.name = "x"}, %i: tensor<?x2x17xTYPE> {scan.name = "initial", scan.optional})
    -> (tensor<?x?x2x17xTYPE> {scan.name = "y"}, tensor<?x2x17xTYPE> {scan.name = "final"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x17xTYPE>) init(%i as "nhv" : tensor<?x2x17xTYPE>)
      outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<17xf64>, %x_t: tensor<17xTYPE>):
    %t = math.tanh %h : tensor<17xf64>
    %wide = arith.extf %x_t : tensor<17xTYPE> to tensor<17xf64>
    %next = arith.addf %t, %wide : tensor<17xf64>
    %y_t = arith.truncf %next : tensor<17xf64> to tensor<17xTYPE>
    scan.yield %next, %y_t : tensor<17xf64>, tensor<17xTYPE>
  } -> (tensor<?x?x2x17xTYPE>), (tensor<?x2x17xTYPE>)
  return %y, %f : tensor<?x?x2x17xTYPE>, tensor<?x2x17xTYPE>
}


// The output is the input, rounded.
func.func @rounds(%x: tensor<?x?x1x8xf64> {scan.name = "x"})
    -> (tensor<?x?x1x8xTYPE> {scan.name = "y"}, tensor<?x1x8xf64> {scan.name = "final"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x1x8xf64>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<8xf64>, %x_t: tensor<8xf64>):
    %next = math.tanh %h : tensor<8xf64>
    %y_t = arith.truncf %x_t : tensor<8xf64> to tensor<8xTYPE>
    scan.yield %next, %y_t : tensor<8xf64>, tensor<8xTYPE>
  } -> (tensor<?x?x1x8xTYPE>), (tensor<?x1x8xf64>)
  return %y, %f : tensor<?x?x1x8xTYPE>, tensor<?x1x8xf64>
}
