//===- Expand.cpp - A spec written out ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Printing from the model, not from the text: the order of keys is fixed, every
// default is in place, so that two specs of one meaning print the same.
//
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Spec.h"
#include "Prism/Support/Json.h"
#include <nlohmann/json.hpp>

using namespace prism;
using namespace prism::spec;
using nlohmann::ordered_json;

static ordered_json toJson(double value) {
  JsonNode node;
  node.kind = JsonKind::Number;
  node.number = value;
  return toOrderedJson(node);
}

static ordered_json toJson(const Operand &operand) {
  return operand.number ? toJson(*operand.number) : ordered_json(operand.name);
}

static ordered_json toJson(const Plan &plan) {
  ordered_json json = {{"schedule", plan.chunked ? "chunk" : "recurrent"}};
  if (plan.chunk != 0)
    json["chunk"] = plan.chunk;
  json["value_block"] = plan.valueBlock;
  json["stages"] = plan.stages;
  if (plan.segments != 0)
    json["segments"] = plan.segments;
  if (plan.prepareBlocks)
    json["prepare_blocks"] = *plan.prepareBlocks;
  return json;
}

namespace {

/// One step as JSON.
struct StepPrinter {
  const Spec &spec;
  unsigned state; // of the step

  ordered_json operator()(const DecayStep &decay) const {
    return {
        {"decay",
         {{"gate", decay.gate.name}, {"along", stringify(decay.along).str()}}}};
  }
  ordered_json operator()(const SetStep &set) const {
    return {{"set", {{"value", toJson(set.value)}}}};
  }
  ordered_json operator()(const EraseStep &erase) const {
    ordered_json json;
    if (erase.read.name == erase.write.name) {
      json["key"] = erase.read.name;
    } else {
      json["read"] = erase.read.name;
      json["write"] = erase.write.name;
    }
    json["strength"] = toJson(erase.strength);
    if (erase.of == EraseStep::Of::Previous)
      json["of"] = "previous";
    else if (erase.of == EraseStep::Of::Entry && erase.ofState == state)
      json["of"] = "entry";
    else if (erase.of == EraseStep::Of::Entry)
      json["of"] = {{"entry", spec.states[erase.ofState].name}};
    return {{"erase", std::move(json)}};
  }
  ordered_json operator()(const InjectStep &inject) const {
    ordered_json json = ordered_json::object();
    if (!inject.key.number)
      json["key"] = inject.key.name;
    if (inject.value)
      json["value"] = inject.value->name;
    if (inject.scale)
      json["scale"] = toJson(*inject.scale);
    if (inject.refine)
      json["refine"] = {
          {"anchor", inject.refine->anchor.name},
          {"value", inject.refine->value.name},
          {"gain", inject.refine->gain.name},
          {"activation", stringify(inject.refine->activation).str()}};
    return {{"inject", std::move(json)}};
  }
  ordered_json operator()(const AddStep &add) const {
    return {
        {"add",
         {{"from", spec.states[add.from].name}, {"scale", toJson(add.scale)}}}};
  }
  ordered_json operator()(const ReadStep &read) const {
    ordered_json json = ordered_json::object();
    if (!read.query.number)
      json["query"] = read.query.name;
    json["scale"] = toJson(read.scale);
    json["output"] = read.output;
    return {{"read", std::move(json)}};
  }
};

} // namespace

static ordered_json dimsToJson(const Spec &spec) {
  ordered_json dims;
  for (const Dim &dim : spec.dims) {
    bool setByH = spec.findDim("H") && (dim.name == "Hk" || dim.name == "Hv");
    if (!setByH)
      dims[dim.name] =
          dim.extent ? ordered_json(*dim.extent) : ordered_json(nullptr);
  }
  return dims;
}

static ordered_json axesOf(const State &state) {
  ordered_json axes = ordered_json::array();
  if (state.hasKeys)
    axes.push_back("K");
  if (state.hasValues)
    axes.push_back("V");
  return axes;
}

/// One state of the usual name and axes goes without saying.
static bool isWrittenOut(llvm::ArrayRef<State> states) {
  const State &first = states.front();
  return states.size() > 1 || first.name != "state" || !first.hasKeys ||
         !first.hasValues;
}

ordered_json prism::spec::expandSpec(const Spec &spec) {
  ordered_json json = {{"prism_spec", 1}, {"name", spec.name}};
  if (!spec.description.empty())
    json["description"] = spec.description;
  json["dims"] = dimsToJson(spec);
  json["dtype"] = {{"io", stringify(spec.io).str()},
                   {"gate", stringify(spec.gate).str()},
                   {"state", stringify(spec.state).str()}};
  for (const Input &input : spec.inputs)
    json["inputs"][input.name] = {{"axes", input.axes},
                                  {"dtype", stringify(input.type).str()}};
  for (const ShortConvolution &convolution : spec.convolutions) {
    ordered_json &printed = json["short_convolution"][convolution.input];
    printed["weight"] = convolution.weight;
    if (convolution.bias)
      printed["bias"] = *convolution.bias;
    printed["activation"] = stringify(convolution.activation).str();
  }
  if (isWrittenOut(spec.states))
    for (const State &state : spec.states)
      json["states"][state.name] = axesOf(state);
  for (const Let &let : spec.lets)
    json["let"][let.name] = let.text;
  for (const Step &step : spec.steps) {
    ordered_json printed =
        std::visit(StepPrinter{spec, step.state}, step.factor);
    if (step.state > 0 || std::holds_alternative<SetStep>(step.factor))
      printed.begin().value()["state"] = spec.states[step.state].name;
    json["steps"].push_back(std::move(printed));
  }
  for (const Let &output : spec.outputs)
    json["outputs"][output.name] = output.text;
  for (const Entry &entry : spec.entries) {
    json["entries"].push_back(entry.name);
    if (entry.plan)
      json["plan"][entry.name] = toJson(*entry.plan);
  }
  json["target"] = spec.targets;
  json["reverse"] = spec.reverse;
  json["batch_invariant"] = spec.batchInvariant;
  json["matmul"] = "ieee";
  json["layout"] = spec.headFirst ? "head_first" : "time_first";
  if (spec.miniBatch)
    json["granularity"] = {{"mini_batch", *spec.miniBatch}};
  if (spec.serial)
    json["serial"] = true;
  return json;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `{ "a": 1, "b": ["x", "y"] }`.
static std::string printLine(const ordered_json &json) {
  if (!json.is_structured())
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string text;
  for (const auto &[key, value] : json.items()) {
    text += text.empty() ? "" : ", ";
    if (json.is_object())
      text += ordered_json(key).dump() + ": ";
    text += printLine(value);
  }
  if (json.is_array())
    return "[" + text + "]";
  return text.empty() ? "{}" : "{ " + text + " }";
}

static std::string print(const ordered_json &json, unsigned indent,
                         size_t used) {
  constexpr size_t kWidth = 100;
  std::string line = printLine(json);
  if (!json.is_structured() || (indent > 0 && used + line.size() <= kWidth))
    return line;
  std::string text, space(indent + 2, ' ');
  for (const auto &[key, value] : json.items()) {
    text += (text.empty() ? "\n" : ",\n") + space;
    std::string head = json.is_object() ? ordered_json(key).dump() + ": " : "";
    text += head + print(value, indent + 2, indent + 2 + head.size());
  }
  text += "\n" + std::string(indent, ' ');
  return json.is_array() ? "[" + text + "]" : "{" + text + "}";
}

std::string prism::spec::printSpec(const ordered_json &json) {
  return print(json, 0, 0) + "\n";
}
