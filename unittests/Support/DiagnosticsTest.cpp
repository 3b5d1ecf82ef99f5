//===- DiagnosticsTest.cpp - Tests of errors, warnings and notes ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Diagnostics.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

TEST(Diagnostics, OneLine) {
  EXPECT_EQ(formatDiagnostic("tool", Severity::Error, "a: b", false), "tool: error: a: b");
  EXPECT_EQ(formatDiagnostic("tool", Severity::Warning, "a\nb\x1b[0m", false),
            "tool: warning: a\\x0ab\\x1b[0m");
  EXPECT_EQ(formatDiagnostic("", Severity::Note, "x", false), "note: x");
}

TEST(Diagnostics, ColourOnlyOnRequest) {
  EXPECT_EQ(formatDiagnostic("tool", Severity::Error, "x", true),
            "tool: \x1b[1;31merror:\x1b[0m x");
}

TEST(Diagnostics, GoToStderrWithoutColourWhenThatIsNoTerminal) {
  testing::internal::CaptureStderr();
  reportError("tool", {"in.npz", "empty", "a tensor"});
  reportWarning("tool", "odd");
  reportNote("tool", "by the way");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tool: error: in.npz: empty; expected a tensor\ntool: warning: odd\n"
            "tool: note: by the way\n");
}

} // namespace
