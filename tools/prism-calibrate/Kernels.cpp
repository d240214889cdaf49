//===- Kernels.cpp - The kernels that a calibration times -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Prism/Dialect/Scan/Transforms/CostModel.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// Which
//===----------------------------------------------------------------------===//

namespace {
/// A recurrence: what its inputs and steps are besides q, k, v.
struct Chain {
  StringRef name, inputs, steps, dims, io;
};
} // namespace

static constexpr StringLiteral writeKey =
    R"({"inject": {"key": "k", "value": "v"}})";
static constexpr StringLiteral writeError =
    R"({"erase": {"key": "k", "strength": "b"}}, {"inject": {"key": "k", "value": "v", "scale": "b"}})";

static std::string specOf(const Chain &chain, int64_t keys, int64_t values) {
  return llvm::formatv(
             R"({{"prism_spec": 1, "name": "calibration",
  "dims": {{"B": null, "T": null, "H": 4, "K": {0}, "V": {1}{2}},
  "dtype": {{"io": "{3}"},
  "inputs": {{"q": ["B","T","H","K"], "k": ["B","T","H","K"], "v": ["B","T","H","V"]{4}},
  "steps": [{5}, {{"read": {{"query": "q"}}],
  "entries": ["forward"], "target": ["cpu"]})",
             keys, values, chain.dims, chain.io, chain.inputs, chain.steps)
      .str();
}

std::vector<KernelChoice> prism::calibrationKernels() {
  static const std::string key = writeKey.str(), error = writeError.str();
  static const std::string
      decay = R"({"decay": "g"}, )",
      refine =
          R"(, {"inject": {"key": "c", "scale": "s", "refine": {"anchor": "u", "value": "v", "gain": "p", "activation": "gelu"}}})",
      scalar = R"(, "g": ["B","T","H"])",
      perKey = R"(, "g": ["B","T","H","K"])",
      strength = R"(, "b": ["B","T","H"])",
      refined =
          R"(, "u": ["B","T","H","V"], "p": ["B","T","H","L","V"], "c": ["B","T","H","L","K"], "s": ["B","T","H","L"])";
  static const std::string decayedKey = decay + key,
                           decayedError = decay + error,
                           refinedError = decayedError + refine,
                           scalarStrength = scalar + strength,
                           allInputs = scalarStrength + refined;
  const Chain chains[] = {
      {"write", "", key, "", "f32"},
      {"decayed write", scalar, decayedKey, "", "f32"},
      {"write decayed by key", perKey, decayedKey, "", "f32"},
      {"erase", strength, error, "", "f32"},
      {"decayed erase", scalarStrength, decayedError, "", "f32"},
      {"decayed erase, bf16", scalarStrength, decayedError, "", "bf16"},
      {"refined", allInputs, refinedError, R"(, "L": 1)", "f32"}};
  const std::pair<int64_t, int64_t> sizes[] = {
      {24, 16}, {16, 32}, {48, 64}, {96, 128}};
  std::vector<KernelChoice> all;
  for (const Chain &chain : chains)
    for (const auto &size : sizes) {
      int64_t keys = size.first, values = size.second;
      if (chain.io == "bf16" && keys != 48)
        continue;
      // About as long for each size, in whole chunks.
      int64_t steps =
          std::max<int64_t>(1, (1 << 20) / (keys * values) / 64) * 64;
      auto add = [&](StringRef schedule, int64_t chunk, bool swept) {
        std::string name =
            llvm::formatv("{0} {1}x{2}, {3} {4}{5}", chain.name, keys, values,
                          schedule, chunk, swept ? ", from memory" : "");
        std::string plan = llvm::formatv(
            R"({{"schedule": "{0}", "chunk": {1}})", schedule, chunk);
        all.push_back({name, specOf(chain, keys, values), plan, steps, swept});
      };
      add("recurrent", 1, false);
      for (int64_t chunk : {4, 8, 16, 64})
        add("chunk", chunk, false);
      if (keys != 96 && chain.io == "f32")
        add("chunk", 16, true);
    }
  return all;
}

//===----------------------------------------------------------------------===//
// How long
//===----------------------------------------------------------------------===//

static std::unique_ptr<TimedKernel> fail(const KernelChoice &choice,
                                         const Twine &message) {
  llvm::errs() << "prism-calibrate: error: kernel '" << choice.name
               << "': " << message << "\n";
  return nullptr;
}

std::unique_ptr<TimedKernel> TimedKernel::create(const KernelChoice &choice,
                                                 StringRef level,
                                                 MLIRContext &context) {
  auto timed = std::make_unique<TimedKernel>();
  timed->choice = choice;
  spec::SpecDiagnostic diagnostic;
  auto model = driver::readSpec(choice.spec, "spec", context, diagnostic);
  if (!model)
    return fail(choice, diagnostic.str());
  CompileOptions options;
  options.targets = {"cpu:" + level.str()};
  auto plans =
      driver::readPlans(choice.plan, "plan", *model->module, diagnostic);
  if (failed(plans))
    return fail(choice, diagnostic.str());
  options.plans = std::move(*plans);

  FailureOr<CompileResult> result = driver::compileModel(*model, options);
  if (failed(result))
    return fail(choice, "is not compiled");
  auto program = runtime::Program::load(
      runtime::BundleFiles(bundleFiles(result->bundle), choice.name));
  if (!program)
    return fail(choice, program.error());
  runtime::Result<runtime::Entry> entry = program->entry("forward");
  if (!entry)
    return fail(choice, entry.error());
  func::FuncOp function = *model->module->getOps<func::FuncOp>().begin();
  check::InputOptions inputs;
  inputs.batch = 1, inputs.steps = choice.steps, inputs.initialState = false;
  timed->inputs = check::makeInputs(function, entry->info(), inputs);
  timed->outputs = check::makeOutputs(entry->info(), check::sizesOf(inputs));
  runtime::Result<runtime::Call> call = runtime::bindCall(
      entry->info(), check::bindings(timed->inputs, timed->outputs));
  if (!call)
    return fail(choice, call.error());
  timed->call = std::move(*call);
  auto kernel = entry->cpuKernel(timed->call.sizes, {"", level.str()});
  if (!kernel)
    return fail(choice, kernel.error());
  timed->kernel = std::move(*kernel);
  timed->program = std::move(*program);

  scan::RecurrenceOp op;
  function.walk([&](scan::RecurrenceOp found) { op = found; });
  scan::ScanWork work = *scan::ScanWork::of(op);
  const runtime::PlanInfo &plan = timed->kernel.info->plan;
  timed->heads = work.valueHeads;
  timed->work = scan::countWork(
      work,
      {*scan::symbolizeSchedule(plan.schedule), plan.chunk, plan.valueBlock},
      targetinfo::vectorRegisters(level), choice.steps,
      choice.swept ? 0 : 1e300);
  return timed;
}

LogicalResult TimedKernel::run(runtime::CpuPlayer &player,
                               std::vector<char> &sweep) {
  if (choice.swept)
    for (size_t i = 0; i < sweep.size(); i += 64)
      ++sweep[i];
  auto start = std::chrono::steady_clock::now();
  runtime::Status done = player.run(kernel, call);
  double ns = std::chrono::duration<double, std::nano>(
                  std::chrono::steady_clock::now() - start)
                  .count();
  if (!done) {
    fail(choice, done.error());
    return failure();
  }
  best = std::min(best, ns);
  return success();
}
