//===- ComputeRole.h - Roles that compute -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits the role `prepare` or `chain`.
//
// MATRICES. A result is an accumulator in registers (Layouts.h). In the chain
// it is the transposed matrix: S' (values x keys), X' (values x rows). So the
// state and everything computed from it has its rows, the value columns, spread
// over warpgroups that never meet, and is, rounded, the A operand (in
// registers) of the next product, whose other operand, which does not depend on
// the state, lies in shared memory:
//
//     K S      (S' K')'      S' in registers, K in shared memory
//     T X      (X' T')'      X' in registers, T in shared memory
//     K' E + S (E' K + S')'
//
// In the preparation matrices are not transposed and both operands lie in
// shared memory.
//
// PRODUCTS are asynchronous. Each is a group of its own; the first op that
// needs its registers waits for it and for all before it, and only then. So the
// order of the ops in the role decides what overlaps with what.
//
// VECTORS. In the preparation each thread holds an element (spreadIndex); what
// a matrix op reads goes through shared memory first. In the chain vectors come
// from channels, and are read where they are used.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_COMPUTEROLE_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_COMPUTEROLE_H

#include "Elements.h"
#include "Inverse.h"
#include "Ports.h"
#include <functional>

namespace prism::tiletogpu {

struct Matrix {
  enum class Kind { Splat, Decay, Lazy, Shared, Accumulator, Packed };
  Kind kind = Kind::Splat;
  mlir::Value scalar;            ///< Splat
  tile::DecayMatrixOp decay;     ///< Decay
  mlir::Operation *op = nullptr; ///< Lazy
  mlir::Value memory;            ///< Shared
  Swizzled layout = {0, 0};
  int64_t apart = 0;   ///< Shared: bytes from slab to slab; 0: the layout's
  mlir::Value channel; ///< Shared: whose slot it lies in
  int64_t slabBytes() const { return apart ? apart : layout.slabBytes(); }
  Accumulator shape = {0};
  /// Accumulator: f32 each. Packed: i32, two neighbours of a row each.
  llvm::SmallVector<mlir::Value> registers;
  /// Of f16, what it was divided by (Powers.cpp). Packed: of each of a lane's
  /// two rows (chain), or of the warp's rows of each block (preparation).
  llvm::SmallVector<mlir::Value, 2> powers;
  mlir::Value powersInMemory; ///< Shared: of each 16 rows
  /// A product that may still run: an llvm.struct for each 64 rows.
  llvm::SmallVector<mlir::Value> running;
  int64_t group = 0;
  /// Running: what its rows and each 16 columns are to be multiplied by.
  llvm::SmallVector<mlir::Value, 2> rowPowers;
  llvm::SmallVector<mlir::Value, 4> columnPowers;
};

using ElementPair = std::array<Element, 2>;

/// Of a vector of sums what a lane needs for decays around its warp's diagonal
/// block: before its 16 rows, of the lane's two rows and four columns there.
struct OwnSums {
  Element border;
  ElementPair rows, columns[2];
};

struct Vector {
  enum class Kind { Splat, Shared, Spread, Lazy };
  Kind kind = Kind::Splat;
  Element mine;                  ///< Splat and Spread: this thread's element
  mlir::Value memory;            ///< Shared: element 0
  mlir::Value channel;           ///< Shared: whose slot it lies in
  mlir::Operation *op = nullptr; ///< Lazy
  mlir::Type element;
  int64_t length = 0;
  Element last; ///< of a sum: its last element
  /// Of a sum: in every warp, a lane's neighbouring elements (spreadIndex).
  llvm::SmallVector<Element> neighbours;
  std::optional<OwnSums> own;      ///< of a received sum
  mlir::Value copy, copyForPowers; ///< Spread: in shared memory, or null
  mlir::Value held; ///< Spread: where its thread keeps it, or null
};

/// A slab of a tile: 16 columns, of a warp's 16 rows 8 registers of a thread.
inline constexpr int64_t kColumnsOfSlab = 16, kRegistersOfSlab = 8;

/// Registers of a thread with which a state of 64 x 128, its rounded copy, two
/// products and what is made of them fit.
inline constexpr int64_t kPlentyOfRegisters = 232;

class ComputeRole {
public:
  ComputeRole(KernelBuilder &kernel, ScalarBuilder &b, Instructions &in,
              Ports &ports, RolesPlan &plan, const RolePlan &role,
              mlir::Value memory, mlir::Value warp, mlir::Value lane,
              mlir::Value rank);
  void emit();

private:
  // ComputeRole.cpp: the frame.
  void emitLoop(mlir::scf::ForOp loop);
  void emitBody(mlir::scf::ForOp loop);
  void passOthersTurns(mlir::scf::ForOp loop, mlir::Value n);
  /// Blocks of values take turns in it.
  bool isShared() const {
    return tile::RoleOp(role.role).getCluster() > 1 && !isApart();
  }
  bool isApart() const { return tile::RoleOp(role.role).isApart(); }
  llvm::SmallVector<mlir::Value> structsOf(mlir::ValueRange tiles);
  void defineFrom(mlir::ValueRange structs, mlir::ValueRange tiles);
  void emitOp(mlir::Operation *op);
  void emitSend(tile::SendOp send);
  void emitReceive(tile::ReceiveOp receive);
  void emitRelease(tile::ReleaseOp release);
  void roleBarrier();
  void claimScratch();
  mlir::Value scratch(int64_t bytes, int64_t alignment);

  // Products.cpp
  void emitDot(tile::DotOp dot);
  mlir::Value multiplyChain(tile::DotOp dot, const Matrix &left,
                            mlir::Value base, int64_t first,
                            llvm::ArrayRef<mlir::Value> registers,
                            mlir::Value sum);
  mlir::Value baseOfChain(tile::DotOp dot, const Matrix &left);
  void multiplyByPieces(tile::DotOp dot, const Matrix &left, Matrix &product);
  void issued(tile::DotOp dot, Matrix &product,
              llvm::ArrayRef<const Matrix *> operands);
  void settle(Matrix &matrix);
  void settleAll();
  llvm::SmallVector<mlir::Value> startOf(mlir::Value acc,
                                         const Matrix &product);
  mlir::Value toStruct(const Matrix &matrix, int64_t block);

  // Matrices.cpp
  Matrix &matrixOf(mlir::Value tile);
  Accumulator shapeOf(mlir::Value tile) const;
  void emitMatrixOp(mlir::Operation *op);
  bool isStart(mlir::Operation *op);
  void emitRounding(mlir::arith::TruncFOp op);
  /// Whether it is wide, and only multiplied.
  bool isRoundedByPieces(mlir::arith::TruncFOp op) const;
  bool emitRoundings(mlir::Operation *first);
  void packRegisters(mlir::Value tile, Matrix &packed);
  void define(mlir::Value tile, llvm::SmallVector<mlir::Value> registers);

  // Powers.cpp: ranges of f16.
  bool hasPowers() const { return plan.operands.isF16(); }
  mlir::Value powerFor(mlir::Value largest);
  mlir::Value reciprocal(mlir::Value power);
  mlir::Value largestOf(llvm::ArrayRef<mlir::Value> registers,
                        llvm::ArrayRef<int64_t> lanes);
  void packDivided(llvm::ArrayRef<mlir::Value> registers, Matrix &packed);
  int64_t powerNumberOf(const Matrix &packed, int64_t r) const;
  void writePowers(mlir::ValueRange powers, mlir::Value to);
  void takePowers(const Matrix &left, const Matrix &right, Matrix &product);
  mlir::Value powerOf(const Matrix &product, int64_t r,
                      llvm::SmallVectorImpl<mlir::Value> &made);
  llvm::SmallVector<mlir::Value> scaled(const Matrix &product,
                                        llvm::ArrayRef<mlir::Value> registers,
                                        bool divides);

  // Decays.cpp
  void emitDecay(tile::DecayMatrixOp op);
  mlir::Value decayAt(tile::DecayMatrixOp op, int64_t r);
  void makeDecay(tile::DecayMatrixOp op);
  bool isOfOneVector(tile::DecayMatrixOp op) const;
  bool isFactored(tile::DecayMatrixOp op) const;
  mlir::Value decayBetween(Element x, Element y);
  bool isMask(tile::DecayMatrixOp op) const;
  bool emitScaleOfDecay(mlir::Operation *op);
  Element readRowSum(mlir::Value ofWarp, int64_t i);
  ElementPair readColumnSums(mlir::Value ofWarp, int64_t j);
  OwnSums readOwnSums(mlir::Value ofWarp);
  void writeOwnSums(const Vector &vector, mlir::Value ofWarp);
  void emitFactors(tile::DecayMatrixOp op);
  void emitMask(tile::DecayMatrixOp op);
  /// Of a decay around this warp's diagonal block.
  struct DecayFactors {
    mlir::Value rows[2];                        ///< from the border to these
    mlir::Value columns;                        ///< in scratch
    mlir::Value columnPairs[kRowsOfGroup / 8];  ///< loaded at need
    llvm::SmallVector<mlir::Value, 8> diagonal; ///< of the accumulator
  };
  void makeDiagonal(
      tile::DecayMatrixOp op, DecayFactors &made,
      llvm::function_ref<mlir::Value(int64_t, int64_t, int64_t)> factorAt);
  mlir::Value decayOfFactors(DecayFactors &factors, int64_t r);
  bool decayVanishes(tile::DecayMatrixOp op, int64_t r) const;
  mlir::Value decayOfPairs(tile::DecayMatrixOp op, int64_t r);
  // KeyDecays.cpp: decays that differ from key to key.
  /// A slab's registers: 16 rows of a warp, 16 columns.
  using SlabRegisters = llvm::SmallVector<mlir::Value, 8>;
  llvm::SmallVector<mlir::Value> forEachSlab(
      int64_t columns, mlir::ValueRange start,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>
          body);
  SlabRegisters slabOf(mlir::Value tile);
  bool isMadeBySlabs(mlir::Value tile);
  /// A tile that goes to shared memory slab by slab, and what of it is written
  /// for a register.
  struct SlabResult {
    mlir::Value tile;
    Matrix to;
    std::function<mlir::Value(int64_t)> at;
  };
  bool isWithinReach(mlir::Value tile);
  void makeSlabs(mlir::Operation *first);
  void writeSlabs(llvm::ArrayRef<SlabResult> results);
  void writeEach(llvm::ArrayRef<SlabResult> results);
  mlir::Value productAt(tile::DecayProductOp op, int64_t r);
  Element lastOfProduct(tile::DecayProductOp op);

  // RowSums.cpp
  /// Of a lane's two rows.
  using RowPair = std::array<mlir::Value, 2>;
  void emitRowSums(tile::SumColumnsOp first);
  void emitRowSum(tile::SumColumnsOp op);
  RowPair sumSquares(mlir::Value tile, mlir::Value block);
  RowPair sumSlabs(mlir::Value tile);
  mlir::Value applyFunctions(tile::SumColumnsOp op, RowPair &sums);

  // KeySums.cpp
  /// Of a tile of decays, in shared memory.
  struct KeySums {
    /// Sums of its log-gates from the beginning of each 16 rows on: f32, as a
    /// wide tile.
    mlir::Value sums;
    /// Of each channel: the sums of all rows before each 16, and of all.
    mlir::Value before;
    /// Whether more than 2^-64 is left of each channel at the chunk's end.
    mlir::Value isMild;
  };
  const KeySums &keySumsOf(mlir::Value decays);
  void sumGates(KeySums &made, Wide layout, mlir::Value flags);
  mlir::Value writeBlocks(const KeySums &made, mlir::Value column,
                          int64_t columns, llvm::ArrayRef<mlir::Value> totals);
  mlir::Value isNoneBelow(mlir::Value sum, mlir::Value flags);
  mlir::Value byteOfSlab(Wide layout, int64_t r, bool ofRowBefore);
  mlir::Value sumOfGates(mlir::Value decays, int64_t r, bool before);
  mlir::Value sinceAt(mlir::Value decays, int64_t r, bool before);
  mlir::Value untilAt(mlir::Value decays, int64_t r, bool before);
  mlir::Value leftAt(mlir::Value decays, int64_t r, bool before, bool inverse);
  mlir::Value totalOfGates(mlir::Value decays, int64_t r);
  mlir::Value sumBefore(mlir::Value decays, int64_t r,
                        std::optional<int64_t> later);

  // DecayedDots.cpp, DecayLadder.cpp
  void emitDecayedDot(tile::DecayedDotOp op);
  struct PairSums;
  struct PlacesOfDot;
  SlabResult exchangeOf(tile::DecayedDotOp op);
  bool placeInMessage(tile::DecayedDotOp op);
  void leaveMessage();
  llvm::SmallVector<mlir::Value> exchangedColumns(int64_t back);
  void multiplyBlock(llvm::ArrayRef<mlir::Value> rows,
                     llvm::ArrayRef<mlir::Value> columns,
                     llvm::SmallVector<mlir::Value, 4> (&sums)[2]);
  void multiplyItself(tile::DecayedDotOp op, const SlabRegisters &since,
                      PairSums &sums);
  void multiplyEarlier(tile::DecayedDotOp op, const SlabRegisters &since,
                       PairSums &sums);
  llvm::SmallVector<mlir::Value> multiplyMild(tile::DecayedDotOp op);
  llvm::SmallVector<mlir::Value> multiplyAny(tile::DecayedDotOp op);
  struct SentRows {
    mlir::Value memory;
    double factor = 1.0;
  };
  SentRows decayedRows(tile::DecayedDotOp op);
  llvm::SmallVector<mlir::Value> masked(llvm::ArrayRef<mlir::Value> registers,
                                        bool seesItself);
  llvm::SmallVector<mlir::Value, 4> packSlab(const SlabRegisters &slab);
  void climb(int64_t size, SlabRegisters &totals, SlabRegisters &since,
             SlabRegisters &until);
  void climbLadder(SlabRegisters totals, SlabRegisters since,
                   SlabRegisters until, PairSums &sums);
  llvm::SmallVector<mlir::Value> sumsOfLadder(const PairSums &sums,
                                              bool seesItself);

  struct Sum {
    mlir::Value high, low, token, place;
  };
  const Sum &sumAt(mlir::Value vector, bool isRow, int64_t offset,
                   llvm::ArrayRef<int64_t> order);

  // Evaluate.cpp
  void forEachWarp(llvm::function_ref<void(int64_t)> body);
  bool vanishes(mlir::Value tile, int64_t r);
  bool isDecayOfPairs(const Matrix &matrix);
  bool isLowerTriangular(mlir::Value tile);
  void settleLeaves(mlir::Value tile);
  void settleBelow(mlir::Value tile);
  Matrix &materialize(mlir::Value tile);
  mlir::Value registerOf(mlir::Value tile, int64_t r);
  mlir::Value evaluate(mlir::Operation *op, int64_t r);
  mlir::Value functionOf(mlir::Operation *op,
                         llvm::ArrayRef<mlir::Value> operands); // Functions.cpp
  mlir::Value evaluateScaledSum(mlir::Operation *op, int64_t r);
  mlir::Value pairAt(mlir::Value tile, int64_t pair);
  mlir::Value wideAt(mlir::Value tile, int64_t r);
  mlir::Value vectorAt(mlir::Value vector, Accumulator shape, int64_t r,
                       bool rows);
  bool readsLater(mlir::Value tile, mlir::Value channel);
  bool isAwaited(mlir::Value tile);
  bool isFree(mlir::Value channel);
  void releaseFree(bool isEnd = false);
  bool readsInMildChunks(mlir::Operation *op);
  bool isReadInMildChunks(mlir::Value tile);
  llvm::SmallVector<mlir::Value> channelsOfMildChunks(mlir::Block *block);
  void keepVectorsOf(mlir::Value channel, mlir::Block *block);
  void releaseOfMildChunks(tile::DecayedDotOp dot, mlir::Value isMild);

  // Transfers.cpp: between registers, shared and global memory.
  void writePacked(const Matrix &matrix, mlir::Value to, Swizzled layout);
  llvm::SmallVector<mlir::Value> readPairs(const Matrix &matrix);
  llvm::SmallVector<mlir::Value> readFourPairs(const Matrix &matrix,
                                               int64_t first);
  mlir::Value pieceOfSlab();
  void emitLoad(tile::LoadOp load);
  mlir::Value inBlock(const Slice &slice, Accumulator shape, int64_t r);
  llvm::SmallVector<mlir::Value, 2> tileIndex(Accumulator shape, int64_t r);
  mlir::Value firstRow();    ///< of this lane's accumulators, i32
  mlir::Value firstColumn(); ///< i32

  // Stores.cpp
  void emitStore(tile::StoreOp store);
  void enterIfPresent(const Slice &slice);
  void stage(tile::StoreOp store, const Matrix &matrix);
  void storeStaged(tile::StoreOp store);
  void storeBox(const Slice &slice, int64_t map);
  void storePieces(const Slice &slice);
  void storePiece(mlir::Value piece, mlir::Value to);
  mlir::Value stagingOf(int64_t rows);
  mlir::Value byteOfPiece(mlir::Value row, mlir::Value half);
  tile::StoreOp storeToDelay(mlir::scf::ForOp loop) const;
  void storeDelayed();
  void storeElements(const Slice &slice, Matrix &matrix);

  // Maps.cpp: of segments.
  void emitStoreMap(tile::StoreMapOp store);
  void emitFoldMaps(tile::FoldMapsOp fold);
  mlir::Value slabOfWarp(mlir::Value column);
  llvm::SmallVector<mlir::Value> allRegisters(mlir::Value tile);
  /// A segment before this one: where this lane finds its B and its factors,
  /// and whether there is one, i1; null: there is.
  struct MapBefore {
    mlir::Value terms, factors, isThere;
  };
  /// Of pieces of 8 keys of a map: four terms of this lane, and its two
  /// factors.
  struct MapPiece {
    mlir::Value terms, factors;
  };
  using MapPieces = llvm::SmallVector<MapPiece, 8>;
  llvm::SmallVector<MapBefore, 4> mapsBefore(tile::FoldMapsOp fold,
                                             mlir::Value first);
  MapPieces loadPieces(llvm::ArrayRef<MapBefore> maps, int64_t first,
                       int64_t count);
  void foldPieces(llvm::ArrayRef<MapBefore> maps, const MapPieces &pieces,
                  llvm::MutableArrayRef<mlir::Value> state);
  void foldAll(tile::FoldMapsOp fold, int64_t first,
               llvm::MutableArrayRef<mlir::Value> state);

  // Vectors.cpp
  void emitVectorOp(mlir::Operation *op);
  void emitGateSum(tile::GateSumOp op);
  void defineSums(mlir::Value tile, llvm::SmallVector<Element> neighbours);
  void receiveSums(mlir::Value tile, mlir::Value from);
  void emitInterleave(tile::InterleaveOp op);
  Element spread(mlir::Value vector);
  Element elementAt(mlir::Value vector, mlir::Value index);
  Element lastOf(mlir::Value vector);
  mlir::Value copyOf(mlir::Value vector);
  void copyLeaves(mlir::Value vector);
  mlir::Value copyForPowers(mlir::Value vector);
  void writeSpread(mlir::Value vector, mlir::Value to);
  void writeElement(const Element &element, mlir::Value to, int64_t length);
  bool isCheap(mlir::Operation *op) const;
  bool isHeld(mlir::Value vector) const;
  mlir::Value spreadIndex(int64_t length);
  mlir::Value isWriter(int64_t length);

  // Inverse.cpp
  void emitInvert(tile::InvertOp op);
  bool emitScaleOfInverse(mlir::Operation *op);
  void finishInversions(tile::SendOp send);

  KernelBuilder &kernel;
  ScalarBuilder &b;
  Instructions &in;
  Elements elements{b, in};
  Ports &ports;
  RolesPlan &plan;
  const RolePlan &role;
  mlir::Value memory, warp, lane; ///< warp: of the team
  mlir::Value team;               ///< of several, else null
  mlir::Value rank;               ///< of the block in its cluster, or null
  /// Where warps turn tiles around, made at need, and the rows of one.
  std::optional<int64_t> staging;
  int64_t stagedRows = 0;
  bool hasStoredBoxes = false;
  bool chain;
  /// A store that ends in the next iteration.
  struct {
    tile::StoreOp store;
    bool isStaged = false;    ///< the tile of iteration `index`, and no other
    mlir::Value index, lower; ///< below `lower` there are none
  } delayed;
  llvm::DenseMap<mlir::Value, Matrix> matrices;
  llvm::DenseMap<mlir::Value, Vector> vectors;
  using SumKey = std::pair<std::pair<mlir::Value, const void *>, int64_t>;
  llvm::DenseMap<SumKey, Sum> sums;
  llvm::DenseMap<mlir::Operation *, DecayFactors> decayFactors;
  std::optional<int64_t> knownWarp; ///< in forEachWarp
  mlir::Value slabColumn;           ///< in forEachSlab: its first column
  llvm::DenseMap<mlir::Value, KeySums> keySums; ///< by decays
  /// What is known of the chunk whose slabs are made.
  enum class Decaying {
    Somehow,
    Mildly,
    Strongly
  } decaying = Decaying::Somehow;
  /// Columns of a dot, times the decays until their block ends.
  struct Exchanged {
    mlir::Value columns, decays;
    bool before = false; ///< the token's own decay is one of them
    bool operator==(const Exchanged &other) const {
      return columns == other.columns && decays == other.decays &&
             before == other.before;
    }
  } exchanged;
  Matrix exchange;              ///< where they lie
  bool exchangeIsThere = false; ///< all warps have met since it was written
  /// What will be written where it lies.
  llvm::SmallPtrSet<mlir::Operation *, 2> exchangeHolders;
  llvm::SmallPtrSet<mlir::Operation *, 8> madeBySlabs; ///< before their turn
  bool scratchIsFree = true; ///< of the last iteration
  /// An inverse that is begun.
  struct Inversion {
    tile::InvertOp op;
    mlir::Value system; ///< where it lies
    /// Of this lane's two columns of its warp's block column; or empty.
    llvm::SmallVector<mlir::Value, 2> scales;
  };
  llvm::SmallVector<Inversion> inversions;
  /// What the present reader has read: elements of vectors, pairs of tiles.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> known;
  llvm::SmallPtrSet<mlir::Operation *, 32> emitted;
  llvm::SmallVector<mlir::Value> toRelease; ///< channels, when they are free
  /// Channels that are given back already where a flag is set.
  llvm::DenseMap<mlir::Value, mlir::Value> releasedIf;
  int64_t groupsIssued = 0, groupsRetired = 0;
  /// Groups that read a channel's slot: the last one.
  llvm::DenseMap<mlir::Value, int64_t> lastReader;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_COMPUTEROLE_H
