//===- FuzzFiles.cpp - Files with other bytes and tokens
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuzz-files --networks FILE ... --files FOLDER ... --tflite FILE [--cases N] [--seconds S]
//            [--seed N] [--jobs N] [--kinds NAME ...] [--known FILE] [--findings FOLDER] [--report
//            FILE]
//
// Has the tools make files of all kinds from some networks, changes bytes of them, of texts also
// tokens, and has the tools read what comes of it. Many cases share a process, whose limits begin
// anew for each. A case may be refused with a message; it may not end by a signal, take too long or
// too much memory, or leave a file behind. What does is a finding, and its case is tried again with
// fewer changes. The same seed gives the same cases on every machine. The exit status is 1 if there
// is a finding that --known does not list.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/Batch.h"
#include "test/fuzz/networks/Seeds.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <deque>
#include <fmt/format.h>
#include <fstream>
#include <thread>

using namespace tpuc;
using namespace tpuc::fuzz;

namespace {

namespace fs = std::filesystem;

/// Cases that a process begins with: as many as keep it busy for a second or so.
constexpr size_t kCasesOfReaders = 5000, kCasesOfTools = 200;
/// Findings of a kind that are looked into.
constexpr size_t kMostFindings = 200;

struct Options {
  std::vector<std::string> networks, files, kinds;
  std::string tflite, known, findings, report;
  uint64_t cases = 0, seed = 1;
  unsigned seconds = 0, jobs = std::max(1U, std::thread::hardware_concurrency());
  Limits limits;
};

class Fuzzer {
public:
  Fuzzer(const Options &options, std::vector<FileKind> kinds, fs::path work)
      : options(options), kinds(std::move(kinds)), work(std::move(work)), guard(options.limits) {
    for (const FileKind &kind : this->kinds)
      shares += kind.share;
  }

  void run();
  const Findings &findings() const { return found; }
  /// Errors: processes that ended before they came to a case, steps that take none of a kind's
  /// files as it is. So nothing was tried.
  Expected<void> checkThatItTried() const;
  void print() const;
  /// The page of counts, in Markdown.
  std::string report() const;

private:
  /// What one process does.
  struct Batch {
    size_t kind = 0;
    std::vector<FileMutation> cases;
  };
  struct State {
    /// The next case, and how many there are.
    uint64_t next = 0, cases = 0;
    Allowance allowed;
    std::vector<std::pair<FileMutation, Outcome>> bad;
  };

  std::optional<Batch> nextBatch();
  void start(Batch batch);
  std::pair<Batch, std::vector<Outcome>> finish();
  void count(const FileKind &kind, const FileMutation &which, const Outcome &outcome);
  Outcome runAlone(size_t kind, const FileMutation &which);
  void keep(size_t kind, const FileMutation &which, const Outcome &outcome);
  bool isTimeLeft() const;

  const Options &options;
  std::vector<FileKind> kinds;
  fs::path work;
  Guard guard;
  uint64_t shares = 0, numStarted = 0, numDone = 0, numLost = 0;
  /// Kinds of files, and a step that takes none of these as it is.
  std::vector<std::string> untaken;
  std::vector<State> states;
  std::deque<Batch> rests;
  std::map<uint64_t, Batch> running;
  Findings found;
  std::map<std::string, Counts> endings, changed;
  uint64_t numBytes = 0, numTokens = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

bool Fuzzer::isTimeLeft() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return options.seconds == 0 || passed.count() < options.seconds;
}

/// What a process has not come to, or new cases of the kind that has done the least of its share.
std::optional<Fuzzer::Batch> Fuzzer::nextBatch() {
  if (!rests.empty()) {
    Batch batch = std::move(rests.front());
    rests.pop_front();
    return batch;
  }
  std::optional<size_t> least;
  const auto progress = [&](size_t kind) {
    return static_cast<double>(states[kind].next) / static_cast<double>(kinds[kind].share);
  };
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    if (states[kind].next < states[kind].cases && (!least || progress(kind) < progress(*least)))
      least = kind;
  if (!least || !isTimeLeft())
    return std::nullopt;
  State &state = states[*least];
  const uint64_t most = kinds[*least].toolEvery >= 16 ? kCasesOfReaders : kCasesOfTools;
  const uint64_t end = std::min(state.cases, state.next + most);
  Batch batch{*least, {}};
  for (; state.next < end; ++state.next)
    batch.cases.push_back(mutationOf(kinds[*least], state.next, options.seed));
  return batch;
}

void Fuzzer::start(Batch batch) {
  const uint64_t number = numStarted++;
  const FileKind &kind = kinds[batch.kind];
  const Allowance allowed = states[batch.kind].allowed;
  running[number] = std::move(batch);
  const std::vector<FileMutation> &cases = running[number].cases;
  guard.start(number, [&, number, allowed](const Notes &notes) {
    runCases(kind, cases, work / std::to_string(number), options.limits, allowed, notes);
  });
}

std::pair<Fuzzer::Batch, std::vector<Outcome>> Fuzzer::finish() {
  const auto [number, ending] = guard.wait();
  std::error_code ignored;
  fs::remove_all(work / std::to_string(number), ignored);
  Batch batch = std::move(running[number]);
  running.erase(number);
  std::vector<Outcome> outcomes = outcomesOf(ending, states[batch.kind].allowed);
  return {std::move(batch), std::move(outcomes)};
}

Outcome Fuzzer::runAlone(size_t kind, const FileMutation &which) {
  start({kind, {which}});
  auto [batch, outcomes] = finish();
  return outcomes.empty() ? Outcome{} : outcomes.back();
}

void Fuzzer::count(const FileKind &kind, const FileMutation &which, const Outcome &outcome) {
  ++numDone;
  std::vector<Change> changes;
  changedFile(kind, which, changes);
  Counts &counts = endings[kind.name];
  if (!which.mutations.empty())
    ++counts[which.isText ? "by tokens" : "by bytes"];
  (which.isText ? numTokens : numBytes) += which.mutations.empty() ? 0 : 1;
  const std::string ending = endingOf(outcome);
  const std::string shown = outcome.isFinding()             ? ending
                            : ending.starts_with("refused") ? "refused"
                                                            : "taken";
  ++counts[shown];
  for (const Change &change : changes) {
    Counts &counted = changed[change.kind];
    ++counted["changes"];
    ++counted[outcome.isFinding() ? "findings" : shown];
  }
}

void Fuzzer::run() {
  states.resize(kinds.size());
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    State &state = states[kind];
    state.cases = options.cases == 0 ? UINT64_MAX : options.cases * kinds[kind].share / shares;
    // What the seeds take, as they are.
    Batch seeds{kind, {}};
    for (uint64_t number = 0; number < kinds[kind].seeds.size(); ++number)
      seeds.cases.push_back(mutationOf(kinds[kind], number, options.seed));
    start(std::move(seeds));
    std::map<std::string, bool> isTaken;
    for (const Outcome &outcome : finish().second) {
      state.allowed.base = std::max(state.allowed.base, outcome.peak);
      for (const Outcome::Step &step : outcome.steps) {
        isTaken[step.name] |= step.what == "passed";
      }
    }
    for (const auto &[step, taken] : isTaken)
      if (!taken)
        untaken.push_back(fmt::format("{} in {}", kinds[kind].name, step));
  }
  while (true) {
    while (guard.running() < options.jobs) {
      std::optional<Batch> batch = nextBatch();
      if (!batch)
        break;
      start(std::move(*batch));
    }
    if (guard.running() == 0)
      break;
    auto [batch, outcomes] = finish();
    const FileKind &kind = kinds[batch.kind];
    for (size_t i = 0; i < outcomes.size(); ++i) {
      count(kind, batch.cases[i], outcomes[i]);
      if ((outcomes[i].isFinding() || !outcomes[i].remarks().empty()) &&
          states[batch.kind].bad.size() < kMostFindings)
        states[batch.kind].bad.emplace_back(batch.cases[i], outcomes[i]);
    }
    // A process that does not come to its first case would not come to the next one either.
    numLost += outcomes.empty() ? 1 : 0;
    const size_t numLeft = std::max<size_t>(outcomes.size(), 1);
    batch.cases.erase(batch.cases.begin(),
                      batch.cases.begin() + static_cast<std::ptrdiff_t>(numLeft));
    if (!batch.cases.empty())
      rests.push_back(std::move(batch));
  }
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    std::ranges::sort(states[kind].bad, {}, [](const auto &each) { return each.first.number; });
    for (const auto &[which, outcome] : states[kind].bad)
      keep(kind, which, outcome);
  }
}

/// Remembers a finding with as few changes as it needs.
void Fuzzer::keep(size_t kind, const FileMutation &which, const Outcome &outcome) {
  FileMutation smallest = which;
  Finding finding;
  const std::vector<std::string> remarks = outcome.remarks();
  finding.isRemark = !outcome.isFinding();
  std::string signature = finding.isRemark ? remarks.front() : outcome.signature();
  if (!finding.isRemark) {
    if (runAlone(kind, which).signature() != signature)
      signature += " (not by itself)";
    for (size_t i = smallest.mutations.size(); i-- > 0 && smallest.mutations.size() > 1;) {
      FileMutation fewer = smallest;
      fewer.mutations.erase(fewer.mutations.begin() + static_cast<std::ptrdiff_t>(i));
      if (runAlone(kind, fewer).signature() == signature)
        smallest = fewer;
    }
  }
  std::vector<Change> changes;
  finding.bytes = changedFile(kinds[kind], smallest, changes);
  for (const Change &change : changes)
    finding.changes.push_back(change.text);
  const FileSeed &seed = kinds[kind].seeds[which.seed];
  finding.seed = seed.name;
  finding.ending = fs::path(seed.fileName).extension();
  finding.signature = fmt::format("{}: {}", kinds[kind].name, signature);
  found.add(std::move(finding));
}

Expected<void> Fuzzer::checkThatItTried() const {
  if (!untaken.empty())
    return makeError(fmt::format("{}", fmt::join(untaken, ", ")), "no file is taken as it is",
                     "some that are");
  if (numLost > 0)
    return makeError(fmt::format("{} cases", numLost), "their processes ended before they began");
  return {};
}

void Fuzzer::print() const {
  const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{} cases, seed {}: {} with other bytes, {} with other tokens, {:.0f} s\n", numDone,
             options.seed, numBytes, numTokens, passed);
  for (const auto &[kind, counts] : endings) {
    fmt::print("  {:<24}", kind);
    for (const auto &[what, number] : counts)
      fmt::print(" {} {},", number, what);
    fmt::print("\n");
  }
}

std::string Fuzzer::report() const {
  std::string text = fmt::format(
      "# Fuzzed files\n\n"
      "Generated by `./dev fuzz --files --cases {} --seed {} --report docs/fuzzed-files.md`; do "
      "not edit. A case is a file as the tools write it with up to four changes. Some bytes are "
      "others, or in texts some tokens. The tools read what comes of it. They may refuse it with a "
      "message. No case may end by a signal, take more than {} s of processor time, or take more "
      "memory than {} times what unchanged files of its kind take. The tensors that a source of a "
      "network describes come on top, and the local memory of a chip that runs. None may leave a "
      "file behind.\n\n",
      options.cases, options.seed, options.limits.seconds, Allowance::kFactor);
  text += fmt::format("{} cases, {} with other bytes and {} with other tokens: {} findings.\n\n",
                      numDone, numBytes, numTokens, found.size());
  text += "## How cases ended\n\n" + tableOf("file", endings);
  text += "\n`taken` files mean something, if only something else. The unchanged files are counted "
          "as well.\n\n## What was changed\n\n" +
          tableOf("change", changed);
  if (found.size() > 0)
    text += "\n## Findings\n\n" + found.list();
  return text;
}

/// The folders of the networks that the tools could make files of. They are made in processes of
/// their own, so that this one keeps one thread.
std::vector<fs::path> makeNetworks(const Options &options, const std::vector<Seed> &seeds,
                                   const fs::path &work) {
  Guard guard(options.limits);
  std::vector<fs::path> folders;
  for (const Seed &seed : seeds) {
    const fs::path folder = work / seed.name;
    fs::create_directories(folder);
    writeBytes(folder / "net.onnx", seed.model.SerializeAsString());
    guard.start(0, [&](const Notes &) { makeNetwork(folder); });
    guard.wait();
    folders.push_back(folder);
  }
  return folders;
}

Expected<std::vector<FileKind>> makeKinds(const Options &options, const fs::path &work) {
  Expected<std::vector<Seed>> seeds = readSeeds(options.networks);
  if (!seeds)
    return propagate(seeds);
  preparePictures();
  const std::vector<fs::path> folders = makeNetworks(options, *seeds, work);
  std::vector<FileKind> kinds;
  addPlainKinds(kinds, options.files, folders);
  addSourceKinds(kinds, options.files, options.tflite);
  addNetworkKinds(kinds, folders);
  for (const FileKind &kind : kinds)
    if (kind.seeds.empty())
      return makeError(kind.name, "there is no file to begin with");
  if (!options.kinds.empty())
    std::erase_if(kinds, [&](const FileKind &kind) {
      return std::ranges::find(options.kinds, kind.name) == options.kinds.end();
    });
  if (kinds.empty())
    return makeError("--kinds", "no kind has that name");
  return kinds;
}

Expected<void> runFuzzer(const Options &options, const fs::path &work, bool &isClean) {
  Expected<std::vector<std::string>> known = readKnown(options.known);
  if (!known)
    return propagate(known);
  Expected<std::vector<FileKind>> kinds = makeKinds(options, work / "networks");
  if (!kinds)
    return propagate(kinds);
  Fuzzer fuzzer(options, std::move(*kinds), work);
  fuzzer.run();
  fuzzer.print();
  isClean = fuzzer.findings().print(*known);
  if (Expected<void> tried = fuzzer.checkThatItTried(); !tried)
    return tried;
  if (!options.report.empty())
    writeBytes(options.report, fuzzer.report());
  return options.findings.empty() ? Expected<void>() : fuzzer.findings().write(options.findings);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Changes bytes and tokens of files, and has all tools read what comes of it");
  app.add_option("--networks", options.networks, "files of networks to make files of")->required();
  app.add_option("--files", options.files, "folders of more files")->required();
  app.add_option("--tflite", options.tflite, "a file of TFLite models as JSON")->required();
  app.add_option("--kinds", options.kinds, "only these kinds of files");
  app.add_option("--cases", options.cases, "0: until the time is over");
  app.add_option("--seconds", options.seconds, "0: until all cases are done");
  app.add_option("--seed", options.seed, "another one gives other cases");
  app.add_option("--jobs", options.jobs, "processes at a time");
  app.add_option("--limit", options.limits.seconds, "seconds that a case may take");
  app.add_option("--known", options.known, "a file of findings that are no error");
  app.add_option("--findings", options.findings, "where the files of findings go");
  app.add_option("--report", options.report, "a page of counts in Markdown");
  CLI11_PARSE(app, argc, argv);
  if (options.cases == 0 && options.seconds == 0) {
    fmt::print(stderr, "fuzz-files: expected --cases or --seconds\n");
    return 2;
  }
  std::string work = (fs::temp_directory_path() / "tpuc-fuzz-XXXXXX").string();
  if (!::mkdtemp(work.data())) {
    fmt::print(stderr, "fuzz-files: {} cannot be made\n", work);
    return 2;
  }
  bool isClean = false;
  const Expected<void> done = runFuzzer(options, work, isClean);
  fs::remove_all(work);
  if (!done) {
    fmt::print(stderr, "fuzz-files: {}\n", done.error().message());
    return 2;
  }
  return isClean ? 0 : 1;
}
