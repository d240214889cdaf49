// RUN: prism-opt %s --scan-inline-calls --split-input-file --verify-diagnostics

// Without a body.

// expected-note @below {{the function is here}}
func.func private @gate(tensor<4xf32>) -> tensor<4xf32>
func.func @forward(%v: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>)
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %v_t: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    // expected-error @below {{function 'gate' is declared without a body; a step takes the ops of what it calls in the call's place and expects a function with one}}
    %w = func.call @gate(%v_t) : (tensor<4xf32>) -> tensor<4xf32>
    %next = scan.inject %S key %one value %w : tensor<1x4xf32>, tensor<1xf32>, tensor<4xf32>
    scan.yield %next, %w : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %o, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}

// -----

// That calls itself: the place is the call that closes the circle.

// expected-note @below {{the function is here}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{function 'f' calls itself ('f' -> 'g' -> 'f'); a step is of bounded length and expects a loop, scf.for, in place of a recursion}}
  %y = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @forward(%v: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>)
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %v_t: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %w = func.call @f(%v_t) : (tensor<4xf32>) -> tensor<4xf32>
    %next = scan.inject %S key %one value %w : tensor<1x4xf32>, tensor<1xf32>, tensor<4xf32>
    scan.yield %next, %w : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %o, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}

// -----

// Of several blocks.

// expected-note @below {{the function is here}}
func.func private @jump(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1(%x : tensor<4xf32>)
^bb1(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}
func.func @forward(%v: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>)
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %v_t: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    // expected-error @below {{function 'jump' has several blocks; a step takes the ops of what it calls in the call's place and expects one, with scf.if and scf.for for control flow}}
    %w = func.call @jump(%v_t) : (tensor<4xf32>) -> tensor<4xf32>
    %next = scan.inject %S key %one value %w : tensor<1x4xf32>, tensor<1xf32>, tensor<4xf32>
    scan.yield %next, %w : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %o, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}

// -----

// With a scan of its own.

// expected-note @below {{the function is here}}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %v = tensor.empty() : tensor<1x1x1x4xf32>
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<1x1x1x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %v_t: tensor<4xf32>):
    scan.yield %S, %v_t : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<1x1x1x4xf32>), (tensor<1x1x1x4xf32>)
  return %x : tensor<4xf32>
}
func.func @forward(%v: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>)
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %v_t: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    // expected-error @below {{function 'inner' has a scan of its own; a step takes the ops of what it calls in the call's place and expects ops of a step}}
    %w = func.call @inner(%v_t) : (tensor<4xf32>) -> tensor<4xf32>
    %next = scan.inject %S key %one value %w : tensor<1x4xf32>, tensor<1xf32>, tensor<4xf32>
    scan.yield %next, %w : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %o, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}

// -----

// Through a value.

func.func private @gate(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @forward(%v: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>)
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %v_t: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %gate = func.constant @gate : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{'func.call_indirect' in a step has no function known at compile time; expected func.call}}
    %w = func.call_indirect %gate(%v_t) : (tensor<4xf32>) -> tensor<4xf32>
    %next = scan.inject %S key %one value %w : tensor<1x4xf32>, tensor<1xf32>, tensor<4xf32>
    scan.yield %next, %w : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %o, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}

// -----

// Of another module: symbols are looked up in the module that holds the entry.

module @other {
  func.func private @gate(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
func.func @forward(%v: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>)
    attributes {scan.entry = "forward"} {
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<1x4xf32>, %v_t: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    // expected-error @below {{'gate' does not reference a valid function}}
    %w = func.call @gate(%v_t) : (tensor<4xf32>) -> tensor<4xf32>
    %next = scan.inject %S key %one value %w : tensor<1x4xf32>, tensor<1xf32>, tensor<4xf32>
    scan.yield %next, %w : tensor<1x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %o, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}
