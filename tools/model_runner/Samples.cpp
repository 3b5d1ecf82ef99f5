//===- Samples.cpp - What a model is run on -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/model_runner/Samples.h"
#include "tpuc/Calibration/Dataset.h"

#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace fs = std::filesystem;

namespace tpuc::modelrunner {

namespace {

constexpr const char *kOutputFile = "_output.npz";
constexpr const char *kOutputFolder = "_output";

} // namespace

bool SampleArguments::isSet() const {
  std::error_code ignored;
  return !dataList.empty() || (input.size() == 1 && fs::is_directory(input[0], ignored));
}

Expected<std::vector<Sample>> SampleArguments::samples() const {
  if (input.empty() && dataList.empty())
    return makeError("missing --input", "");
  if (!input.empty() && !dataList.empty())
    return makeError("--input and --data_list", "both", "one of them");
  if (!isSet())
    return std::vector<Sample>{{input, output.empty() ? kOutputFile : output}};
  Expected<std::vector<SampleFiles>> listed =
      dataList.empty() ? listFolder(input[0]) : readDataList(dataList);
  if (!listed)
    return propagate(listed);
  const fs::path folder = output.empty() ? kOutputFolder : output;
  std::set<std::string> names;
  std::vector<Sample> samples;
  for (SampleFiles &files : *listed) {
    std::string name = fs::path(files[0]).stem().string();
    if (!names.insert(name).second)
      name = fmt::format("{}_{}", name, samples.size() + 1);
    samples.push_back({std::move(files), (folder / (name + ".npz")).string()});
  }
  return samples;
}

Expected<void> makeOutputFolder(const std::vector<Sample> &samples) {
  const fs::path folder = fs::path(samples[0].output).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error))
    return makeError(folder.string(),
                     error ? "no folder can be made: " + error.message() : "is no folder",
                     "a folder for the outputs");
  return {};
}

} // namespace tpuc::modelrunner
