//===- Assemble.cpp - ptxas -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/RunProgram.h"
#include "Prism/Support/WriteFile.h"
#include "Prism/Target/GPU/GPU.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace prism;

std::string prism::findPtxas() {
  for (const char *variable : {"PRISM_CUDA_TOOLKIT", "CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> home = sys::Process::GetEnv(variable)) {
      SmallString<128> path(*home);
      sys::path::append(path, "bin", "ptxas");
      if (sys::fs::can_execute(path))
        return path.str().str();
    }
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  return sys::fs::can_execute("/usr/local/cuda/bin/ptxas")
             ? "/usr/local/cuda/bin/ptxas"
             : "";
}

static int numberBefore(StringRef text, const char *pattern) {
  SmallVector<StringRef> groups;
  int value = 0;
  if (Regex(pattern).match(text, &groups))
    groups[1].getAsInteger(10, value);
  return value;
}

static std::string readAll(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Seconds for one kernel; the largest take a few.
static constexpr unsigned limit = 120;

FailureOr<Assembled> prism::assemble(StringRef ptx, StringRef chip,
                                     std::string &error) {
  Assembled result;
  std::string ptxas = findPtxas();
  if (ptxas.empty()) {
    result.note = "not assembled: no ptxas (looked in $PRISM_CUDA_TOOLKIT/bin, "
                  "$CUDA_HOME/bin, $CUDA_PATH/bin, PATH "
                  "and /usr/local/cuda/bin); the driver assembles the PTX when "
                  "it loads it";
    return result;
  }
  SmallString<128> folder;
  if (std::error_code code =
          sys::fs::createUniqueDirectory("prism-ptx", folder)) {
    error = "cannot make a temporary folder: " + code.message();
    return failure();
  }
  scope_exit cleanUp([&] { sys::fs::remove_directories(folder); });
  std::string input = (folder + "/kernel.ptx").str(),
              output = (folder + "/kernel.cubin").str();
  if (Error unwritten = writeFile(input, ptx)) {
    error = toString(std::move(unwritten));
    return failure();
  }
  std::string arch = ("-arch=" + chip).str();
  std::string said;
  std::string problem =
      runProgram(ptxas, {arch, "-v", input, "-o", output}, limit, said);
  if (!problem.empty()) {
    error = "assembling the PTX for " + chip.str() + ": " + problem;
    if (!StringRef(said).trim().empty())
      error += ": " + StringRef(said).trim().str();
    return failure();
  }
  result.cubin = readAll(output);
  result.resources.registers = numberBefore(said, "Used ([0-9]+) registers");
  result.resources.spillStores =
      numberBefore(said, "([0-9]+) bytes spill stores");
  result.resources.spillLoads =
      numberBefore(said, "([0-9]+) bytes spill loads");
  result.resources.staticShared = numberBefore(said, "([0-9]+) bytes smem");
  // A loss is an info to ptxas: products made to wait, registers not moved.
  for (StringRef sign : {"warning", "Potential Performance Loss"})
    if (size_t at = StringRef(said).find(sign); at != StringRef::npos) {
      result.note =
          "ptxas warns: " + StringRef(said).substr(at).split('\n').first.str();
      break;
    }
  return result;
}
