//===- Writer.h - Writes .bmodel files --------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_WRITER_H
#define TPUC_MODEL_BMODEL_WRITER_H

#include "tpuc/Model/Bmodel/Bmodel.h"
#include "tpuc/Support/OutputFile.h"

namespace tpuc::bmodel {

/// Writes a file that the vendor's runtime reads as well. The same model gives the same bytes.
/// Parts that are the same memory are stored once, and so are coefficients with the same contents
/// (the batch variants of one network); checksums that are missing are computed. The file appears
/// when it is complete (OutputFile.h).
///
/// Errors: those of `checkModel`, a checksum that the coefficients do not have, and those of the
/// file system.
Expected<void> writeModel(const Model &model, const std::string &path);

/// The same file before it gets its name, which is left to the caller.
Expected<OutputFile> createModel(const Model &model, const std::string &path);

/// The bytes of that file. `where` names the model in errors.
Expected<std::vector<std::byte>> encodeModel(const Model &model, const std::string &where);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_WRITER_H
