// RUN: prism-opt %s --prism-scan-to-tile | FileCheck %s
// RUN: prism-opt %s --pass-pipeline='builtin.module(func.func(scan-choose-chunk-size),convert-scan-to-tile,canonicalize,cse)' | FileCheck %s

// A decay, an erase and an injection tied to it: one C x C system, no second dot
// for the injection, the strength shared.
// CHECK-LABEL: tile.program @tied
// CHECK: chunk 16
// CHECK-DAG: %[[FLOOR:.*]] = arith.constant dense<-1.024000e+03> : tensor<16xf64>
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = {{.*}}) -> (tensor<8x4xf32>)
// CHECK: %[[FLOORED:.*]] = arith.maximumf {{.*}}, %[[FLOOR]]
// CHECK: %[[G:.*]] = tile.gate_sum %[[FLOORED]]
// CHECK: %[[SEEN:.*]] = tile.dot %[[K:.*]], %[[S]],
// CHECK: %[[DECAYED:.*]] = tile.scale_rows %[[SEEN]]
// CHECK: %[[RESIDUAL:.*]] = arith.subf {{.*}}, %[[DECAYED]]
// CHECK: %[[R:.*]] = tile.scale_rows %[[RESIDUAL]]
// CHECK: %[[KK:.*]] = tile.dot %[[K]], %[[K]] transposed
// CHECK: %[[D:.*]] = tile.decay_matrix %[[G]] at [1], %[[G]] at [0]
// CHECK: %[[A:.*]] = arith.mulf %[[KK]], %[[D]]
// CHECK: %[[X:.*]] = tile.solve {{.*}}, %[[R]]
// The read shares the decay matrix: a solve does not read its diagonal.
// CHECK: tile.dot %[[A]], %[[X]],
// CHECK: tile.dot {{.*}} transposed, %[[X]],
// CHECK-NOT: tile.dot
func.func @tied(%q: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>, %g: tensor<?x?xf32>, %b: tensor<?x?xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x1x8x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%q as "btk", %v as "btv", %g as "bt", %b as "bt"
      : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<8x4xf32>, %kt: tensor<8xf32>, %vt: tensor<4xf32>, %gt: f32, %bt: f32):
    %1 = scan.decay %S by %gt along scalar : tensor<8x4xf32>, f32
    %2 = scan.erase %1 read %kt write %kt strength %bt : tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, f32
    %3 = scan.inject %2 key %kt value %vt scale %bt : tensor<8x4xf32>, tensor<8xf32>, tensor<4xf32>, f32
    %y = scan.read %3 query %kt : tensor<8x4xf32>, tensor<8xf32> -> tensor<4xf32>
    scan.yield %3, %y : tensor<8x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x8x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x8x4xf32>
}

// Two chained erases: their keys interleaved, one system of twice the rows, in
// the order of the chain.
// CHECK-LABEL: tile.program reverse @chained
// CHECK: %[[KEYS:.*]] = tile.interleave {{.*}} -> tensor<32x8xf32>
// CHECK: tile.decay_matrix {{.*}} at [0, 1], {{.*}} at [0, 1] : tensor<32xf64>, tensor<32xf64> -> tensor<32x32xf32>
// CHECK: tile.solve {{.*}} : tensor<32x32xf32>, tensor<32x4xf32>
// A read before the update sees no writer of its own token.
// CHECK: tile.decay_matrix {{.*}} at [0], {{.*}} at [0, 1] : tensor<16xf64>, tensor<32xf64> -> tensor<16x32xf32>
func.func @chained(%k: tensor<?x?x8xf32>, %a: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>, %b: tensor<?x?xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x1x8x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence reverse ins(%k as "btk", %a as "btk", %v as "btv", %b as "bt"
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<8x4xf32>, %kt: tensor<8xf32>, %at: tensor<8xf32>, %vt: tensor<4xf32>, %bt: f32):
    %y = scan.read %S query %kt : tensor<8x4xf32>, tensor<8xf32> -> tensor<4xf32>
    %1 = scan.erase %S read %kt write %kt strength %bt : tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, f32
    %2 = scan.erase %1 read %at write %at strength %bt : tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, f32
    %3 = scan.inject %2 key %kt value %vt : tensor<8x4xf32>, tensor<8xf32>, tensor<4xf32>
    scan.yield %3, %y : tensor<8x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x8x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x8x4xf32>
}

// A gate computed from its input is masked past the end, a loaded one is zero there.
// CHECK-LABEL: tile.program @computed
// CHECK: math.exp
// CHECK: tile.mask_rows
func.func @computed(%k: tensor<?x?x8xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x1x8x8xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk", %g as "bt" : tensor<?x?x8xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<8x8xf32>, %kt: tensor<8xf32>, %gt: f32):
    %e = math.exp %gt : f32
    %n = arith.negf %e : f32
    %1 = scan.decay %S by %n along scalar : tensor<8x8xf32>, f32
    %3 = scan.inject %1 key %kt value %kt : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    %y = scan.read %3 query %kt : tensor<8x8xf32>, tensor<8xf32> -> tensor<8xf32>
    scan.yield %3, %y : tensor<8x8xf32>, tensor<8xf32>
  } -> (tensor<?x?x8xf32>), (tensor<?x1x8x8xf32>)
  return %o, %s : tensor<?x?x8xf32>, tensor<?x1x8x8xf32>
}

// A decay per key stands inside the products of keys; what reaches to the chunk's
// ends is a product of decays, and no gate is summed, floored or subtracted.
// CHECK-LABEL: tile.program @per_key
// CHECK-NOT: gate_sum
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = {{.*}}) -> (tensor<8x4xf32>)
// CHECK: %[[D:.*]] = math.exp %{{.*}} : tensor<16x8xf32>
// CHECK: %[[IN:.*]] = tile.decay_product %[[D]] : tensor<16x8xf32>
// CHECK: %[[KIN:.*]] = arith.mulf %[[K:.*]], %[[IN]]
// CHECK: %[[SEEN:.*]] = tile.dot %[[KIN]], %[[S]],
// CHECK: %[[KK:.*]] = tile.decayed_dot %[[K]] at [2], %[[K]] at [1] by %[[D]] at [0] : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x16xf32>
// CHECK: %[[A:.*]] = tile.scale_rows %[[KK]]
// CHECK: %[[X:.*]] = tile.solve %[[A]],
// CHECK: %[[QIN:.*]] = arith.mulf %[[Q:.*]], %[[IN]]
// CHECK: %[[O:.*]] = tile.dot %[[QIN]], %[[S]],
// CHECK: %[[QK:.*]] = tile.decayed_dot %[[Q]] at [2], %[[K]] at [1] by %[[D]] at [0]
// CHECK: tile.dot %[[QK]], %[[X]], %[[O]]
// CHECK: %[[ALL:.*]] = tile.last_row %[[IN]] : tensor<16x8xf32> -> tensor<8xf32>
// CHECK: %[[LEFT:.*]] = tile.scale_rows %[[S]] by %[[ALL]]
// CHECK: %[[OUT:.*]] = tile.decay_product reverse exclusive %[[D]]
// CHECK: %[[KOUT:.*]] = arith.mulf %[[K]], %[[OUT]]
// CHECK: tile.dot %[[KOUT]] transposed, %[[X]], %[[LEFT]]
func.func @per_key(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>, %g: tensor<?x?x8xf32>, %b: tensor<?x?xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x1x8x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%q as "btk", %k as "btk", %v as "btv", %g as "btk", %b as "bt"
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<8x4xf32>, %qt: tensor<8xf32>, %kt: tensor<8xf32>, %vt: tensor<4xf32>, %gt: tensor<8xf32>, %bt: f32):
    %1 = scan.decay %S by %gt along key : tensor<8x4xf32>, tensor<8xf32>
    %2 = scan.erase %1 read %kt write %kt strength %bt : tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, f32
    %3 = scan.inject %2 key %kt value %vt scale %bt : tensor<8x4xf32>, tensor<8xf32>, tensor<4xf32>, f32
    %y = scan.read %3 query %qt : tensor<8x4xf32>, tensor<8xf32> -> tensor<4xf32>
    scan.yield %3, %y : tensor<8x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x8x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x8x4xf32>
}

// An erase that reads the state before the decay: its row stands before the
// decay's place, what it wrote behind. A gate of the whole state beside one per
// key repeats along the keys.
// CHECK-LABEL: tile.program @before_the_decay
// CHECK: %[[W:.*]] = math.exp %{{.*}} : tensor<16x8xf32>
// CHECK: %[[S1:.*]] = tile.broadcast %{{.*}} : tensor<16xf32> -> tensor<16x8xf32>
// CHECK: %[[BOTH:.*]] = arith.mulf %[[W]], %[[S1]]
// CHECK: tile.decay_product exclusive %[[BOTH]]
// CHECK: tile.decayed_dot %{{.*}} at [0], %{{.*}} at [2] by %[[W]], %[[S1]] at [0, 1]
func.func @before_the_decay(%a: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>, %g: tensor<?x?x8xf32>, %b: tensor<?x?xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x1x8x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%a as "btk", %v as "btv", %g as "btk", %b as "bt"
      : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<8x4xf32>, %at: tensor<8xf32>, %vt: tensor<4xf32>, %gt: tensor<8xf32>, %bt: f32):
    %1 = scan.decay %S by %gt along key : tensor<8x4xf32>, tensor<8xf32>
    %2 = scan.decay %1 by %bt along scalar : tensor<8x4xf32>, f32
    %3 = scan.erase %2 of %S read %at write %at strength %bt : tensor<8x4xf32> of tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, f32
    %y = scan.read %3 query %at : tensor<8x4xf32>, tensor<8xf32> -> tensor<4xf32>
    scan.yield %3, %y : tensor<8x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x8x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x8x4xf32>
}
