//===- NetworkCompiler.h - Chips that compile whole networks ------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generator of groups serves chips whose layers are tiled over lanes of a local memory. A chip
// that is built otherwise compiles the Top module itself, from what calibration knows of its
// tensors to the neutral model that containers write.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_NETWORKCOMPILER_H
#define TPUC_CODEGEN_NETWORKCOMPILER_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>

namespace tpuc::codegen {

/// The least and largest values of tensors, by their names.
using TensorRanges = std::map<std::string, std::pair<double, double>>;

struct NetworkRequest {
  mlir::ModuleOp top;
  const TensorRanges &ranges;
  QuantScheme scheme;
  /// Rewrites to leave out, by name.
  std::vector<std::string> without;
  /// Rows and columns of the array that computes; none for the chip's usual one.
  std::optional<std::pair<unsigned, unsigned>> array = std::nullopt;
};

struct NetworkResult {
  model::CompiledModel model;
  /// What the user should know, a sentence each.
  std::vector<std::string> notes;
};

class NetworkCompiler {
public:
  virtual ~NetworkCompiler();
  virtual SchemeSet schemes() const = 0;
  /// Errors name the layer: ops that the chip does not compute, sizes that do not fit, tensors
  /// without a range; names in `without` that are none; arrays that the chip cannot have.
  virtual Expected<NetworkResult> compile(const NetworkRequest &request) const = 0;
};

/// Gives the compiler of a chip; null for chips of other folders.
using CreateNetworkCompiler = std::unique_ptr<NetworkCompiler> (*)(const TargetInfo &target);

/// One function for each chip folder with one. Written by CMake.
std::span<const CreateNetworkCompiler> networkCompilers();

/// Null for chips that have none.
std::unique_ptr<NetworkCompiler> networkCompilerOf(const TargetInfo &target);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_NETWORKCOMPILER_H
