//===- Validation.h - A network run against a reference, tensor by tensor -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_VALIDATION_H
#define TPUC_DRIVER_VALIDATION_H

#include "tpuc/Driver/OutputParts.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/ComparisonReport.h"
#include "tpuc/Support/Npz.h"

#include <map>
#include <set>

namespace tpuc {

struct ValidationOptions {
  Tolerance tolerance;
  /// Tensors that are not compared, by their names in the reference.
  std::vector<std::string> excepts;
  unsigned numThreads = 0;
  /// What tensors are called in the reference, those that have another name there.
  std::map<std::string, std::string> referenceNames;
  /// The tensors that the report fails with, by their names in the reference; empty: all.
  std::set<std::string> counting;
  /// The parts of outputs, by the names of these in the reference.
  OutputParts parts;
  /// Compare no others.
  bool countingOnly = false;
};

/// Runs `module` on `inputs`, of which floats are converted to the type that the module takes, and
/// hands every tensor that it makes, the inputs too, to `look`, each name once: quantized ones as
/// the numbers that they stand for. `substitute` may replace them.
Expected<void> runNetwork(mlir::ModuleOp module, const TensorMap &inputs, unsigned numThreads,
                          const TensorProbe &look, const TensorSubstitute &substitute = nullptr);

/// The same with every tensor written to the npz `path`, one after the other as they come: the
/// memory is that of one run. Gives the complete file.
Expected<OutputFile> dumpTensors(mlir::ModuleOp module, const TensorMap &inputs,
                                 const std::string &path, unsigned numThreads);

/// Compares what `module` makes of `inputs` with the tensors of the same name in `reference`, rows
/// of detections where the reference has them (matchDetections), and writes it to `dump` where
/// there is one. Errors: none has the name of another (both sides are listed); a name in `excepts`
/// that the network has not.
Expected<void> validate(mlir::ModuleOp module, const TensorMap &inputs, const NpzReader &reference,
                        const ValidationOptions &options, ComparisonReport &report,
                        NpzWriter *dump = nullptr);

} // namespace tpuc

#endif // TPUC_DRIVER_VALIDATION_H
