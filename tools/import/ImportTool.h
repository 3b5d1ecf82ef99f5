//===- ImportTool.h - A front end by itself, as a program ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests, and for whoever wants to see what a front end alone makes of a model:
//   tpuc-<format> MODEL [WEIGHTS]       the imported module
//   tpuc-<format> --support-matrix      the page of what can be imported
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_IMPORT_IMPORTTOOL_H
#define TOOLS_IMPORT_IMPORTTOOL_H

#include "tpuc/Frontend/Frontend.h"

#include <string>
#include <string_view>

namespace tpuc {

/// What the program of one format says and takes. Its files are those of the front end's format.
struct ImportTool {
  std::string_view name;    ///< The program: `tpuc-onnx`.
  std::string_view summary; ///< The first line of its help text.
  std::string_view kinds;   ///< What its networks consist of: `operators`.
  const Frontend &frontend;
  /// The page of what can be imported.
  std::string (*supportMatrix)();
  /// Whether `--input_types` is understood.
  bool takesTypes = false;
  /// Whether `--custom_shapes` is understood.
  bool takesCustomShapes = false;
  /// `--opt-onnx`: the option that writes the model in its own format; empty where none does.
  std::string_view writeOption = {};
};

/// The main function of the program that `tool` describes. Prints the module with the names of its
/// tensors. Errors: as `Frontend::open` and `SourceModel::import`.
int runImportTool(int argc, char **argv, const ImportTool &tool);

} // namespace tpuc

#endif // TOOLS_IMPORT_IMPORTTOOL_H
