//===- Control.cpp - Branches, loops and calls ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lanes of a warp that take different sides run one side after the other and
// meet again at the end. A frame keeps the masks.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace prism::test;

Registers Decoder::flatten(ValueRange range) {
  Registers all;
  for (Value value : range)
    llvm::append_range(all, of(value));
  return all;
}

void Decoder::bindFresh(ValueRange range) {
  for (Value value : range)
    bind(value, fresh(value.getType()));
}

static uint32_t lanesWhere(Warp &warp, uint32_t reg, bool isSet) {
  uint32_t lanes = 0;
  forLanes(warp.mask, [&](unsigned lane) {
    lanes |= uint32_t((warp.lane(reg)[lane] != 0) == isSet) << lane;
  });
  return lanes;
}

static void popFrame(Machine &, Warp &warp) {
  warp.mask = warp.frames.pop_back_val().first;
}

void Decoder::decodeIf(Operation *op) {
  auto choice = cast<scf::IfOp>(op);
  bindFresh(op->getResults());
  Registers results = flatten(op->getResults());
  uint32_t condition = scalar(choice.getCondition());
  emitReset(results);
  // Where the else side and the end are is known only afterwards.
  auto places = std::make_shared<std::pair<size_t, size_t>>();
  emitStep({condition}, {}, [=](Machine &, Warp &warp) {
    uint32_t yes = lanesWhere(warp, condition, true);
    warp.frames.push_back({warp.mask, warp.mask & ~yes});
    if (yes) {
      warp.mask = yes;
      return Step::Next;
    }
    warp.pc = places->first;
    return Step::Jumped;
  });
  auto decodeSide = [&](Region &region) {
    if (region.empty())
      return;
    decodeBlock(region.front());
    current = op;
    emitMoves(results, flatten(region.front().getTerminator()->getOperands()));
  };
  decodeSide(choice.getThenRegion());
  current = op;
  places->first = label();
  emitStep({}, {}, [=](Machine &, Warp &warp) {
    uint32_t no = warp.frames.back().second;
    if (no) {
      warp.mask = no;
      return Step::Next;
    }
    warp.pc = places->second;
    return Step::Jumped;
  });
  decodeSide(choice.getElseRegion());
  current = op;
  places->second = label();
  emit({}, {}, popFrame);
}

void Decoder::decodeFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  bind(loop.getInductionVar(), {fresh()});
  bindFresh(loop.getRegionIterArgs());
  uint32_t index = scalar(loop.getInductionVar()),
           lower = scalar(loop.getLowerBound()),
           upper = scalar(loop.getUpperBound()), step = scalar(loop.getStep());
  Registers carried = flatten(loop.getRegionIterArgs());
  unsigned shift = 64 - widthOf(loop.getInductionVar().getType());
  emitReset(carried);
  emitMoves(carried, flatten(loop.getInitArgs()));
  emit({lower, upper, step}, {index}, [=](Machine &, Warp &warp) {
    std::copy_n(warp.lane(lower), 32, warp.lane(index));
    warp.frames.push_back({warp.mask, 0});
  });
  auto end = std::make_shared<size_t>();
  size_t head = label();
  emitStep({index, upper}, {}, [=](Machine &, Warp &warp) {
    uint32_t go = 0;
    uint64_t *at = warp.lane(index), *limit = warp.lane(upper);
    forLanes(warp.mask, [&](unsigned lane) {
      go |= uint32_t(int64_t(at[lane] << shift) < int64_t(limit[lane] << shift))
            << lane;
    });
    if (go) {
      warp.mask = go;
      return Step::Next;
    }
    warp.pc = *end;
    return Step::Jumped;
  });
  decodeBlock(*loop.getBody());
  current = op;
  emitMoves(carried, flatten(loop.getBody()->getTerminator()->getOperands()));
  emitStep({}, {index}, [=](Machine &, Warp &warp) {
    uint64_t *at = warp.lane(index), *by = warp.lane(step);
    forLanes(warp.mask, [&](unsigned lane) {
      at[lane] = (at[lane] + by[lane]) << shift >> shift;
    });
    warp.pc = head;
    return Step::Jumped;
  });
  *end = label();
  emit({}, {}, popFrame);
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    bind(result, of(argument));
}

void Decoder::decodeWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  bindFresh(loop.getBeforeArguments());
  bindFresh(loop.getAfterArguments());
  Registers before = flatten(loop.getBeforeArguments()),
            after = flatten(loop.getAfterArguments());
  emitReset(before);
  emitReset(after);
  emitMoves(before, flatten(loop.getInits()));
  emit({}, {},
       [](Machine &, Warp &warp) { warp.frames.push_back({warp.mask, 0}); });
  auto end = std::make_shared<size_t>();
  size_t head = label();
  decodeBlock(*loop.getBeforeBody());
  current = op;
  scf::ConditionOp conditionOp = loop.getConditionOp();
  uint32_t condition = scalar(conditionOp.getCondition());
  emitMoves(after, flatten(conditionOp.getArgs()));
  emitStep({condition}, {}, [=](Machine &, Warp &warp) {
    uint32_t go = lanesWhere(warp, condition, true);
    if (go) {
      warp.mask = go;
      return Step::Next;
    }
    warp.pc = *end;
    return Step::Jumped;
  });
  decodeBlock(*loop.getAfterBody());
  current = op;
  emitMoves(before,
            flatten(loop.getAfterBody()->getTerminator()->getOperands()));
  emitStep({}, {}, [=](Machine &, Warp &warp) {
    warp.pc = head;
    return Step::Jumped;
  });
  *end = label();
  emit({}, {}, popFrame);
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getAfterArguments()))
    bind(result, of(argument));
}

/// Like nested ifs: each case takes the lanes that have its number.
void Decoder::decodeSwitch(Operation *op) {
  auto choice = cast<scf::IndexSwitchOp>(op);
  bindFresh(op->getResults());
  Registers results = flatten(op->getResults());
  uint32_t argument = scalar(choice.getArg());
  emitReset(results);
  emit({argument}, {}, [](Machine &, Warp &warp) {
    warp.frames.push_back({warp.mask, warp.mask});
  });
  ArrayRef<int64_t> cases = choice.getCases();
  for (size_t i = 0; i <= cases.size(); ++i) {
    // The default comes last and takes what is left.
    bool isDefault = i == cases.size();
    uint64_t number = isDefault ? 0 : uint64_t(cases[i]);
    auto end = std::make_shared<size_t>();
    emitStep({}, {}, [=](Machine &, Warp &warp) {
      uint32_t &left = warp.frames.back().second, mine = 0;
      forLanes(left, [&](unsigned lane) {
        bool isMine = isDefault || warp.lane(argument)[lane] == number;
        mine |= uint32_t(isMine) << lane;
      });
      left &= ~mine;
      if (mine) {
        warp.mask = mine;
        return Step::Next;
      }
      warp.pc = *end;
      return Step::Jumped;
    });
    Region &region =
        isDefault ? choice.getDefaultRegion() : choice.getCaseRegions()[i];
    decodeBlock(region.front());
    current = op;
    emitMoves(results, flatten(region.front().getTerminator()->getOperands()));
    *end = label();
  }
  emit({}, {}, popFrame);
}

bool Decoder::decodeCall(Operation *op) {
  auto call = cast<LLVM::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
      op, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() ||
      depth > 8)
    return false;
  ++depth;
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), call.getArgOperands()))
    bind(argument, of(operand));
  Block &body = callee.getBody().front();
  decodeBlock(body);
  --depth;
  for (auto [result, operand] :
       llvm::zip(op->getResults(), body.getTerminator()->getOperands()))
    bind(result, of(operand));
  return true;
}

bool Decoder::decodeControl(Operation *op) {
  if (isa<scf::IfOp>(op))
    decodeIf(op);
  else if (isa<scf::ForOp>(op))
    decodeFor(op);
  else if (isa<scf::WhileOp>(op))
    decodeWhile(op);
  else if (isa<scf::IndexSwitchOp>(op))
    decodeSwitch(op);
  else if (isa<LLVM::CallOp>(op))
    return decodeCall(op);
  else
    return isa<scf::YieldOp, scf::ConditionOp, LLVM::ReturnOp>(op);
  return true;
}
