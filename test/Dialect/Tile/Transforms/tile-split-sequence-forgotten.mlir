// RUN: prism-opt %s --tile-split-sequence | FileCheck %s

// A scalar decay and an erase of one key. Where the gates' sum leaves nothing of
// a state (exp of less than -104 is 0 in f32), the columns of M take no steps and
// start without units: they end as zero.

// CHECK-LABEL: tile.program @gated_maps(
// CHECK: %[[G:.*]]: !tile.view<?xf32> as <name = "g"
// CHECK: %[[LENGTH:.*]] = tile.length
// CHECK: %[[FIRST:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[OF_MAP:.*]] = arith.cmpi sge, %[[FIRST]], %[[ZERO]] : index
// CHECK: %[[SUM:.*]] = tile.sum_steps %[[G]] if %[[OF_MAP]] : !tile.view<?xf32>
// CHECK: %[[LIMIT:.*]] = arith.constant -1.040000e+02 : f64
// CHECK: %[[DEAD:.*]] = arith.cmpf olt, %[[SUM]], %[[LIMIT]] : f64
// CHECK: %[[NONE:.*]] = arith.constant 0 : index
// CHECK: %[[STEPS:.*]] = arith.select %[[DEAD]], %[[NONE]], %[[LENGTH]] : index
// CHECK: %[[NOWHERE:.*]] = arith.constant 1099511627776 : index
// CHECK: %[[BEGIN:.*]] = arith.select %[[DEAD]], %[[NOWHERE]], %[[FIRST]] : index
// CHECK: %[[UNITS:.*]] = tile.unit_columns %[[BEGIN]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[STEPS]] step %{{.*}} iter_args(%{{.*}} = %[[UNITS]])

// The segments themselves go on as they are.
// CHECK-LABEL: tile.program @gated_segments(
// CHECK-NOT: tile.sum_steps
tile.program @gated(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %r: !tile.view<?x4xf32> as <name = "r", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %b: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<2x8xf32>
  %start = arith.constant dense<0.0> : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %floor = arith.constant dense<-1024.0> : tensor<2xf64>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %start) -> (tensor<4x8xf32>) {
    %gt = tile.load %g[%t] : <?xf32> -> tensor<2xf32>
    %gw = arith.extf %gt : tensor<2xf32> to tensor<2xf64>
    %gates = arith.maximumf %gw, %floor : tensor<2xf64>
    %sums = tile.gate_sum %gates : tensor<2xf64>
    %low = arith.truncf %sums : tensor<2xf64> to tensor<2xf32>
    %decays = math.exp %low : tensor<2xf32>
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %bt = tile.load %b[%t] : <?xf32> -> tensor<2xf32>
    %read = tile.dot %kt, %state, %none : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %seen = tile.scale_rows %read by %decays : tensor<2x8xf32>, tensor<2xf32>
    %rest = arith.subf %vt, %seen : tensor<2x8xf32>
    %rhs = tile.scale_rows %rest by %bt : tensor<2x8xf32>, tensor<2xf32>
    %kk = tile.dot %kt, %kt transposed, %zero : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x2xf32>
    %between = tile.decay_matrix %sums at [1], %sums at [0] : tensor<2xf64>, tensor<2xf64> -> tensor<2x2xf32>
    %decayed = arith.mulf %kk, %between : tensor<2x2xf32>
    %system = tile.scale_rows %decayed by %bt : tensor<2x2xf32>, tensor<2xf32>
    %x = tile.solve %system, %rhs : tensor<2x2xf32>, tensor<2x8xf32>
    %last = tile.splat_last %decays : tensor<2xf32> -> tensor<4xf32>
    %kept = tile.scale_rows %state by %last : tensor<4x8xf32>, tensor<4xf32>
    %end = tile.splat_last %sums : tensor<2xf64> -> tensor<2xf64>
    %left = arith.subf %end, %sums : tensor<2xf64>
    %leftlow = arith.truncf %left : tensor<2xf64> to tensor<2xf32>
    %after = math.exp %leftlow : tensor<2xf32>
    %keys = tile.scale_rows %kt by %after : tensor<2x4xf32>, tensor<2xf32>
    %next = tile.dot %keys transposed, %x, %kept : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// An erase that reads with one key and writes with another may amplify: no bound
// is seen, and M is always computed.

// CHECK-LABEL: tile.program @free_keys_maps(
// CHECK-NOT: tile.sum_steps
// CHECK: tile.unit_columns
// CHECK-LABEL: tile.program @free_keys_segments(
tile.program @free_keys(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %r: !tile.view<?x4xf32> as <name = "r", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %b: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = 2, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<2x8xf32>
  %start = arith.constant dense<0.0> : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %floor = arith.constant dense<-1024.0> : tensor<2xf64>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %start) -> (tensor<4x8xf32>) {
    %gt = tile.load %g[%t] : <?xf32> -> tensor<2xf32>
    %gw = arith.extf %gt : tensor<2xf32> to tensor<2xf64>
    %gates = arith.maximumf %gw, %floor : tensor<2xf64>
    %sums = tile.gate_sum %gates : tensor<2xf64>
    %low = arith.truncf %sums : tensor<2xf64> to tensor<2xf32>
    %decays = math.exp %low : tensor<2xf32>
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %rt = tile.load %r[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %bt = tile.load %b[%t] : <?xf32> -> tensor<2xf32>
    %read = tile.dot %rt, %state, %none : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %seen = tile.scale_rows %read by %decays : tensor<2x8xf32>, tensor<2xf32>
    %rest = arith.subf %vt, %seen : tensor<2x8xf32>
    %rhs = tile.scale_rows %rest by %bt : tensor<2x8xf32>, tensor<2xf32>
    %kk = tile.dot %rt, %kt transposed, %zero : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x2xf32>
    %between = tile.decay_matrix %sums at [1], %sums at [0] : tensor<2xf64>, tensor<2xf64> -> tensor<2x2xf32>
    %decayed = arith.mulf %kk, %between : tensor<2x2xf32>
    %system = tile.scale_rows %decayed by %bt : tensor<2x2xf32>, tensor<2xf32>
    %x = tile.solve %system, %rhs : tensor<2x2xf32>, tensor<2x8xf32>
    %last = tile.splat_last %decays : tensor<2xf32> -> tensor<4xf32>
    %kept = tile.scale_rows %state by %last : tensor<4x8xf32>, tensor<4xf32>
    %end = tile.splat_last %sums : tensor<2xf64> -> tensor<2xf64>
    %left = arith.subf %end, %sums : tensor<2xf64>
    %leftlow = arith.truncf %left : tensor<2xf64> to tensor<2xf32>
    %after = math.exp %leftlow : tensor<2xf32>
    %keys = tile.scale_rows %kt by %after : tensor<2x4xf32>, tensor<2xf32>
    %next = tile.dot %keys transposed, %x, %kept : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// A scalar decay and nothing else: all of M is known beforehand, exp of the gates' sum, and its column takes no steps.

// CHECK-LABEL: tile.program @decays_maps(
// CHECK: %[[G:.*]]: !tile.view<?xf32> as <name = "g"
// CHECK: %[[LENGTH:.*]] = tile.length
// CHECK: %[[OF_MAP:.*]] = arith.cmpi sge, %[[FIRST:.*]], %{{.*}} : index
// CHECK: %[[SUM:.*]] = tile.sum_steps %[[G]] if %[[OF_MAP]] : !tile.view<?xf32>
// CHECK: %[[STEPS:.*]] = arith.select %[[OF_MAP]], %{{.*}}, %[[LENGTH]] : index
// CHECK: %[[LOW:.*]] = arith.truncf %[[SUM]] : f64 to f32
// CHECK: %[[LEFT:.*]] = math.exp %[[LOW]] : f32
// CHECK: %[[SPLAT:.*]] = tensor.splat %[[LEFT]] : tensor<4x8xf32>
// CHECK: %[[ONES:.*]] = tile.unit_columns ones %[[FIRST]] : tensor<4x8xf32>
// CHECK: %[[BEGIN:.*]] = arith.mulf %[[ONES]], %[[SPLAT]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[STEPS]] step %{{.*}} iter_args(%{{.*}} = %[[BEGIN]])
tile.program @decays(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %floor = arith.constant dense<-1024.0> : tensor<2xf64>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %none) -> (tensor<4x8xf32>) {
    %gt = tile.load %g[%t] : <?xf32> -> tensor<2xf32>
    %gw = arith.extf %gt : tensor<2xf32> to tensor<2xf64>
    %gates = arith.maximumf %gw, %floor : tensor<2xf64>
    %sums = tile.gate_sum %gates : tensor<2xf64>
    %low = arith.truncf %sums : tensor<2xf64> to tensor<2xf32>
    %decays = math.exp %low : tensor<2xf32>
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %kept = tile.splat_last %decays : tensor<2xf32> -> tensor<4xf32>
    %less = tile.scale_rows %state by %kept : tensor<4x8xf32>, tensor<4xf32>
    %next = tile.dot %kt transposed, %vt, %less : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}

// A gate may be a product of what is loaded: a step's size and a rate of its head.

// CHECK-LABEL: tile.program @products_maps(
// CHECK: %[[DT:.*]]: !tile.view<?xf32> as <name = "dt"
// CHECK: %[[A:.*]]: !tile.view<?xf32> as <name = "a"
// CHECK: tile.sum_steps %[[DT]], %[[A]] if %{{.*}} : !tile.view<?xf32>, !tile.view<?xf32>
tile.program @products(
    %k: !tile.view<?x4xf32> as <name = "k", axes = "bthk", heads = 2, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "bthv", heads = 2, role = "input", optional = false>,
    %dt: !tile.view<?xf32> as <name = "dt", axes = "bth", heads = 2, role = "input", optional = false>,
    %a: !tile.view<?xf32> as <name = "a", axes = "h", heads = 2, role = "input", optional = false>,
    %sn: !tile.view<4x8xf32> as <name = "final_state", axes = "nhkv", heads = 2, role = "final_state", optional = true>)
    heads 2 values 8 block 8 chunk 2 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %floor = arith.constant dense<-1024.0> : tensor<2xf64>
  %length = tile.length : index
  %column = tile.value_offset : index
  %end = scf.for %t = %c0 to %length step %c2 iter_args(%state = %none) -> (tensor<4x8xf32>) {
    %dtt = tile.load %dt[%t] : <?xf32> -> tensor<2xf32>
    %at = tile.load %a[%t] : <?xf32> -> tensor<2xf32>
    %gt = arith.mulf %dtt, %at : tensor<2xf32>
    %gw = arith.extf %gt : tensor<2xf32> to tensor<2xf64>
    %gates = arith.maximumf %gw, %floor : tensor<2xf64>
    %sums = tile.gate_sum %gates : tensor<2xf64>
    %low = arith.truncf %sums : tensor<2xf64> to tensor<2xf32>
    %decays = math.exp %low : tensor<2xf32>
    %kt = tile.load %k[%t, %c0] : <?x4xf32> -> tensor<2x4xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<2x8xf32>
    %kept = tile.splat_last %decays : tensor<2xf32> -> tensor<4xf32>
    %less = tile.scale_rows %state by %kept : tensor<4x8xf32>, tensor<4xf32>
    %next = tile.dot %kt transposed, %vt, %less : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  tile.store %end, %sn[%c0, %column] : tensor<4x8xf32>, <4x8xf32>
  tile.return
}
