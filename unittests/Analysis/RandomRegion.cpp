//===- RandomRegion.cpp - Random steps as text ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomRegion.h"
#include "RandomWriter.h"

using namespace prism::analysis::random;
using llvm::formatv;

const Value &Writer::pick(Kind kind, Class most) {
  std::vector<const Value *> fitting;
  for (const Value &value : pool)
    if (value.kind == kind && value.cls <= most)
      fitting.push_back(&value);
  // Inputs of every kind but the flipped matrix are free of the state.
  if (fitting.empty()) {
    const Value from = pick(state, most);
    std::string empty = line("tensor.empty() : tensor<2x3xf64>");
    add(flipped, from.cls,
        formatv("linalg.transpose ins({0} : tensor<3x2xf64>) outs({1} : "
                "tensor<2x3xf64>) permutation = [1, 0]",
                from.name, empty));
    return pool.back();
  }
  // The latest are the most likely.
  int last = int(fitting.size());
  return *fitting[std::max(below(last), below(last))];
}

std::string Writer::constant(Kind kind, const std::string &number) {
  std::string value =
      kind == scalar ? number : formatv("dense<{0}>", number).str();
  return line(formatv("arith.constant {0} : {1}", value, kTypes[kind]));
}

void Writer::control() {
  Kind kind = Kind(below(5));
  const char *type = kTypes[kind];
  Class most = affineOnly ? isFree : isOther;
  switch (below(5)) {
  case 0:
  case 1: {
    Value c = pick(scalar, most), d = pick(scalar, most), a = pick(kind),
          b = pick(kind);
    std::string test =
        line(formatv("arith.cmpf olt, {0}, {1} : f64", c.name, d.name));
    Class cls = joined(c, d) == isFree ? joined(a, b) : isOther;
    if (chance(50))
      add(kind, cls,
          formatv("arith.select {0}, {1}, {2} : {3}", test, a.name, b.name,
                  type));
    else
      add(kind, cls,
          formatv(
              "scf.if {0} -> ({3}) {{\n        %y = arith.addf {1}, {2} : {3}\n"
              "        scf.yield %y : {3}\n      } else {{\n"
              "        scf.yield {2} : {3}\n      }",
              test, a.name, b.name, type));
    break;
  }
  case 2: {
    // x <- x * f + b, or x <- x * x, some turns; long loops are not followed.
    bool square = !affineOnly && chance(30);
    Value a = pick(kind), f = pick(kind, most), b = pick(kind);
    std::string lo = line("arith.constant 0 : index"),
                one = line("arith.constant 1 : index");
    std::string hi = line(
        formatv("arith.constant {0} : index", chance(20) ? 70 : 1 + below(3)));
    Class cls = square ? (a.cls == isFree ? isFree : isOther)
                       : std::max(f.cls == isFree ? a.cls : isOther, b.cls);
    // Many turns of growth leave no digits; they are damped.
    std::string small = constant(kind, "0.5");
    add(kind, cls,
        formatv(
            "scf.for %i = {0} to {1} step {2} iter_args(%x = {3}) -> ({4}) {{\n"
            "        %h = arith.mulf %x, {5} : {4}\n"
            "        %z = arith.mulf %h, {6} : {4}\n"
            "        %y = arith.addf %z, {7} : {4}\n"
            "        scf.yield {8} : {4}\n      }",
            lo, hi, one, a.name, type, small,
            square ? std::string("%x") : f.name, b.name, square ? "%z" : "%y"));
    break;
  }
  case 3: {
    Value a = pick(state), b = pick(state);
    static const char *names[] = {"mix", "keep", "branchy", "product"};
    int which = below(affineOnly ? 3 : 4);
    add(state,
        which == 3   ? multiplied(a, b)
        : which == 1 ? a.cls
                     : joined(a, b),
        formatv("func.call @{0}({1}, {2}) : (tensor<3x2xf64>, tensor<3x2xf64>) "
                "-> tensor<3x2xf64>",
                names[which], a.name, b.name));
    break;
  }
  default: {
    Value a = pick(kind);
    const char *narrow[] = {"f32", "tensor<3xf32>", "tensor<2xf32>",
                            "tensor<3x2xf32>", "tensor<2x3xf32>"};
    std::string down = line(
        formatv("arith.truncf {0} : {1} to {2}", a.name, type, narrow[kind]));
    add(kind, a.cls,
        formatv("arith.extf {0} : {1} to {2}", down, narrow[kind], type));
  }
  }
}

void Writer::factors() {
  Value s = pick(state);
  Class most = affineOnly ? isFree : isOther;
  switch (below(4)) {
  case 0: {
    Value g = pick(scalar, most);
    add(state, g.cls == isFree ? s.cls : isOther,
        formatv("scan.decay {0} by {1} along scalar : tensor<3x2xf64>, f64",
                s.name, g.name));
    break;
  }
  case 1: {
    Value k = pick(keys, most), b = pick(scalar, most);
    Class change = k.cls != isFree ? isOther : multiplied(b, s);
    add(state, std::max(s.cls, change),
        formatv("scan.erase {0} read {1} write {1} strength {2} : "
                "tensor<3x2xf64>, tensor<3xf64>, tensor<3xf64>, f64",
                s.name, k.name, b.name));
    break;
  }
  case 2: {
    Value k = pick(keys, most), v = pick(values);
    add(state, std::max(s.cls, multiplied(k, v)),
        formatv("scan.inject {0} key {1} value {2} : tensor<3x2xf64>, "
                "tensor<3xf64>, tensor<2xf64>",
                s.name, k.name, v.name));
    break;
  }
  default: {
    Value q = pick(keys, most);
    add(values, multiplied(q, s),
        formatv("scan.read {0} query {1} : tensor<3x2xf64>, tensor<3xf64> -> "
                "tensor<2xf64>",
                s.name, q.name));
  }
  }
}

/// Ways to nowhere: what the state goes into and comes out of again.
void Writer::detours() {
  Kind kind = Kind(below(5));
  const char *type = kTypes[kind];
  Value a = pick(kind), f = pick(kind, isFree);
  switch (below(5)) {
  case 0: {
    std::string zero = constant(kind, "0.0");
    add(kind, a.cls == isOther ? isOther : isFree,
        formatv("arith.mulf {0}, {1} : {2}", a.name, zero, type));
    break;
  }
  case 1: {
    std::string sum =
        line(formatv("arith.addf {0}, {1} : {2}", f.name, a.name, type));
    add(kind, a.cls == isOther ? isOther : isFree,
        formatv("arith.subf {0}, {1} : {2}", sum, a.name, type));
    break;
  }
  case 2: {
    // Scaled and unscaled by what is never 0.
    std::string one = constant(kind, "1.0");
    std::string square =
        line(formatv("arith.mulf {0}, {0} : {1}", f.name, type));
    std::string positive =
        line(formatv("arith.addf {0}, {1} : {2}", square, one, type));
    std::string scaled =
        line(formatv("arith.mulf {0}, {1} : {2}", a.name, positive, type));
    add(kind, a.cls,
        formatv("arith.divf {0}, {1} : {2}", scaled, positive, type));
    break;
  }
  case 3: {
    // Both ways are the same.
    Value c = pick(scalar), d = pick(scalar);
    std::string test =
        line(formatv("arith.cmpf olt, {0}, {1} : f64", c.name, d.name));
    add(kind, a.cls,
        formatv("arith.select {0}, {1}, {1} : {2}", test, a.name, type));
    break;
  }
  default: {
    if (kind != state)
      return detours();
    std::string empty = line("tensor.empty() : tensor<2x3xf64>");
    std::string there =
        line(formatv("linalg.transpose ins({0} : tensor<3x2xf64>) outs({1} : "
                     "tensor<2x3xf64>) permutation = [1, 0]",
                     a.name, empty));
    std::string room = line("tensor.empty() : tensor<3x2xf64>");
    std::string back =
        line(formatv("linalg.transpose ins({0} : tensor<2x3xf64>) outs({1} : "
                     "tensor<3x2xf64>) permutation = [1, 0]",
                     there, room));
    add(state, a.cls == isOther ? isOther : isFree,
        formatv("arith.subf {0}, {1} : tensor<3x2xf64>", back, a.name));
  }
  }
}

/// Something that is not affine in the state.
void Writer::bend() {
  Value a = pick(state), b = pick(state);
  for (int i = 0; i < 4 && a.cls == isFree; ++i)
    a = pick(state);
  Class cls = a.cls == isFree ? isFree : isOther;
  switch (below(4)) {
  case 0:
    add(state, cls, formatv("math.tanh {0} : tensor<3x2xf64>", a.name));
    break;
  case 1:
    add(state, cls, formatv("arith.mulf {0}, {0} : tensor<3x2xf64>", a.name));
    break;
  case 2:
    add(state, std::max(cls, joined(a, b) == isFree ? isFree : isOther),
        formatv("arith.maximumf {0}, {1} : tensor<3x2xf64>", a.name, b.name));
    break;
  default: {
    std::string at = line("arith.constant 1 : index");
    std::string gate = line(
        formatv("tensor.extract {0}[{1}, {1}] : tensor<3x2xf64>", a.name, at));
    add(state, std::max(cls, b.cls),
        formatv("scan.decay {0} by {1} along scalar : tensor<3x2xf64>, f64",
                b.name, gate));
  }
  }
}

void Writer::step() {
  int dice = below(100);
  if (dice < 28)
    elementwise();
  else if (dice < 36)
    functions();
  else if (dice < 52)
    products();
  else if (dice < 66)
    moves();
  else if (dice < 80)
    control();
  else if (dice < 90)
    factors();
  else
    detours();
}

std::string Writer::write() {
  pool = {{"%S", state, isAffine},  {"%k_t", keys, isFree},
          {"%q_t", keys, isFree},   {"%v_t", values, isFree},
          {"%g_t", scalar, isFree}, {"%b_t", scalar, isFree},
          {"%m_t", state, isFree}};
  int count = 4 + below(12);
  int bent = !affineOnly && chance(50) ? below(count) : -1;
  for (int i = 0; i < count; ++i) {
    if (i == bent)
      bend();
    step();
  }
  // The last matrix that reads the state; often one that is not affine in it.
  Value next = pool.front();
  Class least = !affineOnly && chance(70) ? isOther : isAffine;
  for (const Value &value : pool)
    if (value.kind == state && value.cls >= std::min(least, next.cls))
      if (value.cls != isFree && (value.cls >= least || next.cls < least))
        next = value;
  Value out = pick(values);
  return formatv(R"(
func.func private @mix(%a: tensor<3x2xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {{
  %0 = arith.addf %a, %b : tensor<3x2xf64>
  %1 = arith.subf %0, %b : tensor<3x2xf64>
  %2 = arith.subf %1, %b : tensor<3x2xf64>
  return %2 : tensor<3x2xf64>
}
func.func private @keep(%a: tensor<3x2xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {{
  return %a : tensor<3x2xf64>
}
func.func private @branchy(%a: tensor<3x2xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {{
  %true = arith.constant true
  %0 = scf.if %true -> tensor<3x2xf64> {{
    scf.yield %b : tensor<3x2xf64>
  } else {{
    %1 = arith.mulf %a, %b : tensor<3x2xf64>
    scf.yield %1 : tensor<3x2xf64>
  }
  return %0 : tensor<3x2xf64>
}
func.func private @product(%a: tensor<3x2xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {{
  %0 = arith.mulf %a, %b : tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}
func.func @entry(%q: tensor<?x?x3xf64>, %k: tensor<?x?x3xf64>, %v: tensor<?x?x2xf64>,
                 %g: tensor<?x?xf64>, %b: tensor<?x?xf64>, %m: tensor<?x?x3x2xf64>,
                 %s0: tensor<?x1x3x2xf64>) -> (tensor<?x?x2xf64>, tensor<?x1x3x2xf64>) {{
  %o, %f = scan.recurrence ins(%q as "btk", %k as "btk", %v as "btv", %g as "bt", %b as "bt", %m as "btkv"
        : tensor<?x?x3xf64>, tensor<?x?x3xf64>, tensor<?x?x2xf64>, tensor<?x?xf64>, tensor<?x?xf64>,
          tensor<?x?x3x2xf64>)
      init(%s0 as "nhkv" : tensor<?x1x3x2xf64>) outs("btv") finals("nhkv") {{
    ^bb0(%S: tensor<3x2xf64>, %q_t: tensor<3xf64>, %k_t: tensor<3xf64>, %v_t: tensor<2xf64>,
         %g_t: f64, %b_t: f64, %m_t: tensor<3x2xf64>):
{0}      scan.yield {1}, {2} : tensor<3x2xf64>, tensor<2xf64>
  } -> (tensor<?x?x2xf64>), (tensor<?x1x3x2xf64>)
  return %o, %f : tensor<?x?x2xf64>, tensor<?x1x3x2xf64>
}
)",
                 body, next.name, out.name);
}

std::string prism::analysis::makeRandomRegion(uint64_t seed, bool affineOnly) {
  return Writer(seed, affineOnly).write();
}
