// RUN: prism-opt %s --scan-verify-state-independence | FileCheck %s

// The example of the pass's description.
// CHECK-LABEL: func.func @example(
// CHECK: scan.state_independent = "token"
func.func @example(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %0 = scan.decay %S by %gt along scalar : tensor<4x2xf32>, f32
    %next = scan.inject %0 key %kt value %vt : tensor<4x2xf32>, tensor<4xf32>, tensor<2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// Ten ways in which a gate reads the state and does not depend on it, or in which the state goes a long way.

// CHECK-LABEL: func.func @times_zero(
// CHECK: scan.state_independent = "token"
func.func @times_zero(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    %zero = arith.constant 0.0 : f32
    %nothing = arith.mulf %element, %zero : f32
    %gate = arith.addf %gt, %nothing : f32
    %next = scan.decay %S by %gate along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @added_and_subtracted(
// CHECK: scan.state_independent = "token"
func.func @added_and_subtracted(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    %sum = arith.addf %gt, %element : f32
    %gate = arith.subf %sum, %element : f32
    %next = scan.decay %S by %gate along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @selected(
// CHECK: scan.state_independent = "token"
func.func @selected(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %gt, %zero : f32
    %twice = arith.addf %S, %S : tensor<4x2xf32>
    %chosen = arith.select %positive, %twice, %S : tensor<4x2xf32>
    %next = scf.if %positive -> tensor<4x2xf32> {
      scf.yield %chosen : tensor<4x2xf32>
    } else {
      %negated = arith.negf %chosen : tensor<4x2xf32>
      scf.yield %negated : tensor<4x2xf32>
    }
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @constant_loop(
// CHECK: scan.state_independent = "token"
func.func @constant_loop(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %lower = arith.constant 0 : index
    %upper = arith.constant 5 : index
    %one = arith.constant 1 : index
    %gates = tensor.splat %gt : tensor<4x2xf32>
    %next = scf.for %i = %lower to %upper step %one iter_args(%x = %S) -> tensor<4x2xf32> {
      %scaled = arith.mulf %x, %gates : tensor<4x2xf32>
      %more = arith.addf %scaled, %S : tensor<4x2xf32>
      scf.yield %more : tensor<4x2xf32>
    }
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @called(
// CHECK: scan.state_independent = "token"
func.func private @first(%a: f32, %b: f32) -> f32 {
  cf.br ^end(%a, %b : f32, f32)
^end(%c: f32, %d: f32):
  return %c : f32
}
func.func @called(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %c0 = arith.constant 0 : index
    %element = tensor.extract %S[%c0, %c0] : tensor<4x2xf32>
    %gate = func.call @first(%gt, %element) : (f32, f32) -> f32
    %next = scan.decay %S by %gate along scalar : tensor<4x2xf32>, f32
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @transposed_twice(
// CHECK: scan.state_independent = "token"
func.func @transposed_twice(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %room = tensor.empty() : tensor<2x4xf32>
    %flipped = linalg.transpose ins(%S : tensor<4x2xf32>) outs(%room : tensor<2x4xf32>) permutation = [1, 0]
    %space = tensor.empty() : tensor<4x2xf32>
    %back = linalg.transpose ins(%flipped : tensor<2x4xf32>) outs(%space : tensor<4x2xf32>) permutation = [1, 0]
    %nothing = arith.subf %back, %S : tensor<4x2xf32>
    %gates = math.exp %nothing : tensor<4x2xf32>
    %next = arith.mulf %gates, %back : tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @reshaped(
// CHECK: scan.state_independent = "token"
func.func @reshaped(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %flat = tensor.collapse_shape %S [[0, 1]] : tensor<4x2xf32> into tensor<8xf32>
    %cube = tensor.expand_shape %flat [[0, 1, 2]] output_shape [2, 2, 2] : tensor<8xf32> into tensor<2x2x2xf32>
    %back = tensor.collapse_shape %cube [[0, 1], [2]] : tensor<2x2x2xf32> into tensor<4x2xf32>
    %nothing = arith.subf %back, %S : tensor<4x2xf32>
    %gates = math.exp %nothing : tensor<4x2xf32>
    %next = arith.mulf %gates, %back : tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @split_and_concatenated(
// CHECK: scan.state_independent = "token"
func.func @split_and_concatenated(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %upper = tensor.extract_slice %S[0, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<1x2xf32>
    %lower = tensor.extract_slice %S[1, 0] [3, 2] [1, 1] : tensor<4x2xf32> to tensor<3x2xf32>
    %back = tensor.concat dim(0) %upper, %lower : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %nothing = arith.subf %back, %S : tensor<4x2xf32>
    %gates = math.exp %nothing : tensor<4x2xf32>
    %next = arith.mulf %gates, %back : tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK: scan.state_independent = "token"
func.func @cast(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %narrow = arith.truncf %S : tensor<4x2xf32> to tensor<4x2xbf16>
    %back = arith.extf %narrow : tensor<4x2xbf16> to tensor<4x2xf32>
    %nothing = arith.subf %back, %S : tensor<4x2xf32>
    %gates = math.exp %nothing : tensor<4x2xf32>
    %next = arith.mulf %gates, %back : tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// CHECK-LABEL: func.func @scaled_and_unscaled(
// CHECK: scan.state_independent = "token"
func.func @scaled_and_unscaled(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %scales = tensor.splat %gt : tensor<4x2xf32>
    %scaled = arith.mulf %S, %scales : tensor<4x2xf32>
    %back = arith.divf %scaled, %scales : tensor<4x2xf32>
    %nothing = arith.subf %back, %S : tensor<4x2xf32>
    %gates = math.exp %nothing : tensor<4x2xf32>
    %next = arith.mulf %gates, %back : tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// Plain ops: the gated delta rule, with products in linalg and the gate taken as an exponential.
// CHECK-LABEL: func.func @plain_delta_rule(
// CHECK: scan.state_independent = "token"
func.func @plain_delta_rule(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %decay = math.exp %gt : f32
    %decays = tensor.splat %decay : tensor<4x2xf32>
    %kept = arith.mulf %S, %decays : tensor<4x2xf32>
    %zero = arith.constant dense<0.0> : tensor<2xf32>
    %read = linalg.vecmat ins(%kt, %kept : tensor<4xf32>, tensor<4x2xf32>) outs(%zero : tensor<2xf32>) -> tensor<2xf32>
    %error = arith.subf %vt, %read : tensor<2xf32>
    %next = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%kt, %error : tensor<4xf32>, tensor<2xf32>) outs(%kept : tensor<4x2xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %ab = arith.mulf %a, %b : f32
        %abc = arith.addf %ab, %c : f32
        linalg.yield %abc : f32
      } -> tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// A loop whose length is not known, and a captured value.
// CHECK-LABEL: func.func @unknown_loop(
// CHECK: scan.state_independent = "token"
func.func @unknown_loop(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>,
    %turns: index, %weights: tensor<4x2xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %lower = arith.constant 0 : index
    %one = arith.constant 1 : index
    %gates = tensor.splat %gt : tensor<4x2xf32>
    %next = scf.for %i = %lower to %turns step %one iter_args(%x = %S) -> tensor<4x2xf32> {
      %scaled = arith.mulf %x, %gates : tensor<4x2xf32>
      %more = arith.addf %scaled, %weights : tensor<4x2xf32>
      scf.yield %more : tensor<4x2xf32>
    }
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// A mini-batch whose entry is not read: tokens are enough.
// CHECK-LABEL: func.func @entry_not_read(
// CHECK: scan.state_independent = "token"
func.func @entry_not_read(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence mini_batch 4 ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %E: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %nothing = arith.subf %E, %E : tensor<4x2xf32>
    %next = arith.addf %S, %nothing : tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// One column is written, the others keep what is affine in the state.
// CHECK-LABEL: func.func @written_in_part(
// CHECK: scan.state_independent = "token"
func.func @written_in_part(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btk") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>):
    %half = arith.constant dense<0.5> : tensor<4x2xf32>
    %before = arith.mulf %S, %half : tensor<4x2xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 0)>],
        iterator_types = ["parallel"]} ins(%kt : tensor<4xf32>) outs(%before : tensor<4x2xf32>) {
    ^bb1(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<4x2xf32>
    scan.yield %next, %kt : tensor<4x2xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x2xf32>
}
