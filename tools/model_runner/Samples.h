//===- Samples.h - What a model is run on -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_MODEL_RUNNER_SAMPLES_H
#define TOOLS_MODEL_RUNNER_SAMPLES_H

#include "tools/model_runner/ModelBackend.h"

namespace tpuc::modelrunner {

/// What the command line says of inputs and outputs.
struct SampleArguments {
  /// The files of one sample, or one folder of samples.
  std::vector<std::string> input;
  /// A text file with the files of one sample on each line; empty: none.
  std::string dataList;
  /// Empty: the default.
  std::string output;

  /// Whether there may be several samples, for which `output` is a folder.
  bool isSet() const;
  /// The runs that are asked for. The output of one of a set is called like its first file, with
  /// .npz for the ending, and with the sample's number behind where another one has that name.
  /// Errors: not exactly one of input and dataList; as listFolder and readDataList.
  Expected<std::vector<Sample>> samples() const;
};

/// Makes the folder that the outputs of a set go to, unless there is one. Errors name it.
Expected<void> makeOutputFolder(const std::vector<Sample> &samples);

} // namespace tpuc::modelrunner

#endif // TOOLS_MODEL_RUNNER_SAMPLES_H
