//===- WgmmaOps.cpp - Ops of warp groups ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::test;
using llvm::Twine;

static bool isWholeWarp(Machine &machine, Warp &warp) {
  if (warp.mask == ~0u)
    return true;
  machine.fail("a wgmma instruction that some lane does not reach");
  return false;
}

static void emitIssue(Decoder &decoder, const WgmmaSpec &spec) {
  Registers reads = {spec.b};
  // Of A's fragments and the accumulator the product itself is the judge.
  if (spec.a.size() == 1)
    reads.push_back(spec.a[0]);
  if (spec.predicate)
    reads.push_back(*spec.predicate);
  decoder.emitStep(reads, {}, [=](Machine &machine, Warp &warp) {
    switch (machine.gather(warp)) {
    case Machine::Gathering::Incomplete:
      return Step::Blocked;
    case Machine::Gathering::Last:
      issueWgmma(machine, warp.index / 4, spec);
      break;
    case Machine::Gathering::Released:
      break;
    }
    return Step::Next;
  });
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

static bool decodeIssue(Decoder &decoder, Operation *op) {
  auto wgmma = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op);
  if (!wgmma)
    return false;
  NVVM::MMAShapeAttr shape = wgmma.getShape();
  NVVM::WGMMATypes type = wgmma.getTypeA();
  WgmmaSpec spec;
  spec.n = unsigned(shape.getN());
  spec.inputs = decoder.of(wgmma.getInouts());
  if (shape.getM() != 64 || shape.getK() != 16 || type != wgmma.getTypeB() ||
      (type != NVVM::WGMMATypes::bf16 && type != NVVM::WGMMATypes::f16) ||
      wgmma.getTypeD() != NVVM::WGMMATypes::f32 ||
      spec.inputs.size() != spec.n / 2)
    return false;
  spec.isBF16 = type == NVVM::WGMMATypes::bf16;
  spec.a = {decoder.scalar(wgmma.getDescriptorA())};
  spec.b = decoder.scalar(wgmma.getDescriptorB());
  spec.isTransposedA = wgmma.getLayoutA() == NVVM::MMALayout::col;
  spec.isTransposedB = wgmma.getLayoutB() == NVVM::MMALayout::row;
  spec.isNegatedA = wgmma.getScaleA() == NVVM::WGMMAScaleIn::neg;
  spec.isNegatedB = wgmma.getScaleB() == NVVM::WGMMAScaleIn::neg;
  spec.addsToD = wgmma.getScaleD() == NVVM::WGMMAScaleOut::one;
  spec.outputs = decoder.fresh(wgmma.getType());
  decoder.bind(op->getResult(0), spec.outputs);
  emitIssue(decoder, spec);
  return true;
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// Outputs first, each tied to one input; then what the text may read.
static bool checkConstraints(StringRef constraints, size_t outputs,
                             size_t inputs) {
  SmallVector<StringRef> all;
  constraints.split(all, ',');
  if (all.size() != outputs + inputs || inputs < outputs)
    return false;
  for (size_t i = 0; i < all.size(); ++i) {
    StringRef constraint = all[i];
    unsigned tied;
    bool isGood = i < outputs       ? constraint == "=f"
                  : i < 2 * outputs ? !constraint.getAsInteger(10, tied) &&
                                          tied == i - outputs
                                    : constraint == "r" || constraint == "l";
    if (!isGood)
      return false;
  }
  return true;
}

static bool decodeAssembly(Decoder &decoder, Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!assembly || op->getNumResults() != 1)
    return false;
  auto parsed = parseWgmma(assembly.getAsmString());
  Registers outputs = decoder.fresh(op->getResult(0).getType());
  Registers inputs;
  for (Value operand : op->getOperands())
    llvm::append_range(inputs, decoder.of(operand));
  size_t count = outputs.size();
  if (!parsed || inputs.size() != op->getNumOperands() ||
      !checkConstraints(assembly.getConstraints(), count, inputs.size()))
    return false;
  auto input = [&](unsigned number) -> std::optional<uint32_t> {
    if (number < count || number - count >= inputs.size())
      return std::nullopt;
    return inputs[number - count];
  };
  std::vector<WgmmaSpec> specs;
  Registers now(ArrayRef(inputs).take_front(count));
  for (const WgmmaText &text : *parsed) {
    WgmmaSpec spec{text.n,
                   text.isBF16,
                   {},
                   0,
                   text.isTransposedA,
                   text.isTransposedB,
                   text.isNegatedA,
                   text.isNegatedB,
                   text.addsToD,
                   std::nullopt,
                   {},
                   {}};
    for (unsigned number : text.d) {
      if (number >= count)
        return false;
      spec.inputs.push_back(now[number]);
      spec.outputs.push_back(outputs[number]);
      now[number] = outputs[number];
    }
    std::vector<unsigned> reads = text.a;
    reads.push_back(text.b);
    if (text.predicate)
      reads.push_back(*text.predicate);
    for (unsigned number : reads)
      if (!input(number))
        return false;
    for (unsigned number : text.a)
      spec.a.push_back(*input(number));
    spec.b = *input(text.b);
    if (text.predicate)
      spec.predicate = input(*text.predicate);
    specs.push_back(spec);
  }
  // Outputs that no statement writes would be copies of their inputs.
  if (!llvm::equal(now, outputs))
    return false;
  decoder.bind(op->getResult(0), outputs);
  for (const WgmmaSpec &spec : specs)
    emitIssue(decoder, spec);
  return true;
}

//===----------------------------------------------------------------------===//
// Fence, commit, wait
//===----------------------------------------------------------------------===//

static void runWait(Machine &machine, Warp &warp, size_t left) {
  if (!isWholeWarp(machine, warp) || warp.groups.size() <= left)
    return;
  size_t ended = warp.groups.size() - left;
  warp.retired = warp.groups[ended - 1];
  warp.groups.erase(warp.groups.begin(), warp.groups.begin() + ended);
  Moment moment{warp.retired, uint16_t(machine.clocks.wgmmaAgent(warp.index))};
  for (unsigned lane = 0; lane < 32; ++lane)
    machine.clocks.acquire(warp.thread(lane), moment);
}

bool prism::test::decodeWgmma(Decoder &decoder, Operation *op) {
  if (isa<NVVM::WgmmaFenceAlignedOp>(op)) {
    decoder.emit({}, {}, [](Machine &machine, Warp &warp) {
      if (isWholeWarp(machine, warp))
        warp.fenced = warp.time;
    });
    return true;
  }
  if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op)) {
    decoder.emit({}, {}, [](Machine &machine, Warp &warp) {
      if (isWholeWarp(machine, warp))
        warp.groups.push_back(warp.issued);
    });
    return true;
  }
  if (auto wait = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op)) {
    decoder.emit(
        {}, {}, [left = size_t(wait.getGroup())](Machine &machine, Warp &warp) {
          runWait(machine, warp, left);
        });
    return true;
  }
  return decodeIssue(decoder, op) || decodeAssembly(decoder, op);
}
