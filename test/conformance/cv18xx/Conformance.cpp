//===- Conformance.cpp - Both machines, command by command ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// conformance LIBRARY [--cases N] [--seed S] [--only TEXT] [--chip NAME] [--golden FILE --lines N]
//
// Runs random legal commands of each chip on the vendor's functional model and on ours, from the
// same memory, and compares all of both memories. Exit status 1 when any byte differs.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Generate.h"
#include "test/conformance/cv18xx/Vendor.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace tpuc;
using namespace tpuc::cv18xx;
using namespace tpuc::cv18xx::conformance;

namespace {

/// What a child reports for each case; where it dies, the vendor's model refuses.
constexpr char kSame = '=', kDifferent = '!', kRefusedHere = '-', kRefusedThere = '?';

struct Result {
  char code = kRefusedThere;
  uint64_t hash = 0;
  std::string note;
};

class Machines {
public:
  Machines(Vendor vendorModel, const Chip &chip)
      : vendor(std::move(vendorModel)), global(kGlobalBytes), memory(chip, global),
        theirs(memory.local().size()) {}

  Result run(const Case &one) {
    fillMemories(one, memory.local(), global);
    std::ranges::copy(global, vendor.global(kGlobalBytes).begin());
    vendor.writeLocal(memory.local());
    if (Expected<void> done = runHere(one, memory); !done)
      return {kRefusedHere, 0, done.error().message()};
    vendor.execute(one.command);
    vendor.readLocal(theirs);
    Result result{kSame, hashMemories(theirs, vendor.global(kGlobalBytes)), ""};
    compare(memory.local(), theirs, "local", result);
    compare(global, vendor.global(kGlobalBytes), "global", result);
    return result;
  }

private:
  static void compare(std::span<const uint8_t> ours, std::span<const uint8_t> theirs,
                      std::string_view name, Result &result) {
    size_t count = 0;
    size_t first = 0;
    for (size_t i = ours.size(); i-- > 0;)
      if (ours[i] != theirs[i]) {
        ++count;
        first = i;
      }
    if (count == 0)
      return;
    result.code = kDifferent;
    result.note += fmt::format("{} bytes of {} memory, first {:#x} in lane {}:", count, name,
                               first % kLaneBytes, first / kLaneBytes);
    for (size_t i = first; i < std::min(first + 8, ours.size()); ++i)
      result.note += fmt::format(" {:02x}/{:02x}", ours[i], theirs[i]);
    result.note += "; ";
  }

  Vendor vendor;
  std::vector<uint8_t> global;
  Memory memory;
  std::vector<uint8_t> theirs;
};

/// Runs the cases from `first` on in a child until it ends; returns how many it finished.
size_t runChild(const std::string &library, std::span<const Case> cases, size_t first,
                bool isVerbose, std::vector<Result> &results) {
  int ends[2];
  if (pipe(ends) != 0)
    std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    FILE *out = fdopen(ends[1], "w");
    if (!isVerbose && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
      _exit(2);
    Expected<Vendor> vendor = Vendor::load(library, *cases.front().chip);
    if (!vendor)
      _exit(3);
    Machines machines(*vendor, *cases.front().chip);
    for (size_t i = first; i < cases.size(); ++i) {
      const Result result = machines.run(cases[i]);
      std::fprintf(out, "%c %llu %s\n", result.code, static_cast<unsigned long long>(result.hash),
                   result.note.c_str());
      std::fflush(out);
    }
    _exit(0);
  }
  close(ends[1]);
  FILE *in = fdopen(ends[0], "r");
  char line[4096];
  size_t at = first;
  while (std::fgets(line, sizeof line, in)) {
    char *end = nullptr;
    Result result{line[0], std::strtoull(line + 2, &end, 10), end + 1};
    if (!result.note.empty() && result.note.back() == '\n')
      result.note.pop_back();
    results[at++] = result;
  }
  std::fclose(in);
  int status;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
    fmt::print(stderr, "conformance: error: cannot load {}\n", library);
    std::exit(1);
  }
  return at;
}

struct Tally {
  std::map<char, int64_t> counts;
  std::string example;
};

void printTallies(const std::map<std::string, Tally> &tallies) {
  for (const auto &[name, tally] : tallies) {
    const auto count = [&tally = tally](char code) {
      const auto found = tally.counts.find(code);
      return found == tally.counts.end() ? 0 : found->second;
    };
    fmt::print("{}: {} same, {} different, {} refused here, {} refused there\n", name, count(kSame),
               count(kDifferent), count(kRefusedHere), count(kRefusedThere));
    if (!tally.example.empty())
      fmt::print("    {}\n", tally.example);
  }
}

} // namespace

int main(int argc, char **argv) {
  std::string library;
  std::string only;
  std::string chipName;
  std::string text;
  std::string goldenFile;
  bool listsAll = false;
  bool isVerbose = false;
  int64_t numCases = 6000;
  size_t goldenLines = 1000;
  uint64_t seed = 1880;
  CLI::App app("Compares the simulator with the vendor's functional model");
  app.add_option("library", library)->required();
  app.add_option("--cases", numCases, "for each chip");
  app.add_option("--seed", seed);
  app.add_option("--only", only, "recipes whose name contains this");
  app.add_option("--chip", chipName);
  app.add_option("--case", text, "one case as text");
  app.add_option("--golden", goldenFile, "write vectors here");
  app.add_option("--lines", goldenLines, "for each chip");
  app.add_flag("--verbose", isVerbose, "what the vendor's model says");
  app.add_flag("--all", listsAll, "show each case that differs");
  CLI11_PARSE(app, argc, argv);

  std::vector<Recipe> recipes = allRecipes();
  std::erase_if(recipes, [&](const Recipe &recipe) {
    return recipe.name.find(only) == std::string_view::npos;
  });
  if (recipes.empty()) {
    fmt::print(stderr, "conformance: error: no recipe contains '{}'\n", only);
    return 1;
  }
  std::map<std::string, Tally> tallies;
  int64_t numSame = 0;
  int64_t numAll = 0;
  std::ofstream golden;
  if (!goldenFile.empty()) {
    golden.open(goldenFile);
    golden << "# Commands, what the memories are filled with, and a hash of what the vendor's "
              "functional model made of them.\n";
  }
  for (const Chip &chip : allChips()) {
    if (!chipName.empty() && chip.name != chipName)
      continue;
    std::vector<Case> cases;
    std::vector<std::string> names;
    Random random(seed);
    for (int64_t i = 0; i < numCases && text.empty(); ++i) {
      const Recipe &recipe = recipes[static_cast<size_t>(i) % recipes.size()];
      Random own(random.next());
      cases.push_back(recipe.make(chip, own));
      names.push_back(fmt::format("{} {}", chip.name, recipe.name));
    }
    if (!text.empty()) {
      Expected<Case> one = parseCase(text, "--case");
      if (!one) {
        fmt::print(stderr, "conformance: error: {}\n", one.error().message());
        return 1;
      }
      if (one->chip != &chip)
        continue;
      cases.push_back(*one);
      names.emplace_back("case");
    }
    std::vector<Result> results(cases.size());
    for (size_t at = 0; at < cases.size();) {
      at = runChild(library, cases, at, isVerbose, results);
      if (at < cases.size())
        ++at;
    }
    for (size_t i = 0; i < cases.size(); ++i) {
      Tally &tally = tallies[names[i]];
      ++tally.counts[results[i].code];
      ++numAll;
      numSame += results[i].code == kSame;
      if (results[i].code != kSame && (listsAll || tally.example.empty()))
        tally.example += (tally.example.empty() ? "" : "\n    ") +
                         fmt::format("{}\n    {}", results[i].note, caseText(cases[i]));
      if (golden.is_open() && i < goldenLines && results[i].code == kSame)
        golden << fmt::format("{} = {:016x}\n", caseText(cases[i]), results[i].hash);
    }
  }
  printTallies(tallies);
  fmt::print("all: {} of {} the same\n", numSame, numAll);
  return numSame == numAll && numAll > 0 ? 0 : 1;
}
