//===- Validation.h - A network run against a reference, tensor by tensor -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_VALIDATION_H
#define TPUC_DRIVER_VALIDATION_H

#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/ComparisonReport.h"
#include "tpuc/Support/Npz.h"

namespace tpuc {

struct ValidationOptions {
  Tolerance tolerance;
  /// Tensors that are not compared.
  std::vector<std::string> excepts;
  unsigned numThreads = 0;
};

/// Runs `module` on `inputs` and writes every tensor that it makes to the npz `path`, one after the
/// other as they come: the memory is that of one run. Gives the complete file.
Expected<OutputFile> dumpTensors(mlir::ModuleOp module, const TensorMap &inputs,
                                 const std::string &path, unsigned numThreads);

/// The same, and compares the tensors with those of the same name in `reference`. Errors: none has
/// the name of another (both sides are listed); a name in `excepts` that the network has not.
Expected<OutputFile> validate(mlir::ModuleOp module, const TensorMap &inputs,
                              const NpzReader &reference, const ValidationOptions &options,
                              const std::string &path, ComparisonReport &report);

} // namespace tpuc

#endif // TPUC_DRIVER_VALIDATION_H
