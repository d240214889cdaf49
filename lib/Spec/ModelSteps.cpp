//===- ModelSteps.cpp - The steps of the recurrence -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

using namespace prism;
using namespace prism::spec;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool ModelBuilder::readOperand(const JsonNode &node, Operand &operand) {
  operand.loc = node.loc;
  if (node.is(JsonKind::Number)) {
    operand.number = node.number;
    return true;
  }
  operand.name = node.string;
  used.insert(operand.name);
  if (spec.isConvolutionWeight(operand.name))
    return fail(node.loc, weightMessage(operand.name));
  if (const Input *input = spec.findInput(operand.name)) {
    operand.axes = featureAxes(*input);
    return takeMicroStep(operand);
  }
  if (const Let *let = spec.findLet(operand.name)) {
    operand.axes = let->value.axes;
    return takeMicroStep(operand);
  }
  auto names = valueNames(spec);
  llvm::StringRef nearest = nearestName(operand.name, names);
  return fail(node.loc,
              "unknown name '" + operand.name +
                  "', expected an input or a let (" + joinNames(names) + ")",
              nearest);
}

/// Inside a repeat, what has its axis is taken row by row: a let of its own for
/// each micro-step.
bool ModelBuilder::takeMicroStep(Operand &operand) {
  if (!repeated || operand.axes.empty() ||
      operand.axes.front() != repeated->axis)
    return true;
  std::string index = std::to_string(repeated->index);
  std::string name = operand.name + "_" + index;
  std::string text = "row(" + operand.name + ", " + index + ")";
  Axes rest(operand.axes.begin() + 1, operand.axes.end());
  const Let *known = spec.findLet(name);
  if (spec.findInput(name) || (known && known->text != text))
    return fail(operand.loc, "micro-step " + index + " of '" + operand.name +
                                 "' is the let '" + name +
                                 "', and that name is taken");
  if (!known) {
    if (!checkNewName(name, operand.loc))
      return false;
    ExprError error;
    llvm::FailureOr<Expr> row = parseExpression(text, error);
    row->axes = rest;
    row->operands[0].axes = operand.axes;
    spec.lets.push_back({name, text, std::move(*row), operand.loc});
  }
  used.insert(name);
  operand.name = name;
  operand.axes = rest;
  return true;
}

/// A key or a query. Of a state of one row it may be left out: it is 1.
bool ModelBuilder::readKey(const JsonNode *node, const JsonNode &step,
                           llvm::StringRef what, Operand &operand) {
  if (node && !state().hasKeys)
    return fail(node->loc, "state '" + state().name + "' has no axis K: the " +
                               what + " is 1, leave it out");
  if (node)
    return readOperand(*node, operand);
  if (state().hasKeys && spec.extent("K") != 1)
    return fail(step.loc, "expected '" + what +
                              "'; it may be left out only where K is 1, and "
                              "here K is " +
                              llvm::Twine(spec.extent("K")));
  operand.number = 1;
  operand.loc = step.loc;
  operand.axes = {"K"};
  return true;
}

/// A vector of axes [last] or ranks of them, [any, last].
bool ModelBuilder::expectAxes(const Operand &operand, llvm::StringRef role,
                              llvm::StringRef last) {
  bool ok = !operand.axes.empty() && operand.axes.back() == last &&
            (operand.axes.size() == 1 ||
             (operand.axes[0] != "K" && operand.axes[0] != "V"));
  if (ok)
    return true;
  return fail(operand.loc, "expected " + role + " of axes [" + last +
                               "], or [L, " + last + "] with ranks; '" +
                               operand.name + "' has " +
                               printAxes(operand.axes));
}

/// A scalar or, beside a vector with ranks, one number per rank. A scalar
/// beside ranks serves them all.
bool ModelBuilder::expectRank(const Operand &operand, llvm::StringRef role,
                              const Axes &vector) {
  Axes ranks(vector.begin(), vector.end() - 1);
  if (operand.axes.empty() || operand.axes == ranks)
    return true;
  return fail(
      operand.loc,
      "expected " + role + " to be a scalar" +
          (ranks.empty() ? std::string() : " or of axes " + printAxes(ranks)) +
          "; '" + operand.name + "' has axes " + printAxes(operand.axes));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool ModelBuilder::readSteps() {
  const JsonNode *steps = root.find("steps");
  for (llvm::StringRef key : {"transition", "inject", "read"})
    if (const JsonNode *shorthand = root.find(key); shorthand && steps)
      return fail(shorthand->loc, "'" + key +
                                      "' beside 'steps'; expected either steps "
                                      "or transition, inject and read");
  if (!steps) {
    if (!readShorthand())
      return false;
  } else {
    for (const JsonNode &step : steps->items)
      if (!readStep(step))
        return false;
  }
  for (const Step &step : spec.steps)
    if (std::holds_alternative<ReadStep>(step.factor))
      return true;
  return fail(steps ? steps->loc : root.loc,
              "expected a read; the model has no output");
}

bool ModelBuilder::readShorthand() {
  auto each = [](const JsonNode *node,
                 llvm::function_ref<bool(const JsonNode &)> apply) {
    if (!node)
      return true;
    if (node->is(JsonKind::Object))
      return apply(*node);
    return llvm::all_of(node->items, apply);
  };
  auto readsWhen = [&](llvm::StringRef when) {
    return [this, when](const JsonNode &read) {
      const JsonNode *given = read.find("when");
      return (given ? llvm::StringRef(given->string) : "after") != when ||
             readRead(read);
    };
  };
  return each(root.find("read"), readsWhen("before")) &&
         each(root.find("transition"),
              [&](const JsonNode &step) { return readStep(step); }) &&
         each(root.find("inject"),
              [&](const JsonNode &node) { return readInject(node); }) &&
         each(root.find("read"), readsWhen("after"));
}

bool ModelBuilder::readStep(const JsonNode &step) {
  const JsonMember &member = step.members.front();
  if (member.key == "decay")
    return readDecay(member.value);
  if (member.key == "erase")
    return readErase(member.value);
  if (member.key == "inject")
    return readInject(member.value);
  if (member.key == "repeat")
    return readRepeat(member.value);
  if (member.key == "set")
    return readSet(member.value);
  if (member.key == "add")
    return readAdd(member.value);
  if (const JsonNode *when = member.value.find("when"))
    return fail(when->loc, "'when' inside 'steps'; the place of a read in the "
                           "list says when it reads");
  return readRead(member.value);
}

/// The steps of each micro-step, one after the other.
bool ModelBuilder::readRepeat(const JsonNode &node) {
  const JsonNode &axis = *node.find("axis");
  const Dim *dim = spec.findDim(axis.string);
  bool ownDim = dim && !isOuterAxis(axis.string) && axis.string != "K" &&
                axis.string != "V";
  if (!ownDim)
    return fail(axis.loc, "expected a dim of your own, such as M, found '" +
                              axis.string + "'");
  constexpr int64_t kMost = 64; // each is written out
  if (*dim->extent < 1 || *dim->extent > kMost)
    return fail(axis.loc, "expected 1 to " + llvm::Twine(kMost) +
                              " micro-steps, '" + axis.string + "' has " +
                              llvm::Twine(*dim->extent));
  int64_t count = *dim->extent;
  for (int64_t i = 0; i < count; ++i) {
    repeated = {axis.string, i};
    for (const JsonNode &step : node.find("steps")->items)
      if (!readStep(step))
        return false;
  }
  repeated.reset();
  return true;
}

bool ModelBuilder::readDecay(const JsonNode &node) {
  if (!chooseState(node, "decay"))
    return false;
  DecayStep decay;
  const JsonNode &gate = node.is(JsonKind::String) ? node : *node.find("gate");
  if (!readOperand(gate, decay.gate))
    return false;
  decayGates.insert(gate.string); // of a micro-step, the whole
  decayGates.insert(decay.gate.name);
  static const Axes kForms[] = {{}, {"K"}, {"V"}, {"K", "V"}};
  const Axes *form = llvm::find(kForms, decay.gate.axes);
  bool fits = form != std::end(kForms) &&
              llvm::all_of(decay.gate.axes, [&](llvm::StringRef axis) {
                return axis == "K" ? state().hasKeys : state().hasValues;
              });
  if (!fits)
    return fail(gate.loc,
                llvm::Twine("expected a log-gate of axes []") +
                    (state().hasKeys ? ", [K]" : "") +
                    (state().hasValues ? ", [V]" : "") +
                    (state().hasKeys && state().hasValues ? " or [K, V]" : "") +
                    "; '" + decay.gate.name + "' has " +
                    printAxes(decay.gate.axes));
  decay.along = static_cast<Along>(form - std::begin(kForms));
  const JsonNode *along = node.find("along");
  if (along && along->string != stringify(decay.along))
    return fail(along->loc, "decay along " + along->string + ", but the axes " +
                                printAxes(decay.gate.axes) + " of '" +
                                decay.gate.name + "' mean along " +
                                stringify(decay.along));
  addStep(decay, node.loc);
  return true;
}

bool ModelBuilder::readErase(const JsonNode &node) {
  if (!chooseState(node, "erase"))
    return false;
  EraseStep erase;
  const JsonNode *key = node.find("key"), *read = node.find("read"),
                 *write = node.find("write");
  if (key && (read || write))
    return fail((read ? read : write)->loc,
                "'key' is read and write key in one; expected either key or "
                "both read and write");
  if (!key && !(read && write))
    return fail(node.loc, "expected 'key' or both 'read' and 'write'");
  if (!readOperand(key ? *key : *read, erase.read) ||
      !readOperand(key ? *key : *write, erase.write) ||
      !readOperand(*node.find("strength"), erase.strength))
    return false;
  if (!expectAxes(erase.read, key ? "a key" : "a read key", "K") ||
      !expectAxes(erase.write, "a write key", "K"))
    return false;
  if (erase.read.axes != erase.write.axes)
    return fail(erase.write.loc,
                "read key '" + erase.read.name + "' has axes " +
                    printAxes(erase.read.axes) + " and write key '" +
                    erase.write.name + "' " + printAxes(erase.write.axes) +
                    "; expected the same");
  if (!expectRank(erase.strength, "the strength", erase.read.axes))
    return false;
  if (const JsonNode *of = node.find("of"); of && !readOf(*of, erase))
    return false;
  addStep(erase, node.loc);
  return true;
}

bool ModelBuilder::readRefine(const JsonNode &node, InjectStep &inject) {
  Refine refine;
  if (!readOperand(*node.find("anchor"), refine.anchor) ||
      !readOperand(*node.find("value"), refine.value) ||
      !readOperand(*node.find("gain"), refine.gain))
    return false;
  for (auto [operand, role] : {std::pair(&refine.anchor, "an anchor"),
                               std::pair(&refine.value, "a value")})
    if (operand->axes != Axes{"V"})
      return fail(operand->loc, llvm::Twine("expected ") + role +
                                    " of axes [V]; '" + operand->name +
                                    "' has " + printAxes(operand->axes));
  if (!expectAxes(refine.gain, "a gain", "V"))
    return false;
  if (refine.gain.axes.size() != 2)
    return fail(refine.gain.loc, "expected a gain of axes [L, V]; '" +
                                     refine.gain.name + "' has " +
                                     printAxes(refine.gain.axes));
  if (const JsonNode *activation = node.find("activation"))
    for (unsigned i = 0; i <= static_cast<unsigned>(RefineActivation::Relu);
         ++i)
      if (stringify(static_cast<RefineActivation>(i)) == activation->string)
        refine.activation = static_cast<RefineActivation>(i);
  inject.refine = std::move(refine);
  return true;
}

bool ModelBuilder::readInject(const JsonNode &node) {
  if (!chooseState(node, "inject"))
    return false;
  InjectStep inject;
  const JsonNode *value = node.find("value"), *refine = node.find("refine"),
                 *scale = node.find("scale");
  if (value && refine)
    return fail(
        value->loc,
        "'value' beside 'refine', which makes the value; expected one of them");
  if (!state().hasValues && (value || refine))
    return fail((value ? value : refine)->loc,
                "state '" + state().name +
                    "' has no axis V: the value is 1, leave it out");
  if (state().hasValues && !value && !refine)
    return fail(node.loc, "expected 'value' or 'refine'");
  if (!readKey(node.find("key"), node, "key", inject.key) ||
      !expectAxes(inject.key, "a key", "K"))
    return false;
  Axes valueAxes = inject.key.axes;
  valueAxes.back() = "V";
  if (refine) {
    if (!readRefine(*refine, inject))
      return false;
    if (inject.refine->gain.axes != valueAxes)
      return fail(inject.refine->gain.loc,
                  "key '" + inject.key.name + "' has axes " +
                      printAxes(inject.key.axes) + " and gain '" +
                      inject.refine->gain.name + "' " +
                      printAxes(inject.refine->gain.axes) +
                      "; expected the same ranks");
  } else if (value) {
    if (!readOperand(*value, inject.value.emplace()))
      return false;
    if (inject.value->axes != valueAxes)
      return fail(value->loc,
                  "expected a value of axes " + printAxes(valueAxes) +
                      (inject.key.number
                           ? std::string(" without a key")
                           : ", as key '" + inject.key.name + "' has " +
                                 printAxes(inject.key.axes)) +
                      "; '" + inject.value->name + "' has " +
                      printAxes(inject.value->axes));
  }
  if (scale && (!readOperand(*scale, inject.scale.emplace()) ||
                !expectRank(*inject.scale, "the scale", inject.key.axes)))
    return false;
  addStep(inject, node.loc);
  return true;
}

bool ModelBuilder::readRead(const JsonNode &node) {
  if (!chooseState(node, "read"))
    return false;
  ReadStep read;
  if (!readKey(node.find("query"), node, "query", read.query))
    return false;
  if (read.query.axes != Axes{"K"})
    return fail(read.query.loc, "expected a query of axes [K]; '" +
                                    read.query.name + "' has " +
                                    printAxes(read.query.axes));
  if (const JsonNode *scale = node.find("scale"))
    read.scale = scale->number;
  unsigned earlier = 0;
  for (const Step &step : spec.steps)
    earlier += std::holds_alternative<ReadStep>(step.factor);
  const JsonNode *output = node.find("output");
  read.output = output    ? output->string
                : earlier ? "o" + std::to_string(earlier + 1)
                          : "o";
  if (state().hasValues)
    read.axes = {"V"};
  if (!checkRead(read, output ? output->loc : node.loc))
    return false;
  addStep(read, node.loc);
  return true;
}

bool ModelBuilder::checkUses() {
  for (const Input &input : spec.inputs)
    if (!used.contains(input.name))
      return fail(input.loc, "input '" + input.name + "' is never used");
  for (const Let &let : spec.lets)
    if (!used.contains(let.name))
      return fail(let.loc, "let '" + let.name + "' is never used");
  return true;
}
