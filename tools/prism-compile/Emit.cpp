//===- Emit.cpp - prism-compile --emit ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;

static LogicalResult writeOut(ModuleOp module, StringRef text,
                              StringRef output) {
  if (output.empty() || output == "-") {
    llvm::outs() << text;
    return success();
  }
  if (llvm::Error error = writeFileAtomically(output, text))
    return module.emitError(llvm::toString(std::move(error)));
  return success();
}

/// One stage of one unit as text or bytes.
static FailureOr<std::string> emitUnit(const Unit &unit, StringRef stage) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (stage == "tile") {
    // The program alone: what one work item does.
    OpPrintingFlags flags;
    unit.module.get().walk(
        [&](tile::ProgramOp program) { program.print(os, flags); });
    os << "\n";
    return text;
  }
  if (stage == "llvm")
    return emitLLVMText(unit);
  FailureOr<std::vector<CompiledKernel>> kernels = compileUnit(unit);
  if (failed(kernels))
    return failure();
  // Of several instruction sets the best, as for --emit=llvm.
  CompiledKernel &kernel = kernels->back();
  if (std::string error = finishKernel(kernel, stage == "cubin");
      !error.empty())
    return mlir::emitError(unit.module.get().getLoc()) << error;
  const std::string &code = stage == "ptx"     ? kernel.ptx
                            : stage == "cubin" ? kernel.cubin
                                               : kernel.object;
  if (code.empty()) {
    InFlightDiagnostic diag = mlir::emitError(unit.module.get().getLoc())
                              << "no " << stage << " for " << unit.target.str();
    for (const std::string &note : kernel.notes)
      diag << "; " << note;
    return failure();
  }
  return code;
}

LogicalResult prism::emitStage(ModuleOp module, StringRef stage,
                               const CompileOptions &options,
                               StringRef output) {
  if (stage == "scan") {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return writeOut(module, text + "\n", output);
  }
  auto entries = findEntries(module, options.entries);
  auto targets = parseTargets(module, options.targets);
  if (failed(entries) || failed(targets))
    return failure();
  std::string all;
  unsigned count = 0;
  for (func::FuncOp entry : *entries)
    for (const targetinfo::Target &target : *targets) {
      bool wantsCuda = stage == "ptx" || stage == "cubin",
           wantsCpu = stage == "llvm" || stage == "obj";
      if ((wantsCuda && !target.isCuda()) || (wantsCpu && target.isCuda()))
        continue;
      auto units = buildUnits(entry, target, options);
      if (failed(units))
        return failure();
      for (const Unit &unit : *units) {
        if (stage == "plan") {
          std::string line;
          llvm::raw_string_ostream(line)
              << "entry '" << unit.entry << "' on " << unit.target.str() << ": "
              << unit.plan << "\n";
          all += line;
          ++count;
          continue;
        }
        FailureOr<std::string> text = emitUnit(unit, stage);
        if (failed(text))
          return failure();
        bool binary = stage == "cubin" || stage == "obj";
        if (binary && count > 0)
          return module.emitError("--emit=")
                 << stage
                 << " writes one kernel and there are several; choose with "
                    "--entry, --target and --plan";
        all += *text;
        ++count;
      }
    }
  if (count == 0)
    return module.emitError(
               "nothing to emit: no target among --target has the stage '")
           << stage << "'";
  return writeOut(module, all, output);
}
