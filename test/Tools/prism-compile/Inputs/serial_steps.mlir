// Serial steps of many kinds, an entry each.

func.func private @squash(%x: tensor<5xf32>) -> (tensor<5xf32>, f32) {
  %limit = arith.constant 0.25 : f32
  %first = arith.constant 2 : index
  %t = math.tanh %x : tensor<5xf32>
  %one = tensor.extract %t[%first] : tensor<5xf32>
  %large = arith.cmpf ogt, %one, %limit : f32
  %y = scf.if %large -> tensor<5xf32> {
    %half = arith.constant dense<0.5> : tensor<5xf32>
    %z = arith.mulf %half, %t : tensor<5xf32>
    scf.yield %z : tensor<5xf32>
  } else {
    scf.yield %t : tensor<5xf32>
  }
  return %y, %one : tensor<5xf32>, f32
}

// Two calls of one function, of several results, with constants and control flow; states that change places; a state
// that goes through as it is; an output that is a number; a size that no vector divides; packed sequences.
func.func @calls(%x: tensor<?x?x2x5xf32> {scan.name = "x"}, %offsets: tensor<?xi64> {scan.name = "offsets", scan.optional},
    %i0: tensor<?x2x5xf32> {scan.name = "i0", scan.optional}, %i1: tensor<?x2x5xf32> {scan.name = "i1", scan.optional},
    %i2: tensor<?x2x5xf32> {scan.name = "i2", scan.optional})
    -> (tensor<?x?x2x5xf32> {scan.name = "y"}, tensor<?x?x2xf32> {scan.name = "n"}, tensor<?x2x5xf32> {scan.name = "f0"},
        tensor<?x2x5xf32> {scan.name = "f1"}, tensor<?x2x5xf32> {scan.name = "f2"})
    attributes {scan.entry = "forward"} {
  %y, %n, %f0, %f1, %f2 = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x5xf32>)
      init(%i0 as "nhv", %i1 as "nhv", %i2 as "nhv" : tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>)
      offsets(%offsets : tensor<?xi64>)
      outs("bthv", "bth") finals("nhv", "nhv", "nhv") {
  ^bb0(%a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<5xf32>, %x_t: tensor<5xf32>):
    %s = arith.addf %a, %x_t : tensor<5xf32>
    %p, %n0 = func.call @squash(%s) : (tensor<5xf32>) -> (tensor<5xf32>, f32)
    %m = arith.subf %p, %c : tensor<5xf32>
    %q, %n1 = func.call @squash(%m) : (tensor<5xf32>) -> (tensor<5xf32>, f32)
    %n_t = arith.addf %n0, %n1 : f32
    %y_t = arith.addf %q, %b : tensor<5xf32>
    scan.yield %b, %q, %c, %y_t, %n_t : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, f32
  } -> (tensor<?x?x2x5xf32>, tensor<?x?x2xf32>), (tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>)
  return %y, %n, %f0, %f1, %f2 : tensor<?x?x2x5xf32>, tensor<?x?x2xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>
}

// A weight from outside the step, constants of many values, a matrix product, a loop, slices, a reduction, a generic op
// with an index; time backwards.
func.func @matrices(%x: tensor<?x?x2x4xf32> {scan.name = "x"}, %w: tensor<4x4xf32> {scan.name = "w"})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x3x4xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence reverse ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<3x4xf32>, %x_t: tensor<4xf32>):
    %mix = arith.constant dense<[[0.5, -0.25, 0.0], [0.125, 0.25, 0.5], [-0.5, 0.0, 0.25]]> : tensor<3x3xf32>
    %zeros = arith.constant dense<0.0> : tensor<3x4xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %1 = linalg.matmul ins(%mix, %S : tensor<3x3xf32>, tensor<3x4xf32>) outs(%zeros : tensor<3x4xf32>) -> tensor<3x4xf32>
    %2 = linalg.matmul ins(%1, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<3x4xf32>) -> tensor<3x4xf32>
    %3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %2) -> tensor<3x4xf32> {
      %row = tensor.extract_slice %acc[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
      %sum = arith.addf %row, %x_t : tensor<4xf32>
      %bent = math.tanh %sum : tensor<4xf32>
      %in = tensor.insert_slice %bent into %acc[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
      scf.yield %in : tensor<3x4xf32>
    }
    %none = tensor.empty() : tensor<4xf32>
    %zero = arith.constant 0.0 : f32
    %y0 = linalg.fill ins(%zero : f32) outs(%none : tensor<4xf32>) -> tensor<4xf32>
    %y1 = linalg.reduce ins(%3 : tensor<3x4xf32>) outs(%y0 : tensor<4xf32>) dimensions = [0]
      (%p: f32, %q: f32) {
        %r = arith.maximumf %p, %q : f32
        linalg.yield %r : f32
      }
    %y2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%y1 : tensor<4xf32>) outs(%none : tensor<4xf32>) {
      ^bb0(%p: f32, %unused: f32):
        %i = linalg.index 0 : index
        %j = arith.index_cast %i : index to i32
        %g = arith.sitofp %j : i32 to f32
        %h = arith.mulf %p, %g : f32
        linalg.yield %h : f32
    } -> tensor<4xf32>
    scan.yield %3, %y2 : tensor<3x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x3x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>
}

// All factors, ranks, norms and the refinement loop, beside an op that no tile stands for.
func.func @factors(%k: tensor<?x?x2x2x8xbf16> {scan.name = "k"}, %v: tensor<?x?x2x6xbf16> {scan.name = "v"},
    %p: tensor<?x?x2x2x6xf32> {scan.name = "p"}, %b: tensor<?x?x2x2xf32> {scan.name = "b"}, %g: tensor<?x?x2x8xf32> {scan.name = "g"},
    %initial: tensor<?x2x8x6xbf16> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x?x2x6xbf16> {scan.name = "o"}, tensor<?x2x8x6xbf16> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%k as "bthlk", %v as "bthv", %p as "bthlv", %b as "bthl", %g as "bthk"
        : tensor<?x?x2x2x8xbf16>, tensor<?x?x2x6xbf16>, tensor<?x?x2x2x6xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2x8xf32>)
      init(%initial as "nhkv" : tensor<?x2x8x6xbf16>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<8x6xf32>, %k_t: tensor<2x8xbf16>, %v_t: tensor<6xbf16>, %p_t: tensor<2x6xf32>, %b_t: tensor<2xf32>, %g_t: tensor<8xf32>):
    %keys = arith.extf %k_t : tensor<2x8xbf16> to tensor<2x8xf32>
    %unit = scan.l2norm %keys : tensor<2x8xf32> -> tensor<2x8xf32>
    %first = tensor.extract_slice %unit[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
    %read = scan.read %S query %first {scale = 0.5 : f64} : tensor<8x6xf32>, tensor<8xf32> -> tensor<6xf32>
    %bent = math.tanh %read : tensor<6xf32>
    %value = arith.extf %v_t : tensor<6xbf16> to tensor<6xf32>
    %deltas = scan.refine anchor %bent value %value gain %p_t activation silu : tensor<6xf32>, tensor<6xf32>, tensor<2x6xf32> -> tensor<2x6xf32>
    %gate = math.absf %g_t : tensor<8xf32>
    %gates = arith.negf %gate : tensor<8xf32>
    %1 = scan.decay %S by %gates along key : tensor<8x6xf32>, tensor<8xf32>
    %half = arith.constant dense<0.5> : tensor<2xf32>
    %small = math.tanh %b_t : tensor<2xf32>
    %strength = arith.mulf %small, %half : tensor<2xf32>
    %2 = scan.erase %1 of %S read %unit write %unit strength %strength : tensor<8x6xf32> of tensor<8x6xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2xf32>
    %3 = scan.inject %2 key %unit value %deltas scale %strength : tensor<8x6xf32>, tensor<2x8xf32>, tensor<2x6xf32>, tensor<2xf32>
    %none = tensor.empty() : tensor<6x8xf32>
    %turned = linalg.transpose ins(%3 : tensor<8x6xf32>) outs(%none : tensor<6x8xf32>) permutation = [1, 0]
    %zeros = arith.constant dense<0.0> : tensor<6xf32>
    %y = linalg.matvec ins(%turned, %first : tensor<6x8xf32>, tensor<8xf32>) outs(%zeros : tensor<6xf32>) -> tensor<6xf32>
    %o_t = arith.truncf %y : tensor<6xf32> to tensor<6xbf16>
    scan.yield %3, %o_t : tensor<8x6xf32>, tensor<6xbf16>
  } -> (tensor<?x?x2x6xbf16>), (tensor<?x2x8x6xbf16>)
  return %o, %f : tensor<?x?x2x6xbf16>, tensor<?x2x8x6xbf16>
}

// A row of a state: tiles have none, plain steps do.
func.func @row(%i: tensor<?x2x3x4xf32> {scan.name = "initial_state", scan.optional}, %x: tensor<?x?x2x4xf32> {scan.name = "x"})
    -> (tensor<?x?x2x4xf32> {scan.name = "y"}, tensor<?x2x3x4xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) init(%i as "nhkv" : tensor<?x2x3x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<3x4xf32>, %x_t: tensor<4xf32>):
    %row = tensor.extract_slice %S[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %y_t = arith.addf %row, %x_t : tensor<4xf32>
    %next = math.tanh %S : tensor<3x4xf32>
    scan.yield %next, %y_t : tensor<3x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x3x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x3x4xf32>
}

// One token a call, the state in and out, in f64.
func.func @decode(%x: tensor<?x1x2x4xf64> {scan.name = "x"}, %i: tensor<?x2x4xf64> {scan.name = "initial_state", scan.optional})
    -> (tensor<?x1x2x4xf64> {scan.name = "y"}, tensor<?x2x4xf64> {scan.name = "final_state"})
    attributes {scan.entry = "decode"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x1x2x4xf64>) init(%i as "nhv" : tensor<?x2x4xf64>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf64>, %x_t: tensor<4xf64>):
    %s = arith.addf %h, %x_t : tensor<4xf64>
    %t = math.erf %s : tensor<4xf64>
    scan.yield %t, %t : tensor<4xf64>, tensor<4xf64>
  } -> (tensor<?x1x2x4xf64>), (tensor<?x2x4xf64>)
  return %y, %f : tensor<?x1x2x4xf64>, tensor<?x2x4xf64>
}

// Ops that write a part of their destination: its first column, every other row; the rest stays.
#first = affine_map<(i) -> (i, 0)>
#other = affine_map<(i) -> (2 * i)>
#id = affine_map<(i) -> (i)>
func.func @parts(%x: tensor<?x?x2x4xf32> {scan.name = "x"})
    -> (tensor<?x?x2x8xf32> {scan.name = "y"}, tensor<?x2x4x3xf32> {scan.name = "f0"}, tensor<?x2x4x3xf32> {scan.name = "f1"})
    attributes {scan.entry = "forward"} {
  %y, %f0, %f1 = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthw") finals("nhvu", "nhvu") {
  ^bb0(%S: tensor<4x3xf32>, %R: tensor<4x3xf32>, %x_t: tensor<4xf32>):
    %half = arith.constant dense<0.5> : tensor<4x3xf32>
    %t = math.tanh %S : tensor<4x3xf32>
    %u = arith.addf %t, %half : tensor<4x3xf32>
    %column = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel"]}
        ins(%x_t : tensor<4xf32>) outs(%u : tensor<4x3xf32>) {
    ^bb1(%a: f32, %b: f32):
      %e = math.tanh %a : f32
      linalg.yield %e : f32
    } -> tensor<4x3xf32>
    %sum = arith.addf %column, %t : tensor<4x3xf32>
    %all = arith.addf %sum, %R : tensor<4x3xf32>
    // This one is yielded: it would be written to the state's own place.
    %next = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel"]}
        ins(%x_t : tensor<4xf32>) outs(%all : tensor<4x3xf32>) {
    ^bb1(%a: f32, %b: f32):
      %e = math.exp %a : f32
      %s = math.tanh %e : f32
      linalg.yield %s : f32
    } -> tensor<4x3xf32>
    %ones = arith.constant dense<1.0> : tensor<8xf32>
    %y_t = linalg.generic {indexing_maps = [#id, #other], iterator_types = ["parallel"]}
        ins(%x_t : tensor<4xf32>) outs(%ones : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32):
      %e = math.tanh %a : f32
      linalg.yield %e : f32
    } -> tensor<8xf32>
    scan.yield %all, %next, %y_t : tensor<4x3xf32>, tensor<4x3xf32>, tensor<8xf32>
  } -> (tensor<?x?x2x8xf32>), (tensor<?x2x4x3xf32>, tensor<?x2x4x3xf32>)
  return %y, %f0, %f1 : tensor<?x?x2x8xf32>, tensor<?x2x4x3xf32>, tensor<?x2x4x3xf32>
}

// The place of the largest element, a tensor of `index`; another of i64.
func.func @largest(%x: tensor<?x?x2x6xf32> {scan.name = "x"})
    -> (tensor<?x?x2x6xf32> {scan.name = "y"}, tensor<?x2x6xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x6xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<6xf32>, %x_t: tensor<6xf32>):
    %low = arith.constant dense<-1.0e30> : tensor<f32>
    %none = arith.constant dense<0> : tensor<index>
    %top:2 = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
                             iterator_types = ["reduction"]}
        ins(%x_t : tensor<6xf32>) outs(%low, %none : tensor<f32>, tensor<index>) {
    ^bb1(%a: f32, %best: f32, %at: index):
      %here = linalg.index 0 : index
      %above = arith.cmpf ogt, %a, %best : f32
      %value = arith.select %above, %a, %best : f32
      %place = arith.select %above, %here, %at : index
      linalg.yield %value, %place : f32, index
    } -> (tensor<f32>, tensor<index>)
    %place = tensor.extract %top#1[] : tensor<index>
    %empty = tensor.empty() : tensor<6xindex>
    %turned = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%empty : tensor<6xindex>) {
    ^bb1(%b: index):
      %five = arith.constant 5 : index
      %here = linalg.index 0 : index
      %back = arith.subi %five, %here : index
      linalg.yield %back : index
    } -> tensor<6xindex>
    %other = tensor.extract %turned[%place] : tensor<6xindex>
    %wide = arith.index_cast %turned : tensor<6xindex> to tensor<6xi64>
    %number = tensor.extract %wide[%place] : tensor<6xi64>
    %float = arith.sitofp %number : i64 to f32
    %picked = tensor.extract %h[%other] : tensor<6xf32>
    %sum = arith.addf %picked, %float : f32
    %all = tensor.splat %sum : tensor<6xf32>
    %both = arith.addf %all, %x_t : tensor<6xf32>
    %next = math.tanh %both : tensor<6xf32>
    scan.yield %next, %both : tensor<6xf32>, tensor<6xf32>
  } -> (tensor<?x?x2x6xf32>), (tensor<?x2x6xf32>)
  return %y, %f : tensor<?x?x2x6xf32>, tensor<?x2x6xf32>
}

// Places that lie beyond their axes at every step, on one side or the other.
func.func @beyond(%x: tensor<?x?x2x6xf32> {scan.name = "x"}) -> (tensor<?x?x2x6xf32> {scan.name = "y"}, tensor<?x2x6xf32> {scan.name = "final_state"}) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x6xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<6xf32>, %x_t: tensor<6xf32>):
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %far = arith.constant 1000000000000 : index
    %before = arith.constant -1000000000007 : index
    %first = tensor.extract %x_t[%c0] : tensor<6xf32>
    %above = arith.cmpf ogt, %first, %zero : f32
    %place = arith.select %above, %far, %before : index
    %taken = tensor.extract %h[%place] : tensor<6xf32>
    %part = tensor.extract_slice %x_t[%place] [3] [2] : tensor<6xf32> to tensor<3xf32>
    %put = tensor.insert_slice %part into %h[%place] [3] [1] : tensor<3xf32> into tensor<6xf32>
    %sum = arith.addf %taken, %first : f32
    %with = tensor.insert %sum into %put[%place] : tensor<6xf32>
    %both = arith.addf %with, %x_t : tensor<6xf32>
    %next = math.tanh %both : tensor<6xf32>
    scan.yield %next, %both : tensor<6xf32>, tensor<6xf32>
  } -> (tensor<?x?x2x6xf32>), (tensor<?x2x6xf32>)
  return %y, %f : tensor<?x?x2x6xf32>, tensor<?x2x6xf32>
}
