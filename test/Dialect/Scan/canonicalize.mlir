// RUN: prism-opt %s -canonicalize | FileCheck %s
// RUN: prism-opt %s -cse -canonicalize | FileCheck %s --check-prefix=CSE

// Whether a factor does nothing, and whether ties outlive every rewrite.

// CHECK-LABEL: func.func @zero_gate
// CHECK-SAME: %[[S:.*]]: tensor<2x2xf32>
// CHECK-NEXT: return %[[S]]
func.func @zero_gate(%S: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : bf16
  %zeros = arith.constant dense<0.0> : tensor<2xf64>
  %zeros2 = arith.constant dense<0.0> : tensor<2x2xf16>
  %1 = scan.decay %S by %zero along scalar : tensor<2x2xf32>, f32
  %2 = scan.decay %1 by %minus along scalar : tensor<2x2xf32>, bf16
  %3 = scan.decay %2 by %zeros along key : tensor<2x2xf32>, tensor<2xf64>
  %4 = scan.decay %3 by %zeros along value : tensor<2x2xf32>, tensor<2xf64>
  %5 = scan.decay %4 by %zeros2 along element : tensor<2x2xf32>, tensor<2x2xf16>
  return %5 : tensor<2x2xf32>
}

// Not zero throughout, and not zero at all.
// CHECK-LABEL: func.func @other_gates
// CHECK-COUNT-3: scan.decay
func.func @other_gates(%S: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %some = arith.constant dense<[0.0, -1.0]> : tensor<2xf32>
  %drop = arith.constant 0xFF800000 : f32
  %tiny = arith.constant 1.0e-45 : f32
  %1 = scan.decay %S by %some along key : tensor<2x2xf32>, tensor<2xf32>
  %2 = scan.decay %1 by %drop along scalar : tensor<2x2xf32>, f32
  %3 = scan.decay %2 by %tiny along scalar : tensor<2x2xf32>, f32
  return %3 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @zero_strength
// CHECK-SAME: %[[S:.*]]: tensor<2x2xf32>, %[[P:.*]]: tensor<2x2xf32>
// CHECK-NEXT: return %[[S]]
func.func @zero_strength(%S: tensor<2x2xf32>, %P: tensor<2x2xf32>, %k: tensor<2xf32>, %kr: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<3xf32>
  %1 = scan.erase %S of %P read %k write %k strength %zero : tensor<2x2xf32> of tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %2 = scan.erase %1 read %kr write %kr strength %zeros : tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3xf32>
  return %2 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @zero_scale
// CHECK-SAME: %[[S:.*]]: tensor<2x2xf32>
// CHECK-NEXT: return %[[S]]
func.func @zero_scale(%S: tensor<2x2xf32>, %k: tensor<2xf32>, %kr: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<3xf32>
  %1 = scan.inject %S key %k value %k scale %zero : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %2 = scan.inject %1 key %kr value %kr scale %zeros : tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3xf32>
  return %2 : tensor<2x2xf32>
}

// PRISM with L = 0: the refinement and all that it feeds vanish.
// CHECK-LABEL: func.func @no_ranks
// CHECK: ^bb0(%[[S:[^:]*]]: tensor<2x4xf32>
// CHECK-NEXT: scan.yield %[[S]] : tensor<2x4xf32>
func.func @no_ranks(%u: tensor<?x?x4xf32>, %p: tensor<?x?x0x4xf32>, %c: tensor<?x?x0x2xf32>, %b: tensor<?x?x0xf32>) -> tensor<?x2x4xf32> {
  %f = scan.recurrence ins(%u as "btv", %p as "btlv", %c as "btlk", %b as "btl"
      : tensor<?x?x4xf32>, tensor<?x?x0x4xf32>, tensor<?x?x0x2xf32>, tensor<?x?x0xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<2x4xf32>, %ut: tensor<4xf32>, %pt: tensor<0x4xf32>, %ct: tensor<0x2xf32>, %bt: tensor<0xf32>):
    %d = scan.refine anchor %ut value %ut gain %pt activation gelu : tensor<4xf32>, tensor<4xf32>, tensor<0x4xf32> -> tensor<0x4xf32>
    %cn = scan.l2norm %ct : tensor<0x2xf32> -> tensor<0x2xf32>
    %1 = scan.inject %S key %cn value %d scale %bt : tensor<2x4xf32>, tensor<0x2xf32>, tensor<0x4xf32>, tensor<0xf32>
    %2 = scan.inject %1 key %cn value %d : tensor<2x4xf32>, tensor<0x2xf32>, tensor<0x4xf32>
    %3 = scan.erase %2 read %cn write %cn strength %bt : tensor<2x4xf32>, tensor<0x2xf32>, tensor<0x2xf32>, tensor<0xf32>
    scan.yield %3 : tensor<2x4xf32>
  } -> (), (tensor<?x2x4xf32>)
  return %f : tensor<?x2x4xf32>
}

// The delta rule stays one: key and strength of both factors are the same values.
// CHECK-LABEL: func.func @tie
// CHECK-SAME: %[[S:.*]]: tensor<2x2xf32>, %[[K:.*]]: tensor<2xf32>, %[[V:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2xf32>, %[[B:.*]]: f32
// CHECK-NEXT: %[[E:.*]] = scan.erase %[[S]] read %[[K]] write %[[K]] strength %[[B]]
// CHECK-NEXT: %[[VW:.*]] = arith.addf %[[V]], %[[W]] : tensor<2xf32>
// CHECK-NEXT: %[[I:.*]] = scan.inject %[[E]] key %[[K]] value %[[VW]] scale %[[B]]
// CHECK-NEXT: return %[[I]]
func.func @tie(%S: tensor<2x2xf32>, %k: tensor<2xf32>, %v: tensor<2xf32>, %w: tensor<2xf32>, %b: f32) -> tensor<2x2xf32> {
  %1 = scan.erase %S read %k write %k strength %b : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %2 = scan.inject %1 key %k value %v scale %b : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %3 = scan.inject %2 key %k value %w scale %b : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  return %3 : tensor<2x2xf32>
}

// A scale of 1 may be half of a tie with an erase of strength 1.
// CHECK-LABEL: func.func @tie_of_one
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: scan.erase %{{.*}} read %[[K:.*]] write %[[K]] strength %[[ONE]]
// CHECK: scan.inject %{{.*}} key %[[K]] value %{{.*}} scale %[[ONE]]
func.func @tie_of_one(%S: tensor<2x2xf32>, %k: tensor<2xf32>, %v: tensor<2xf32>) -> tensor<2x2xf32> {
  %one = arith.constant 1.0 : f32
  %1 = scan.erase %S read %k write %k strength %one : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %2 = scan.inject %1 key %k value %v scale %one : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  return %2 : tensor<2x2xf32>
}

// Equal computations become one value, and a tie.
// CSE-LABEL: func.func @tie_by_cse
// CSE: %[[N:.*]] = scan.l2norm
// CSE-NOT: scan.l2norm
// CSE: scan.erase %{{.*}} read %[[N]] write %[[N]]
// CSE: scan.inject %{{.*}} key %[[N]]
func.func @tie_by_cse(%S: tensor<2x2xf32>, %k: tensor<2xf32>, %v: tensor<2xf32>, %b: f32) -> tensor<2x2xf32> {
  %n1 = scan.l2norm %k : tensor<2xf32> -> tensor<2xf32>
  %n2 = scan.l2norm %k : tensor<2xf32> -> tensor<2xf32>
  %n3 = scan.l2norm %k : tensor<2xf32> -> tensor<2xf32>
  %1 = scan.erase %S read %n1 write %n2 strength %b : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %2 = scan.inject %1 key %n3 value %v scale %b : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  return %2 : tensor<2x2xf32>
}

// Three values of one key without scale, the narrow ones added in f32.
// CHECK-LABEL: func.func @merge_narrow
// CHECK-SAME: %[[S:.*]]: tensor<2x2xf32>, %[[K:.*]]: tensor<2xbf16>, %[[A:.*]]: tensor<2xbf16>, %[[B:.*]]: tensor<2xf16>, %[[C:.*]]: tensor<2xf64>
// CHECK-DAG: %[[AX:.*]] = arith.extf %[[A]] : tensor<2xbf16> to tensor<2xf32>
// CHECK-DAG: %[[BX:.*]] = arith.extf %[[B]] : tensor<2xf16> to tensor<2xf32>
// CHECK: %[[AB:.*]] = arith.addf %[[AX]], %[[BX]] : tensor<2xf32>
// CHECK: %[[ABX:.*]] = arith.extf %[[AB]] : tensor<2xf32> to tensor<2xf64>
// CHECK: %[[ABC:.*]] = arith.addf %[[ABX]], %[[C]] : tensor<2xf64>
// CHECK: %[[I:.*]] = scan.inject %[[S]] key %[[K]] value %[[ABC]] : tensor<2x2xf32>, tensor<2xbf16>, tensor<2xf64>
// CHECK-NEXT: return %[[I]]
func.func @merge_narrow(%S: tensor<2x2xf32>, %k: tensor<2xbf16>, %a: tensor<2xbf16>, %b: tensor<2xf16>, %c: tensor<2xf64>) -> tensor<2x2xf32> {
  %1 = scan.inject %S key %k value %a : tensor<2x2xf32>, tensor<2xbf16>, tensor<2xbf16>
  %2 = scan.inject %1 key %k value %b : tensor<2x2xf32>, tensor<2xbf16>, tensor<2xf16>
  %3 = scan.inject %2 key %k value %c : tensor<2x2xf32>, tensor<2xbf16>, tensor<2xf64>
  return %3 : tensor<2x2xf32>
}

// Another key, another scale, no scale, a state in between that is read, ranks.
// CHECK-LABEL: func.func @no_merge
// CHECK-COUNT-7: scan.inject
func.func @no_merge(%S: tensor<2x2xf32>, %k: tensor<2xf32>, %l: tensor<2xf32>, %b: f32, %c: f32, %r: tensor<3x2xf32>)
    -> (tensor<2x2xf32>, tensor<2xf32>) {
  %1 = scan.inject %S key %k value %k scale %b : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %2 = scan.inject %1 key %l value %k scale %b : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %3 = scan.inject %2 key %l value %k scale %c : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, f32
  %4 = scan.inject %3 key %l value %k : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
  %y = scan.read %4 query %k : tensor<2x2xf32>, tensor<2xf32> -> tensor<2xf32>
  %5 = scan.inject %4 key %l value %k : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
  %6 = scan.inject %5 key %r value %r : tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
  %7 = scan.inject %6 key %r value %r : tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
  return %7, %y : tensor<2x2xf32>, tensor<2xf32>
}

// Gates are not added up: their sum would round, and -inf + inf is no gate.
// CHECK-LABEL: func.func @two_decays
// CHECK-COUNT-2: scan.decay
func.func @two_decays(%S: tensor<2x2xf32>, %g: bf16, %h: f32) -> tensor<2x2xf32> {
  %1 = scan.decay %S by %g along scalar : tensor<2x2xf32>, bf16
  %2 = scan.decay %1 by %h along scalar : tensor<2x2xf32>, f32
  return %2 : tensor<2x2xf32>
}
