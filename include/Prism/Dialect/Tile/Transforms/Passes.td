//===- Passes.td - Passes within the tile dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define PRISM_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileInvertSystems : Pass<"tile-invert-systems", "::prism::tile::ProgramOp"> {
  let summary = "Invert systems that do not depend on the state";
  let description = [{
    `tile.solve %A, %rhs` becomes `tile.dot` with `tile.invert %A` where %A does not
    depend on a loop-carried value and %rhs does, or where several solves share %A.
    The inverse is then computed beside the chain of states, and what stays on the
    chain is a product. A system that depends on the state stays a solve, with a
    missed remark.

    ```mlir
    // before
    %x = tile.solve %system, %state : tensor<4x4xf32>, tensor<4x8xf32>
    // after --tile-invert-systems
    %inverse = tile.invert %system : tensor<4x4xf32>
    %zero = arith.constant dense<0.0> : tensor<4x8xf32>
    %x = tile.dot %inverse, %state, %zero : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileScaleResults : Pass<"tile-scale-results", "::prism::tile::ProgramOp"> {
  let summary = "Scale results of dots instead of loaded operands";
  let description = [{
    A scale of an axis that a dot keeps commutes with it. Where it stands on a
    loaded tile (a norm of keys or queries: a scale of rows by what was computed of
    them) the dot reads the tile as it was loaded, and its result is scaled: rows by
    the left operand's scale, columns by the right one's. So no product waits for a
    norm, and what is multiplied is exact.

    To see such scales the pass takes them out of what copies rows. A mask of rows
    past the end, which were loaded as zeros, becomes a mask of the scale. Of an
    interleave of scaled loads, rows of one token, the loads are interleaved, and the
    scales, where they are computed alike of the loads, are computed of the stacked
    tile.

    ```mlir
    // before
    %unit = tile.scale_rows %kt by %norm : tensor<4x2xf32>, tensor<4xf32>
    %read = tile.dot %unit, %state, %zero : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    // after --tile-scale-results
    %product = tile.dot %kt, %state, %zero : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    %read = tile.scale_rows %product by %norm : tensor<4x8xf32>, tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileMoveScales : Pass<"tile-move-scales", "::prism::tile::ProgramOp"> {
  let summary = "Leave loaded operands of dots as they were loaded";
  let description = [{
    A scale along the contracted axis belongs to either operand. Where it stands on
    a loaded tile (a load, or an interleave of loads) it moves to the other one:
    what lies in shared memory is then what was loaded, and the scale is applied to
    a tile that passes through registers anyway. Where both are loaded it moves from
    the left operand to the right one, which holds the values. A scale on a computed
    tile stays, with a missed remark; but one of what a system is solved for goes to
    the inverse's columns, where the state comes without the scale and the scale
    without the state.

    A number that a sum of products with the state is multiplied by goes to what
    these products have of computed tiles and scales without the state, where all of
    them have some and the state waits for a product with an inverse: without one,
    what is computed beside the state takes longer.

    ```mlir
    // before
    %kept = tile.scale_rows %kt by %decay : tensor<4x2xf32>, tensor<4xf32>
    %write = tile.dot %kept transposed, %x, %zero : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    // after --tile-move-scales
    %kept = tile.scale_rows %x by %decay : tensor<4x8xf32>, tensor<4xf32>
    %write = tile.dot %kt transposed, %kept, %zero : tensor<4x2xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    ```
  }];
}

def TileJoinScales : Pass<"tile-join-scales", "::prism::tile::ProgramOp"> {
  let summary = "Make one scale of several";
  let description = [{
    A tile that is scaled twice by what does not depend on the state is scaled once,
    by the product of the vectors, which is computed beside the chain of states. In
    between may stand scales of the other axis and products element by element; no
    one else may read what is in between. A number that a scaled tile is multiplied
    by goes to the vector likewise. A scale of the columns of scores goes to their
    decays, which are the same for all scores of these columns, and then the scale is.

    ```mlir
    // before
    %read = tile.scale_rows %product by %norm : tensor<4x8xf32>, tensor<4xf32>
    %seen = tile.scale_rows %read by %decay : tensor<4x8xf32>, tensor<4xf32>
    // after --tile-join-scales
    %both = arith.mulf %norm, %decay : tensor<4xf32>
    %seen = tile.scale_rows %product by %both : tensor<4x8xf32>, tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileTransposeScores : Pass<"tile-transpose-scores", "::prism::tile::ProgramOp"> {
  let summary = "Compute scores of few readers and many writers transposed";
  let description = [{
    A warpgroup's product has 64 rows. Where a token writes several rows and reads
    once, scores that do not depend on the state are fewer rows than columns: 32 x 64
    for two writers. They are computed transposed, and contracted by their rows.
    Decays whose readers and writers are the same rows in the order of the chain are
    told as those of as many tokens: the lower triangle that they are.

    ```mlir
    // before
    %qk = tile.dot %q, %k transposed, %zero : tensor<32x128xf32>, tensor<64x128xf32> -> tensor<32x64xf32>
    %decay = tile.decay_matrix %g at [2], %g2 at [0, 1] : tensor<32xf64>, tensor<64xf64> -> tensor<32x64xf32>
    %scores = arith.mulf %qk, %decay : tensor<32x64xf32>
    %o = tile.dot %scores, %x, %seen : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
    // after --tile-transpose-scores
    %qk = tile.dot %k, %q transposed, %zero : tensor<64x128xf32>, tensor<32x128xf32> -> tensor<64x32xf32>
    %decay = tile.decay_matrix transposed %g at [2], %g2 at [0, 1] : tensor<32xf64>, tensor<64xf64> -> tensor<64x32xf32>
    %scores = arith.mulf %qk, %decay : tensor<64x32xf32>
    %o = tile.dot %scores transposed, %x, %seen : tensor<64x32xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileRoundDotOperands : Pass<"tile-round-dot-operands", "::prism::tile::ProgramOp"> {
  let summary = "Round operands of dots to 16 bits; sums stay in f32";
  let description = [{
    Loads of views of the type become tiles of it, widened by `arith.extf` where
    they are used in f32; an interleave of such tiles is one itself. In front of
    every dot into f32 the operands are rounded by `arith.truncf`, unless they are
    of the type as they lie. Left alone, with a missed remark, are dots of two
    tiles loaded in another type, which no register passes on their way to the
    tensor cores, dots that sum in f64, and programs split into roles. Operands may
    leave the range of f16; the lowering for tensor cores gives them powers of two
    (docs/GPU.md), the others do not.

    ```mlir
    // before
    %kt = tile.load %k[%t, %c0] : <?x4xbf16> -> tensor<2x4xf32>
    %read = tile.dot %kt, %state, %none : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    // after --tile-round-dot-operands="type=bf16"
    %kt = tile.load %k[%t, %c0] : <?x4xbf16> -> tensor<2x4xbf16>
    %rounded = arith.truncf %state : tensor<4x8xf32> to tensor<4x8xbf16>
    %read = tile.dot %kt, %rounded, %none : tensor<2x4xbf16>, tensor<4x8xbf16> -> tensor<2x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"type", "type", "std::string", "\"bf16\"", "bf16 or f16">];
}

def TileSpecializeRoles : Pass<"tile-specialize-roles", "::prism::tile::ProgramOp"> {
  let summary = "Split the chunk loop into roles that run side by side";
  let description = [{
    Every axis of every tile counts rows of the chunk, keys or values. What has
    value columns or depends on the carried state is `chain`'s, with the loads and
    stores beside the loop; loads (and interleaves of loads) are `load`'s; the rest,
    which is the same for all value columns and can run ahead of the state, is
    `prepare`'s. What one role makes and another needs goes through a channel: one
    for each maker and set of receivers, loads apart by keys and values; vectors go
    with keys. With `sums-by-load` sums of gates that are made of loaded numbers of
    tokens alone are `load`'s too.
    Widening a 16-bit tile, and cheap arithmetic on vectors that are sent anyway, is
    repeated rather than sent.

    In `chain` what needs least comes first: products of keys with the state run
    while the preparation finishes; then the next state, and outputs last. What a
    product is added to is computed beside an earlier one. In `prepare` the product
    of a system comes first and vectors are made while it runs; then the next
    product, and beside it the system and its inverse. Messages are received, and widened,
    right before their first use and released right after the last; where that is a
    product, which reads while it runs, right before its result is used.

    With `cluster`, as many blocks of values share the role `prepare`: they take
    turns, and each gets what the others send. With `prepare-blocks` as well, so
    many further blocks of the cluster run it, apart, with loads of what it
    receives, and the blocks of values do not.

    Each channel gets `slots` slots; where `shared-memory` does not hold them,
    channels of values lose theirs first, then that of the preparation, then keys; with
    `prepare-blocks` keys before that of the preparation. A program that cannot be split stays as it is, with a missed remark.

    ```mlir
    // before
    %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %start) -> (tensor<128x64xf32>) {
      %k = tile.load %keys[%t, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
      %v = tile.load %values[%t, %column] : <?x64xbf16> -> tensor<64x64xbf16>
      %next = tile.dot %k transposed, %v, %state : tensor<64x128xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
      scf.yield %next : tensor<128x64xf32>
    }
    // after --tile-specialize-roles (two more lines for the channel of values)
    %0 = tile.channel : <2 x (tensor<64x128xbf16>)>
    tile.role "load" warps 4 {
      scf.for %t = %c0 to %length step %c64 {
        %k = tile.load %keys[%t, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
        tile.send %k to %0 : tensor<64x128xbf16> to !tile.channel<2 x (tensor<64x128xbf16>)>
      }
    }
    tile.role "chain" warps 4 {
      %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %start) -> (tensor<128x64xf32>) {
        %k = tile.receive %0 : !tile.channel<2 x (tensor<64x128xbf16>)>
        %next = tile.dot %k transposed, %v, %state : tensor<64x128xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
        tile.release %0 : !tile.channel<2 x (tensor<64x128xbf16>)>
        scf.yield %next : tensor<128x64xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"slots", "slots", "int64_t", "2", "slots of a channel, where shared memory suffices">,
    Option<"prepareTeams", "prepare-teams", "int64_t", "1", "warp groups that take turns in preparing">,
    Option<"cluster", "cluster", "int64_t", "1", "blocks of values that run as a cluster and take turns in preparing">,
    Option<"prepareBlocks", "prepare-blocks", "int64_t", "0", "further blocks of the cluster that do nothing but prepare">,
    Option<"sumsByLoad", "sums-by-load", "bool", "false", "whoever loads log-gates sums them">,
    Option<"sharedMemory", "shared-memory", "int64_t", "232448", "bytes of a block's shared memory">
  ];
}

def TileSplitSequence : Pass<"tile-split-sequence", "::mlir::ModuleOp"> {
  let summary = "Split the chunk loop of a program into three launches over segments";
  let description = [{
    With few sequences and heads one work item for each of them leaves a machine
    idle. A step's map of the state is affine, so a sequence can be cut into P
    segments: `maps` computes the map S -> M S + B of every segment but the last, all
    at once, `combine` goes from segment to segment with S <- M S + B, and `segments`
    is the program as it was, with segments for sequences. B is the state that a
    segment ends in from zero; M's columns are further value columns of that state,
    which start as the identity, and for which nothing is injected since values
    beyond their array read as zero. A chain that only decays gets one column of
    ones instead, and M is diagonal. Where each element of the state has a factor of
    its own, M is a tile like the state that the loop carries beside it, and is stored
    in the rows below B's.

    Where log-gates are an input and erases do not amplify, blocks of M first sum them
    (`tile.sum_steps`), and take no steps where the sum leaves nothing of a state.

    With `fold-maps` segments whose maps are diagonal have no `combine`: each starts
    by going from segment to segment itself (`tile.fold_maps`), over maps that lie in
    the order of accumulators. Of others a missed remark says why not.

    A program whose next state is not seen to be affine in the state, or whose
    injections do not vanish with the values, stays as it is, with a missed remark.

    ```mlir
    // before
    tile.program @f(...) heads 2 values 64 block 64 chunk 64 {
      ...
      %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %start) -> ... {
    // after
    tile.program @f_maps(..., %map, %begin) heads 2 values 128 block 64 chunk 64 segments inner {
      ...
      %first = arith.subi %column, %c64 : index
      %units = tile.unit_columns %first : tensor<64x64xf32>
      %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %units) -> ... {
      }
      tile.store %end, %map[%c0, %column] : ...
    }
    tile.program @f_combine(..., %map, %begin) heads 2 values 64 block 8 chunk 64 segments scan {
      ...
      scf.for %p = %c0 to %last step %c1 iter_args(%state = %start) -> ... {
        %b = tile.load one_step %map[%p, %c0, %column] : ...
        %m = tile.load one_step %map[%p, %c0, %c64] : ...
        %next = tile.dot %m, %state, %b : ...
        ...
    }
    tile.program @f_segments(..., %map, %begin) heads 2 values 64 block 64 chunk 64 segments all {
      %start = tile.load %begin[%c0, %column] : ...
    // after, with fold-maps, a program that only decays
    tile.program @f_maps(..., %map) heads 2 values 65 block 64 chunk 64 segments inner {
      ...
      tile.store_map %end, %map[%column] : tensor<64x64xf32>, <5x1024xf32>
    }
    tile.program @f_segments(..., %map) heads 2 values 64 block 64 chunk 64 segments all {
      ...
      %start = tile.fold_maps %map[%column] factors 64 into %initial : <?x5x1024xf32>, tensor<64x64xf32>
      %end = scf.for %t = %c0 to %length step %c64 iter_args(%state = %start) -> ... {
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"combineBlock", "combine-block", "int64_t", "8", "value columns of a work item of `combine`, at least 16 where maps are diagonal">,
    Option<"foldMaps", "fold-maps", "bool", "false", "segments fold diagonal maps before them, without `combine`">
  ];
}

def TileMergeRoles : Pass<"tile-merge-roles", "::prism::tile::ProgramOp"> {
  let summary = "Turn a program of roles back into one loop";
  let description = [{
    The inverse of `tile-specialize-roles`: the roles' loops become one, senders
    before receivers, and what was sent is what is received. The CPU executes the
    result, so that a split can be compared with the float64 recurrence.

    `check-channels` plays the channel ops first, each role going on as long as it
    may: it is an error if a message is not sent, received and released once an
    iteration, or if all roles wait.
  }];
  let options = [
    Option<"check", "check-channels", "bool", "false", "play the channel ops before merging">,
    Option<"iterations", "iterations", "int64_t", "5", "iterations to play">
  ];
}

#endif // PRISM_DIALECT_TILE_TRANSFORMS_PASSES_TD
