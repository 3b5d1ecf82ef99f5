//===- NetworkInputs.h - How the inputs of a network are fed ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_NETWORKINPUTS_H
#define TPUC_DRIVER_NETWORKINPUTS_H

#include "tpuc/Preprocess/Preprocess.h"

#include "mlir/IR/BuiltinOps.h"
#include <span>

namespace tpuc {

/// The inputs of `main`, in their order, with the preprocessing that their `top.Input` states.
/// `expressed`: quantized inputs are f32, the numbers that they stand for. Errors: no `main`; a
/// preprocessing that there is not.
Expected<std::vector<InputSpec>> networkInputs(mlir::ModuleOp module, bool expressed = false);

/// Errors: all inputs of the network in the file `path` have an extent of zero and hold nothing.
/// One among others may: no axes, or a tensor whose type alone counts.
Expected<void> checkExtents(std::span<const InputSpec> inputs, const std::string &path);

/// Has every input that can be a picture (rank 3 or 4) made from pictures by `options`. Errors: as
/// PreprocessOptions::check; no such input.
Expected<void> setPreprocessing(mlir::ModuleOp module, const PreprocessOptions &options);

} // namespace tpuc

#endif // TPUC_DRIVER_NETWORKINPUTS_H
