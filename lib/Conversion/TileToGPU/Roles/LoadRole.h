//===- LoadRole.h - Views to channels ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The role that only moves. A matrix goes by asynchronous copies of 16 bytes,
// with zeros for what lies outside; where an array is not aligned to 16 bytes,
// element by element, which is slow and is right. No thread waits for a copy:
// it arrives on the slot's barrier by itself.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H

#include "Ports.h"

namespace prism::tiletogpu {

class LoadRole {
public:
  /// `thread`: number within the role, i32.
  LoadRole(KernelBuilder &kernel, ScalarBuilder &b, Instructions &in,
           Ports &ports, tile::RoleOp role, mlir::Value thread)
      : kernel(kernel), b(b), in(in), ports(ports), role(role), thread(thread) {
  }
  void emit();

private:
  void emitSend(tile::SendOp send);
  void copyVector(tile::LoadOp load, mlir::Value to, bool byCopies);
  void copyPieces(const Slice &slice, mlir::Value to, bool aligned);
  void repeat(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  mlir::Value isAligned(const Slice &slice);
  int64_t threads() { return role.getWarps() * 32; }

  KernelBuilder &kernel;
  ScalarBuilder &b;
  Instructions &in;
  Ports &ports;
  tile::RoleOp role;
  mlir::Value thread;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H
