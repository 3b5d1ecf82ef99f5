//===- Conformance.cpp - Both machines, command by command ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: LIBRARY [--cases N] [--seed S] [--only TEXT] [--golden FILE --lines N] [--verbose]
//
// Runs random legal commands on the vendor's functional model and on ours from the same memory and
// compares all of local memory, and global memory for transfers. Exit status 1 when any byte
// differs.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm168x/Comparison.h"
#include "test/conformance/ChildCases.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <map>

namespace tpuc::bm168x::conformance {

namespace {

struct Options {
  std::string library;
  int64_t cases = 20000;
  uint64_t seed = 1684;
  std::string only;
  std::string text;
  bool verbose = false;
};

/// What a child reports for each case, one line each.
constexpr char kSame = '=', kDifferent = '!', kRefusedHere = '-';

/// f32 NaNs are equal whatever their payload; everything else is compared by its bits.
bool sameResult(const View &view, const ElementAt &a, const ElementAt &b) {
  for (int64_t n = 0; n < view.shape[0]; ++n)
    for (int64_t c = 0; c < view.shape[1]; ++c)
      for (int64_t h = 0; h < view.shape[2]; ++h)
        for (int64_t w = 0; w < view.shape[3]; ++w) {
          uint32_t x = 0;
          uint32_t y = 0;
          std::memcpy(&x, a(view, n, c, h, w), view.bytes());
          std::memcpy(&y, b(view, n, c, h, w), view.bytes());
          auto isNan = [&](uint32_t bits) {
            return view.prec == Prec::F32 && (bits & 0x7fffffff) > 0x7f800000;
          };
          if (isNan(x) && isNan(y))
            std::memcpy(a(view, n, c, h, w), b(view, n, c, h, w), view.bytes());
          else if (x != y)
            return false;
        }
  return true;
}

/// Of this thread, which other load on the computer hardly changes. The vendor's models have
/// threads that do nothing but poll; ours run with one.
double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Machines {
public:
  explicit Machines(Pair &pair)
      : pair(pair), ours(elementsOf(pair.lanes, pair.ourLocal.data(), pair.ourAbsolute)),
        theirs(elementsOf(pair.lanes, pair.theirLocal.data(), pair.theirAbsolute)) {}

  /// One of the codes above, and why. `isLast`: no other case follows.
  std::pair<char, std::string> run(const Case &one, bool isLast) {
    Expected<OperandList> prepared = pair.prepare(one.command);
    if (!prepared)
      return {kRefusedHere, prepared.error().message()};
    const OperandList &operands = *prepared;
    fillOperands(one, operands, ours);
    fillOperands(one, operands, theirs);
    const double start = processorSeconds();
    pair.runTheirs(one.command);
    const double middle = processorSeconds();
    std::optional<Error> error = pair.runOurs();
    vendorTime += middle - start;
    ourTime += processorSeconds() - middle;
    if (error)
      return {kRefusedHere, error->message()};
    last = operands;
    std::string difference = compare(operands, isLast);
    return {difference.empty() ? kSame : kDifferent, difference};
  }

  /// Of the case that ran last.
  uint64_t hash() const { return hashResults(last, theirs); }

private:
  std::string compare(const OperandList &operands, bool isLast) {
    bool same = true;
    for (const Operand &operand : operands.all())
      if (operand.isWritten)
        same &= sameResult(operand.view, ours, theirs);
    const auto sameBytes = [](std::span<uint8_t> a, std::span<uint8_t> b) {
      return std::memcmp(a.data(), b.data(), a.size()) == 0;
    };
    // What is written beside a result stays there, and is found a few commands later.
    constexpr int64_t kEvery = 16;
    const bool isThorough = !same || ++numCompared % kEvery == 0 || isLast;
    const bool sameLocal = !isThorough || sameBytes(pair.ourLocal, pair.theirLocal);
    const bool sameGlobal = !isThorough || sameBytes(pair.ourGlobal, pair.theirGlobal);
    if (same && sameLocal && sameGlobal)
      return "";
    std::string text = same ? "bytes beside the results of the last 16 commands differ"
                            : firstDifference(operands);
    std::ranges::copy(pair.theirLocal, pair.ourLocal.begin());
    std::ranges::copy(pair.theirGlobal, pair.ourGlobal.begin());
    return text;
  }

  /// The operands at a place, clamped to their extents.
  std::string inputs(const OperandList &operands, const Extents &place) const {
    std::string text;
    for (const Operand &operand : operands.all()) {
      if (operand.isWritten)
        continue;
      Extents at;
      for (size_t i = 0; i < 4; ++i)
        at[i] = std::min(place[i], operand.view.shape[i] - 1);
      uint32_t bits = 0;
      std::memcpy(&bits, theirs(operand.view, at[0], at[1], at[2], at[3]), operand.view.bytes());
      text += fmt::format(" {}={:#x}", roleName(operand.role), bits);
    }
    return text;
  }

  std::string firstDifference(const OperandList &operands) const {
    std::string text;
    int64_t count = 0;
    for (const Operand &operand : operands.all()) {
      const View &view = operand.view;
      if (!operand.isWritten)
        continue;
      for (int64_t n = 0; n < view.shape[0]; ++n)
        for (int64_t c = 0; c < view.shape[1]; ++c)
          for (int64_t h = 0; h < view.shape[2]; ++h)
            for (int64_t w = 0; w < view.shape[3]; ++w) {
              uint32_t x = 0;
              uint32_t y = 0;
              std::memcpy(&x, ours(view, n, c, h, w), view.bytes());
              std::memcpy(&y, theirs(view, n, c, h, w), view.bytes());
              if (x == y || ++count > 4)
                continue;
              text += fmt::format("{}[{},{},{},{}] {:#x} for {:#x}{}; ", roleName(operand.role), n,
                                  c, h, w, x, y, inputs(operands, {n, c, h, w}));
            }
    }
    return fmt::format("{} elements: {}", count, text);
  }

public:
  double vendorTime = 0;
  double ourTime = 0;

private:
  Pair &pair;
  OperandList last;
  int64_t numCompared = 0;
  ElementAt ours, theirs;
};

using Result = tpuc::conformance::CaseResult;

/// Runs the cases from `first` on in a child until it ends, and returns how many it finished.
size_t runChild(const Tested &tested, const Options &options, std::span<const Case> cases,
                size_t first, std::vector<Result> &results) {
  return tpuc::conformance::runChild(
      first, results, {.output = true, .errors = !options.verbose},
      [&](tpuc::conformance::ChildReport &report) {
        Expected<std::unique_ptr<Pair>> pair = tested.load(options.library);
        if (!pair)
          report.fail(pair.error().message());
        Machines machines(**pair);
        for (size_t i = first; i < cases.size(); ++i) {
          auto [code, note] = machines.run(cases[i], i + 1 == cases.size());
          report.add({code, code == kSame ? machines.hash() : 0, std::move(note)});
        }
        report.say(fmt::format("processor seconds of commands, vendor and ours: {:f} {:f}",
                               machines.vendorTime, machines.ourTime));
      });
}

struct Tally {
  int64_t same = 0, different = 0, refusedHere = 0, refusedThere = 0;
  std::string example;
};

} // namespace

int compareMachines(int argc, char **argv, const Tested &tested) {
  Options options;
  std::string goldenFile;
  size_t goldenLines = 3000;
  CLI::App app("Compares the simulator with the vendor's functional model");
  app.add_option("library", options.library)->required();
  app.add_option("--cases", options.cases);
  app.add_option("--seed", options.seed);
  app.add_option("--only", options.only, "recipes whose name contains this");
  app.add_option("--case", options.text, "one case as text");
  app.add_option("--golden", goldenFile, "write vectors here");
  app.add_option("--lines", goldenLines);
  app.add_flag("--verbose", options.verbose);
  CLI11_PARSE(app, argc, argv);

  std::vector<Recipe> recipes = tested.recipes;
  std::erase_if(recipes, [&](const Recipe &recipe) {
    return recipe.name.find(options.only) == std::string::npos;
  });
  if (recipes.empty()) {
    fmt::print(stderr, "conformance: error: no recipe contains '{}'\n", options.only);
    return 1;
  }
  std::vector<Case> cases;
  std::vector<std::string> names;
  if (!options.text.empty()) {
    Expected<Case> one = parseCase(*tested.table, options.text, "--case");
    if (!one) {
      fmt::print(stderr, "conformance: error: {}\n", one.error().message());
      return 1;
    }
    cases.push_back(*one);
    names.emplace_back("case");
  } else {
    Random random(options.seed);
    for (int64_t i = 0; i < options.cases; ++i) {
      const Recipe &recipe = recipes[static_cast<size_t>(i) % recipes.size()];
      Random own(random.next());
      cases.push_back(recipe.make(own));
      names.push_back(recipe.name);
    }
  }
  fmt::print("{} recipes, {} cases\n", recipes.size(), cases.size());
  std::fflush(stdout);

  std::vector<Result> results(cases.size());
  for (size_t at = 0; at < cases.size();) {
    at = runChild(tested, options, cases, at, results);
    if (at < cases.size())
      results[at++].code = '?';
  }

  std::map<std::string, Tally> tallies;
  Tally all;
  for (size_t i = 0; i < cases.size(); ++i) {
    Tally &tally = tallies[names[i]];
    char code = results[i].code;
    (code == kSame          ? tally.same
     : code == kDifferent   ? tally.different
     : code == kRefusedHere ? tally.refusedHere
                            : tally.refusedThere)++;
    (code == kSame          ? all.same
     : code == kDifferent   ? all.different
     : code == kRefusedHere ? all.refusedHere
                            : all.refusedThere)++;
    if (code != kSame && tally.example.empty())
      tally.example = fmt::format("{}\n      {}", results[i].note, caseText(cases[i]));
  }
  for (const auto &[name, tally] : tallies)
    if (tally.same == 0 || tally.different + tally.refusedHere + tally.refusedThere > 0)
      fmt::print("{}: {} same, {} different, {} refused here, {} refused there: {}\n", name,
                 tally.same, tally.different, tally.refusedHere, tally.refusedThere, tally.example);
  fmt::print("all: {} same, {} different, {} refused here, {} refused there\n", all.same,
             all.different, all.refusedHere, all.refusedThere);
  if (!goldenFile.empty()) {
    std::ofstream golden(goldenFile);
    golden << "# Commands, what their operands are filled with, and a hash of what the vendor's "
              "functional model made of them.\n";
    // Whole rounds: every recipe is there.
    const size_t rounds = std::max<size_t>(1, goldenLines / recipes.size());
    for (size_t i = 0; i < std::min(cases.size(), rounds * recipes.size()); ++i)
      if (results[i].code == kSame)
        golden << fmt::format("{} = {:016x}\n", caseText(cases[i]), results[i].hash);
  }
  return all.different + all.refusedHere + all.refusedThere == 0 ? 0 : 1;
}

} // namespace tpuc::bm168x::conformance
