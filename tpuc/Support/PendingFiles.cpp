//===- PendingFiles.cpp - Temporaries that a signal must not leave behind -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/PendingFiles.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <unistd.h>

namespace tpuc {

/// Entries are never freed, only used again: the handler may be walking over them.
struct PendingFile {
  enum State : int { Free, Claimed, Pending };

  std::atomic<int> state = Claimed;
  std::string path;
  pid_t process = 0;
  PendingFile *next = nullptr;
};

namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGABRT};

/// What the signal handler sees. A handler is given nothing but the signal's number, so this is
/// the one place that cannot do without variables of the process.
struct Registry {
  std::atomic<PendingFile *> head = nullptr;
  /// Threads that are inside `createPendingFile`.
  std::atomic<int> creating = 0;
  /// The handler has begun: nobody may create another file.
  std::atomic<bool> ending = false;
  std::array<struct sigaction, kSignals.size()> previous = {};
  std::once_flag installed;
};

constinit Registry registry;

static_assert(std::atomic<PendingFile *>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void sleepOneMillisecond() {
  timespec pause = {0, 1'000'000};
  nanosleep(&pause, nullptr);
}

void unlinkFiles() {
  pid_t self = getpid();
  for (PendingFile *file = registry.head; file; file = file->next)
    if (file->state == PendingFile::Pending && file->process == self)
      unlink(file->path.c_str());
}

/// Only calls what is async-signal-safe (signal-safety(7)).
void handleSignal(int signal) {
  int savedErrno = errno;
  registry.ending = true;
  // Threads that create a file have signals blocked, so none of them is the one we interrupt. The
  // bound is for a file system that hangs.
  for (int attempt = 0; registry.creating > 0 && attempt < 1000; ++attempt)
    sleepOneMillisecond();
  unlinkFiles();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] != signal)
      continue;
    sigaction(signal, &registry.previous[i], nullptr);
    // Somebody else's handler may return and let the program go on.
    if (registry.previous[i].sa_handler != SIG_DFL)
      registry.ending = false;
  }
  errno = savedErrno;
  // Blocked until this handler returns; then the previous disposition gets it.
  raise(signal);
}

void installHandlers() {
  std::atexit(unlinkFiles);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action = {};
    action.sa_handler = handleSignal;
    sigfillset(&action.sa_mask);
    sigaction(kSignals[i], nullptr, &registry.previous[i]);
    if (registry.previous[i].sa_handler != SIG_IGN)
      sigaction(kSignals[i], &action, nullptr);
  }
}

/// Blocks the signals in this thread and makes the handler wait for it.
class CreationGuard {
public:
  CreationGuard() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int signal : kSignals)
      sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &previous);
    ++registry.creating;
    while (registry.ending) {
      --registry.creating;
      sleepOneMillisecond();
      ++registry.creating;
    }
  }
  CreationGuard(const CreationGuard &) = delete;
  CreationGuard &operator=(const CreationGuard &) = delete;
  ~CreationGuard() {
    --registry.creating;
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }

private:
  sigset_t previous;
};

PendingFile *claimEntry() {
  for (PendingFile *file = registry.head; file; file = file->next) {
    int expected = PendingFile::Free;
    if (file->state.compare_exchange_strong(expected, PendingFile::Claimed))
      return file;
  }
  auto *file = new PendingFile;
  file->next = registry.head;
  while (!registry.head.compare_exchange_weak(file->next, file)) {
  }
  return file;
}

} // namespace

PendingFile *createPendingFile(const std::string &path, const std::function<bool()> &create) {
  std::call_once(registry.installed, installHandlers);
  CreationGuard guard;
  PendingFile *file = claimEntry();
  file->path = path;
  file->process = getpid();
  if (!create()) {
    file->state = PendingFile::Free;
    return nullptr;
  }
  file->state = PendingFile::Pending;
  return file;
}

void removePendingFiles() { unlinkFiles(); }

void releasePendingFile(PendingFile *file) { file->state = PendingFile::Free; }

bool isPendingFileOfThisProcess(const PendingFile *file) { return file->process == getpid(); }

} // namespace tpuc
