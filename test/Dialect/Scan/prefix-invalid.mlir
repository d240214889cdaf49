// RUN: prism-opt %s -verify-diagnostics -split-input-file

// One negative test for every message of scan.prefix's verifier. The legal extremes are in prefix.mlir.

// [C1] letters for every axis
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C1] identity element 0 has 1 axes but 2 axis letters "kv"}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "kv" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C2] letters once
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C2] final element 0 names axis 'n' twice in "nn"}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nn")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C3] identities have no time
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C3] identity element 0 has axis 't' in "t"; identities and final elements have n, h and features}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "t" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C3] inputs are of batch rows
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C3] input 0 has axis 'n' in "ntv"; only identities and final elements have axis n}}
  %y, %f = scan.prefix ins(%x as "ntv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C4] features are static
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<?xf32>) {
  // expected-error@+1 {{[C4] identity element 0 has a dynamic extent on axis 'v'; only b, t and n may be dynamic}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<?xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C5] one extent for a letter
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<5xf32>) {
  // expected-error@+1 {{[C5] identity element 0 has extent 5 on axis 'v', an earlier operand has 4}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<5xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C7] outputs have time
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C7] output 0 needs axis 't', found "bv"}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("bv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C7] final elements are of sequences
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C7] final element 0 needs axis 'n', found "v"}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("v")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<4xf32>)
  return
}

// -----

// [C8] all results have all heads
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C8] final element 0 has no axis h, but there are 2 value heads}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("bthv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [C8] identities have a divisor of the heads
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<3x4xf32>) {
  // expected-error@+1 {{[C8] identity element 0 has 3 heads, which does not divide the number of value heads 2}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "hv" : tensor<3x4xf32>) outs("bthv") finals("nhv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return
}

// -----

// [C9] something has time
func.func @f(%x: tensor<?x3x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C9] expects at least one input with axis t}}
  %y, %f = scan.prefix ins(%x as "bkv" : tensor<?x3x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X1] an element has a component
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X1] expects an identity for each component of an element, at least one}}
  %y = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity() outs("btv") finals()
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), ()
  return
}

// -----

// [X1] elements are f32 or f64
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xbf16>) {
  // expected-error@+1 {{[X1] identity 0 must have f32 or f64 elements, found 'tensor<4xbf16>'}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xbf16>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X1] elements have elements
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<0xf32>) {
  // expected-error@+1 {{[X1] identity 0 has no elements in each head: 'tensor<0xf32>'}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "r" : tensor<0xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X2] something is computed
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X2] expects an output or final elements}}
  scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs() finals()
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (), ()
  return
}

// -----

// [X2] finals of all components
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X2] expects no final elements or one for each of 1 components, found 2}}
  %y, %f:2 = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv", "nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>, tensor<?x4xf32>)
  return
}

// -----

// [X2] finals typed as their identities
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X2] final element 0 is 'tensor<4xf64>' for each head, its identity is 'tensor<4xf32>'}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf64>)
  return
}

// -----

// [X3] chunks have tokens
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X3] a chunk has 1 to 65536 tokens, found 0}}
  %y, %f = scan.prefix chunk 0 ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X3] not any number of them
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X3] a chunk has 1 to 65536 tokens, found 65537}}
  %y, %f = scan.prefix chunk 65537 ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X4] no token sees later ones
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X4] an inclusive prefix has chunk 1, found 2: a token would see later ones of its own chunk}}
  %y, %f = scan.prefix inclusive chunk 2 ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X5] enc takes the inputs
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X5] enc takes the inputs: expects 1 block arguments, found 2}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>, %u: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X5] agg takes two elements
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X5] agg takes the older element, then the newer one: expects 2 block arguments, found 1}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X5] inf takes a prefix and the inputs
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X5] inf takes a prefix, then the inputs: expects 2 block arguments, found 1}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X6] an input in a chunk has its tokens
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X6] block argument 0 of enc is 'tensor<4xf32>', expected 'tensor<8x4xf32>'}}
  %y, %f = scan.prefix chunk 8 ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X6] agg takes elements
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[X6] block argument 1 of agg is 'tensor<4xf64>', expected 'tensor<4xf32>'}}
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf64>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X7] enc yields an element
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    // expected-error@+1 {{[X7] enc yields an element: expects 1 values, found 2}}
    scan.yield %t, %t : tensor<4xf32>, tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X7] agg yields an element
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    // expected-error@+1 {{[X7] agg yields an element: expects 1 values, found 0}}
    scan.yield
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X7] inf yields outputs
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    // expected-error@+1 {{[X7] inf yields the outputs: expects 1 values, found 2}}
    scan.yield %p, %p : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X8] elements are typed as the identity
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    %z = arith.extf %t : tensor<4xf32> to tensor<4xf64>
    // expected-error@+1 {{[X8] value 0 of enc is 'tensor<4xf64>', expected 'tensor<4xf32>'}}
    scan.yield %z : tensor<4xf64>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x4xf32>)
  return
}

// -----

// [X8] outputs are typed as the results
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  %y, %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs("btv") finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    // expected-error@+1 {{[X8] value 0 of inf is 'tensor<4xf32>', expected 'tensor<4xbf16>'}}
    scan.yield %p : tensor<4xf32>
  } -> (tensor<?x?x4xbf16>), (tensor<?x4xf32>)
  return
}

// -----

// a region without a block
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{region #1 ('agg') failed to verify constraint: region with 1 blocks}}
  %f = "scan.prefix"(%x, %e) <{input_axes = ["btv"], identity_axes = ["v"], output_axes = [], final_axes = ["nv"],
      operandSegmentSizes = array<i32: 1, 1, 0>, resultSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  }, {
  }, {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield
  }) : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// [C1] axes for every operand
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{[C1] has 1 identity elements but axes for 2}}
  %f = "scan.prefix"(%x, %e) <{input_axes = ["btv"], identity_axes = ["v", "v"], output_axes = [], final_axes = ["nv"],
      operandSegmentSizes = array<i32: 1, 1, 0>, resultSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%t: tensor<4xf32>):
    scan.yield %t : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  }, {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield
  }) : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// another terminator than scan.yield
func.func @f(%x: tensor<?x?x4xf32>, %e: tensor<4xf32>) {
  // expected-note@+2 {{in custom textual format, the absence of terminator implies 'scan.yield'}}
  // expected-error@+1 {{expects regions to end with 'scan.yield', found 'llvm.unreachable'}}
  %f = scan.prefix ins(%x as "btv" : tensor<?x?x4xf32>) identity(%e as "v" : tensor<4xf32>) outs() finals("nv")
  enc {
  ^bb0(%t: tensor<4xf32>):
    llvm.unreachable
  } agg {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    scan.yield %a : tensor<4xf32>
  } inf {
  ^bb0(%p: tensor<4xf32>, %t: tensor<4xf32>):
    scan.yield
  } -> (), (tensor<?x4xf32>)
  return
}
