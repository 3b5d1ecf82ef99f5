//===- Progress.cpp - A progress bar on the terminal ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Progress.h"

#include "tpuc/Support/Diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tpuc {

namespace {

using namespace std::chrono;

/// `05:12`, from an hour on `1:05:12`.
std::string formatTime(steady_clock::duration time) {
  int64_t seconds = std::max<int64_t>(0, duration_cast<std::chrono::seconds>(time).count());
  if (seconds < 3600)
    return fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

bool startsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// The first `columns` characters, control characters as '?'.
std::string cut(std::string_view label, size_t columns) {
  std::string result;
  size_t used = 0;
  for (char c : label) {
    used += startsCharacter(c);
    if (used > columns)
      break;
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return result;
}

size_t countColumns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), startsCharacter));
}

size_t terminalWidth() {
  constexpr size_t kDefault = 80;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kDefault;
  return size.ws_col;
}

void writeToStderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// Back to the first column and erase what follows.
constexpr std::string_view kClearLine = "\r\x1b[K";

} // namespace

std::string formatProgress(const ProgressState &state, size_t width) {
  std::string figures;
  if (state.total > 0) {
    int64_t done = std::clamp<int64_t>(state.done, 0, state.total);
    figures = fmt::format("{}/{} {:3}% {}", state.done, state.total,
                          static_cast<int64_t>(static_cast<double>(done) / state.total * 100),
                          formatTime(state.elapsed));
    if (done > 0) {
      double remaining = duration<double>(state.elapsed).count() / done * (state.total - done);
      figures += fmt::format(
          " < {}", formatTime(duration_cast<steady_clock::duration>(duration<double>(remaining))));
    }
  } else {
    figures = fmt::format("{} {}", state.done, formatTime(state.elapsed));
  }
  if (figures.size() >= width)
    return figures.substr(0, width);

  size_t room = width - figures.size() - 1;
  std::string label = cut(state.label, room);
  std::string line = label + (label.empty() ? "" : " ");
  constexpr size_t kLeastBar = 10;
  constexpr size_t kMostBar = 40;
  size_t used = countColumns(label);
  if (state.total > 0 && room >= used + 3 + kLeastBar) {
    size_t cells = std::min(kMostBar, room - used - 3);
    double share = std::clamp(static_cast<double>(state.done) / state.total, 0.0, 1.0);
    auto filled = static_cast<size_t>(share * static_cast<double>(cells));
    line += fmt::format("[{}{}] ", std::string(filled, '#'), std::string(cells - filled, '.'));
  }
  return line + figures;
}

Progress::Progress(std::string label, int64_t total)
    : Progress(std::move(label), total, isTerminal(stderr) ? Sink(writeToStderr) : Sink(),
               terminalWidth, steady_clock::now) {}

Progress::Progress(std::string label, int64_t total, Sink sink, Width width, Clock clock)
    : label(std::move(label)), total(total), sink(std::move(sink)), width(std::move(width)),
      clock(std::move(clock)) {
  if (this->sink)
    start = lastDrawn = this->clock();
}

Progress::~Progress() { finish(); }

void Progress::drawLine() {
  // The last column stays free: some terminals wrap when it is written.
  size_t columns = std::max<size_t>(width(), 2) - 1;
  std::string line(kClearLine);
  line += formatProgress({label, done, total, clock() - start}, columns);
  sink(line);
  isDrawn = true;
}

void Progress::draw(bool force) {
  if (!sink || isFinished)
    return;
  constexpr auto kInterval = milliseconds(100);
  auto now = clock();
  if (!force && now - lastDrawn < kInterval)
    return;
  lastDrawn = now;
  drawLine();
}

void Progress::advance(int64_t count) {
  std::lock_guard lock(mutex);
  done += count;
  draw(false);
}

void Progress::setLabel(std::string newLabel) {
  std::lock_guard lock(mutex);
  label = std::move(newLabel);
  draw(false);
}

void Progress::interrupt(const std::function<void()> &print) {
  std::lock_guard lock(mutex);
  if (isDrawn && !isFinished)
    sink(kClearLine);
  print();
  if (isDrawn)
    draw(true);
}

void Progress::finish() {
  std::lock_guard lock(mutex);
  // Loops that end before the first redraw leave no line behind.
  if (isDrawn && !isFinished) {
    drawLine();
    sink("\n");
  }
  isFinished = true;
}

} // namespace tpuc
