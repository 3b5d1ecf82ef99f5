//===- CompiledNetworks.h - Networks compiled and run -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_CODEGEN_COMPILEDNETWORKS_H
#define UNITTESTS_CODEGEN_COMPILEDNETWORKS_H

#include "tpuc/Target/QuantScheme.h"
#include "tpuc/Target/Target.h"
#include "unittests/Codegen/Sketch.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <gtest/gtest.h>

namespace tpuc::codegen {

struct Mode {
  const char *name;
  QuantScheme scheme;
};

inline constexpr Mode kModes[] = {{"F32", schemes::kF32},
                                  {"F16", schemes::kF16},
                                  {"BF16", schemes::kBF16},
                                  {"INT8", schemes::kInt8},
                                  {"INT8_asymmetric", schemes::kInt8Asymmetric}};

/// The chips that have a code generator and F32, as `--chip` spells them.
std::vector<std::string> compiledChips();
/// Those without F32: their networks begin and end with what is stored.
std::vector<std::string> compiledChipsWithoutF32();

/// How a network is compiled, and what is expected of it.
struct Compilation {
  std::string chip;
  Mode mode = kModes[0];
  int opt = 1;
  /// Heuristics that are left out, for `check`.
  std::vector<std::string> without = {};
  /// The bits of the results are those of the lowered network.
  bool isExact = false;
  /// Some of it is computed by the host.
  bool needsHost = false;
  /// For `deploy`: integers wherever an op has a form on them.
  bool isStrict = false;
  /// For `deploy`: a rounding next to a bound decides what elements of the results are.
  bool decides = false;
};

/// The modes in which the chip's back end compiles networks.
std::vector<Mode> compiledModes(const std::string &chip);

class CompiledNetworks : public testing::Test {
protected:
  CompiledNetworks();

  /// Lowers and compiles the network that `sketch` draws, runs it on the chip's machine, and
  /// compares it with the lowered network: integers give the same bits, floats what their precision
  /// allows.
  void check(const Sketch &sketch, const Compilation &compilation);

  /// `model_deploy` of the network that `sketch` draws makes a model file in the mode's types or,
  /// of what the chip does not compute in these, in others and on the host; the file computes what
  /// the lowered network does.
  void deploy(const Sketch &sketch, const Compilation &compilation);

  void calibrate(mlir::ModuleOp module, const TensorMap &inputs);
  void transform(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> add);

  mlir::MLIRContext context;

private:
  void checkFile(mlir::ModuleOp compiled, mlir::ModuleOp lowered, const Sketch &sketch,
                 const Compilation &compilation);
  void checkCommands(mlir::ModuleOp compiled, mlir::ModuleOp lowered, const Sketch &sketch,
                     const Compilation &compilation);
};

} // namespace tpuc::codegen

#endif // UNITTESTS_CODEGEN_COMPILEDNETWORKS_H
