//===- ModelTransform.h - From a trained network to an optimized Top module -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_MODELTRANSFORM_H
#define TPUC_DRIVER_MODELTRANSFORM_H

#include "tpuc/Driver/Validation.h"
#include "tpuc/Preprocess/Preprocess.h"

#include <nlohmann/json_fwd.hpp>

namespace tpuc {

/// What `model_transform` is asked for; see its --help.
struct ModelTransformOptions {
  std::string modelDef;
  /// The weights, for formats that have them apart.
  std::string modelData;
  /// Empty: the name of the file.
  std::string modelName;
  std::string mlir;
  std::vector<std::vector<int64_t>> inputShapes;
  std::vector<std::string> inputTypes;
  std::vector<std::string> outputNames;
  /// The shapes of tensors that operators of users make, by name.
  std::map<std::string, std::vector<int64_t>> customShapes;
  /// See ImportOptions.
  bool hybrid = false;
  /// How pictures become inputs, where anything was said about it.
  std::optional<PreprocessOptions> preprocess;
  std::vector<std::string> testInput;
  std::string testResult;
  std::string testReference;
  /// Where the caller writes the summary; empty: nowhere.
  std::string report;
  std::vector<std::string> disabledPatterns;
  /// The detector whose boxes the network gives; empty: it gives what it gives.
  std::string addPostprocess;
  /// See PostprocessOptions.
  std::string postprocessOptions;
  ValidationOptions validation;
  /// The Python that has the runtime of the reference; empty: see ReferenceRequest.
  std::string python;
};

/// What it did.
struct ModelTransformSummary {
  int64_t numOps = 0;
  /// Of the ops whose shapes are known.
  int64_t flops = 0;
  bool hasOpenShapes = false;
  int64_t weightBytes = 0;
  /// How often each pattern fired, those that did.
  std::map<std::string, int64_t> patterns;
  std::vector<std::string> files;
  /// What the network was compared with: the runtime of its format, a file, the network before
  /// optimization; empty where there was no test input.
  std::string reference;
  /// Why it was not that runtime, where it was not and nobody asked for something else.
  std::string note;
  /// What the user should know of the test input, or nothing.
  std::string inputNote;
  /// What of the network was left out, a line each.
  std::vector<std::string> modelNotes;
  /// Which heads of a detector were found, or nothing.
  std::string headsNote;
  std::optional<ComparisonReport> report;

  nlohmann::ordered_json toJson() const;
};

/// Imports a source model, optimizes it, writes the files of the phases import and optimize, and
/// compares the result with the source where there is test input. All files appear together once
/// everything has run. A comparison below the tolerance is not an error here.
/// Errors: options that do not fit together, and what the phases say.
Expected<ModelTransformSummary> transformModel(const ModelTransformOptions &options);

} // namespace tpuc

#endif // TPUC_DRIVER_MODELTRANSFORM_H
