//===- PythonReference.h - Reference runtimes of Python packages - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_COMMON_PYTHONREFERENCE_H
#define TPUC_FRONTEND_COMMON_PYTHONREFERENCE_H

#include "tpuc/Frontend/Frontend.h"

#include <nlohmann/json_fwd.hpp>

namespace tpuc::frontend {

/// A runtime that a Python package brings.
struct PythonRuntime {
  /// The script to run. It gets the name of a JSON file: the order, with "inputs" and "outputs",
  /// the names of the npz files to read and to write. It ends with status 77 where the package is
  /// not there.
  const char *script;
  /// What users call it, and the package that it comes from.
  const char *name;
  const char *package;
};

/// Runs the script of `runtime` in a process of its own, and gives the npz that it wrote: a
/// finished file beside `scratch` that goes when it is dropped. The Pythons that are asked are
/// `request.python`, or else that of the path and that of the source tree of this program.
/// Errors: no Python has the package; the last line that the script says.
Expected<OutputFile> runPython(const PythonRuntime &runtime, nlohmann::json order,
                               const ReferenceRequest &request, const std::string &scratch);

} // namespace tpuc::frontend

#endif // TPUC_FRONTEND_COMMON_PYTHONREFERENCE_H
