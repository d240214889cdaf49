//===- TileOps.td - Operations of the tile dialect ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_IR_TILEOPS_TD
#define PRISM_DIALECT_TILE_IR_TILEOPS_TD

include "Prism/Dialect/Tile/IR/TileBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_StaticTensor<list<Type> elements, list<int> ranks, string what>
    : ConfinedType<TensorRankOf<elements, ranks>, [HasStaticShapePred], what,
                   "::mlir::RankedTensorType">;
def Tile_Tensor : Tile_StaticTensor<[F32, F64], [1, 2], "vector or matrix tile">;
def Tile_Loaded : Tile_StaticTensor<[F16, BF16, F32, F64], [1, 2], "vector or matrix tile, rounded or not">;
def Tile_Operand : Tile_StaticTensor<[F16, BF16, F32, F64], [2], "matrix tile, rounded or not">;
def Tile_Vector : Tile_StaticTensor<[F32, F64], [1], "vector tile">;
def Tile_Matrix : Tile_StaticTensor<[F32, F64], [2], "matrix tile">;
def Tile_Sums : Tile_StaticTensor<[F64], [1], "vector tile of f64">;

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

def Tile_ProgramOp : Tile_Op<"program", [
    AutomaticAllocationScope, FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "The work of one work item: one sequence, one value head, one block of value columns";
  let description = [{
    Arguments are views, each with a `tile.arg` attribute. `value_heads` is Hv;
    `values` the extent V that work items split into blocks of `value_block`
    columns; `reverse` walks time backwards. Work item i of a launch over N
    sequences is sequence (i / blocks) / Hv, head (i / blocks) mod Hv, value
    block i mod blocks, with blocks = ceil(values / value_block).

    With `segments` every sequence is cut into P segments, P known at the launch:

    | `segments` | sequences of the launch | `tile.length` |
    | --- | --- | --- |
    | `all` | the N x P segments | steps of the segment |
    | `inner` | the N x (P - 1) segments but each sequence's last | likewise |
    | `scan` | the N sequences | P, the number of segments |

    A segment is ceil(chunks of the sequence / P) chunks long, the last ones shorter
    or empty. A final state is written by the last segment alone. Arguments with the
    role `intermediate` lie in the workspace and have an axis `s` of P elements: a
    segment sees its own part, a scan the axis as its time.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       I64Attr:$value_heads, I64Attr:$values, I64Attr:$value_block,
                       I64Attr:$chunk, UnitAttr:$reverse,
                       OptionalAttr<StrAttr>:$segments,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The tile.arg attribute of argument i.
    ArgumentAttr getArgument_(unsigned i) {
      return getArgAttrOfType<ArgumentAttr>(i, "tile.arg");
    }
    int64_t getValueBlocks() {
      return (getValues() + getValueBlock() - 1) / getValueBlock();
    }
    SegmentItems getSegmentItems();
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, HasParent<"ProgramOp">, ReturnLike, Terminator]> {
  let summary = "Ends a program";
  let assemblyFormat = "attr-dict";
}

def Tile_LengthOp : Tile_Op<"length", [Pure]> {
  let summary = "Number of steps of this work item's sequence";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_ValueOffsetOp : Tile_Op<"value_offset", [Pure]> {
  let summary = "First value column of this work item (0 unless values are split)";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_SumStepsOp : Tile_Op<"sum_steps", [Pure]> {
  let summary = "Sum over the steps of this work item of a number of each, if wanted";
  let description = [{
    A scalar in f64, where `wanted` holds; 0 elsewhere. The number of a step is the
    product of those that the views have there, floored at -1024 like the gates of
    `tile.gate_sum`. It stands before the loop over chunks and is made by the whole
    work item: what is known of all steps before the first is taken.
  }];
  let arguments = (ins Variadic<Tile_ViewType>:$views, I1:$wanted);
  let results = (outs F64:$result);
  let assemblyFormat = "$views `if` $wanted attr-dict `:` type($views)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load"> {
  let summary = "Loads a slice of a view as a tile; what lies outside reads as zero";
  let description = [{
    One index per axis of the view. The tile's axes are the *last* axes of the
    view, or the first (time) and the last ones: `!tile.view<?x2x128xf32>`
    loaded at `[%t, %l, %c]` as `tensor<64x128xf32>` takes rows t..t+63, rank l,
    columns c... With `one_step` the tile has no time axis: it takes the last
    axes at step t. Rows outside [0, length) and columns outside the view read as
    zero; an absent optional argument reads as zero throughout. The element is
    converted (bf16 to f32) on the way; a tile of 16-bit elements takes a view of
    the same type as it lies.
  }];
  let arguments = (ins Arg<Tile_ViewType, "", [MemRead]>:$view, Variadic<Index>:$indices,
                       UnitAttr:$one_step);
  let results = (outs Tile_Loaded:$result);
  let assemblyFormat = "(`one_step` $one_step^)? $view `[` $indices `]` attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "Stores a tile to a slice of a view; what lies outside is dropped";
  let description = [{
    The mirror image of `tile.load`: rows outside [0, length) and columns outside
    the view are not written; an absent optional argument is not written at all.
  }];
  let arguments = (ins Tile_Tensor:$value, Arg<Tile_ViewType, "", [MemWrite]>:$view, Variadic<Index>:$indices,
                       UnitAttr:$one_step);
  let assemblyFormat = "(`one_step` $one_step^)? $value `,` $view `[` $indices `]` attr-dict `:` type($value) `,` type($view)";
  let hasVerifier = 1;
}

def Tile_StoreMapOp : Tile_Op<"store_map"> {
  let summary = "Stores columns of a segment's map in the order of accumulators";
  let description = [{
    B and M of a segment, for `tile.fold_maps`: 16 columns are a slab, a row of the
    view. Of each 8 rows and 16 columns a lane of a tensor core's accumulator has
    two rows of two columns, which are neighbours here:

        element(r, c) of a slab = r / 8 * 128 + (c % 8 * 4 + r % 8 / 2) * 4 + c / 8 * 2 + r % 2

    What lies in slabs behind the view's last one is dropped. For programs of roles.
  }];
  let arguments = (ins Tile_Matrix:$value, Arg<Tile_ViewType, "", [MemWrite]>:$map, Index:$column);
  let assemblyFormat = "$value `,` $map `[` $column `]` attr-dict `:` type($value) `,` type($map)";
  let hasVerifier = 1;
}

def Tile_FoldMapsOp : Tile_Op<"fold_maps", [AllTypesMatch<["state", "result"]>]> {
  let summary = "The state that a segment starts from: the maps before it, one after the other";
  let description = [{
    From `state` on, S <- M S + B for every segment p before this work item's, in
    order: B is columns `column`, ... of map p, and the diagonal of M its column
    `factors`. A product and a sum for each element, in f32, rounded each. The maps
    lie as `tile.store_map` puts them. For programs of roles.
  }];
  let arguments = (ins Arg<Tile_ViewType, "", [MemRead]>:$map, Index:$column, I64Attr:$factors,
                       Tile_Matrix:$state);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = "$map `[` $column `]` `factors` $factors `into` $state attr-dict `:` type($map) `,` type($state)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Dots, solves, decay
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + lhs rhs, either side transposed on request";
  let description = [{
    `lhs` is MxK (KxM with `transpose_lhs`), `rhs` KxN (NxK with
    `transpose_rhs`), `acc` MxN. Products and sums in the accumulator's type,
    also of operands rounded to 16 bits (both of them, to the same type).
  }];
  let arguments = (ins Tile_Operand:$lhs, Tile_Operand:$rhs, Tile_Matrix:$acc,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)? `,` $acc attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getM() { return getResult().getType().getDimSize(0); }
    int64_t getN() { return getResult().getType().getDimSize(1); }
    int64_t getK() { return getLhs().getType().getDimSize(getTransposeLhs() ? 0 : 1); }
  }];
}

def Tile_SolveOp : Tile_Op<"solve", [Pure, AllTypesMatch<["rhs", "result"]>]> {
  let summary = "X with (I + A) X = rhs, A strictly lower triangular";
  let description = [{
    By forward substitution; what stands on or above A's diagonal is not read.
  }];
  let arguments = (ins Tile_Matrix:$matrix, Tile_Matrix:$rhs);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = "$matrix `,` $rhs attr-dict `:` type($matrix) `,` type($rhs)";
  let hasVerifier = 1;
}

def Tile_InvertOp : Tile_Op<"invert", [Pure, SameOperandsAndResultType]> {
  let summary = "(I + A)^-1, A strictly lower triangular";
  let description = [{
    Unit lower triangular. What stands on or above A's diagonal is not read.
    `dot(invert(A), B)` is `solve(A, B)`, with the part that does not depend on B
    as an op of its own: where many B meet one A, or where B depends on the state
    and A does not.
  }];
  let arguments = (ins Tile_Matrix:$matrix);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = "$matrix attr-dict `:` type($matrix)";
  let hasVerifier = 1;
}

def Tile_GateSumOp : Tile_Op<"gate_sum", [Pure, SameOperandsAndResultType]> {
  let summary = "Inclusive prefix sum of log-gates within the chunk, in f64";
  let description = [{
    The gates are finite: whoever builds them floors each at -1024 first
    (exp(-1024) is 0 in f32 and f64, so a gate of minus infinity still drops
    everything, exactly, and no infinity meets another); in f64 such a gate
    costs later ones no precision.
  }];
  let arguments = (ins Tile_Sums:$gates);
  let results = (outs Tile_Sums:$result);
  let assemblyFormat = "$gates attr-dict `:` type($gates)";
}

def Tile_DecayMatrixOp : Tile_Op<"decay_matrix", [Pure]> {
  let summary = "D[r, c] = exp(rows[r] - columns[c]) where row r sees column c, else 0";
  let description = [{
    `rows` holds the log-gate sums at which readers read, `columns` those at
    which writers write; a token occupies len(row_order) consecutive rows and
    len(column_order) consecutive columns, whose places in the factor chain these
    attributes give. Row r of token t sees column c of token i iff i < t, or
    i = t and the column's place is before the row's. Masked before exp, so an
    unseen pair can neither overflow nor make NaN.

    `row_order = [2], column_order = [1]` is the lower triangle with diagonal,
    `row_order = [1], column_order = [1]` the strict one. With `transposed` the
    result is D[c, r]: what columns write in rows, what rows read in columns.
  }];
  let arguments = (ins Tile_Sums:$rows,
                       Tile_Sums:$columns,
                       DenseI64ArrayAttr:$row_order, DenseI64ArrayAttr:$column_order,
                       UnitAttr:$transposed);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = [{
    (`transposed` $transposed^)? $rows `at` $row_order `,` $columns `at` $column_order attr-dict
    `:` type($rows) `,` type($columns) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DecayProductOp : Tile_Op<"decay_product", [Pure, SameOperandsAndResultType]> {
  let summary = "result[r, d] = product of decays[i, d] over i <= r; `reverse`: over i >= r; `exclusive`: without r";
  let description = [{
    What is left, channel by channel, at row r of what was there before the
    chunk (`reverse`: at the chunk's end of what was there at row r). Decays are
    factors, exp of log-gates; their product is exact where a gate is 0 or minus
    infinity, and nothing is subtracted or divided.
  }];
  let arguments = (ins Tile_Matrix:$decays, UnitAttr:$reverse, UnitAttr:$exclusive);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = [{
    (`reverse` $reverse^)? (`exclusive` $exclusive^)? $decays attr-dict `:` type($result)
  }];
}

def Tile_DecayedDotOp : Tile_Op<"decayed_dot", [Pure]> {
  let summary = "lhs rhs^T where row r sees column c, each channel decayed on the way from c to r, else 0";
  let description = [{
    result[r, c] = sum over d of lhs[r, d] * rhs[c, d] * w[r, c, d], where w is
    the product of all decays[., d] that lie between column c's place and row
    r's in the chain of factors, token after token. A token occupies
    len(row_order) consecutive rows, len(column_order) consecutive columns and
    one row of each of the decays; the orders give their places in the chain.
    Row r of token t sees column c of token i iff i < t, or i = t and the
    column's place is before the row's; a decay lies between them iff it is at a
    place after the column's (of token i) and before the row's (of token t).

    This is `dot` and `decay_matrix` in one, for a decay that differs from
    channel to channel and so stands inside the contraction. A pair that is not
    seen is not computed from: it may hold no number. How a lowering splits w is
    its own choice, but each factor it takes must be a product of consecutive
    decays (never a quotient of two products, which overflows where gates are
    strong): step by step within a block of rows; between blocks the decays from
    a block's first row on times those up to it, so that what is left is a `dot`
    of two scaled tiles.
  }];
  let arguments = (ins Tile_Matrix:$lhs, Tile_Matrix:$rhs, Variadic<Tile_Matrix>:$decays,
                       DenseI64ArrayAttr:$row_order, DenseI64ArrayAttr:$column_order,
                       DenseI64ArrayAttr:$decay_order);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = [{
    $lhs `at` $row_order `,` $rhs `at` $column_order `by` $decays `at` $decay_order attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($decays) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getTokens() { return getLhs().getType().getDimSize(0) / getRowOrder().size(); }
    /// Rows, decays and columns of a token, in the chain's order.
    ::llvm::SmallVector<ChainEvent> getEvents();
    int64_t getChannels() { return getLhs().getType().getDimSize(1); }
  }];
}

//===----------------------------------------------------------------------===//
// Coupled states
//===----------------------------------------------------------------------===//

def Tile_ImpulseResponseOp : Tile_Op<"impulse_response", [Pure, AttrSizedOperandSegments]> {
  let summary = "What a small linear system that differs from token to token puts out at one token of an impulse at another";
  let description = [{
    A system of m numbers x, with an input u and an output y at each token t:

        y_t = c_t x_(t-1) + d_t u_t,    x_t = A_t x_(t-1) + b_t u_t

    result[t, s] is y_t where u is 1 at token s and 0 elsewhere, and x is 0 before
    the first token: d_t on the diagonal, c_t A_(t-1) ... A_(s+1) b_s below it, 0
    above. `by` holds A row by row, `to` holds c, `from` b and `direct` d: vectors
    of one element a token. This is to states that are coupled by numbers what
    `decay_matrix` is to a single one. A lowering takes products of A as the steps
    take them, and divides by nothing.
  }];
  let arguments = (ins Variadic<Tile_Vector>:$transition, Variadic<Tile_Vector>:$output,
                       Variadic<Tile_Vector>:$input, Tile_Vector:$direct);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = [{
    `by` `(` $transition `)` `to` `(` $output `)` `from` `(` $input `)` `direct` $direct attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Tile_InitialResponseOp : Tile_Op<"initial_response", [Pure, AttrSizedOperandSegments]> {
  let summary = "What the system of `impulse_response` puts out, without input, of one of its numbers before the first token";
  let description = [{
    result[t] = c_t A_(t-1) ... A_0 e, where e is 1 in place `state` and 0 elsewhere.
  }];
  let arguments = (ins Variadic<Tile_Vector>:$transition, Variadic<Tile_Vector>:$output, I64Attr:$state);
  let results = (outs Tile_Vector:$result);
  let assemblyFormat = [{
    $state `by` `(` $transition `)` `to` `(` $output `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

def Tile_ScaleRowsOp : Tile_Op<"scale_rows", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "result[r, c] = scale[r] * input[r, c]";
  let arguments = (ins Tile_Matrix:$input, Tile_Vector:$scale);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = "$input `by` $scale attr-dict `:` type($input) `,` type($scale)";
  let hasVerifier = 1;
}

def Tile_ScaleColumnsOp : Tile_Op<"scale_columns", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "result[r, c] = scale[c] * input[r, c]";
  let arguments = (ins Tile_Matrix:$input, Tile_Vector:$scale);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = "$input `by` $scale attr-dict `:` type($input) `,` type($scale)";
  let hasVerifier = 1;
}

def Tile_SumColumnsOp : Tile_Op<"sum_columns", [Pure]> {
  let summary = "result[r] = sum over c of input[r, c]";
  let arguments = (ins Tile_Matrix:$input);
  let results = (outs Tile_Vector:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatLastOp : Tile_Op<"splat_last", [Pure, SameOperandsAndResultElementType]> {
  let summary = "A vector filled with the last element of another";
  let arguments = (ins Tile_Vector:$input);
  let results = (outs Tile_Vector:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Tile_LastRowOp : Tile_Op<"last_row", [Pure, SameOperandsAndResultElementType]> {
  let summary = "The last row of a matrix, as a vector";
  let arguments = (ins Tile_Matrix:$input);
  let results = (outs Tile_Vector:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Repeats a vector along a new axis";
  let description = [{
    Without `rows` result[r, c] = input[r]; with `rows` every row is the vector: result[r, c] = input[c].
  }];
  let arguments = (ins Tile_Vector:$input, UnitAttr:$along_rows);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = "(`rows` $along_rows^)? $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_UnitColumnsOp : Tile_Op<"unit_columns", [Pure]> {
  let summary = "Columns first, first + 1, ... of the identity";
  let description = [{
    result[r, c] = 1 where first + c = r, else 0; `first` may be negative. With
    `ones`, result[r, c] = 1 where first + c = 0: column 0 is all ones, the others
    are zero. A linear map of the state's columns, applied to these, gives its
    matrix; applied to the ones, the diagonal of a diagonal one.
  }];
  let arguments = (ins Index:$first, UnitAttr:$ones);
  let results = (outs Tile_Matrix:$result);
  let assemblyFormat = "(`ones` $ones^)? $first attr-dict `:` type($result)";
}

def Tile_InterleaveOp : Tile_Op<"interleave", [Pure, SameTypeOperands]> {
  let summary = "result row t * n + i = row t of operand i, for n operands";
  let description = [{
    Stacks what several factors contribute per token, token-major, so that a
    chain of erases is one triangular system in the order of the chain.
  }];
  let arguments = (ins Variadic<Tile_Loaded>:$inputs);
  let results = (outs Tile_Loaded:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MaskRowsOp : Tile_Op<"mask_rows", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Zeroes the rows at or past the sequence's end; `first` is the step of row 0";
  let description = [{
    A tail chunk is a full chunk whose missing rows are inert: log-gate 0,
    strength 0, value 0. Direct loads are so already; what was computed from
    them (a softplus of a zero is no zero) goes through this op.
  }];
  let arguments = (ins Tile_Tensor:$input, Index:$first);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input `from` $first attr-dict `:` type($input)";
}

//===----------------------------------------------------------------------===//
// State 1: roles and channels
//===----------------------------------------------------------------------===//

def Tile_ChannelOp : Tile_Op<"channel", [HasParent<"ProgramOp">]> {
  let summary = "Makes a channel, all of its slots empty";
  let results = (outs Tile_ChannelType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_RoleOp : Tile_Op<"role", [HasParent<"ProgramOp">, NoTerminator, SingleBlock]> {
  let summary = "What some warps of the block do, beside the other roles";
  let description = [{
    The roles of a program run at the same time, each on warps of its own, and meet
    only in channels. `load` moves tiles from views to channels and does nothing
    else; `prepare` computes what does not depend on the state; `chain` carries the
    state. Which op goes where follows from what it depends on and from its axes
    (`tile-specialize-roles`), never from a model's name.

    Programs that differ in their value columns only run as blocks of one cluster,
    side by side. What is the same for all columns need be done once: a role with
    `cluster n` takes turns with the same role of the other n - 1 blocks, iteration
    by iteration, and what it sends arrives in all of them. With `apart p` it runs in
    p further blocks of the cluster instead, which have no value columns and run
    nothing but the roles that are apart: these take turns, and what they send to
    the other roles arrives in all n blocks. Nothing is sent to them.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$warps, DefaultValuedAttr<I64Attr, "1">:$cluster,
      DefaultValuedAttr<I64Attr, "0">:$apart);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warps` $warps (`cluster` $cluster^)? (`apart` $apart^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it runs in blocks of its own.
    bool isApart() { return getApart() > 0; }
  }];
}

def Tile_SendOp : Tile_Op<"send"> {
  let summary = "Waits for an empty slot and fills it";
  let description = [{
    One value for each part of the message, of the same shape and element type. In
    the role `load` the values are loads, which become asynchronous copies.
  }];
  let arguments = (ins Variadic<Tile_Loaded>:$values, Arg<Tile_ChannelType, "", [MemWrite]>:$channel);
  let assemblyFormat = "$values `to` $channel attr-dict `:` type($values) `to` type($channel)";
  let hasVerifier = 1;
}

def Tile_ReceiveOp : Tile_Op<"receive", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Waits for a full slot; its message may be read until the release";
  let arguments = (ins Arg<Tile_ChannelType, "", [MemRead, MemWrite]>:$channel);
  let results = (outs Variadic<Tile_Loaded>:$values);
  let assemblyFormat = "$channel attr-dict `:` type($channel)";
}

def Tile_ReleaseOp : Tile_Op<"release"> {
  let summary = "Gives the slot of this iteration's receive back";
  let arguments = (ins Arg<Tile_ChannelType, "", [MemWrite]>:$channel);
  let assemblyFormat = "$channel attr-dict `:` type($channel)";
  let hasVerifier = 1;
}

#endif // PRISM_DIALECT_TILE_IR_TILEOPS_TD
