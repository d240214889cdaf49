//===- StructureTable.cpp - Which keys a spec has -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Structure.h"
#include "Prism/Support/PlanLimits.h"

using namespace prism;
using namespace prism::spec;

/// Extents are bounded so that products of a few of them fit 64 bits.
static constexpr double kMaxExtent = 1048576;

Shape *SpecStructure::make(unsigned types) {
  pool.push_back(std::make_unique<Shape>());
  pool.back()->types = types;
  return pool.back().get();
}

/// Lists like `entries` and `target`.
const Shape *SpecStructure::makeNames() {
  Shape *text = make(kString);
  text->pattern = TextPattern::NonEmpty;
  Shape *list = make(kArray);
  list->items = text;
  list->minItems = 1;
  list->maxItems = 64;
  return list;
}

const Shape *SpecStructure::makeDims() {
  Shape *runtime = make(kInteger | kNull);
  runtime->minimum = 1;
  runtime->maximum = kMaxExtent * 1024;
  Shape *extent = make(kInteger);
  extent->minimum = 1;
  extent->maximum = kMaxExtent;
  Shape *rank = make(kInteger);
  rank->minimum = 0;
  rank->maximum = 1024;

  Shape *dims = make(kObject);
  dims->fields = {{"B", runtime, false,
                   "batch rows; null: known at run time (the default)"},
                  {"T", runtime, false,
                   "steps of a row; null: known at run time (the default)"},
                  {"H", extent, false, "heads; sets Hk and Hv"},
                  {"Hk", extent, false, "key heads: heads of queries and keys"},
                  {"Hv", extent, false,
                   "value heads: heads of values, gates, outputs and states; a "
                   "multiple of Hk"},
                  {"K", extent, false,
                   "rows of the state: size of a key; a family of "
                   "elementwise states needs none"},
                  {"V", extent, true, "columns of the state: size of a value"},
                  {"L", rank, false, "rank of the injection"}};
  dims->additional = rank;
  dims->keyPattern = TextPattern::DimName;
  dims->maxProperties = 22;
  return dims;
}

const Shape *SpecStructure::makeInputs() {
  Shape *axis = make(kString);
  axis->pattern = TextPattern::DimName;
  Shape *axes = make(kArray);
  axes->def = "axes";
  axes->items = axis;
  axes->maxItems = 5;
  Shape *dtype = make(kString);
  dtype->choices = {"f32", "f64", "bf16", "f16"};

  // Either the axes alone or an object that may name the element type too.
  Shape *input = make(kArray | kObject);
  input->def = "input";
  input->items = axis;
  input->maxItems = 5;
  input->fields = {{"axes", axes, true, "axes in memory order"},
                   {"dtype", dtype, false,
                    "element type; the default is dtype.gate or dtype.io"}};
  Shape *inputs = make(kObject);
  inputs->additional = input;
  inputs->keyPattern = TextPattern::Name;
  inputs->maxProperties = 64;
  return inputs;
}

const Shape *SpecStructure::makePlan() {
  Shape *schedule = make(kString);
  schedule->choices = {"recurrent", "chunk"};
  auto count = [&](double least, double most) {
    Shape *shape = make(kInteger);
    shape->minimum = least;
    shape->maximum = most;
    return shape;
  };
  std::vector<Field> fields = {
      {"schedule", schedule, false, "token by token, or chunk by chunk"},
      {"chunk", count(1, kMostChunkSteps), false, "steps of a chunk"},
      {"value_block", count(0, kMostValueBlock), false,
       "value columns of a work item; 0: all"},
      {"stages", count(1, kMostStages), false,
       "stages of buffering; 1: as many as the kernel has"},
      {"segments", count(0, kMostSegments), false,
       "segments that a sequence is split into; 0: as the table says"},
      {"prepare_blocks", count(0, kMostPrepareBlocks), false,
       "thread blocks that only prepare, beside those of a head's values"}};
  Shape *entryPlan = make(kObject);
  entryPlan->def = "plan";
  entryPlan->fields = fields;
  Shape *plan = make(kObject);
  plan->fields = fields;
  for (llvm::StringRef entry : {"forward", "decode", "backward"})
    plan->fields.push_back({entry, entryPlan, false, "the plan of this entry"});
  return plan;
}

const Shape *SpecStructure::makeStep(std::vector<Field> fields,
                                     llvm::StringRef def) {
  Shape *step = make(kObject);
  step->def = def;
  step->fields = std::move(fields);
  step->minProperties = step->maxProperties.emplace(1);
  return step;
}

SpecStructure::SpecStructure() {
  Shape *nameShape = make(kString);
  nameShape->def = "name";
  nameShape->pattern = TextPattern::Name;
  name = nameShape;
  Shape *operand = make(kString | kNumber);
  operand->def = "name_or_number";
  operand->pattern = TextPattern::Name;
  nameOrNumber = operand;
  Shape *flag = make(kBoolean), *text = make(kString), *number = make(kNumber);
  Shape *anything = make(0);
  anything->open = true;
  Shape *positive = make(kNumber);
  positive->exclusiveMinimum = 0;
  auto choice = [&](std::vector<llvm::StringRef> names) {
    Shape *shape = make(kString);
    shape->choices = std::move(names);
    return shape;
  };
  const Shape *activation =
      choice({"identity", "gelu", "silu", "tanh", "relu"});

  Shape *decay = make(kString | kObject);
  decay->def = "decay";
  decay->pattern = TextPattern::Name;
  const Field ofState{"state", name, false, "which state; default the first"};
  decay->fields = {{"gate", name, true, "the log-gate: an input or a let"},
                   ofState,
                   {"along", choice({"scalar", "key", "value", "element"}),
                    false,
                    "what one gate covers; follows from the gate's axes"}};

  Shape *seen = make(kString | kObject);
  seen->def = "of";
  seen->choices = {"previous", "entry"};
  seen->fields = {{"entry", name, true, "the state whose entry it is"}};
  Shape *erase = make(kObject);
  erase->def = "erase";
  erase->fields = {
      {"key", name, false, "read and write key in one (the delta rule)"},
      {"read", name, false, "the key that reads"},
      {"write", name, false, "the key that is written along"},
      {"strength", nameOrNumber, true, "how much of what is read goes"},
      {"of", seen, false,
       "read the state before this token's first step, or at the mini-batch's "
       "entry"},
      ofState};

  Shape *refine = make(kObject);
  refine->def = "refine";
  refine->fields = {
      {"anchor", name, true, "u, of axes [V]"},
      {"value", name, true, "v, of axes [V]"},
      {"gain", name, true, "p, of axes [L, V]"},
      {"activation", activation, false, "default gelu (erf form)"}};
  Shape *inject = make(kObject);
  inject->def = "inject";
  inject->fields = {
      {"key", name, false,
       "the key that is written along; may be left out where K is 1"},
      {"value", name, false, "the value written; left out with refine"},
      {"scale", nameOrNumber, false, "default 1"},
      {"refine", refine, false, "the value comes out of the refinement loop"},
      ofState};

  Shape *add = make(kObject);
  add->def = "add";
  add->fields = {{"from", name, true, "the state that is added, as it is here"},
                 {"scale", nameOrNumber, false, "default 1"},
                 ofState};

  Shape *read = make(kObject);
  read->def = "read";
  read->fields = {{"query", name, false,
                   "y = scale * S^T query; may be left out where K is 1"},
                  {"scale", number, false, "default 1"},
                  {"when", choice({"before", "after"}), false,
                   "before or after the update; default after"},
                  {"output", name, false, "the output's name; default o"},
                  ofState};

  Shape *set = make(kObject);
  set->def = "set";
  set->fields = {{"state", name, true, "a state without axes"},
                 {"value", name, true, "its next value, a let or an input"}};

  Field decayField{"decay", decay, false, "S <- exp(gate) S"};
  Field eraseField{"erase", erase, false, "S <- S - strength write (read^T S)"};
  Field injectField{"inject", inject, false, "S <- S + scale key value^T"};
  Field readField{"read", read, false, "y = scale S^T query"};
  auto listOf = [&](const Shape *item, unsigned least) {
    Shape *list = make(kArray);
    list->items = item;
    list->minItems = least;
    list->maxItems = 64;
    return list;
  };
  Shape *repeat = make(kObject);
  repeat->def = "repeat";
  Shape *axisName = make(kString);
  axisName->pattern = TextPattern::DimName;
  repeat->fields = {
      {"axis", axisName, true, "the axis of micro-steps, a dim of your own"},
      {"steps",
       listOf(makeStep({decayField, eraseField, injectField}, "micro_step"), 1),
       true, "the steps of each micro-step, in order"}};
  Field setField{"set", set, false, "the next value of a state without axes"};
  Field addField{"add", add, false, "S <- S + scale times another state"};
  Field repeatField{"repeat", repeat, false,
                    "micro-steps of one token, one after the other"};
  // One injection or read may stand without its list.
  auto oneOrList = [&](const Shape *one) {
    Shape *shape = make(kArray | kObject);
    shape->fields = one->fields;
    shape->items = one;
    shape->maxItems = 64;
    return shape;
  };

  Shape *convolution = make(kString | kObject);
  convolution->def = "short_convolution";
  convolution->pattern = TextPattern::Name;
  convolution->fields = {
      {"weight", name, true, "taps, of axes [H, K, W], the oldest first"},
      {"bias", name, false, "of axes [H, K]"},
      {"activation", activation, false, "of the sum; default identity"}};
  Shape *convolutions = make(kObject);
  convolutions->additional = convolution;
  convolutions->keyPattern = TextPattern::Name;
  convolutions->minProperties = 1;
  convolutions->maxProperties = 16;

  Shape *dtype = make(kObject);
  dtype->fields = {{"io", choice({"f32", "f64", "bf16", "f16"}), false,
                    "inputs and outputs; default f32"},
                   {"gate", choice({"f32", "f64", "bf16", "f16"}), false,
                    "gate inputs; default f32, f64 if io is f64"},
                   {"state", choice({"f32", "f64", "bf16"}), false,
                    "carried states; default f32, f64 if io is f64"}};
  Shape *expression = make(kString);
  expression->pattern = TextPattern::NonEmpty;
  Shape *let = make(kObject);
  let->additional = expression;
  let->keyPattern = TextPattern::Name;
  let->maxProperties = 64;
  Shape *stateAxis = make(kString);
  stateAxis->choices = {"K", "V"};
  Shape *stateAxes = make(kArray);
  stateAxes->items = stateAxis;
  stateAxes->maxItems = 2;
  Shape *states = make(kObject);
  states->additional = stateAxes;
  states->keyPattern = TextPattern::Name;
  states->minProperties = 1;
  states->maxProperties = 8;
  Shape *outputs = make(kObject);
  outputs->additional = expression;
  outputs->keyPattern = TextPattern::Name;
  outputs->minProperties = 1;
  outputs->maxProperties = 16;
  Shape *options = make(kObject);
  options->fields = {{"scale", number, false, "scale of the read; default 1"},
                     {"l2norm", positive, false,
                      "normalise q and k in the kernel, with this epsilon"},
                     {"activation", activation, false,
                      "of prism's refinement loop; default gelu"}};
  Shape *granularity = make(kString | kObject);
  granularity->choices = {"token"};
  Shape *tokens = make(kInteger);
  tokens->minimum = 1;
  tokens->maximum = kMostChunkSteps;
  granularity->fields = {{"mini_batch", tokens, true, "steps of a mini-batch"}};
  Shape *psm = make(kObject);
  psm->additional = anything;
  Shape *version = make(kInteger);
  version->minimum = version->maximum.emplace(1);

  Shape *root = make(kObject);
  root->fields = {
      {"$schema", text, false, "for editors; not read"},
      {"prism_spec", version, true, "version of this format"},
      {"name", name, false, "of the model; a family's name is the default"},
      {"description", text, false, "for people; not read"},
      {"family", name, false, "a preset; --expand prints what it stands for"},
      {"variant", name, false, "of the family"},
      {"options", options, false, "of the family"},
      {"dims", makeDims(), true, "sizes of the axes"},
      {"dtype", dtype, false, "element types"},
      {"inputs", makeInputs(), false, "arrays of a call, by name"},
      {"short_convolution", convolutions, false,
       "inputs that are convolved over time before the steps see them"},
      {"states", states, false,
       "several states and their axes; default one of [K, V]"},
      {"let", let, false, "values computed per token from inputs"},
      {"steps",
       listOf(makeStep({decayField, eraseField, injectField, readField,
                        repeatField, setField, addField},
                       "step"),
              1),
       false, "the step of the recurrence, in order"},
      {"transition",
       listOf(makeStep({decayField, eraseField}, "transition_step"), 0), false,
       "shorthand: decays and erases"},
      {"inject", oneOrList(inject), false,
       "shorthand: injections, after the transition"},
      {"read", oneOrList(read), false,
       "shorthand: reads, last, or first with when: before"},
      {"outputs", outputs, false,
       "outputs computed from reads; default the reads themselves"},
      {"entries", makeNames(), false,
       "functions to make; default forward and decode"},
      {"target", makeNames(), false, "what to compile for; default cpu"},
      {"reverse", flag, false, "flip time, step, flip back"},
      {"batch_invariant", flag, false,
       "the same bits whatever else is in the batch"},
      {"matmul", choice({"ieee", "tf32", "tf32x3", "bf16x3", "bf16"}), false,
       "product of f32 operands; default ieee"},
      {"layout", choice({"time_first", "head_first"}), false,
       "of outputs and of a family's inputs; default time_first"},
      {"plan", makePlan(), false,
       "how time is cut, for all entries or by entry"},
      {"serial", flag, false,
       "step by step, on the CPU, where there is no parallel form"},
      {"granularity", granularity, false,
       "mini-batches, whose entry erases may read; default token"},
      {"psm", psm, false, "a general prefix-scannable model"}};
  top = root;
}
