//===- Backend.h - What a chip answers to the code generator ------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The generator of this component knows no chip. It divides, tiles, places and orders; what a chip
// can do, how large things are on it, and the commands come from the chip's Backend. A folder
// tpuc/Target/<Chip>/ that has one defines `std::unique_ptr<Backend> tpuc::<Chip>::createBackend()`
// and calls `tpuc_add_backend`; CMake writes the list.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_BACKEND_H
#define TPUC_CODEGEN_BACKEND_H

#include "tpuc/Codegen/Footprint.h"
#include "tpuc/Codegen/Tile/PackedLayout.h"
#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

namespace tpuc::codegen {

struct AddressPlan;
struct ConstantStorage;
struct KnownCosts;

/// What the commands of a step cost at their start, as bytes of each lane that are moved meanwhile,
/// unless a chip knows better (`Backend::stepBytes`).
inline constexpr int64_t kStepBytes = 8192;

/// Where an op is computed.
enum class Place : uint8_t {
  Local,  ///< On tiles in local memory.
  Global, ///< By moving data in global memory.
  Alias,  ///< Not at all: the result lies where the first operand does.
};

/// A part of a tensor and where it lies in each lane of its memory space.
struct LocalTile {
  Tile tile = {};
  int64_t address = 0;
  /// What lies at `address`, where that is more than `tile`.
  std::optional<Tile> held = std::nullopt;
  /// A part of a concatenation that has been brought to its lanes before.
  bool isInPlace = false;
  /// Where the room begins that its transfer has (`OpLayout::roomBytes`); none: it has no room.
  std::optional<int64_t> room = std::nullopt;
};

/// One op on one tile of its result. Operands that are left out, and those that the chip does not
/// load, have an entry that says nothing.
struct TiledOp {
  mlir::Operation *op = nullptr;
  const TileModel *model = nullptr;
  llvm::SmallVector<LocalTile> operands = {};
  LocalTile result = {};
  /// In the space of tiles.
  int64_t scratchAddress = 0;
  int64_t scratchBytes = 0;
};

/// Collects the commands of a network in program order. Errors name the layer.
class Emitter {
public:
  virtual ~Emitter();
  /// The commands that follow belong to the layer of `op`.
  virtual void beginLayer(mlir::Operation *op) = 0;
  /// Brings the tile of operand `index` of `tiled` from the tensor at `global`.
  virtual Expected<void> load(const TiledOp &tiled, unsigned index, int64_t global) = 0;
  /// Brings what `load` left in the room of that tile to its place, in front of its first user.
  virtual Expected<void> unpack(const TiledOp & /*tiled*/, unsigned /*index*/) { return {}; }
  virtual Expected<void> compute(const TiledOp &tiled) = 0;
  /// Brings the result to its room, from which `store` takes it, as soon as it is computed.
  virtual Expected<void> pack(const TiledOp & /*tiled*/) { return {}; }
  virtual Expected<void> store(const TiledOp &tiled, int64_t global) = 0;
  /// Brings `bytes` for each lane, which stand lane after lane from `global` on, to `local` in a
  /// memory space.
  virtual Expected<void> loadPool(unsigned space, int64_t global, int64_t local, int64_t bytes) = 0;
  /// An op of Place::Global whose tensors have addresses as encodings.
  virtual Expected<void> move(mlir::Operation *op) = 0;
  /// The results of `op` are complete in global memory, at the addresses of their types.
  virtual void endLayer(mlir::Operation *op) = 0;
  /// Puts an end to the commands of a sub-network; those of the next one begin.
  virtual Expected<void> endSubNet() = 0;
  /// How many there are so far: with them grows what it takes to emit them and to time them.
  virtual int64_t numCommands() const = 0;
  /// How the file that `finish` makes stores constants. Errors (without `where`): the chip leaves
  /// no choice, and `wanted` is not the usual way; what of `before` does not go with the chip.
  virtual Expected<void> setStorage(const ConstantStorage &wanted);
  /// Gives the sub-networks of `model` that the host does not compute their commands, in the order
  /// in which these ended, and `model` the layers and tensors in memory that it knows. `model` is
  /// one network of one stage and keeps alive what it needs. Errors: chips without model files.
  virtual Expected<void> finish(model::CompiledModel &model) = 0;
};

/// How many cycles each engine works on some commands, whatever it waits for: in the order of
/// `TargetInfo::engines`.
struct Cost {
  std::array<int64_t, kMostEngines> cycles = {};

  constexpr int64_t sum() const {
    return std::accumulate(cycles.begin(), cycles.end(), int64_t{0});
  }
  constexpr int64_t most() const { return *std::max_element(cycles.begin(), cycles.end()); }
};

/// Emits commands whose cost is asked for.
using Commands = llvm::function_ref<Expected<void>(Emitter &)>;

/// Where the passes run that a target adds to those of every target.
enum class Stage : uint8_t {
  Divide, ///< Behind --decompose: also where it is only asked which layers have kernels.
  Refine, ///< In front of --subnet-divide, when ops are such that have kernels.
};

/// A pass that serves one target. It can be left out by its name.
struct OptionalPass {
  Stage stage;
  std::unique_ptr<mlir::Pass> (*create)();
};

class Backend {
public:
  explicit Backend(const TargetInfo &target);
  virtual ~Backend();

  const TargetInfo &info() const { return target; }
  /// What the chip has said of kinds of layers.
  const std::shared_ptr<KnownCosts> &known() const { return costs; }
  void share(std::shared_ptr<KnownCosts> known) { costs = std::move(known); }

  /// What networks may be lowered to; ops of other types are refused one by one.
  virtual SchemeSet schemes() const = 0;

  /// The target's own passes, those of each stage in the order in which they run.
  virtual llvm::ArrayRef<OptionalPass> optionalPasses() const { return {}; }

  /// Where `op` is computed. Errors (without `where`) say what the chip cannot do.
  virtual Expected<Place> placeOf(mlir::Operation *op) const = 0;
  /// How a constant operand is kept, where that is not as it is written. Errors: constants that
  /// cannot be read.
  virtual Expected<std::optional<PackedLayout>> packedLayout(mlir::OpOperand &operand) const = 0;
  /// How the operands of `op` and its result lie, and what their tiles take: asked once for each
  /// way to tile the op (`modelOf`), and kept.
  virtual std::shared_ptr<const OpLayout> layoutOf(mlir::Operation *op,
                                                   const TileModel &model) const = 0;
  /// `tileModel` on this chip, with the layout of the tensors. Errors: as there.
  Expected<TileModel> modelOf(mlir::Operation *op, TileLayout layout = TileLayout::Flat) const;
  /// Bytes that the kernel needs for itself in each lane of the space of tiles. Errors: what it
  /// cannot do.
  virtual Expected<int64_t> scratchBytes(const TiledOp &tiled) const = 0;
  /// How long the engines work on what `emit` emits, by the set of timing parameters that counts
  /// most. It is asked of each kind of tile.
  virtual Expected<Cost> cost(Commands emit) const = 0;
  /// How long a run takes of all that `emit` emits, the engines side by side: by each set of timing
  /// parameters, the one that counts most first. By default as if no engine waited for another one.
  virtual Expected<llvm::SmallVector<int64_t>> runCycles(Commands emit) const;
  /// About how long the engine that moves data takes for `bytes` that lie in so many rows. Of no
  /// bytes: what a transfer takes to start. By default by `TargetInfo::timing`, which must be
  /// known.
  virtual int64_t transferCycles(int64_t bytes, int64_t rows) const;
  /// What the commands of a step cost at their start: see `kStepBytes`.
  virtual int64_t stepBytes() const { return kStepBytes; }
  /// Whether groups of pictures may be tiled along channels, too. That takes longer to search, and
  /// pays where lanes hold few rows of all channels.
  virtual bool tilesChannelsOfGroups() const { return false; }
  /// Parts of a result along `axis` begin at multiples of this.
  virtual int64_t tileUnit(mlir::Operation *op, unsigned axis) const = 0;
  /// Whether a move in global memory takes all of local memory: nothing else lies there meanwhile.
  virtual bool takesLocalMemory(mlir::Operation * /*move*/) const { return false; }
  /// Chooses regions of global memory and places the tensors of `plan` in them. By default one
  /// range, weights first (`placeInOneRange`). Errors: those of the allocator.
  virtual Expected<void> assignAddresses(AddressPlan &plan) const;

  virtual std::unique_ptr<Emitter> createEmitter() const = 0;

private:
  const TargetInfo &target;
  std::shared_ptr<KnownCosts> costs;
};

/// The backend of a chip; null if it has none.
std::unique_ptr<Backend> backendOf(const TargetInfo &target);

/// The backend of the chip that `module.chip` names. All those for modules of one context share
/// what is known of kinds of layers. Errors: no chip, or one without a code generator.
Expected<std::unique_ptr<Backend>> backendOf(mlir::ModuleOp module);

/// The same for passes: null where there is none, with the error emitted.
std::unique_ptr<Backend> backendOrEmit(mlir::ModuleOp module);

/// From now on modules of both contexts share what is known of kinds of layers: what `other` knew
/// is forgotten.
void shareKnownCosts(mlir::MLIRContext &context, mlir::MLIRContext &other);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_BACKEND_H
