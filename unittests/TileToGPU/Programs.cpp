//===- Programs.cpp - Tile programs for the GPU tests ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;

void prism::test::prepare(MLIRContext &context) {
  context.disableMultithreading();
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect,
                  scf::SCFDialect, tensor::TensorDialect, tile::TileDialect,
                  ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

static const char *header = R"(
tile.program $REV @delta(
    %q: !tile.view<?x$Kx$E> as <name = "q", axes = "bthk", heads = $HK, role = "input", optional = false>,
    %k: !tile.view<?x$Kx$E> as <name = "k", axes = "bthk", heads = $HK, role = "input", optional = false>,
    %v: !tile.view<?x$Vx$E> as <name = "v", axes = "bthv", heads = $HV, role = "input", optional = false>,
    %g: !tile.view<?xf32> as <name = "g", axes = "bth", heads = $HV, role = "input", optional = false>,
    %b: !tile.view<?xf32> as <name = "beta", axes = "bth", heads = $HV, role = "input", optional = false>,
    %s0: !tile.view<$Kx$Vxf32> as <name = "initial_state", axes = "nhkv", heads = $HV, role = "initial_state", optional = true>,
    %off: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %o: !tile.view<?x$Vx$E> as <name = "o", axes = "bthv", heads = $HV, role = "output", optional = false>,
    %sT: !tile.view<$Kx$Vxf32> as <name = "final_state", axes = "nhkv", heads = $HV, role = "final_state", optional = true>)
    heads $HV values $V block $B chunk $C {
  %c0 = arith.constant 0 : index
  %cC = arith.constant $C : index
  %zero = arith.constant dense<0.0> : tensor<$Cx$Bxf32>
  %zeroC = arith.constant dense<0.0> : tensor<$Cx$Cxf32>
  %floor = arith.constant dense<-1024.0> : tensor<$Cxf64>
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<$Kx$Vxf32> -> tensor<$Kx$Bxf32>
  %SN = scf.for %t = %c0 to %T step %cC iter_args(%S = %S0) -> (tensor<$Kx$Bxf32>) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x$Kx$E> -> tensor<$Cx$Kxf32>
    %kc = tile.load %k[%t, %c0] : !tile.view<?x$Kx$E> -> tensor<$Cx$Kxf32>
    %vc = tile.load %v[%t, %vb] : !tile.view<?x$Vx$E> -> tensor<$Cx$Bxf32>
    %gc = tile.load %g[%t] : !tile.view<?xf32> -> tensor<$Cxf32>
    %bc = tile.load %b[%t] : !tile.view<?xf32> -> tensor<$Cxf32>
    %gw = arith.extf %gc : tensor<$Cxf32> to tensor<$Cxf64>
    %gf = arith.maximumf %gw, %floor : tensor<$Cxf64>
    %G = tile.gate_sum %gf : tensor<$Cxf64>
    %Gl = arith.truncf %G : tensor<$Cxf64> to tensor<$Cxf32>
    %gamma = math.exp %Gl : tensor<$Cxf32>
    %last = tile.splat_last %G : tensor<$Cxf64> -> tensor<$Cxf64>
    %rest = arith.subf %last, %G : tensor<$Cxf64>
    %restl = arith.truncf %rest : tensor<$Cxf64> to tensor<$Cxf32>
    %lambda = math.exp %restl : tensor<$Cxf32>
    %KS = tile.dot %kc, %S, %zero : tensor<$Cx$Kxf32>, tensor<$Kx$Bxf32> -> tensor<$Cx$Bxf32>
    %KSg = tile.scale_rows %KS by %gamma : tensor<$Cx$Bxf32>, tensor<$Cxf32>
    %res = arith.subf %vc, %KSg : tensor<$Cx$Bxf32>
    %R = tile.scale_rows %res by %bc : tensor<$Cx$Bxf32>, tensor<$Cxf32>
)";

static const char *solve = R"(
    %KK = tile.dot %kc, %kc transposed, %zeroC : tensor<$Cx$Kxf32>, tensor<$Cx$Kxf32> -> tensor<$Cx$Cxf32>
    %D = tile.decay_matrix %G at [1], %G at [1] : tensor<$Cxf64>, tensor<$Cxf64> -> tensor<$Cx$Cxf32>
    %KKD = arith.mulf %KK, %D : tensor<$Cx$Cxf32>
    %A = tile.scale_rows %KKD by %bc : tensor<$Cx$Cxf32>, tensor<$Cxf32>
    %X = tile.solve %A, %R : tensor<$Cx$Cxf32>, tensor<$Cx$Bxf32>
)";

static const char *footer = R"(
    %QS = tile.dot %qc, %S, %zero : tensor<$Cx$Kxf32>, tensor<$Kx$Bxf32> -> tensor<$Cx$Bxf32>
    %QSg = tile.scale_rows %QS by %gamma : tensor<$Cx$Bxf32>, tensor<$Cxf32>
    %QK = tile.dot %qc, %kc transposed, %zeroC : tensor<$Cx$Kxf32>, tensor<$Cx$Kxf32> -> tensor<$Cx$Cxf32>
    %E = tile.decay_matrix %G at [3], %G at [2] : tensor<$Cxf64>, tensor<$Cxf64> -> tensor<$Cx$Cxf32>
    %P = arith.mulf %QK, %E : tensor<$Cx$Cxf32>
    %out = tile.dot %P, $X, %QSg : tensor<$Cx$Cxf32>, tensor<$Cx$Bxf32> -> tensor<$Cx$Bxf32>
    tile.store %out, %o[%t, %vb] : tensor<$Cx$Bxf32>, !tile.view<?x$Vx$E>
    %lastK = tile.splat_last %G : tensor<$Cxf64> -> tensor<$Kxf64>
    %lastKl = arith.truncf %lastK : tensor<$Kxf64> to tensor<$Kxf32>
    %gammaC = math.exp %lastKl : tensor<$Kxf32>
    %Sd = tile.scale_rows %S by %gammaC : tensor<$Kx$Bxf32>, tensor<$Kxf32>
    %kl = tile.scale_rows %kc by %lambda : tensor<$Cx$Kxf32>, tensor<$Cxf32>
    %S1 = tile.dot %kl transposed, $X, %Sd : tensor<$Cx$Kxf32>, tensor<$Cx$Bxf32> -> tensor<$Kx$Bxf32>
    scf.yield %S1 : tensor<$Kx$Bxf32>
  }
  tile.store %SN, %sT[%c0, %vb] : tensor<$Kx$Bxf32>, !tile.view<$Kx$Vxf32>
  tile.return
}
)";

std::string prism::test::deltaProgram(const Shape &shape) {
  std::string text = header;
  if (shape.chunk > 1)
    text += solve;
  text += footer;
  auto replace = [&](StringRef key, const std::string &value) {
    for (size_t at = 0; (at = text.find(key.str(), at)) != std::string::npos;
         at += value.size())
      text.replace(at, key.size(), value);
  };
  // Longer keys first.
  replace("$REV", shape.reverse ? "reverse" : "");
  replace("$HK", std::to_string(shape.keyHeads));
  replace("$HV", std::to_string(shape.valueHeads));
  replace("$X", shape.chunk > 1 ? "%X" : "%R");
  replace("$K", std::to_string(shape.keys));
  replace("$V", std::to_string(shape.values));
  replace("$B", std::to_string(shape.block));
  replace("$C", std::to_string(shape.chunk));
  replace("$E", shape.type);
  return text;
}
