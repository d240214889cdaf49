//===- Decoder.h - From a kernel to a program of the machine ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every scalar gets a register of its own, a struct or vector one for each
// element; vectors of elements narrower than 32 bits are packed, as on the GPU.
// So insertvalue, extractvalue and most bitcasts are but another name for the
// same registers and cost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_DECODER_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_DECODER_H

#include "Machine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace prism::test {

using Registers = llvm::SmallVector<uint32_t, 4>;

/// Bits of a scalar type; of index and pointers 64.
unsigned widthOf(mlir::Type type);
/// Elements of a vector, 1 for a scalar.
unsigned countElements(mlir::Type type);
mlir::Type elementOf(mlir::Type type);
/// Bytes of a type in memory.
uint64_t bytesOf(mlir::Type type);

class Decoder {
public:
  explicit Decoder(Program &program) : program(program) {}

  void decode(mlir::LLVM::LLVMFuncOp kernel);

  const Registers &of(mlir::Value value) { return values[value]; }
  uint32_t scalar(mlir::Value value) { return values[value].front(); }
  void bind(mlir::Value value, Registers registers) {
    values[value] = std::move(registers);
  }
  uint32_t fresh() { return program.registers++; }
  /// New registers for a value of this type.
  Registers fresh(mlir::Type type);
  uint32_t constant(uint64_t bits);
  uint32_t undefined() const { return program.undefined; }
  /// As many of one register as the type takes.
  Registers repeat(uint32_t reg, mlir::Type type);

  /// An instruction that always goes on to the next.
  void emit(Registers reads, Registers writes,
            std::function<void(Machine &, Warp &)> run);
  void emitStep(Registers reads, Registers writes,
                std::function<Step(Machine &, Warp &)> run);
  /// Moves values, all at once; what is known of them goes along.
  void emitMoves(llvm::ArrayRef<uint32_t> to, llvm::ArrayRef<uint32_t> from);

  /// A register with one element of a vector (or the scalar itself).
  uint32_t element(mlir::Value value, unsigned index);
  /// The registers of a value of `type` made of these elements.
  Registers pack(mlir::Type type, llvm::ArrayRef<uint32_t> elements);

private:
  void decodeBlock(mlir::Block &block);
  void decodeOp(mlir::Operation *op);
  bool decodeControl(mlir::Operation *op);
  void decodeIf(mlir::Operation *op);
  void decodeFor(mlir::Operation *op);
  void decodeWhile(mlir::Operation *op);
  void decodeSwitch(mlir::Operation *op);
  bool decodeCall(mlir::Operation *op);
  bool decodeValue(mlir::Operation *op);
  bool decodeConstant(mlir::Operation *op);
  uint64_t addressOf(llvm::StringRef symbol);
  void placeGlobals(mlir::Operation *module);
  Registers flatten(mlir::ValueRange range);
  void bindFresh(mlir::ValueRange range);
  void emitReset(Registers registers);
  size_t label() const { return program.code.size(); }

  Program &program;
  llvm::DenseMap<mlir::Value, Registers> values;
  std::map<uint64_t, uint32_t> constants;
  llvm::DenseMap<mlir::StringRef, uint64_t> globals;
  mlir::Operation *current = nullptr;
  unsigned depth = 0;
};

// Each knows some ops and returns false for the others.
bool decodeArithmetic(Decoder &decoder, mlir::Operation *op);
bool decodeConversion(Decoder &decoder, mlir::Operation *op);
bool decodeMemory(Decoder &decoder, mlir::Operation *op);
bool decodeSynchronisation(Decoder &decoder, mlir::Operation *op);
bool decodeCopy(Decoder &decoder, mlir::Operation *op);
bool decodeCluster(Decoder &decoder, mlir::Operation *op);
bool decodeBox(Decoder &decoder, mlir::Operation *op);
bool decodeWarp(Decoder &decoder, mlir::Operation *op);
bool decodeMatrix(Decoder &decoder, mlir::Operation *op);
bool decodeWgmma(Decoder &decoder, mlir::Operation *op);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_DECODER_H
