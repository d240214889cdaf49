//===- Decoder.cpp - Values, constants and the order of decoding ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::test;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

unsigned prism::test::widthOf(Type type) {
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

unsigned prism::test::countElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? unsigned(vector.getNumElements()) : 1;
}

Type prism::test::elementOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getElementType() : type;
}

uint64_t prism::test::bytesOf(Type type) {
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return array.getNumElements() * bytesOf(array.getElementType());
  return (uint64_t(widthOf(elementOf(type))) * countElements(type) + 7) / 8;
}

static bool isPacked(Type type) {
  return isa<VectorType>(type) && widthOf(elementOf(type)) < 32;
}

static unsigned countRegisters(Type type) {
  unsigned count = 0;
  if (auto fields = dyn_cast<LLVM::LLVMStructType>(type)) {
    for (Type field : fields.getBody())
      count += countRegisters(field);
    return count;
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return array.getNumElements() * countRegisters(array.getElementType());
  count = countElements(type);
  return isPacked(type) ? (count * widthOf(elementOf(type)) + 31) / 32 : count;
}

Registers Decoder::fresh(Type type) {
  Registers registers;
  for (unsigned i = 0, e = countRegisters(type); i < e; ++i)
    registers.push_back(fresh());
  return registers;
}

Registers Decoder::repeat(uint32_t reg, Type type) {
  return Registers(countRegisters(type), reg);
}

uint32_t Decoder::constant(uint64_t bits) {
  auto [it, isNew] = constants.try_emplace(bits, 0);
  if (isNew) {
    it->second = fresh();
    program.constants.push_back({it->second, bits});
  }
  return it->second;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void Decoder::emitStep(Registers reads, Registers writes,
                       std::function<Step(Machine &, Warp &)> run) {
  program.code.push_back(
      {std::move(run), current, std::move(reads), std::move(writes)});
}

void Decoder::emit(Registers reads, Registers writes,
                   std::function<void(Machine &, Warp &)> run) {
  emitStep(std::move(reads), std::move(writes),
           [run = std::move(run)](Machine &machine, Warp &warp) {
             run(machine, warp);
             return Step::Next;
           });
}

void Decoder::emitMoves(ArrayRef<uint32_t> to, ArrayRef<uint32_t> from) {
  std::vector<std::pair<uint32_t, uint32_t>> moves; // to, from
  for (auto [target, source] : llvm::zip_equal(to, from))
    if (target != source)
      moves.push_back({target, source});
  if (moves.empty())
    return;
  emit({}, {}, [moves](Machine &machine, Warp &warp) {
    std::vector<uint64_t> bits(moves.size() * 32);
    std::vector<RegisterState> states;
    for (size_t i = 0; i < moves.size(); ++i) {
      std::copy_n(warp.lane(moves[i].second), 32, &bits[i * 32]);
      states.push_back(warp.states[moves[i].second]);
    }
    for (size_t i = 0; i < moves.size(); ++i) {
      uint64_t *target = warp.lane(moves[i].first);
      forLanes(warp.mask,
               [&](unsigned lane) { target[lane] = bits[i * 32 + lane]; });
      RegisterState &state = warp.states[moves[i].first];
      if (state.reader > warp.retired)
        machine.fail("a register that a wgmma still reads as A is overwritten");
      // Lanes that keep their old value keep what is known of it.
      state.product = warp.isWhole()
                          ? states[i].product
                          : std::max(state.product, states[i].product);
      state.stamp = std::max(states[i].stamp, warp.isWhole() ? 0 : state.stamp);
      state.reader = 0;
    }
  });
}

void Decoder::emitReset(Registers registers) {
  emit({}, {}, [registers](Machine &, Warp &warp) {
    for (uint32_t reg : registers)
      warp.states[reg].product = warp.states[reg].stamp = 0;
  });
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

uint32_t Decoder::element(Value value, unsigned index) {
  Type type = value.getType();
  if (!isPacked(type))
    return of(value)[index];
  unsigned width = widthOf(elementOf(type));
  uint32_t from = of(value)[index * width / 32], to = fresh();
  unsigned shift = index * width % 32;
  emit({from}, {to}, [=](Machine &, Warp &warp) {
    uint64_t *out = warp.lane(to), *in = warp.lane(from);
    uint64_t mask = (1ull << width) - 1;
    forLanes(warp.mask,
             [&](unsigned lane) { out[lane] = in[lane] >> shift & mask; });
  });
  return to;
}

Registers Decoder::pack(Type type, ArrayRef<uint32_t> elements) {
  if (!isPacked(type))
    return Registers(elements);
  unsigned width = widthOf(elementOf(type)), each = 32 / width;
  Registers packed;
  for (size_t first = 0; first < elements.size(); first += each) {
    Registers from(
        elements.slice(first, std::min<size_t>(each, elements.size() - first)));
    uint32_t to = fresh();
    packed.push_back(to);
    emit(from, {to}, [=](Machine &, Warp &warp) {
      uint64_t *out = warp.lane(to);
      forLanes(warp.mask, [&](unsigned lane) {
        uint64_t bits = 0;
        for (size_t i = 0; i < from.size(); ++i)
          bits |= warp.lane(from[i])[lane] << i * width;
        out[lane] = bits;
      });
    });
  }
  return packed;
}

//===----------------------------------------------------------------------===//
// Values that are names for others, and constants
//===----------------------------------------------------------------------===//

/// First register and number of registers of a field of a struct or array.
static std::pair<unsigned, unsigned> locate(Type type,
                                            ArrayRef<int64_t> position) {
  unsigned first = 0;
  for (int64_t index : position) {
    if (auto fields = dyn_cast<LLVM::LLVMStructType>(type)) {
      for (int64_t i = 0; i < index; ++i)
        first += countRegisters(fields.getBody()[i]);
      type = fields.getBody()[index];
    } else {
      type = cast<LLVM::LLVMArrayType>(type).getElementType();
      first += index * countRegisters(type);
    }
  }
  return {first, countRegisters(type)};
}

static uint64_t bitsOf(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getBitWidth() > 64
               ? 0
               : integer.getValue().getZExtValue();
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return real.getValue().bitcastToAPInt().getZExtValue();
  return isa<BoolAttr>(attribute) && cast<BoolAttr>(attribute).getValue();
}

bool Decoder::decodeConstant(Operation *op) {
  if (isa<LLVM::UndefOp, LLVM::PoisonOp>(op)) {
    bind(op->getResult(0), repeat(undefined(), op->getResult(0).getType()));
    return true;
  }
  if (isa<LLVM::ZeroOp>(op)) {
    bind(op->getResult(0), repeat(constant(0), op->getResult(0).getType()));
    return true;
  }
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
    uint64_t first = addressOf(address.getGlobalName());
    uint32_t to = fresh();
    bind(op->getResult(0), {to});
    emit({}, {to}, [=](Machine &, Warp &warp) {
      std::fill_n(warp.lane(to), 32, SharedMemory::mapTo(first, warp.rank));
    });
    return true;
  }
  if (!isa<arith::ConstantOp, LLVM::ConstantOp>(op))
    return false;
  Attribute value = op->getAttr("value");
  if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
    Registers registers;
    for (Attribute element : elements.getValues<Attribute>())
      registers.push_back(constant(bitsOf(element)));
    Type type = op->getResult(0).getType();
    bind(op->getResult(0), pack(type, registers));
    return true;
  }
  bind(op->getResult(0), {constant(bitsOf(value))});
  return true;
}

bool Decoder::decodeValue(Operation *op) {
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
    auto [first, count] =
        locate(extract.getContainer().getType(), extract.getPosition());
    const Registers &all = of(extract.getContainer());
    bind(extract, Registers(ArrayRef(all).slice(first, count)));
    return true;
  }
  if (auto insert = dyn_cast<LLVM::InsertValueOp>(op)) {
    auto [first, count] =
        locate(insert.getContainer().getType(), insert.getPosition());
    Registers all = of(insert.getContainer());
    std::copy_n(of(insert.getValue()).begin(), count, all.begin() + first);
    bind(insert, all);
    return true;
  }
  auto indexOf = [](Value value) -> std::optional<unsigned> {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return unsigned(number.getZExtValue());
    return std::nullopt;
  };
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op)) {
    std::optional<unsigned> index = indexOf(extract.getPosition());
    if (index)
      bind(extract, {element(extract.getVector(), *index)});
    return index.has_value();
  }
  if (auto insert = dyn_cast<LLVM::InsertElementOp>(op)) {
    std::optional<unsigned> index = indexOf(insert.getPosition());
    if (!index)
      return false;
    Type type = insert.getType();
    if (!isPacked(type)) {
      Registers all = of(insert.getVector());
      all[*index] = scalar(insert.getValue());
      bind(insert, all);
      return true;
    }
    unsigned width = widthOf(elementOf(type)), shift = *index * width % 32;
    Registers all = of(insert.getVector());
    uint32_t old = all[*index * width / 32], to = fresh(),
             value = scalar(insert.getValue());
    all[*index * width / 32] = to;
    // The other half may still be undefined: only its bits are taken.
    emit({value}, {to}, [=](Machine &, Warp &warp) {
      uint64_t keep = ~(((1ull << width) - 1) << shift);
      uint64_t *out = warp.lane(to), *in = warp.lane(old);
      forLanes(warp.mask, [&](unsigned lane) {
        out[lane] = (in[lane] & keep) | warp.lane(value)[lane] << shift;
      });
    });
    bind(insert, all);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void Decoder::placeGlobals(Operation *module) {
  if (!module)
    return;
  uint64_t at = SharedMemory::kBase;
  std::vector<LLVM::GlobalOp> dynamic;
  for (Operation &op : module->getRegion(0).front()) {
    auto global = dyn_cast<LLVM::GlobalOp>(op);
    if (!global || global.getAddrSpace() != 3)
      continue;
    uint64_t bytes = bytesOf(global.getGlobalType());
    if (bytes == 0) {
      dynamic.push_back(global);
      continue;
    }
    at = llvm::alignTo(at, global.getAlignment().value_or(16));
    globals[global.getSymName()] = at;
    at += bytes;
  }
  // All dynamic variables start at one place, behind the static ones.
  for (LLVM::GlobalOp global : dynamic)
    at = llvm::alignTo(at, global.getAlignment().value_or(16));
  for (LLVM::GlobalOp global : dynamic)
    globals[global.getSymName()] = at;
  program.sharedBytes = at - SharedMemory::kBase;
}

uint64_t Decoder::addressOf(StringRef symbol) { return globals.lookup(symbol); }

void Decoder::decode(LLVM::LLVMFuncOp kernel) {
  program.undefined = fresh();
  placeGlobals(kernel->getParentOp());
  for (BlockArgument argument : kernel.getArguments()) {
    bind(argument, {fresh()});
    program.arguments.push_back(scalar(argument));
    program.hasParameterBlock |=
        kernel.getArgAttr(argument.getArgNumber(),
                          LLVM::LLVMDialect::getByValAttrName()) != nullptr;
  }
  decodeBlock(kernel.getBody().front());
  current = kernel.getBody().front().getTerminator();
  emitStep({}, {}, [](Machine &, Warp &) { return Step::Finished; });
}

void Decoder::decodeBlock(Block &block) {
  for (Operation &op : block)
    decodeOp(&op);
}

void Decoder::decodeOp(Operation *op) {
  current = op;
  if (decodeControl(op) || decodeConstant(op) || decodeValue(op) ||
      decodeConversion(*this, op) || decodeArithmetic(*this, op) ||
      decodeMemory(*this, op) || decodeSynchronisation(*this, op) ||
      decodeCopy(*this, op) || decodeCluster(*this, op) ||
      decodeBox(*this, op) || decodeWarp(*this, op) ||
      decodeMatrix(*this, op) || decodeWgmma(*this, op))
    return;
  // A fault only if it is reached.
  bindFresh(op->getResults());
  std::string why = "the interpreter does not know this op";
  if (auto inlineAsm = dyn_cast<LLVM::InlineAsmOp>(op))
    why = "the interpreter does not know the assembly \"" +
          inlineAsm.getAsmString().str() + "\"";
  emit({}, {}, [why](Machine &machine, Warp &) { machine.fail(why); });
}
