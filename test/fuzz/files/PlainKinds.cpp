//===- PlainKinds.cpp - Files that stand for themselves
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "test/fuzz/files/FileKind.h"
#include "tools/common/CommandLine.h"
#include "tools/model_runner/ModelBackend.h"
#include "tools/model_tool/Commands.h"
#include "tools/npz_tool/Commands.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Preprocess/Preprocess.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace tpuc::fuzz {

namespace {

/// What --max_pixels is set to, so that the memory of a decoded picture is known.
constexpr int64_t kMostPixels = 1 << 20;

std::vector<FileSeed> filesOf(std::span<const std::string> folders, std::string_view ending) {
  std::vector<FileSeed> seeds;
  for (const std::string &folder : folders)
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (const std::filesystem::path &path = entry.path(); path.extension() == ending)
        seeds.push_back({path.filename(), bytesOf(path), path.filename(), {}});
  std::ranges::sort(seeds, {}, &FileSeed::name);
  return seeds;
}

/// Reads every element.
void touch(const Tensor &tensor) {
  unsigned sum = 0;
  for (std::byte element : tensor.rawBytes())
    sum += std::to_integer<unsigned>(element);
  volatile unsigned sink = sum;
  static_cast<void>(sink);
}

Expected<void> readNpy(const FileCase &given) {
  Expected<Tensor> tensor = parseNpy(std::as_bytes(std::span(given.bytes)), nullptr, given.path);
  if (!tensor)
    return propagate(tensor);
  touch(*tensor);
  return {};
}

Expected<void> readNpz(const FileCase &given) {
  Expected<NpzReader> reader =
      NpzReader::fromMemory(std::as_bytes(std::span(given.bytes)), nullptr, given.path);
  if (!reader)
    return propagate(reader);
  for (const std::string &name : reader->names()) {
    if (Expected<void> verified = reader->verifyView(name); !verified)
      return verified;
    Expected<Tensor> tensor = reader->read(name);
    if (!tensor)
      return propagate(tensor);
    touch(*tensor);
  }
  return {};
}

Expected<void> npzTool(std::vector<std::string> arguments) {
  CommandLine cli(std::string(npztool::kToolName), "Looks at npz files and changes them.");
  npztool::addInspectCommands(cli);
  npztool::addCompareCommand(cli);
  npztool::addRewriteCommands(cli);
  npztool::addExportCommands(cli);
  Expected<int> status = cli.run(arguments);
  return status ? Expected<void>() : propagate(status);
}

/// As the input of a network, read by model_runner and run_calibration.
Expected<void> useAsSample(const FileCase &given) {
  limitPictures(kMostPixels);
  const PreprocessOptions pictures{.resizeDims = {9, 11}, .keepAspectRatio = true};
  std::vector<InputSpec> inputs = {{"x", DataType::F32, {1, 3, 8, 8}, pictures}};
  std::string note;
  const std::vector<std::string> files = {given.path};
  Expected<NamedTensors> tensors = readSample(files, inputs, &note);
  if (!tensors)
    return propagate(tensors);
  for (const auto &[name, tensor] : *tensors)
    touch(tensor);
  return {};
}

Expected<void> useNpy(const FileCase &given) {
  return npzTool({"from_npy", given.path, given.folder + "/out.npz"});
}

Expected<void> useNpz(const FileCase &given) {
  const std::string out = given.folder + "/out";
  const std::vector<std::vector<std::string>> commands = {{"dump", given.path},
                                                          {"list", given.path},
                                                          {"statistic", given.path},
                                                          {"verify", given.path},
                                                          {"print", given.path, "a", "--full"},
                                                          {"compare", given.path, given.path, "-v"},
                                                          {"to_dat", given.path, out},
                                                          {"to_npy", given.path, "a", out},
                                                          {"to_bin", given.path, "a", out, "bf16"},
                                                          {"extract", given.path, out, "a"},
                                                          {"merge", given.path, given.path, out},
                                                          {"bf16_to_fp32", given.path, out}};
  return npzTool(commands[given.number % commands.size()]);
}

Expected<void> decode(const FileCase &given) {
  limitPictures(kMostPixels);
  constexpr PictureColours kColours[] = {PictureColours::Gray, PictureColours::Bgr,
                                         PictureColours::Rgba};
  Expected<Picture> picture =
      decodePicture(std::as_bytes(std::span(given.bytes)), kColours[given.number % 3], given.path);
  return picture ? Expected<void>() : propagate(picture);
}

Expected<void> readModelFile(const FileCase &given) {
  // With a wrong checksum the rest is still worth a look.
  auto read = bmodel::readModel(std::as_bytes(std::span(given.bytes)), nullptr, given.path,
                                {.verifySha256 = false});
  return read ? Expected<void>() : propagate(read);
}

Expected<void> useModelFile(const FileCase &given) {
  constexpr std::pair<Expected<void> (*)(const modeltool::Request &), const char *> kModes[] = {
      {modeltool::showInfo, ""},         {modeltool::printModel, ""},
      {modeltool::showWeights, "/out"},  {modeltool::dumpCommands, ""},
      {modeltool::profile, ""},          {modeltool::extractStages, "/out"},
      {modeltool::combineModels, "/out"}};
  const auto &[run, output] = kModes[given.number % std::size(kModes)];
  modeltool::Request request;
  request.files = {given.path};
  request.allLayers = true;
  request.output = *output ? given.folder + output : "";
  return run(request);
}

/// A file of one input can be run on the sample beside it.
Expected<void> runModelFile(const FileCase &given) {
  const std::string sample = given.folder + "/sample.npz";
  if (!std::filesystem::exists(sample))
    return {};
  // A command of other bits may reach all of it.
  given.notes.add(fmt::format("states {}", bm1684x::kLocalBytes));
  modelrunner::Request request;
  request.model = given.path;
  request.samples = {{{sample}, given.folder + "/outputs.npz"}};
  request.numThreads = 1;
  return modelrunner::compiledBackend().run(request);
}

} // namespace

void preparePictures() {
  const std::string none = "none";
  const Expected<Picture> picture =
      decodePicture(std::as_bytes(std::span(none)), PictureColours::Bgr, none);
  static_cast<void>(picture);
}

void addSeeds(FileKind &kind, std::span<const std::filesystem::path> folders,
              std::string_view ending) {
  for (const std::filesystem::path &folder : folders) {
    std::vector<std::filesystem::path> found;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (entry.path().filename().string().ends_with(ending))
        found.push_back(entry.path());
    std::ranges::sort(found);
    for (const std::filesystem::path &path : found) {
      kind.seeds.push_back({(folder.filename() / path.filename()).string(), bytesOf(path),
                            path.filename(), std::filesystem::absolute(folder)});
      if (kind.isText)
        kind.vocabulary.add(kind.seeds.back().bytes);
    }
  }
}

void addPlainKinds(std::vector<FileKind> &kinds, std::span<const std::string> folders,
                   std::span<const std::filesystem::path> networks) {
  kinds.push_back({"npy",
                   filesOf(folders, ".npy"),
                   200,
                   readNpy,
                   16,
                   {{"npz_tool", useNpy}, {"sample", useAsSample}}});
  addSeeds(kinds.back(), networks, "_sample.npy");
  kinds.push_back({"npz",
                   filesOf(folders, ".npz"),
                   200,
                   readNpz,
                   16,
                   {{"npz_tool", useNpz}, {"sample", useAsSample}}});
  addSeeds(kinds.back(), networks, "_weight.npz");
  addSeeds(kinds.back(), networks, "sample.npz");
  kinds.push_back({"picture", {}, 60, decode, 4, {{"sample", useAsSample}}});
  for (const char *ending : {".png", ".jpg", ".bmp", ".ppm", ".tif", ".webp"})
    std::ranges::move(filesOf(folders, ending), std::back_inserter(kinds.back().seeds));
  kinds.push_back({"model file",
                   filesOf(folders, ".bmodel"),
                   100,
                   readModelFile,
                   8,
                   {{"model_tool", useModelFile}, {"model_runner", runModelFile}}});
  addSeeds(kinds.back(), networks, ".model");
}

} // namespace tpuc::fuzz
