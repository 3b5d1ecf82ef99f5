//===- Compile.h - From a network to what the machine runs -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_COMPILER_COMPILE_H
#define TPUC_TARGET_DNNWEAVER_COMPILER_COMPILE_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Target/DNNWeaver/Compiler/Regions.h"

namespace tpuc::dnnweaver {

/// The chip's name in model files.
inline constexpr std::string_view kChipName = "DNNWeaver";

struct CompileOptions {
  Parameters machine;
  IntegerKind kind;
  Rewrites rewrites;
};

/// What was made of one convolution or other pass.
struct CompiledPass {
  std::string name;
  uint64_t cycles = 0;
  /// Blocks of instructions.
  unsigned blocks = 0;
};

struct CompiledNetwork {
  model::CompiledModel model;
  std::vector<CompiledPass> passes;
  /// What the user should know.
  std::vector<std::string> notes;
};

/// Compiles a network for one of the machines. Maps are stored in `kind`; the public machine has
/// int16 without zero points alone. The same network gives the same bytes. Errors name the layer:
/// tiles that do not fit with the bytes that they need, up-sampling on the public machine.
Expected<CompiledNetwork> compileNetwork(Network network, const CompileOptions &options);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_COMPILER_COMPILE_H
