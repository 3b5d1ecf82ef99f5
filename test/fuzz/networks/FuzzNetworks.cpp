//===- FuzzNetworks.cpp - Networks that mean something else ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuzz-networks [--seeds FILE|FOLDER ...] [--cases N] [--seconds S] [--seed N] [--jobs N]
//               [--chip NAME] [--known FILE] [--findings FOLDER] [--report FILE]
//
// Takes networks, changes up to three things of each (Mutations.h), and has all tools work on what
// comes of it (Chain.h). Each case has a process of its own with limits of time and memory. It may
// be refused with a message; it may not end by a signal, take too long or too much memory
// (Allowance in Findings.h). What does is a finding. Findings of one kind, at one step and of one
// cause are one; of each the case is kept that needs the fewest changes. The same seed gives the
// same cases on every machine, however many run at once. The exit status is 1 if there is a finding
// that --known does not list.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/common/Findings.h"
#include "test/fuzz/networks/Chain.h"
#include "test/fuzz/networks/Mutations.h"
#include "test/fuzz/networks/Seeds.h"
#include "tpuc/Target/Registry.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>

using namespace tpuc;
using namespace tpuc::fuzz;

namespace {

/// How many changes a case has. Few, as a rule: of networks with many, most are refused at once.
constexpr size_t kNumMutations[] = {1, 1, 1, 2, 2, 3};
constexpr size_t kMostMutations = std::ranges::max(kNumMutations);
constexpr uint64_t kMostSlow = 10;

struct Options {
  std::vector<std::string> seeds;
  std::string known, findings, report;
  const TargetInfo *target = nullptr;
  uint64_t cases = 0, seed = 1;
  unsigned seconds = 0, jobs = std::max(1U, std::thread::hardware_concurrency());
  Limits limits;
};

/// A network and what is done to it.
struct Case {
  size_t network = 0;
  std::vector<uint64_t> mutations;
};

class Fuzzer {
public:
  Fuzzer(const Options &options, std::vector<Seed> seeds, std::filesystem::path work)
      : options(options), seeds(std::move(seeds)), work(std::move(work)), guard(options.limits) {
    std::vector<proto::Model> models;
    for (const Seed &seed : this->seeds)
      models.push_back(seed.model);
    operators = operatorsOf(models);
  }

  /// Runs all cases; the first ones are the networks as they are.
  void run();
  const Findings &findings() const { return found; }
  const Tally &tally() const { return counts; }
  uint64_t numCases() const { return numDone; }
  /// The most memory that a case took, as a multiple of what it is stated to take.
  double memory() const { return mostMemory; }
  /// The page of counts, in Markdown.
  std::string report() const;

private:
  Case caseOf(uint64_t number) const;
  std::vector<Change> apply(const Case &which, proto::Model &model) const;
  void start(uint64_t number, const Case &which);
  std::pair<uint64_t, Outcome> finish();
  Outcome runAlone(const Case &which);
  void keep(const Case &which, const Outcome &outcome);
  void remember(const Case &which, const std::string &signature, bool isRemark);
  Case minimized(Case which, const std::string &signature);
  bool isTimeLeft() const;

  const Options &options;
  std::vector<Seed> seeds;
  std::vector<std::string> operators;
  std::filesystem::path work;
  Guard guard;
  Findings found;
  Tally counts;
  Allowance allowed;
  uint64_t numDone = 0, numSlow = 0;
  double mostMemory = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

Case Fuzzer::caseOf(uint64_t number) const {
  if (number < seeds.size())
    return {static_cast<size_t>(number), {}};
  Random random(options.seed * 1000003 + number);
  Case made;
  made.network = random.below(seeds.size());
  made.mutations.resize(random.of(kNumMutations));
  for (uint64_t &mutation : made.mutations)
    mutation = random.next();
  return made;
}

/// What is done, in words.
std::vector<Change> Fuzzer::apply(const Case &which, proto::Model &model) const {
  model = seeds[which.network].model;
  std::vector<Change> changes;
  for (uint64_t mutation : which.mutations)
    if (Change change = mutate(model, operators, mutation); !change.text.empty())
      changes.push_back(std::move(change));
  return changes;
}

std::vector<std::string> kindsOf(const std::vector<Change> &changes) {
  std::vector<std::string> kinds;
  for (const Change &change : changes)
    kinds.push_back(change.kind);
  return kinds;
}

void Fuzzer::start(uint64_t number, const Case &which) {
  proto::Model model;
  apply(which, model);
  const std::filesystem::path folder = work / std::to_string(number);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "net.onnx", std::ios::binary) << model.SerializeAsString();
  const uint64_t seed = options.seed;
  guard.start(number, [folder, seed, this](const Notes &notes) {
    runChain(folder, *options.target, seed, notes);
  });
}

/// The next case that ends.
std::pair<uint64_t, Outcome> Fuzzer::finish() {
  auto [number, ending] = guard.wait();
  std::error_code ignored;
  std::filesystem::remove_all(work / std::to_string(number), ignored);
  return {number, outcomeOf(ending, allowed)};
}

Outcome Fuzzer::runAlone(const Case &which) {
  start(0, which);
  return finish().second;
}

bool Fuzzer::isTimeLeft() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return options.seconds == 0 || passed.count() < options.seconds;
}

void Fuzzer::run() {
  // A network of few elements takes what any one takes.
  allowed.base = runAlone({}).peak;
  std::map<uint64_t, Case> running;
  std::map<uint64_t, std::pair<Case, Outcome>> bad;
  uint64_t next = 0;
  const auto isMore = [&] { return isTimeLeft() && (options.cases == 0 || next < options.cases); };
  while (isMore() || guard.running() > 0) {
    while (isMore() && guard.running() < options.jobs) {
      running[next] = caseOf(next);
      start(next, running[next]);
      ++next;
    }
    auto [number, outcome] = finish();
    ++numDone;
    proto::Model ignored;
    mostMemory = std::max(mostMemory, allowed.ratio(outcome.peak, outcome.stated));
    counts.add(outcome, kindsOf(apply(running[number], ignored)));
    if (outcome.isFinding() || !outcome.remarks().empty())
      bad[number] = {running[number], outcome};
    running.erase(number);
  }
  // In the order of the cases, not in that in which they ended.
  for (const auto &[number, both] : bad) {
    for (const std::string &remark : both.second.remarks())
      remember(both.first, remark, /*isRemark=*/true);
    if (both.second.isFinding())
      keep(both.first, both.second);
  }
}

/// Leaves out the changes that the finding does not need.
Case Fuzzer::minimized(Case which, const std::string &signature) {
  for (size_t i = which.mutations.size(); i-- > 0 && which.mutations.size() > 1;) {
    Case fewer = which;
    fewer.mutations.erase(fewer.mutations.begin() + static_cast<std::ptrdiff_t>(i));
    if (runAlone(fewer).signature() == signature)
      which = fewer;
  }
  return which;
}

/// What a change is about: "Conv.strides" of "Conv.strides[0] = 0".
std::string subjectOf(const std::string &change) {
  return change.substr(0, change.find_first_of("[= "));
}

void Fuzzer::keep(const Case &which, const Outcome &outcome) {
  const std::string signature = outcome.signature();
  // Time-outs are many and long where there is one; some of them stand for all.
  if (outcome.kind == Ending::Kind::TimeOut && numSlow++ >= kMostSlow)
    return;
  remember(minimized(which, signature), signature, /*isRemark=*/false);
}

void Fuzzer::remember(const Case &which, const std::string &signature, bool isRemark) {
  Finding finding;
  proto::Model model;
  for (const Change &change : apply(which, model))
    finding.changes.push_back(change.text);
  finding.bytes = model.SerializeAsString();
  finding.ending = ".onnx";
  finding.seed = seeds[which.network].name;
  finding.signature = signature;
  finding.isRemark = isRemark;
  // Without an assertion, what was changed last tells one cause from another.
  if (signature.find(": ") == std::string::npos)
    finding.signature +=
        ": " + (finding.changes.empty() ? finding.seed : subjectOf(finding.changes.back()));
  found.add(std::move(finding));
}

std::string Fuzzer::report() const {
  std::string text = fmt::format(
      "# Fuzzed networks\n\n"
      "Generated by `./dev fuzz --cases {} --seed {} --report docs/fuzzed-networks.md`; do not "
      "edit. A case is one of {} small networks with up to {} changes. All tools work on it: "
      "`model_transform`, the interpreter, `run_calibration`, and `model_deploy` for F32, F16 and "
      "INT8 with a run of each file on the simulator. Each step may refuse the network with a "
      "message. No case may end by a signal, take more than {} s of processor time, or take more "
      "memory than {} times what its tensors and a network of few elements take. Outputs are "
      "compared with those of the model file, and count twice; five times where they differ, "
      "since what roundings do to them is measured then.\n\n",
      numDone, options.seed, seeds.size(), kMostMutations, options.limits.seconds,
      Allowance::kFactor);
  text += fmt::format("{} cases, {} findings.\n\n", numDone, found.size());
  text += counts.tables();
  text += "\n`differs` is a result that the tool itself finds too far from its reference. Here are "
          "the first cases of each kind of finding, and of results that differ.\n\n";
  return text + found.list();
}

Expected<void> writeText(const std::string &path, const std::string &text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? Expected<void>() : makeError(path, "cannot be written");
}

Expected<void> runFuzzer(const Options &options, bool &isClean) {
  Expected<std::vector<Seed>> seeds = readSeeds(options.seeds);
  if (!seeds)
    return propagate(seeds);
  Expected<std::vector<std::string>> known = readKnown(options.known);
  if (!known)
    return propagate(known);
  std::string pattern = (std::filesystem::temp_directory_path() / "tpuc-fuzz-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    return makeError(pattern, "cannot be made");
  Fuzzer fuzzer(options, std::move(*seeds), pattern);
  fuzzer.run();
  std::filesystem::remove_all(pattern);
  fmt::print("{} cases, seed {}\n", fuzzer.numCases(), options.seed);
  fuzzer.tally().print();
  fmt::print("  memory       at most {:.2f} of what networks state\n", fuzzer.memory());
  isClean = fuzzer.findings().print(*known);
  if (!options.report.empty())
    if (Expected<void> written = writeText(options.report, fuzzer.report()); !written)
      return written;
  return options.findings.empty() ? Expected<void>() : fuzzer.findings().write(options.findings);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Changes what networks mean, and has all tools work on what comes of it");
  app.add_option("--seeds", options.seeds, "files of networks, or folders of .onnx files")
      ->required();
  app.add_option("--cases", options.cases, "0: until the time is over");
  app.add_option("--seconds", options.seconds, "0: until all cases are done");
  app.add_option("--seed", options.seed, "another one gives other cases");
  app.add_option("--jobs", options.jobs, "processes at a time");
  std::string chip = "bm1684x";
  app.add_option("--chip", chip, "whose simulator runs the files");
  app.add_option("--limit", options.limits.seconds, "seconds that a case may take");
  app.add_option("--known", options.known, "a file of findings that are no error");
  app.add_option("--findings", options.findings, "where the networks of findings go");
  app.add_option("--report", options.report, "a page of counts in Markdown");
  CLI11_PARSE(app, argc, argv);
  if (options.cases == 0 && options.seconds == 0) {
    fmt::print(stderr, "fuzz-networks: expected --cases or --seconds\n");
    return 2;
  }
  Expected<const TargetInfo *> target = lookupTarget(chip);
  if (!target) {
    fmt::print(stderr, "fuzz-networks: {}\n", target.error().message());
    return 2;
  }
  options.target = *target;
  bool isClean = false;
  if (Expected<void> done = runFuzzer(options, isClean); !done) {
    fmt::print(stderr, "fuzz-networks: {}\n", done.error().message());
    return 2;
  }
  return isClean ? 0 : 1;
}
