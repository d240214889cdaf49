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
#include "llvm/ADT/SmallVector.h"
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
  if (getAlong() == DecayAlong::scalar)
    return true;
  reason = ("a decay along " + stringifyDecayAlong(getAlong()) + " has no chunk form yet; the recurrent schedule takes it").str();
  return false;
}

void DecayOp::contributeToChunk(ChunkAssembler &assembler) {
  assembler.addDecay(*this, getLogGate(), getAlong());
}

void DecayOp::applyStep(StepState &step) {
  MutableArrayRef<double> state = step.state();
  ArrayRef<double> gate = step.get(getLogGate());
  int64_t keys = step.keys(), values = step.values();
  for (int64_t k = 0; k < keys; ++k)
    for (int64_t v = 0; v < values; ++v) {
      int64_t at = 0;
      if (getAlong() == DecayAlong::key)
        at = k;
      else if (getAlong() == DecayAlong::value)
        at = v;
      else if (getAlong() == DecayAlong::element)
        at = k * values + v;
      // exp(-inf) * anything kept is an exact 0, also where the state overflowed.
      double factor = std::exp(gate[at]);
      state[k * values + v] = factor == 0.0 ? 0.0 : factor * state[k * values + v];
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
  assembler.addErase(*this, getOf() ? getOf() : getState(), getRead(), getWrite(), getStrength());
}

void EraseOp::applyStep(StepState &step) {
  MutableArrayRef<double> state = step.state();
  // `of` names an earlier state of this step; the caller kept its values.
  ArrayRef<double> source = getOf() ? step.get(getOf()) : ArrayRef<double>(state);
  ArrayRef<double> read = step.get(getRead()), write = step.get(getWrite()), strength = step.get(getStrength());
  int64_t keys = step.keys(), values = step.values();
  int64_t ranks = strength.size();
  // All ranks read before any writes: the sum is simultaneous.
  SmallVector<double> gone(ranks * values, 0.0);
  for (int64_t r = 0; r < ranks; ++r)
    for (int64_t k = 0; k < keys; ++k)
      for (int64_t v = 0; v < values; ++v)
        gone[r * values + v] += read[r * keys + k] * source[k * values + v];
  for (int64_t r = 0; r < ranks; ++r)
    for (int64_t k = 0; k < keys; ++k)
      for (int64_t v = 0; v < values; ++v)
        state[k * values + v] -= strength[r] * write[r * keys + k] * gone[r * values + v];
}

//===----------------------------------------------------------------------===//
// Inject
//===----------------------------------------------------------------------===//

OpOperand &InjectOp::getStateOperand() { return getStateMutable(); }
Value InjectOp::getStateResult() { return getResult(); }
bool InjectOp::isLinear() { return false; }
bool InjectOp::hasChunkForm(std::string &) { return true; }

void InjectOp::contributeToChunk(ChunkAssembler &assembler) {
  assembler.addInject(*this, getKey(), getValue(), getScale());
}

void InjectOp::applyStep(StepState &step) {
  MutableArrayRef<double> state = step.state();
  ArrayRef<double> key = step.get(getKey()), value = step.get(getValue());
  ArrayRef<double> scale = getScale() ? step.get(getScale()) : ArrayRef<double>();
  int64_t keys = step.keys(), values = step.values();
  int64_t ranks = key.size() / keys;
  for (int64_t l = 0; l < ranks; ++l)
    for (int64_t k = 0; k < keys; ++k)
      for (int64_t v = 0; v < values; ++v)
        state[k * values + v] += (getScale() ? scale[l] : 1.0) * key[l * keys + k] * value[l * values + v];
}
