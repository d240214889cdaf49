//===- PassesFuzz.cpp - Any passes on random modules ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first byte says where the module comes from: an example (the next byte
// picks it) or a random step (seeded by the next eight, see RandomRegion.h).
// Each further byte is a pass, which fails with an error or leaves a module
// that verifies. PRISM_FUZZ_SHOW=1 shows the module, the passes and what they
// say.
//
//===----------------------------------------------------------------------===//

#include "../Analysis/RandomRegion.h"
#include "Dialects.h"
#include "Fuzz.h"
#include "Prism/Import/Import.h"
#include "Prism/Registration/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <fstream>
#include <iterator>

using namespace prism;

static constexpr size_t kMostPasses = 8;

static constexpr const char *kPasses[] = {
    "canonicalize",
    "cse",
    "scan-verify-state-independence",
    "scan-classify",
    "scan-raise-affine",
    "func.func(scan-choose-chunk-size)",
    "func.func(scan-choose-chunk-size{target=cuda})",
    "convert-scan-to-tile",
    "prism-scan-to-tile{schedule=recurrent}",
    "prism-scan-to-tile{target=cuda}",
    "tile.program(tile-invert-systems)",
    "tile.program(tile-move-scales)",
    "tile.program(tile-round-dot-operands)",
    "tile.program(tile-specialize-roles)",
    "tile.program(tile-merge-roles)",
    "tile-split-sequence",
    "prism-tile-prepare-tensor-cores",
    "convert-tile-to-cpu",
    "scan-recurrence-to-prefix",
    "tile.program(tile-transpose-scores)",
    "tile.program(tile-scale-results)",
    "tile.program(tile-join-scales)"};

/// A byte of an input picks one: new ones go to the end.
static constexpr const char *kExamples[] = {"linear_attention.json",
                                            "retnet.json",
                                            "gla.json",
                                            "mamba.json",
                                            "mamba2.json",
                                            "deltanet.json",
                                            "gated_deltanet.json",
                                            "gated_deltanet_packed.json",
                                            "kda.json",
                                            "gated_deltaproduct.json",
                                            "rwkv7.json",
                                            "mlstm.json",
                                            "hgrn.json",
                                            "prism_l0.json",
                                            "prism_l2.json",
                                            "titans_linear.json",
                                            "prefix/tanh_tree.mlir",
                                            "models/titans_linear.mlir",
                                            "models/lstm.mlir"};

namespace {
/// Takes bytes from the front; zeros when none are left.
class Bytes {
public:
  Bytes(const uint8_t *data, size_t size) : data(data), size(size) {}
  bool empty() const { return size == 0; }
  uint8_t next() { return size == 0 ? 0 : (--size, *data++); }
  uint64_t nextSeed() {
    uint64_t seed = 0;
    for (int i = 0; i < 8; ++i)
      seed = seed << 8 | next();
    return seed;
  }

private:
  const uint8_t *data;
  size_t size;
};
} // namespace

static std::string readExample(const char *name) {
  std::ifstream stream(std::string(PRISM_EXAMPLES) + "/" + name);
  fuzz::require(bool(stream), "an example is missing");
  return std::string(std::istreambuf_iterator<char>(stream),
                     std::istreambuf_iterator<char>());
}

static mlir::OwningOpRef<mlir::ModuleOp>
makeExample(const char *name, mlir::MLIRContext &context) {
  std::string text = readExample(name);
  if (llvm::StringRef(name).ends_with(".mlir"))
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  spec::SpecDiagnostic diagnostic;
  auto spec = spec::readSpec(text, name, diagnostic);
  fuzz::require(succeeded(spec), "an example is refused");
  return spec::importSpec(*spec, &context);
}

static mlir::OwningOpRef<mlir::ModuleOp>
makeModule(Bytes &bytes, mlir::MLIRContext &context) {
  enum { Example, AnyStep, AffineStep, Sources };
  unsigned source = bytes.next() % Sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (source == Example) {
    module =
        makeExample(kExamples[bytes.next() % std::size(kExamples)], context);
  } else {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        analysis::makeRandomRegion(bytes.nextSeed(), source == AffineStep),
        &context);
  }
  fuzz::require(bool(module), "a module that was made does not read");
  return module;
}

/// Runs one pass; false after an error.
static bool runPass(const char *name, mlir::ModuleOp module,
                    const bool &errors) {
  mlir::PassManager pm(module.getContext());
  pm.enableVerifier(false); // which could not be told from the pass's errors
  fuzz::require(succeeded(mlir::parsePassPipeline(name, pm)),
                "a pass is not registered");
  if (failed(pm.run(module))) {
    fuzz::require(errors, "a pass fails without an error");
    return false;
  }
  fuzz::require(succeeded(mlir::verify(module)),
                "a pass leaves a module that does not verify");
  return true;
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  registerPrismPasses();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes bytes(data, size);
  const bool show = std::getenv("PRISM_FUZZ_SHOW");
  mlir::MLIRContext context(fuzz::dialects(),
                            mlir::MLIRContext::Threading::DISABLED);
  bool errors = false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    errors |= d.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (show)
      std::fprintf(stderr, "%s\n", d.str().c_str());
    return mlir::success();
  });
  auto module = makeModule(bytes, context);
  if (show)
    module->dump();
  for (size_t i = 0; i < kMostPasses && !bytes.empty(); ++i) {
    const char *pass = kPasses[bytes.next() % std::size(kPasses)];
    if (show)
      std::fprintf(stderr, "pass: %s\n", pass);
    if (!runPass(pass, *module, errors))
      break;
  }
  return 0;
}
