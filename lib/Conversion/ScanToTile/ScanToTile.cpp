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
  LogicalResult checkMiniBatch();
  LogicalResult checkPlainSteps();
  LogicalResult collectArrays();
  LogicalResult chooseForm();
  tile::ProgramOp createProgram();
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
  SmallVector<Array> arrays;
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
  if (plan.getChunk() != 1)
    return op.emitOpError("is serial and taken token by token; expected a plan "
                          "of chunk 1, found ")
           << plan.getChunk();
  return PlainForm::check(op);
}

LogicalResult EntryConverter::findRecurrence() {
  for (Operation &nested : entry.getBody().front()) {
    if (auto recurrence = dyn_cast<scan::RecurrenceOp>(nested)) {
      if (op)
        return recurrence.emitOpError("is the second recurrence of entry '")
               << entry.getName() << "'; one is lowered";
      op = recurrence;
    } else if (!isa<func::ReturnOp>(nested) &&
               !nested.hasTrait<OpTrait::ConstantLike>()) {
      // Constants of the step are hoisted here by canonicalisation.
      return nested.emitOpError("stands outside the recurrence of entry '")
             << entry.getName()
             << "'; only a scan.recurrence on the function's arguments is "
                "lowered";
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
  for (Value operand : op->getOperands())
    if (!isa<BlockArgument>(operand) ||
        cast<BlockArgument>(operand).getOwner() != &entry.getBody().front())
      return op.emitOpError("has an operand that is not an argument of entry '")
             << entry.getName() << "'";
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

LogicalResult EntryConverter::collectArrays() {
  auto nameOf = [](DictionaryAttr attrs, StringRef kind,
                   unsigned i) -> std::string {
    if (attrs)
      if (auto given = attrs.getAs<StringAttr>(scan::kNameAttr))
        return given.str();
    return (kind + Twine(i)).str();
  };
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
    for (auto [n, input] : llvm::enumerate(op.getInputs()))
      if (input == argument) {
        if (!array.role.empty())
          return op.emitOpError("takes argument '") << array.name << "' twice";
        array.role = "input", array.axes = op.getInputAxes(n).str();
      }
    for (auto [n, initial] : llvm::enumerate(op.getInitialStates()))
      if (initial == argument)
        array.role = "initial_state",
        array.axes = cast<StringAttr>(op.getInitialAxes()[n]).str();
    if (op.getOffsets() == argument)
      array.role = "offsets", array.axes = "n";
    if (array.role == "input" && array.optional)
      return op.emitOpError("input '")
             << array.name
             << "' is marked scan.optional; only initial states and offsets "
                "may be absent";
    if (array.role.empty())
      return entry.emitOpError("argument '")
             << array.name << "' is not used by the recurrence";
    arrays.push_back(array);
  }
  auto returned = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getOwner() != op)
      return returned.emitOpError(
          "returns a value that is no result of the recurrence");
    bool isOutput = result.getResultNumber() < op.getOutputs().size();
    ArrayAttr axes = isOutput ? op.getOutputAxes() : op.getFinalAxes();
    unsigned at = isOutput ? result.getResultNumber()
                           : result.getResultNumber() - op.getOutputs().size();
    Array array;
    array.name = nameOf(entry.getResultAttrDict(i), "result", i);
    array.role = isOutput ? "output" : "final_state";
    array.axes = cast<StringAttr>(axes[at]).str();
    array.type = cast<RankedTensorType>(value.getType());
    array.optional = !isOutput;
    arrays.push_back(array);
  }
  if (returned.getNumOperands() != op->getNumResults())
    return returned.emitOpError(
        "must return every result of the recurrence once");
  for (auto [i, value] : llvm::enumerate(returned.getOperands()))
    if (cast<OpResult>(value).getResultNumber() != i)
      return returned.emitOpError(
          "must return the recurrence's results in their order");
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
    if (array.role == "input" || array.role == "output")
      shape.push_back(
          ShapedType::kDynamic); // a parameter repeats at every step
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

Value EntryConverter::viewOf(tile::ProgramOp program, Value tensor) {
  return program.getBody().getArgument(
      cast<BlockArgument>(tensor).getArgNumber());
}

FailureOr<SmallVector<Value>> EntryConverter::emitChunk(TileBuilder &tb,
                                                        tile::ProgramOp program,
                                                        Value first,
                                                        ValueRange states) {
  Value columns = tb.create<tile::ValueOffsetOp>(tb.builder.getIndexType());
  SmallVector<Value> views;
  for (Value input : op.getInputs())
    views.push_back(viewOf(program, input));
  auto tilesAt = [&](int64_t count, Value step) {
    return TokenTiles(tb, op, views, count, valueBlock, step, columns);
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
  if (failed(findRecurrence()) || failed(collectArrays()) ||
      failed(chooseForm()))
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
