//===- Network.cpp - Whole networks against the vendor's model ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bench-simulator [--libraries FOLDER] [--threads N] MODEL.bmodel ...
//
// Times the command loop of each model on our simulator and on the vendor's functional model. The
// two take turns, command by command, so that other load on the computer meets both alike. Prints
// both times and their ratio, the ratio of the processor times of all threads, which other load
// hardly changes, the operations that take longest, whether both machines end with the same bytes
// in all of local memory and of the activations, and the memory that our run takes above that of
// the model (its file and its activations), measured in a process of its own.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/Chip.h"
#include "test/conformance/bm1684x/Chip.h"
#include "test/conformance/bm168x/BothMachines.h"
#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM168x/Kernels.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <span>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tpuc;
using bm168x::conformance::BothMachines;

namespace {

/// Seconds on the wall and of all threads' work.
struct Seconds {
  double wall = 0, work = 0;

  static Seconds now() {
    const auto read = [](clockid_t clock) {
      timespec time{};
      clock_gettime(clock, &time);
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    return {read(CLOCK_MONOTONIC), read(CLOCK_PROCESS_CPUTIME_ID)};
  }
  Seconds since(const Seconds &start) const { return {wall - start.wall, work - start.work}; }
  Seconds &operator+=(const Seconds &other) {
    wall += other.wall;
    work += other.work;
    return *this;
  }
};

struct Times {
  unsigned commands = 0;
  Seconds ours, vendor;
};

struct Options {
  std::string libraries;
  unsigned threads = 2;
  unsigned numRows = 6;
};

using TimesByOp = std::map<std::string_view, Times>;

/// Runs the model; the vendor's machine takes its turn after each command, where there is one.
template <typename Chip> Expected<TimesByOp> runModel(BothMachines<Chip> &both, unsigned threads) {
  TimesByOp times;
  ThreadPool pool(threads);
  Seconds start;
  const auto hook = [&](const typename Chip::PreparedCommand &prepared, bool isDone) {
    if (isDone) {
      Times &row = times[prepared.command.operation().name];
      ++row.commands;
      row.ours += Seconds::now().since(start);
      start = Seconds::now();
      if (both.hasVendor())
        both.executeOnVendor(prepared.command);
      row.vendor += Seconds::now().since(start);
    }
    start = Seconds::now();
  };
  if (auto ok = both.run(pool, hook); !ok)
    return propagate(ok);
  return times;
}

/// The largest resident set of a process that does nothing but run the model, in bytes.
template <typename Chip> Expected<uint64_t> peakMemory(const std::string &path, unsigned threads) {
  const pid_t child = fork();
  if (child == 0) {
    auto ours = BothMachines<Chip>::create(path, nullptr);
    _exit(ours && runModel(**ours, threads) ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
    return makeError(path, "cannot be run in a process of its own");
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

/// Without the vendor's machine "-" stands for its time and the ratios.
void printTimes(const std::string &name, const TimesByOp &times, bool hasVendor, unsigned numRows) {
  std::vector<std::pair<std::string_view, Times>> rows(times.begin(), times.end());
  std::ranges::sort(rows, std::greater<>(), [](const auto &row) { return row.second.ours.work; });
  Times total;
  for (const auto &[operation, row] : rows) {
    total.commands += row.commands;
    total.ours += row.ours;
    total.vendor += row.vendor;
  }
  const auto print = [&](std::string_view what, const Times &row) {
    fmt::print("{:<32} {:>7} {:>11.1f}", what, row.commands, row.ours.wall * 1e3);
    if (hasVendor)
      fmt::print(" {:>11.1f} {:>7.1f} {:>7.1f}\n", row.vendor.wall * 1e3,
                 row.vendor.wall / row.ours.wall, row.vendor.work / row.ours.work);
    else
      fmt::print(" {:>11} {:>7} {:>7}\n", "-", "-", "-");
  };
  print(name, total);
  rows.resize(std::min<size_t>(rows.size(), numRows));
  for (const auto &[operation, row] : rows)
    print("  " + std::string(operation), row);
}

template <typename Chip> Expected<void> measure(const std::string &path, const Options &options) {
  const auto peak = peakMemory<Chip>(path, options.threads);
  if (!peak)
    return tl::unexpected(peak.error());
  const auto both = BothMachines<Chip>::create(path, nullptr);
  if (!both)
    return tl::unexpected(both.error());
  if (!options.libraries.empty())
    if (auto ok = (*both)->loadVendor(fmt::format("{}/{}", options.libraries, Chip::kLibrary)); !ok)
      return propagate(ok);
  const auto times = runModel(**both, options.threads);
  if (!times)
    return tl::unexpected(times.error());
  const bool hasVendor = (*both)->hasVendor();
  printTimes(std::filesystem::path(path).stem(), *times, hasVendor, options.numRows);
  if (hasVendor) {
    const bool isSame = std::ranges::all_of((*both)->memories(), [](const auto &memory) {
      return std::ranges::equal(memory.ours, std::span(memory.vendor, memory.ours.size()));
    });
    fmt::print("  memory after the run: {}\n",
               isSame ? "the same bytes" : "other bytes than the vendor's");
  }
  const uint64_t own = std::filesystem::file_size(path) + (*both)->activationBytes();
  fmt::print("  memory above the model's own {:.0f} MiB: {:.0f} MiB\n",
             static_cast<double>(own) / (1 << 20),
             static_cast<double>(*peak > own ? *peak - own : 0) / (1 << 20));
  std::fflush(stdout);
  return {};
}

Expected<void> measureFile(const std::string &path, const Options &options) {
  const auto loaded = runtime::LoadedModel::load(path);
  if (!loaded)
    return tl::unexpected(loaded.error());
  const std::string_view chip = (*loaded)->driver().name();
  if (chip == bm1684::conformance::Chip::kName)
    return measure<bm1684::conformance::Chip>(path, options);
  if (chip == bm1684x::conformance::Chip::kName)
    return measure<bm1684x::conformance::Chip>(path, options);
  return makeError(path, fmt::format("is for {}", chip), "BM1684 or BM1684X");
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::vector<std::string> models;
  CLI::App app("Times whole networks on our simulator and on the vendor's functional model");
  app.add_option("--libraries", options.libraries,
                 "The folder of libcmodel_CHIP.so; without, only ours is timed");
  app.add_option("--threads", options.threads);
  app.add_option("--rows", options.numRows, "How many operations to show");
  app.add_option("models", models, ".bmodel files")->required();
  CLI11_PARSE(app, argc, argv);
  // The vendor's library asks for it when it is loaded.
  setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
  if (options.libraries.empty())
    fmt::print("without the vendor's functional model: no ratios\n");
  fmt::print("{} threads, {}\n{:<32} {:>7} {:>11} {:>11} {:>7} {:>7}\n", options.threads,
             bm168x::kernelsFor(bestSimdLevel()).name, "network", "count", "ours ms", "vendor ms",
             "ratio", "cpu");
  std::fflush(stdout);
  int status = 0;
  for (const std::string &model : models) {
    // The vendor's model has one device per process.
    const pid_t child = fork();
    if (child == 0) {
      const auto ok = measureFile(model, options);
      if (!ok)
        fmt::print(stderr, "error: {}\n", ok.error().message());
      _exit(ok ? 0 : 1);
    }
    int result = 0;
    if (child < 0 || waitpid(child, &result, 0) != child || result != 0)
      status = 1;
  }
  return status;
}
