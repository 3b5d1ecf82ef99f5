//===- DeployDiagnosis.h - Why a lowered network is not like the reference -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_DEPLOYDIAGNOSIS_H
#define TPUC_DRIVER_DEPLOYDIAGNOSIS_H

#include "tpuc/Driver/LayerErrors.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/Validation.h"
#include "tpuc/Target/QuantScheme.h"
#include "tpuc/Target/Target.h"

#include <nlohmann/json_fwd.hpp>

namespace tpuc {

/// Where a comparison below tolerance comes from, and what mends it.
struct DeployDiagnosis {
  /// The network in float is not like the reference either: it belongs to something else. Nothing
  /// else is known then.
  bool isForeignReference = false;
  /// The first diverging layer (findOrigin), and its worst input.
  std::optional<LayerError> origin;
  std::optional<TensorComparison> originInput;
  /// The layers whose own errors do most to the outputs, the worst first.
  std::vector<LayerError> worstEffects;
  /// The layers, in their order, with which in `repairMode` the comparison passes, as was tried;
  /// of the `numCandidates` that are not exact. None were found if empty.
  std::vector<std::string> repair;
  QuantScheme repairMode = schemes::kF32;
  int64_t numCandidates = 0;
  /// Where no layers were found: the precision in which the whole network passes, as was tried.
  std::optional<QuantScheme> wholeNetwork;

  /// `repair` as lines of a quantize table.
  std::vector<std::string> repairLines() const;
  nlohmann::ordered_json toJson() const;
};

/// What a diagnosis looks at. References outlive it.
struct DiagnosisRequest {
  mlir::ModuleOp top;
  mlir::ModuleOp lowered;
  const TensorMap &inputs;
  /// Every tensor of `top`.
  const NpzReader &floats;
  /// What the lowered network was compared with, how, and the result, which fails.
  const NpzReader &reference;
  const ValidationOptions &validation;
  const ComparisonReport &report;
  const TargetInfo &target;
  QuantScheme scheme;
  /// A file beside which temporary ones are made.
  std::string scratch;
  /// Lowers the network with some layers in another scheme.
  std::function<Expected<Network>(std::span<const std::string> layers, const QuantScheme &scheme)>
      lowerWith;
  /// Lowers the whole network in another scheme, without a quantize table.
  std::function<Expected<Network>(const QuantScheme &scheme)> lowerAll;
};

/// Measures what layers add to the error, and tries which ones mend it in another precision. Takes
/// two runs, one for each of the layers that add most, and some lowerings with a run each.
Expected<DeployDiagnosis> diagnose(const DiagnosisRequest &request);

} // namespace tpuc

#endif // TPUC_DRIVER_DEPLOYDIAGNOSIS_H
