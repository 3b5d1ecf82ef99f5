//===- CalibrationTable.h - Files of thresholds and ranges ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_CALIBRATIONTABLE_H
#define TPUC_CALIBRATION_CALIBRATIONTABLE_H

#include "tpuc/Support/Error.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc {

/// A calibration table: the text file that run_calibration writes and INT8 quantization reads. The
/// format is the manual's (7.1 and 15.3), described in docs/calibration.md.
struct CalibrationTable {
  /// One tensor. `line` is that of the file it was read from, from 1.
  struct Entry {
    std::string name;
    double threshold = 1;
    double min = 0;
    double max = 0;
    int64_t line = 0;
  };
  /// The scales of a weight's channels, and their zero points where the file states them.
  struct WeightScales {
    std::string name;
    std::vector<double> scales;
    std::vector<double> zeroPoints;
    int64_t line = 0;
  };

  int64_t numBins = 2048;
  int64_t numSamples = 0;
  int64_t numTuned = 0;
  /// Of tables that training with quantization has made; else empty.
  std::string workMode;
  std::vector<Entry> entries;
  std::vector<WeightScales> weightScales;

  /// The file's text, `time` being what its first line states.
  std::string text(std::chrono::system_clock::time_point time) const;

  /// Errors name `path` and the line: fields that are missing, too many or no finite numbers, a
  /// name that stands twice, a minimum above the maximum, a threshold that is not above 0; a file
  /// without any tensor.
  static Expected<CalibrationTable> read(const std::string &path);
  static Expected<CalibrationTable> parse(std::string_view text, const std::string &path);

  /// Whether the entries are those of the tensors `names`. Errors name `path`: a tensor without a
  /// line, a line without a tensor (with the name that was probably meant), no name in common.
  Expected<void> checkNames(std::span<const std::string> names, const std::string &path) const;

  /// Makes the entries those of the tensors `names`. What the public TPU-MLIR calls `NAME_Conv`, by
  /// the op that makes it, becomes NAME where the network has that and the table has no line for
  /// it. Lines for other tensors go where none of the network's is missing: a table serves a part
  /// of its network. Gives a note about both, or nothing. Errors: as checkNames.
  Expected<std::string> fit(std::span<const std::string> names, const std::string &path);
};

/// A tensor's name as one field of a table: blanks, control characters and a `#` at the beginning
/// become %XX, as does a % that would be read as such.
std::string encodeTableName(std::string_view name);
std::string decodeTableName(std::string_view field);

} // namespace tpuc

#endif // TPUC_CALIBRATION_CALIBRATIONTABLE_H
