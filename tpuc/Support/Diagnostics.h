//===- Diagnostics.h - Errors, warnings and notes for the user --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_DIAGNOSTICS_H
#define TPUC_SUPPORT_DIAGNOSTICS_H

#include "tpuc/Support/Error.h"

#include <cstdio>
#include <string_view>

namespace tpuc {

enum class Severity : uint8_t { Error, Warning, Note };

/// `tool: error: message`, one line without the line break: control characters of `message` are
/// shown as \xNN. With `colour`, the severity is in colour, by ANSI escape sequences.
std::string formatDiagnostic(std::string_view tool, Severity severity, std::string_view message,
                             bool colour);

// Print one line each to stderr: in one write, so that the lines of two threads do not mix; in
// colour if stderr is a terminal (and neither NO_COLOR is set nor TERM=dumb).
void reportError(std::string_view tool, const Error &error);
void reportWarning(std::string_view tool, std::string_view message);
void reportNote(std::string_view tool, std::string_view message);

/// Whether `stream` is a terminal that may be sent escape sequences.
bool isTerminal(std::FILE *stream);

} // namespace tpuc

#endif // TPUC_SUPPORT_DIAGNOSTICS_H
