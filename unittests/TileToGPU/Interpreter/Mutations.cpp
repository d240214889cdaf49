//===- Mutations.cpp - Kernels with one synchronisation less --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Mutations.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

std::vector<Operation *> prism::test::synchronisationsOf(Operation *root) {
  std::vector<Operation *> all;
  root->walk([&](Operation *op) {
    bool isOne =
        isa<NVVM::Barrier0Op, NVVM::BarrierOp, NVVM::BarrierArriveOp,
            NVVM::SyncWarpOp, NVVM::FenceProxyOp, NVVM::MBarrierArriveOp,
            NVVM::MBarrierExpectTxOp, NVVM::MBarrierArriveExpectTxOp,
            NVVM::MBarrierTryWaitParityOp, NVVM::CpAsyncCommitGroupOp,
            NVVM::CpAsyncWaitGroupOp, NVVM::CpAsyncMBarrierArriveOp,
            NVVM::WgmmaFenceAlignedOp, NVVM::WgmmaGroupSyncAlignedOp,
            NVVM::WgmmaWaitGroupSyncOp, NVVM::ClusterWaitOp,
            NVVM::CpAsyncBulkCommitGroupOp, NVVM::CpAsyncBulkWaitGroupOp>(op);
    // Arrivals at, and copies to, other blocks.
    isOne |= isa<LLVM::InlineAsmOp>(op) && op->getNumResults() == 0;
    if (isOne && op->use_empty())
      all.push_back(op);
  });
  return all;
}
