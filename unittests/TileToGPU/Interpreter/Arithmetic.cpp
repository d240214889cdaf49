//===- Arithmetic.cpp - arith, math and their llvm twins ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Floats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace prism::test;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

using Integer = uint64_t (*)(uint64_t a, uint64_t b, unsigned width);

static int64_t toSigned(uint64_t bits, unsigned width) {
  return int64_t(bits << (64 - width)) >> (64 - width);
}

#define PRISM_INTEGER(EXPRESSION)                                              \
  [](uint64_t a, uint64_t b, unsigned w) -> uint64_t {                         \
    (void)w;                                                                   \
    return EXPRESSION;                                                         \
  }

/// By the name without its dialect.
static Integer findInteger(StringRef name) {
  static const llvm::StringMap<Integer> table = {
      {"add", PRISM_INTEGER(a + b)},
      {"sub", PRISM_INTEGER(a - b)},
      {"mul", PRISM_INTEGER(a * b)},
      {"and", PRISM_INTEGER(a & b)},
      {"or", PRISM_INTEGER(a | b)},
      {"xor", PRISM_INTEGER(a ^ b)},
      {"shl", PRISM_INTEGER(b < w ? a << b : 0)},
      {"lshr", PRISM_INTEGER(b < w ? a >> b : 0)},
      {"ashr",
       PRISM_INTEGER(uint64_t(toSigned(a, w) >> std::min<uint64_t>(b, w - 1)))},
      {"udiv", PRISM_INTEGER(b ? a / b : 0)},
      {"urem", PRISM_INTEGER(b ? a % b : 0)},
      {"sdiv",
       PRISM_INTEGER(b ? uint64_t(toSigned(a, w) / toSigned(b, w)) : 0)},
      {"srem",
       PRISM_INTEGER(b ? uint64_t(toSigned(a, w) % toSigned(b, w)) : 0)},
      {"umin", PRISM_INTEGER(std::min(a, b))},
      {"umax", PRISM_INTEGER(std::max(a, b))},
      {"smin",
       PRISM_INTEGER(uint64_t(std::min(toSigned(a, w), toSigned(b, w))))},
      {"smax",
       PRISM_INTEGER(uint64_t(std::max(toSigned(a, w), toSigned(b, w))))},
  };
  StringRef plain = llvm::StringSwitch<StringRef>(name)
                        .Case("addi", "add")
                        .Case("subi", "sub")
                        .Case("muli", "mul")
                        .Case("andi", "and")
                        .Case("ori", "or")
                        .Case("xori", "xor")
                        .Case("shli", "shl")
                        .Case("shrui", "lshr")
                        .Case("shrsi", "ashr")
                        .Case("divui", "udiv")
                        .Case("remui", "urem")
                        .Case("divsi", "sdiv")
                        .Case("remsi", "srem")
                        .Case("minui", "umin")
                        .Case("maxui", "umax")
                        .Case("minsi", "smin")
                        .Case("maxsi", "smax")
                        .Default(name);
  return table.lookup(plain);
}

#undef PRISM_INTEGER

static bool compareIntegers(uint64_t predicate, uint64_t a, uint64_t b,
                            unsigned width) {
  int64_t x = toSigned(a, width), y = toSigned(b, width);
  switch (predicate) { // the same numbers in both dialects
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return x < y;
  case 3:
    return x <= y;
  case 4:
    return x > y;
  case 5:
    return x >= y;
  case 6:
    return a < b;
  case 7:
    return a <= b;
  case 8:
    return a > b;
  default:
    return a >= b;
  }
}

//===----------------------------------------------------------------------===//
// Reals
//===----------------------------------------------------------------------===//

/// f32 is computed as such, everything else as f64 and rounded.
struct Real {
  float (*single)(float, float, float) = nullptr;
  double (*wide)(double, double, double) = nullptr;
};

#define PRISM_REAL(EXPRESSION)                                                 \
  Real {                                                                       \
    [](float a, float b, float c) -> float {                                   \
      (void)b, (void)c;                                                        \
      return EXPRESSION;                                                       \
    },                                                                         \
        [](double a, double b, double c) -> double {                           \
          (void)b, (void)c;                                                    \
          return EXPRESSION;                                                   \
        }                                                                      \
  }
/// Computed in f64 in either case.
#define PRISM_FUNCTION(EXPRESSION)                                             \
  Real {                                                                       \
    [](float x, float, float) -> float {                                       \
      double a = x;                                                            \
      return float(EXPRESSION);                                                \
    },                                                                         \
        [](double a, double, double) -> double { return EXPRESSION; }          \
  }

static Real findReal(StringRef name) {
  static const llvm::StringMap<Real> table = {
      {"addf", PRISM_REAL(a + b)},
      {"subf", PRISM_REAL(a - b)},
      {"mulf", PRISM_REAL(a * b)},
      {"divf", PRISM_REAL(a / b)},
      {"negf", PRISM_REAL(-a)},
      {"maximumf", PRISM_REAL(std::isnan(a) || a > b ? a : b)},
      {"minimumf", PRISM_REAL(std::isnan(a) || a < b ? a : b)},
      {"maxnumf", PRISM_REAL(std::fmax(a, b))},
      {"minnumf", PRISM_REAL(std::fmin(a, b))},
      {"fma", PRISM_REAL(std::fma(a, b, c))},
      {"absf", PRISM_REAL(std::fabs(a))},
      {"copysign", PRISM_REAL(std::copysign(a, b))},
      {"exp", PRISM_FUNCTION(std::exp(a))},
      {"exp2", PRISM_FUNCTION(std::exp2(a))},
      {"expm1", PRISM_FUNCTION(std::expm1(a))},
      {"log", PRISM_FUNCTION(std::log(a))},
      {"log2", PRISM_FUNCTION(std::log2(a))},
      {"log1p", PRISM_FUNCTION(std::log1p(a))},
      {"erf", PRISM_FUNCTION(std::erf(a))},
      {"tanh", PRISM_FUNCTION(std::tanh(a))},
      {"sqrt", PRISM_FUNCTION(std::sqrt(a))},
      {"rsqrt", PRISM_FUNCTION(1 / std::sqrt(a))},
      {"rcp", PRISM_FUNCTION(1 / a)},
      {"floor", PRISM_FUNCTION(std::floor(a))},
  };
  StringRef plain = llvm::StringSwitch<StringRef>(name)
                        .Case("fadd", "addf")
                        .Case("fsub", "subf")
                        .Case("fmul", "mulf")
                        .Case("fdiv", "divf")
                        .Case("fneg", "negf")
                        .Case("fabs", "absf")
                        .Case("maximum", "maximumf")
                        .Case("minimum", "minimumf")
                        .Case("maxnum", "maxnumf")
                        .Case("minnum", "minnumf")
                        .Case("rcp.approx.ftz.f", "rcp")
                        .Default(name);
  return table.lookup(plain);
}

#undef PRISM_REAL
#undef PRISM_FUNCTION

/// Of an intrinsic called by name, as "llvm.nvvm.ex2.approx.ftz.f".
static StringRef approximation(StringRef intrinsic) {
  if (!intrinsic.consume_front("llvm.nvvm."))
    return "";
  return llvm::StringSwitch<StringRef>(intrinsic.split('.').first)
      .Case("ex2", "exp2")
      .Case("lg2", "log2")
      .Case("rcp", "rcp")
      .Case("rsqrt", "rsqrt")
      .Case("tanh", "tanh")
      .Default("");
}

static std::optional<Float> kindOf(Type type) {
  if (type.isBF16())
    return Float::BF16;
  if (type.isF16())
    return Float::F16;
  if (type.isF32())
    return Float::F32;
  if (type.isF64())
    return Float::F64;
  return std::nullopt;
}

/// 1 equal, 2 greater, 4 less, 8 unordered.
static unsigned relation(double a, double b) {
  return a == b ? 1 : a > b ? 2 : a < b ? 4 : 8;
}

/// A predicate, numbered alike in both dialects, as a set of relations.
static unsigned relationsOf(uint64_t predicate) {
  if (predicate < 8 || predicate == 15)
    return unsigned(predicate);
  return predicate == 14 ? 8 : unsigned(predicate) + 1;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

using Scalar = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

/// Applies `scalar` to up to three operands, to each element of vectors.
static void emitElements(Decoder &decoder, Operation *op, Scalar scalar) {
  Value result = op->getResult(0);
  Registers all;
  for (unsigned i = 0, e = countElements(result.getType()); i < e; ++i) {
    Registers from;
    for (Value operand : op->getOperands())
      from.push_back(
          decoder.element(operand, isa<VectorType>(operand.getType()) ? i : 0));
    uint32_t to = decoder.fresh();
    all.push_back(to);
    uint32_t a = from[0], b = from.size() > 1 ? from[1] : a,
             c = from.size() > 2 ? from[2] : a;
    decoder.emit(from, {to}, [=](Machine &, Warp &warp) {
      uint64_t *out = warp.lane(to), *x = warp.lane(a), *y = warp.lane(b),
               *z = warp.lane(c);
      forLanes(warp.mask, [&](unsigned lane) {
        out[lane] = scalar(x[lane], y[lane], z[lane]);
      });
    });
  }
  decoder.bind(result, decoder.pack(result.getType(), all));
}

static bool decodeCompare(Decoder &decoder, Operation *op, StringRef name) {
  if (name != "cmpi" && name != "icmp" && name != "cmpf" && name != "fcmp")
    return false;
  uint64_t predicate =
      cast<IntegerAttr>(op->getAttr("predicate")).getValue().getZExtValue();
  Type type = elementOf(op->getOperand(0).getType());
  if (std::optional<Float> kind = kindOf(type)) {
    unsigned wanted = relationsOf(predicate);
    emitElements(decoder, op,
                 [=, kind = *kind](uint64_t a, uint64_t b, uint64_t) {
                   unsigned is = relation(toReal(kind, a), toReal(kind, b));
                   return uint64_t((wanted & is) != 0);
                 });
    return true;
  }
  unsigned width = widthOf(type);
  emitElements(decoder, op, [=](uint64_t a, uint64_t b, uint64_t) {
    return uint64_t(compareIntegers(predicate, a, b, width));
  });
  return true;
}

bool prism::test::decodeArithmetic(Decoder &decoder, Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() < 1 ||
      op->getNumOperands() > 3)
    return false;
  auto [dialect, name] = op->getName().getStringRef().split('.');
  if (dialect != "arith" && dialect != "math" && dialect != "llvm" &&
      name != "rcp.approx.ftz.f")
    return false;
  name.consume_front("intr.");
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    name = approximation(call.getIntrin());
  if (name == "select") {
    emitElements(decoder, op, [](uint64_t choice, uint64_t a, uint64_t b) {
      return choice & 1 ? a : b;
    });
    return true;
  }
  if (decodeCompare(decoder, op, name))
    return true;
  Type type = elementOf(op->getResult(0).getType());
  if (std::optional<Float> kind = kindOf(type)) {
    Real real = findReal(name);
    if (!real.single)
      return false;
    if (*kind == Float::F32)
      emitElements(decoder, op, [=](uint64_t a, uint64_t b, uint64_t c) {
        return bitsOfF32(real.single(asF32(a), asF32(b), asF32(c)));
      });
    else
      emitElements(
          decoder, op, [=, kind = *kind](uint64_t a, uint64_t b, uint64_t c) {
            return fromReal(kind, real.wide(toReal(kind, a), toReal(kind, b),
                                            toReal(kind, c)));
          });
    return true;
  }
  Integer integer = findInteger(name);
  if (!integer || op->getNumOperands() != 2)
    return false;
  unsigned width = widthOf(type);
  uint64_t mask = width >= 64 ? ~0ull : (1ull << width) - 1;
  emitElements(decoder, op, [=](uint64_t a, uint64_t b, uint64_t) {
    return integer(a, b, width) & mask;
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The same bits in registers of another size.
static bool decodeBitcast(Decoder &decoder, Operation *op) {
  Value from = op->getOperand(0), to = op->getResult(0);
  Registers source = decoder.of(from), target = decoder.fresh(to.getType());
  if (source.size() == target.size()) {
    decoder.bind(to, source);
    return true;
  }
  // 64 bits in one register or in two.
  bool splits = source.size() * 2 == target.size();
  if (!splits && source.size() != target.size() * 2)
    return false;
  decoder.bind(to, target);
  decoder.emit(source, target, [=](Machine &, Warp &warp) {
    const Registers &wide = splits ? source : target,
                    &narrow = splits ? target : source;
    for (size_t i = 0; i < wide.size(); ++i) {
      uint64_t *all = warp.lane(wide[i]), *low = warp.lane(narrow[2 * i]),
               *high = warp.lane(narrow[2 * i + 1]);
      forLanes(warp.mask, [&](unsigned lane) {
        if (splits) {
          low[lane] = all[lane] & 0xffffffff;
          high[lane] = all[lane] >> 32;
        } else {
          all[lane] = low[lane] | high[lane] << 32;
        }
      });
    }
  });
  return true;
}

static bool decodeReals(Decoder &decoder, Operation *op, StringRef name) {
  std::optional<Float> from = kindOf(elementOf(op->getOperand(0).getType())),
                       to = kindOf(elementOf(op->getResult(0).getType()));
  unsigned width = widthOf(elementOf(op->getOperand(0).getType()));
  uint64_t mask =
      to ? 0 : ~0ull >> (64 - widthOf(elementOf(op->getResult(0).getType())));
  if (from && to &&
      llvm::is_contained({"extf", "truncf", "fpext", "fptrunc"}, name))
    emitElements(decoder, op,
                 [from = *from, to = *to](uint64_t a, uint64_t, uint64_t) {
                   return fromReal(to, toReal(from, a));
                 });
  else if (to && name == "sitofp")
    emitElements(decoder, op,
                 [to = *to, width](uint64_t a, uint64_t, uint64_t) {
                   return fromReal(to, double(toSigned(a, width)));
                 });
  else if (to && name == "uitofp")
    emitElements(decoder, op, [to = *to](uint64_t a, uint64_t, uint64_t) {
      return fromReal(to, double(a));
    });
  else if (from && (name == "fptosi" || name == "fptoui"))
    emitElements(decoder, op,
                 [from = *from, mask](uint64_t a, uint64_t, uint64_t) {
                   return uint64_t(int64_t(toReal(from, a))) & mask;
                 });
  else
    return false;
  return true;
}

bool prism::test::decodeConversion(Decoder &decoder, Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() != 1)
    return false;
  auto [dialect, name] = op->getName().getStringRef().split('.');
  if (dialect != "arith" && dialect != "llvm")
    return false;
  if (name == "bitcast")
    return decodeBitcast(decoder, op);
  if (decodeReals(decoder, op, name))
    return true;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (name == "addrspacecast") {
    // Shared memory has no generic address here.
    if (cast<LLVM::LLVMPointerType>(from).getAddressSpace() == 3 ||
        cast<LLVM::LLVMPointerType>(to).getAddressSpace() == 3)
      return false;
    decoder.bind(op->getResult(0), decoder.of(op->getOperand(0)));
    return true;
  }
  bool isSigned = llvm::is_contained({"extsi", "sext", "index_cast"}, name);
  if (!isSigned &&
      !llvm::is_contained({"extui", "zext", "index_castui", "trunci", "trunc",
                           "ptrtoint", "inttoptr"},
                          name))
    return false;
  unsigned width = widthOf(elementOf(from));
  uint64_t mask = ~0ull >> (64 - widthOf(elementOf(to)));
  emitElements(decoder, op, [=](uint64_t a, uint64_t, uint64_t) {
    return (isSigned ? uint64_t(toSigned(a, width)) : a) & mask;
  });
  return true;
}
