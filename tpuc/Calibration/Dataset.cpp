//===- Dataset.cpp - The files of the samples -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Dataset.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Trimmed.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace tpuc;

namespace fs = std::filesystem;

/// The kind of a sample's file by the ending of its name.
static std::string_view kindOf(const std::string &path) {
  std::string ending = fs::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".npy" ? "npy file" : ending == ".npz" ? "npz file" : "picture";
}

Expected<std::vector<SampleFiles>> tpuc::listFolder(const std::string &folder) {
  std::error_code failure;
  fs::directory_iterator iterator(folder, failure);
  std::vector<std::string> paths;
  for (; !failure && iterator != fs::directory_iterator(); iterator.increment(failure)) {
    std::error_code ignored;
    if (!iterator->path().filename().string().starts_with('.') && !iterator->is_directory(ignored))
      paths.push_back(iterator->path().string());
  }
  if (failure)
    return makeError(folder, "cannot be read: " + failure.message(), "a folder of samples");
  if (paths.empty())
    return makeError(folder, "is empty", "a folder of pictures, .npy or .npz files");
  std::ranges::sort(paths);
  std::vector<SampleFiles> samples;
  for (std::string &path : paths) {
    if (kindOf(path) != kindOf(paths[0]))
      return makeError(
          path,
          fmt::format("is a {} in a folder whose first file, '{}', is a {}; mixed types",
                      kindOf(path), fs::path(paths[0]).filename().string(), kindOf(paths[0])),
          "only pictures, only .npy or only .npz files");
    samples.push_back({path});
  }
  return samples;
}

/// The paths between the commas of a line.
static SampleFiles splitLine(std::string_view line) {
  SampleFiles files;
  while (true) {
    const size_t comma = line.find(',');
    files.emplace_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos)
      return files;
    line.remove_prefix(comma + 1);
  }
}

Expected<std::vector<SampleFiles>> tpuc::readDataList(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  const std::span<const std::byte> bytes = (*file)->bytes();
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  std::vector<SampleFiles> samples;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t size = std::min(text.size(), text.find('\n'));
    const std::string_view line = trimmed(text.substr(0, size));
    text.remove_prefix(std::min(text.size(), size + 1));
    if (line.empty())
      continue;
    SampleFiles files = splitLine(line);
    if (std::ranges::any_of(files, &std::string::empty))
      return makeError(fmt::format("{}:{}", path, number), "an empty path",
                       "paths with commas between them");
    samples.push_back(std::move(files));
  }
  if (samples.empty())
    return makeError(path, "lists no samples", "a sample's files on each line");
  return samples;
}

std::string tpuc::sampleName(const SampleFiles &files) {
  return fmt::format("{}", fmt::join(files, ","));
}
