// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size))' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{target=cuda}))' | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{schedule=recurrent}))' | FileCheck %s --check-prefix=RECURRENT
// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size))' --remarks-filter=scan --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{target=gpu}))' 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size{schedule=tree}))' 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// TARGET: error: scan-choose-chunk-size: target must be cpu or cuda, found 'gpu'
// SCHEDULE: error: scan-choose-chunk-size: schedule must be chunk or recurrent, found 'tree'

// CHECK-LABEL: func.func @free
// CPU: plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1>
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
// CPU: plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1>
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
