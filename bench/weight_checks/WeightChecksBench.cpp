//===- WeightChecksBench.cpp - What it costs to look for damage -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bench-weight_checks WEIGHTS.npz [RUNS]: reads the file as a program does that runs a module, with
// the CRC of each tensor and the SHA-256 of the directory compared, and without. Prints the bytes
// of the file and the processor milliseconds of each, medians of RUNS (default 15), every thread
// counted:
//
//   14201344 bytes 1.91 checked 0.52 unchecked
//
// The first reader of a mapped page pays for the mapping. A run that does not check pays when it
// computes, so here each page is looked at once in both ways.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/WeightStore.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace tpuc;

namespace {

/// Processor time of the process with all of its threads, in milliseconds.
double processorTime() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * double(now.tv_sec) + 1e-6 * double(now.tv_nsec);
}

/// Reads all tensors of a file as the tools read weights, with their checks or without, and looks
/// at a byte of every page.
Expected<void> readAll(const std::string &path, const std::string &digest, bool isChecked) {
  constexpr size_t kPage = 4096;
  auto store =
      isChecked ? top::WeightStore::open(path, digest) : top::WeightStore::openWritten(path);
  Expected<NpzReader> file = NpzReader::open(path);
  if (!store || !file)
    return store ? propagate(file) : propagate(store);
  for (const std::string &name : file->names()) {
    Expected<Tensor> tensor = (*store)->read(name);
    if (!tensor)
      return propagate(tensor);
    const std::span<const std::byte> bytes = tensor->rawBytes();
    // Volatile, or the compiler drops the loop.
    volatile std::byte seen{};
    for (size_t i = 0; i < bytes.size(); i += kPage)
      seen = bytes[i];
    static_cast<void>(seen);
  }
  return {};
}

/// The median of `runs` times of `readAll`; ends the program where it fails.
double medianOf(size_t runs, const std::string &path, const std::string &digest, bool isChecked) {
  std::vector<double> times;
  for (size_t i = 0; i < runs; ++i) {
    const double begin = processorTime();
    const Expected<void> done = readAll(path, digest, isChecked);
    times.push_back(processorTime() - begin);
    if (!done) {
      std::fprintf(stderr, "bench-weight_checks: error: %s\n", done.error().message().c_str());
      std::exit(1);
    }
  }
  std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(runs / 2), times.end());
  return times[runs / 2];
}

} // namespace

int main(int argc, char **argv) {
  const std::span<char *> arguments(argv, static_cast<size_t>(argc));
  const size_t runs = arguments.size() > 2 ? std::strtoul(arguments[2], nullptr, 10) : size_t(15);
  if (arguments.size() < 2 || runs == 0) {
    std::fputs("usage: bench-weight_checks WEIGHTS.npz [RUNS]\n", stderr);
    return 2;
  }
  const std::string path = arguments[1];
  const Expected<NpzReader> file = NpzReader::open(path);
  if (!file) {
    std::fprintf(stderr, "bench-weight_checks: error: %s\n", file.error().message().c_str());
    return 1;
  }
  const std::string digest = top::weightDigest(*file);
  const double unchecked = medianOf(runs, path, digest, false);
  const double checked = medianOf(runs, path, digest, true);
  std::printf("%zu bytes %.2f checked %.2f unchecked\n", size_t(std::filesystem::file_size(path)),
              checked, unchecked);
  return 0;
}
