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

/// Outputs first, then for each the input tied to it or no tied input at all,
/// then what the text may read. Gives the number of tied inputs.
static std::optional<size_t> countTied(StringRef constraints, size_t outputs,
                                       size_t inputs) {
  SmallVector<StringRef> all;
  constraints.split(all, ',');
  if (all.size() != outputs + inputs)
    return std::nullopt;
  size_t tied = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    unsigned number;
    bool isTie = i >= outputs && !all[i].getAsInteger(10, number);
    if (isTie && (number != tied || i != outputs + tied))
      return std::nullopt;
    tied += isTie;
    if (i < outputs ? all[i] != "=f" : !isTie && all[i] != "r" && all[i] != "l")
      return std::nullopt;
  }
  if (tied != 0 && tied != outputs)
    return std::nullopt;
  return tied;
}

/// The products of one text, in order; empty if it is not understood.
static std::vector<WgmmaSpec> makeSpecs(ArrayRef<WgmmaText> texts,
                                        const Registers &outputs,
                                        const Registers &inputs, size_t tied,
                                        uint32_t undefined) {
  std::vector<WgmmaSpec> specs;
  Registers now = tied ? Registers(ArrayRef(inputs).take_front(tied))
                       : Registers(outputs.size(), undefined);
  for (const WgmmaText &text : texts) {
    WgmmaSpec spec;
    spec.n = text.n;
    spec.isBF16 = text.isBF16;
    spec.isTransposedA = text.isTransposedA;
    spec.isTransposedB = text.isTransposedB;
    spec.isNegatedA = text.isNegatedA;
    spec.isNegatedB = text.isNegatedB;
    spec.addsToD = text.addsToD;
    for (unsigned number : text.d) {
      if (number >= outputs.size())
        return {};
      spec.inputs.push_back(now[number]);
      spec.outputs.push_back(outputs[number]);
      now[number] = outputs[number];
    }
    std::vector<unsigned> reads = text.a;
    reads.push_back(text.b);
    if (text.predicate)
      reads.push_back(*text.predicate);
    Registers registers;
    for (unsigned number : reads) {
      if (number < outputs.size() || number >= outputs.size() + inputs.size())
        return {};
      registers.push_back(inputs[number - outputs.size()]);
    }
    spec.a = Registers(ArrayRef(registers).take_front(text.a.size()));
    spec.b = registers[text.a.size()];
    if (text.predicate)
      spec.predicate = registers.back();
    specs.push_back(spec);
  }
  // An output that no product writes would be a copy of its input.
  return llvm::equal(now, outputs) ? specs : std::vector<WgmmaSpec>();
}

static bool decodeAssembly(Decoder &decoder, Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!assembly || op->getNumResults() != 1)
    return false;
  // A move that hides a value from the optimiser.
  if (assembly.getAsmString() == "mov.b32 $0, $1;" &&
      assembly.getConstraints() == "=r,r") {
    decoder.bind(op->getResult(0), decoder.of(op->getOperand(0)));
    return true;
  }
  auto texts = parseWgmma(assembly.getAsmString());
  Registers outputs = decoder.fresh(op->getResult(0).getType()), inputs;
  for (Value operand : op->getOperands())
    llvm::append_range(inputs, decoder.of(operand));
  auto tied =
      countTied(assembly.getConstraints(), outputs.size(), inputs.size());
  if (!texts || !tied || inputs.size() != op->getNumOperands())
    return false;
  std::vector<WgmmaSpec> specs =
      makeSpecs(*texts, outputs, inputs, *tied, decoder.undefined());
  decoder.bind(op->getResult(0), outputs);
  for (const WgmmaSpec &spec : specs)
    emitIssue(decoder, spec);
  return !specs.empty();
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
