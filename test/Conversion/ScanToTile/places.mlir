// What becomes of an op of a step stands where the op does: who has no code for it can say so.
//
// RUN: prism-opt %s --convert-scan-to-tile --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: tile.program @forward
// CHECK: math.tanh {{.*}} loc("{{.*}}places.mlir":[[# @LINE + 7]]:
// CHECK: tile.dot {{.*}} loc("{{.*}}places.mlir":[[# @LINE + 3]]:
func.func @forward(%k: tensor<?x?x4xf32> {scan.name = "k"}, %v: tensor<?x?x4xf32> {scan.name = "v"})
    -> (tensor<?x?x4xf32> {scan.name = "o"}, tensor<?x1x4x4xf32> {scan.name = "final_state"}) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk", %v as "btv" : tensor<?x?x4xf32>, tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>, %vt: tensor<4xf32>):
    %bent = math.tanh %vt : tensor<4xf32>
    %1 = scan.inject %S key %kt value %bent : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}
