//===- ModelStates.cpp - Several states, and outputs made of reads --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

using namespace prism;
using namespace prism::spec;

/// Without 'states' there is one, K x V.
bool ModelBuilder::readStates() {
  const JsonNode *states = root.find("states");
  if (!states) {
    spec.states.push_back({"state", true, true, root.loc});
    return true;
  }
  static const Axes kForms[] = {{"K", "V"}, {"K"}, {"V"}, {}};
  for (const JsonMember &member : states->members) {
    Axes axes;
    for (const JsonNode &axis : member.value.items)
      axes.push_back(axis.string);
    if (!llvm::is_contained(kForms, axes))
      return fail(member.value.loc,
                  "expected a state of axes [K, V], [K], [V] or [], found " +
                      printAxes(axes));
    for (const auto &function : getFunctions())
      if (member.key == function.first)
        return fail(member.keyLoc,
                    "the name '" + member.key + "' is a function of let");
    spec.states.push_back({member.key, llvm::is_contained(axes, "K"),
                           llvm::is_contained(axes, "V"), member.keyLoc});
  }
  return true;
}

/// The state of this name; null, with the message, if there is none.
const State *ModelBuilder::findState(const JsonNode &name) {
  if (const State *found = spec.findState(name.string))
    return found;
  std::vector<llvm::StringRef> names;
  for (const State &state : spec.states)
    names.push_back(state.name);
  fail(name.loc,
       "unknown state '" + name.string + "', expected " + joinNames(names),
       nearestName(name.string, names));
  return nullptr;
}

/// The state that a step names, or the first.
bool ModelBuilder::chooseState(const JsonNode &node, llvm::StringRef step) {
  current = 0;
  const JsonNode *name = node.find("state");
  if (name) {
    const State *found = findState(*name);
    if (!found)
      return false;
    current = found - spec.states.data();
  }
  SourceLoc loc = name ? name->loc : node.loc;
  if (state().isScalar() != (step == "set"))
    return fail(loc, state().isScalar()
                         ? "state '" + state().name +
                               "' has no axes: lets see it, and only 'set' "
                               "changes it"
                         : "'set' of state '" + state().name +
                               "', which has axes; it changes by decay, erase "
                               "and inject");
  if (step == "erase" && !state().hasKeys)
    return fail(loc, "an erase of state '" + state().name +
                         "', which has no axis K");
  return true;
}

bool ModelBuilder::readSet(const JsonNode &node) {
  if (!chooseState(node, "set"))
    return false;
  SetStep set;
  if (!readOperand(*node.find("value"), set.value))
    return false;
  if (!set.value.axes.empty())
    return fail(set.value.loc, "expected a scalar; '" + set.value.name +
                                   "' has axes " + printAxes(set.value.axes));
  for (const Step &earlier : spec.steps)
    if (std::holds_alternative<SetStep>(earlier.factor) &&
        earlier.state == current)
      return fail(node.loc, "state '" + state().name + "' is set twice");
  addStep(set, node.loc);
  return true;
}

static Axes axesOf(const State &state) {
  Axes axes;
  if (state.hasKeys)
    axes.push_back("K");
  if (state.hasValues)
    axes.push_back("V");
  return axes;
}

bool ModelBuilder::readAdd(const JsonNode &node) {
  if (!chooseState(node, "add"))
    return false;
  const JsonNode &from = *node.find("from");
  const State *other = findState(from);
  if (!other)
    return false;
  if (axesOf(*other) != axesOf(state()))
    return fail(from.loc, "expected a state of axes " +
                              printAxes(axesOf(state())) + ", as '" +
                              state().name + "' has; '" + other->name +
                              "' has " + printAxes(axesOf(*other)));
  AddStep add;
  add.from = other - spec.states.data();
  add.scale.number = 1.0;
  add.scale.loc = node.loc;
  if (const JsonNode *scale = node.find("scale")) {
    add.scale.number.reset();
    if (!readOperand(*scale, add.scale))
      return false;
    if (!add.scale.axes.empty())
      return fail(scale->loc, "expected a scalar; '" + add.scale.name +
                                  "' has axes " + printAxes(add.scale.axes));
  }
  addStep(add, node.loc);
  return true;
}

/// "previous", "entry" or { "entry": "a state" }.
bool ModelBuilder::readOf(const JsonNode &node, EraseStep &erase) {
  erase.ofState = current;
  if (node.is(JsonKind::String) && node.string == "previous") {
    erase.of = EraseStep::Of::Previous;
    return true;
  }
  if (!spec.miniBatch)
    return fail(node.loc, "an erase of the state at a mini-batch's entry needs "
                          "mini-batches: \"granularity\": { \"mini_batch\": "
                          "16 }");
  erase.of = EraseStep::Of::Entry;
  const JsonNode *name = node.find("entry");
  if (!name)
    return true;
  const State *other = findState(*name);
  if (!other)
    return false;
  if (axesOf(*other) != axesOf(state()))
    return fail(name->loc, "expected a state of axes " +
                               printAxes(axesOf(state())) + ", as '" +
                               state().name + "' has; '" + other->name +
                               "' has " + printAxes(axesOf(*other)));
  erase.ofState = other - spec.states.data();
  return true;
}

/// The name of a read, as an output or as a value of the outputs.
bool ModelBuilder::checkRead(const ReadStep &read, const SourceLoc &loc) {
  if (!checkNewName(read.output, loc))
    return false;
  if (spec.findInput(read.output))
    return fail(loc, "output '" + read.output + "' has the name of an input");
  if (spec.findRead(read.output))
    return fail(loc, "output '" + read.output + "' twice");
  if (!root.find("outputs"))
    return !read.axes.empty() ||
           fail(loc, "a read of state '" + state().name +
                         "' has no axis V, and an output has one; compute it "
                         "from the reads under 'outputs'");
  if (spec.findLet(read.output))
    return fail(loc, "read '" + read.output + "' has the name of a let");
  return true;
}

bool ModelBuilder::readOutputs() {
  const JsonNode *outputs = root.find("outputs");
  if (!outputs)
    return true;
  readsAreValues = true;
  for (const JsonMember &member : outputs->members) {
    if (!checkNewName(member.key, member.keyLoc))
      return false;
    if (spec.findInput(member.key) || spec.findLet(member.key) ||
        spec.findRead(member.key))
      return fail(member.keyLoc, "output '" + member.key +
                                     "' has the name of an input, a let or a "
                                     "read");
    Expr value;
    if (!readExpression(member.value, value))
      return false;
    if (value.axes != Axes{"V"})
      return fail(member.value.loc, "expected an output of axes [V], found " +
                                        printAxes(value.axes));
    spec.outputs.push_back(
        {member.key, member.value.string, std::move(value), member.value.loc});
  }
  for (const Step &step : spec.steps)
    if (auto *read = std::get_if<ReadStep>(&step.factor);
        read && !used.contains(read->output))
      return fail(step.loc, "read '" + read->output + "' is never used");
  return true;
}
