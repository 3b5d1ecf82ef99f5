//===- Frontend.h - What reads the models of one format ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_FRONTEND_H
#define TPUC_FRONTEND_FRONTEND_H

#include "tpuc/Frontend/Formats.h"
#include "tpuc/Frontend/ImportOptions.h"
#include "tpuc/Support/OutputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <set>
#include <vector>

namespace tpuc {

/// The files of a model.
struct SourceFiles {
  std::string model;
  /// The weights, for formats that have them apart; empty where none were given.
  std::string weights;
};

/// A run of a model by the runtime that its format is known for.
struct ReferenceRequest {
  /// The file to run: the model, or what `writeOptimized` made of it for other input shapes.
  std::string model;
  /// An npz with an array per input.
  std::string inputs;
  /// The inner tensors that are wanted where the model has them; its outputs come in any case.
  std::set<std::string> tensors;
  unsigned numThreads = 1;
  /// The Python to ask, where one is asked; empty: that on the path, or that of the source tree
  /// that this program was built in.
  std::string python;
  /// Files of the run stand beside this path, with endings, until they are dropped.
  std::string scratch;
};

/// A trained network in the format that it came in.
class SourceModel {
public:
  virtual ~SourceModel();

  /// A module of the top dialect: one op per op of the source where the dialect has it, else a few;
  /// tensors keep their names. `main` has a `top.Input` per input. Errors: options that do not fit
  /// the model; ops that are not supported, all of them at once; operands that do not fit.
  virtual Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  import(mlir::MLIRContext &context, const ImportOptions &options) const = 0;

  /// The files besides its own that the model has read so far: those of its external data.
  virtual std::vector<std::string> otherFiles() const;

  /// What of the model was left out because it means nothing at inference, or is not known: a line
  /// each, for users.
  virtual std::vector<std::string> notes() const;

  /// Writes the part of the model that `options.outputNames` need in its own format to `path`, with
  /// `options.inputShapes` and with constants where `constants` has some. Gives the complete files,
  /// the model first, to be committed by the caller; none where the format has no writer.
  virtual Expected<std::vector<OutputFile>> writeOptimized(const std::string &path,
                                                           const ImportOptions &options,
                                                           const ConstantLookup &constants) const;

  /// What `reference` asks, as users are told: `ONNX Runtime`.
  virtual std::string_view referenceName() const;
  /// What the runtime of the format computes: an npz of tensors by their names, a finished file
  /// that goes when it is dropped. Errors: there is no such runtime here, or what it says.
  virtual Expected<OutputFile> reference(const ReferenceRequest &request) const;
};

/// Reads the models of one format. A folder of tpuc/Frontend defines one (tpuc_add_frontend).
class Frontend {
public:
  virtual ~Frontend();
  virtual const SourceFormat &format() const = 0;
  /// Errors: a file cannot be read, or is no model of the format, or no weights of it.
  virtual Expected<std::unique_ptr<SourceModel>> open(const SourceFiles &files) const = 0;
};

/// The front end of each folder, as sourceFormats(). Written by CMake.
std::span<const Frontend *const> frontends();

/// Errors: `weights`, which `option` names, are given for a model of `format`, which has its own.
Expected<void> checkWeights(const SourceFormat &format, const std::string &option,
                            const std::string &weights);

/// Errors: `--hybrid` is `asked` for with a model of `format`, which has no weights of integers
/// beside floats.
Expected<void> checkHybrid(const SourceFormat &format, bool asked);

/// The front end for the file `path`, by the ending of its name. Errors: as formatOfName.
Expected<const Frontend *> frontendOfName(const std::string &path);

/// The same by what the file begins with. Errors: as MappedFile::open; no format begins so.
Expected<const Frontend *> frontendOfContents(const std::string &path);

} // namespace tpuc

#endif // TPUC_FRONTEND_FRONTEND_H
