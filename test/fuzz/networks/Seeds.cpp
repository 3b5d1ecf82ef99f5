//===- Seeds.cpp - Networks to begin with ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/networks/Seeds.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <google/protobuf/text_format.h>

namespace tpuc::fuzz {

namespace {

Expected<void> readLines(const std::string &path, std::vector<Seed> &seeds) {
  std::ifstream file(path);
  if (!file)
    return makeError(path, "cannot be opened");
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const size_t space = line.find(' ');
    Seed seed{line.substr(0, space), {}};
    if (space == std::string::npos ||
        !google::protobuf::TextFormat::ParseFromString(line.substr(space), &seed.model))
      return makeError(fmt::format("{}:{}", path, number), "is no network",
                       "a name and a message of Onnx.proto");
    seeds.push_back(std::move(seed));
  }
  return {};
}

Expected<void> readFolder(const std::string &path, std::vector<Seed> &seeds) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.path().extension() == ".onnx")
      files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path &each : files) {
    std::ifstream file(each, std::ios::binary);
    Seed seed{each.stem(), {}};
    if (!seed.model.ParseFromIstream(&file))
      return makeError(each, "is no network");
    seeds.push_back(std::move(seed));
  }
  return {};
}

} // namespace

Expected<std::vector<Seed>> readSeeds(std::span<const std::string> paths) {
  std::vector<Seed> seeds;
  for (const std::string &path : paths) {
    Expected<void> read =
        std::filesystem::is_directory(path) ? readFolder(path, seeds) : readLines(path, seeds);
    if (!read)
      return propagate(read);
  }
  if (seeds.empty())
    return makeError("--seeds", "no network", "at least one");
  return seeds;
}

} // namespace tpuc::fuzz
