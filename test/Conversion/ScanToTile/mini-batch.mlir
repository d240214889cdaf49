// RUN: prism-opt %s --convert-scan-to-tile | FileCheck %s

// What is erased is read from the state that enters the chunk, so it is known: no system is solved. The injection and the
// erase are two writers, each read through scores.
// CHECK-LABEL: tile.program @forward
// CHECK: scf.for
// CHECK-NOT: tile.solve
// CHECK: scf.yield
func.func @forward(%k: tensor<?x?x4xf32> {scan.name = "k"}, %v: tensor<?x?x4xf32> {scan.name = "v"}, %eta: tensor<?x?xf32> {scan.name = "eta"})
    -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence mini_batch 8 ins(%k as "btk", %v as "btv", %eta as "bt"
      : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1> {
  ^bb0(%W: tensor<4x4xf32>, %E: tensor<4x4xf32>, %kt: tensor<4xf32>, %vt: tensor<4xf32>, %et: f32):
    %0 = scan.erase %W of %E read %kt write %kt strength %et : tensor<4x4xf32> of tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, f32
    %1 = scan.inject %0 key %kt value %vt scale %et : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, f32
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}
