//===- ToolMain.h - The main function of every program ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_COMMON_TOOLMAIN_H
#define TOOLS_COMMON_TOOLMAIN_H

#include "tpuc/Support/Error.h"

#include <functional>
#include <span>
#include <string>

namespace tpuc {

/// What `body` of runTool does: takes the arguments without the name of the program, gives the exit
/// status.
using ToolBody = std::function<Expected<int>(std::span<const std::string> arguments)>;

/// Runs `body` and returns the exit status of the program: that of `body`, or 1 after an Error, an
/// exception (std::bad_alloc: "not enough memory") or a failure to write stdout (a full disk), each
/// told in one line `tool: error: ...` on stderr. When the reader of stdout went away, as in
/// `tool | head`, the status is 1 without a word. Ignores SIGPIPE. A TPUC_CPU that names no level
/// is an Error too, before `body` runs.
int runTool(int argc, char **argv, std::string_view tool, const ToolBody &body);

} // namespace tpuc

#endif // TOOLS_COMMON_TOOLMAIN_H
