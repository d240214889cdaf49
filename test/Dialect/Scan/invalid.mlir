// RUN: prism-opt %s -verify-diagnostics -split-input-file

// One negative test for every message of a verifier. The legal extremes on the
// other side of each constraint are in ops.mlir and at the end of this file.

// [C1] letters for every axis
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C1] input 0 has 3 axes but 2 axis letters "bt"}}
  %o, %f = scan.recurrence ins(%x as "bt" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C1] axes for every operand
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C1] has 1 outputs but axes for 0}}
  %o, %f = "scan.recurrence"(%x) <{input_axes = ["btv"], initial_axes = [], output_axes = [], final_axes = ["nkv"],
      operandSegmentSizes = array<i32: 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  }) : (tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x4x8xf32>)
  return
}

// -----

// [C2] small letters
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C2] input 0 has axis letters "bTv"; expected a to z}}
  %o, %f = scan.recurrence ins(%x as "bTv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C2] no letter twice
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C2] output 0 names axis 't' twice in "btt"}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btt") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C3] states have no time
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C3] final state 0 has axis 't' in "tkv"; states have n, h and features}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("tkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C3] only states have sequences
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C3] input 0 has axis 'n' in "ntv"; only states have axis n}}
  %o, %f = scan.recurrence ins(%x as "ntv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C4] static features
func.func @f(%x: tensor<?x?x?xf32>) {
  // expected-error@+1 {{[C4] input 0 has a dynamic extent on axis 'v'; only b, t and n may be dynamic}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x?xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C5] one extent for one letter
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C5] final state 0 has extent 9 on axis 'v', an earlier operand has 8}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x9xf32>)
  return
}

// -----

// [C5] of time too, where it is static
func.func @f(%x: tensor<?x5x8xf32>) {
  // expected-error@+1 {{[C5] output 0 has extent 6 on axis 't', an earlier operand has 5}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x5x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x6x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C6] a state
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C6] expects at least one state}}
  %o = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals() {
  ^bb0(%xt: tensor<8xf32>):
    scan.yield %xt : tensor<8xf32>
  } -> (tensor<?x?x8xf32>), ()
  return
}

// -----

// [C6] types of initial states
func.func @f(%x: tensor<?x?x8xf32>, %s: tensor<?x4x8xf64>) {
  // expected-error@+1 {{[C6] initial states must be absent or typed as the final states}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) init(%s as "nkv" : tensor<?x4x8xf64>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C6] axes of initial states
func.func @f(%x: tensor<?x?x8xf32>, %s: tensor<?x4x8xf32>) {
  // expected-error@+1 {{[C6] initial and final states must have the same axes}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) init(%s as "nuv" : tensor<?x4x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C7] outputs have a time
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C7] output 0 needs axis 't', found "bv"}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("bv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C7] and a batch row
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C7] output 0 needs axis 'b', found "tv"}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("tv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C7] states have a sequence
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C7] final state 0 needs axis 'n', found "kv"}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("kv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<4x8xf32>)
  return
}

// -----

// [C8] heads of an output
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C8] output 0 has 2 heads, expected 4}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x2x8xf32>), (tensor<?x4x4x8xf32>)
  return
}

// -----

// [C8] an output for every head
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C8] output 0 has no axis h, but there are 4 value heads}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x4x8xf32>)
  return
}

// -----

// [C8] a state for every head
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C8] final state 0 has no axis h, but there are 2 value heads}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("bthv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x2x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C8] heads of states
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C8] final state 1 has 2 heads, expected 4}}
  %a, %b = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs() finals("nhkv", "nhkv") {
  ^bb0(%S: tensor<4x8xf32>, %R: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %R : tensor<4x8xf32>, tensor<4x8xf32>
  } -> (), (tensor<?x4x4x8xf32>, tensor<?x2x4x8xf32>)
  return
}

// -----

// [C8] three value heads cannot share two key heads
func.func @f(%x: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{[C8] input 0 has 2 heads, which does not divide the number of value heads 3}}
  %o, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x8xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x3x8xf32>), (tensor<?x3x4x8xf32>)
  return
}

// -----

// [C9] something moves
func.func @f(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{[C9] expects at least one input with axis t}}
  %o, %f = scan.recurrence ins(%x as "bv" : tensor<?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C10] block arguments
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C10] expects 2 block arguments (1 states, then the inputs), found 1}}
  %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>):
    scan.yield %S : tensor<4x8xf32>
  } -> (), (tensor<?x4x8xf32>)
  return
}

// -----

// [C11] features of a state
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C11] state argument 0 is 'tensor<8x4xf32>', the final state is 'tensor<?x4x8xf32>'}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<8x4xf32>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<8x4xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C11] precision of a state
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C11] state argument 0 must have f32 or f64 elements, found 'tensor<4x8xbf16>'}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xbf16>, %xt: tensor<8xf32>):
    scan.yield %S, %xt : tensor<4x8xbf16>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C12] features of an input
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{[C12] block argument of input 0 is 'tensor<7xf32>', expected 'tensor<8xf32>'}}
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<7xf32>):
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<7xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C12] an input without features is a scalar
func.func @f(%x: tensor<?x?xf32>) {
  // expected-error@+1 {{[C12] block argument of input 0 is 'tensor<f32>', expected 'f32'}}
  %f = scan.recurrence ins(%x as "bt" : tensor<?x?xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<f32>):
    scan.yield %S : tensor<4x8xf32>
  } -> (), (tensor<?x4x8xf32>)
  return
}

// -----

// [C13] what a step yields
func.func @f(%x: tensor<?x?x8xf32>) {
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    // expected-error@+1 {{[C13] expects 2 values (1 states, then the outputs), found 1}}
    scan.yield %S : tensor<4x8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C13] the next state
func.func @f(%x: tensor<?x?x8xf32>) {
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    // expected-error@+1 {{[C13] next state 0 is 'tensor<8xf32>', the state is 'tensor<4x8xf32>'}}
    scan.yield %xt, %xt : tensor<8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C14] the output
func.func @f(%x: tensor<?x?x8xf32>) {
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    // expected-error@+1 {{[C14] output 0 is 'tensor<4x8xf32>', expected 'tensor<8xf32>'}}
    scan.yield %S, %S : tensor<4x8xf32>, tensor<4x8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x4x8xf32>)
  return
}

// -----

// [C14] its element type too
func.func @f(%x: tensor<?x?x8xf32>) {
  %o, %f = scan.recurrence ins(%x as "btv" : tensor<?x?x8xf32>) outs("btv") finals("nkv") {
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    // expected-error@+1 {{[C14] output 0 is 'tensor<8xf32>', expected 'tensor<8xbf16>'}}
    scan.yield %S, %xt : tensor<4x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xbf16>), (tensor<?x4x8xf32>)
  return
}

// -----

// [F1] static extents
func.func @f(%S: tensor<4x8xf32>, %g: tensor<?xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found operand 'tensor<?xf32>'}}
  %0 = scan.decay %S by %g along key : tensor<4x8xf32>, tensor<?xf32>
  return
}

// -----

// [F1] only ranks may be none
func.func @f(%S: tensor<4x8xf32>, %k: tensor<2x0xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found operand 'tensor<2x0xf32>'}}
  %0 = scan.erase %S read %k write %k strength %b : tensor<4x8xf32>, tensor<2x0xf32>, tensor<2x0xf32>, tensor<2xf32>
  return
}

// -----

// [F1] a state has keys
func.func @f(%S: tensor<0x8xf32>, %g: f32) {
  // expected-error@+1 {{[F1] expects static, positive extents, found state 'tensor<0x8xf32>'}}
  %0 = scan.decay %S by %g along scalar : tensor<0x8xf32>, f32
  return
}

// -----

// [F1] so does an injected one
func.func @f(%S: tensor<0x8xf32>, %k: tensor<0xf32>, %v: tensor<8xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found state 'tensor<0x8xf32>'}}
  %0 = scan.inject %S key %k value %v : tensor<0x8xf32>, tensor<0xf32>, tensor<8xf32>
  return
}

// -----

// [F1] and one that is read
func.func @f(%S: tensor<4x?xf32>, %q: tensor<4xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found operand 'tensor<4x?xf32>'}}
  %0 = scan.read %S query %q : tensor<4x?xf32>, tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// [F1] results
func.func @f(%S: tensor<4x8xf32>, %q: tensor<4xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found result 'tensor<?xf32>'}}
  %0 = scan.read %S query %q : tensor<4x8xf32>, tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

// [F1] the loader slice too
func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found operand 'tensor<?xf32>'}}
  %0 = scan.l2norm %x : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

// [F1] a norm of something
func.func @f(%x: tensor<0xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found operand 'tensor<0xf32>'}}
  %0 = scan.l2norm %x : tensor<0xf32> -> tensor<0xf32>
  return
}

// -----

// [F1] a refinement of something
func.func @f(%x: tensor<0xf32>, %p: tensor<2x0xf32>) {
  // expected-error@+1 {{[F1] expects static, positive extents, found operand 'tensor<2x0xf32>'}}
  %0 = scan.refine anchor %x value %x gain %p activation gelu : tensor<0xf32>, tensor<0xf32>, tensor<2x0xf32> -> tensor<2x0xf32>
  return
}

// -----

// [F2] one gate for each state
func.func @f(%S: tensor<4x8xf32>, %g: tensor<1xf32>) {
  // expected-error@+1 {{[F2] a decay along scalar of a state 'tensor<4x8xf32>' expects a log-gate of scalar type, found 'tensor<1xf32>'}}
  %0 = scan.decay %S by %g along scalar : tensor<4x8xf32>, tensor<1xf32>
  return
}

// -----

// [F2] one gate for each key row
func.func @f(%S: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error@+1 {{[F2] a decay along key of a state 'tensor<4x8xf32>' expects a log-gate of 4 elements, found 'tensor<8xf32>'}}
  %0 = scan.decay %S by %g along key : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

// [F2] one gate for each value column
func.func @f(%S: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{[F2] a decay along value of a state 'tensor<4x8xf32>' expects a log-gate of 8 elements, found 'tensor<4xf32>'}}
  %0 = scan.decay %S by %g along value : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

// [F2] one gate for each element
func.func @f(%S: tensor<4x8xf32>, %g: f32) {
  // expected-error@+1 {{[F2] a decay along element of a state 'tensor<4x8xf32>' expects a log-gate of 4x8 elements, found 'f32'}}
  %0 = scan.decay %S by %g along element : tensor<4x8xf32>, f32
  return
}

// -----

// [F3] the state that is read
func.func @f(%S: tensor<4x8xf32>, %P: tensor<4x8xf64>, %k: tensor<4xf32>, %b: f32) {
  // expected-error@+1 {{[F3] reads a state 'tensor<4x8xf64>' but maps a state 'tensor<4x8xf32>'}}
  %0 = scan.erase %S of %P read %k write %k strength %b : tensor<4x8xf32> of tensor<4x8xf64>, tensor<4xf32>, tensor<4xf32>, f32
  return
}

// -----

// [F4] read key
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %l: tensor<5xf32>, %v: tensor<8xf32>, %b: f32) {
  // expected-error@+1 {{[F4] read key has 5 elements, the state has 4 keys}}
  %0 = scan.erase %S read %l write %k strength %b : tensor<4x8xf32>, tensor<5xf32>, tensor<4xf32>, f32
  return
}

// -----

// [F4] write key
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %l: tensor<5xf32>, %v: tensor<8xf32>, %b: f32) {
  // expected-error@+1 {{[F4] write key has 5 elements, the state has 4 keys}}
  %0 = scan.erase %S read %k write %l strength %b : tensor<4x8xf32>, tensor<4xf32>, tensor<5xf32>, f32
  return
}

// -----

// [F4] key of an injection
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %l: tensor<5xf32>, %v: tensor<8xf32>, %b: f32) {
  // expected-error@+1 {{[F4] key has 5 elements, the state has 4 keys}}
  %0 = scan.inject %S key %l value %v : tensor<4x8xf32>, tensor<5xf32>, tensor<8xf32>
  return
}

// -----

// [F4] value of an injection
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %l: tensor<5xf32>, %v: tensor<8xf32>, %b: f32) {
  // expected-error@+1 {{[F4] value has 4 elements, the state has 8 values}}
  %0 = scan.inject %S key %k value %k : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// [F4] query
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %l: tensor<5xf32>, %v: tensor<8xf32>, %b: f32) {
  // expected-error@+1 {{[F4] query has 8 elements, the state has 4 keys}}
  %0 = scan.read %S query %v : tensor<4x8xf32>, tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// [F4] result of a read
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %l: tensor<5xf32>, %v: tensor<8xf32>, %b: f32) {
  // expected-error@+1 {{[F4] result has 4 elements, the state has 8 values}}
  %0 = scan.read %S query %k : tensor<4x8xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// [F5] ranks of an erase
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %k1: tensor<1x4xf32>, %k2: tensor<2x4xf32>, %v2: tensor<2x8xf32>, %v1: tensor<1x8xf32>, %b: f32, %b1: tensor<1xf32>, %b2: tensor<2xf32>) {
  // expected-error@+1 {{[F5] read and write keys must have the same ranks, found 'tensor<1x4xf32>' and 'tensor<2x4xf32>'}}
  %0 = scan.erase %S read %k1 write %k2 strength %b2 : tensor<4x8xf32>, tensor<1x4xf32>, tensor<2x4xf32>, tensor<2xf32>
  return
}

// -----

// [F5] a rank axis of 1 is not none
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %k1: tensor<1x4xf32>, %k2: tensor<2x4xf32>, %v2: tensor<2x8xf32>, %v1: tensor<1x8xf32>, %b: f32, %b1: tensor<1xf32>, %b2: tensor<2xf32>) {
  // expected-error@+1 {{[F5] read and write keys must have the same ranks, found 'tensor<4xf32>' and 'tensor<1x4xf32>'}}
  %0 = scan.erase %S read %k write %k1 strength %b : tensor<4x8xf32>, tensor<4xf32>, tensor<1x4xf32>, f32
  return
}

// -----

// [F5] strengths
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %k1: tensor<1x4xf32>, %k2: tensor<2x4xf32>, %v2: tensor<2x8xf32>, %v1: tensor<1x8xf32>, %b: f32, %b1: tensor<1xf32>, %b2: tensor<2xf32>) {
  // expected-error@+1 {{[F5] expects one strength per rank of 'tensor<2x4xf32>', found 'tensor<1xf32>'}}
  %0 = scan.erase %S read %k2 write %k2 strength %b1 : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xf32>
  return
}

// -----

// [F5] one strength
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %k1: tensor<1x4xf32>, %k2: tensor<2x4xf32>, %v2: tensor<2x8xf32>, %v1: tensor<1x8xf32>, %b: f32, %b1: tensor<1xf32>, %b2: tensor<2xf32>) {
  // expected-error@+1 {{[F5] expects a scalar strength for 'tensor<4xf32>', found 'tensor<1xf32>'}}
  %0 = scan.erase %S read %k write %k strength %b1 : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>
  return
}

// -----

// [F5] ranks of an injection
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %k1: tensor<1x4xf32>, %k2: tensor<2x4xf32>, %v2: tensor<2x8xf32>, %v1: tensor<1x8xf32>, %b: f32, %b1: tensor<1xf32>, %b2: tensor<2xf32>) {
  // expected-error@+1 {{[F5] key and value must have the same ranks, found 'tensor<2x4xf32>' and 'tensor<1x8xf32>'}}
  %0 = scan.inject %S key %k2 value %v1 : tensor<4x8xf32>, tensor<2x4xf32>, tensor<1x8xf32>
  return
}

// -----

// [F5] one scale
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %v: tensor<8xf32>, %b1: tensor<1xf32>) {
  // expected-error@+1 {{[F5] expects a scalar scale for 'tensor<4xf32>', found 'tensor<1xf32>'}}
  %0 = scan.inject %S key %k value %v scale %b1 : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<1xf32>
  return
}

// -----

// [F5] scales
func.func @f(%S: tensor<4x8xf32>, %k: tensor<4xf32>, %k1: tensor<1x4xf32>, %k2: tensor<2x4xf32>, %v2: tensor<2x8xf32>, %v1: tensor<1x8xf32>, %b: f32, %b1: tensor<1xf32>, %b2: tensor<2xf32>) {
  // expected-error@+1 {{[F5] expects one scale per rank of 'tensor<2x4xf32>', found 'f32'}}
  %0 = scan.inject %S key %k2 value %v2 scale %b : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x8xf32>, f32
  return
}

// -----

// [R1] anchor
func.func @f(%u: tensor<8xf32>, %w: tensor<7xf32>, %p: tensor<2x8xf32>, %p7: tensor<2x7xf32>) {
  // expected-error@+1 {{[R1] anchor has 7 elements, value has 8}}
  %0 = scan.refine anchor %w value %u gain %p activation gelu : tensor<7xf32>, tensor<8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  return
}

// -----

// [R1] gain
func.func @f(%u: tensor<8xf32>, %w: tensor<7xf32>, %p: tensor<2x8xf32>, %p7: tensor<2x7xf32>) {
  // expected-error@+1 {{[R1] gain has 7 values a step, value has 8}}
  %0 = scan.refine anchor %u value %u gain %p7 activation gelu : tensor<8xf32>, tensor<8xf32>, tensor<2x7xf32> -> tensor<2x8xf32>
  return
}

// -----

// [R2] one row for each step
func.func @f(%u: tensor<8xf32>, %w: tensor<7xf32>, %p: tensor<2x8xf32>, %p7: tensor<2x7xf32>) {
  // expected-error@+1 {{[R2] result must have one row per step of the gain 'tensor<2x8xf32>', found 'tensor<3x8xf32>'}}
  %0 = scan.refine anchor %u value %u gain %p activation gelu : tensor<8xf32>, tensor<8xf32>, tensor<2x8xf32> -> tensor<3x8xf32>
  return
}

// -----

// [N1] epsilon
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{[N1] epsilon must not be negative, found -1.000000e-06}}
  %0 = scan.l2norm %x {epsilon = -1.0e-6 : f64} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// [N1] that f32 holds only as a subnormal number
func.func @f(%x: tensor<8xbf16>) {
  // expected-error@+1 {{[N1] epsilon must be 0 or at least 1.17549435E-38, the least normal f32, found 1.000000e-40}}
  %0 = scan.l2norm %x {epsilon = 1.0e-40 : f64} : tensor<8xbf16> -> tensor<8xf32>
  return
}

// -----

// [N1] nor f64
func.func @f(%x: tensor<8xf64>) {
  %0 = scan.l2norm %x {epsilon = 1.0e-40 : f64} : tensor<8xf64> -> tensor<8xf64>
  // expected-error@+1 {{[N1] epsilon must be 0 or at least 2.2250738585072014E-308, the least normal f64, found 1.000000e-310}}
  %1 = scan.l2norm %x {epsilon = 1.0e-310 : f64} : tensor<8xf64> -> tensor<8xf64>
  return
}

// -----

// [N1] nor no number
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{[N1] epsilon must not be negative, found}}
  %0 = scan.l2norm %x {epsilon = 0x7FF8000000000000 : f64} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// [P1] no tokens
// expected-error@+1 {{[P1] chunk must lie in 1..256, or be 0 (left to the compiler), found -1}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = -1, value_block = 0, stages = 1>}

// -----

// [P1] too many
// expected-error@+1 {{[P1] chunk must lie in 1..256, or be 0 (left to the compiler), found 257}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = 257, value_block = 0, stages = 1>}

// -----

// [P2] token by token
// expected-error@+1 {{[P2] the recurrent schedule has chunk 1, found 2}}
func.func private @f() attributes {plan = #scan.plan<schedule = recurrent, chunk = 2, value_block = 0, stages = 1>}

// -----

// [P2] steps are not left to choose
// expected-error@+1 {{[P2] the recurrent schedule has chunk 1, found 0}}
func.func private @f() attributes {plan = #scan.plan<schedule = recurrent, chunk = 0, value_block = 0, stages = 1>}

// -----

// [P3] columns
// expected-error@+1 {{[P3] value_block must be 0 (all columns) or positive, found -1}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = 64, value_block = -1, stages = 1>}

// -----

// [P4] no stage
// expected-error@+1 {{[P4] stages must lie in 1..8, found 0}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 0>}

// -----

// [P4] too many stages
// expected-error@+1 {{[P4] stages must lie in 1..8, found 9}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 9>}

// -----

// [P5] segments
// expected-error@+1 {{[P5] segments must lie in 0..4096, found -1}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 1, segments = -1>}

// -----

// [P5] too many segments
// expected-error@+1 {{[P5] segments must lie in 0..4096, found 4097}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 1, segments = 4097>}

// -----

// [P6] segments of steps that have a chunk form
func.func @f(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{[P6] the recurrent schedule splits sequences only where a decay along value or element leaves no chunk form, found 2 segments}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1, segments = 2> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = scan.decay %S by %kt along key : tensor<4x4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

// [P7] too many blocks that prepare
// expected-error@+1 {{[P7] prepare_blocks must lie in 0..2, or be -1 (left to the compiler), found 3}}
func.func private @f() attributes {plan = #scan.plan<schedule = chunk, chunk = 64, value_block = 64, stages = 1, prepare_blocks = 3>}

// -----

// [P8] chunks are prepared
// expected-error@+1 {{[P8] the recurrent schedule prepares nothing, found 1 prepare_blocks}}
func.func private @f() attributes {plan = #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1, prepare_blocks = 1>}

// -----

// [A1] a name
// expected-error@+1 {{[A1] scan.entry expects a string, not empty, found 1 : i64}}
func.func private @f() attributes {scan.entry = 1}

// -----

// [A1] not empty
// expected-error@+1 {{[A1] scan.entry expects a string, not empty, found ""}}
func.func private @f() attributes {scan.entry = ""}

// -----

// [A1] on functions
// expected-error@+1 {{[A1] scan.entry marks a function, found 'builtin.module'}}
module attributes {scan.entry = "forward"} {}

// -----

// [A2] argument
// expected-error@+1 {{[A2] argument 1: scan.name expects a string, not empty, found unit}}
func.func private @f(f32, f32 {scan.name})

// -----

// [A2] result
// expected-error@+1 {{[A2] result 0: scan.name expects a string, not empty, found ""}}
func.func private @f() -> (f32 {scan.name = ""})

// -----

// [A3] no value
// expected-error@+1 {{[A3] argument 0: scan.optional has no value, found true}}
func.func private @f(f32 {scan.optional = true})

// -----

// [A3] of an argument
// expected-error@+1 {{[A3] result 0: scan.optional marks arguments only}}
func.func private @f() -> (f32 {scan.optional})

// -----

// What the parser and the type constraints refuse.
func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+1 {{expected 'ins'}}
  %f = scan.recurrence (%x as "btv" : tensor<?x?x8xf32>)
}

// -----

func.func @f(%S: tensor<4x8xf32>, %g: f32) {
  // expected-error@+1 {{one of the following enum values for attribute 'along' [scalar, key, value, element]}}
  %0 = scan.decay %S by %g along column : tensor<4x8xf32>, f32
}

// -----

func.func @f(%S: tensor<4x8xbf16>, %g: f32) {
  // expected-error@+1 {{operand #0 must be 2D tensor of 32-bit float or 64-bit float values}}
  %0 = scan.decay %S by %g along scalar : tensor<4x8xbf16>, f32
  return
}

// -----

func.func @f(%x: tensor<?x?x8xf32>) {
  // expected-error@+2 {{expects regions to end with 'scan.yield', found 'llvm.unreachable'}}
  // expected-note@+1 {{in custom textual format, the absence of terminator implies 'scan.yield'}}
  %f = "scan.recurrence"(%x) <{input_axes = ["btv"], initial_axes = [], output_axes = [], final_axes = ["nkv"],
      operandSegmentSizes = array<i32: 1, 0, 0>, resultSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%S: tensor<4x8xf32>, %xt: tensor<8xf32>):
    llvm.unreachable
  }) : (tensor<?x?x8xf32>) -> tensor<?x4x8xf32>
  return
}

// -----

// Legal, at the border: 0 ranks of every kind, one element, one rank as an axis.
func.func @border(%S: tensor<1x1xf64>, %k0: tensor<0x1xf32>, %b0: tensor<0xf32>, %k1: tensor<1x1xf32>,
                  %b1: tensor<1xf32>, %x: tensor<1xf32>) -> tensor<1x1xf64> {
  %0 = scan.erase %S read %k0 write %k0 strength %b0 : tensor<1x1xf64>, tensor<0x1xf32>, tensor<0x1xf32>, tensor<0xf32>
  %1 = scan.inject %0 key %k0 value %k0 : tensor<1x1xf64>, tensor<0x1xf32>, tensor<0x1xf32>
  %2 = scan.erase %1 of %S read %k1 write %k1 strength %b1
      : tensor<1x1xf64> of tensor<1x1xf64>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xf32>
  %3 = scan.inject %2 key %k1 value %k1 scale %b1 : tensor<1x1xf64>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xf32>
  %4 = scan.decay %3 by %x along key : tensor<1x1xf64>, tensor<1xf32>
  %5 = scan.decay %4 by %x along value : tensor<1x1xf64>, tensor<1xf32>
  %6 = scan.decay %5 by %k1 along element : tensor<1x1xf64>, tensor<1x1xf32>
  return %6 : tensor<1x1xf64>
}

// -----

// Legal: heads that divide, one head without a letter, no feature anywhere but in the state.
func.func @heads(%x: tensor<?x?x2xf32>, %y: tensor<?x?x1xf32>, %z: tensor<0x0xf32>)
    -> (tensor<?x?x6xf32>, tensor<?x6x1x1xf32>) {
  %o, %f = scan.recurrence ins(%x as "bth", %y as "bth", %z as "bt" : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<0x0xf32>)
      outs("bth") finals("nhkv") {
  ^bb0(%S: tensor<1x1xf32>, %xt: f32, %yt: f32, %zt: f32):
    scan.yield %S, %xt : tensor<1x1xf32>, f32
  } -> (tensor<?x?x6xf32>), (tensor<?x6x1x1xf32>)
  return %o, %f : tensor<?x?x6xf32>, tensor<?x6x1x1xf32>
}

// -----

func.func @c10_mini_batch(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{[C10] expects 3 block arguments (1 states, as many at the mini-batch's entry, then the inputs), found 2}}
  %o, %s = scan.recurrence mini_batch 4 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @c11_entry(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{[C11] state argument 0 is 'tensor<4x4xf32>', at the mini-batch's entry it is 'tensor<4x2xf32>'}}
  %o, %s = scan.recurrence mini_batch 4 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %E: tensor<4x2xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @c15(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{[C15] a mini-batch has at least 1 step, found 0}}
  %o, %s = scan.recurrence mini_batch 0 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %E: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @c15_met(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence mini_batch 1 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %E: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @a4(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{[A4] scan.state_independent is "token" or "mini_batch" on a scan.recurrence, found "chunk" on 'scan.recurrence'}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } attributes {scan.state_independent = "chunk"} -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @a5(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{[A5] scan.class is a dictionary on a scan.recurrence or scan.prefix, found "affine" on 'scan.recurrence'}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } attributes {scan.class = "affine"} -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @a6(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{[A6] scan.serial stands without a value on a scan.recurrence, found true on 'scan.recurrence'}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } attributes {scan.serial = true} -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

// expected-error@+1 {{[A6] scan.serial stands without a value on a scan.recurrence, found unit on 'func.func'}}
func.func private @a6_elsewhere() attributes {scan.serial}

// -----

// expected-error@+1 {{[A7] scan.batch_invariant stands without a value on an entry, found false on 'func.func'}}
func.func private @a7() attributes {scan.entry = "forward", scan.batch_invariant = false}

// -----

// expected-error@+1 {{[A7] scan.batch_invariant stands without a value on an entry, found unit on 'func.func'}}
func.func private @a7_elsewhere() attributes {scan.batch_invariant}

// -----

// expected-error@+1 {{[A4] scan.state_independent is "token" or "mini_batch" on a scan.recurrence, found "token" on 'func.func'}}
func.func private @a4_elsewhere() attributes {scan.state_independent = "token"}
