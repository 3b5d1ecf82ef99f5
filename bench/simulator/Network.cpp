//===- Network.cpp - Whole networks against the vendor's model ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bench-simulator [--library FILE] [--threads N] MODEL.bmodel ...
//
// Times the command loop of each model on our simulator and on the vendor's functional model. The
// two take turns, command by command, so that other load on the computer meets both alike. Prints
// both times and their ratio, the ratio of the processor times of all threads, which other load
// hardly changes, the operations that take longest, whether both machines end with the same bytes
// in all of local memory and of the activations, and the memory that our run takes above that of
// the model (its file and its activations), measured in a process of its own.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684x/BothMachines.h"
#include "tpuc/Support/ThreadPool.h"

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
using namespace tpuc::bm1684x;
using namespace tpuc::bm1684x::conformance;

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
  std::string library;
  unsigned threads = 2;
  unsigned numRows = 6;
};

/// Runs the model; the vendor's machine takes its turn after each command, where there is one.
Expected<std::map<std::string_view, Times>> runModel(OurMachine &ours, Vendor *vendor,
                                                     unsigned threads) {
  std::map<std::string_view, Times> times;
  ThreadPool pool(threads);
  Seconds start;
  const auto hook = [&](const PreparedCommand &prepared, bool isDone) {
    if (isDone) {
      Times &row = times[prepared.command.operation().name];
      ++row.commands;
      row.ours += Seconds::now().since(start);
      start = Seconds::now();
      if (vendor)
        execute(*vendor, prepared.command);
      row.vendor += Seconds::now().since(start);
    }
    start = Seconds::now();
  };
  for (const Program &program : ours.programs)
    if (auto ok = program.run(ours.memory, pool, hook); !ok)
      return propagate(ok);
  return times;
}

/// The largest resident set of a process that does nothing but run the model, in bytes.
Expected<uint64_t> peakMemory(const std::string &path, unsigned threads) {
  const pid_t child = fork();
  if (child == 0) {
    auto ours = prepareModel(path, nullptr);
    _exit(ours && runModel(**ours, nullptr, threads) ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
    return makeError(path, "cannot be run in a process of its own");
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

/// Without the vendor's machine "-" stands for its time and the ratios.
void printTimes(const std::string &name, const std::map<std::string_view, Times> &times,
                bool hasVendor, unsigned numRows) {
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

/// Whether both machines hold the same local memory and activations, outputs included.
bool haveSameMemory(OurMachine &ours, Vendor &vendor) {
  return std::ranges::equal(ours.memory.local(), std::span(vendor.local(), kLocalBytes)) &&
         std::ranges::equal(ours.context,
                            std::span(vendorContext(vendor, ours), ours.context.size()));
}

Expected<void> measure(const std::string &path, const Options &options) {
  const auto peak = peakMemory(path, options.threads);
  if (!peak)
    return tl::unexpected(peak.error());
  const auto ours = prepareModel(path, nullptr);
  if (!ours)
    return tl::unexpected(ours.error());
  std::optional<Vendor> vendor;
  if (!options.library.empty()) {
    auto loaded = loadVendor(options.library, **ours);
    if (!loaded)
      return propagate(loaded);
    vendor = *loaded;
  }
  const auto times = runModel(**ours, vendor ? &*vendor : nullptr, options.threads);
  if (!times)
    return tl::unexpected(times.error());
  printTimes(std::filesystem::path(path).stem(), *times, vendor.has_value(), options.numRows);
  if (vendor)
    fmt::print("  memory after the run: {}\n", haveSameMemory(**ours, *vendor)
                                                   ? "the same bytes"
                                                   : "other bytes than the vendor's");
  const uint64_t own = std::filesystem::file_size(path) + (*ours)->context.size();
  fmt::print("  memory above the model's own {:.0f} MiB: {:.0f} MiB\n",
             static_cast<double>(own) / (1 << 20),
             static_cast<double>(*peak > own ? *peak - own : 0) / (1 << 20));
  std::fflush(stdout);
  return {};
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::vector<std::string> models;
  CLI::App app("Times whole networks on our simulator and on the vendor's functional model");
  app.add_option("--library", options.library, "libcmodel_bm1684x.so; without, only ours is timed");
  app.add_option("--threads", options.threads);
  app.add_option("--rows", options.numRows, "How many operations to show");
  app.add_option("models", models, ".bmodel files")->required();
  CLI11_PARSE(app, argc, argv);
  // The vendor's library asks for it when it is loaded.
  setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
  if (options.library.empty())
    fmt::print("without the vendor's functional model: no ratios\n");
  fmt::print("{} threads, {}\n{:<32} {:>7} {:>11} {:>11} {:>7} {:>7}\n", options.threads,
             kernelsFor(bestSimdLevel()).name, "network", "count", "ours ms", "vendor ms", "ratio",
             "cpu");
  std::fflush(stdout);
  int status = 0;
  for (const std::string &model : models) {
    // The vendor's model has one device per process.
    const pid_t child = fork();
    if (child == 0) {
      const auto ok = measure(model, options);
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
