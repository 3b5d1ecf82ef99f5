//===- Guard.cpp - Work in a process of its own ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/common/Guard.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tpuc::fuzz {

namespace {

constexpr int kOutOfMemory = 86;
constexpr off_t kMostErrors = 8 << 10;
constexpr off_t kMostNotes = 16 << 20;

void writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

/// The contents of a file in memory from its last `most` bytes on; closes it.
std::string readAndClose(int file, off_t most) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - most);
  std::string text(static_cast<size_t>(size - begin), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  ::close(file);
  return text;
}

uint64_t addressSpace() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Memory of this process that no file is behind, in bytes. A new process has it from the start.
uint64_t anonymousMemory() {
  uint64_t pages = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident >> shared;
  return (resident - std::min(resident, shared)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What this process has of the memory that its parent has taken while it guarded.
uint64_t inherited = 0;

/// The kernel counts in KiB. What was `given` by the parent does not count.
uint64_t peakOf(const rusage &usage, uint64_t given) {
  const uint64_t peak = static_cast<uint64_t>(usage.ru_maxrss) << 10;
  return peak - std::min(peak, given);
}

/// From now on.
void limitTime(const Limits &limits) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  // The limit has whole seconds: a second that has begun counts as used.
  const auto used = static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
  const bool hasRest = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec > 0;
  // The soft limit alone, which may be raised again.
  const rlimit processor{used + (hasRest ? 1 : 0) + limits.seconds, RLIM_INFINITY};
  ::setrlimit(RLIMIT_CPU, &processor);
  ::alarm(limits.patience * limits.seconds);
}

void setLimits(const Limits &limits) {
  rlimit space{};
  space.rlim_cur = space.rlim_max = addressSpace() + limits.bytes;
  ::setrlimit(RLIMIT_AS, &space);
  const rlimit noCore{0, 0};
  ::setrlimit(RLIMIT_CORE, &noCore);
  std::set_new_handler([] { _exit(kOutOfMemory); });
  ::signal(SIGALRM, SIG_DFL);
  ::signal(SIGXCPU, SIG_DFL);
  limitTime(limits);
}

} // namespace

uint64_t peakMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return peakOf(usage, inherited);
}

void beginCase(const Limits &limits) {
  limitTime(limits);
  std::fflush(stderr);
  // Where the standard error is no file in memory, it stays as it is.
  if (::ftruncate(STDERR_FILENO, 0) == 0)
    ::lseek(STDERR_FILENO, 0, SEEK_SET);
}

void Notes::add(std::string_view line) const {
  std::string text(line);
  std::ranges::replace(text, '\n', ' ');
  writeAll(file, text + "\n");
}

Guard::Guard(Limits limits) : limits(limits), ownMemory(anonymousMemory()) {}

void Guard::start(uint64_t number, const std::function<void(const Notes &)> &work) {
  const int notes = ::memfd_create("notes", 0);
  const int errors = ::memfd_create("errors", 0);
  std::fflush(stdout);
  // What is free here would be there for the child, beyond what it is seen to take.
  ::malloc_trim(0);
  const uint64_t now = anonymousMemory();
  const uint64_t given = now - std::min(now, ownMemory);
  const pid_t child = ::fork();
  if (child == 0) {
    inherited = given;
    setLimits(limits);
    ::dup2(errors, STDERR_FILENO);
    ::dup2(errors, STDOUT_FILENO);
    work(Notes(notes));
    _exit(0);
  }
  if (child < 0) {
    std::perror("fork");
    std::exit(2);
  }
  processes[child] = {number, notes, errors, given};
}

std::pair<uint64_t, Ending> Guard::wait() {
  int status = 0;
  rusage usage{};
  const pid_t child = ::wait4(-1, &status, 0, &usage);
  const auto found = processes.find(child);
  if (found == processes.end()) {
    std::perror("wait4");
    std::exit(2);
  }
  const Process process = found->second;
  processes.erase(found);
  Ending ending;
  ending.peak = peakOf(usage, process.given);
  ending.notes = readAndClose(process.notes, kMostNotes);
  ending.errors = readAndClose(process.errors, kMostErrors);
  const bool isMemory = ending.errors.find("out of memory") != std::string::npos;
  if (WIFSIGNALED(status)) {
    ending.signal = WTERMSIG(status);
    const bool isSlow = ending.signal == SIGALRM || ending.signal == SIGXCPU;
    ending.kind = isSlow     ? Ending::Kind::TimeOut
                  : isMemory ? Ending::Kind::Memory
                             : Ending::Kind::Signal;
  } else if (WEXITSTATUS(status) == kOutOfMemory) {
    ending.kind = Ending::Kind::Memory;
  } else if (WEXITSTATUS(status) != 0) {
    // exit() in the middle of a library is as bad as abort().
    ending.kind = Ending::Kind::Signal;
  }
  return {process.number, ending};
}

} // namespace tpuc::fuzz
