// RUN: prism-opt %s --scan-verify-state-independence -split-input-file -verify-diagnostics
// RUN: not prism-opt %s --scan-verify-state-independence=granularity=chunk -split-input-file 2>&1 | FileCheck %s

// RUN: prism-opt %prism_src/examples/models/lstm.mlir --scan-verify-state-independence=serial=true 2>&1 | FileCheck %s --check-prefix=SERIAL
// SERIAL: warning: state 0 does not follow an affine recurrence: 'math.exp'
// SERIAL: note: state 0 enters the step here
// SERIAL-NOT: scan.state_independent

// CHECK: error: scan-verify-state-independence: granularity must be token or mini_batch, found 'chunk'

// A gate that is read from the state.
func.func @gate_reads_state(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    // expected-note@+1 {{it passes through 'tensor.extract'}}
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    // expected-error@+3 {{state 0 does not follow an affine recurrence: 'scan.decay' combines values that read the state and is not affine in them: a coefficient depends on the state}}
    // expected-note@+2 {{its other operand reads the state as well}}
    // expected-note@+1 {{where it meets 'scan.decay'}}
    %next = scan.decay %S by %element along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// The path leads through a loop, a condition and a call.
// expected-note@+1 {{it passes through block argument 0 of '@double'}}
func.func private @double(%a: f32) -> f32 {
  // expected-note@+1 {{it passes through 'arith.addf'}}
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}
func.func @strength_reads_state(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    // expected-note@+1 {{it passes through 'tensor.extract'}}
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    %lower = arith.constant 0 : index
    %upper = arith.constant 2 : index
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %gt, %zero : f32
    // expected-note@+2 {{it passes through block argument 1 of 'scf.for'}}
    // expected-note@+1 {{it passes through 'scf.for'}}
    %long = scf.for %i = %lower to %upper step %one iter_args(%x = %element) -> f32 {
      // expected-note@+1 {{it passes through 'scf.if'}}
      %chosen = scf.if %positive -> f32 {
        // expected-note@+1 {{it passes through 'func.call'}}
        %squashed = func.call @double(%x) : (f32) -> f32
        scf.yield %squashed : f32
      } else {
        scf.yield %x : f32
      }
      scf.yield %chosen : f32
    }
    // expected-error@+3 {{state 0 does not follow an affine recurrence: 'scan.erase' combines values that read the state and is not affine in them: a coefficient depends on the state}}
    // expected-note@+2 {{its other operand reads the state as well}}
    // expected-note@+1 {{where it meets 'scan.erase'}}
    %next = scan.erase %S read %kt write %kt strength %long : tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// Both sides are affine, but the state chooses.
func.func @condition_reads_state(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    // expected-note@+1 {{it passes through 'tensor.extract'}}
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    %zero = arith.constant 0.0 : f32
    // expected-error@+2 {{state 0 does not follow an affine recurrence: 'arith.cmpf' is not affine in a value that reads the state}}
    // expected-note@+1 {{where it meets 'arith.cmpf'}}
    %positive = arith.cmpf ogt, %element, %zero : f32
    // expected-note@+1 {{from there through 'scf.if'}}
    %next = scf.if %positive -> tensor<4x2xf32> {
      scf.yield %S : tensor<4x2xf32>
    } else {
      %negated = arith.negf %S : tensor<4x2xf32>
      scf.yield %negated : tensor<4x2xf32>
    }
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// The state says how long a loop is.
func.func @bound_reads_state(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    // expected-note@+1 {{it passes through 'tensor.extract'}}
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    // expected-error@+2 {{state 0 does not follow an affine recurrence: 'arith.fptosi' is not affine in a value that reads the state}}
    // expected-note@+1 {{where it meets 'arith.fptosi'}}
    %rounded = arith.fptosi %element : f32 to i64
    // expected-note@+1 {{from there through 'arith.index_cast'}}
    %turns = arith.index_cast %rounded : i64 to index
    %one = arith.constant 1 : index
    // expected-note@+1 {{from there through 'scf.for'}}
    %next = scf.for %i = %c0 to %turns step %one iter_args(%x = %S) -> tensor<4x2xf32> {
      %twice = arith.addf %x, %x : tensor<4x2xf32>
      scf.yield %twice : tensor<4x2xf32>
    }
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// What lies in memory may be the state.
func.func @memory(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>, %memory: memref<1xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    // expected-error@+2 {{state 0 does not follow an affine recurrence: 'memref.load' may read memory that holds the state, or is not known}}
    // expected-note@+1 {{where it meets 'memref.load'}}
    %gate = memref.load %memory[%c0] : memref<1xf32>
    // expected-note@+1 {{from there through 'scan.decay'}}
    %next = scan.decay %S by %gate along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// Nothing is known of a function without a body.
func.func private @outside() -> f32
func.func @unknown_call(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    // expected-error@+2 {{state 0 does not follow an affine recurrence: 'func.call' may read memory that holds the state, or is not known}}
    // expected-note@+1 {{where it meets 'func.call'}}
    %gate = func.call @outside() : () -> f32
    // expected-note@+1 {{from there through 'scan.decay'}}
    %next = scan.decay %S by %gate along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// Recursive calls are not followed.
func.func private @again(%a: f32) -> f32 {
  // expected-error@+2 {{state 0 does not follow an affine recurrence: 'func.call' may read memory that holds the state, or is not known}}
  // expected-note@+1 {{where it meets 'func.call'}}
  %0 = func.call @again(%a) : (f32) -> f32
  return %0 : f32
}
func.func @recursive_call(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    // expected-note@+1 {{from there through 'func.call'}}
    %gate = func.call @again(%gt) : (f32) -> f32
    // expected-note@+1 {{from there through 'scan.decay'}}
    %next = scan.decay %S by %gate along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// A maximum over the keys is not a sum.
func.func @maximum(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %zero = arith.constant dense<0.0> : tensor<2xf32>
    // expected-note@+6 {{it passes through block argument 0 of 'linalg.reduce'}}
    // expected-note@+5 {{it passes through block argument 1 of 'linalg.reduce'}}
    // expected-error@+4 {{state 0 does not follow an affine recurrence: 'arith.maximumf' combines values that read the state and is not affine in them: a coefficient depends on the state}}
    // expected-note@+3 {{its other operand reads the state as well}}
    // expected-note@+2 {{where it meets 'arith.maximumf'}}
    // expected-note@+1 {{from there through 'linalg.reduce'}}
    %most = linalg.reduce { arith.maximumf } ins(%S : tensor<4x2xf32>) outs(%zero : tensor<2xf32>) dimensions = [0]
    // expected-note@+1 {{from there through 'scan.inject'}}
    %next = scan.inject %S key %kt value %most : tensor<4x2xf32>, tensor<4xf32>, tensor<2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// Times 0 a logarithm is 0, but not of every state.
func.func @zero_times_logarithm(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  // expected-note@+1 {{state 0 enters the step here}}
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    // expected-note@+1 {{it passes through 'tensor.extract'}}
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    %zero = arith.constant 0.0 : f32
    // expected-error@+2 {{state 0 does not follow an affine recurrence: 'math.log' is not affine in a value that reads the state}}
    // expected-note@+1 {{where it meets 'math.log'}}
    %log = math.log %element : f32
    // expected-note@+1 {{from there through 'arith.mulf'}}
    %nothing = arith.mulf %log, %zero : f32
    // expected-note@+1 {{from there through 'arith.addf'}}
    %gate = arith.addf %gt, %nothing : f32
    // expected-note@+1 {{from there through 'scan.decay'}}
    %next = scan.decay %S by %gate along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// At token granularity there is no mini-batch's entry.
func.func @entry(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence mini_batch 4 ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  // expected-note@+1 {{state 0, as it was at the mini-batch's entry, comes in here}}
  ^bb0(%S: tensor<4x2xf32>, %E: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    // expected-error@+1 {{state 0 is not independent at token granularity: 'scan.erase' reads a state as it was at the mini-batch's entry; granularity=mini_batch takes it}}
    %next = scan.erase %S of %E read %kt write %kt strength %gt : tensor<4x2xf32> of tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    // expected-note@+1 {{into the next value of state 0, yielded here}}
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// -----

// Two states that multiply each other: neither alone would tell.
func.func @two_states(%g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>) {
  %o, %a, %b = scan.recurrence ins(%g as "bt" : tensor<?x?xf32>) outs("bt") finals("nhv", "nhv") {
  // expected-note@+2 {{state 0 enters the step here}}
  // expected-note@+1 {{state 1 enters the step here}}
  ^bb0(%A: tensor<4xf32>, %B: tensor<4xf32>, %gt: f32):
    %kept = arith.addf %A, %B : tensor<4xf32>
    // expected-error@+3 {{state 1 does not follow an affine recurrence: 'arith.mulf' combines values that read the state and is not affine in them: a coefficient depends on the state}}
    // expected-note@+2 {{its other operand reads the state as well}}
    // expected-note@+1 {{where it meets 'arith.mulf'}}
    %next = arith.mulf %A, %B : tensor<4xf32>
    // expected-note@+1 {{into the next value of state 1, yielded here}}
    scan.yield %kept, %next, %gt : tensor<4xf32>, tensor<4xf32>, f32
  } -> (tensor<?x?xf32>), (tensor<?x1x4xf32>, tensor<?x1x4xf32>)
  return %o, %a, %b : tensor<?x?xf32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>
}
