// A loop that prepares nothing has no work for blocks of their own: it stays, and a remark says so.
//
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles{prepare-blocks=1}))' --remarks-filter=tile --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: prism-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-roles))' | FileCheck %s --check-prefix=WITHOUT

// CHECK: remark: {{.*}}nothing is prepared that blocks of their own could do
// CHECK-NOT: tile.role
// WITHOUT: tile.role "load"
// WITHOUT-NOT: tile.role "prepare"
// WITHOUT: tile.role "chain"
tile.program @sums_of_products(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x64xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<8x64xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %final: !tile.view<8x64xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 64 block 64 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %initial[%c0, %column] : <8x64xf32> -> tensor<8x64xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<8x64xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %vt = tile.load %v[%t, %column] : <?x64xf32> -> tensor<4x64xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<4x8xf32>, tensor<4x64xf32> -> tensor<8x64xf32>
    scf.yield %next : tensor<8x64xf32>
  }
  tile.store %end, %final[%c0, %column] : tensor<8x64xf32>, <8x64xf32>
  tile.return
}
