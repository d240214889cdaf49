//===- Import.cpp - From a spec to the scan dialect -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the region holds, in order: the block arguments (state, then one value
// per input in its own type), the lets, the factors and reads. Vectors (keys,
// values, queries, anchors, gains) go into factors in the type they come in;
// gates, strengths and scales are extended to the arithmetic type first.
//
//===----------------------------------------------------------------------===//

#include "Prism/Import/Import.h"
#include "ExpressionEmitter.h"
#include "Prism/Dialect/Scan/IR/PlanPlaces.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace prism;
using namespace prism::spec;

namespace {

class Importer {
public:
  Importer(const Spec &spec, MLIRContext *context)
      : spec(spec), builder(context) {}

  OwningOpRef<ModuleOp> import();

private:
  Location locate(const SourceLoc &loc) {
    return FileLineColLoc::get(builder.getContext(), spec.file, loc.line,
                               loc.column);
  }
  FloatType floatType(ElementType type);
  /// The tensor type of an array of these axes.
  RankedTensorType arrayType(ArrayRef<std::string> axes, ElementType element);
  std::string letters(ArrayRef<std::string> axes);

  func::FuncOp makeFunction(const Entry &entry);
  scan::RecurrenceOp makeRecurrence(func::FuncOp function, const Entry &entry);
  /// The arrays that the steps see, in the order of the spec's inputs:
  /// arguments and convolved ones.
  SmallVector<Value> convolve(func::FuncOp function,
                              SmallVectorImpl<Value> &finalWindows);
  RankedTensorType windowType(const ShortConvolution &convolution);
  scan::PlanAttr makePlan(const Entry &entry);
  void fillStep(scan::RecurrenceOp recurrence);

  // One factor each; they advance `state`.
  void add(const DecayStep &step, Location loc);
  void add(const EraseStep &step, Location loc);
  void add(const InjectStep &step, Location loc);
  void add(const ReadStep &step, Location loc);
  void add(const SetStep &step, Location loc);
  void add(const AddStep &step, Location loc);
  /// The only element of a state or a read, as a scalar.
  Value elementOf(Value tensor, Location loc);
  RankedTensorType stateType(const State &state, FloatType element);
  /// A mini-batch of one step is entered with the state before the step.
  bool hasMiniBatches() const { return spec.miniBatch.value_or(1) > 1; }
  std::string stateLetters(const State &state);
  /// An operand in its own type; the key or query of a state of one row that
  /// was left out is a vector of 1.
  Value vector(const Operand &operand, Location loc);
  /// A gate, strength or scale: in the arithmetic type and, beside ranks, one
  /// per rank.
  Value coefficient(const Operand &operand, Value beside, Location loc);

  const Spec &spec;
  OpBuilder builder;
  std::vector<std::string> outputs;
  // Of the step region being filled.
  llvm::StringMap<Value> values;
  SmallVector<Value> states, previous, entered;
  unsigned current = 0; // the state that a step changes or reads
  SmallVector<Value> read;
};

} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

FloatType Importer::floatType(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return builder.getF64Type();
  case ElementType::F32:
    return builder.getF32Type();
  case ElementType::BF16:
    return builder.getBF16Type();
  case ElementType::F16:
    return builder.getF16Type();
  }
  llvm_unreachable("four element types");
}

RankedTensorType Importer::arrayType(ArrayRef<std::string> axes,
                                     ElementType element) {
  SmallVector<int64_t> shape;
  for (const std::string &axis : axes) {
    const Dim *dim = spec.findDim(axis); // N is no dim
    shape.push_back(dim && dim->extent ? *dim->extent : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, floatType(element));
}

std::string Importer::letters(ArrayRef<std::string> axes) {
  std::string text;
  for (const std::string &axis : axes) {
    const Dim *dim = spec.findDim(axis);
    text += dim ? dim->letter : 'n';
  }
  return text;
}

/// An axis that a state does not have is 1, under a letter that no dim has.
std::string Importer::stateLetters(const State &state) {
  std::string free;
  for (char letter = 'z'; letter >= 'a'; --letter)
    if (llvm::none_of(spec.dims,
                      [&](const Dim &dim) { return dim.letter == letter; }) &&
        letter != 'n')
      free += letter;
  std::string letters = "nhkv";
  if (!state.hasKeys)
    letters[2] = free[0];
  if (!state.hasValues)
    letters[3] = free[1];
  return letters;
}

RankedTensorType Importer::stateType(const State &state, FloatType element) {
  return RankedTensorType::get({state.hasKeys ? spec.extent("K") : 1,
                                state.hasValues ? spec.extent("V") : 1},
                               element);
}

static std::vector<std::string> outputAxes(const Spec &spec) {
  if (spec.headFirst)
    return {"B", "Hv", "T", "V"};
  return {"B", "T", "Hv", "V"};
}

/// N x heads x channels x (taps - 1), of the tokens' own type.
RankedTensorType Importer::windowType(const ShortConvolution &convolution) {
  const Input &input = *spec.findInput(convolution.input);
  ArrayRef<std::string> axes = spec.findInput(convolution.weight)->axes;
  return RankedTensorType::get({ShapedType::kDynamic, spec.extent(axes[0]),
                                spec.extent(axes[1]), convolution.taps - 1},
                               floatType(input.type));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

func::FuncOp Importer::makeFunction(const Entry &entry) {
  SmallVector<Type> arguments, results;
  for (const Input &input : spec.inputs)
    arguments.push_back(arrayType(input.axes, input.type));
  SmallVector<Type> stateArrays;
  for (const State &state : spec.states) {
    RankedTensorType features = stateType(state, floatType(spec.state));
    stateArrays.push_back(
        RankedTensorType::get({ShapedType::kDynamic, spec.extent("Hv"),
                               features.getDimSize(0), features.getDimSize(1)},
                              features.getElementType()));
  }
  llvm::append_range(arguments, stateArrays);
  arguments.push_back(
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI64Type()));
  results.assign(outputs.size(), arrayType(outputAxes(spec), spec.io));
  llvm::append_range(results, stateArrays);
  for (const ShortConvolution &convolution : spec.convolutions) {
    arguments.push_back(windowType(convolution));
    results.push_back(windowType(convolution));
  }

  auto function =
      func::FuncOp::create(builder, locate(entry.loc), entry.name,
                           builder.getFunctionType(arguments, results));
  function->setAttr(scan::kEntryAttr, builder.getStringAttr(entry.name));
  if (spec.batchInvariant)
    function->setAttr(scan::kBatchInvariantAttr, builder.getUnitAttr());
  unsigned count = spec.inputs.size();
  for (auto [i, input] : llvm::enumerate(spec.inputs))
    function.setArgAttr(i, scan::kNameAttr, builder.getStringAttr(input.name));
  std::vector<std::string> optional;
  for (const State &state : spec.states)
    optional.push_back(state.initialName());
  optional.push_back("offsets");
  for (const ShortConvolution &convolution : spec.convolutions)
    optional.push_back(convolution.initialName());
  for (auto [i, name] : llvm::enumerate(optional)) {
    function.setArgAttr(count + i, scan::kNameAttr,
                        builder.getStringAttr(name));
    function.setArgAttr(count + i, scan::kOptionalAttr, builder.getUnitAttr());
  }
  for (auto [i, name] : llvm::enumerate(outputs))
    function.setResultAttr(i, scan::kNameAttr, builder.getStringAttr(name));
  for (auto [i, state] : llvm::enumerate(spec.states))
    function.setResultAttr(outputs.size() + i, scan::kNameAttr,
                           builder.getStringAttr(state.finalName()));
  for (auto [i, convolution] : llvm::enumerate(spec.convolutions))
    function.setResultAttr(outputs.size() + spec.states.size() + i,
                           scan::kNameAttr,
                           builder.getStringAttr(convolution.finalName()));
  return function;
}

/// A given plan; else the decode runs step by step and others are left to
/// choose.
scan::PlanAttr Importer::makePlan(const Entry &entry) {
  if (!entry.plan && entry.name != "decode")
    return {};
  Plan plan = entry.plan.value_or(Plan());
  return scan::PlanAttr::getChecked(
      [&] { return emitError(locate(plan.places.whole)); },
      builder.getContext(),
      plan.chunked ? scan::Schedule::chunk : scan::Schedule::recurrent,
      plan.chunk, plan.valueBlock, plan.stages, plan.segments,
      plan.prepareBlocks.value_or(-1));
}

SmallVector<Value> Importer::convolve(func::FuncOp function,
                                      SmallVectorImpl<Value> &finalWindows) {
  ValueRange arguments = function.getArguments();
  llvm::StringMap<Value> arrays;
  for (auto [input, argument] : llvm::zip(spec.inputs, arguments))
    arrays[input.name] = argument;
  unsigned offsets = spec.inputs.size() + spec.states.size();
  for (auto [i, convolution] : llvm::enumerate(spec.convolutions)) {
    Value &input = arrays[convolution.input];
    auto type = cast<RankedTensorType>(input.getType());
    auto op = scan::ShortConvolutionOp::create(
        builder, locate(convolution.loc),
        type.clone(floatType(spec.computeType())), windowType(convolution),
        input, arrays[convolution.weight],
        convolution.bias ? arrays[*convolution.bias] : Value(),
        arguments[offsets + 1 + i], arguments[offsets],
        builder.getStringAttr(letters(spec.findInput(convolution.input)->axes)),
        scan::ActivationAttr::get(
            builder.getContext(),
            static_cast<scan::Activation>(convolution.activation)),
        spec.reverse ? builder.getUnitAttr() : UnitAttr());
    input = op.getResult();
    finalWindows.push_back(op.getFinalWindow());
  }
  SmallVector<Value> seen;
  for (const Input &input : spec.inputs)
    if (!spec.isConvolutionWeight(input.name))
      seen.push_back(arrays[input.name]);
  return seen;
}

scan::RecurrenceOp Importer::makeRecurrence(func::FuncOp function,
                                            const Entry &entry) {
  unsigned count = spec.inputs.size(), stateCount = spec.states.size();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<Value> finalWindows, inputs = convolve(function, finalWindows);
  SmallVector<Attribute> inputAxes;
  for (const Input &input : spec.inputs)
    if (!spec.isConvolutionWeight(input.name))
      inputAxes.push_back(builder.getStringAttr(letters(input.axes)));
  std::string output = letters(outputAxes(spec));
  SmallVector<StringRef> outputLetters(outputs.size(), output);
  SmallVector<Attribute> stateAxes;
  for (const State &state : spec.states)
    stateAxes.push_back(builder.getStringAttr(stateLetters(state)));
  TypeRange results =
      TypeRange(function.getResultTypes()).drop_back(finalWindows.size());
  Location loc = function.getLoc();
  if (entry.plan)
    loc = scan::withPlanPlaces(loc, entry.plan->places);
  auto recurrence = scan::RecurrenceOp::create(
      builder, loc, results.drop_back(stateCount),
      results.take_back(stateCount), inputs,
      body->getArguments().slice(count, stateCount),
      body->getArgument(count + stateCount), builder.getArrayAttr(inputAxes),
      builder.getArrayAttr(stateAxes), builder.getStrArrayAttr(outputLetters),
      builder.getArrayAttr(stateAxes), spec.reverse,
      hasMiniBatches() ? builder.getI64IntegerAttr(*spec.miniBatch)
                       : IntegerAttr(),
      makePlan(entry));
  if (spec.serial)
    recurrence->setAttr(scan::kSerialAttr, builder.getUnitAttr());
  SmallVector<Value> returned(recurrence.getResults());
  returned.append(finalWindows);
  func::ReturnOp::create(builder, function.getLoc(), returned);
  return recurrence;
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

Value Importer::vector(const Operand &operand, Location loc) {
  if (!operand.number)
    return values.lookup(operand.name);
  FloatType type = floatType(spec.computeType());
  return ExpressionEmitter(builder, type, {})
      .constant(*operand.number, RankedTensorType::get({1}, type), loc);
}

Value Importer::coefficient(const Operand &operand, Value beside,
                            Location loc) {
  FloatType type = floatType(spec.computeType());
  ExpressionEmitter emitter(builder, type, {});
  Value value = operand.number ? emitter.constant(*operand.number, type, loc)
                               : emitter.extend(vector(operand, loc), loc);
  auto vectors = cast<RankedTensorType>(beside.getType());
  if (vectors.getRank() < 2)
    return value;
  return emitter.spread(
      value, RankedTensorType::get(vectors.getShape().take_front(), type), loc);
}

void Importer::add(const DecayStep &step, Location loc) {
  ExpressionEmitter emitter(builder, floatType(spec.computeType()), {});
  Value gate = emitter.extend(vector(step.gate, loc), loc);
  states[current] =
      scan::DecayOp::create(builder, loc, states[current], gate,
                            static_cast<scan::DecayAlong>(step.along));
}

void Importer::add(const EraseStep &step, Location loc) {
  Value read = vector(step.read, loc), write = vector(step.write, loc);
  Value strength = coefficient(step.strength, read, loc);
  Value &state = states[current];
  Value of;
  if (step.of == EraseStep::Of::Previous)
    of = previous[current];
  else if (step.of == EraseStep::Of::Entry)
    of = entered[step.ofState];
  if (of == state)
    of = Value();
  state = scan::EraseOp::create(builder, loc, state, of, read, write, strength);
}

void Importer::add(const InjectStep &step, Location loc) {
  Value key = vector(step.key, loc), value, scale;
  if (step.refine) {
    const Refine &refine = *step.refine;
    Value gain = vector(refine.gain, loc);
    Type type = cast<RankedTensorType>(gain.getType())
                    .clone(floatType(spec.computeType()));
    value = scan::RefineOp::create(
        builder, locate(refine.gain.loc), type, vector(refine.anchor, loc),
        vector(refine.value, loc), gain,
        static_cast<scan::Activation>(refine.activation));
  } else if (step.value) {
    value = vector(*step.value, loc);
  } else { // of a state without values: 1, once for each rank
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(key.getType()).getShape());
    shape.back() = 1;
    FloatType type = floatType(spec.computeType());
    value = ExpressionEmitter(builder, type, {})
                .constant(1.0, RankedTensorType::get(shape, type), loc);
  }
  if (step.scale)
    scale = coefficient(*step.scale, key, loc);
  states[current] =
      scan::InjectOp::create(builder, loc, states[current], key, value, scale);
}

Value Importer::elementOf(Value tensor, Location loc) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(cast<RankedTensorType>(tensor.getType()).getRank(),
                             zero);
  return tensor::ExtractOp::create(builder, loc, tensor, indices);
}

/// An output, or a value that the outputs are computed from.
void Importer::add(const ReadStep &step, Location loc) {
  bool isOutput = spec.outputs.empty();
  FloatType element = floatType(isOutput ? spec.io : spec.computeType());
  int64_t columns =
      cast<RankedTensorType>(states[current].getType()).getDimSize(1);
  Value result = scan::ReadOp::create(
      builder, loc, RankedTensorType::get({columns}, element), states[current],
      vector(step.query, loc), APFloat(step.scale));
  if (isOutput)
    read.push_back(result);
  else
    values[step.output] = step.axes.empty() ? elementOf(result, loc) : result;
}

void Importer::add(const SetStep &step, Location loc) {
  ExpressionEmitter emitter(builder, floatType(spec.computeType()), {});
  Value next = emitter.extend(vector(step.value, loc), loc);
  states[current] = tensor::FromElementsOp::create(
      builder, loc, cast<RankedTensorType>(states[current].getType()), next);
}

void Importer::add(const AddStep &step, Location loc) {
  Value &state = states[current], other = states[step.from];
  if (step.scale.number != 1.0) {
    FloatType type = floatType(spec.computeType());
    ExpressionEmitter emitter(builder, type, {});
    Value scale = step.scale.number
                      ? emitter.constant(*step.scale.number, type, loc)
                      : emitter.extend(vector(step.scale, loc), loc);
    Value all = tensor::SplatOp::create(
        builder, loc, scale, cast<RankedTensorType>(state.getType()));
    other = arith::MulFOp::create(builder, loc, other, all);
  }
  state = arith::AddFOp::create(builder, loc, state, other);
}

void Importer::fillStep(scan::RecurrenceOp recurrence) {
  OpBuilder::InsertionGuard guard(builder);
  FloatType compute = floatType(spec.computeType());
  Block *block = builder.createBlock(&recurrence.getBody());
  states.clear();
  read.clear();
  values.clear();
  for (const State &state : spec.states)
    states.push_back(
        block->addArgument(stateType(state, compute), recurrence.getLoc()));
  previous = entered = states;
  if (hasMiniBatches())
    for (Value &state : entered)
      state = block->addArgument(state.getType(), recurrence.getLoc());
  for (const Input &input : spec.inputs) {
    if (spec.isConvolutionWeight(input.name))
      continue;
    std::vector<std::string> features;
    llvm::copy_if(input.axes, std::back_inserter(features),
                  [](const std::string &a) { return !isOuterAxis(a); });
    ElementType element =
        spec.findConvolution(input.name) ? spec.computeType() : input.type;
    Type type = floatType(element);
    if (!features.empty())
      type = arrayType(features, element);
    values[input.name] = block->addArgument(type, locate(input.loc));
  }
  for (auto [state, value] : llvm::zip_equal(spec.states, states))
    if (state.isScalar())
      values[state.name] = elementOf(value, locate(state.loc));
  auto find = [&](StringRef name) { return values.lookup(name); };
  ExpressionEmitter emitter(builder, compute, find);
  for (const Let &let : spec.lets)
    values[let.name] = emitter.emit(let.value, locate(let.loc));
  for (const Step &step : spec.steps) {
    current = step.state;
    std::visit([&](const auto &factor) { add(factor, locate(step.loc)); },
               step.factor);
  }
  for (const Let &output : spec.outputs) {
    Value value = emitter.emit(output.value, locate(output.loc));
    auto type =
        cast<RankedTensorType>(value.getType()).clone(floatType(spec.io));
    if (type != value.getType())
      value = arith::TruncFOp::create(builder, locate(output.loc), type, value);
    read.push_back(value);
  }
  SmallVector<Value> yielded = states;
  yielded.append(read);
  scan::YieldOp::create(builder, recurrence.getLoc(), yielded);
}

OwningOpRef<ModuleOp> Importer::import() {
  for (const Let &output : spec.outputs)
    outputs.push_back(output.name);
  if (outputs.empty())
    for (const Step &step : spec.steps)
      if (auto *read = std::get_if<ReadStep>(&step.factor))
        outputs.push_back(read->output);
  OwningOpRef<ModuleOp> module = ModuleOp::create(locate(spec.loc), spec.name);
  for (const Entry &entry : spec.entries) {
    builder.setInsertionPointToEnd(module->getBody());
    fillStep(makeRecurrence(makeFunction(entry), entry));
  }
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> prism::spec::importSpec(const Spec &spec,
                                              MLIRContext *context) {
  context->loadDialect<arith::ArithDialect, func::FuncDialect,
                       linalg::LinalgDialect, math::MathDialect,
                       tensor::TensorDialect, scan::ScanDialect>();
  return Importer(spec, context).import();
}
