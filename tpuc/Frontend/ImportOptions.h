//===- ImportOptions.h - How a source model is imported ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_IMPORTOPTIONS_H
#define TPUC_FRONTEND_IMPORTOPTIONS_H

#include "tpuc/Support/Tensor.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tpuc {

/// What every front end is told about the import of a model.
struct ImportOptions {
  /// The module's name; the file's name without its ending if it is empty.
  std::string moduleName;
  /// What `module.weight_file` says: the file that the weights will be written to.
  std::string weightFile;
  /// One shape per input of the model, in their order, or none at all. A shape replaces the one in
  /// the file, whose symbolic dimensions it binds.
  std::vector<std::vector<int64_t>> inputShapes;
  /// One element type per input (`float32`, `f32`, `int64`, ...), or none. An input whose type in
  /// the file is another is cast to that.
  std::vector<std::string> inputTypes;
  /// The tensors at which the network is cut; none: the outputs of the model.
  std::vector<std::string> outputNames;
  /// The shapes of tensors that operators of users make, by name: nothing in a network tells them.
  std::map<std::string, std::vector<int64_t>> customShapes;
  /// Beside weights of 8-bit integers, floats are rounded to 8 bits at run time, as the kernels of
  /// the source's runtime do. Otherwise such weights become the floats that they stand for.
  bool hybrid = false;
};

/// The value of a tensor of the main graph that is known to be constant; none for others.
using ConstantLookup = std::function<std::optional<Tensor>(const std::string &name)>;

} // namespace tpuc

#endif // TPUC_FRONTEND_IMPORTOPTIONS_H
