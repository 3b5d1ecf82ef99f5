//===- Dataset.h - The files of the samples ---------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_DATASET_H
#define TPUC_CALIBRATION_DATASET_H

#include "tpuc/Support/Error.h"

#include <string>
#include <vector>

namespace tpuc {

/// The files of one sample: one npz file, or for each input a picture or npy file.
using SampleFiles = std::vector<std::string>;

/// The files of a folder, a sample each, ordered by their names' bytes. Hidden files and folders in
/// it are left out. Errors: no such folder, no files, kinds of files mixed (npy, npz, others).
Expected<std::vector<SampleFiles>> listFolder(const std::string &folder);

/// The samples that a text file lists, a line each: one path, or several with commas between.
/// Blanks around paths and empty lines do not count. Errors: as MappedFile::open; a line with an
/// empty path; no samples.
Expected<std::vector<SampleFiles>> readDataList(const std::string &path);

/// What an error calls a sample: its files with commas between.
std::string sampleName(const SampleFiles &files);

} // namespace tpuc

#endif // TPUC_CALIBRATION_DATASET_H
