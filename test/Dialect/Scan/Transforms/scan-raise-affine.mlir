// RUN: prism-opt %s --scan-raise-affine | FileCheck %s
// RUN: prism-opt %s --scan-raise-affine=assume-nonnegative-gates | FileCheck %s --check-prefix=ASSUME
// RUN: prism-opt %s --scan-raise-affine --remarks-filter=scan --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>

// The example of the pass's description: what was written in plain ops is a chain.
// CHECK-LABEL: func.func @example(
// CHECK: ^bb0(%[[S:[^:]*]]: tensor<4x2xf32>, %[[K:[^:]*]]: tensor<4xf32>, %[[V:[^:]*]]: tensor<2xf32>, %[[G:[^:]*]]: f32):
// CHECK-NEXT: %[[KEPT:.*]] = scan.decay %[[S]] by %[[G]] along scalar
// CHECK-NEXT: %[[NEXT:.*]] = scan.inject %[[KEPT]] key %[[K]] value %[[V]]
// CHECK-NEXT: %[[Y:.*]] = scan.read %[[NEXT]] query %[[K]]
// CHECK-NEXT: scan.yield %[[NEXT]], %[[Y]]
func.func @example(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv", %g as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>, %gt: f32):
    %zeros = arith.constant dense<0.0> : tensor<2xf32>
    %a = math.exp %gt : f32
    %as = tensor.splat %a : tensor<4x2xf32>
    %kept = arith.mulf %S, %as : tensor<4x2xf32>
    %written = linalg.generic {indexing_maps = [#rows, #columns, #all], iterator_types = ["parallel", "parallel"]}
        ins(%kt, %vt : tensor<4xf32>, tensor<2xf32>) outs(%kept : tensor<4x2xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %xy = arith.mulf %x, %y : f32
        %sum = arith.addf %xy, %z : f32
        linalg.yield %sum : f32
      } -> tensor<4x2xf32>
    %out = linalg.vecmat ins(%kt, %written : tensor<4xf32>, tensor<4x2xf32>) outs(%zeros : tensor<2xf32>) -> tensor<2xf32>
    scan.yield %written, %out : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// The factor g may be negative, and has no logarithm then.
// CHECK-LABEL: func.func @linear_gate(
// CHECK: arith.mulf
// CHECK-NOT: scan.decay
// ASSUME-LABEL: func.func @linear_gate(
// ASSUME: %[[LOG:.*]] = math.log %{{.*}} : f32
// ASSUME-NEXT: scan.decay %{{.*}} by %[[LOG]] along scalar
// REMARK: [[@LINE+8]]:{{.*}} remark: {{.*}}the chain of state 0 stops at 'arith.mulf': a decay by a factor that may be negative
func.func @linear_gate(%k: tensor<?x?x4xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %g as "bt" : tensor<?x?x4xf32>, tensor<?x?xf32>)
      outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %gt: f32):
    %gates = tensor.splat %gt : tensor<4x2xf32>

    %kept = arith.mulf %S, %gates : tensor<4x2xf32>
    %y = scan.read %kept query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %kept, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// A sigmoid is never negative: its logarithm is the gate.
// CHECK-LABEL: func.func @sigmoid_gate(
// CHECK: %[[LOG:.*]] = math.log %{{.*}} : f32
// CHECK-NEXT: scan.decay %{{.*}} by %[[LOG]] along scalar
func.func @sigmoid_gate(%k: tensor<?x?x4xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %g as "bt" : tensor<?x?x4xf32>, tensor<?x?xf32>)
      outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %gt: f32):
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %gt : f32
    %exp = math.exp %minus : f32
    %sum = arith.addf %one, %exp : f32
    %sigmoid = arith.divf %one, %sum : f32
    %gates = tensor.splat %sigmoid : tensor<4x2xf32>
    %kept = arith.mulf %S, %gates : tensor<4x2xf32>
    %y = scan.read %kept query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %kept, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// Rows of the state change places, which no factor says; what is written afterwards is raised all the same.
// CHECK-LABEL: func.func @half(
// CHECK: %[[TURNED:.*]] = tensor.concat
// CHECK: scan.inject %[[TURNED]] key
// REMARK: remark: {{.*}}the chain of state 0 stops at 'tensor.concat': the state is read in another way than by a sum over its keys
func.func @half(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>) -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv" : tensor<?x?x4xf32>, tensor<?x?x2xf32>)
      outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>):
    %upper = tensor.extract_slice %S[0, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<1x2xf32>
    %lower = tensor.extract_slice %S[1, 0] [3, 2] [1, 1] : tensor<4x2xf32> to tensor<3x2xf32>
    %turned = tensor.concat dim(0) %lower, %upper : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
    %empty = tensor.empty() : tensor<4x2xf32>
    %written = linalg.generic {indexing_maps = [#rows, #columns, #all], iterator_types = ["parallel", "parallel"]}
        ins(%kt, %vt : tensor<4xf32>, tensor<2xf32>) outs(%empty : tensor<4x2xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %xy = arith.mulf %x, %y : f32
        linalg.yield %xy : f32
      } -> tensor<4x2xf32>
    %next = arith.addf %turned, %written : tensor<4x2xf32>
    %y = scan.read %next query %kt : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    scan.yield %next, %y : tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>
}

// Written values first: a chain between two transposes, which more of it is recognised by.
// CHECK-LABEL: func.func @values_first(
// CHECK: ^bb0(%[[S:[^:]*]]: tensor<2x4xf32>, %[[K:[^:]*]]: tensor<4xf32>, %[[V:[^:]*]]: tensor<2xf32>):
// CHECK: %[[TURNED:.*]] = linalg.transpose ins(%[[S]] : tensor<2x4xf32>)
// CHECK: %[[NEXT:.*]] = scan.inject %[[TURNED]] key %[[K]] value %[[V]]
// CHECK: %[[BACK:.*]] = linalg.transpose ins(%[[NEXT]] : tensor<4x2xf32>)
// CHECK: %[[Y:.*]] = scan.read %[[NEXT]] query %[[K]]
// CHECK: scan.yield %[[BACK]], %[[Y]]
func.func @values_first(%k: tensor<?x?x4xf32>, %v: tensor<?x?x2xf32>) -> (tensor<?x?x2xf32>, tensor<?x1x2x4xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv" : tensor<?x?x4xf32>, tensor<?x?x2xf32>)
      outs("btv") finals("nhvk") {
  ^bb0(%S: tensor<2x4xf32>, %kt: tensor<4xf32>, %vt: tensor<2xf32>):
    %zeros = arith.constant dense<0.0> : tensor<2xf32>
    %next = linalg.generic {indexing_maps = [#rows, #columns, #all, #all], iterator_types = ["parallel", "parallel"]}
        ins(%vt, %kt, %S : tensor<2xf32>, tensor<4xf32>, tensor<2x4xf32>) outs(%S : tensor<2x4xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
        %xy = arith.mulf %x, %y : f32
        %sum = arith.addf %xy, %z : f32
        linalg.yield %sum : f32
      } -> tensor<2x4xf32>
    %y = linalg.matvec ins(%next, %kt : tensor<2x4xf32>, tensor<4xf32>) outs(%zeros : tensor<2xf32>) -> tensor<2xf32>
    scan.yield %next, %y : tensor<2x4xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x2x4xf32>)
  return %o, %s : tensor<?x?x2xf32>, tensor<?x1x2x4xf32>
}

// A state at the mini-batch's entry is read by an erase, another state is added.
// CHECK-LABEL: func.func @entry(
// CHECK: ^bb0(%[[S:[^:]*]]: tensor<4x2xf32>, %[[R:[^:]*]]: tensor<4x2xf32>, %[[SE:[^:]*]]: tensor<4x2xf32>, %[[RE:[^:]*]]: tensor<4x2xf32>, %[[K:[^:]*]]: tensor<4xf32>, %[[B:[^:]*]]: f32):
// CHECK: %[[LESS:.*]] = scan.erase %[[S]] of %[[RE]] read %[[K]] write %[[K]] strength %[[B]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[LESS]], %[[R]]
// CHECK: scan.yield %[[NEXT]], %[[R]]
func.func @entry(%k: tensor<?x?x4xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?x2xf32>, tensor<?x1x4x2xf32>, tensor<?x1x4x2xf32>) {
  %o, %s, %r = scan.recurrence mini_batch 4 ins(%k as "btk", %b as "bt" : tensor<?x?x4xf32>, tensor<?x?xf32>)
      outs("btv") finals("nhkv", "nhkv") {
  ^bb0(%S: tensor<4x2xf32>, %R: tensor<4x2xf32>, %SE: tensor<4x2xf32>, %RE: tensor<4x2xf32>, %kt: tensor<4xf32>, %bt: f32):
    %zeros = arith.constant dense<0.0> : tensor<2xf32>
    %empty = tensor.empty() : tensor<4x2xf32>
    %seen = linalg.vecmat ins(%kt, %RE : tensor<4xf32>, tensor<4x2xf32>) outs(%zeros : tensor<2xf32>) -> tensor<2xf32>
    %gone = linalg.generic {indexing_maps = [#rows, #columns, #all], iterator_types = ["parallel", "parallel"]}
        ins(%kt, %seen : tensor<4xf32>, tensor<2xf32>) outs(%empty : tensor<4x2xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %xy = arith.mulf %x, %y : f32
        %scaled = arith.mulf %xy, %bt : f32
        linalg.yield %scaled : f32
      } -> tensor<4x2xf32>
    %less = arith.subf %S, %gone : tensor<4x2xf32>
    %next = arith.addf %less, %R : tensor<4x2xf32>
    %y = linalg.vecmat ins(%kt, %next : tensor<4xf32>, tensor<4x2xf32>) outs(%zeros : tensor<2xf32>) -> tensor<2xf32>
    scan.yield %next, %R, %y : tensor<4x2xf32>, tensor<4x2xf32>, tensor<2xf32>
  } -> (tensor<?x?x2xf32>), (tensor<?x1x4x2xf32>, tensor<?x1x4x2xf32>)
  return %o, %s, %r : tensor<?x?x2xf32>, tensor<?x1x4x2xf32>, tensor<?x1x4x2xf32>
}
