//===- Progress.h - A progress bar on the terminal --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_PROGRESS_H
#define TPUC_SUPPORT_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace tpuc {

/// One state of a progress bar.
struct ProgressState {
  std::string_view label;
  int64_t done = 0;
  int64_t total = 0; ///< 0: not known; then there is no bar, percentage and remaining time.
  std::chrono::steady_clock::duration elapsed{};
};

/// `label  [#####.....] 12/40  30% 00:05 < 00:12`: count, percentage, elapsed and remaining time
/// (total minus done at the mean speed so far) in at most `width` columns. When they are few, the
/// bar goes first, then the label is cut; a label counts one column per UTF-8 character.
std::string formatProgress(const ProgressState &state, size_t width);

/// Shows how far a long loop is, on one line of the terminal that is redrawn at most ten times a
/// second. Silent when stderr is no terminal. The line is finished when the object goes away, so an
/// error that ends the loop starts on a line of its own. All members may be called by several
/// threads at once.
class Progress {
public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  using Sink = std::function<void(std::string_view)>;
  using Width = std::function<size_t()>;

  /// On stderr. `total` 0: not known.
  Progress(std::string label, int64_t total);
  /// Writes to `sink`; an empty one is silent. For tests and other terminals.
  Progress(std::string label, int64_t total, Sink sink, Width width, Clock clock);
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress();

  void advance(int64_t count = 1);
  /// What is being worked on now.
  void setLabel(std::string label);
  /// Runs `print`, which writes lines of its own, with the bar out of the way.
  void interrupt(const std::function<void()> &print);
  /// Draws the last state and ends the line. Nothing is drawn afterwards.
  void finish();

private:
  void draw(bool force);
  void drawLine();

  std::mutex mutex;
  std::string label;
  int64_t total;
  int64_t done = 0;
  Sink sink;
  Width width;
  Clock clock;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point lastDrawn;
  bool isDrawn = false;
  bool isFinished = false;
};

} // namespace tpuc

#endif // TPUC_SUPPORT_PROGRESS_H
