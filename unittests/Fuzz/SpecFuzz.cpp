//===- SpecFuzz.cpp - Any text as a spec ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A text is refused with a message and a place inside it, or is a spec: then it
// can be written out and read again, to the same text, and its module verifies.
//
//===----------------------------------------------------------------------===//

#include "Dialects.h"
#include "Fuzz.h"
#include "Prism/Import/Import.h"
#include "Prism/Spec/Spec.h"
#include "mlir/IR/Verifier.h"
#include <nlohmann/json.hpp>

using namespace prism;

static void checkRefusal(llvm::StringRef text,
                         const spec::SpecDiagnostic &diagnostic) {
  fuzz::require(!diagnostic.message.empty(), "a refusal without a message");
  fuzz::require(diagnostic.loc.line >= 1 && diagnostic.loc.column >= 1 &&
                    diagnostic.loc.line <= text.count('\n') + 1,
                "a refusal of a place outside the text");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  spec::SpecDiagnostic diagnostic;
  llvm::FailureOr<spec::Spec> spec =
      spec::readSpec(text, "fuzz.json", diagnostic);
  if (failed(spec)) {
    checkRefusal(text, diagnostic);
    return 0;
  }
  std::string written = spec::printSpec(spec::expandSpec(*spec));
  llvm::FailureOr<spec::Spec> again =
      spec::readSpec(written, "written.json", diagnostic);
  fuzz::require(succeeded(again), "a spec written out is refused");
  fuzz::require(spec::printSpec(spec::expandSpec(*again)) == written,
                "a spec written out reads differently");
  mlir::MLIRContext context(fuzz::dialects(),
                            mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = spec::importSpec(*spec, &context);
  fuzz::require(module && succeeded(mlir::verify(*module)),
                "a spec's module does not verify");
  return 0;
}
