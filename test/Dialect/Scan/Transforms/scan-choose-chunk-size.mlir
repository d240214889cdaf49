// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size))' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{target=cuda}))' | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{schedule=recurrent}))' | FileCheck %s --check-prefix=RECURRENT
// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size))' --remarks-filter=scan --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{target=gpu}))' 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{schedule=tree}))' 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// TARGET: error: scan-choose-chunk-size: target must be cpu or cuda, found 'gpu'
// RUN: not prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{levels=x86-64-v4,x86-64-v9}))' 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: scan-choose-chunk-size: expected the levels x86-64-v3 or x86-64-v4, found 'x86-64-v9'
// SCHEDULE: error: scan-choose-chunk-size: schedule must be chunk or recurrent, found 'tree'

// On CPUs by the predicted times, which are the same wherever this runs.
// CHECK-LABEL: func.func @free
// CPU: plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1>
// REMARK: remark: {{.*}}predicted ns a step and value head on x86-64-v3, 4096 steps: chunk 4 {{[0-9.]+}}, chunk 8 {{[0-9.]+}} (this plan), chunk 16 {{.*}}, recurrent {{[0-9.]+}}
// REMARK: remark: {{.*}}predicted ns a step and value head on x86-64-v4, 4096 steps:
// CUDA: plan #scan.plan<schedule = chunk, chunk = 32, value_block = 4, stages = 1>
// RECURRENT-LABEL: func.func @free
// RECURRENT: plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1>
func.func @free(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// A plan given by hand stays.
// CHECK-LABEL: func.func @given
// CHECK: plan #scan.plan<schedule = chunk, chunk = 5, value_block = 2, stages = 1>
func.func @given(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 5, value_block = 2, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// Of a plan that leaves the chunk open all else stays, its schedule too.
// CHECK-LABEL: func.func @open
// CPU: plan #scan.plan<schedule = chunk, chunk = 8, value_block = 2, stages = 3, segments = 4>
// CUDA: plan #scan.plan<schedule = chunk, chunk = 32, value_block = 2, stages = 3, segments = 4>
// RECURRENT-LABEL: func.func @open
// RECURRENT: plan #scan.plan<schedule = chunk, chunk = 8, value_block = 2, stages = 3, segments = 4>
func.func @open(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 0, value_block = 2, stages = 3, segments = 4> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// No chunk form: the recurrent schedule, and a remark at the factor.
// CHECK-LABEL: func.func @per_element
// CHECK: plan #scan.plan<schedule = recurrent, chunk = 1
// REMARK: [[@LINE+5]]:{{.*}} remark: {{.*}}a decay along element has no chunk form: within a chunk every value column would need products of its own; the recurrent schedule takes it
func.func @per_element(%k: tensor<?x?x4xf32>, %g: tensor<?x?x4x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk", %g as "btkv" : tensor<?x?x4xf32>, tensor<?x?x4x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>, %kk: tensor<4x4xf32>):

    %0 = scan.decay %S by %kk along element : tensor<4x4xf32>, tensor<4x4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// A decay per key has a chunk form.
// CHECK-LABEL: func.func @per_key
// CPU: plan #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 1>
// CUDA: plan #scan.plan<schedule = chunk, chunk = 32, value_block = 4, stages = 1>
func.func @per_key(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = scan.decay %S by %kt along key : tensor<4x4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// A mini-batch is the chunk, whatever the times would be.
// CHECK-LABEL: func.func @mini_batches
// CHECK: plan #scan.plan<schedule = chunk, chunk = 6,
// REMARK: remark: {{.*}}mini-batches of 6 steps are the chunks; their size belongs to the model and is not chosen
// RECURRENT-LABEL: func.func @mini_batches
// RECURRENT: plan #scan.plan<schedule = chunk, chunk = 6,
func.func @mini_batches(%k: tensor<?x?x4xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence mini_batch 6 ins(%k as "btk", %b as "bt" : tensor<?x?x4xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %E: tensor<4x4xf32>, %kt: tensor<4xf32>, %bt: f32):
    %0 = scan.erase %S of %E read %kt write %kt strength %bt : tensor<4x4xf32> of tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, f32
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// What is serial has steps only.
// CHECK-LABEL: func.func @serial
// CHECK: plan #scan.plan<schedule = recurrent, chunk = 1
// REMARK: remark: {{.*}}serial: no larger chunk than a step is the same model
func.func @serial(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = math.tanh %S : tensor<4x4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}
