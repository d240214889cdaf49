//===- Elements.h - Numbers of vectors, one at a time -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Log-gates, strengths and what is made of them. f64 elements (sums of
// log-gates) are pairs of f32 that add up to them, about 48 bits: in a profile
// additions in f64 waited for their unit, beside running products, for a sixth
// of the preparation's time.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ELEMENTS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ELEMENTS_H

#include "Instructions.h"

namespace prism::tiletogpu {

/// An element of a vector; of an f64 one, two f32 that add up to it.
struct Element {
  mlir::Value value = {}, low = {};
};

class Elements {
public:
  Elements(ScalarBuilder &b, Instructions &in) : b(b), in(in) {}

  /// What a splat repeats.
  Element ofSplat(mlir::Operation *op, const mlir::IRMapping &scalars);
  /// An elementwise op on one element; functions of f32 by the chip's own.
  Element of(mlir::Operation *op, llvm::ArrayRef<Element> operands);
  /// Element `which` of a few.
  Element select(llvm::ArrayRef<Element> elements, mlir::Value which);
  /// By a condition.
  Element select(mlir::Value condition, Element x, Element y);

  /// Of a vector of sums what a lane has: its neighbouring elements, of 64 two.
  static int64_t neighboursOf(int64_t length) { return (length + 31) / 32; }
  /// The number of one of them; beyond the end the last element's.
  mlir::Value neighbour(mlir::Value lane, int64_t length, int64_t p);
  /// The sums of gates up to each of the lane's neighbours, by a scan over the
  /// lanes of a warp. `gateAt` gives a gate by its number, f64.
  llvm::SmallVector<Element>
  sumGates(mlir::Value lane, int64_t length,
           llvm::function_ref<Element(mlir::Value)> gateAt);
  /// A lane's neighbours to a vector in shared memory, and from there.
  void storeNeighbours(llvm::ArrayRef<Element> neighbours, mlir::Value lane,
                       int64_t length, mlir::Value to);
  llvm::SmallVector<Element> loadNeighbours(mlir::Value lane, int64_t length,
                                            mlir::Value from);

private:
  Element splitConstant(mlir::Value f64);
  Element addPairs(Element x, Element y);
  Element maximumOfPairs(Element x, Element y);
  mlir::Value functionOf(mlir::Operation *op, mlir::ValueRange operands);
  Element splitAt(Element gate, double unit);

  ScalarBuilder &b;
  Instructions &in;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ELEMENTS_H
