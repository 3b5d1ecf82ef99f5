//===- ModuleBuilder.h - The module that becomes of a source model - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_COMMON_MODULEBUILDER_H
#define TPUC_FRONTEND_COMMON_MODULEBUILDER_H

#include "tpuc/Frontend/Common/ModelInputs.h"
#include "tpuc/Support/ThreadPool.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"
#include <functional>

namespace tpuc::frontend {

/// The module of the top dialect that an importer makes, with its function `main`: the inputs, the
/// ops, the constants and their names. It knows no source format.
///
/// The order of calls: reserveName for the names of the source, begin, makeInputs, then makeOp and
/// makeWeight as often as it takes, addOutput, finish.
class ModuleBuilder {
public:
  /// `where` stands for the model in errors; it is the path of its file. Loads the dialects.
  ModuleBuilder(mlir::MLIRContext &context, std::string where);

  mlir::MLIRContext *context() const { return opBuilder.getContext(); }
  const std::string &where() const { return source; }

  // ---- the module
  /// Begins the module and `main`, which takes `inputs`. `platform` is SourceFormat::name.
  void begin(const ImportOptions &options, std::string_view platform,
             llvm::ArrayRef<ModelInput> inputs);
  /// Makes the `top.Input` of each input, and casts those that are given in another type. Gives the
  /// values with the types that the model declares. Errors: as makeOp.
  Expected<llvm::SmallVector<mlir::Value>> makeInputs(llvm::ArrayRef<ModelInput> inputs);
  /// Makes `value` the next output of `main`. Errors: it is null or of type none.
  Expected<void> addOutput(const std::string &name, mlir::Value value);
  /// Ends `main`, drops constants that nothing reads and verifies the module. Errors: what the
  /// verifiers say. `layerOf` gives the layer that makes a tensor, `node 'conv1' (Conv)`, or an
  /// empty text.
  Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  finish(const std::function<std::string(const std::string &tensor)> &layerOf);

  // ---- what ops are made of
  /// The block of `main`.
  mlir::Block *mainBlock() const { return block; }
  /// The value of the `top.None` that stands for operands that are left out.
  mlir::Value none() const { return noneValue; }
  /// A constant, in the block of `main`.
  mlir::Value makeWeight(const std::string &name, Tensor tensor);
  /// The op at the end of `at`, its result types inferred. Null where it was computed at once,
  /// which ops on few constants are: `results` are weights then. Errors: what the inference says,
  /// without a place.
  Expected<mlir::Operation *> makeOp(mlir::Block *at, mlir::OperationState &state,
                                     llvm::SmallVectorImpl<mlir::Value> &results);
  /// Ends the block `at` of a region with a `top.Yield`.
  void makeYield(mlir::Block *at, mlir::ValueRange results);

  // ---- names
  /// The location of an op that makes tensors of these names.
  mlir::Location location(llvm::ArrayRef<std::string> names);
  /// Keeps freeName from giving `name`.
  void reserveName(llvm::StringRef name) { names.insert(name); }
  /// `wanted`, or with a number behind it if a tensor has that name.
  std::string freeName(const std::string &wanted);

private:
  void eraseUnusedWeights();
  bool fold(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Value> &results);

  std::string source;
  mlir::OpBuilder opBuilder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *block = nullptr;
  mlir::Value noneValue;
  llvm::SmallVector<mlir::Value> outputs;
  llvm::StringSet<> names;
  ThreadPool threads;
};

} // namespace tpuc::frontend

#endif // TPUC_FRONTEND_COMMON_MODULEBUILDER_H
