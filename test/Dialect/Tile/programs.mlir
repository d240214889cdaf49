// RUN: prism-opt %s | prism-opt | FileCheck %s
// RUN: prism-opt %s --verify-roundtrip -o %t

// Printed, and read back from text, from bytecode or from the generic form, a program is the same to the byte.
// RUN: prism-opt %s -o %t.mlir
// RUN: prism-opt %t.mlir | diff %t.mlir -
// RUN: prism-opt %s --emit-bytecode -o %t.mlirbc
// RUN: prism-opt %t.mlirbc | diff %t.mlir -
// RUN: prism-opt %s --mlir-print-op-generic | prism-opt | diff %t.mlir -

// Gated DeltaNet, chunk form, by hand.
// CHECK-LABEL: tile.program @gated_deltanet
tile.program @gated_deltanet(
    %q: !tile.view<?x64xf32> as <name = "q", axes = "bthk", heads = 4, role = "input", optional = false>,
    %k: !tile.view<?x64xf32> as <name = "k", axes = "bthk", heads = 4, role = "input", optional = false>,
    %v: !tile.view<?x60xf32> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 4, role = "input", optional = false>,
    %b: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 4, role = "input", optional = false>,
    %s0: !tile.view<64x60xf32> as <name = "initial_state", axes = "nhkv", heads = 4, role = "initial_state", optional = true>,
    %off: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %o: !tile.view<?x60xf32> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>,
    %sT: !tile.view<64x60xf32> as <name = "final_state", axes = "nhkv", heads = 4, role = "final_state", optional = true>)
    heads 4 values 60 block 60 chunk 16 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x60xf32>
  %zero16 = arith.constant dense<0.0> : tensor<16x16xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<64x60xf32> -> tensor<64x60xf32>
  %SN = scf.for %t = %c0 to %T step %c16 iter_args(%S = %S0) -> (tensor<64x60xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x64xf32> -> tensor<16x64xf32>
    %kc = tile.load %k[%t, %c0] : !tile.view<?x64xf32> -> tensor<16x64xf32>
    %vc = tile.load %v[%t, %vb] : !tile.view<?x60xf32> -> tensor<16x60xf32>
    %gc = tile.load %g[%t] : !tile.view<?xf32> -> tensor<16xf32>
    %bc = tile.load %b[%t] : !tile.view<?xf32> -> tensor<16xf32>
    %gw = arith.extf %gc : tensor<16xf32> to tensor<16xf64>
    %G = tile.gate_sum %gw : tensor<16xf64>
    %Gl = arith.truncf %G : tensor<16xf64> to tensor<16xf32>
    %gamma = math.exp %Gl : tensor<16xf32>
    %last = tile.splat_last %G : tensor<16xf64> -> tensor<16xf64>
    %rest = arith.subf %last, %G : tensor<16xf64>
    %restl = arith.truncf %rest : tensor<16xf64> to tensor<16xf32>
    %lambda = math.exp %restl : tensor<16xf32>
    %KK = tile.dot %kc, %kc transposed, %zero16 : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x16xf32>
    %D = tile.decay_matrix %G at [2], %G at [2] : tensor<16xf64>, tensor<16xf64> -> tensor<16x16xf32>
    %KKD = arith.mulf %KK, %D : tensor<16x16xf32>
    %A = tile.scale_rows %KKD by %bc : tensor<16x16xf32>, tensor<16xf32>
    %KS = tile.dot %kc, %S, %zero : tensor<16x64xf32>, tensor<64x60xf32> -> tensor<16x60xf32>
    %KSg = tile.scale_rows %KS by %gamma : tensor<16x60xf32>, tensor<16xf32>
    %res = arith.subf %vc, %KSg : tensor<16x60xf32>
    %R = tile.scale_rows %res by %bc : tensor<16x60xf32>, tensor<16xf32>
    %X = tile.solve %A, %R : tensor<16x16xf32>, tensor<16x60xf32>
    %QS = tile.dot %qc, %S, %zero : tensor<16x64xf32>, tensor<64x60xf32> -> tensor<16x60xf32>
    %QSg = tile.scale_rows %QS by %gamma : tensor<16x60xf32>, tensor<16xf32>
    %QK = tile.dot %qc, %kc transposed, %zero16 : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x16xf32>
    %E = tile.decay_matrix %G at [3], %G at [2] : tensor<16xf64>, tensor<16xf64> -> tensor<16x16xf32>
    %P = arith.mulf %QK, %E : tensor<16x16xf32>
    %out = tile.dot %P, %X, %QSg : tensor<16x16xf32>, tensor<16x60xf32> -> tensor<16x60xf32>
    tile.store %out, %o[%t, %vb] : tensor<16x60xf32>, !tile.view<?x60xf32>
    %last64 = tile.splat_last %G : tensor<16xf64> -> tensor<64xf64>
    %last64l = arith.truncf %last64 : tensor<64xf64> to tensor<64xf32>
    %gammaC = math.exp %last64l : tensor<64xf32>
    %Sd = tile.scale_rows %S by %gammaC : tensor<64x60xf32>, tensor<64xf32>
    %kl = tile.scale_rows %kc by %lambda : tensor<16x64xf32>, tensor<16xf32>
    %S1 = tile.dot %kl transposed, %X, %Sd : tensor<16x64xf32>, tensor<16x60xf32> -> tensor<64x60xf32>
    scf.yield %S1 : tensor<64x60xf32>
  }
  tile.store %SN, %sT[%c0, %vb] : tensor<64x60xf32>, !tile.view<64x60xf32>
  tile.return
}

// The same with chunk 1: the recurrent form. `k.S` and `q.S` read the state of before the step.
// CHECK-LABEL: tile.program reverse @gated_deltanet_step
tile.program reverse @gated_deltanet_step(
    %q: !tile.view<?x64xbf16> as <name = "q", axes = "bthk", heads = 2, role = "input", optional = false>,
    %k: !tile.view<?x64xbf16> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x60xbf16> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 4, role = "input", optional = false>,
    %b: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 4, role = "input", optional = false>,
    %s0: !tile.view<64x60xf32> as <name = "initial_state", axes = "nhkv", heads = 4, role = "initial_state", optional = true>,
    %off: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %o: !tile.view<?x60xbf16> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>,
    %sT: !tile.view<64x60xf32> as <name = "final_state", axes = "nhkv", heads = 4, role = "final_state", optional = true>)
    heads 4 values 60 block 32 chunk 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x32xf32>
  %zero1 = arith.constant dense<0.0> : tensor<1x1xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<64x60xf32> -> tensor<64x32xf32>
  %SN = scf.for %t = %c0 to %T step %c1 iter_args(%S = %S0) -> (tensor<64x32xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x64xbf16> -> tensor<1x64xf32>
    %kc = tile.load %k[%t, %c0] : !tile.view<?x64xbf16> -> tensor<1x64xf32>
    %vc = tile.load %v[%t, %vb] : !tile.view<?x60xbf16> -> tensor<1x32xf32>
    %gc = tile.load %g[%t] : !tile.view<?xf32> -> tensor<1xf32>
    %bc = tile.load %b[%t] : !tile.view<?xf32> -> tensor<1xf32>
    %gw = arith.extf %gc : tensor<1xf32> to tensor<1xf64>
    %G = tile.gate_sum %gw : tensor<1xf64>
    %Gl = arith.truncf %G : tensor<1xf64> to tensor<1xf32>
    %gamma = math.exp %Gl : tensor<1xf32>
    %KS = tile.dot %kc, %S, %zero : tensor<1x64xf32>, tensor<64x32xf32> -> tensor<1x32xf32>
    %KSg = tile.scale_rows %KS by %gamma : tensor<1x32xf32>, tensor<1xf32>
    %res = arith.subf %vc, %KSg : tensor<1x32xf32>
    %X = tile.scale_rows %res by %bc : tensor<1x32xf32>, tensor<1xf32>
    %QS = tile.dot %qc, %S, %zero : tensor<1x64xf32>, tensor<64x32xf32> -> tensor<1x32xf32>
    %QSg = tile.scale_rows %QS by %gamma : tensor<1x32xf32>, tensor<1xf32>
    %QK = tile.dot %qc, %kc transposed, %zero1 : tensor<1x64xf32>, tensor<1x64xf32> -> tensor<1x1xf32>
    %out = tile.dot %QK, %X, %QSg : tensor<1x1xf32>, tensor<1x32xf32> -> tensor<1x32xf32>
    tile.store %out, %o[%t, %vb] : tensor<1x32xf32>, !tile.view<?x60xbf16>
    %last = tile.splat_last %G : tensor<1xf64> -> tensor<64xf64>
    %lastl = arith.truncf %last : tensor<64xf64> to tensor<64xf32>
    %gammaC = math.exp %lastl : tensor<64xf32>
    %Sd = tile.scale_rows %S by %gammaC : tensor<64x32xf32>, tensor<64xf32>
    %S1 = tile.dot %kc transposed, %X, %Sd : tensor<1x64xf32>, tensor<1x32xf32> -> tensor<64x32xf32>
    scf.yield %S1 : tensor<64x32xf32>
  }
  tile.store %SN, %sT[%c0, %vb] : tensor<64x32xf32>, !tile.view<64x60xf32>
  tile.return
}

// Gated linear attention, chunk form, by hand: a decay per key, no sum of gates.
// CHECK-LABEL: tile.program @gated_linear_attention
// CHECK: tile.decay_product %{{.*}} : tensor<16x64xf32>
// CHECK: tile.decay_product reverse exclusive %{{.*}} : tensor<16x64xf32>
// CHECK: tile.decayed_dot %{{.*}} at [2], %{{.*}} at [1] by %{{.*}} at [0] : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x16xf32>
// CHECK: tile.last_row %{{.*}} : tensor<16x64xf32> -> tensor<64xf32>
tile.program @gated_linear_attention(
    %q: !tile.view<?x64xf32> as <name = "q", axes = "bthk", heads = 4, role = "input", optional = false>,
    %k: !tile.view<?x64xf32> as <name = "k", axes = "bthk", heads = 4, role = "input", optional = false>,
    %v: !tile.view<?x60xf32> as <name = "v", axes = "bthv", heads = 4, role = "input", optional = false>,
    %g: !tile.view<?x64xf32> as <name = "g", axes = "bthk", heads = 4, role = "input", optional = false>,
    %o: !tile.view<?x60xf32> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>)
    heads 4 values 60 block 60 chunk 16 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x60xf32>
  %zeroS = arith.constant dense<0.0> : tensor<64x60xf32>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %SN = scf.for %t = %c0 to %T step %c16 iter_args(%S = %zeroS) -> (tensor<64x60xf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x64xf32> -> tensor<16x64xf32>
    %kc = tile.load %k[%t, %c0] : !tile.view<?x64xf32> -> tensor<16x64xf32>
    %vc = tile.load %v[%t, %vb] : !tile.view<?x60xf32> -> tensor<16x60xf32>
    %gc = tile.load %g[%t, %c0] : !tile.view<?x64xf32> -> tensor<16x64xf32>
    %d = math.exp %gc : tensor<16x64xf32>
    %before = tile.decay_product %d : tensor<16x64xf32>
    %after = tile.decay_product reverse exclusive %d : tensor<16x64xf32>
    %qb = arith.mulf %qc, %before : tensor<16x64xf32>
    %QS = tile.dot %qb, %S, %zero : tensor<16x64xf32>, tensor<64x60xf32> -> tensor<16x60xf32>
    %P = tile.decayed_dot %qc at [2], %kc at [1] by %d at [0] : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x16xf32>
    %out = tile.dot %P, %vc, %QS : tensor<16x16xf32>, tensor<16x60xf32> -> tensor<16x60xf32>
    tile.store %out, %o[%t, %vb] : tensor<16x60xf32>, !tile.view<?x60xf32>
    %all = tile.last_row %before : tensor<16x64xf32> -> tensor<64xf32>
    %Sd = tile.scale_rows %S by %all : tensor<64x60xf32>, tensor<64xf32>
    %ka = arith.mulf %kc, %after : tensor<16x64xf32>
    %S1 = tile.dot %ka transposed, %vc, %Sd : tensor<16x64xf32>, tensor<16x60xf32> -> tensor<64x60xf32>
    scf.yield %S1 : tensor<64x60xf32>
  }
  tile.return
}

// Two numbers that are coupled: what a token puts out of an impulse at another, and of the second at the start.
// CHECK-LABEL: tile.program @coupled
// CHECK: tile.impulse_response by(%[[A:.*]], %[[Z:.*]], %[[A]], %[[A]]) to(%[[A]], %[[Z]]) from(%[[Z]], %[[A]]) direct %[[Z]] : (tensor<16xf32>, {{.*}}) -> tensor<16x16xf32>
// CHECK: tile.initial_response 1 by(%[[A]], %[[Z]], %[[A]], %[[A]]) to(%[[A]], %[[Z]]) : (tensor<16xf32>, {{.*}}) -> tensor<16xf32>
tile.program @coupled(
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 4, role = "input", optional = false>,
    %o: !tile.view<?x16xf32> as <name = "o", axes = "bthv", heads = 4, role = "output", optional = false>)
    heads 4 values 16 block 16 chunk 16 {
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %a = tile.load %g[%c0] : !tile.view<?xf32> -> tensor<16xf32>
  %C = tile.impulse_response by(%a, %z, %a, %a) to(%a, %z) from(%z, %a) direct %z : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %E = tile.initial_response 1 by(%a, %z, %a, %a) to(%a, %z) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %out = tile.scale_rows %C by %E : tensor<16x16xf32>, tensor<16xf32>
  tile.store %out, %o[%c0, %c0] : tensor<16x16xf32>, !tile.view<?x16xf32>
  tile.return
}

// From segment to segment of a sequence, and a segment of it.
// CHECK-LABEL: tile.program @segments_scan(
// CHECK: heads 4 values 8 block 8 chunk 16 segments scan {
// CHECK: tile.unit_columns %{{.*}} : tensor<4x8xf32>
// CHECK: tile.unit_columns ones %{{.*}} : tensor<4x8xf32>
// CHECK: tile.store one_step %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<4x8xf32>, <?x4x8xf32>
tile.program @segments_scan(
    %start: !tile.view<?x4x8xf32> as <name = "start", axes = "nhskv", heads = 4, role = "intermediate", optional = false>)
    heads 4 values 8 block 8 chunk 16 segments scan {
  %c0 = arith.constant 0 : index
  %units = tile.unit_columns %c0 : tensor<4x8xf32>
  %ones = tile.unit_columns ones %c0 : tensor<4x8xf32>
  %sum = arith.addf %units, %ones : tensor<4x8xf32>
  tile.store one_step %sum, %start[%c0, %c0, %c0] : tensor<4x8xf32>, !tile.view<?x4x8xf32>
  tile.return
}

// CHECK-LABEL: tile.program reverse @segments_inner(
// CHECK: heads 4 values 8 block 8 chunk 16 segments inner {
// CHECK: tile.sum_steps %{{.*}} if %{{.*}} : !tile.view<?xf32>
// CHECK: tile.sum_steps %[[G:.*]], %[[G]] if %{{.*}} : !tile.view<?xf32>, !tile.view<?xf32>
tile.program reverse @segments_inner(
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 4, role = "input", optional = false>,
    %start: !tile.view<4x8xf32> as <name = "start", axes = "nhskv", heads = 4, role = "intermediate", optional = false>)
    heads 4 values 8 block 8 chunk 16 segments inner {
  %true = arith.constant true
  %sum = tile.sum_steps %g if %true : !tile.view<?xf32>
  %squares = tile.sum_steps %g, %g if %true : !tile.view<?xf32>, !tile.view<?xf32>
  %c0 = arith.constant 0 : index
  %one = arith.truncf %sum : f64 to f32
  %tile = tensor.splat %one : tensor<4x8xf32>
  tile.store %tile, %start[%c0, %c0] : tensor<4x8xf32>, !tile.view<4x8xf32>
  tile.return
}
