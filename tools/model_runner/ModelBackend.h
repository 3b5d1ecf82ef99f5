//===- ModelBackend.h - What runs which model file --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_MODEL_RUNNER_MODELBACKEND_H
#define TOOLS_MODEL_RUNNER_MODELBACKEND_H

#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Preprocess/Preprocess.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/RunFiles.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tpuc::modelrunner {

inline constexpr std::string_view kToolName = "model_runner";

/// One run of the model.
struct Sample {
  /// One npz file, or for each input a picture or .npy file.
  std::vector<std::string> files;
  /// The npz file to write.
  std::string output;
};

/// What the command line asks for.
struct Request {
  std::string model;
  /// The weights of a source model whose format has them apart.
  std::string weights;
  /// One at least; the model is loaded once for all of them.
  std::vector<Sample> samples;
  /// How pictures become inputs, where the user says so.
  std::optional<PreprocessOptions> preprocess;
  /// The net to run where the file holds several.
  std::string net;
  bool dumpAllTensors = false;
  bool outFixed = false;
  /// How often the model is run to tell the time of one inference; 0: once, and nothing is told.
  int timedRuns = 0;
  /// Print what the chip's timing model says about the run.
  bool profile = false;
  /// Print how long the simulation takes here.
  bool profileHost = false;
  /// Where the time line goes, for chrome://tracing; empty: nowhere.
  std::string trace;
  /// Where both profiles go as JSON; empty: nowhere.
  std::string json;
  /// Of a source model: see ImportOptions.
  bool hybrid = false;
  int numThreads = 0;
  /// The most pixels of a picture that is decoded.
  int64_t maxPixels = kMaxPixels;
  /// The weight file of a module may lie outside of its folder.
  bool allowOutside = false;
};

/// One kind of model file. The back ends of this program link no MLIR; one that does belongs into a
/// library that is opened when such a file is met.
class ModelBackend {
public:
  virtual ~ModelBackend() = default;
  /// What the files are, for the error about other ones: `a .x file`.
  virtual std::string_view description() const = 0;
  /// Whether a file that begins with these bytes (up to 4096) is one of its own.
  virtual bool accepts(std::span<const std::byte> beginning) const = 0;
  /// Runs the model and writes the output.
  virtual Expected<void> run(const Request &request) const = 0;
};

/// Compiled networks in the containers that there are, on the simulated device.
const ModelBackend &compiledBackend();
/// Modules and source models, on the interpreter: the plugin `tpuc-module-runner`.
const ModelBackend &moduleBackend();
const ModelBackend &sourceBackend();

/// What the plugin runs.
enum class NetworkKind : uint8_t { Module, Source };
/// The entry of the plugin `tpuc-module-runner`.
using RunModule = void(const Request &request, NetworkKind kind, Expected<void> &result);
inline constexpr std::string_view kModulePlugin = "tpuc-module-runner";
inline constexpr const char *kRunModuleSymbol = "tpucRunModule";

/// The back end for the file `path`, by its contents, not its name.
Expected<const ModelBackend *> chooseBackend(const std::string &path);

/// Errors: one of the files that `request` names to be written is another of them, or one of
/// `others`, which belong to the model. For the program and for the plugin.
inline Expected<void> checkFiles(const Request &request, std::span<const std::string> others = {}) {
  RunFiles files;
  files.reads("--model", request.model);
  files.reads("--model", others);
  files.reads("--weight", request.weights);
  for (const Sample &sample : request.samples) {
    files.reads("--input", sample.files);
    files.writes("--output", sample.output);
  }
  files.writes("--trace", request.trace);
  files.writes("--json", request.json);
  return files.check();
}

/// Whether the sample is one npz file, by its first bytes. Errors: a file that cannot be read.
Expected<bool> isArchive(const Sample &sample);

/// The name of the array for the input `name`: the one of that name, or, for the only input, the
/// only array, with a note.
Expected<std::string> findInput(const NpzReader &npz, const std::string &name, size_t numInputs);

} // namespace tpuc::modelrunner

#endif // TOOLS_MODEL_RUNNER_MODELBACKEND_H
