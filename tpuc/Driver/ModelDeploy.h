//===- ModelDeploy.h - From a Top module to what a chip computes -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_MODELDEPLOY_H
#define TPUC_DRIVER_MODELDEPLOY_H

#include "tpuc/Codegen/Passes.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Driver/DeployDiagnosis.h"
#include "tpuc/Driver/FloatShare.h"
#include "tpuc/Driver/ModelFileCheck.h"

namespace tpuc {

/// What `model_deploy` is asked for; see its --help.
struct ModelDeployOptions {
  std::string mlir;
  /// The model file; the files of the phases stand in its folder.
  std::string model;
  LoweringOptions lowering;
  /// The network takes pictures of bytes (pass fuse-preprocess).
  bool fusePreprocess = false;
  /// The order of these bytes; empty: the closest to what the input says.
  std::string customizationFormat;
  /// Of bytes that are YUV: "video" (Y from 16 to 235) or "full".
  std::string yuvRange = "video";
  /// Rows and planes of these bytes have the gaps of the chip's frame buffers.
  bool alignedInput = false;
  /// Height and width of pictures that the network scales; empty: those of its preprocessing.
  std::vector<int64_t> fuseResize = {};
  std::vector<std::string> testInput;
  std::string testReference;
  /// End with the lowered network, before the model file.
  bool notGenModel = false;
  /// The weight file of the module may lie outside of its folder.
  bool allowOutside = false;
  /// Where the caller writes the summary; empty: nowhere.
  std::string report;
  bool skipValidation = false;
  /// Every tensor counts, not only the outputs.
  bool compareAll = false;
  /// Keep what validation has computed.
  bool debug = false;
  std::vector<std::string> excepts;
  /// None: the mode's (defaultTolerance).
  std::optional<Tolerance> tolerance;
  unsigned numThreads = 0;
  /// What floats by need may cost: percent of the cycles of the network on integers.
  double floatBudget = 5;
  /// none, auto or all (`codegen::Compression`); empty: as the chip does.
  std::string compress = {};
  /// A file whose constants stand in front of those of the network; empty for none.
  std::string mergeWeight = {};
  /// ROWSxCOLUMNS of the array that computes, for chips that come in sizes; empty: the usual one.
  std::string array = {};
  codegen::GenerationOptions codegen;
};

/// The least similarity that the paper on TPU-MLIR asks: F32 identical, F16 and BF16 0.95 and 0.85,
/// INT8 0.9 and 0.5. What counts is the narrower of weights and activations.
Tolerance defaultTolerance(const QuantScheme &scheme);

/// What it did.
struct ModelDeploySummary {
  std::string chip;
  /// `int8_sym`
  std::string mode;
  /// Empty for chips that compile whole networks.
  std::string lowered;
  /// The module with addresses; empty where there is no model file.
  std::string final;
  int64_t numOps = 0;
  int64_t numCasts = 0;
  /// The bytes of the weights in the types that the chip stores them in.
  int64_t weightBytes = 0;
  /// How many ops have their first result stored as a type.
  std::map<std::string, int64_t> storage;
  /// How many ops are not stored as the mode says, by type and reason.
  std::map<std::pair<std::string, std::string>, int64_t> exceptions;
  /// What the layers take that are on floats because integers would lose their signal; none without
  /// such layers.
  std::optional<FloatShare> floatsByNeed;
  std::vector<std::string> files;
  /// What the network was compared with; empty where there was no test input.
  std::string reference;
  /// Why there is no model file; empty when there is one.
  std::string note;
  /// What the chip's compiler has to say, a sentence each.
  std::vector<std::string> notes;
  /// What the user should know of the test input, or nothing.
  std::string inputNote;
  /// What the user should know of the calibration table, or nothing.
  std::string tableNote;
  std::optional<ComparisonReport> report;
  std::optional<DeployDiagnosis> diagnosis;
  /// A layer that the host computes, and why the chip does not.
  struct CpuLayer {
    std::string name, op, reason;
  };
  std::vector<CpuLayer> cpuLayers;
  /// None where there is no model file.
  std::optional<ModelFileReport> modelFile;

  nlohmann::ordered_json toJson() const;
};

/// Lowers a Top module and writes it, and compares what it computes with the Top module or with
/// `testReference`, where there is test input. For a chip with a code generator it goes on to the
/// model file, unless that comparison is below the tolerance. All files appear together. A
/// comparison below the tolerance is not an error here; then it is found out where it comes from
/// and what would mend it. Errors: options that do not fit together or that the chip has not; what
/// the phases say.
Expected<ModelDeploySummary> deployModel(const ModelDeployOptions &options);

} // namespace tpuc

#endif // TPUC_DRIVER_MODELDEPLOY_H
