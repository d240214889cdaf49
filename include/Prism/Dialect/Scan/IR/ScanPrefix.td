//===- ScanPrefix.td - The general prefix scan --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Included by ScanOps.td, which defines the operand types.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_SCANPREFIX_TD
#define PRISM_DIALECT_SCAN_IR_SCANPREFIX_TD

include "Prism/Dialect/Scan/IR/ScanBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Scan_PrefixOp : Scan_Op<"prefix", [
    SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments, AttrSizedResultSegments,
    SingleBlockImplicitTerminator<"::prism::scan::YieldOp">]> {
  let summary = "A prefix scan over time: elements, their aggregation, and what is inferred from a prefix";
  let description = [{
    A prefix-scannable model (arXiv 2506.10918). `enc` makes the element of one
    token, or with `chunk c` of c tokens, from its inputs. `agg` joins two
    elements, the older one first. `inf` computes the outputs of a token, or of
    a chunk, from a prefix and the inputs; the prefix is that of all tokens or
    chunks before. With `inclusive` it has the token's own element too; chunks
    are then 1, since a token of a longer one would see later ones.

    An element has one or more components: scalars or tensors of static shape,
    f32 or f64. `identity` gives one operand for each, whose features (all axes
    but n and h) are the component's; the prefix of nothing is this element.
    It is a formal identity, not aggregated with anything, unless `evaluate` is
    said: then it is an ordinary oldest element, learned, or the total of an
    earlier call, and `agg` sees it.

    `agg` need not be associative: the order in which elements are joined is part
    of the meaning. With x_0 ... x_{t-1} and t = 2^a + 2^b + ..., a > b > ..., the
    first 2^a elements, then the next 2^b, ... form perfectly balanced trees
    B_1, B_2, ..., and the prefix is `(((e B_1) B_2) ...) B_m`, without e where it
    is formal. It is what a static scan of Blelloch's computes, of whatever
    length, and what a binary counter holds when tokens come one by one. For
    t = 7: `((((0 1)(2 3))(4 5)) 6)`. `associative` declares that any order gives
    the same; lowerings may then choose, and `scan-classify` says whether it
    has been proved.

    Axes, heads, `reverse` and `offsets` are those of `scan.recurrence`; identities
    have the axes of states, heads may be fewer as for inputs, and n may be
    missing. With a chunk c > 1, an argument for an input with axis t has a
    leading axis of c tokens, and so has what `inf` yields. Where the last chunk
    of a sequence is shorter, its missing tokens read as 0 and their outputs
    are dropped. `finals` are the components of the prefix after all complete
    chunks; of an empty sequence, the identity. A later call that evaluates them
    as its identity, from the incomplete chunk on, goes on as one call would if
    `agg` is associative; if not, it joins in another order.

    Absent operands (`scan.optional`) are as for recurrences: identities are zeros.

    ```mlir
    // S' = exp(g) S + k v^T, y = S'^T q, as an associative scan of (g, S).
    %o, %g_all, %s_all = scan.prefix inclusive associative
        ins(%q as "bthk", %k as "bthk", %v as "bthv", %g as "bth"
            : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4xf32>)
        identity(%zero as "", %s0 as "nhkv" : tensor<f32>, tensor<?x4x64x64xf32>) evaluate
        outs("bthv") finals("nh", "nhkv")
    enc {
    ^bb0(%qt: tensor<64xf32>, %kt: tensor<64xf32>, %vt: tensor<64xf32>, %gt: f32):
      %none = arith.constant dense<0.0> : tensor<64x64xf32>
      %s = scan.inject %none key %kt value %vt : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
      scan.yield %gt, %s : f32, tensor<64x64xf32>
    } agg {
    ^bb0(%g_old: f32, %s_old: tensor<64x64xf32>, %g_new: f32, %s_new: tensor<64x64xf32>):
      %g_both = arith.addf %g_old, %g_new : f32
      %kept = scan.decay %s_old by %g_new along scalar : tensor<64x64xf32>, f32
      %s = arith.addf %kept, %s_new : tensor<64x64xf32>
      scan.yield %g_both, %s : f32, tensor<64x64xf32>
    } inf {
    ^bb0(%gp: f32, %sp: tensor<64x64xf32>, %qt: tensor<64xf32>, %kt: tensor<64xf32>,
         %vt: tensor<64xf32>, %gt: f32):
      %y = scan.read %sp query %qt : tensor<64x64xf32>, tensor<64xf32> -> tensor<64xf32>
      scan.yield %y : tensor<64xf32>
    } -> (tensor<?x?x4x64xf32>), (tensor<?x4xf32>, tensor<?x4x64x64xf32>)
    ```
  }];
  let arguments = (ins
    Variadic<Scan_AnyOperand>:$inputs,
    Variadic<Scan_AnyOperand>:$identities,
    Optional<1DTensorOf<[I64]>>:$offsets,
    StrArrayAttr:$input_axes,
    StrArrayAttr:$identity_axes,
    StrArrayAttr:$output_axes,
    StrArrayAttr:$final_axes,
    UnitAttr:$reverse,
    UnitAttr:$inclusive,
    UnitAttr:$associative,
    UnitAttr:$evaluate_identity,
    OptionalAttr<I64Attr>:$chunk);
  let results = (outs
    Variadic<Scan_AnyOperand>:$outputs,
    Variadic<Scan_AnyOperand>:$final_elements);
  let regions = (region SizedRegion<1>:$enc, SizedRegion<1>:$agg, SizedRegion<1>:$inf);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of components of an element.
    unsigned getNumComponents() { return getIdentities().size(); }
    /// The type of component i: what its identity has beside n and h.
    ::mlir::Type getComponentType(unsigned i);
    /// Tokens of one element.
    int64_t getChunkSize() { return getChunk().value_or(1); }
    /// Axis letters of input i, e.g. "bthk".
    ::llvm::StringRef getInputAxes(unsigned i) {
      return ::llvm::cast<::mlir::StringAttr>(getInputAxesAttr()[i]).getValue();
    }
    /// Heads of outputs and elements (Hv).
    int64_t getNumValueHeads();
    /// The types of the arguments that enc and inf have for the inputs.
    ::mlir::Type getInputArgumentType(unsigned i);
    /// The type of the value that inf yields for output i.
    ::mlir::Type getOutputValueType(unsigned i);
    static YieldOp getYield(::mlir::Region &region);
    /// Part of the verifier: what regions take and yield.
    ::mlir::LogicalResult verifyArguments(::mlir::Region &region, ::llvm::StringRef name,
        ::llvm::StringRef what, ::llvm::ArrayRef<::mlir::Type> types);
    ::mlir::LogicalResult verifyYield(::mlir::Region &region, ::llvm::StringRef name,
        ::llvm::StringRef what, ::llvm::ArrayRef<::mlir::Type> types);
  }];
}

#endif // PRISM_DIALECT_SCAN_IR_SCANPREFIX_TD
