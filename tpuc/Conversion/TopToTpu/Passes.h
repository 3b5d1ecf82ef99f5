//===- Passes.h - From what a network means to what a device computes -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_PASSES_H
#define TPUC_CONVERSION_TOPTOTPU_PASSES_H

#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Target/QuantScheme.h"

#include "mlir/Pass/Pass.h"

namespace tpuc {

class RoundedFilters;

#define GEN_PASS_DECL
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"

/// Without it, pictures get other extents by interpolation (LowerPictureResize.h).
inline constexpr const char *kResizeByProducts = "resize-by-products";
/// What --fold-preprocess and, of scales and sizes, --convert-top-to-tpu can be told to leave out.
inline constexpr const char *kPreprocessFolds[] = {"fold-swap", "fold-scale", kResizeByProducts};

/// What a network is to be lowered to.
struct LoweringOptions {
  std::string chip;
  QuantScheme scheme = schemes::kF32;
  /// On integers: what run_calibration wrote; may be empty for networks that are quantized already.
  std::string calibrationTable = {};
  /// Layers in another scheme; empty: none.
  std::string quantizeTable = {};
  bool avoidF16Overflow = false;
  /// On integers: also where these lose what a layer computes.
  bool strict = false;
  /// The same of these layers, by their names.
  std::vector<std::string> onIntegers = {};
  /// Layers that take fewer cycles in wider floats than the network's types (PlanOptions::faster),
  /// by their names.
  std::vector<std::string> fasterInF16 = {}, fasterInF32 = {};
  /// Outputs that products on integers make are floats of their sums, unless `strict` or
  /// `quantOutput`.
  bool floatOutputs = false;
  /// Of `kPreprocessFolds`, those to leave out.
  std::vector<std::string> withoutFolds = {};
  bool quantInput = false;
  bool quantOutput = false;
  /// The network is made for its cycles: weights are rounded in the way that takes least time.
  bool forCycles = false;
  /// Shared by all lowerings of a network; may be null.
  std::shared_ptr<RoundedFilters> filters = nullptr;
};

/// Adds the passes that turn an optimized module (`X.mlir`) into the lowered one
/// (`X_CHIP_MODE_tpu.mlir`): --chip-assign, --import-calibration-table if there is one,
/// --fold-preprocess, --chip-top-optimize, --convert-top-to-tpu, --canonicalize, --strip-io-quant,
/// --chip-tpu-optimize.
void addLowering(mlir::OpPassManager &manager, const LoweringOptions &options);

void registerTopToTpu(mlir::DialectRegistry &registry);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_PASSES_H
