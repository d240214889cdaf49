// RUN: prism-opt %s -convert-tile-to-cpu="isa=x86-64-v4" | FileCheck %s --check-prefixes=CHECK,V4
// RUN: prism-opt %s -convert-tile-to-cpu="isa=x86-64-v3" | FileCheck %s --check-prefixes=CHECK,V3

// f64 entries run here: f64 products end to end, libm's functions.
// CHECK-LABEL: llvm.func @scale(
// V4: llvm.fmul %{{.*}}, %{{.*}} : vector<{{8|16}}xf64>
// V3: llvm.fmul %{{.*}}, %{{.*}} : vector<{{4|8}}xf64>
// CHECK-NOT: llvm.fptrunc
tile.program @scale(
    %a: !tile.view<4x32xf64> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<4x32xf64> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 32 block 32 chunk 1 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<4x32xf64> -> tensor<4x32xf64>
  %B = arith.mulf %A, %A : tensor<4x32xf64>
  tile.store %B, %r[%c0, %c0] : tensor<4x32xf64>, !tile.view<4x32xf64>
  tile.return
}
