// RUN: prism-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// !tile.view
//===----------------------------------------------------------------------===//

// expected-error @+1 {{only the first extent of a view (time) may be dynamic}}
func.func private @dynamic_feature(!tile.view<4x?xf32>)

// -----

// expected-error @+1 {{extents of a view must be positive, found 0}}
func.func private @no_columns(!tile.view<?x0xf32>)

// -----

// expected-error @+1 {{a view holds bf16, f16, f32, f64 or i64, found 'i32'}}
func.func private @element(!tile.view<?x4xi32>)

// -----

//===----------------------------------------------------------------------===//
// tile.program
//===----------------------------------------------------------------------===//

// expected-error @+1 {{'tile.program' op heads, values, block and chunk must be positive}}
tile.program @no_heads() heads 0 values 4 block 4 chunk 1 {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op heads, values, block and chunk must be positive}}
tile.program @no_values() heads 1 values 0 block 4 chunk 1 {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op heads, values, block and chunk must be positive}}
tile.program @no_block() heads 1 values 4 block 0 chunk 1 {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op heads, values, block and chunk must be positive}}
tile.program @no_chunk() heads 1 values 4 block 4 chunk 0 {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op a program returns nothing; it stores}}
"tile.program"() <{sym_name = "result", function_type = () -> f32, value_heads = 1 : i64, values = 4 : i64,
                   value_block = 4 : i64, chunk = 1 : i64}> ({
  tile.return
}) : () -> ()

// -----

// expected-error @+1 {{'tile.program' op argument 0 must be a view with a tile.arg attribute, found 'f32'}}
tile.program @no_view(
    %a: f32 as <name = "a", axes = "k", heads = 0, role = "input", optional = false>)
    heads 1 values 4 block 4 chunk 1 {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op argument 0 must be a view with a tile.arg attribute, found '!tile.view<4xf32>'}}
"tile.program"() <{sym_name = "nameless", function_type = (!tile.view<4xf32>) -> (), value_heads = 1 : i64,
                   values = 4 : i64, value_block = 4 : i64, chunk = 1 : i64}> ({
^bb0(%a: !tile.view<4xf32>):
  tile.return
}) : () -> ()

// -----

// An axis `t` is a row axis of the view.
// expected-error @+1 {{'tile.program' op argument "a" views axes "btk" as '!tile.view<4xf32>'}}
tile.program @time_lost(
    %a: !tile.view<4xf32> as <name = "a", axes = "btk", heads = 0, role = "input", optional = false>)
    heads 1 values 4 block 4 chunk 1 {
  tile.return
}

// -----

// Batch, head and sequence are this work item's own; features are not.
// expected-error @+1 {{'tile.program' op argument "a" views axes "bthk" as '!tile.view<?x2x4xf32>'}}
tile.program @head_kept(
    %a: !tile.view<?x2x4xf32> as <name = "a", axes = "bthk", heads = 2, role = "input", optional = false>)
    heads 2 values 4 block 4 chunk 1 {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op argument "a" has role "inputs", expected input, initial_state, offsets, output, final_state, initial_window, final_window or intermediate}}
tile.program @role(
    %a: !tile.view<?x4xf32> as <name = "a", axes = "btk", heads = 0, role = "inputs", optional = false>)
    heads 1 values 4 block 4 chunk 1 {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op segments must be all, inner or scan, found some}}
tile.program @segments() heads 1 values 4 block 4 chunk 1 segments some {
  tile.return
}

// -----

// expected-error @+1 {{'tile.program' op argument "a" is intermediate, in a program that cuts no segments}}
tile.program @intermediate(
    %a: !tile.view<4x4xf32> as <name = "a", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 4 block 4 chunk 1 {
  tile.return
}

// -----

// Segments are an axis of the workspace's arrays alone.
// expected-error @+1 {{'tile.program' op argument "a" views axes "nhskv" as '!tile.view<4x4xf32>'}}
tile.program @not_intermediate(
    %a: !tile.view<4x4xf32> as <name = "a", axes = "nhskv", heads = 1, role = "initial_state", optional = false>)
    heads 1 values 4 block 4 chunk 1 segments all {
  tile.return
}

// -----

func.func @return_elsewhere() {
  // expected-error @+1 {{'tile.return' op expects parent op 'tile.program'}}
  tile.return
}

// -----

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

func.func @load_indices(%view: !tile.view<?x4xf32>, %i: index) {
  // expected-error @+1 {{'tile.load' op has 1 indices for a view of 2 axes}}
  %0 = tile.load %view[%i] : !tile.view<?x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @load_rank(%view: !tile.view<?xf32>, %i: index) {
  // expected-error @+1 {{'tile.load' op takes a tile 'tensor<8x4xf32>' from a view '!tile.view<?xf32>' of lower rank}}
  %0 = tile.load %view[%i] : !tile.view<?xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @store_indices(%view: !tile.view<?x4xf32>, %i: index, %tile: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.store' op has 3 indices for a view of 2 axes}}
  tile.store %tile, %view[%i, %i, %i] : tensor<8x4xf32>, !tile.view<?x4xf32>
  return
}

// -----

func.func @store_rank(%view: !tile.view<4xf32>, %i: index, %tile: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.store' op takes a tile 'tensor<8x4xf32>' from a view '!tile.view<4xf32>' of lower rank}}
  tile.store %tile, %view[%i] : tensor<8x4xf32>, !tile.view<4xf32>
  return
}

// -----

func.func @load_dynamic(%view: !tile.view<?x4xf32>, %i: index) {
  // expected-error @+1 {{'tile.load' op result #0 must be vector or matrix tile, rounded or not, but got 'tensor<?x4xf32>'}}
  %0 = tile.load %view[%i, %i] : !tile.view<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

// A tile of 16 bits is what lies in the view.
func.func @load_other_half(%view: !tile.view<?x4xbf16>, %i: index) {
  // expected-error @+1 {{'tile.load' op takes 16-bit elements as they lie; found 'tensor<8x4xf16>' from '!tile.view<?x4xbf16>'}}
  %0 = tile.load %view[%i, %i] : !tile.view<?x4xbf16> -> tensor<8x4xf16>
  return
}

// -----

func.func @load_offsets(%view: !tile.view<4xi64>, %i: index) {
  // expected-error @+1 {{'tile.load' op takes a tile from a view of sequence offsets, '!tile.view<4xi64>'}}
  %0 = tile.load %view[%i] : !tile.view<4xi64> -> tensor<4xf32>
  return
}

// -----

func.func @store_offsets(%view: !tile.view<4xi64>, %i: index, %tile: tensor<4xf32>) {
  // expected-error @+1 {{'tile.store' op takes a tile from a view of sequence offsets, '!tile.view<4xi64>'}}
  tile.store %tile, %view[%i] : tensor<4xf32>, !tile.view<4xi64>
  return
}

// -----

func.func @one_step_of_no_time(%view: !tile.view<8x4xf32>, %i: index) {
  // expected-error @+1 {{'tile.load' op takes one step of a view with time, without its time axis; found 'tensor<4xf32>' from '!tile.view<8x4xf32>'}}
  %0 = tile.load one_step %view[%i, %i] : !tile.view<8x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @sum_of_rows(%view: !tile.view<?x4xf32>, %wanted: i1) {
  // expected-error @+1 {{'tile.sum_steps' op sums one number a step, of a view with time alone; found '!tile.view<?x4xf32>'}}
  %0 = tile.sum_steps %view if %wanted : !tile.view<?x4xf32>
  return
}

// -----

func.func @sum_of_nothing(%wanted: i1) {
  // expected-error @+1 {{'tile.sum_steps' op sums numbers of views, found none}}
  %0 = "tile.sum_steps"(%wanted) : (i1) -> f64
  return
}

// -----

func.func @sum_without_time(%view: !tile.view<4xf32>, %wanted: i1) {
  // expected-error @+1 {{'tile.sum_steps' op sums one number a step, of a view with time alone; found '!tile.view<4xf32>'}}
  %0 = tile.sum_steps %view if %wanted : !tile.view<4xf32>
  return
}

// -----

func.func @store_one_step_of_no_time(%view: !tile.view<8x4xf32>, %i: index, %tile: tensor<4xf32>) {
  // expected-error @+1 {{'tile.store' op takes one step of a view with time, without its time axis; found 'tensor<4xf32>' from '!tile.view<8x4xf32>'}}
  tile.store one_step %tile, %view[%i, %i] : tensor<4xf32>, !tile.view<8x4xf32>
  return
}

// -----

func.func @one_step_with_time_axis(%view: !tile.view<?x4xf32>, %i: index) {
  // expected-error @+1 {{'tile.load' op takes one step of a view with time, without its time axis; found 'tensor<8x4xf32>' from '!tile.view<?x4xf32>'}}
  %0 = tile.load one_step %view[%i, %i] : !tile.view<?x4xf32> -> tensor<8x4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Dots, solves, decay
//===----------------------------------------------------------------------===//

func.func @dot_contraction(%a: tensor<8x4xf32>, %b: tensor<5x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error @+1 {{'tile.dot' op contracts 4 elements of the left with 5 of the right}}
  %0 = tile.dot %a, %b, %c : tensor<8x4xf32>, tensor<5x6xf32> -> tensor<8x6xf32>
  return
}

// -----

func.func @dot_contraction_transposed(%a: tensor<8x4xf32>, %b: tensor<8x6xf32>, %c: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.dot' op contracts 8 elements of the left with 6 of the right}}
  %0 = tile.dot %a transposed, %b transposed, %c : tensor<8x4xf32>, tensor<8x6xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @dot_result(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<6x8xf32>) {
  // expected-error @+1 {{'tile.dot' op yields 8x6, the accumulator is 'tensor<6x8xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<6x8xf32>
  return
}

// -----

func.func @dot_types(%a: tensor<8x4xf32>, %b: tensor<4x6xbf16>, %c: tensor<8x6xf32>) {
  // expected-error @+1 {{'tile.dot' op multiplies two tiles of the accumulator's type, or two of one 16-bit type into f32; found 'tensor<8x4xf32>' and 'tensor<4x6xbf16>' into 'tensor<8x6xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<8x4xf32>, tensor<4x6xbf16> -> tensor<8x6xf32>
  return
}

// -----

func.func @invert_square(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.invert' op expects a square matrix, found 'tensor<8x4xf32>'}}
  %0 = tile.invert %a : tensor<8x4xf32>
  return
}

// -----

func.func @solve_square(%a: tensor<8x4xf32>, %b: tensor<8x6xf32>) {
  // expected-error @+1 {{'tile.solve' op expects a square matrix with as many rows as the right-hand side, found 'tensor<8x4xf32>' and 'tensor<8x6xf32>'}}
  %0 = tile.solve %a, %b : tensor<8x4xf32>, tensor<8x6xf32>
  return
}

// -----

func.func @solve_rows(%a: tensor<8x8xf32>, %b: tensor<4x6xf32>) {
  // expected-error @+1 {{'tile.solve' op expects a square matrix with as many rows as the right-hand side, found 'tensor<8x8xf32>' and 'tensor<4x6xf32>'}}
  %0 = tile.solve %a, %b : tensor<8x8xf32>, tensor<4x6xf32>
  return
}

// -----

func.func @sums_in_f32(%g: tensor<8xf32>) {
  // expected-error @+1 {{'tile.gate_sum' op operand #0 must be vector tile of f64, but got 'tensor<8xf32>'}}
  %0 = tile.gate_sum %g : tensor<8xf32>
  return
}

// -----

func.func @decay_tokens(%r: tensor<16xf64>, %c: tensor<8xf64>) {
  // expected-error @+1 {{'tile.decay_matrix' op expects rows and columns for the same tokens, found 16 rows at 1 and 8 columns at 1 a token}}
  %0 = tile.decay_matrix %r at [2], %c at [1] : tensor<16xf64>, tensor<8xf64> -> tensor<16x8xf32>
  return
}

// -----

func.func @decay_part_of_a_token(%r: tensor<9xf64>, %c: tensor<4xf64>) {
  // expected-error @+1 {{'tile.decay_matrix' op expects rows and columns for the same tokens, found 9 rows at 2 and 4 columns at 1 a token}}
  %0 = tile.decay_matrix %r at [1, 2], %c at [1] : tensor<9xf64>, tensor<4xf64> -> tensor<9x4xf32>
  return
}

// -----

func.func @decay_nowhere(%r: tensor<8xf64>, %c: tensor<8xf64>) {
  // expected-error @+1 {{'tile.decay_matrix' op expects rows and columns for the same tokens, found 8 rows at 0 and 8 columns at 1 a token}}
  %0 = tile.decay_matrix %r at [], %c at [1] : tensor<8xf64>, tensor<8xf64> -> tensor<8x8xf32>
  return
}

// -----

func.func @decay_result(%r: tensor<16xf64>, %c: tensor<8xf64>) {
  // expected-error @+1 {{'tile.decay_matrix' op yields 16x8, found 'tensor<8x16xf32>'}}
  %0 = tile.decay_matrix %r at [1, 2], %c at [1] : tensor<16xf64>, tensor<8xf64> -> tensor<8x16xf32>
  return
}

// -----

func.func @decay_transposed(%r: tensor<16xf64>, %c: tensor<8xf64>) {
  // expected-error @+1 {{'tile.decay_matrix' op yields 8x16, found 'tensor<16x8xf32>'}}
  %0 = tile.decay_matrix transposed %r at [1, 2], %c at [1] : tensor<16xf64>, tensor<8xf64> -> tensor<16x8xf32>
  return
}

// -----

func.func @decayed_tokens(%q: tensor<16x4xf32>, %k: tensor<8x4xf32>, %d: tensor<16x4xf32>) {
  // expected-error @+1 {{'tile.decayed_dot' op expects rows and columns for the same tokens, found 16 rows at 1 and 8 columns at 1 a token}}
  %0 = tile.decayed_dot %q at [2], %k at [1] by %d at [0] : tensor<16x4xf32>, tensor<8x4xf32>, tensor<16x4xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @decayed_channels(%q: tensor<8x4xf32>, %k: tensor<8x5xf32>, %d: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.decayed_dot' op contracts 4 channels of the left with 5 of the right}}
  %0 = tile.decayed_dot %q at [2], %k at [1] by %d at [0] : tensor<8x4xf32>, tensor<8x5xf32>, tensor<8x4xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @decayed_places(%q: tensor<8x4xf32>, %d: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.decayed_dot' op expects a place for each of its decays, at least one; found 1 decays at 2 places}}
  %0 = tile.decayed_dot %q at [2], %q at [1] by %d at [0, 3] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @decayed_decays(%q: tensor<8x4xf32>, %d: tensor<8x5xf32>) {
  // expected-error @+1 {{'tile.decayed_dot' op expects decays of 8 tokens and 4 channels, found 'tensor<8x5xf32>'}}
  %0 = tile.decayed_dot %q at [2], %q at [1] by %d at [0] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x5xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @decayed_result(%q: tensor<16x4xf32>, %k: tensor<8x4xf32>, %d: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.decayed_dot' op yields 16x8, found 'tensor<8x8xf32>'}}
  %0 = tile.decayed_dot %q at [2, 3], %k at [1] by %d at [0] : tensor<16x4xf32>, tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @decayed_type(%q: tensor<8x4xf32>, %d: tensor<8x4xf64>) {
  // expected-error @+1 {{'tile.decayed_dot' op expects operands of its result's element type 'f32', found 'tensor<8x4xf64>'}}
  %0 = tile.decayed_dot %q at [2], %q at [1] by %d at [0] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf64> -> tensor<8x8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

func.func @scale_rows(%a: tensor<8x4xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'tile.scale_rows' op has 4 scales for 8 rows}}
  %0 = tile.scale_rows %a by %s : tensor<8x4xf32>, tensor<4xf32>
  return
}

// -----

func.func @scale_columns(%a: tensor<8x4xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'tile.scale_columns' op has 8 scales for 4 columns}}
  %0 = tile.scale_columns %a by %s : tensor<8x4xf32>, tensor<8xf32>
  return
}

// -----

func.func @sum_columns(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.sum_columns' op yields 8 sums, found 'tensor<4xf32>'}}
  %0 = tile.sum_columns %a : tensor<8x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_columns(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tile.broadcast' op repeats 'tensor<4xf32>' to 'tensor<8x4xf32>'}}
  %0 = tile.broadcast %a : tensor<4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_rows(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tile.broadcast' op repeats 'tensor<8xf32>' to 'tensor<8x4xf32>'}}
  %0 = tile.broadcast rows %a : tensor<8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @interleave_nothing() {
  // expected-error @+1 {{'tile.interleave' op expects at least one operand}}
  %0 = "tile.interleave"() : () -> tensor<8x4xf32>
  return
}

// -----

func.func @interleave_rows(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.interleave' op expects a result of 16 rows, found 'tensor<8x4xf32>'}}
  %0 = tile.interleave %a, %a : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @last_row(%m: tensor<8x4xf32>) {
  // expected-error @+1 {{'tile.last_row' op yields 4 elements, found 'tensor<8xf32>'}}
  %0 = tile.last_row %m : tensor<8x4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @impulse_square(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tile.impulse_response' op yields a row and a column for each token, found 'tensor<8x4xf32>'}}
  %0 = tile.impulse_response by(%a) to(%a) from(%a) direct %a : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @impulse_inputs(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tile.impulse_response' op expects as many input coefficients as output coefficients, found 2 and 1}}
  %0 = tile.impulse_response by(%a) to(%a) from(%a, %a) direct %a : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @impulse_system(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tile.impulse_response' op expects the square of its 2 output coefficients in transition coefficients, at least one; found 3}}
  %0 = tile.impulse_response by(%a, %a, %a) to(%a, %a) from(%a, %a) direct %a : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @impulse_tokens(%a: tensor<8xf32>, %b: tensor<7xf32>) {
  // expected-error @+1 {{'tile.impulse_response' op expects coefficients of type 'tensor<8xf32>', found 'tensor<7xf32>'}}
  %0 = tile.impulse_response by(%a) to(%a) from(%b) direct %a : (tensor<8xf32>, tensor<8xf32>, tensor<7xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @initial_state(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tile.initial_response' op expects a state below 1, found 1}}
  %0 = tile.initial_response 1 by(%a) to(%a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @initial_type(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tile.initial_response' op expects coefficients of type 'tensor<8xf64>', found 'tensor<8xf32>'}}
  %0 = tile.initial_response 0 by(%a) to(%a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf64>
  return
}

// -----

tile.program @store_of_all(
    %map: !tile.view<2x128xf32> as <name = "map", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 16 block 16 chunk 8 segments all {
  %column = tile.value_offset : index
  %tile = arith.constant dense<0.0> : tensor<8x16xf32>
  // expected-error @+1 {{'tile.store_map' op stands in programs of segments inner}}
  tile.store_map %tile, %map[%column] : tensor<8x16xf32>, <2x128xf32>
  tile.return
}

// -----

tile.program @fold_of_inner(
    %map: !tile.view<?x2x128xf32> as <name = "map", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 16 block 16 chunk 8 segments inner {
  %column = tile.value_offset : index
  %tile = arith.constant dense<0.0> : tensor<8x16xf32>
  // expected-error @+1 {{'tile.fold_maps' op stands in programs of segments all}}
  %0 = tile.fold_maps %map[%column] factors 16 into %tile : <?x2x128xf32>, tensor<8x16xf32>
  tile.return
}

// -----

tile.program @slabs_of_others(
    %map: !tile.view<2x64xf32> as <name = "map", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 16 block 16 chunk 8 segments inner {
  %column = tile.value_offset : index
  %tile = arith.constant dense<0.0> : tensor<8x16xf32>
  // expected-error @+1 {{'tile.store_map' op takes slabs of 16 columns, of 128 f32 each, of one segment; found 'tensor<8x16xf32>' in '!tile.view<2x64xf32>'}}
  tile.store_map %tile, %map[%column] : tensor<8x16xf32>, <2x64xf32>
  tile.return
}

// -----

tile.program @fold_of_one(
    %map: !tile.view<2x128xf32> as <name = "map", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 16 block 16 chunk 8 segments all {
  %column = tile.value_offset : index
  %tile = arith.constant dense<0.0> : tensor<8x16xf32>
  // expected-error @+1 {{'tile.fold_maps' op takes slabs of 16 columns, of 128 f32 each, of all segments; found 'tensor<8x16xf32>' in '!tile.view<2x128xf32>'}}
  %0 = tile.fold_maps %map[%column] factors 16 into %tile : <2x128xf32>, tensor<8x16xf32>
  tile.return
}

// -----

tile.program @factors_nowhere(
    %map: !tile.view<?x2x128xf32> as <name = "map", axes = "nhskv", heads = 1, role = "intermediate", optional = false>)
    heads 1 values 16 block 16 chunk 8 segments all {
  %column = tile.value_offset : index
  %tile = arith.constant dense<0.0> : tensor<8x16xf32>
  // expected-error @+1 {{'tile.fold_maps' op expects factors in one of 32 columns, found column 32}}
  %0 = tile.fold_maps %map[%column] factors 32 into %tile : <?x2x128xf32>, tensor<8x16xf32>
  tile.return
}
