//===- AllocatorBench.cpp - Heights and times -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How low and how fast: the eleven public minimalloc instances, each with the capacity that its
// file is named after, then a synthetic problem of the interpreter's kind. Heights are stated as
// ratios to the largest load, which no allocation is below. Fails where an allocation does not pass
// the validator or misses the capacity.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/AllocationCsv.h"
#include "tpuc/Support/Allocator/AllocationValidator.h"
#include "tpuc/Support/Allocator/Allocator.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <random>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

struct Totals {
  double seconds = 0;
  int failures = 0;
};

void runOne(const std::string &name, const AllocationProblem &problem,
            const AllocatorOptions &options, Totals &totals) {
  // Processor time: all is done on one core, which the bench may have to share.
  std::clock_t start = std::clock();
  auto result = allocate(problem, options);
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  totals.seconds += seconds;
  std::string verdict = "ok";
  if (!result) {
    verdict = result.error().message();
  } else if (auto valid = validateAllocation(problem, result->offsets, options.capacity); !valid) {
    verdict = valid.error().message();
  } else if (result->isOptimal()) {
    verdict = "optimal";
  }
  bool good = verdict == "ok" || verdict == "optimal";
  totals.failures += good ? 0 : 1;
  Allocation shown = result ? *result : Allocation();
  fmt::print("{:<12} {:>7} {:>10} {:>10} {:>7.4f} {:>12} {:>8.3f}  {}\n", name,
             problem.buffers.size(), shown.maxLoad, shown.height,
             static_cast<double>(shown.height) /
                 static_cast<double>(std::max<int64_t>(1, shown.maxLoad)),
             shown.work, seconds, verdict);
  std::fflush(stdout);
}

/// What an interpreter meets: a chain of ops, each making a tensor that the next few read, with a
/// long-lived one (a skip connection) now and then.
AllocationProblem makeInterpreterProblem(int64_t count) {
  AllocationProblem problem;
  std::mt19937_64 random(count);
  for (int64_t i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.name = fmt::format("t{}", i);
    buffer.lower = i;
    auto life = static_cast<int64_t>(random() % 16 == 0 ? random() % 200 : random() % 4);
    buffer.upper = std::min(count + 1, i + 2 + life);
    buffer.size = 64 + static_cast<int64_t>(random() % 64) * (int64_t(4) << (random() % 12));
    buffer.alignment = 64;
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

/// `A.1048576.csv`: the number between the last two dots, or 0.
int64_t capacityOf(const std::filesystem::path &path) {
  std::string number = path.stem().extension().string();
  return number.size() > 1 ? std::strtoll(number.c_str() + 1, nullptr, 10) : 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Heights and times of the allocator");
  std::string folder = TPUC_ALLOCATOR_INSTANCES;
  std::vector<std::string> only;
  AllocatorOptions options;
  bool minimize = false;
  int64_t capacity = 0, synthetic = 10000;
  app.add_option("--instances", folder, "folder of *.csv problems");
  app.add_option("--only", only, "beginnings of the file names to run");
  app.add_option("--work", options.workLimit, "work limit per problem");
  app.add_option("--capacity", capacity, "instead of the one in the file's name");
  app.add_option("--synthetic", synthetic, "buffers of the synthetic problem, 0: leave it out");
  app.add_flag("--minimize", minimize, "as low as possible instead of to the capacity");
  CLI11_PARSE(app, argc, argv);

  std::vector<std::filesystem::path> paths;
  std::error_code code;
  for (const auto &entry : std::filesystem::directory_iterator(folder, code)) {
    std::string name = entry.path().filename().string();
    bool wanted = only.empty() || std::any_of(only.begin(), only.end(), [&](const auto &prefix) {
                    return name.starts_with(prefix);
                  });
    if (entry.path().extension() == ".csv" && wanted)
      paths.push_back(entry.path());
  }
  if (paths.empty()) {
    fmt::print(stderr, "{}: no such problem; expected *.csv files\n", folder);
    return 1;
  }
  std::sort(paths.begin(), paths.end());
  fmt::print("{:<12} {:>7} {:>10} {:>10} {:>7} {:>12} {:>8}\n", "problem", "buffers", "max load",
             "height", "ratio", "work", "seconds");
  Totals totals;
  for (const auto &path : paths) {
    auto problem = readProblem(path.string());
    if (!problem) {
      fmt::print(stderr, "{}\n", problem.error().message());
      return 1;
    }
    options.capacity = minimize ? 0 : capacity > 0 ? capacity : capacityOf(path);
    runOne(path.stem().stem().string(), *problem, options, totals);
  }
  fmt::print("total {:.3f} s, {} failed\n", totals.seconds, totals.failures);
  if (synthetic > 0) {
    // The interpreter takes what the orders give at once.
    for (uint64_t work : {uint64_t(0), options.workLimit}) {
      options.capacity = 0;
      options.workLimit = work;
      runOne(work == 0 ? "no search" : "searched", makeInterpreterProblem(synthetic), options,
             totals);
    }
  }
  return totals.failures == 0 ? 0 : 1;
}
