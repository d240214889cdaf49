//===- LoadRole.h - Views to channels ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The role that only moves. Its warps form teams that take turns: of two, one
// loads the even iterations and one the odd ones. So several are under way, and
// a warp can wait for its own copies and make them visible to products. There
// are at most as many teams as a channel has slots: barriers tell only odd
// phases from even ones, so a team must not be so far ahead as to wait for a
// slot's next round but one.
//
// A matrix goes by asynchronous copies of 16 bytes, with zeros for what lies
// outside; where an array is not aligned to 16 bytes, element by element, which
// is slow and is right.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H

#include "Ports.h"

namespace prism::tiletogpu {

class LoadRole {
public:
  /// `warp`: number within the role, i32.
  LoadRole(KernelBuilder &kernel, ScalarBuilder &b, Instructions &in,
           Ports &ports, tile::RoleOp role, mlir::Value warp, mlir::Value lane)
      : kernel(kernel), b(b), in(in), ports(ports), role(role), warp(warp),
        lane(lane) {}
  void emit();

private:
  void emitIteration(mlir::scf::ForOp loop);
  void emitSend(tile::SendOp send);
  void copyVector(tile::LoadOp load, mlir::Value to);
  void copyMatrix(tile::LoadOp load, mlir::Value to);
  void copySlabs(const Slice &slice, mlir::Value to);
  mlir::Value rowsLeft(const Slice &slice, mlir::Value row, int64_t most);
  void copyElements(const Slice &slice, mlir::Value to);
  mlir::scf::ForOp openLoop(mlir::Value first, int64_t count, int64_t step);
  void repeat(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  mlir::Value isAligned(const Slice &slice);

  KernelBuilder &kernel;
  ScalarBuilder &b;
  Instructions &in;
  Ports &ports;
  tile::RoleOp role;
  mlir::Value warp, lane; ///< warp: of the role, then of the team
  int64_t warpsOfTeam = 1;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H
