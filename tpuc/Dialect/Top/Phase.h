//===- Phase.h - What a network went through ------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_PHASE_H
#define TPUC_DIALECT_TOP_PHASE_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string_view>

namespace tpuc {

/// The phases of compilation that leave a module, in their order. `module.state` says which one a
/// module went through last.
enum class Phase : uint8_t {
  /// Ops of the top dialect, as the source has them; optimization leaves it at that.
  Import,
  /// Without the quantized ops that the source brought along; only for sources that have some.
  TakeQuantized,
  /// Tensors have the ranges of a calibration table.
  Calibrate,
  /// Ops of the tpu dialect, with the types that are stored.
  Lower,
  /// Functions that one engine each runs.
  Divide,
  /// Groups of layers, with tiles and local addresses.
  Group,
  /// Every tensor in global memory has its address.
  Address
};
inline constexpr Phase kLastPhase = Phase::Address;

/// What `module.state` says after `phase`: `TOP_F32`.
std::string_view stateAfter(Phase phase);

/// Has `module.state` say that `module` went through `phase`.
void setPhase(mlir::ModuleOp module, Phase phase);

/// The phase that `module` went through last; none where `module.state` says nothing that is known.
std::optional<Phase> phaseOf(mlir::ModuleOp module);

/// Whether `module` went through Phase::Lower.
bool isLowered(mlir::ModuleOp module);

} // namespace tpuc

#endif // TPUC_DIALECT_TOP_PHASE_H
