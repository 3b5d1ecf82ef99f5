//===- Guard.h - Work in a process of its own -------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_COMMON_GUARD_H
#define TEST_FUZZ_COMMON_GUARD_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tpuc::fuzz {

struct Limits {
  /// Of the processor.
  unsigned seconds = 20;
  /// On the wall, which other work slows down: so many times as many.
  unsigned patience = 4;
  /// Of the address space, above what the process has to begin with.
  uint64_t bytes = uint64_t{2} << 30;
};

/// How a process ended.
struct Ending {
  /// Left: a file that should not be there any more.
  enum class Kind : uint8_t { Done, Signal, TimeOut, Memory, Left };
  Kind kind = Kind::Done;
  /// That of Kind::Signal.
  int signal = 0;
  /// What the work noted, a line each, and what it wrote on the standard error (the last part).
  std::string notes, errors;
  /// Memory that the process had at most at a time, in bytes, with what it shares with others, but
  /// for what the process that started it has taken since its Guard was made.
  uint64_t peak = 0;
};

/// Memory that this process has had at most at a time, in bytes, as `Ending::peak` counts it.
uint64_t peakMemory();

/// For a process of several cases, in front of each: the case has the whole time that `limits`
/// give, and what was written on the standard error is forgotten.
void beginCase(const Limits &limits);

/// Where work notes what it does, so that it is known also of work that crashes.
class Notes {
public:
  explicit Notes(int file) : file(file) {}
  /// One line; line breaks in it become spaces.
  void add(std::string_view line) const;

private:
  int file;
};

/// Runs work in processes of its own, several at a time. The process that starts them has one
/// thread.
class Guard {
public:
  explicit Guard(Limits limits);

  /// Starts `work`; its number is what `wait` gives with its ending.
  void start(uint64_t number, const std::function<void(const Notes &)> &work);
  size_t running() const { return processes.size(); }
  /// Waits for one of those that run; there is one.
  std::pair<uint64_t, Ending> wait();

private:
  struct Process {
    uint64_t number;
    int notes, errors;
    /// Memory that it had of this process from the start, in bytes, beyond `ownMemory`.
    uint64_t given;
  };

  Limits limits;
  /// What this process had when the guard was made, in bytes.
  uint64_t ownMemory;
  std::map<pid_t, Process> processes;
};

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_COMMON_GUARD_H
