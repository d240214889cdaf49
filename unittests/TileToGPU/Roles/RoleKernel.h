//===- RoleKernel.h - An entry as a kernel of roles, interpreted *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The compiler's whole path for tensor cores, from a spec to the kernel, which
// the interpreter then runs block by block; outputs and final states are
// compared with the float64 recurrence.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_ROLES_ROLEKERNEL_H
#define PRISM_UNITTESTS_TILETOGPU_ROLES_ROLEKERNEL_H

#include "KernelInterpreter.h"
#include "Prism/Check/Check.h"
#include "Prism/Compiler/Compiler.h"
#include "mlir/IR/MLIRContext.h"
#include "prism-runtime/TensorMaps.h"
#include <functional>
#include <optional>

namespace prism::test {

/// How the arrays of a call lie in memory.
struct Placement {
  int64_t offset = 0;  ///< elements from an address that 256 divides
  int64_t pad = 0;     ///< elements between rows of the last axis
  bool hasMaps = true; ///< tensor maps of those that can have one
};

class RoleKernel {
public:
  /// The forward entry of a spec, or of a module in the scan dialect, in chunks
  /// of 64 on sm_90a, in blocks of so many value columns, its sequences split
  /// into so many segments, with so many blocks that only prepare.
  explicit RoleKernel(const std::string &spec,
                      std::optional<int64_t> valueBlock = std::nullopt,
                      int64_t segments = 1, int64_t prepareBlocks = 0);
  ~RoleKernel();

  /// Why there is no kernel of roles; empty if there is.
  const std::string &whyNot() const { return reason; }
  mlir::LLVM::LLVMFuncOp kernel() const { return launches.back().function; }
  int64_t threads() const { return launches.back().threads; }
  int64_t sharedBytes() const { return launches.back().sharedBytes; }
  /// What makes the maps of segments, where there are some.
  mlir::LLVM::LLVMFuncOp maps() const { return launches.front().function; }
  /// How many launches a call is.
  size_t countLaunches() const { return launches.size(); }
  /// The arrays between the launches, as the last run left them.
  const std::vector<uint8_t> &workspaceOf() const { return workspace; }
  /// Arguments that it can read or write by tensor maps.
  const std::vector<runtime::TensorMapInfo> &tensorMaps() const {
    return launches.back().tensorMaps;
  }
  /// How many boxes the blocks of the last call read by them, and wrote.
  int64_t countBoxes() const { return boxes; }
  int64_t countStoredBoxes() const { return storedBoxes; }

  /// Random inputs, which `edit` may change, and what the recurrence makes of
  /// them.
  void prepare(const check::InputOptions &options,
               llvm::function_ref<void(check::HostArrays &)> edit = nullptr);
  /// Argument `name` is absent in the calls to come; it must be optional.
  void omit(const std::string &name);
  /// Runs the blocks of a call of the kernel as it is now: the first fault, or
  /// what differs from the recurrence by more than its I/O type may; else
  /// empty.
  std::string run(const InterpreterOptions &options, Placement place = {},
                  std::optional<int64_t> onlyBlock = std::nullopt);

  /// What the last run that ended wrote.
  const check::HostArray &resultOf(const std::string &name) const {
    return results.at(name);
  }
  const check::HostArray &inputOf(const std::string &name) const {
    return inputs.at(name);
  }
  /// How far an output of the last run is from the recurrence: the RMS ratio.
  double errorOf(const std::string &name) const { return errors.at(name); }

private:
  struct Memory;
  struct Launch {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    mlir::LLVM::LLVMFuncOp function;
    int64_t threads, sharedBytes, valueBlocks, itemsPerBlock;
    runtime::Items items;
    std::vector<runtime::TensorMapInfo> tensorMaps;
  };
  bool addLaunch(Unit &unit, bool onTensorCores);
  std::string runLaunch(const Launch &launch, const runtime::Call &call,
                        const InterpreterOptions &options, bool hasMaps,
                        const std::function<void(KernelInterpreter &)> &allow,
                        std::optional<int64_t> onlyBlock);
  std::string compareWithReferences(const check::HostArrays &got);

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp entry;
  std::vector<Launch> launches; ///< in order
  runtime::EntryInfo info;
  std::vector<runtime::ArgumentInfo> intermediates;
  int64_t boxes = 0, storedBoxes = 0;
  std::string reason;
  int64_t segments;
  std::vector<uint8_t> workspace;
  check::HostArrays inputs, blank, references, results;
  std::map<std::string, double> errors;
};

/// What the driver does with a tensor map, in the interpreter's form.
bool encodeForInterpreter(const runtime::TensorMap &map, void *to);

/// PRISM_ROLES_RUNS widens a test, PRISM_SEED moves it.
unsigned fromEnvironment(const char *name, unsigned otherwise);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_ROLES_ROLEKERNEL_H
