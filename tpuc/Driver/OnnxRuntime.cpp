//===- OnnxRuntime.cpp - What ONNX Runtime computes, for comparison -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/OnnxRuntime.h"
#include "tpuc/Support/Npz.h"

#include "llvm/Support/Program.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace tpuc;

namespace {

constexpr const char *kScript =
#include "tpuc/Driver/OnnxRuntimeScript.inc"
    ;

/// What the script gives back where the package is not there.
constexpr int kNoPackage = 77;

std::string lastLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::string last;
  while (std::getline(file, line))
    if (!line.empty())
      last = line;
  return last;
}

Expected<OutputFile> writeInputs(const OnnxRuntimeRequest &request, const std::string &path) {
  Expected<NpzWriter> writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  for (const auto &[name, tensor] : request.inputs)
    if (Expected<void> added = writer->add(name, tensor); !added)
      return propagate(added);
  return writer->finish();
}

Expected<OutputFile> emptyFile(const std::string &path) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file;
  if (Expected<void> finished = file->finish(); !finished)
    return propagate(finished);
  return file;
}

Expected<OutputFile> writeText(const std::string &path, const std::string &text) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file;
  if (Expected<void> written = file->write(text); !written)
    return propagate(written);
  if (Expected<void> finished = file->finish(); !finished)
    return propagate(finished);
  return file;
}

} // namespace

Expected<OutputFile> tpuc::runOnnxRuntime(const OnnxRuntimeRequest &request,
                                          const std::string &scratch) {
  llvm::ErrorOr<std::string> python = llvm::sys::findProgramByName("python3");
  if (!python)
    return makeError("ONNX Runtime", "there is no python3 on the path");
  Expected<OutputFile> inputs = writeInputs(request, scratch + ".inputs");
  if (!inputs)
    return inputs;
  Expected<OutputFile> outputs = emptyFile(scratch + ".outputs");
  if (!outputs)
    return outputs;
  Expected<OutputFile> messages = emptyFile(scratch + ".messages");
  if (!messages)
    return messages;
  nlohmann::json order = {{"model", std::filesystem::absolute(request.model).string()},
                          {"inputs", inputs->temporaryPath()},
                          {"outputs", outputs->temporaryPath()},
                          {"tensors", request.tensors},
                          {"threads", request.numThreads}};
  Expected<OutputFile> orderFile = writeText(scratch + ".order", order.dump());
  if (!orderFile)
    return orderFile;
  const std::optional<llvm::StringRef> redirects[] = {"/dev/null", "/dev/null",
                                                      messages->temporaryPath()};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(
      *python, {*python, "-c", kScript, orderFile->temporaryPath()}, std::nullopt, redirects,
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (status == 0)
    return outputs;
  if (status == kNoPackage)
    return makeError("ONNX Runtime", "is not installed for " + *python,
                     "the package onnxruntime of PyPI");
  std::string said = problem.empty() ? lastLine(messages->temporaryPath()) : problem;
  return makeError("ONNX Runtime", said.empty() ? "ended without a word" : said);
}
