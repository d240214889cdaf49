// RUN: prism-opt %s -convert-tile-to-cpu="isa=x86-64-v4" | FileCheck %s --check-prefixes=CHECK,V4
// RUN: prism-opt %s -convert-tile-to-cpu="isa=x86-64-v3" | FileCheck %s --check-prefixes=CHECK,V3
// RUN: not prism-opt %s -convert-tile-to-cpu="isa=x86-64-v5" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not prism-opt %s -convert-tile-to-cpu="vector-bits=128" 2>&1 | FileCheck %s --check-prefix=WIDTH

// UNKNOWN: unknown instruction set 'x86-64-v5', expected x86-64-v3 or x86-64-v4
// WIDTH: vector-bits must be 256 or 512, found 128

// CHECK-LABEL: llvm.func @scale(
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64) -> i32
// CHECK-SAME: prism.workspace
// V4: llvm.fmul %{{.*}}, %{{.*}} : vector<16xf32>
// V3: llvm.fmul %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NOT: llvm.call
// CHECK-NOT: llvm.alloca
tile.program @scale(
    %a: !tile.view<4x20xf32> as <name = "a", axes = "kv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<4x20xbf16> as <name = "r", axes = "kv", heads = 0, role = "output", optional = false>)
    heads 1 values 20 block 20 chunk 1 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<4x20xf32> -> tensor<4x20xf32>
  %e = math.exp %A : tensor<4x20xf32>
  %B = arith.mulf %A, %e : tensor<4x20xf32>
  tile.store %B, %r[%c0, %c0] : tensor<4x20xf32>, !tile.view<4x20xbf16>
  tile.return
}
