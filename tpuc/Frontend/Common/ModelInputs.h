//===- ModelInputs.h - The inputs of a model, and what options make of them - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_COMMON_MODELINPUTS_H
#define TPUC_FRONTEND_COMMON_MODELINPUTS_H

#include "tpuc/Frontend/ImportOptions.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Support/Tensor.h"

#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>

namespace tpuc::frontend {

using Ints = llvm::SmallVector<int64_t>;

/// An input as the model declares it.
struct DeclaredInput {
  std::string name;
  DataType type;
  /// Dynamic extents are ShapedType::kDynamic; none for an unknown rank.
  std::optional<Ints> dims;
  /// For each extent its name in the model, where it has one; inputs whose extents have one name
  /// have one extent. Fewer than extents, or none at all, where they have no names.
  std::vector<std::string> symbols;
};

/// An input of the module.
struct ModelInput {
  std::string name;
  /// The element type that the network is given.
  DataType given;
  /// The element type that the model computes with.
  DataType declared;
  std::optional<Ints> dims;
};

/// Binds the shapes and types of the options to the inputs of a model.
class InputBinder {
public:
  /// `where` stands for the model in errors. Both must outlive the binder.
  InputBinder(const std::string &where, const ImportOptions &options)
      : where(where), options(options) {}

  /// Errors: the options have shapes or types for another number of inputs than `names`.
  Expected<void> checkCounts(const std::vector<std::string> &names) const;

  /// Input `index` of the model with the shape and type that the options give it. Errors: no such
  /// element type; another rank; negative extents; one symbol that is bound to two numbers; more
  /// elements than can be addressed.
  Expected<ModelInput> bind(const DeclaredInput &input, size_t index);

private:
  Expected<void> bindType(ModelInput &input, size_t index) const;
  Expected<void> bindShape(ModelInput &input, size_t index) const;
  Expected<void> bindSymbols(const DeclaredInput &input, const Ints &dims);

  const std::string &where;
  const ImportOptions &options;
  /// The extent of each symbol, and the input that had it first.
  std::map<std::string, std::pair<int64_t, std::string>> bound;
};

} // namespace tpuc::frontend

#endif // TPUC_FRONTEND_COMMON_MODELINPUTS_H
