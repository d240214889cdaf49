//===- FamilyTable.cpp - The presets --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function a family: its inputs and its steps, in the order of its paper's
// equation. docs/Families.md has the equations and their sources. No file
// outside of lib/Spec knows a family's name.
//
//===----------------------------------------------------------------------===//

#include "Preset.h"

using namespace prism;
using namespace prism::spec;

//===----------------------------------------------------------------------===//
// Words of a preset
//===----------------------------------------------------------------------===//

void Preset::input(const char *name, bool ofKeys,
                   std::vector<std::string> features) {
  std::string heads = ofKeys ? keyHeads : valueHeads;
  std::vector<std::string> axes =
      headFirst ? std::vector<std::string>{"B", heads, "T"}
                : std::vector<std::string>{"B", "T", heads};
  axes.insert(axes.end(), features.begin(), features.end());
  inputs[name] = axes;
}

void Preset::parameter(const char *name, std::vector<std::string> features) {
  std::vector<std::string> axes = {valueHeads};
  axes.insert(axes.end(), features.begin(), features.end());
  inputs[name] = {{"axes", axes}, {"dtype", gateType}};
}

void Preset::queriesKeysValues() {
  input("q", true, {"K"});
  input("k", true, {"K"});
  input("v", false, {"V"});
}

void Preset::let(const char *name, const std::string &expression) {
  lets[name] = expression;
}

std::string Preset::normalised(const std::string &name) {
  if (normEpsilon.is_null())
    return name;
  std::string unit = name + "_unit";
  lets[unit] = "l2norm(" + name + ", " + normEpsilon.dump() + ")";
  return unit;
}

void Preset::decay(const char *gate) { steps.push_back({{"decay", gate}}); }

void Preset::erase(const std::string &key, Json strength) {
  steps.push_back({{"erase", {{"key", key}, {"strength", strength}}}});
}

void Preset::erase(const std::string &read, const std::string &write,
                   Json strength, bool ofPrevious) {
  Json step = {{"read", read}, {"write", write}, {"strength", strength}};
  if (ofPrevious)
    step["of"] = "previous";
  steps.push_back({{"erase", std::move(step)}});
}

void Preset::inject(const std::string &key, const std::string &value,
                    const char *scale) {
  Json step = {{"key", key}, {"value", value}};
  if (scale)
    step["scale"] = scale;
  steps.push_back({{"inject", std::move(step)}});
}

void Preset::read(const std::string &query) {
  Json step = {{"query", query}};
  if (!readScale.is_null())
    step["scale"] = readScale;
  steps.push_back({{"read", std::move(step)}});
}

void Preset::ofState(const char *name) {
  Json &step = steps.back().begin().value();
  if (step.is_string()) // a decay's gate alone
    step = {{"gate", step}};
  step["state"] = name;
}

void Preset::injectRow(const std::string &value) {
  steps.push_back({{"inject", {{"value", value}}}});
}

void Preset::readRow() {
  Json step = Json::object();
  if (!readScale.is_null())
    step["scale"] = readScale;
  steps.push_back({{"read", std::move(step)}});
}

//===----------------------------------------------------------------------===//
// Decays and injections
//===----------------------------------------------------------------------===//

static void writeLinearAttention(Preset &p) {
  p.queriesKeysValues();
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.inject(k, "v");
  p.read(q);
}

static void writeRetnet(Preset &p) {
  p.queriesKeysValues();
  p.parameter("log_gamma", {});
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.decay("log_gamma");
  p.inject(k, "v");
  p.read(q);
}

static void writeGla(Preset &p) {
  p.queriesKeysValues();
  p.input("log_alpha", false, {"K"});
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.decay("log_alpha");
  p.inject(k, "v");
  p.read(q);
}

/// V channels of K states each: an element decays by its own A and its
/// channel's step size.
static void writeMamba(Preset &p) {
  p.input("x", false, {"V"});
  p.input("dt", false, {"V"});
  p.parameter("A_log", {"K", "V"});
  p.input("B", true, {"K"});
  p.input("C", true, {"K"});
  p.let("delta", "softplus(dt)");
  p.let("log_decay", "-exp(A_log) * delta");
  p.let("stepped", "delta * x");
  p.decay("log_decay");
  p.inject("B", "stepped");
  p.read("C");
}

/// Key heads are the groups that share B and C.
static void writeMamba2(Preset &p) {
  p.input("x", false, {"V"});
  p.input("dt", false, {});
  p.parameter("A_log", {});
  p.input("B", true, {"K"});
  p.input("C", true, {"K"});
  p.let("delta", "softplus(dt)");
  p.let("log_alpha", "-exp(A_log) * delta");
  p.decay("log_alpha");
  p.inject("B", "x", "delta");
  p.read("C");
}

//===----------------------------------------------------------------------===//
// Delta rules
//===----------------------------------------------------------------------===//

static void writeDeltanet(Preset &p) {
  p.queriesKeysValues();
  p.input("beta", false, {});
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.erase(k, "beta");
  p.inject(k, "v", "beta");
  p.read(q);
}

static void writeGatedDelta(Preset &p, std::vector<std::string> gateAxes) {
  p.queriesKeysValues();
  p.input("log_alpha", false, std::move(gateAxes));
  p.input("beta", false, {});
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.decay("log_alpha");
  p.erase(k, "beta");
  p.inject(k, "v", "beta");
  p.read(q);
}
static void writeGatedDeltanet(Preset &p) { writeGatedDelta(p, {}); }
static void writeKda(Preset &p) { writeGatedDelta(p, {"K"}); }

/// The strengths are vectors: of the erase per key channel, of the write per
/// value channel.
static void writeGatedDeltanet2(Preset &p) {
  p.queriesKeysValues();
  p.input("log_alpha", false, {"K"});
  p.input("erase_gate", false, {"K"});
  p.input("write_gate", false, {"V"});
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.let("erase_key", "erase_gate * " + k);
  p.let("gated_value", "write_gate * v");
  p.decay("log_alpha");
  p.erase("erase_key", k, 1, /*ofPrevious=*/false);
  p.inject(k, "gated_value");
  p.read(q);
}

/// M delta rules a token, one after the other; the gate comes before them.
static void writeGatedDeltaproduct(Preset &p) {
  p.input("q", true, {"K"});
  p.input("k", true, {"M", "K"});
  p.input("v", false, {"M", "V"});
  p.input("log_alpha", false, {});
  p.input("beta", false, {"M"});
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.decay("log_alpha");
  Preset inner;
  inner.erase(k, "beta");
  inner.inject(k, "v", "beta");
  p.steps.push_back({{"repeat", {{"axis", "M"}, {"steps", inner.steps}}}});
  p.read(q);
}

/// Both forms read the state before the decay. In the paper's the read key is
/// minus the removal key, and the write key the removal key times its rate.
static constexpr llvm::StringLiteral kRwkv7Variants[] = {"paper", "dplr"};
static void writeRwkv7(Preset &p) {
  p.input("r", true, {"K"});
  p.input("log_w", false, {"K"});
  p.input("k", true, {"K"});
  p.input("v", false, {"V"});
  if (p.variant == "dplr") {
    p.input("a", true, {"K"});
    p.input("b", true, {"K"});
    p.decay("log_w");
    p.erase("a", "b", -1, /*ofPrevious=*/true);
  } else {
    p.input("kappa", true, {"K"});
    p.input("a", false, {"K"});
    std::string kappa = p.normalised("kappa");
    p.let("removal_write", "a * " + kappa);
    p.decay("log_w");
    p.erase(kappa, "removal_write", 1, /*ofPrevious=*/true);
  }
  p.inject("k", "v");
  p.read("r");
}

//===----------------------------------------------------------------------===//
// Several states
//===----------------------------------------------------------------------===//

/// A state and the sum of its keys, with the same gates; the outputs' parts.
static void writeNormalised(Preset &p, const char *gate, const char *scale,
                            const char *state, const char *sum) {
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.states[state] = {"K", "V"};
  p.states[sum] = Preset::Json::array({"K"});
  p.decay(gate);
  p.inject(k, "v", scale);
  p.decay(gate);
  p.ofState(sum);
  p.steps.push_back({{"inject", {{"key", k}, {"scale", scale}}}});
  p.ofState(sum);
  p.read(q);
  p.steps.back()["read"]["output"] = "numerator";
  p.read(q);
  p.steps.back()["read"]["output"] = "denominator";
  p.ofState(sum);
}

static void writeGatedRfa(Preset &p) {
  p.queriesKeysValues();
  p.input("log_g", false, {});
  p.let("write", "-expm1(log_g)"); // 1 - g
  writeNormalised(p, "log_g", "write", "S", "z");
  p.outputs["o"] = "numerator / denominator";
}

/// C and n are kept divided by exp(m), so that exponential gates neither
/// overflow nor vanish together. Below -1e30 the floor of m keeps minus
/// infinity from meeting itself.
static void writeMlstm(Preset &p) {
  p.queriesKeysValues();
  p.input("log_i", false, {});
  p.input("log_f", false, {});
  p.let("m_next", "max(max(log_f + m, log_i), -1e30)");
  p.let("keep", "log_f + m - m_next");
  p.let("write", "exp(log_i - m_next)");
  writeNormalised(p, "keep", "write", "C", "n");
  p.states["m"] = Preset::Json::array();
  p.steps.push_back({{"set", {{"state", "m"}, {"value", "m_next"}}}});
  p.outputs["o"] = "numerator / max(abs(denominator), exp(-m_next))";
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static void writeElementwise(Preset &p, const char *gate, const char *value) {
  p.decay(gate);
  p.injectRow(value);
  p.readRow();
}

static void writeFirstOrder(Preset &p) {
  p.input("x", false, {"V"});
  p.input("log_a", false, {"V"});
  writeElementwise(p, "log_a", "x");
}

static void writeHgrn(Preset &p) {
  p.input("i", false, {"V"});
  p.input("log_f", false, {"V"});
  p.let("gated_input", "-expm1(log_f) * i"); // (1 - f) i
  writeElementwise(p, "log_f", "gated_input");
}

static void writeMingru(Preset &p) {
  p.input("h_tilde", false, {"V"});
  p.input("z_logit", false, {"V"});
  p.let("log_keep", "logsigmoid(-z_logit)"); // log (1 - z)
  p.let("candidate", "sigmoid(z_logit) * h_tilde");
  writeElementwise(p, "log_keep", "candidate");
}

static void writeRgLru(Preset &p) {
  p.input("x", false, {"V"});
  p.input("r_logit", false, {"V"});
  p.input("i_logit", false, {"V"});
  p.parameter("Lambda", {"V"});
  p.let("log_a", "8 * sigmoid(r_logit) * logsigmoid(Lambda)");
  p.let("gated_input", "sqrt(-expm1(2 * log_a)) * sigmoid(i_logit) * x");
  writeElementwise(p, "log_a", "gated_input");
}

//===----------------------------------------------------------------------===//
// PRISM
//===----------------------------------------------------------------------===//

/// v3: Gated DeltaNet plus L injections of refined values. v2: no base write,
/// and the erase takes key and strength of the first injection.
static constexpr llvm::StringLiteral kPrismVariants[] = {"v3", "v2"};
static void writePrism(Preset &p) {
  bool tied = p.variant == "v2";
  p.queriesKeysValues();
  p.input("log_alpha", false, {});
  if (!tied)
    p.input("beta", false, {});
  if (p.rank > 0) {
    p.input("u", false, {"V"});
    p.input("p", false, {"L", "V"});
    p.input("c", true, {"L", "K"});
    p.input("b", false, {"L"});
  }
  std::string q = p.normalised("q"), k = p.normalised("k");
  p.decay("log_alpha");
  if (tied) {
    p.inputs.erase("k");
    p.let("erase_key", "row(c, 0)");
    p.let("erase_strength", "row(b, 0)");
    p.erase("erase_key", "erase_strength");
  } else {
    p.erase(k, "beta");
    p.inject(k, "v", "beta");
  }
  if (p.rank > 0) {
    Preset::Json refine = {{"anchor", "u"},
                           {"value", "v"},
                           {"gain", "p"},
                           {"activation", p.activation}};
    p.steps.push_back(
        {{"inject",
          {{"key", "c"}, {"scale", "b"}, {"refine", std::move(refine)}}}});
  }
  p.read(q);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr Family family(llvm::StringLiteral name,
                               llvm::StringLiteral summary,
                               void (*write)(Preset &)) {
  return {name, summary, write, {}};
}

static constexpr Family withVariants(Family family,
                                     llvm::ArrayRef<llvm::StringLiteral> all) {
  family.variants = all;
  return family;
}

static constexpr Family withDim(Family family, llvm::StringLiteral dim) {
  family.neededDim = dim;
  return family;
}

static constexpr Family withActivation(Family family) {
  family.hasActivation = true;
  return family;
}

static constexpr Family withoutNorm(Family family) {
  family.hasNorm = false;
  return family;
}

static constexpr Family elementwise(Family family) {
  family.isElementwise = true;
  return withoutNorm(family);
}

static constexpr Family kFamilies[] = {
    family("linear_attention", "S <- S + k v^T", writeLinearAttention),
    family("retnet", "a constant decay per head", writeRetnet),
    family("gla", "a decay per key channel", writeGla),
    withoutNorm(
        family("mamba", "S6: a decay per element from dt and A", writeMamba)),
    withoutNorm(family("mamba2",
                       "SSD: a scalar decay per head from dt and A; groups of "
                       "heads share B and C",
                       writeMamba2)),
    family("deltanet", "the delta rule", writeDeltanet),
    family("gated_deltanet", "the delta rule after a scalar decay",
           writeGatedDeltanet),
    family("gated_deltanet2",
           "erase gates per key channel, write gates per value channel",
           writeGatedDeltanet2),
    family("kda", "the delta rule after a decay per key channel", writeKda),
    withDim(family("gated_deltaproduct",
                   "M delta rules a token, one after the other, after a scalar "
                   "decay",
                   writeGatedDeltaproduct),
            "M"),
    withVariants(family("rwkv7",
                        "a decay per key channel and a removal that reads the "
                        "state before it",
                        writeRwkv7),
                 kRwkv7Variants),
    family("mlstm",
           "matrix memory C and normaliser n with exponential gates, "
           "stabilised by m",
           writeMlstm),
    family("gated_rfa",
           "a gated sum over random features, divided by that of its keys",
           writeGatedRfa),
    elementwise(family("hgrn", "h <- f h + (1 - f) i, elementwise", writeHgrn)),
    elementwise(
        family("mingru", "h <- (1 - z) h + z h', elementwise", writeMingru)),
    elementwise(family("rg_lru", "h <- a h + sqrt(1 - a^2) i x, elementwise",
                       writeRgLru)),
    elementwise(
        family("first_order", "y <- a y + x, elementwise", writeFirstOrder)),
    withActivation(withDim(
        withVariants(
            family("prism",
                   "the gated delta rule and L injections of refined values",
                   writePrism),
            kPrismVariants),
        "L"))};

llvm::ArrayRef<Family> prism::spec::getFamilyTable() { return kFamilies; }

std::vector<FamilySummary> prism::spec::listFamilies() {
  std::vector<FamilySummary> list;
  for (const Family &family : getFamilyTable())
    list.push_back({family.name, family.summary, family.variants});
  return list;
}
