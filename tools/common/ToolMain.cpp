//===- ToolMain.cpp - The main function of every program ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/ToolMain.h"

#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/SimdLevel.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <vector>

namespace tpuc {

namespace {

int reportStdout(std::string_view tool, int code) {
  if (code != EPIPE)
    reportError(tool,
                {"standard output",
                 std::string("cannot write: ") + (code ? std::strerror(code) : "earlier failure"),
                 ""});
  return 1;
}

} // namespace

int runTool(int argc, char **argv, std::string_view tool, const ToolBody &body) {
  std::signal(SIGPIPE, SIG_IGN);
  if (Expected<void> known = checkSimdLevel(); !known) {
    reportError(tool, known.error());
    return 1;
  }
  int status = 1;
  try {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    Expected<int> result = body(arguments);
    // What was printed comes before the message.
    errno = 0;
    bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    int code = errno;
    if (!result)
      reportError(tool, result.error());
    else
      status = *result;
    if (!flushed)
      status = reportStdout(tool, code);
  } catch (const std::bad_alloc &) {
    reportError(tool, {"", "not enough memory", ""});
  } catch (const std::system_error &error) {
    // fmt::print throws when stdout cannot be written.
    if (std::ferror(stdout))
      return reportStdout(tool, error.code().value());
    reportError(tool, {"", std::string("unexpected: ") + error.what(), ""});
  } catch (const std::exception &error) {
    reportError(tool, {"", std::string("unexpected: ") + error.what(), ""});
  } catch (...) {
    reportError(tool, {"", "unexpected exception", ""});
  }
  return status;
}

} // namespace tpuc
