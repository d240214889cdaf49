// RUN: prism-opt %s --scan-verify-state-independence -split-input-file -verify-diagnostics

// What structured ops write to: what it held before counts too.

// A destination that is written in part keeps the rest.
#rows = affine_map<(i) -> (i)>
#column = affine_map<(i) -> (i, 0)>
func.func @written_in_part(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x3xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btk") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x3xf32>, %kt: tensor<4xf32>):
    %half = arith.constant dense<0.5> : tensor<4x3xf32>
    // expected-error@+2 {{state 0 does not follow an affine recurrence: 'math.tanh' is not affine in a value that reads the state}}
    // expected-note@+1 {{where it meets 'math.tanh'}}
    %bent = math.tanh %S : tensor<4x3xf32>
    // expected-note@+1 {{from there through 'arith.addf'}}
    %before = arith.addf %bent, %half : tensor<4x3xf32>
    // expected-note@+1 {{from there through 'linalg.generic'}}
    %next = linalg.generic {indexing_maps = [#rows, #column], iterator_types = ["parallel"]}
        ins(%kt : tensor<4xf32>) outs(%before : tensor<4x3xf32>) {
    ^bb1(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<4x3xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %kt : tensor<4x3xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x3xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x3xf32>
}

// -----

// A reduction that is no sum begins with its destination.
#rows = affine_map<(i, j) -> (i)>
#elements = affine_map<(i, j) -> (i, j)>
func.func @begins_bent(%m: tensor<?x?x4x3xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4xf32>) {
  %o, %s = scan.recurrence ins(%m as "btkv" : tensor<?x?x4x3xf32>) outs("btk") finals("nhk") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4xf32>, %mt: tensor<4x3xf32>):
    // expected-error@+2 {{state 0 does not follow an affine recurrence: 'math.tanh' is not affine in a value that reads the state}}
    // expected-note@+1 {{where it meets 'math.tanh'}}
    %bent = math.tanh %S : tensor<4xf32>
    // expected-note@+1 {{from there through 'linalg.generic'}}
    %next = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
        ins(%mt : tensor<4x3xf32>) outs(%bent : tensor<4xf32>) {
    ^bb1(%a: f32, %b: f32):
      %product = arith.mulf %a, %b : f32
      linalg.yield %product : f32
    } -> tensor<4xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %next : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4xf32>
}

// -----

// Iterations that meet at an element see each other, whatever they are called.
#rows = affine_map<(i, j) -> (i)>
#elements = affine_map<(i, j) -> (i, j)>
func.func @iterations_meet(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x3xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btk") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x3xf32>, %kt: tensor<4xf32>):
    // expected-note@+1 {{from there through 'linalg.generic'}}
    %product = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%S : tensor<4x3xf32>) outs(%kt : tensor<4xf32>) {
    // expected-note@+2 {{it passes through block argument 0 of 'linalg.generic'}}
    // expected-note@+1 {{it passes through block argument 1 of 'linalg.generic'}}
    ^bb1(%a: f32, %b: f32):
      // expected-error@+3 {{state 0 does not follow an affine recurrence: 'arith.mulf' combines values that read the state and is not affine in them: a coefficient depends on the state}}
      // expected-note@+2 {{its other operand reads the state as well}}
      // expected-note@+1 {{where it meets 'arith.mulf'}}
      %p = arith.mulf %a, %b : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    %empty = tensor.empty() : tensor<4x3xf32>
    // expected-note@+1 {{from there through 'linalg.broadcast'}}
    %next = linalg.broadcast ins(%product : tensor<4xf32>) outs(%empty : tensor<4x3xf32>) dimensions = [1]
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %product : tensor<4x3xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x3xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x3xf32>
}
