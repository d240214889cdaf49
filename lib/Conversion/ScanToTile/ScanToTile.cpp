//===- ScanToTile.cpp - From an entry's recurrence to a tile program ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The driver: the program's signature from the function's, the loop over
// chunks, loads of states and stores of outputs. The algebra of a chunk is
// ChainsForm's (or StepForm's), the tiles of tokens TokenTiles'.
//
//===----------------------------------------------------------------------===//

#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "ChainsForm.h"
#include "CoefficientSources.h"
#include "CoupledForm.h"
#include "PlainForm.h"
#include "StepForm.h"
#include <deque>

using namespace mlir;
using namespace prism;

namespace prism {
#define GEN_PASS_DEF_CONVERTSCANTOTILE
#include "Prism/Conversion/ScanToTile/Passes.h.inc"
} // namespace prism

namespace {

/// One array of the entry: a function argument or result.
struct Array {
  std::string name, axes, role;
  RankedTensorType type;
  bool optional;
};

class EntryConverter {
public:
  EntryConverter(OpBuilder &builder, func::FuncOp entry, scan::PlanAttr plan,
                 StringRef name)
      : builder(builder), entry(entry), plan(plan), name(name) {}

  FailureOr<tile::ProgramOp> convert();

private:
  LogicalResult findRecurrence();
  LogicalResult checkOperands();
  LogicalResult checkConvolution(scan::ShortConvolutionOp convolution);
  bool isArgument(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &entry.getBody().front();
  }
  LogicalResult collectArguments();
  LogicalResult collectResults();
  LogicalResult checkMiniBatch();
  LogicalResult checkPlainSteps();
  LogicalResult chooseForm();
  tile::ProgramOp createProgram();
  void bindInputs(tile::ProgramOp program);
  LogicalResult emitBody(tile::ProgramOp program);
  void emitPlainSteps(tile::ProgramOp program);
  FailureOr<SmallVector<Value>> emitChunk(TileBuilder &tb,
                                          tile::ProgramOp program, Value first,
                                          ValueRange states);
  RankedTensorType tileTypeOf(TileBuilder &tb, unsigned state);
  SmallVector<Value> placeOf(TileBuilder &tb, unsigned state);
  Value turn(TileBuilder &tb, Value matrix, bool fromKeys);
  Value viewOf(tile::ProgramOp program, Value tensor);

  OpBuilder &builder;
  func::FuncOp entry;
  scan::PlanAttr plan;
  StringRef name;
  scan::RecurrenceOp op;
  SmallVector<scan::ShortConvolutionOp> convolutionOps;
  SmallVector<Array> arrays;
  std::deque<ShortConvolution> convolutions; // in the order of their ops
  SmallVector<TokenTiles::Input> inputs;     // of the recurrence
  std::optional<ChainsForm> chains;
  RankedTensorType stateType; // of `start`
  /// What the chain begins with: the state, or its transpose if the array of
  /// the state has values first.
  Value start;
  bool isTurned = false;
  int64_t chunk = 1, values = 1, valueBlock = 0;
  bool isStepwise = false;
  bool isPlain = false;   // a serial step of any ops
  bool isCoupled = false; // a mini-batch that is no chain of one state
};

} // namespace

/// Features are the axes that are not b, t, h or n.
static bool isFeature(char letter) {
  return letter != 'b' && letter != 't' && letter != 'h' && letter != 'n';
}

/// A mini-batch is a chunk: the state that enters a chunk is the one at the
/// mini-batch's entry.
LogicalResult EntryConverter::checkMiniBatch() {
  if (!op.getMiniBatch())
    return success();
  if (plan.getSchedule() != scan::Schedule::chunk || plan.getChunk() < 2 ||
      plan.getChunk() != int64_t(*op.getMiniBatch()))
    return op.emitOpError("has mini-batches of ")
           << *op.getMiniBatch() << " steps and a plan with chunk "
           << plan.getChunk()
           << "; the plan must be of chunks of that size, 2 or more";
  return success();
}

/// A step of any ops is taken as a whole, token by token.
LogicalResult EntryConverter::checkPlainSteps() {
  isPlain = true;
  if (!convolutionOps.empty())
    return convolutionOps.front().emitOpError(
        "stands before a recurrence whose steps are taken op by op, which "
        "takes no convolved inputs yet");
  if (plan.getChunk() != 1)
    return op.emitOpError("is serial and taken token by token; expected a plan "
                          "of chunk 1, found ")
           << plan.getChunk();
  return PlainForm::check(op);
}

LogicalResult
EntryConverter::checkConvolution(scan::ShortConvolutionOp convolution) {
  for (Value operand : convolution->getOperands())
    if (!isArgument(operand))
      return convolution.emitOpError(
                 "has an operand that is not an argument of entry '")
             << entry.getName() << "'";
  if (convolution.getReverse() != op.getReverse() ||
      convolution.getOffsets() != op.getOffsets())
    return convolution.emitOpError(
        "runs over other sequences than the recurrence; expected the same "
        "offsets and direction");
  for (Operation *user : convolution.getResult().getUsers())
    if (user == op)
      return success();
  return convolution.emitOpError("is no input of the recurrence");
}

/// Operands are arguments of the entry; inputs may be convolved ones.
LogicalResult EntryConverter::checkOperands() {
  auto isConvolved = [&](OpOperand &operand) {
    auto convolution = operand.get().getDefiningOp<scan::ShortConvolutionOp>();
    return convolution && operand.get() == convolution.getResult() &&
           operand.getOperandNumber() < op.getInputs().size();
  };
  for (OpOperand &operand : op->getOpOperands())
    if (!isArgument(operand.get()) && !isConvolved(operand))
      return op.emitOpError("has an operand that is not an argument of entry '")
             << entry.getName() << "'";
  for (scan::ShortConvolutionOp convolution : convolutionOps)
    if (failed(checkConvolution(convolution)))
      return failure();
  return success();
}

LogicalResult EntryConverter::findRecurrence() {
  for (Operation &nested : entry.getBody().front()) {
    if (auto recurrence = dyn_cast<scan::RecurrenceOp>(nested)) {
      if (op)
        return recurrence.emitOpError("is the second recurrence of entry '")
               << entry.getName() << "'; one is lowered";
      op = recurrence;
    } else if (auto convolution = dyn_cast<scan::ShortConvolutionOp>(nested)) {
      convolutionOps.push_back(convolution);
    } else if (!isa<func::ReturnOp>(nested) &&
               !nested.hasTrait<OpTrait::ConstantLike>()) {
      // Constants of the step are hoisted here by canonicalisation.
      return nested.emitOpError("stands outside the recurrence of entry '")
             << entry.getName()
             << "'; only a scan.recurrence on the function's arguments, and "
                "scan.short_convolution before it, are lowered";
    }
  }
  if (!op)
    return entry.emitOpError("has scan.entry but no scan.recurrence");
  bool isPlainSerial = op->hasAttr(scan::kSerialAttr) && hasPlainSteps(op);
  if (!isPlainSerial && failed(checkMiniBatch()))
    return failure();
  for (Attribute axes : op.getFinalAxes()) {
    StringRef stateAxes = cast<StringAttr>(axes).getValue();
    if (!isPlainSerial &&
        (stateAxes.size() != 4 || !stateAxes.starts_with("nh")))
      return op.emitOpError("has state axes \"")
             << stateAxes
             << "\"; lowerings take sequence, head, key, value in this order";
  }
  if (failed(checkOperands()))
    return failure();
  start = op.getStateArgument(0);
  stateType = cast<RankedTensorType>(start.getType());
  if (isPlainSerial)
    return checkPlainSteps();
  if (auto found = scan::getFactorChain(op, 0);
      succeeded(found) && !found->empty() && op.getNumStates() == 1)
    start = found->front().getStateOperand().get();
  isTurned = start != op.getStateArgument(0);
  stateType = cast<RankedTensorType>(start.getType());
  chunk = plan.getChunk();
  values = stateType.getDimSize(1);
  for (unsigned i = 1; i < op.getNumStates(); ++i)
    values = std::max(
        values,
        cast<RankedTensorType>(op.getStateArgument(i).getType()).getDimSize(1));
  std::string reason;
  Operation *without = scan::findFactorWithoutChunkForm(op, reason);
  isStepwise = without && chunk == 1;
  if (without && !isStepwise)
    return without->emitOpError() << reason;
  valueBlock = plan.getValueBlock() == 0
                   ? values
                   : std::min(plan.getValueBlock(), values);
  if (valueBlock < values && !canSplitValues(op))
    return op.emitError("cannot split its ")
           << values << " value columns into blocks of " << valueBlock << ": "
           << (op.getNumStates() > 1
                   ? "it has several states"
                   : "an l2norm, or a key or number made of what was read, "
                     "takes all of them");
  return success();
}

static std::string nameOf(DictionaryAttr attrs, StringRef kind, unsigned i) {
  if (attrs)
    if (auto given = attrs.getAs<StringAttr>(scan::kNameAttr))
      return given.str();
  return (kind + Twine(i)).str();
}

LogicalResult EntryConverter::collectArguments() {
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    Array array;
    array.name = nameOf(entry.getArgAttrDict(i), "arg", i);
    array.type = dyn_cast<RankedTensorType>(argument.getType());
    array.optional = bool(entry.getArgAttr(i, scan::kOptionalAttr));
    if (!array.type)
      return entry.emitOpError("argument '")
             << array.name << "' must be a ranked tensor, found "
             << argument.getType();
    bool isTwice = false;
    auto take = [&](Value operand, StringRef role, StringRef axes) {
      if (operand != argument)
        return;
      isTwice |= !array.role.empty();
      array.role = role, array.axes = axes;
    };
    for (auto [n, input] : llvm::enumerate(op.getInputs()))
      take(input, "input", op.getInputAxes(n));
    for (scan::ShortConvolutionOp convolution : convolutionOps) {
      take(convolution.getInput(), "input", convolution.getInputAxes());
      take(convolution.getWeight(), "input", convolution.getWeightAxes());
      take(convolution.getBias(), "input", convolution.getBiasAxes());
      take(convolution.getInitialWindow(), "initial_window",
           convolution.getWindowAxes());
    }
    if (isTwice)
      return op.emitOpError("takes argument '") << array.name << "' twice";
    for (auto [n, initial] : llvm::enumerate(op.getInitialStates()))
      if (initial == argument)
        array.role = "initial_state",
        array.axes = cast<StringAttr>(op.getInitialAxes()[n]).str();
    if (op.getOffsets() == argument)
      array.role = "offsets", array.axes = "n";
    if (array.role == "input" && array.optional)
      return op.emitOpError("input '")
             << array.name
             << "' is marked scan.optional; only initial states, initial "
                "windows and offsets may be absent";
    if (array.role.empty())
      return entry.emitOpError("argument '")
             << array.name << "' is not used by the recurrence";
    arrays.push_back(array);
  }
  return success();
}

/// The recurrence's outputs and final states, then final windows.
LogicalResult EntryConverter::collectResults() {
  auto returned = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  SmallVector<Value> results(op->getResults());
  SmallVector<std::string> axes;
  for (ArrayAttr list : {op.getOutputAxes(), op.getFinalAxes()})
    for (Attribute one : list)
      axes.push_back(cast<StringAttr>(one).str());
  for (scan::ShortConvolutionOp convolution : convolutionOps) {
    results.push_back(convolution.getFinalWindow());
    axes.push_back(convolution.getWindowAxes());
  }
  for (Value value : returned.getOperands())
    if (!llvm::is_contained(results, value))
      return returned.emitOpError(
          "returns a value that is no result of the recurrence and no final "
          "window");
  if (returned.getNumOperands() != results.size())
    return returned.emitOpError("must return every result of the recurrence "
                                "and every final window once");
  unsigned outputs = op.getOutputs().size(), own = op->getNumResults();
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    if (value != results[i])
      return returned.emitOpError("must return the recurrence's results in "
                                  "their order, then final windows in theirs");
    Array array;
    array.name = nameOf(entry.getResultAttrDict(i), "result", i);
    array.role = i < outputs ? "output"
                 : i < own   ? "final_state"
                             : "final_window";
    array.axes = axes[i];
    array.type = cast<RankedTensorType>(value.getType());
    array.optional = i >= outputs;
    arrays.push_back(array);
  }
  return success();
}

LogicalResult EntryConverter::chooseForm() {
  if (isStepwise || isPlain) // the region itself is stepped through, op by op
    return success();
  FailureOr<SmallVector<scan::StateOpInterface>> first =
      scan::getFactorChain(op, 0);
  bool isOneChain = op.getNumStates() == 1 && succeeded(first) &&
                    scan::outputsAreReads(op) && !readState(*first);
  isCoupled = op.getMiniBatch() && !isOneChain;
  if (isCoupled)
    return success();
  chains.emplace(op);
  if (failed(chains->collect()))
    return failure();
  // A chunk of one is a step.
  isStepwise = chunk == 1 && (!isOneChain || StepForm::isNeeded(*first));
  return success();
}

tile::ProgramOp EntryConverter::createProgram() {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  for (const Array &array : arrays) {
    SmallVector<int64_t> shape;
    int64_t heads = 0;
    // A parameter repeats at every step.
    if (array.role == "input" || array.role == "output")
      shape.push_back(ShapedType::kDynamic);
    for (auto [letter, extent] : llvm::zip(array.axes, array.type.getShape())) {
      if (letter == 'h')
        heads = extent;
      if (isFeature(letter))
        shape.push_back(extent);
    }
    if (array.role == "offsets")
      shape = {1};
    types.push_back(
        tile::ViewType::get(context, shape, array.type.getElementType()));
    auto attr = tile::ArgumentAttr::get(
        context, builder.getStringAttr(array.name),
        builder.getStringAttr(array.axes), heads,
        builder.getStringAttr(array.role), array.optional);
    attrs.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr("tile.arg", attr)));
  }
  if (isPlain) // work items are not cut along values
    values = valueBlock = std::max<int64_t>(1, stateType.getShape().back());
  auto program = tile::ProgramOp::create(
      builder, op.getLoc(), name, builder.getFunctionType(types, {}),
      op.getNumValueHeads(), values, valueBlock, chunk, op.getReverse(),
      /*segments=*/StringAttr(), builder.getArrayAttr(attrs),
      /*res_attrs=*/ArrayAttr());
  Block &block = program.getBody().emplaceBlock();
  for (auto [type, array] : llvm::zip(types, arrays))
    block.addArgument(type, op.getLoc());
  return program;
}

/// The program's views of the recurrence's inputs, and convolutions of them.
void EntryConverter::bindInputs(tile::ProgramOp program) {
  DenseMap<Operation *, ShortConvolution *> made;
  for (scan::ShortConvolutionOp convolution : convolutionOps)
    made[convolution] = &convolutions.emplace_back(
        convolution,
        ShortConvolution::Views{
            viewOf(program, convolution.getInput()),
            viewOf(program, convolution.getWeight()),
            viewOf(program, convolution.getBias()),
            viewOf(program, convolution.getInitialWindow())},
        &program.getBody().front());
  for (Value input : op.getInputs())
    if (Operation *convolution = input.getDefiningOp())
      inputs.push_back({Value(), made.lookup(convolution)});
    else
      inputs.push_back({viewOf(program, input)});
}

/// Null for an operand that is not there.
Value EntryConverter::viewOf(tile::ProgramOp program, Value tensor) {
  if (!tensor)
    return {};
  return program.getBody().getArgument(
      cast<BlockArgument>(tensor).getArgNumber());
}

FailureOr<SmallVector<Value>> EntryConverter::emitChunk(TileBuilder &tb,
                                                        tile::ProgramOp program,
                                                        Value first,
                                                        ValueRange states) {
  Value columns = tb.create<tile::ValueOffsetOp>(tb.builder.getIndexType());
  auto tilesAt = [&](int64_t count, Value step) {
    return TokenTiles(tb, op, inputs, count, valueBlock, step, columns);
  };
  TokenTiles tokens = tilesAt(chunk, first);
  SmallVector<Value> outputs;
  FailureOr<SmallVector<Value>> next = failure();
  if (isStepwise)
    next = StepForm(tb, tokens, valueBlock).emit(op, start, states, outputs);
  else if (isCoupled)
    next = CoupledForm(tb, tokens, op, chunk).emit(states, outputs);
  else
    next = chains->emit(tb, tokens, tilesAt, chunk, valueBlock, first, states,
                        outputs);
  if (failed(next))
    return failure();
  for (auto [i, output] : llvm::enumerate(outputs)) {
    Value view = program.getBody().getArgument(entry.getNumArguments() + i);
    tb.create<tile::StoreOp>(output, view, ValueRange{first, columns});
  }
  return next;
}

RankedTensorType EntryConverter::tileTypeOf(TileBuilder &tb, unsigned state) {
  auto type = cast<RankedTensorType>(op.getStateArgument(state).getType());
  if (isTurned)
    return tb.matrix(valueBlock, type.getDimSize(1));
  return tb.matrix(type.getDimSize(0),
                   std::min(valueBlock, type.getDimSize(1)));
}

/// Where a work item's part of a state begins: one that is not as wide as the
/// widest is whole in every work item.
SmallVector<Value> EntryConverter::placeOf(TileBuilder &tb, unsigned state) {
  Value zero = tb.index(0);
  Value columns = tb.create<tile::ValueOffsetOp>(tb.builder.getIndexType());
  if (isTurned)
    return {columns, zero};
  auto type = cast<RankedTensorType>(op.getStateArgument(state).getType());
  return {zero, type.getDimSize(1) == values ? columns : zero};
}

/// A state as its array has it, keys first or, `fromKeys`, back. The product
/// with the identity adds up keys: value columns keep to themselves.
Value EntryConverter::turn(TileBuilder &tb, Value matrix, bool fromKeys) {
  if (!isTurned)
    return matrix;
  int64_t keys = stateType.getDimSize(0);
  Value identity = tb.create<tile::UnitColumnsOp>(tb.matrix(keys, keys),
                                                  tb.index(0), /*ones=*/false);
  return fromKeys ? tb.dot(matrix, true, identity, false)
                  : tb.dot(identity, false, matrix, true);
}

LogicalResult EntryConverter::emitBody(tile::ProgramOp program) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&program.getBody().front());
  auto compute = cast<FloatType>(stateType.getElementType());
  TileBuilder tb(builder, op.getLoc(), compute);
  Value zero = tb.index(0), step = tb.index(chunk);
  Value length = tb.create<tile::LengthOp>(builder.getIndexType());
  bindInputs(program);
  SmallVector<Value> states;
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    Value state;
    if (op.getInitialStates().empty())
      state = tb.constant(tileTypeOf(tb, i), 0.0);
    else
      state = tb.create<tile::LoadOp>(tileTypeOf(tb, i),
                                      viewOf(program, op.getInitialStates()[i]),
                                      placeOf(tb, i), /*one_step=*/false);
    states.push_back(turn(tb, state, /*fromKeys=*/false));
  }
  LogicalResult status = success();
  auto loop = scf::ForOp::create(
      builder, op.getLoc(), zero, length, step, states,
      [&](OpBuilder &nested, Location loc, Value first, ValueRange carried) {
        TileBuilder inner(nested, loc, compute);
        FailureOr<SmallVector<Value>> next =
            emitChunk(inner, program, first, carried);
        if (failed(next))
          status = failure();
        scf::YieldOp::create(nested, loc,
                             failed(next) ? carried : ValueRange(*next));
      });
  unsigned firstFinal = entry.getNumArguments() + op.getOutputs().size();
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    tb.create<tile::StoreOp>(turn(tb, loop.getResult(i), /*fromKeys=*/true),
                             program.getBody().getArgument(firstFinal + i),
                             placeOf(tb, i));
  for (auto [i, convolution] : llvm::enumerate(convolutions))
    convolution.storeWindow(
        tb, length,
        program.getBody().getArgument(firstFinal + op.getNumStates() + i));
  tb.create<tile::ReturnOp>();
  return status;
}

void EntryConverter::emitPlainSteps(tile::ProgramOp program) {
  SmallVector<Value> inputs, initials, outputs, finals;
  for (Value input : op.getInputs())
    inputs.push_back(viewOf(program, input));
  for (Value initial : op.getInitialStates())
    initials.push_back(viewOf(program, initial));
  auto results =
      program.getBody().getArguments().drop_front(entry.getNumArguments());
  llvm::append_range(outputs, results.take_front(op.getOutputs().size()));
  llvm::append_range(finals, results.drop_front(op.getOutputs().size()));
  PlainForm(op, program, inputs, initials, outputs, finals).emit();
}

FailureOr<tile::ProgramOp> EntryConverter::convert() {
  if (failed(findRecurrence()) || failed(collectArguments()) ||
      failed(collectResults()) || failed(chooseForm()))
    return failure();
  tile::ProgramOp program = createProgram();
  if (isPlain)
    emitPlainSteps(program);
  else if (failed(emitBody(program))) {
    program.erase();
    return failure();
  }
  return program;
}

FailureOr<tile::ProgramOp> prism::convertEntryToTile(OpBuilder &builder,
                                                     func::FuncOp entry,
                                                     scan::PlanAttr plan,
                                                     StringRef name) {
  return EntryConverter(builder, entry, plan, name).convert();
}

namespace {
struct ConvertScanToTilePass
    : prism::impl::ConvertScanToTileBase<ConvertScanToTilePass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries;
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (entry->hasAttr(scan::kEntryAttr))
        entries.push_back(entry);
    for (func::FuncOp entry : entries) {
      OpBuilder builder(entry);
      auto recurrences = entry.getBody().front().getOps<scan::RecurrenceOp>();
      scan::PlanAttr plan = recurrences.empty()
                                ? scan::PlanAttr()
                                : (*recurrences.begin()).getPlanAttr();
      if (!plan || plan.getChunk() == 0) {
        entry.emitOpError("has no planned recurrence; run "
                          "scan-choose-chunk-size first or give a plan");
        return signalPassFailure();
      }
      std::string name = entry.getName().str();
      entry.setName((name + "__scan").c_str());
      FailureOr<tile::ProgramOp> program =
          convertEntryToTile(builder, entry, plan, name);
      if (failed(program))
        return signalPassFailure();
      (*program)->setAttr(scan::kEntryAttr, entry->getAttr(scan::kEntryAttr));
      entry.erase();
    }
  }
};
} // namespace
