//===- LoadRole.h - Views to channels ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The role that only moves. Its warps form teams that take turns: of n, team i
// loads iterations i, i + n, i + 2 n, ... So several are under way, and
// a warp can wait for its own copies and make them visible to products. There
// are at most as many teams as a channel has slots: barriers tell only odd
// phases from even ones, so a team must not be so far ahead as to wait for a
// slot's next round but one. Where teams read, which give slots back in any
// order, each slot is one loading team's.
//
// A matrix goes by the fastest of three ways that serves it:
//
//  * the copy engine (TensorMaps.h), one box for each slab, issued by one
//    thread: where the call has a tensor map of the array, and the rows behind
//    the sequence's end, if any, are also behind the array's, where the engine
//    finds zeros. Rows of another packed sequence would not be.
//  * asynchronous copies of 16 bytes by rows, with zeros for what lies outside:
//    a lane has one address, from which it goes on by the rows' stride;
//  * element by element, where an array is not aligned to 16 bytes.
//
// Gates are summed here (tile.gate_sum), some chunks before they are needed, by
// one warp. They are copied to where the sums will lie, of each lane those that
// it will read, and added up when they have landed: registers are few.
//
// Which one is decided for a whole message, by the block as one. The barrier
// cannot tell: every warp of the team arrives once in any case, and the bytes
// that the engine still owes are counted besides. So a message that is nothing
// but boxes is published at once, and the others when their copies have landed.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H

#include "Elements.h"
#include "Ports.h"

namespace prism::tiletogpu {

class LoadRole {
public:
  /// `warp`: number within the role, i32.
  LoadRole(KernelBuilder &kernel, ScalarBuilder &b, Instructions &in,
           Ports &ports, const TensorMaps &maps, tile::RoleOp role,
           mlir::Value warp, mlir::Value lane, mlir::Value rank)
      : kernel(kernel), b(b), in(in), ports(ports), maps(maps), role(role),
        warp(warp), lane(lane), rank(rank) {}
  void emit();

private:
  static constexpr int64_t kLanes = 32;

  void emitLoop(mlir::scf::ForOp loop, int64_t teams);
  void emitIteration(mlir::scf::ForOp loop);
  struct Sums {
    tile::GateSumOp op;
    mlir::Value to;
    /// What gates are made of and was copied there, side by side.
    llvm::SmallVector<mlir::Operation *, 2> copied;
  };
  struct Message {
    mlir::Value channel;
    llvm::SmallVector<Sums> sums;
    bool isForProducts = false; ///< it holds a matrix
    mlir::Value isPublished;    ///< i1, null: it is not
    mlir::Value isSent;         ///< i1, null: it is, in every block
  };
  Message emitSend(tile::SendOp send);
  void publish(const Message &message, int64_t groupsLeft);
  struct Part {
    Slice slice;
    mlir::Type element; ///< of the tile
    mlir::Value to;
    std::optional<int64_t> map; ///< number of its tensor map, if it has one
  };
  mlir::Value canUseMaps(llvm::ArrayRef<Part> parts);
  void copyBoxes(llvm::ArrayRef<Part> parts, mlir::Value barrier, bool arrives);
  void copyVector(const Part &part);
  mlir::Value placeOf(const Sums &sums, mlir::Value index, int64_t place);
  Sums findSums(tile::GateSumOp op, mlir::Value to);
  void copyGates(const Sums &sums);
  void writeSums(const Sums &sums);
  /// Of gate number `index`: what was made of a tile so far.
  struct Gate {
    Gate(const Sums &sums, mlir::Value index) : sums(sums), index(index) {}
    const Sums &sums;
    mlir::Value index;
    llvm::DenseMap<mlir::Value, Element> made;
  };
  Element elementOf(mlir::Value tile, Gate &gate);
  Element makeElement(mlir::Operation *op, Gate &gate);
  Element loadedElement(tile::LoadOp load, const Gate &gate);
  void byFirstWarp(llvm::function_ref<void()> body);
  void copyMatrix(const Part &part);
  void copyWide(const Slice &slice, mlir::Value to);
  void copyWideRows(const Slice &slice, mlir::Value to);
  void copyWideElements(const Slice &slice, mlir::Value to);
  mlir::Value wideByte(const Slice &slice, mlir::Value row, mlir::Value column);
  void copySlabs(const Slice &slice, mlir::Value to);
  /// What a lane copies of several rows: 16 bytes of every so many rows.
  struct RowCopies {
    int64_t rows = 0;     ///< that a warp copies at once
    int64_t rowBytes = 0; ///< in shared memory
    mlir::Value row, column;
    mlir::Value isInside; ///< its columns are the tile's; null: all are
    /// Where the first copies go; after so many rows a piece has its place
    /// again.
    llvm::SmallVector<mlir::Value, 4> targets;
  };
  void copyRows(const Slice &slice, const RowCopies &copies);
  mlir::Value rowsLeft(const Slice &slice, mlir::Value row, int64_t most);
  void copyElements(const Slice &slice, mlir::Value to);
  mlir::scf::ForOp openLoop(mlir::Value first, int64_t count, int64_t step);
  void repeat(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  mlir::Value isAligned(const Slice &slice);

  KernelBuilder &kernel;
  ScalarBuilder &b;
  Instructions &in;
  Elements elements{b, in};
  Ports &ports;
  const TensorMaps &maps;
  tile::RoleOp role;
  mlir::Value warp, lane; ///< warp: of the role, then of the team
  mlir::Value rank;       ///< of the block in its cluster, or null
  int64_t warpsOfTeam = 1;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LOADROLE_H
