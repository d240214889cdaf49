//===- Inputs.cpp - Random inputs that suit each argument's use -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Check/Check.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace mlir;
using namespace prism;
using namespace prism::check;

std::optional<GateSet> check::parseGateSet(StringRef name) {
  return llvm::StringSwitch<std::optional<GateSet>>(name)
      .Case("mild", GateSet::mild)
      .Case("hard", GateSet::hard)
      .Case("mixed", GateSet::mixed)
      .Case("burst", GateSet::burst)
      .Default(std::nullopt);
}

namespace {
/// From the weakest to the one that decides where an input has several.
enum class Use {
  normal,
  tap,
  bias,
  window,
  weight,
  channelGate,
  unitVector,
  fraction,
  positiveVector,
  gate
};

/// A state of one column sums up keys, and outputs are divided by what is read
/// of it: keys and queries that meet there are positive.
Use vectorOf(Value state) {
  bool oneColumn = cast<RankedTensorType>(state.getType()).getDimSize(1) == 1;
  auto op = state.getParentRegion()->getParentOfType<scan::RecurrenceOp>();
  return oneColumn && op.getNumStates() > 1 ? Use::positiveVector
                                            : Use::unitVector;
}

Use useOf(Value value);

/// Matrices that a step's vectors are multiplied by: of entries of unit size,
/// steps that feed states back would blow up any error, or the states.
static bool isContracted(Value value, Operation *user) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto structured = dyn_cast<linalg::LinalgOp>(user);
  return type && type.getRank() == 2 && structured &&
         structured.getNumReductionLoops() > 0;
}

/// What one op does with a value, looking through casts and rows. What
/// multiplies a key, and is none itself, is a gate of its channels.
Use useOf(Value value, Operation *user) {
  if (isa<arith::ExtFOp, arith::TruncFOp, tensor::ExtractSliceOp,
          tensor::ExtractOp>(user))
    return useOf(user->getResult(0));
  if (isContracted(value, user))
    return Use::weight;
  if (isa<arith::MulFOp>(user))
    return useOf(user->getResult(0)) == Use::unitVector ? Use::channelGate
                                                        : Use::normal;
  if (auto decay = dyn_cast<scan::DecayOp>(user))
    return decay.getLogGate() == value ? Use::gate : Use::normal;
  if (auto erase = dyn_cast<scan::EraseOp>(user))
    return erase.getStrength() == value ? Use::fraction : Use::unitVector;
  if (auto inject = dyn_cast<scan::InjectOp>(user)) {
    if (inject.getScale() == value)
      return Use::fraction;
    return inject.getKey() == value ? vectorOf(inject.getState()) : Use::normal;
  }
  if (auto read = dyn_cast<scan::ReadOp>(user))
    return read.getQuery() == value ? vectorOf(read.getState()) : Use::normal;
  return Use::normal;
}

/// How a step uses an input.
Use useOf(Value value) {
  Use strongest = Use::normal;
  for (Operation *user : value.getUsers())
    strongest = std::max(strongest, useOf(value, user));
  return strongest;
}

/// How an entry uses an argument: a step's input, maybe convolved before, or
/// what convolves.
Use useOfArgument(BlockArgument argument, scan::RecurrenceOp op) {
  Value seen = argument;
  for (Operation *user : argument.getUsers())
    if (auto convolution = dyn_cast<scan::ShortConvolutionOp>(user)) {
      if (argument == convolution.getWeight())
        return Use::tap;
      if (argument == convolution.getBias())
        return Use::bias;
      if (argument == convolution.getInitialWindow())
        return Use::window;
      if (argument == convolution.getInput())
        seen = convolution.getResult();
    }
  Use use = Use::normal;
  for (auto [n, input] : llvm::enumerate(op.getInputs()))
    if (input == seen)
      use = useOf(op.getInputArgument(n));
  return use;
}

class Generator {
public:
  explicit Generator(const InputOptions &options)
      : options(options), random(options.seed) {}

  void fill(HostArray &array, Use use, const std::string &axes) {
    array.values.resize(array.size());
    switch (use) {
    case Use::normal:
    case Use::unitVector:
    case Use::positiveVector:
      for (double &value : array.values) {
        value = normal(random);
        if (use == Use::positiveVector)
          value = std::abs(value);
      }
      if (use != Use::normal)
        normalise(array);
      break;
    // A convolved key is no longer than about 1, so that steps contract.
    case Use::tap:
      for (double &value : array.values)
        value = (2.0 * uniform(random) - 1.0) / double(array.shape.back());
      break;
    case Use::bias:
      for (double &value : array.values)
        value = 0.25 * normal(random) / std::sqrt(double(array.shape.back()));
      break;
    case Use::window: // channels before the tokens
      for (double &value : array.values)
        value = normal(random) /
                std::sqrt(double(array.shape[array.shape.size() - 2]));
      break;
    case Use::weight:
      for (double &value : array.values)
        value = normal(random) / std::sqrt(double(array.shape.back()));
      break;
    case Use::channelGate:
    case Use::fraction:
      for (double &value : array.values)
        value = uniform(random);
      break;
    case Use::gate:
      fillGates(array, axes);
      break;
    }
    array.encode();
  }

private:
  void normalise(HostArray &array) {
    int64_t length = array.shape.back();
    for (int64_t row = 0; row + length <= int64_t(array.values.size());
         row += length) {
      double sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += array.values[row + i] * array.values[row + i];
      for (int64_t i = 0; i < length; ++i)
        array.values[row + i] /= std::sqrt(sum);
    }
  }

  double mild() { return -std::log1p(std::exp(-normal(random))) / 16.0; }

  void fillGates(HostArray &array, const std::string &axes) {
    // Steps are counted along the time axis, whatever its place.
    int64_t inner = 1, steps = 1;
    if (size_t at = axes.find('t'); at != std::string::npos) {
      steps = array.shape[at];
      for (size_t i = at + 1; i < array.shape.size(); ++i)
        inner *= array.shape[i];
    }
    for (size_t i = 0; i < array.values.size(); ++i) {
      int64_t step = steps ? (int64_t(i) / inner) % steps : 0;
      double &gate = array.values[i];
      switch (options.gates) {
      case GateSet::mild:
        gate = mild();
        break;
      case GateSet::hard:
        gate = -20.0;
        break;
      case GateSet::mixed: {
        const double strong[] = {0.0, -20.0, -88.0,
                                 -std::numeric_limits<double>::infinity()};
        int which = int(random() % 4);
        gate = which == 0 ? mild() : strong[which];
        break;
      }
      case GateSet::burst:
        gate = step < 32 ? -20.0 : -0.01;
        break;
      }
    }
  }

  const InputOptions &options;
  std::mt19937_64 random;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
};
} // namespace

runtime::Sizes check::sizesOf(const InputOptions &options) {
  runtime::Sizes sizes;
  bool packed = !options.lengths.empty();
  sizes.batch = packed ? 1 : options.batch;
  sizes.steps = packed ? std::accumulate(options.lengths.begin(),
                                         options.lengths.end(), int64_t(0))
                       : options.steps;
  sizes.sequences = packed ? int64_t(options.lengths.size()) : options.batch;
  return sizes;
}

double check::bytesOfCheck(const runtime::EntryInfo &info,
                           const InputOptions &options) {
  double bytes = 0.0;
  for (const runtime::ArgumentInfo &argument : info.arguments) {
    double elements = 1.0;
    for (int64_t extent : runtime::shapeOf(argument, sizesOf(options)))
      elements *= double(extent);
    // Results are held twice with the blank ones, all again by the oracle.
    double copies = runtime::isWritten(argument.role) ? 2.0 : 1.0;
    bytes += elements *
             (copies * (8.0 + double(runtime::byteSize(argument.dtype))) + 8.0);
  }
  return bytes;
}

/// The input that a gate is, or a row of it; a cast changes nothing.
static Value sourceOf(Value gate) {
  while (Operation *op = gate.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, tensor::ExtractSliceOp,
             tensor::ExtractOp>(op))
      break;
    gate = op->getOperand(0);
  }
  return gate;
}

GateReach check::reachOfGates(func::FuncOp entry) {
  GateReach reach;
  entry.walk([&](scan::RecurrenceOp op) {
    auto isArgument = [&](Value gate) {
      for (auto [i, input] : llvm::enumerate(op.getInputs()))
        if (op.getInputArgument(i) == gate)
          return isa<BlockArgument>(input);
      return false;
    };
    op.walk([&](scan::DecayOp decay) {
      ++reach.decays;
      reach.drawn += isArgument(sourceOf(decay.getLogGate()));
    });
  });
  return reach;
}

HostArrays check::makeInputs(func::FuncOp entry, const runtime::EntryInfo &info,
                             const InputOptions &options) {
  runtime::Sizes sizes = sizesOf(options);
  bool packed = !options.lengths.empty();

  scan::RecurrenceOp op;
  entry.walk([&](scan::RecurrenceOp found) { op = found; });
  Generator generator(options);
  HostArrays inputs;
  for (const auto &[i, argument] : llvm::enumerate(info.arguments)) {
    if (runtime::isWritten(argument.role))
      continue;
    bool isCarried = argument.role == runtime::Role::InitialState ||
                     argument.role == runtime::Role::InitialWindow;
    if (isCarried && !options.initialState)
      continue;
    if (argument.role == runtime::Role::Offsets && !packed)
      continue;
    HostArray array;
    array.dtype = argument.dtype;
    array.shape = runtime::shapeOf(argument, sizes);
    if (argument.role == runtime::Role::Offsets) {
      array.values = {0.0};
      for (int64_t length : options.lengths)
        array.values.push_back(array.values.back() + double(length));
      array.encode();
    } else {
      Use use = op ? useOfArgument(entry.getArgument(i), op) : Use::normal;
      bool isSum = argument.role == runtime::Role::InitialState && op &&
                   op.getNumStates() > 1 && array.shape.back() == 1;
      if (isSum)
        use = Use::positiveVector;
      generator.fill(array, use, argument.axes);
    }
    inputs[argument.name] = std::move(array);
  }
  return inputs;
}
