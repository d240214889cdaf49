//===- GpuUnits.h - The units of a family on a GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_COMPILER_GPUUNITS_H
#define PRISM_UNITTESTS_COMPILER_GPUUNITS_H

#include "TestEntry.h"

namespace prism::test {

/// The units of a model of one entry.
struct GpuUnits {
  Context context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Unit> units;

  explicit GpuUnits(const std::string &spec,
                    llvm::StringRef chip = "cuda:sm_90a") {
    module = importText(spec, context.mlir);
    std::string error;
    auto target = targetinfo::parseTarget(chip, error);
    auto found = buildUnits(*module->getOps<mlir::func::FuncOp>().begin(),
                            *target, CompileOptions());
    if (succeeded(found))
      units = std::move(*found);
  }

  /// 128 keys and values in bf16.
  GpuUnits(const std::string &family, int64_t heads,
           llvm::StringRef chip = "cuda:sm_90a")
      : GpuUnits(R"({"prism_spec": 1, "name": "g", "family": ")" + family +
                     R"(", "dims": {"B": null, "T": null, "H": )" +
                     std::to_string(heads) +
                     R"(, "K": 128, "V": 128},
                         "dtype": {"io": "bf16"}, "entries": ["forward"]})",
                 chip) {}

  /// Those of the chunk form, which come first.
  llvm::ArrayRef<Unit> chunked() const {
    return llvm::ArrayRef(units).take_while([](const Unit &unit) {
      return unit.plan.getSchedule() == scan::Schedule::chunk;
    });
  }
  const Unit *find(int64_t valueBlock, int64_t prepareBlocks,
                   bool isSplit = false) const {
    for (const Unit &unit : chunked())
      if (unit.isSplit() == isSplit &&
          (isSplit || (unit.plan.getValueBlock() == valueBlock &&
                       unit.prepareBlocks() == prepareBlocks)))
        return &unit;
    return nullptr;
  }
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_COMPILER_GPUUNITS_H
