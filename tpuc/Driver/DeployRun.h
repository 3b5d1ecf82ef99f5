//===- DeployRun.h - One run of model_deploy ------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_DEPLOYRUN_H
#define TPUC_DRIVER_DEPLOYRUN_H

#include "tpuc/Conversion/TopToTpu/RoundedFilters.h"
#include "tpuc/Driver/FasterLayers.h"
#include "tpuc/Driver/FloatBudget.h"
#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Driver/ModelFiles.h"
#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Support/RunFiles.h"
#include "tpuc/Target/Registry.h"

namespace tpuc {

/// What model_deploy does with a Top module, step by step: `run` calls the steps. What belongs to
/// options and inputs is in ModelDeploy.cpp, the lowered network in DeployLowering.cpp, the model
/// file in DeployCodegen.cpp.
class DeployRun {
public:
  explicit DeployRun(const ModelDeployOptions &options)
      : options(options), lowering(options.lowering) {
    lowering.floatOutputs = true;
    if (lowering.scheme.isQuantized() && !lowering.strict)
      lowering.filters = std::make_shared<RoundedFilters>();
  }
  Expected<ModelDeploySummary> run();

private:
  Expected<void> checkOptions();
  Expected<void> checkTarget();
  Expected<void> checkStorage();
  Expected<std::shared_ptr<const model::CompiledModel>> readFileBefore() const;
  Expected<void> checkFusion() const;
  Expected<void> checkFiles();
  Expected<void> readTop();
  void addFusion(mlir::OpPassManager &manager) const;
  /// Whether F64 becomes F32, which no chip computes otherwise: not where all is to be as it is.
  bool widensDoubles() const { return lowering.scheme != schemes::kF32; }
  Expected<std::vector<InputSpec>> inputSpecs() const;
  Expected<void> checkInputs();
  Expected<void> readTestInput();
  Expected<void> lower();
  Expected<void> write();
  Expected<void> compare();
  bool compiles() const;
  Expected<void> generate();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> generated();
  Expected<bool> useFloats();
  Expected<void> lowerAnew();
  Expected<void> makeAnew();
  Expected<void> makeAnewIfClose(LoweringOptions other);
  Expected<MeasuredNetwork> measureWith(mlir::ModuleOp module, int opt) const;
  Expected<MeasuredNetwork> measureMade(int opt) const;
  Expected<void> measureLowered();
  bool scalesPictures();
  bool mayUseFloats() const;
  void makeBudget(bool isQuick);
  Expected<void> keepBudgetFirst();
  Expected<void> keepBudget();
  std::set<std::string> layersToKeep() const;
  std::set<std::string> layersByNeed() const;
  Expected<void> useFasterResize();
  std::optional<LoweringOptions> fasterLowering(std::optional<MeasuredNetwork> made) const;
  Expected<void> useFasterLayersFirst();
  Expected<void> useFasterLayers();
  Expected<void> commit();
  Expected<void> diagnose();
  bool compilesWhole() const;
  Expected<void> checkWhole() const;
  Expected<void> compileWhole();

  Expected<Network> lowerAs(const LoweringOptions &wanted,
                            std::vector<std::string> *remarks = nullptr) const;
  /// The same for `measure` and `measureWith`.
  Expected<Network> lowerForCycles(LoweringOptions wanted) const;
  void count();
  Expected<NpzReader> reference();
  Expected<NpzReader> topTensors();
  /// The same lowering with these layers in another scheme.
  Expected<Network> lowerWith(std::span<const std::string> layers, const QuantScheme &scheme) const;
  Expected<Network> lowerAll(const QuantScheme &scheme) const;
  Expected<OutputFile> quantizeTableWith(const std::map<std::string, QuantScheme> &layers) const;

  const ModelDeployOptions &options;
  RunFiles runFiles;
  LoweringOptions lowering;
  const TargetInfo *target = nullptr;
  std::string mode;
  /// What files are named after besides the chip: the mode and the user's quantize table.
  std::string variant;
  /// How the model file stores constants.
  codegen::ConstantStorage storage;
  ModelDeploySummary summary;
  std::optional<ModelFiles> paths;
  Network top;
  std::optional<Network> lowered;
  /// Layers that are on floats as the chip cannot compute them on integers, and the table that says
  /// so.
  std::map<std::string, QuantScheme> floatLayers;
  std::optional<OutputFile> floatTable;
  std::optional<FloatBudget> budget;
  /// What the lowered network takes with groups by estimate, once it was measured; and what it
  /// takes with layers on integers that the budget has tried there.
  std::optional<MeasuredNetwork> quick;
  std::map<std::vector<std::string>, MeasuredNetwork> triedOnIntegers;
  /// Whether layers were tried in wider floats.
  bool areFloatsTried = false;
  TensorMap inputs;
  ValidationOptions validation;
  /// Every tensor of the Top module, once they were needed.
  std::optional<OutputFile> topOutputs;
  std::vector<OutputFile> files;
};

/// The name of the weight file of `module`; empty if it has none.
llvm::StringRef weightFile(mlir::ModuleOp module);

/// The weights of `module` are those of their written file from now on, mapped; what is no regular
/// file cannot be.
Expected<void> readWritten(mlir::ModuleOp module, const OutputFile &weights);

/// Writes `module`, and its weights to the file `weights`, first of those that are given. What
/// passes have made of them leaves memory once no module names the file that they were in before.
Expected<std::vector<OutputFile>>
writeWithWeights(mlir::ModuleOp module, const std::string &weights, const std::string &path);

} // namespace tpuc

#endif // TPUC_DRIVER_DEPLOYRUN_H
