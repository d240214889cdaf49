//===- Instructions.cpp - Ordinary ops on f64 values ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The table of ops that a step may hold beside state factors: arith and math
// elementwise, and the scan ops of the loader slice. Widening and narrowing do
// nothing, since everything is f64.
//
//===----------------------------------------------------------------------===//

#include "StepProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

using Binary = double (*)(double, double);

static Unary unaryOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Unary>(&op)
      .Case<arith::ExtFOp, arith::TruncFOp, arith::UIToFPOp, arith::IndexCastOp,
            arith::ExtUIOp>(
          [](auto) -> Unary { return [](double x) { return x; }; })
      .Case([](arith::SIToFPOp cast) -> Unary {
        // The one signed bit of an i1, held as 1, counts -1.
        if (getElementTypeOrSelf(cast.getIn().getType()).isInteger(1))
          return [](double x) { return -x; };
        return [](double x) { return x; };
      })
      .Case([](arith::NegFOp) -> Unary { return [](double x) { return -x; }; })
      .Case([](math::AbsFOp) -> Unary { return std::fabs; })
      .Case([](math::ExpOp) -> Unary { return std::exp; })
      .Case([](math::Exp2Op) -> Unary { return std::exp2; })
      .Case([](math::ExpM1Op) -> Unary { return std::expm1; })
      .Case([](math::LogOp) -> Unary { return std::log; })
      .Case([](math::Log2Op) -> Unary { return std::log2; })
      .Case([](math::Log10Op) -> Unary { return std::log10; })
      .Case([](math::Log1pOp) -> Unary { return std::log1p; })
      .Case([](math::TanhOp) -> Unary { return std::tanh; })
      .Case([](math::SinhOp) -> Unary { return std::sinh; })
      .Case([](math::CoshOp) -> Unary { return std::cosh; })
      .Case([](math::SinOp) -> Unary { return std::sin; })
      .Case([](math::CosOp) -> Unary { return std::cos; })
      .Case([](math::TanOp) -> Unary { return std::tan; })
      .Case([](math::AtanOp) -> Unary { return std::atan; })
      .Case([](math::AsinhOp) -> Unary { return std::asinh; })
      .Case([](math::ErfOp) -> Unary { return std::erf; })
      .Case([](math::ErfcOp) -> Unary { return std::erfc; })
      .Case([](math::SqrtOp) -> Unary { return std::sqrt; })
      .Case([](math::CbrtOp) -> Unary { return std::cbrt; })
      .Case([](math::RsqrtOp) -> Unary {
        return [](double x) { return 1.0 / std::sqrt(x); };
      })
      .Case([](math::FloorOp) -> Unary { return std::floor; })
      .Case([](math::CeilOp) -> Unary { return std::ceil; })
      .Case([](math::TruncOp) -> Unary { return std::trunc; })
      .Case([](math::RoundOp) -> Unary { return std::round; })
      .Case([](math::RoundEvenOp) -> Unary { return std::nearbyint; })
      .Default([](Operation *) -> Unary { return nullptr; });
}

/// arith.maximumf and minimumf: a NaN wins, and +0 is above -0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
static double minimum(double a, double b) { return -maximum(-a, -b); }

static Binary comparisonOf(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  static constexpr auto unordered = [](double a, double b) {
    return std::isnan(a) || std::isnan(b);
  };
  switch (predicate) {
  case P::AlwaysFalse:
    return [](double, double) { return 0.0; };
  case P::AlwaysTrue:
    return [](double, double) { return 1.0; };
  case P::OEQ:
    return [](double a, double b) { return double(a == b); };
  case P::OGT:
    return [](double a, double b) { return double(a > b); };
  case P::OGE:
    return [](double a, double b) { return double(a >= b); };
  case P::OLT:
    return [](double a, double b) { return double(a < b); };
  case P::OLE:
    return [](double a, double b) { return double(a <= b); };
  case P::ONE:
    return [](double a, double b) { return double(a < b || a > b); };
  case P::ORD:
    return [](double a, double b) { return double(!unordered(a, b)); };
  case P::UEQ:
    return [](double a, double b) { return double(!(a < b || a > b)); };
  case P::UGT:
    return [](double a, double b) { return double(!(a <= b)); };
  case P::UGE:
    return [](double a, double b) { return double(!(a < b)); };
  case P::ULT:
    return [](double a, double b) { return double(!(a >= b)); };
  case P::ULE:
    return [](double a, double b) { return double(!(a > b)); };
  case P::UNE:
    return [](double a, double b) { return double(a != b); };
  case P::UNO:
    return [](double a, double b) { return double(unordered(a, b)); };
  }
  llvm_unreachable("unknown predicate");
}

static Binary binaryOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Binary>(&op)
      .Case([](arith::AddFOp) -> Binary {
        return [](double a, double b) { return a + b; };
      })
      .Case([](arith::SubFOp) -> Binary {
        return [](double a, double b) { return a - b; };
      })
      .Case([](arith::MulFOp) -> Binary {
        return [](double a, double b) { return a * b; };
      })
      .Case([](arith::DivFOp) -> Binary {
        return [](double a, double b) { return a / b; };
      })
      .Case([](arith::RemFOp) -> Binary { return std::fmod; })
      .Case([](arith::MaximumFOp) -> Binary { return maximum; })
      .Case([](arith::MinimumFOp) -> Binary { return minimum; })
      .Case([](arith::MaxNumFOp) -> Binary { return std::fmax; })
      .Case([](arith::MinNumFOp) -> Binary { return std::fmin; })
      .Case([](math::PowFOp) -> Binary { return std::pow; })
      .Case([](math::FPowIOp) -> Binary { return std::pow; })
      .Case([](math::Atan2Op) -> Binary { return std::atan2; })
      .Case([](math::CopySignOp) -> Binary { return std::copysign; })
      .Case([](arith::CmpFOp cmp) { return comparisonOf(cmp.getPredicate()); })
      .Default([](Operation *) -> Binary { return nullptr; });
}

/// Whole numbers, exact up to 2^53.
static Binary integerOf(Operation &op) {
  Type element = getElementTypeOrSelf(op.getOperand(0).getType());
  if (!element.isIndex() && !element.isInteger(32) && !element.isInteger(64))
    return nullptr;
  return llvm::TypeSwitch<Operation *, Binary>(&op)
      .Case([](arith::AddIOp) -> Binary {
        return [](double a, double b) { return a + b; };
      })
      .Case([](arith::SubIOp) -> Binary {
        return [](double a, double b) { return a - b; };
      })
      .Case([](arith::MulIOp) -> Binary {
        return [](double a, double b) { return a * b; };
      })
      .Case([](arith::DivSIOp) -> Binary {
        return [](double a, double b) { return std::trunc(a / b); };
      })
      .Case([](arith::RemSIOp) -> Binary { return std::fmod; })
      .Case([](arith::MaxSIOp) -> Binary { return maximum; })
      .Case([](arith::MinSIOp) -> Binary { return minimum; })
      .Case([](arith::CmpIOp cmp) -> Binary {
        switch (cmp.getPredicate()) {
        case arith::CmpIPredicate::eq:
          return [](double a, double b) { return double(a == b); };
        case arith::CmpIPredicate::ne:
          return [](double a, double b) { return double(a != b); };
        case arith::CmpIPredicate::slt:
          return [](double a, double b) { return double(a < b); };
        case arith::CmpIPredicate::sle:
          return [](double a, double b) { return double(a <= b); };
        case arith::CmpIPredicate::sgt:
          return [](double a, double b) { return double(a > b); };
        case arith::CmpIPredicate::sge:
          return [](double a, double b) { return double(a >= b); };
        default: // unsigned ones
          return nullptr;
        }
      })
      .Default([](Operation *) -> Binary { return nullptr; });
}

/// Logic on i1, held as 0 and 1.
static Binary logicOf(Operation &op) {
  if (!getElementTypeOrSelf(op.getResult(0).getType()).isInteger(1))
    return nullptr;
  return llvm::TypeSwitch<Operation *, Binary>(&op)
      .Case([](arith::AndIOp) -> Binary {
        return [](double a, double b) { return a * b; };
      })
      .Case([](arith::OrIOp) -> Binary {
        return [](double a, double b) { return std::max(a, b); };
      })
      .Case([](arith::XOrIOp) -> Binary {
        return [](double a, double b) { return double(a != b); };
      })
      .Default([](Operation *) -> Binary { return nullptr; });
}

static Instruction makeElementwise(Operation &op, ArrayRef<Slot> in, Slot out) {
  if (Unary f = op.getNumOperands() == 1 ? unaryOf(op) : nullptr)
    return [f, a = in[0], out](double *m) {
      for (int64_t i = 0; i < out.size; ++i)
        m[out.offset + i] = f(m[a.offset + i]);
    };
  Binary f = op.getNumOperands() == 2 ? binaryOf(op) : nullptr;
  if (!f && op.getNumOperands() == 2)
    f = logicOf(op);
  if (!f && op.getNumOperands() == 2)
    f = integerOf(op);
  if (f)
    return [f, a = in[0], b = in[1], out](double *m) {
      for (int64_t i = 0; i < out.size; ++i)
        m[out.offset + i] = f(m[a.offset + i], m[b.offset + i]);
    };
  if (isa<math::FmaOp>(op))
    return [a = in[0], b = in[1], c = in[2], out](double *m) {
      for (int64_t i = 0; i < out.size; ++i)
        m[out.offset + i] =
            std::fma(m[a.offset + i], m[b.offset + i], m[c.offset + i]);
    };
  if (isa<arith::SelectOp>(op))
    return [c = in[0], a = in[1], b = in[2], out](double *m) {
      // One condition may choose between whole tensors.
      for (int64_t i = 0; i < out.size; ++i)
        m[out.offset + i] = m[c.offset + (c.size == out.size ? i : 0)] != 0.0
                                ? m[a.offset + i]
                                : m[b.offset + i];
    };
  return {};
}

//===----------------------------------------------------------------------===//
// The scan ops of the loader slice, and the read
//===----------------------------------------------------------------------===//

Unary interpreter::activationOf(scan::Activation activation) {
  switch (activation) {
  case scan::Activation::identity:
    return [](double x) { return x; };
  case scan::Activation::gelu:
    return [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); };
  case scan::Activation::silu:
    return [](double x) { return x / (1.0 + std::exp(-x)); };
  case scan::Activation::tanh:
    return std::tanh;
  case scan::Activation::relu:
    return [](double x) { return maximum(x, 0.0); };
  }
  llvm_unreachable("unknown activation");
}

/// r = value - anchor; each step: delta = activation(gain * r), r -= delta.
static Instruction makeRefine(scan::RefineOp op, ArrayRef<Slot> in, Slot out) {
  int64_t steps = op.getGain().getType().getDimSize(0);
  int64_t values = op.getGain().getType().getDimSize(1);
  Unary f = activationOf(op.getActivation());
  return [=, anchor = in[0], value = in[1], gain = in[2]](double *m) {
    for (int64_t v = 0; v < values; ++v) {
      double r = m[value.offset + v] - m[anchor.offset + v];
      for (int64_t l = 0; l < steps; ++l) {
        double delta = f(m[gain.offset + l * values + v] * r);
        m[out.offset + l * values + v] = delta;
        r -= delta;
      }
    }
  };
}

static Instruction makeL2Norm(scan::L2NormOp op, ArrayRef<Slot> in, Slot out) {
  int64_t width = cast<RankedTensorType>(op.getType()).getShape().back();
  double epsilon = op.getEpsilon().convertToDouble();
  return [a = in[0], out, width, epsilon](double *m) {
    for (int64_t row = 0; row < out.size; row += width) {
      const double *x = m + a.offset + row;
      double sum = 0.0;
      for (int64_t i = 0; i < width; ++i)
        sum += x[i] * x[i];
      for (int64_t i = 0; i < width; ++i)
        m[out.offset + row + i] = x[i] / std::sqrt(sum + epsilon);
    }
  };
}

static Instruction makeRead(scan::ReadOp op, ArrayRef<Slot> in, Slot out) {
  double scale = op.getScale().convertToDouble();
  return [state = in[0], query = in[1], out, scale](double *m) {
    double *y = m + out.offset;
    std::fill_n(y, out.size, 0.0);
    for (int64_t k = 0; k < query.size; ++k) {
      double q = m[query.offset + k];
      const double *row = m + state.offset + k * out.size;
      for (int64_t v = 0; v < out.size; ++v)
        y[v] += q * row[v];
    }
    for (int64_t v = 0; v < out.size; ++v)
      y[v] *= scale;
  };
}

Instruction interpreter::makeInstruction(Operation &op, ArrayRef<Slot> operands,
                                         Slot result) {
  if (Instruction elementwise = makeElementwise(op, operands, result))
    return elementwise;
  if (Instruction moving = makeTensorInstruction(op, operands, result))
    return moving;
  return llvm::TypeSwitch<Operation *, Instruction>(&op)
      .Case([&](scan::RefineOp o) { return makeRefine(o, operands, result); })
      .Case([&](scan::L2NormOp o) { return makeL2Norm(o, operands, result); })
      .Case([&](scan::ReadOp o) { return makeRead(o, operands, result); })
      .Default([](Operation *) { return Instruction(); });
}
