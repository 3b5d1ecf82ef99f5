//===- PythonReference.cpp - Reference runtimes of Python packages --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Common/PythonReference.h"

#include "llvm/Support/Program.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::frontend;

namespace {

/// What the script gives back where the package is not there.
constexpr int kNoPackage = 77;

/// The Pythons that may have a runtime: the one that was asked for, or else that of the path and
/// that of a source tree which this program was built in.
std::vector<std::string> pythons(const std::string &wanted) {
  if (!wanted.empty())
    return {wanted};
  std::vector<std::string> found;
  if (llvm::ErrorOr<std::string> onPath = llvm::sys::findProgramByName("python3"))
    found.push_back(*onPath);
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path ofTree = program.parent_path() / "../../.venv/bin/python3";
  if (!error && std::filesystem::exists(ofTree, error))
    found.push_back(ofTree.lexically_normal().string());
  return found;
}

std::string lastLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::string last;
  while (std::getline(file, line))
    if (!line.empty())
      last = line;
  return last;
}

/// A finished file that goes when it is dropped.
Expected<OutputFile> scratchFile(const std::string &path, const std::string &text = "") {
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

Expected<OutputFile> tpuc::frontend::runPython(const PythonRuntime &runtime, nlohmann::json order,
                                               const ReferenceRequest &request,
                                               const std::string &scratch) {
  Expected<OutputFile> outputs = scratchFile(scratch + ".outputs");
  if (!outputs)
    return outputs;
  Expected<OutputFile> messages = scratchFile(scratch + ".messages");
  if (!messages)
    return messages;
  order["inputs"] = std::filesystem::absolute(request.inputs).string();
  order["outputs"] = outputs->temporaryPath();
  Expected<OutputFile> orderFile = scratchFile(scratch + ".order", order.dump());
  if (!orderFile)
    return orderFile;
  const std::optional<llvm::StringRef> redirects[] = {"/dev/null", "/dev/null",
                                                      messages->temporaryPath()};
  std::string problem;
  int status = kNoPackage;
  for (const std::string &python : pythons(request.python)) {
    status = llvm::sys::ExecuteAndWait(
        python, {python, "-c", runtime.script, orderFile->temporaryPath()}, std::nullopt, redirects,
        /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
    if (status != kNoPackage)
      break;
  }
  if (status == 0)
    return outputs;
  if (status == kNoPackage)
    return makeError(runtime.name,
                     request.python.empty() ? "no python3 on the path has it"
                                            : request.python + " has not got it",
                     runtime.package);
  std::string said = problem.empty() ? lastLine(messages->temporaryPath()) : problem;
  return makeError(runtime.name, said.empty() ? "ended without a word" : said);
}
