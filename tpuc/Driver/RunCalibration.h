//===- RunCalibration.h - From samples to a calibration table ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_RUNCALIBRATION_H
#define TPUC_DRIVER_RUNCALIBRATION_H

#include "tpuc/Calibration/Calibrate.h"

#include <nlohmann/json_fwd.hpp>

namespace tpuc {

struct RunCalibrationOptions {
  /// A Top module, the table to write.
  std::string mlir;
  std::string table;
  /// A folder of samples, or a file that lists them: exactly one of them.
  std::string dataset;
  std::string dataList;
  /// The Top module of another compiler, whose names the table is to have; empty: the network's
  /// own.
  std::string names;
  /// The first so many samples; 0: all.
  int64_t inputNum = 0;
  /// The weight file of the module may lie outside of its folder.
  bool allowOutside = false;
  /// Where the caller writes the summary; empty: nowhere.
  std::string report;
  CalibrationOptions calibration;
  unsigned numThreads = 0;
};

struct RunCalibrationSummary {
  int64_t numSamples = 0;
  int64_t numTuned = 0;
  /// What the user should know, or nothing.
  std::string note;
  std::vector<CalibratedTensor> tensors;

  nlohmann::json toJson() const;
};

/// Calibrates a network and writes its table, which is complete or absent. Errors: options that do
/// not fit together; the module's and the samples' (readModule, networkInputs, listFolder,
/// readDataList, readSample, calibrate); a file that cannot be written, before any sample is run.
Expected<RunCalibrationSummary> runCalibration(const RunCalibrationOptions &options);

} // namespace tpuc

#endif // TPUC_DRIVER_RUNCALIBRATION_H
