//===- ModuleFile.h - Modules in files, with their weights ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_MODULEFILE_H
#define TPUC_DRIVER_MODULEFILE_H

#include "tpuc/Support/OutputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <memory>

namespace tpuc {

/// A context with the dialects that module files are written in, and with what their ops compute.
/// One thread: the passes have modules as a whole before them.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// A module with the context that it lives in.
struct Network {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module = nullptr;
};

/// Reads a module from its text and checks it. Relative weight files are looked for beside `path`.
/// Unless `allowOutside`, a weight file must lie in the folder of `path` or below, links followed.
/// Errors: as MappedFile::open; text that is no module, an op that is wrong, in the parser's and
/// verifiers' words; a weight file elsewhere.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readModule(mlir::MLIRContext &context, const std::string &path, bool allowOutside = false);

/// The weight file that `module`, read from `path`, names; empty where it names none.
std::string weightFileOf(mlir::ModuleOp module, const std::string &path);

/// Errors: the module, which came from `path`, is lowered already.
Expected<void> checkIsTop(mlir::ModuleOp module, const std::string &path);

/// Writes the text of `module` to `path`, and the weights that its ops name to the file
/// `module.weight_file` beside it, whose digest it puts into `module` (top::kWeightDigest). Gives
/// the complete files, the weights first, to be committed by the caller.
Expected<std::vector<OutputFile>> writeModule(mlir::ModuleOp module, const std::string &path);

/// Runs the passes that `addPasses` adds over `module`, and appends what they remark to `remarks`
/// where it is given. Unless `verifies`, ops are not checked behind each pass. Errors: what the
/// passes say.
Expected<void> runPasses(mlir::ModuleOp module,
                         const std::function<void(mlir::OpPassManager &)> &addPasses,
                         std::vector<std::string> *remarks = nullptr, bool verifies = true);

} // namespace tpuc

#endif // TPUC_DRIVER_MODULEFILE_H
