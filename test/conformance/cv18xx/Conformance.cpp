//===- Conformance.cpp - Both machines, command by command ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// conformance LIBRARY [--cases N] [--seed S] [--only TEXT] [--chip NAME] [--golden FILE --lines N]
//             [--changes]
//
// Runs random legal commands of each chip on the vendor's functional model and on ours, from the
// same memory, and compares all of both memories. Exit status 1 when any byte differs.
//
// With --changes, one or two fields of each command are changed. Our checks may refuse what comes
// of it; what they accept, the vendor's model must compute to the same bytes.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/ChildCases.h"
#include "test/conformance/cv18xx/Generate.h"
#include "test/conformance/cv18xx/Vendor.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fstream>
#include <map>

using namespace tpuc;
using namespace tpuc::cv18xx;
using namespace tpuc::cv18xx::conformance;

namespace {

/// What a child reports for each case; where it dies, the vendor's model refuses.
constexpr char kSame = '=', kDifferent = '!', kRefusedHere = '-', kRefusedThere = '?';

using Result = tpuc::conformance::CaseResult;

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
  return tpuc::conformance::runChild(first, results, {.output = !isVerbose, .errors = !isVerbose},
                                     [&](tpuc::conformance::ChildReport &report) {
                                       Expected<Vendor> vendor =
                                           Vendor::load(library, *cases.front().chip);
                                       if (!vendor)
                                         report.fail("cannot load " + library);
                                       Machines machines(*vendor, *cases.front().chip);
                                       for (size_t i = first; i < cases.size(); ++i)
                                         report.add(machines.run(cases[i]));
                                     });
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

struct Options {
  std::string library, only, chip, text, golden;
  int64_t cases = 6000;
  size_t goldenLines = 1000;
  uint64_t seed = 1880;
  bool isVerbose = false, listsAll = false, changes = false;
};

/// The cases of a chip, and the names of what each is counted for. Errors: a case that is no text
/// of one.
Expected<std::vector<Case>> casesOf(const Options &options, const Chip &chip,
                                    std::vector<std::string> &names) {
  std::vector<Case> cases;
  if (!options.text.empty()) {
    Expected<Case> one = parseCase(options.text, "--case");
    if (!one)
      return propagate(one);
    if (one->chip == &chip) {
      cases.push_back(*one);
      names.emplace_back("case");
    }
    return cases;
  }
  std::vector<Recipe> recipes = allRecipes();
  std::erase_if(recipes, [&](const Recipe &recipe) {
    return recipe.name.find(options.only) == std::string_view::npos;
  });
  if (recipes.empty())
    return makeError("--only", fmt::format("no recipe contains '{}'", options.only));
  Random random(options.seed);
  for (int64_t i = 0; i < options.cases; ++i) {
    const Recipe &recipe = recipes[static_cast<size_t>(i) % recipes.size()];
    Random own(random.next());
    cases.push_back(recipe.make(chip, own));
    if (options.changes)
      changeFields(cases.back().command, own);
    names.push_back(fmt::format("{} {}", chip.name, recipe.name));
  }
  return cases;
}

class Comparison {
public:
  explicit Comparison(const Options &options) : options(options) {
    if (options.golden.empty())
      return;
    golden.open(options.golden);
    golden << "# Commands, what the memories are filled with, and a hash of what the vendor's "
              "functional model made of them.\n";
  }

  Expected<void> run(const Chip &chip);
  /// Whether all were the same.
  bool report() const {
    printTallies(tallies);
    if (options.changes) {
      // Checks that refuse nearly all would show nothing.
      constexpr int64_t kLeastPart = 5;
      fmt::print("changed: {} of {} the same, {} refused by our checks\n", numSame, numAll,
                 numRefused);
      return numSame + numRefused == numAll && numSame * kLeastPart >= numAll && numAll > 0;
    }
    fmt::print("all: {} of {} the same\n", numSame, numAll);
    return numSame == numAll && numAll > 0;
  }

private:
  const Options &options;
  std::map<std::string, Tally> tallies;
  int64_t numSame = 0, numRefused = 0, numAll = 0;
  std::ofstream golden;
};

Expected<void> Comparison::run(const Chip &chip) {
  std::vector<std::string> names;
  const Expected<std::vector<Case>> cases = casesOf(options, chip, names);
  if (!cases)
    return tl::unexpected(cases.error());
  std::vector<Result> results(cases->size(), Result{kRefusedThere, 0, ""});
  for (size_t at = 0; at < cases->size();) {
    at = runChild(options.library, *cases, at, options.isVerbose, results);
    if (at == cases->size())
      break;
    // Alone: what went before may have damaged the memory of the process.
    const std::span<const Case> one = std::span(*cases).subspan(at, 1);
    std::vector<Result> again(1, Result{kRefusedThere, 0, ""});
    runChild(options.library, one, 0, options.isVerbose, again);
    results[at++] = again.front();
  }
  for (size_t i = 0; i < cases->size(); ++i) {
    const Result &result = results[i];
    const std::string text = caseText((*cases)[i]);
    Tally &tally = tallies[names[i]];
    ++tally.counts[result.code];
    ++numAll;
    numSame += result.code == kSame;
    numRefused += result.code == kRefusedHere;
    if (result.code == kRefusedHere && options.changes)
      continue;
    if (result.code != kSame && (options.listsAll || tally.example.empty()))
      tally.example +=
          fmt::format("{}{}\n    {}", tally.example.empty() ? "" : "\n    ", result.note, text);
    if (golden.is_open() && i < options.goldenLines && result.code == kSame)
      golden << fmt::format("{} = {:016x}\n", text, result.hash);
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Compares the simulator with the vendor's functional model");
  app.add_option("library", options.library)->required();
  app.add_option("--cases", options.cases, "for each chip");
  app.add_option("--seed", options.seed);
  app.add_option("--only", options.only, "recipes whose name contains this");
  app.add_option("--chip", options.chip);
  app.add_option("--case", options.text, "one case as text");
  app.add_option("--golden", options.golden, "write vectors here");
  app.add_option("--lines", options.goldenLines, "for each chip");
  app.add_flag("--verbose", options.isVerbose, "what the vendor's model says");
  app.add_flag("--all", options.listsAll, "show each case that differs");
  app.add_flag("--changes", options.changes, "change one or two fields of each command");
  CLI11_PARSE(app, argc, argv);
  Comparison comparison(options);
  for (const Chip &chip : allChips())
    if (options.chip.empty() || chip.name == options.chip)
      if (const Expected<void> done = comparison.run(chip); !done) {
        fmt::print(stderr, "conformance: error: {}\n", done.error().message());
        return 1;
      }
  return comparison.report() ? 0 : 1;
}
