//===- Kernels.cpp - Hand-written kernels for the interpreter -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace prism::test;

std::string prism::test::replace(std::string text, const std::string &key,
                                 const std::string &value) {
  for (size_t at = 0; (at = text.find(key, at)) != std::string::npos;
       at += value.size())
    text.replace(at, key.size(), value);
  return text;
}

static std::string structOf(unsigned count) {
  std::string text = "!llvm.struct<(f32";
  for (unsigned i = 1; i < count; ++i)
    text += ", f32";
  return text + ")>";
}

std::string prism::test::wrap(const std::string &body) {
  std::string text;
  for (unsigned count : {16, 32, 64})
    text += "!acc" + std::to_string(count) + " = " + structOf(count) + "\n";
  text += R"(
llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %all = arith.constant -1 : i32
  %true = arith.constant true
)";
  for (int value : {0,  1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  11,  12,
                    13, 14, 15, 16, 31, 32, 64, 127, 128, 256, 512, 1024})
    text += "  %c" + std::to_string(value) + " = arith.constant " +
            std::to_string(value) + " : i32\n";
  text += R"(
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
)" + body +
          "\n  llvm.return\n}\n";
  return text;
}

Kernel::Kernel(const std::string &text, unsigned threads, unsigned sharedBytes)
    : context(std::make_unique<MLIRContext>()), threads(threads),
      sharedBytes(sharedBytes) {
  context->disableMultithreading();
  context->loadDialect<arith::ArithDialect, LLVM::LLVMDialect,
                       math::MathDialect, NVVM::NVVMDialect, scf::SCFDialect>();
  module = parseSourceString<ModuleOp>(text, context.get());
}

Kernel::~Kernel() = default;

std::string Kernel::run(ArrayRef<uint8_t> in, MutableArrayRef<uint8_t> out,
                        InterpreterOptions options) {
  return run({reinterpret_cast<uint64_t>(in.data()),
              reinterpret_cast<uint64_t>(out.data())},
             in, out, options);
}

std::string Kernel::run(ArrayRef<uint64_t> words, ArrayRef<uint8_t> in,
                        ArrayRef<uint8_t> out, InterpreterOptions options) {
  if (!module)
    return "the text does not parse";
  KernelInterpreter interpreter(
      module->lookupSymbol<LLVM::LLVMFuncOp>("kernel"), threads, sharedBytes,
      options);
  interpreter.allow(in.data(), in.size());
  interpreter.allow(out.data(), out.size());
  interpreter.runBlock(0, words);
  return interpreter.error();
}

std::string Kernel::runEveryWay(ArrayRef<uint8_t> in,
                                MutableArrayRef<uint8_t> out) {
  using Options = InterpreterOptions;
  for (auto copies : {Options::Copies::Early, Options::Copies::Late})
    for (auto order : {Options::Order::Descending, Options::Order::Random,
                       Options::Order::Ascending}) {
      Options options;
      options.copies = copies;
      options.order = order;
      options.seed = 5;
      std::string fault = run(in, out, options);
      if (!fault.empty())
        return fault;
    }
  return "";
}

uint16_t prism::test::toHalf(float value, bool isBF16) {
  llvm::APFloat number(value);
  bool lossy;
  number.convert(isBF16 ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf(),
                 llvm::APFloat::rmNearestTiesToEven, &lossy);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}
