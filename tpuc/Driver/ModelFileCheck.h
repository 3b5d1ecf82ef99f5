//===- ModelFileCheck.h - What a new model file takes and computes ---*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_MODELFILECHECK_H
#define TPUC_DRIVER_MODELFILECHECK_H

#include "tpuc/Driver/OutputParts.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/ComparisonReport.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace tpuc {

struct ModelFileRequest {
  std::string path;
  /// The network that the file was made from.
  mlir::ModuleOp lowered;
  /// Without inputs the file is not run.
  const TensorMap &inputs;
  /// The parts of outputs, by the names of these.
  OutputParts parts = {};
  unsigned numThreads = 0;
};

/// What the chip's timing model and its simulator say about a model file. Times and shares are the
/// vendor's set of parameters.
struct ModelFileReport {
  int64_t fileBytes = 0;
  int64_t neuronBytes = 0;
  int64_t cycles = 0, conservativeCycles = 0;
  /// Of all engines.
  int64_t commands = 0;
  double milliseconds = 0;
  /// Shares of the time in which an engine works, and in which all multipliers would.
  double computeBusy = 0, transferBusy = 0, macUtilisation = 0;
  uint64_t bytesRead = 0, bytesWritten = 0;
  struct Layer {
    std::string name;
    int64_t computeCycles = 0, transferCycles = 0;
  };
  /// The layers by the cycles of their busier engine, the slowest first.
  std::vector<Layer> slowest;
  /// All layers with a name, in the order in which they begin.
  std::vector<Layer> layers;
  /// The outputs on the simulator against those of the lowered network; none without inputs.
  std::optional<ComparisonReport> comparison;
  /// How the tolerance of outputs was found, where not all are equal.
  struct Rounding {
    /// The runs of the interpreter, and the layers whose results they moved.
    int64_t runs = 0, layers = 0;
    struct Output {
      std::string name;
      /// How far it was moved and how far it may be off, over its norm.
      double moved = 0, allowed = 0;
    };
    std::vector<Output> outputs;

    /// A sentence for each output.
    std::vector<std::string> sentences() const;
  };
  std::optional<Rounding> rounding;
  /// How outputs were compared whose elements may stand elsewhere: a sentence each.
  std::vector<std::string> remarks;

  nlohmann::ordered_json toJson() const;
};

/// Loads a model file as its users would, asks what it takes and, where there are inputs, runs it
/// on the chip's simulator.
///
/// Outputs that integers alone decide have to be equal to those of the lowered network. Others may
/// differ by what their roundings may do, which is measured where one does (RoundingNoise.h).
/// Detections are compared as sets (DetectionSets.h).
Expected<ModelFileReport> checkModelFile(const ModelFileRequest &request);

} // namespace tpuc

#endif // TPUC_DRIVER_MODELFILECHECK_H
