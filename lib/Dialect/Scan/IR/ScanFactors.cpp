//===- ScanFactors.cpp - StateOpInterface of the built-in factors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For each factor: what it contributes to the chunk form, and one step in f64
// (the definition that the oracle evaluates). The two are written apart on
// purpose: the second checks the first.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace prism::scan;

//===----------------------------------------------------------------------===//
// Decay
//===----------------------------------------------------------------------===//

OpOperand &DecayOp::getStateOperand() { return getStateMutable(); }
Value DecayOp::getStateResult() { return getResult(); }
bool DecayOp::isLinear() { return true; }

bool DecayOp::hasChunkForm(std::string &reason) {
  if (getAlong() == DecayAlong::scalar || getAlong() == DecayAlong::key)
    return true;
  reason = ("a decay along " + stringifyDecayAlong(getAlong()) +
            " has no chunk form: within a chunk every value column would need "
            "products of its own")
               .str();
  return false;
}

void DecayOp::contributeToChunk(ChunkAssembler &assembler) {
  assembler.addDecay(getLogGate(), getAlong());
}

/// exp(-inf) * anything is an exact 0, also where the state overflowed.
static double keep(double factor, double x) {
  return factor == 0.0 ? 0.0 : factor * x;
}

void DecayOp::applyStep(StepState &step) {
  MutableArrayRef<double> state = step.state();
  ArrayRef<double> gate = step.get(getLogGate());
  int64_t keys = step.keys(), values = step.values();
  DecayAlong along = getAlong();
  if (along == DecayAlong::element) {
    for (auto [x, g] : llvm::zip_equal(state, gate))
      x = keep(std::exp(g), x);
    return;
  }
  if (along == DecayAlong::value) {
    MutableArrayRef<double> factors = step.scratch(values);
    for (int64_t v = 0; v < values; ++v)
      factors[v] = std::exp(gate[v]);
    for (int64_t k = 0; k < keys; ++k)
      for (int64_t v = 0; v < values; ++v)
        state[k * values + v] = keep(factors[v], state[k * values + v]);
    return;
  }
  double factor = 0.0;
  for (int64_t k = 0; k < keys; ++k) {
    if (k == 0 || along == DecayAlong::key)
      factor = std::exp(gate[k]);
    MutableArrayRef<double> row = state.slice(k * values, values);
    if (factor == 0.0)
      llvm::fill(row, 0.0);
    else
      for (double &x : row)
        x *= factor;
  }
}

//===----------------------------------------------------------------------===//
// Erase
//===----------------------------------------------------------------------===//

OpOperand &EraseOp::getStateOperand() { return getStateMutable(); }
Value EraseOp::getStateResult() { return getResult(); }
bool EraseOp::isLinear() { return true; }
bool EraseOp::hasChunkForm(std::string &) { return true; }

void EraseOp::contributeToChunk(ChunkAssembler &assembler) {
  assembler.addErase(getOf() ? getOf() : getState(), getRead(), getWrite(),
                     getStrength());
}

/// to += factor * from
static void addScaled(MutableArrayRef<double> to, double factor,
                      ArrayRef<double> from) {
  double *out = to.data();
  const double *in = from.data();
  for (size_t i = 0, e = to.size(); i < e; ++i)
    out[i] += factor * in[i];
}

void EraseOp::applyStep(StepState &step) {
  MutableArrayRef<double> state = step.state();
  // `of` names an earlier state of this step; the caller kept its values.
  ArrayRef<double> source =
      getOf() ? step.get(getOf()) : ArrayRef<double>(state);
  ArrayRef<double> read = step.get(getRead()), write = step.get(getWrite());
  ArrayRef<double> strength = step.get(getStrength());
  int64_t keys = step.keys(), values = step.values(), ranks = strength.size();
  // All ranks read before any writes: the sum is simultaneous.
  MutableArrayRef<double> gone = step.scratch(ranks * values);
  llvm::fill(gone, 0.0);
  for (int64_t k = 0; k < keys; ++k)
    for (int64_t r = 0; r < ranks; ++r)
      addScaled(gone.slice(r * values, values), read[r * keys + k],
                source.slice(k * values, values));
  for (int64_t k = 0; k < keys; ++k)
    for (int64_t r = 0; r < ranks; ++r)
      addScaled(state.slice(k * values, values),
                -(strength[r] * write[r * keys + k]),
                gone.slice(r * values, values));
}

//===----------------------------------------------------------------------===//
// Inject
//===----------------------------------------------------------------------===//

OpOperand &InjectOp::getStateOperand() { return getStateMutable(); }
Value InjectOp::getStateResult() { return getResult(); }
bool InjectOp::isLinear() { return false; }
bool InjectOp::hasChunkForm(std::string &) { return true; }

void InjectOp::contributeToChunk(ChunkAssembler &assembler) {
  assembler.addInject(getKey(), getValue(), getScale());
}

void InjectOp::applyStep(StepState &step) {
  MutableArrayRef<double> state = step.state();
  ArrayRef<double> key = step.get(getKey()), value = step.get(getValue());
  ArrayRef<double> scale;
  if (getScale())
    scale = step.get(getScale());
  int64_t keys = step.keys(), values = step.values();
  int64_t ranks = key.size() / keys;
  for (int64_t k = 0; k < keys; ++k)
    for (int64_t l = 0; l < ranks; ++l)
      addScaled(state.slice(k * values, values),
                (getScale() ? scale[l] : 1.0) * key[l * keys + k],
                value.slice(l * values, values));
}
