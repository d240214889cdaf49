//===- SeparateBuffers.cpp - Alias scopes of the workspace's buffers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepPrograms.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace prism;

/// The field of a descriptor, looked for among what was put into it.
static Value fieldOf(LLVM::ExtractValueOp extract) {
  Value container = extract.getContainer();
  while (auto insert = container.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == extract.getPosition())
      return insert.getValue();
    container = insert.getContainer();
  }
  return {};
}

/// Where in the workspace the buffer of an address begins, if it is in one.
static std::optional<int32_t> bufferOf(Value address, Value workspace) {
  int32_t offset = 0;
  while (address && address != workspace) {
    if (auto gep = address.getDefiningOp<LLVM::GEPOp>()) {
      // Only buffers begin at constant bytes of the workspace.
      if (gep.getBase() == workspace && gep.getDynamicIndices().empty())
        offset = gep.getRawConstantIndices().front();
      address = gep.getBase();
    } else if (auto extract = address.getDefiningOp<LLVM::ExtractValueOp>()) {
      address = fieldOf(extract);
    } else {
      address = {};
    }
  }
  return address ? std::optional<int32_t>(offset) : std::nullopt;
}

void tiletocpu::separateBuffers(LLVM::LLVMFuncOp function) {
  Value workspace = function.getArgument(1);
  llvm::MapVector<int32_t, SmallVector<Operation *>> accesses;
  function.walk([&](Operation *op) {
    Value address;
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      address = load.getAddr();
    else if (auto store = dyn_cast<LLVM::StoreOp>(op))
      address = store.getAddr();
    if (!address)
      return;
    if (std::optional<int32_t> buffer = bufferOf(address, workspace))
      accesses[*buffer].push_back(op);
  });
  MLIRContext *context = function.getContext();
  auto domain = LLVM::AliasScopeDomainAttr::get(
      context, StringAttr::get(context, function.getName()), StringAttr());
  SmallVector<Attribute> scopes;
  for (auto &[offset, ops] : accesses)
    scopes.push_back(LLVM::AliasScopeAttr::get(
        context,
        StringAttr::get(context, function.getName() + "." + Twine(offset)),
        domain, StringAttr()));
  for (auto [i, entry] : llvm::enumerate(accesses)) {
    SmallVector<Attribute> others(scopes);
    others.erase(others.begin() + i);
    for (Operation *op : entry.second) {
      auto access = cast<LLVM::AliasAnalysisOpInterface>(op);
      access.setAliasScopes(ArrayAttr::get(context, scopes[i]));
      access.setNoAliasScopes(ArrayAttr::get(context, others));
    }
  }
}
