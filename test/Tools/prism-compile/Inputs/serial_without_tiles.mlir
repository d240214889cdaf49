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

// A product with a weight from outside the step, added to the state.
func.func @product(%x: tensor<?x?x2x4xf32> {scan.name = "x"}, %w: tensor<4x4xf32> {scan.name = "w"},
    %i: tensor<?x2x1x4xf32> {scan.name = "i", scan.optional})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x1x4xf32> {scan.name = "f"}) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) init(%i as "nhkv" : tensor<?x2x1x4xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %x_t: tensor<4xf32>):
    %z = arith.constant dense<0.0> : tensor<4xf32>
    %p = linalg.vecmat ins(%x_t, %w : tensor<4xf32>, tensor<4x4xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
    %r = tensor.expand_shape %p [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %n = arith.addf %S, %r : tensor<1x4xf32>
    %o = tensor.collapse_shape %n [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
    scan.yield %n, %o : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}

// The same, asked for step by step by itself.
func.func @asked(%x: tensor<?x?x2x4xf32> {scan.name = "x"}, %w: tensor<4x4xf32> {scan.name = "w"},
    %i: tensor<?x2x1x4xf32> {scan.name = "i", scan.optional})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x1x4xf32> {scan.name = "f"}) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) init(%i as "nhkv" : tensor<?x2x1x4xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %x_t: tensor<4xf32>):
    %z = arith.constant dense<0.0> : tensor<4xf32>
    %p = linalg.vecmat ins(%x_t, %w : tensor<4xf32>, tensor<4x4xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
    %r = tensor.expand_shape %p [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %n = arith.addf %S, %r : tensor<1x4xf32>
    %o = tensor.collapse_shape %n [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
    scan.yield %n, %o : tensor<1x4xf32>, tensor<4xf32>
  } attributes {scan.serial} -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}

// A vector as the state.
func.func @vector(%x: tensor<?x?x2x4xf32> {scan.name = "x"}, %i: tensor<?x2x4xf32> {scan.name = "i", scan.optional})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x4xf32> {scan.name = "f"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) init(%i as "nhv" : tensor<?x2x4xf32>)
      outs("bthv") finals("nhv") {
  ^bb0(%s: tensor<4xf32>, %x_t: tensor<4xf32>):
    %half = arith.constant dense<0.5> : tensor<4xf32>
    %kept = arith.mulf %s, %half : tensor<4xf32>
    %n = arith.addf %kept, %x_t : tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

// Factors alone, whatever is asked for.
func.func @factors(%x: tensor<?x?x2x4xf32> {scan.name = "x"}, %k: tensor<?x?x2x3xf32> {scan.name = "k"})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x3x4xf32> {scan.name = "f"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv", %k as "bthk" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<3x4xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>):
    %n = scan.inject %S key %k_t value %x_t : tensor<3x4xf32>, tensor<3xf32>, tensor<4xf32>
    %o = scan.read %n query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    scan.yield %n, %o : tensor<3x4xf32>, tensor<4xf32>
  } attributes {scan.serial} -> (tensor<?x?x2x4xf32>), (tensor<?x2x3x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>
}

// Numbers stepped by functions: of elementwise ops, and of others.
func.func private @bend(%m: f32, %g: f32) -> f32 {
  %sum = arith.addf %m, %g : f32
  %t = math.tanh %sum : f32
  return %t : f32
}
func.func private @branch(%m: f32, %g: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %positive = arith.cmpf ogt, %m, %zero : f32
  %next = scf.if %positive -> f32 {
    %t = math.tanh %m : f32
    scf.yield %t : f32
  } else {
    %t = arith.addf %m, %g : f32
    scf.yield %t : f32
  }
  return %next : f32
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
func.func @called_branch(%x: tensor<?x?x2x4xf32> {scan.name = "x"}, %k: tensor<?x?x2x3xf32> {scan.name = "k"},
    %g: tensor<?x?x2xf32> {scan.name = "g"})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x1x1xf32> {scan.name = "m"}, tensor<?x2x3x4xf32> {scan.name = "f"})
    attributes {scan.entry = "forward"} {
  %y, %fm, %f = scan.recurrence
      ins(%x as "bthv", %k as "bthk", %g as "bth" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2xf32>)
      outs("bthv") finals("nhij", "nhkv") {
  ^bb0(%m: tensor<1x1xf32>, %S: tensor<3x4xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>, %g_t: f32):
    %c0 = arith.constant 0 : index
    %m0 = tensor.extract %m[%c0, %c0] : tensor<1x1xf32>
    %m1 = func.call @branch(%m0, %g_t) : (f32, f32) -> f32
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

// Mini-batches without a form in chunks.
func.func @values_first(%x: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x3xf32>, %g: tensor<?x?x2xf32>, %i: tensor<?x2x4x3xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x4x3xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence mini_batch 4 ins(%x as "bthv", %k as "bthk", %g as "bth" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2xf32>)
      init(%i as "nhvk" : tensor<?x2x4x3xf32>) outs("bthv") finals("nhvk") {
  ^bb0(%S: tensor<4x3xf32>, %E: tensor<4x3xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>, %g_t: f32):
    %e = tensor.empty() : tensor<3x4xf32>
    %T = linalg.transpose ins(%S : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) permutation = [1, 0]
    %U = linalg.transpose ins(%E : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) permutation = [1, 0]
    %n = scan.erase %T of %U read %k_t write %k_t strength %g_t : tensor<3x4xf32> of tensor<3x4xf32>, tensor<3xf32>, tensor<3xf32>, f32
    %o = scan.read %n query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    %e2 = tensor.empty() : tensor<4x3xf32>
    %N = linalg.transpose ins(%n : tensor<3x4xf32>) outs(%e2 : tensor<4x3xf32>) permutation = [1, 0]
    scan.yield %N, %o : tensor<4x3xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4x3xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4x3xf32>
}
func.func @shapes(%x: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x3xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>, tensor<?x2x3x3xf32>) attributes {scan.entry = "forward"} {
  %y, %f, %f2 = scan.recurrence mini_batch 4 ins(%x as "bthv", %k as "bthk" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>)
      outs("bthv") finals("nhkv", "nhkj") {
  ^bb0(%S: tensor<3x4xf32>, %Z: tensor<3x3xf32>, %E: tensor<3x4xf32>, %F: tensor<3x3xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>):
    %n = scan.inject %S key %k_t value %x_t : tensor<3x4xf32>, tensor<3xf32>, tensor<4xf32>
    %m = scan.inject %Z key %k_t value %k_t : tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>
    %o = scan.read %n query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    scan.yield %n, %m, %o : tensor<3x4xf32>, tensor<3x3xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x3x4xf32>, tensor<?x2x3x3xf32>)
  return %y, %f, %f2 : tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>, tensor<?x2x3x3xf32>
}
func.func @along_value(%x: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x3xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence mini_batch 4 ins(%x as "bthv", %k as "bthk" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<3x4xf32>, %E: tensor<3x4xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>):
    %a = math.absf %x_t : tensor<4xf32>
    %b = arith.negf %a : tensor<4xf32>
    %d = scan.decay %S by %b along value : tensor<3x4xf32>, tensor<4xf32>
    %n = scan.inject %d key %k_t value %x_t : tensor<3x4xf32>, tensor<3xf32>, tensor<4xf32>
    %o = scan.read %n query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    scan.yield %n, %o : tensor<3x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x3x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>
}

// Coefficients without one.
func.func @norm_element(%x: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x3xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv", %k as "bthk" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<3x4xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>):
    %c1 = arith.constant 1 : index
    %l = scan.l2norm %k_t {epsilon = 1.0e-6 : f64} : tensor<3xf32> -> tensor<3xf32>
    %e = tensor.extract %l[%c1] : tensor<3xf32>
    %n = scan.inject %S key %k_t value %x_t scale %e : tensor<3x4xf32>, tensor<3xf32>, tensor<4xf32>, f32
    %o = scan.read %n query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    scan.yield %n, %o : tensor<3x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x3x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>
}
func.func @constant(%x: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x3xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv", %k as "bthk" : tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<3x4xf32>, %x_t: tensor<4xf32>, %k_t: tensor<3xf32>):
    %mix = arith.constant dense<[1.0, -0.5, 0.25]> : tensor<3xf32>
    %k2 = arith.mulf %k_t, %mix : tensor<3xf32>
    %n = scan.inject %S key %k2 value %x_t : tensor<3x4xf32>, tensor<3xf32>, tensor<4xf32>
    %o = scan.read %n query %k_t : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>
    scan.yield %n, %o : tensor<3x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x3x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>
}
