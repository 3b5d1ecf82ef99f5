//===- MemoryLimit.cpp - The most memory that a run may take --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/MemoryLimit.h"
#include "tpuc/Support/PendingFiles.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace tpuc {

namespace {

/// What the handler says. It is given nothing and cannot allocate, so this stands here.
struct LastWords {
  std::array<char, 256> text = {};
  size_t size = 0;
};

constinit LastWords lastWords;

[[noreturn]] void endForMemory() {
  removePendingFiles();
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, lastWords.text.data(), lastWords.size);
  ::_exit(1);
}

} // namespace

Expected<uint64_t> parseMemorySize(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  constexpr uint64_t kMost = uint64_t(1) << 62;
  constexpr unsigned kBitsPerUnit = 10;
  const auto wrong = [&] {
    return makeError("", fmt::format("found '{}'", text), "a size such as 800M or 4G");
  };
  std::string_view digits = text;
  unsigned shift = 0;
  if (!digits.empty())
    if (const size_t unit = kUnits.find(digits.back()); unit != std::string_view::npos) {
      shift = kBitsPerUnit * (static_cast<unsigned>(unit) + 1);
      digits.remove_suffix(1);
    }
  uint64_t count = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (status != std::errc() || end != digits.data() + digits.size() || count == 0 ||
      count > kMost >> shift)
    return wrong();
  return count << shift;
}

Expected<void> limitMemory(std::string_view text, std::string_view tool) {
  const Expected<uint64_t> bytes = parseMemorySize(text);
  if (!bytes)
    return makeError("--max_memory", bytes.error().found, bytes.error().expected);
  struct rlimit limit = {};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min<rlim_t>(*bytes, limit.rlim_max);
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    return makeError("--max_memory", std::generic_category().message(errno), "a limit");
  const std::string words =
      fmt::format("{}: error: more memory is needed than --max_memory {} allows\n", tool, text);
  lastWords.size = std::min(words.size(), lastWords.text.size());
  std::memcpy(lastWords.text.data(), words.data(), lastWords.size);
  std::set_new_handler(endForMemory);
  return {};
}

} // namespace tpuc
