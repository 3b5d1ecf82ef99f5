//===- ToolMainTest.cpp - Tests of the main function of programs ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/ToolMain.h"

#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <unistd.h>

using namespace tpuc;
using testing::ElementsAre;

namespace {

int run(const ToolBody &body, std::vector<std::string> arguments = {}) {
  std::string program = "/usr/bin/tool";
  std::vector<char *> argv = {program.data()};
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  return runTool(static_cast<int>(argv.size()) - 1, argv.data(), "tool", body);
}

/// The exit status and what stands on stderr.
std::pair<int, std::string> outcome(const ToolBody &body) {
  testing::internal::CaptureStderr();
  int status = run(body);
  return {status, testing::internal::GetCapturedStderr()};
}

TEST(ToolMain, HandsOverArgumentsAndStatus) {
  std::vector<std::string> seen;
  int status = run(
      [&](std::span<const std::string> arguments) -> Expected<int> {
        seen.assign(arguments.begin(), arguments.end());
        return 5;
      },
      {"a", "--b"});
  EXPECT_EQ(status, 5);
  EXPECT_THAT(seen, ElementsAre("a", "--b"));
}

TEST(ToolMain, TellsErrorsInOneLine) {
  auto [status, text] = outcome([](std::span<const std::string>) -> Expected<int> {
    return makeError("in.npz", "no\nnewline", "one line");
  });
  EXPECT_EQ(status, 1);
  EXPECT_EQ(text, "tool: error: in.npz: no\\x0anewline; expected one line\n");
}

TEST(ToolMain, CatchesExceptions) {
  auto [memory, memoryText] =
      outcome([](std::span<const std::string>) -> Expected<int> { throw std::bad_alloc(); });
  EXPECT_EQ(memory, 1);
  EXPECT_EQ(memoryText, "tool: error: not enough memory\n");
  auto [other, otherText] = outcome(
      [](std::span<const std::string>) -> Expected<int> { throw std::runtime_error("a\nb"); });
  EXPECT_EQ(other, 1);
  EXPECT_EQ(otherText, "tool: error: unexpected: a\\x0ab\n");
  auto [strange, strangeText] =
      outcome([](std::span<const std::string>) -> Expected<int> { throw 3; });
  EXPECT_EQ(strange, 1);
  EXPECT_EQ(strangeText, "tool: error: unexpected exception\n");
}

/// Runs a body that prints `bytes` bytes with stdout replaced by `descriptor`, in a child process.
void printTo(int descriptor, size_t bytes) {
  ::dup2(descriptor, STDOUT_FILENO);
  int status = run([&](std::span<const std::string>) -> Expected<int> {
    fmt::print("{}", std::string(bytes, 'x'));
    return 0;
  });
  std::_Exit(status);
}

TEST(ToolMainDeathTest, AFullDiskIsAnError) {
  for (size_t bytes : {size_t(1), size_t(1) << 20})
    EXPECT_EXIT(printTo(::open("/dev/full", O_WRONLY), bytes), testing::ExitedWithCode(1),
                "^tool: error: standard output: cannot write: No space left on device\n$");
}

TEST(ToolMainDeathTest, AClosedPipeIsQuiet) {
  for (size_t bytes : {size_t(1), size_t(1) << 20})
    EXPECT_EXIT(
        {
          int ends[2];
          if (::pipe(ends) == 0)
            ::close(ends[0]);
          printTo(ends[1], bytes);
        },
        testing::ExitedWithCode(1), "^$");
}

} // namespace
