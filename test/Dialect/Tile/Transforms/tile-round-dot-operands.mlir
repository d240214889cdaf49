// Operands of dots in 16 bits, sums in f32.
//
// RUN: prism-opt %s --tile-round-dot-operands | FileCheck %s
// RUN: prism-opt %s --tile-round-dot-operands=type=f16 | FileCheck %s --check-prefix=F16
// RUN: prism-opt %s --tile-round-dot-operands --remarks-filter=tile --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: prism-opt %S/../roles.mlir --tile-round-dot-operands --remarks-filter=tile --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ROLES
// RUN: not prism-opt %s --tile-round-dot-operands=type=f32 2>&1 | FileCheck %s --check-prefix=WRONG

// ROLES: roles.mlir:{{.*}} remark: {{.*}}the program has been split into roles: operands are rounded before
// ROLES-LABEL: tile.program @gated_deltanet
// WRONG: error: tile-round-dot-operands: type must be bf16 or f16, found 'f32'

// CHECK-LABEL: tile.program @loads_and_state
// F16-LABEL: tile.program @loads_and_state
tile.program @loads_and_state(
    %k: !tile.view<?x4xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x8xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %initial: !tile.view<4x8xf32> as <name = "initial_state", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %final: !tile.view<4x8xf32> as <name = "final_state", axes = "nkv", heads = 0, role = "final_state", optional = true>)
    heads 1 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<2x8xf32>
  %none2 = arith.constant dense<0.0> : tensor<4x8xf32>
  %length = tile.length : index
  %start = tile.load %initial[%c0, %c0] : <4x8xf32> -> tensor<4x8xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[STATE:.*]] = %{{.*}}) -> (tensor<4x8xf32>)
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %start) -> (tensor<4x8xf32>) {
    // Keys are an operand as they lie; values are also needed in f32.
    // CHECK: %[[K:.*]] = tile.load {{.*}} -> tensor<2x4xbf16>
    // CHECK-NOT: arith.extf %[[K]]
    // CHECK: %[[V:.*]] = tile.load {{.*}} -> tensor<2x8xbf16>
    // CHECK: %[[VALUES:.*]] = arith.extf %[[V]] : tensor<2x8xbf16> to tensor<2x8xf32>
    %kt = tile.load %k[%t, %c0] : <?x4xbf16> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %c0] : <?x8xbf16> -> tensor<2x8xf32>
    // CHECK: %[[ROUNDED:.*]] = arith.truncf %[[STATE]] : tensor<4x8xf32> to tensor<4x8xbf16>
    // CHECK: %[[READ:.*]] = tile.dot %[[K]], %[[ROUNDED]], %{{.*}} : tensor<2x4xbf16>, tensor<4x8xbf16> -> tensor<2x8xf32>
    %read = tile.dot %kt, %state, %none : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    // CHECK: %[[X:.*]] = arith.subf %[[VALUES]], %[[READ]] : tensor<2x8xf32>
    %x = arith.subf %vt, %read : tensor<2x8xf32>
    // Interleaved they stay what they are.
    // CHECK: %[[KEYS:.*]] = tile.interleave %[[K]], %[[K]] : tensor<2x4xbf16>, tensor<2x4xbf16> -> tensor<4x4xbf16>
    // CHECK: %[[XS:.*]] = tile.interleave %[[X]], %[[VALUES]] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    %keys = tile.interleave %kt, %kt : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<4x4xf32>
    %xs = tile.interleave %x, %vt : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    // The accumulator is not rounded.
    // CHECK: %[[LOW:.*]] = arith.truncf %[[XS]] : tensor<4x8xf32> to tensor<4x8xbf16>
    // CHECK: tile.dot %[[KEYS]] transposed, %[[LOW]], %[[STATE]] : tensor<4x4xbf16>, tensor<4x8xbf16> -> tensor<4x8xf32>
    %next = tile.dot %keys transposed, %xs, %state : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    // Loaded in another type, but one side only: it passes registers anyway.
    // F16: tile.load {{.*}} -> tensor<2x4xf32>
    // F16: arith.truncf %{{.*}} : tensor<2x4xf32> to tensor<2x4xf16>
    // F16: tile.dot {{.*}} : tensor<2x4xf16>, tensor<4x8xf16> -> tensor<2x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %final[%c0, %c0] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// Two loads in f32 have no register on their way to be rounded in.
//
// CHECK-LABEL: tile.program @loaded_in_f32
// CHECK-NOT: bf16
// CHECK: tile.dot {{.*}} : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x2xf32>
tile.program @loaded_in_f32(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x2xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 2 block 2 chunk 2 {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<2x2xf32>
  %kt = tile.load %k[%c0, %c0] : <?x4xf32> -> tensor<2x4xf32>
  // REMARK: [[@LINE+1]]:{{.*}} remark: {{.*}}both operands are loaded in another type: the product stays in f32
  %kk = tile.dot %kt, %kt transposed, %none : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x2xf32>
  tile.store %kk, %o[%c0, %c0] : tensor<2x2xf32>, <?x2xf32>
  tile.return
}

// CHECK-LABEL: tile.program @sums_in_f64
// CHECK: tile.dot {{.*}} : tensor<2x4xf64>, tensor<2x4xf64> -> tensor<2x2xf64>
tile.program @sums_in_f64(
    %k: !tile.view<?x4xf64> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x2xf64> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 2 block 2 chunk 2 {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<2x2xf64>
  %kt = tile.load %k[%c0, %c0] : <?x4xf64> -> tensor<2x4xf64>
  // REMARK: [[@LINE+1]]:{{.*}} remark: {{.*}}sums in f64: operands are not rounded
  %kk = tile.dot %kt, %kt transposed, %none : tensor<2x4xf64>, tensor<2x4xf64> -> tensor<2x2xf64>
  tile.store %kk, %o[%c0, %c0] : tensor<2x2xf64>, <?x2xf64>
  tile.return
}

// What a function makes of values is read by all as it was rounded for a product;
// a function of keys, or of the state, is not.
//
// CHECK-LABEL: tile.program @functions
// CHECK: %[[W:.*]] = math.tanh %{{.*}} : tensor<2x8xf32>
// CHECK-NEXT: %[[W16:.*]] = arith.truncf %[[W]] : tensor<2x8xf32> to tensor<2x8xbf16>
// CHECK-NEXT: %[[READ:.*]] = arith.extf %[[W16]] : tensor<2x8xbf16> to tensor<2x8xf32>
// CHECK: tile.dot %{{.*}}, %[[W16]], %{{.*}} : tensor<2x2xbf16>, tensor<2x8xbf16> -> tensor<2x8xf32>
// CHECK: arith.mulf %[[READ]], %[[READ]] : tensor<2x8xf32>
tile.program @functions(
    %k: !tile.view<?x2xbf16> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x8xbf16> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %column = tile.value_offset : index
  %none = arith.constant dense<0.0> : tensor<2x8xf32>
  %kt = tile.load %k[%c0, %c0] : <?x2xbf16> -> tensor<2x2xf32>
  %vt = tile.load %v[%c0, %column] : <?x8xbf16> -> tensor<2x8xf32>
  %w = math.tanh %vt : tensor<2x8xf32>
  %x = tile.dot %kt, %w, %none : tensor<2x2xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  %square = arith.mulf %w, %w : tensor<2x8xf32>
  %sum = arith.addf %x, %square : tensor<2x8xf32>
  tile.store %sum, %o[%c0, %column] : tensor<2x8xf32>, <?x8xf32>
  tile.return
}
