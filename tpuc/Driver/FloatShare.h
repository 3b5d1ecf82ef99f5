//===- FloatShare.h - What layers on floats by need take ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_FLOATSHARE_H
#define TPUC_DRIVER_FLOATSHARE_H

#include "tpuc/Driver/ModelFileCheck.h"
#include "tpuc/Target/Target.h"

namespace tpuc {

/// Layers that are on floats by need together, or not at all.
struct FloatStep {
  std::string name;
  /// Why the layer is on floats that has the name, else one of them.
  std::string reason;
  std::vector<std::string> layers;
  /// The cycles that the network takes less without it, over those of the network on integers. Of
  /// dispensableSteps: those of its layers alone.
  double cost = 0;
  /// The most that floats spare one of its layers: the error that integers would add, over that of
  /// rounding its result.
  double gain = 1;
};

/// What the layers of a network on integers take that are on floats because integers would lose
/// their signal (FloatsByNeed.h).
struct FloatShare {
  struct Layer {
    /// Of its first tensor.
    std::string name;
    std::string reason;
    /// Multiplications of its product; 0 of what is none.
    double macs = 0;
    /// By the chip's timing model, of its busier engine; 0 without a model file.
    int64_t cycles = 0;
    /// What it takes at least on integers: for its multiplications, or for its constants and what
    /// it gives as an output. At most `cycles`.
    int64_t leastCycles = 0;
  };
  std::vector<Layer> layers;
  /// The multiplications of all layers of the network.
  double allMacs = 0;
  /// The cycles of all layers, each by its busier engine, and of the casts that only these layers
  /// on floats need. None without a model file.
  std::optional<int64_t> allCycles;
  int64_t castCycles = 0;
  /// Of the model file; None without one.
  std::optional<int64_t> fileCycles;
  /// How many times the cycles of the network with --strict_int8 this one takes, less one. None
  /// where they were not compared.
  std::optional<double> cost;
  /// At most that much, by the cycles of the layers and casts alone, and by what the layers take at
  /// least on integers. None without a model file.
  std::optional<double> mostCost() const;
  /// What they and their casts take more than on integers (tpuc::excessCycles). None where they
  /// were not compared.
  std::optional<int64_t> excessCycles;
  /// What is on integers all the same, as it would cost too much.
  std::vector<FloatStep> leftOut;

  double macShare() const;
  /// The part that the layers and their casts have of the cycles. None without a model file.
  std::optional<double> cycleShare() const;

  /// The cycles of the layers and of their casts.
  int64_t ownCycles() const;

  /// One sentence: how many layers, their shares, the most expensive ones.
  std::string text() const;
  nlohmann::ordered_json toJson() const;
};

/// The share of such layers of `lowered`, which was made of `top`; none if there are none. `file`,
/// which may be null, is what was found of the model file, and `target` the chip. A layer of a
/// model file that has no name of the lowered network belongs to the one that its name begins with.
std::optional<FloatShare> floatShare(mlir::ModuleOp lowered, mlir::ModuleOp top,
                                     const TargetInfo &target, const ModelFileReport *file);

/// The cycles that the layers on floats by need of `lowered` and their casts take more than the
/// same layers on integers; below 0 where they take less. `file` and `strict` are what was found of
/// the model files of it and of the network with --strict_int8.
int64_t excessCycles(mlir::ModuleOp lowered, const ModelFileReport &file,
                     const ModelFileReport &strict);

/// What floats spare less than this, though more than outputs their rounding, may cost no cycles.
inline constexpr double kSlightGain = 4;

/// Whether a step that spares so much is slight.
inline bool isSlightGain(double gain) { return gain > 1 && gain < kSlightGain; }

/// Whether any layer of `lowered` is on floats for a slight gain.
bool hasSlightGains(mlir::ModuleOp lowered);

/// Whether all floats by need of `lowered` are there only so that outputs need not be rounded.
bool areOnlyOutputs(mlir::ModuleOp lowered);

/// The steps of `lowered` that may be left out, the most expensive first: all but the tail, without
/// which an output would be lost. `file` and `strict` are what was found of the model files of it
/// and of the network with --strict_int8.
std::vector<FloatStep> dispensableSteps(mlir::ModuleOp lowered, mlir::ModuleOp top,
                                        const ModelFileReport &file, const ModelFileReport &strict);

} // namespace tpuc

#endif // TPUC_DRIVER_FLOATSHARE_H
