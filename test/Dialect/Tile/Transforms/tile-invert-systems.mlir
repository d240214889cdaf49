// A system that does not depend on the state is inverted, so that what stays on
// the chain of states is a product.
//
// RUN: prism-opt %s --tile-invert-systems | FileCheck %s
// RUN: prism-opt %s --tile-invert-systems --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: tile.program @state_on_the_right
// CHECK: scf.for
// CHECK: %[[SYSTEM:.*]] = tile.load
// CHECK: %[[INVERSE:.*]] = tile.invert %[[SYSTEM]] : tensor<4x4xf32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
// CHECK: %[[X:.*]] = tile.dot %[[INVERSE]], %{{.*}}, %[[ZERO]]
// CHECK: scf.yield %[[X]]
tile.program @state_on_the_right(
    %a: !tile.view<?x4xf32> as <name = "a", axes = "btk", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<4x8xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %final: !tile.view<4x8xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %start = tile.load %initial[%c0, %c0] : <4x8xf32> -> tensor<4x8xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<4x8xf32>) {
    %system = tile.load %a[%t, %c0] : <?x4xf32> -> tensor<4x4xf32>
    %x = tile.solve %system, %state : tensor<4x4xf32>, tensor<4x8xf32>
    scf.yield %x : tensor<4x8xf32>
  }
  tile.store %end, %final[%c0, %c0] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// Several right-hand sides, none of them with the state: one inverse for all.
//
// CHECK-LABEL: tile.program @shared_system
// CHECK: tile.invert
// CHECK-NOT: tile.invert
// CHECK-COUNT-2: tile.dot
// CHECK-NOT: tile.solve
// CHECK: tile.return
tile.program @shared_system(
    %a: !tile.view<?x4xf32> as <name = "a", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  scf.for %t = %c0 to %length step %c4 {
    %system = tile.load %a[%t, %c0] : <?x4xf32> -> tensor<4x4xf32>
    %right = tile.load %v[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    %x = tile.solve %system, %right : tensor<4x4xf32>, tensor<4x8xf32>
    %twice = arith.addf %right, %x : tensor<4x8xf32>
    %y = tile.solve %system, %twice : tensor<4x4xf32>, tensor<4x8xf32>
    tile.store %y, %o[%t, %c0] : tensor<4x8xf32>, <?x8xf32>
  }
  tile.return
}

// One solve beside the chain: substitution is less work than an inverse.
//
// CHECK-LABEL: tile.program @lone_system
// CHECK: tile.solve
tile.program @lone_system(
    %a: !tile.view<?x4xf32> as <name = "a", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  scf.for %t = %c0 to %length step %c4 {
    %system = tile.load %a[%t, %c0] : <?x4xf32> -> tensor<4x4xf32>
    %right = tile.load %v[%t, %c0] : <?x8xf32> -> tensor<4x8xf32>
    // REMARK: [[@LINE+1]]:{{.*}} remark: {{.*}}the one solve of this system does not depend on the state: an inverse would only add work
    %x = tile.solve %system, %right : tensor<4x4xf32>, tensor<4x8xf32>
    tile.store %x, %o[%t, %c0] : tensor<4x8xf32>, <?x8xf32>
  }
  tile.return
}

// The state in the system itself: nothing is gained.
//
// CHECK-LABEL: tile.program @state_in_the_system
// CHECK: tile.solve
tile.program @state_in_the_system(
    %initial: !tile.view<4x4xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %final: !tile.view<4x4xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 4 block 4 chunk 4 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %length = tile.length : index
  %start = tile.load %initial[%c0, %c0] : <4x4xf32> -> tensor<4x4xf32>
  %end = scf.for %t = %c0 to %length step %c4 iter_args(%state = %start) -> (tensor<4x4xf32>) {
    // REMARK: [[@LINE+1]]:{{.*}} remark: {{.*}}the system depends on the state: it stays a solve on the chain
    %x = tile.solve %state, %state : tensor<4x4xf32>, tensor<4x4xf32>
    scf.yield %x : tensor<4x4xf32>
  }
  tile.store %end, %final[%c0, %c0] : tensor<4x4xf32>, <4x4xf32>
  tile.return
}
