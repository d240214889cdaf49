//===- StatePath.cpp - Why a recurrence is not affine in its states -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The op to blame is the first on the way from a state to its next value whose
// result is not affine although its operands are. The path leads from the state
// to that op, and from there to the value that is yielded.
//
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/StateFlow.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

// Longer paths are shown by their beginning.
static constexpr size_t kMaxHops = 24;

using Node = const FlowNode *;
using Path = SmallVector<Node>;

/// From `node` down to the first node without a matching input, in this order.
template <typename Match> static Path descend(Node node, Match match) {
  Path path = {node};
  llvm::SmallDenseSet<Node> seen = {node};
  while (true) {
    auto found = llvm::find_if(path.back()->inputs, [&](Node input) {
      return match(input) && seen.insert(input).second;
    });
    if (found == path.back()->inputs.end())
      return path;
    path.push_back(*found);
  }
}

static std::string nameOf(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "'";
}

static Location locOf(Node node, Location fallback) {
  Location loc = node->op() ? node->op()->getLoc() : node->value.getLoc();
  return isa<UnknownLoc>(loc) ? fallback : loc;
}

namespace {
class PathPrinter {
public:
  PathPrinter(const StateFlow &flow, InFlightDiagnostic &diag)
      : flow(flow), diag(diag) {}

  void fromState(Node node, bool byEntry);
  void toYield(ArrayRef<Node> path, unsigned state);

private:
  void hop(Node node, StringRef text);
  void endHops(Node node);

  const StateFlow &flow;
  InFlightDiagnostic &diag;
  size_t hops = 0;
};
} // namespace

void PathPrinter::hop(Node node, StringRef text) {
  if (++hops > kMaxHops)
    return;
  Operation *op = node->op();
  if (op) {
    diag.attachNote(locOf(node, scan::RecurrenceOp(flow.op).getLoc()))
        << text << " " << nameOf(op);
    return;
  }
  auto argument = cast<BlockArgument>(node->value);
  Operation *owner = argument.getOwner()->getParentOp();
  auto symbol = dyn_cast<SymbolOpInterface>(owner);
  diag.attachNote(locOf(node, owner->getLoc()))
      << text << " block argument " << argument.getArgNumber() << " of "
      << (symbol ? "'@" + symbol.getName().str() + "'" : nameOf(owner));
}

/// The way from a state to `node`, which stands at its end and is not shown.
void PathPrinter::fromState(Node node, bool byEntry) {
  Path path = descend(node, [&](Node input) {
    return byEntry ? readsEntry(input->form)
                   : input->dependence() != Dependence::none;
  });
  for (Node step : llvm::drop_end(llvm::reverse(path))) {
    auto state = llvm::find(flow.states, step);
    auto entry = llvm::find(flow.entries, step);
    if (state != flow.states.end())
      diag.attachNote(step->value.getLoc())
          << "state " << state - flow.states.begin() << " enters the step here";
    else if (entry != flow.entries.end())
      diag.attachNote(step->value.getLoc())
          << "state " << entry - flow.entries.begin()
          << ", as it was at the mini-batch's entry, comes in here";
    else
      hop(step, "it passes through");
  }
  endHops(node);
}

/// Says how many hops were left out.
void PathPrinter::endHops(Node node) {
  if (hops > kMaxHops)
    diag.attachNote(locOf(node, scan::RecurrenceOp(flow.op).getLoc()))
        << "and " << hops - kMaxHops << " more on the way";
  hops = 0;
}

void PathPrinter::toYield(ArrayRef<Node> path, unsigned state) {
  for (Node step : llvm::reverse(path))
    hop(step, "from there through");
  if (!path.empty())
    endHops(path.front());
  diag.attachNote(scan::RecurrenceOp(flow.op).getYield().getLoc())
      << "into the next value of state " << state << ", yielded here";
}

/// What the op to blame does with operands that are affine in the state.
static std::string describe(Node origin) {
  size_t dependent = llvm::count_if(origin->inputs, [](Node input) {
    return input->dependence() != Dependence::none;
  });
  Operation *op = origin->op();
  if (!op)
    return "a block argument is an unknown function of the state";
  if (dependent == 0)
    return nameOf(op) +
           " may read memory that holds the state, or is not known";
  if (dependent == 1)
    return nameOf(op) + " is not affine in a value that reads the state";
  return nameOf(op) + " combines values that read the state and is not affine "
                      "in them: a coefficient depends on the state";
}

/// The operands of the op to blame that read a state, coefficients (the smaller
/// ones) first.
static Path coefficientsOf(Node origin) {
  Path dependent;
  // A value that is multiplied by itself has one path.
  for (Node input : origin->inputs)
    if (input->dependence() != Dependence::none &&
        !llvm::is_contained(dependent, input))
      dependent.push_back(input);
  auto elements = [](Node node) {
    auto shaped = dyn_cast<ShapedType>(node->value.getType());
    return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 1;
  };
  llvm::sort(dependent, [&](Node a, Node b) {
    auto place = [&](Node node) { return llvm::find(origin->inputs, node); };
    return std::pair(elements(a), place(a)) < std::pair(elements(b), place(b));
  });
  return dependent;
}

static Path pathToBlame(const StateFlow &flow, unsigned state) {
  return descend(flow.nextStates[state], [](Node input) {
    return input->dependence() == Dependence::other;
  });
}

std::pair<Location, std::string> StateFlow::blame() const {
  scan::RecurrenceOp recurrence = op;
  if (std::optional<unsigned> i = notAffine()) {
    Node origin = pathToBlame(*this, *i).back();
    return {locOf(origin, recurrence.getLoc()),
            "state " + std::to_string(*i) +
                " does not follow an affine recurrence: " + describe(origin)};
  }
  return {recurrence.getLoc(), ""};
}

static InFlightDiagnostic emit(Location loc, DiagnosticSeverity severity) {
  return severity == DiagnosticSeverity::Error ? emitError(loc)
                                               : emitWarning(loc);
}

static void reportNotAffine(const StateFlow &flow, unsigned state,
                            DiagnosticSeverity severity) {
  Path path = pathToBlame(flow, state);
  Node origin = path.pop_back_val();
  scan::RecurrenceOp op = flow.op;
  auto [where, text] = flow.blame();
  InFlightDiagnostic diag = emit(where, severity) << text;
  PathPrinter printer(flow, diag);
  for (auto [i, coefficient] : llvm::enumerate(coefficientsOf(origin))) {
    if (i > 0)
      diag.attachNote(locOf(origin, op.getLoc()))
          << "its other operand reads the state as well";
    // The coefficient itself is a hop, unless it is the state.
    FlowNode end = *origin;
    end.inputs = {coefficient};
    printer.fromState(&end, /*byEntry=*/false);
  }
  diag.attachNote(locOf(origin, op.getLoc()))
      << "where it meets "
      << (origin->op() ? nameOf(origin->op()) : std::string("this value"));
  printer.toYield(path, state);
}

static void reportEntry(const StateFlow &flow, unsigned state,
                        DiagnosticSeverity severity) {
  scan::RecurrenceOp op = flow.op;
  Path path = descend(flow.nextStates[state],
                      [](Node input) { return readsEntry(input->form); });
  Node user = path.size() > 1 ? path[path.size() - 2] : path.back();
  InFlightDiagnostic diag = emit(locOf(user, op.getLoc()), severity);
  diag << "state " << state << " is not independent at token granularity: "
       << (user->op() ? nameOf(user->op()) : std::string("the step"))
       << " reads a state as it was at the mini-batch's entry; "
          "granularity=mini_batch takes it";
  PathPrinter printer(flow, diag);
  FlowNode end = *user;
  if (path.size() == 1)
    end.inputs = {path.back()};
  printer.fromState(&end, /*byEntry=*/true);
  if (path.size() > 2)
    printer.toYield(ArrayRef(path).drop_back(1), state);
  else
    printer.toYield({}, state);
}

void StateFlow::report(Granularity wanted, DiagnosticSeverity severity) const {
  if (std::optional<unsigned> state = notAffine())
    return reportNotAffine(*this, *state, severity);
  for (auto [i, next] : llvm::enumerate(nextStates))
    if (wanted == Granularity::token && !isGiven(i) && readsEntry(next->form))
      return reportEntry(*this, i, severity);
}
