//===- WholeNetwork.h - Chips that compile Top modules ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_WHOLENETWORK_H
#define TPUC_DRIVER_WHOLENETWORK_H

#include "tpuc/Driver/ModelFileCheck.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Target/Target.h"

namespace tpuc {

struct WholeNetworkRequest {
  mlir::ModuleOp top;
  const TargetInfo &target;
  QuantScheme scheme;
  std::string calibrationTable;
  /// Rewrites to leave out.
  std::vector<std::string> without;
  /// ROWSxCOLUMNS of the array that computes; empty for the chip's usual one.
  std::string array;
  /// The file to write.
  std::string model;
  unsigned numThreads = 0;
};

struct WholeNetwork {
  /// Complete, but not yet there for others.
  OutputFile file;
  ModelFileReport report;
  std::vector<std::string> notes;
  /// What the user should know of the calibration table, or nothing.
  std::string tableNote;
};

/// Compiles a Top module for a chip with a compiler of its own (Codegen/NetworkCompiler.h), and
/// writes and times its model file. Errors: what the table and the compiler say.
Expected<WholeNetwork> compileWholeNetwork(const WholeNetworkRequest &request);

/// Runs a complete model file on its simulator and compares its outputs, as real numbers, with
/// those of the same names in `reference`, but for those in `excepts`.
Expected<void> compareWholeNetwork(const OutputFile &file, const TensorMap &inputs,
                                   const NpzReader &reference,
                                   const std::vector<std::string> &excepts, unsigned numThreads,
                                   ComparisonReport &report);

} // namespace tpuc

#endif // TPUC_DRIVER_WHOLENETWORK_H
