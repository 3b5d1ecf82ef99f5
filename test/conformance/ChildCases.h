//===- ChildCases.h - Cases in a process that may end ---------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_CHILDCASES_H
#define TEST_CONFORMANCE_CHILDCASES_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tpuc::conformance {

/// What came of a case: a letter that the program chooses, and what belongs to it.
struct CaseResult {
  char code = 0;
  uint64_t hash = 0;
  std::string note;
};

/// How a child reports, a line each.
class ChildReport {
public:
  explicit ChildReport(FILE *out) : out(out) {}

  void add(const CaseResult &result) {
    write(result.code, fmt::format("{} {}", result.hash, result.note));
  }
  /// The parent prints the text.
  void say(std::string_view text) { write(kText, text); }
  /// The parent ends with this error.
  [[noreturn]] void fail(std::string_view error) {
    write(kError, error);
    _exit(3);
  }

  /// No codes of results.
  static constexpr char kText = 'T', kError = 'E';

private:
  void write(char code, std::string_view rest) {
    fmt::print(out, "{} {}\n", code, rest);
    std::fflush(out);
  }

  FILE *out;
};

/// What the child itself prints is not seen.
struct Silence {
  bool output = true, errors = true;
};

/// Has a child do the `work` of cases from `first` on until it ends, whyever; returns how many
/// cases have results then.
inline size_t runChild(size_t first, std::vector<CaseResult> &results, Silence silence,
                       const std::function<void(ChildReport &)> &work) {
  int ends[2];
  if (pipe(ends) != 0)
    std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    ChildReport report(fdopen(ends[1], "w"));
    if ((silence.output && !freopen("/dev/null", "w", stdout)) ||
        (silence.errors && !freopen("/dev/null", "w", stderr)))
      _exit(2);
    work(report);
    _exit(0);
  }
  close(ends[1]);
  FILE *in = fdopen(ends[0], "r");
  char line[4096];
  size_t at = first;
  while (std::fgets(line, sizeof line, in)) {
    if (line[0] == ChildReport::kError) {
      fmt::print(stderr, "conformance: error: {}", line + 2);
      std::exit(1);
    }
    if (line[0] == ChildReport::kText) {
      fmt::print("{}", line + 2);
      continue;
    }
    char *end = nullptr;
    CaseResult result{line[0], std::strtoull(line + 2, &end, 10), end + 1};
    if (!result.note.empty() && result.note.back() == '\n')
      result.note.pop_back();
    results[at++] = result;
  }
  std::fclose(in);
  int status;
  waitpid(child, &status, 0);
  return at;
}

} // namespace tpuc::conformance

#endif // TEST_CONFORMANCE_CHILDCASES_H
