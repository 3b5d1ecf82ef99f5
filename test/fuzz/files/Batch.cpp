//===- Batch.cpp - Many changed files, one after another
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/Batch.h"
#include "test/fuzz/files/ByteMutations.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <unistd.h>

namespace tpuc::fuzz {

namespace {

namespace fs = std::filesystem;

/// How many changes a case has.
constexpr size_t kNumMutations[] = {1, 1, 1, 2, 2, 3, 4};
constexpr size_t kMostMessage = 200;

/// A folder for the cases of each seed, with what belongs to it.
class Places {
public:
  Places(const FileKind &kind, fs::path folder) : kind(kind), folder(std::move(folder)) {
    fs::create_directories(this->folder / "tmp");
    fs::create_directories(this->folder / "here");
    fs::current_path(this->folder / "here");
    ::setenv("TMPDIR", (this->folder / "tmp").c_str(), 1);
  }

  fs::path of(size_t seed) {
    const fs::path place = folder / std::to_string(seed);
    if (!known.insert(seed).second)
      return place;
    fs::create_directory(place);
    const FileSeed &given = kind.seeds[seed];
    if (!given.folder.empty())
      for (const auto &entry : fs::directory_iterator(given.folder))
        if (entry.path().filename() != given.fileName)
          fs::copy_file(entry.path(), place / entry.path().filename());
    for (const auto &entry : fs::directory_iterator(place))
      companions[seed].insert(entry.path().filename());
    companions[seed].insert(given.fileName);
    return place;
  }

  /// Removes what a tool wrote. Gives a file that should not be there: a hidden one, one that a
  /// tool left which failed, one in another folder.
  std::string clean(size_t seed, bool hasFailed) {
    std::string left;
    for (const auto &entry : fs::directory_iterator(of(seed))) {
      const std::string name = entry.path().filename();
      if (companions[seed].contains(name))
        continue;
      // model_deploy keeps the lowered network where the model file fails.
      if (name.starts_with('.') || (hasFailed && name.find("_tpu") == std::string::npos))
        left = "beside the file: " + name;
      std::error_code ignored;
      fs::remove_all(entry.path(), ignored);
    }
    for (const char *other : {"tmp", "here"})
      for (const auto &entry : fs::directory_iterator(folder / other)) {
        left = fmt::format("in {}: {}", other == std::string("tmp") ? "TMPDIR" : "the folder",
                           entry.path().filename().string());
        std::error_code ignored;
        fs::remove_all(entry.path(), ignored);
      }
    return left;
  }

private:
  const FileKind &kind;
  fs::path folder;
  std::set<size_t> known;
  std::map<size_t, std::set<std::string>> companions;
};

/// Whether it succeeded.
bool step(const Notes &notes, const char *name, const FileReader &reader, const FileCase &given) {
  notes.add(fmt::format("begin {}", name));
  const Expected<void> done = reader(given);
  if (done) {
    notes.add(fmt::format("passed {}", name));
    return true;
  }
  const std::string message = done.error().message();
  const bool isMute = message.find(": ") == std::string::npos;
  notes.add(
      fmt::format("{} {}: {}", isMute ? "mute" : "refused", name, message.substr(0, kMostMessage)));
  return false;
}

} // namespace

std::string bytesOf(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeBytes(const std::filesystem::path &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

FileMutation mutationOf(const FileKind &kind, uint64_t number, uint64_t seed) {
  FileMutation made{.number = number, .seed = 0, .isText = false, .mutations = {}};
  if (number < kind.seeds.size()) {
    made.seed = static_cast<size_t>(number);
    return made;
  }
  Random random(seed * 1000003 + number);
  made.seed = random.below(kind.seeds.size());
  made.isText = kind.isText && number % 2 == 1;
  made.mutations.resize(random.of(kNumMutations));
  for (uint64_t &mutation : made.mutations)
    mutation = random.next();
  return made;
}

std::string changedFile(const FileKind &kind, const FileMutation &which,
                        std::vector<Change> &changes) {
  std::string bytes = kind.seeds[which.seed].bytes;
  for (uint64_t mutation : which.mutations) {
    const std::string &other = kind.seeds[mutation % kind.seeds.size()].bytes;
    Change change = which.isText ? mutateText(bytes, kind.vocabulary, mutation)
                                 : mutateBytes(bytes, other, mutation);
    if (!change.text.empty())
      changes.push_back(std::move(change));
  }
  return bytes;
}

void runCases(const FileKind &kind, const std::vector<FileMutation> &cases, const fs::path &folder,
              const Limits &limits, const Allowance &allowed, const Notes &notes) {
  // What tools print is of no use here.
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  Places places(kind, folder);
  uint64_t peak = 0;
  for (const FileMutation &which : cases) {
    std::vector<Change> changes;
    const std::string bytes = changedFile(kind, which, changes);
    const fs::path place = places.of(which.seed);
    const FileCase given{place / kind.seeds[which.seed].fileName, place, bytes, which.number,
                         notes};
    beginCase(limits);
    notes.add(fmt::format("case {}", which.number));
    if (kind.read)
      step(notes, "read", kind.read, given);
    std::string left;
    if (which.number < kind.seeds.size() || which.number % kind.toolEvery == 0) {
      writeBytes(given.path, bytes);
      for (const FileTool &tool : kind.tools) {
        const bool isDone = step(notes, tool.name, tool.use, given);
        left = places.clean(which.seed, !isDone);
        if (!left.empty())
          break;
      }
    }
    if (!left.empty())
      notes.add("left " + left);
    const uint64_t now = peakMemory();
    if (now > peak) {
      peak = now;
      notes.add(fmt::format("peak {}", peak));
    }
    if (!left.empty() || allowed.isExceeded(peak, 0))
      return;
  }
}

std::vector<Outcome> outcomesOf(const Ending &ending, const Allowance &allowed) {
  std::vector<Outcome> outcomes;
  // The notes of a case, up to those of the next one.
  constexpr std::string_view kCase = "case ";
  size_t begin = ending.notes.find(kCase);
  while (begin != std::string::npos) {
    const size_t next = ending.notes.find("\ncase ", begin);
    Ending part;
    const bool isLast = next == std::string::npos;
    if (isLast)
      part = ending;
    // Without the line that begins the case.
    const size_t first = std::min(ending.notes.find('\n', begin) + 1, ending.notes.size());
    part.notes = ending.notes.substr(first, isLast ? next : next + 1 - first);
    part.peak = 0;
    constexpr std::string_view kPeak = "peak ";
    if (const size_t at = part.notes.rfind(kPeak); at != std::string::npos)
      part.peak = std::strtoull(part.notes.c_str() + at + kPeak.size(), nullptr, 10);
    outcomes.push_back(outcomeOf(part, allowed));
    begin = isLast ? next : next + 1;
  }
  return outcomes;
}

} // namespace tpuc::fuzz
