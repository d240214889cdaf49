//===- TileToGPU.h - Tile programs to GPU kernels ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The plain SIMT lowering of a tile program: right for every shape, not fast.
// It yields one llvm.func kernel whose body is arith, math and scf on scalars
// with llvm loads and stores; Target/GPU makes PTX of it.
//
// Three strategies, chosen by the program alone:
//  * shared: one block per work item, tiles in shared memory. Any program.
//  * registers: chunk 1 only. A thread owns one value column and every
//    lanes-th key row of it; sums over keys are warp shuffles. No barriers.
//  * roles: a program that tile-specialize-roles has split. Warpgroup products
//    on tensor cores, asynchronous copies.
//
// docs/GPU.md describes all of them.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_CONVERSION_TILETOGPU_TILETOGPU_H
#define PRISM_CONVERSION_TILETOGPU_TILETOGPU_H

#include "Prism/TargetInfo/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace prism::tile {
class ProgramOp;
} // namespace prism::tile

namespace prism::tiletogpu {

enum class Strategy { Automatic, Shared, Registers, Roles };

llvm::StringRef stringifyStrategy(Strategy strategy);

struct GPUOptions {
  /// What the kernel is made for; its shared memory is the limit.
  targetinfo::GPUInfo target;
  /// Name of the kernel; empty: the program's own.
  std::string symbol;
  /// Automatic takes registers where they apply, else shared.
  Strategy strategy = Strategy::Automatic;
  /// In registers, for calls of one step of a state of 16 bits: bulk copies
  /// bring it to shared memory and back. Other calls are right, and slow.
  bool copiesState = false;
  /// Threads of a block in the shared strategy; a multiple of the warp size.
  int64_t threads = 256;
};

/// A kernel reads or writes boxes of an argument by a tensor map, if the call
/// has one.
struct TensorMapBox {
  std::string argument;
  int64_t rows = 0, columns = 0, ranks = 1;
};

struct GPUKernelInfo {
  std::string symbol;
  int64_t threads = 0;
  int64_t sharedBytes = 0;
  int64_t itemsPerBlock = 1;
  /// Blocks of values, and those that only prepare for them.
  int64_t blocksPerHead = 1;
  Strategy strategy = Strategy::Shared;
  /// Behind the words, in this order.
  std::vector<TensorMapBox> tensorMaps;
  /// Why the register strategy was not taken; empty when it was or was not
  /// asked for.
  std::string declined;
};

/// Bytes of shared memory that the shared strategy needs for a program; fails
/// with a diagnostic on an op that it has no code for.
llvm::FailureOr<int64_t> estimateSharedBytes(tile::ProgramOp program);

/// Whether there is code for a program of roles, which the chip can launch;
/// else why not. Exact: the conversion takes what this takes. The dialects of
/// kernels must have been loaded.
bool canEmitRoles(tile::ProgramOp program, const targetinfo::GPUInfo &gpu,
                  std::string &whyNot);
/// Whether there is a kernel that copies a program's state; else why not.
/// Exact, as above.
bool canCopyState(tile::ProgramOp program, const targetinfo::GPUInfo &gpu,
                  std::string &whyNot);
/// The type to which a program of roles rounds the operands of its products.
mlir::Type operandTypeOf(tile::ProgramOp program);
/// Shared memory that a kernel of roles takes beyond its channels, at most, for
/// so many value columns and teams of the preparation, which multiplies rows of
/// `decayedKeys` keys that decay each for itself (0: of none). `isLeast`: if
/// all that may lies in messages instead; whether it does is canEmitRoles' to
/// say.
int64_t rolesScratchBytes(int64_t valueBlock, int64_t prepareTeams,
                          int64_t decayedKeys, bool isLeast);

/// Replaces `program` by a kernel of the same module.
llvm::FailureOr<GPUKernelInfo> convertProgramToGPU(tile::ProgramOp program,
                                                   const GPUOptions &options);

/// The same for a module that holds exactly one program.
llvm::FailureOr<GPUKernelInfo> convertTileToGPU(mlir::ModuleOp module,
                                                const GPUOptions &options);

/// Registers `convert-tile-to-gpu`.
void registerTileToGPUPasses();

} // namespace prism::tiletogpu

#endif // PRISM_CONVERSION_TILETOGPU_TILETOGPU_H
