//===- LayerErrors.h - What each layer of a lowered network adds to the error -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_LAYERERRORS_H
#define TPUC_DRIVER_LAYERERRORS_H

#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Compare.h"
#include "tpuc/Support/Npz.h"

namespace tpuc {

/// One op of a lowered network that makes a tensor of the network that it was lowered from.
struct LayerError {
  /// The op's first tensor there: what quantize tables call the layer.
  std::string name;
  /// `tpu.Conv`
  std::string op;
  /// The type that its result is stored in.
  DataType type = DataType::F32;
  /// Its result with everything before it lowered, too; of several results the least alike.
  TensorComparison whole;
  /// Its result alone: computed from what the reference has as its inputs, as these are stored.
  TensorComparison alone;
  /// The output that suffers most from that error alone, everything else being in float; see
  /// measureEffects.
  std::optional<TensorComparison> effect;
  /// The names in the reference of all its tensors.
  std::vector<std::string> tensors;
  /// The layers whose results it reads, casts in between aside.
  std::vector<size_t> inputs;
};

/// What tensors of `lowered` are called in `top`, the network that it was lowered from, where they
/// have another name: those that are cast to a tensor of `top`, and outputs without such a cast.
std::map<std::string, std::string> referenceNames(mlir::ModuleOp lowered, mlir::ModuleOp top);

/// The layers of `lowered` in their order, compared with `reference` in two runs on `inputs`: as it
/// is, and with each tensor replaced by the reference's once it is made. What layers make alone is
/// written to `alone` under its name in the reference. `names` as referenceNames.
Expected<std::vector<LayerError>> measureLayers(mlir::ModuleOp lowered, const TensorMap &inputs,
                                                const std::map<std::string, std::string> &names,
                                                const NpzReader &reference, NpzWriter &alone,
                                                unsigned numThreads);

/// Finds the `effect` of `layers`, one run of `top` for each: with what the layer makes `alone` in
/// place of its result. `reference` has the outputs.
Expected<void> measureEffects(mlir::ModuleOp top, const TensorMap &inputs,
                              std::span<LayerError *const> layers, const NpzReader &alone,
                              const NpzReader &reference, unsigned numThreads);

/// The first diverging layer: the first one that is below `tolerance` in the whole
/// network and alone; without one, that which falls furthest below its worst input in euclidean
/// similarity. Null if nothing is below.
const LayerError *findOrigin(std::span<const LayerError> layers, const Tolerance &tolerance);

} // namespace tpuc

#endif // TPUC_DRIVER_LAYERERRORS_H
