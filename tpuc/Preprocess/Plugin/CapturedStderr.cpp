//===- CapturedStderr.cpp - What C libraries say on stderr --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The libraries behind OpenCV's decoders print warnings with fprintf(stderr), and OpenCV gives no
// access to the handlers by which they could be told otherwise. glibc's `stderr` is a variable:
// while a picture is decoded it is a stream whose writer knows the thread that decodes.
//
//===----------------------------------------------------------------------===//

#include "CapturedStderr.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace tpuc {

namespace {

class Capture {
public:
  Capture() : stream(::fopencookie(this, "w", {nullptr, write, nullptr, nullptr})) {
    // A buffer would mix the text of two threads.
    if (stream)
      std::setvbuf(stream, nullptr, _IONBF, 0);
  }

  std::string run(const std::function<void()> &work) {
    const std::lock_guard lock(mutex);
    text.clear();
    owner = std::this_thread::get_id();
    std::FILE *const before = stderr;
    const auto restore = std::shared_ptr<void>(nullptr, [&](void *) {
      stderr = before;
      owner = std::thread::id();
    });
    if (stream)
      stderr = stream;
    work();
    return text;
  }

private:
  static ssize_t write(void *cookie, const char *data, size_t size) {
    auto &capture = *static_cast<Capture *>(cookie);
    if (std::this_thread::get_id() != capture.owner)
      return ::write(STDERR_FILENO, data, size);
    capture.text.append(data, size);
    return static_cast<ssize_t>(size);
  }

  std::FILE *stream;
  std::mutex mutex;
  /// Whose text is kept; no thread's between two calls.
  std::atomic<std::thread::id> owner;
  std::string text;
};

} // namespace

std::string captureStderr(const std::function<void()> &work) {
  // Never destroyed: another thread may still hold the stream that it found in `stderr`.
  static auto &capture = *new Capture;
  return capture.run(work);
}

} // namespace tpuc
