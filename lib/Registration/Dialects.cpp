//===- Dialects.cpp - The dialects that Prism's pipelines use -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Interfaces.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "Prism/Registration/Registration.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

void prism::registerPrismDialects(DialectRegistry &registry) {
  registry.insert<
      // What a model is written in.
      scan::ScanDialect, tile::TileDialect, arith::ArithDialect,
      func::FuncDialect, math::MathDialect, scf::SCFDialect,
      tensor::TensorDialect,
      // What the lowerings pass through.
      affine::AffineDialect, bufferization::BufferizationDialect,
      cf::ControlFlowDialect, gpu::GPUDialect, index::IndexDialect,
      linalg::LinalgDialect, memref::MemRefDialect, ub::UBDialect,
      vector::VectorDialect,
      // What is translated to LLVM IR.
      DLTIDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerLoweringInterfaces(registry);
}
