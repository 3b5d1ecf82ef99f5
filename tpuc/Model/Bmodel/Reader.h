//===- Reader.h - Reads .bmodel files ---------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_READER_H
#define TPUC_MODEL_BMODEL_READER_H

#include "tpuc/Model/Bmodel/Bmodel.h"
#include "tpuc/Support/Error.h"

namespace tpuc::bmodel {

struct ReadOptions {
  /// Compare the coefficients with their checksum, which reads all of them.
  bool verifySha256 = true;
};

/// Whether a file that begins like this is a .bmodel file.
bool hasMagic(Bytes beginning);

/// Maps the file. It may come from anywhere: sizes, offsets, checksums and everything that
/// `checkModel` names are checked, and memory is taken in proportion to the size of the file. The
/// commands themselves are the chip's business (the runtime checks them when it loads a net).
Expected<Model> readModel(const std::string &path, const ReadOptions &options = {});

/// The same for a file in memory, which `owner` keeps alive. `where` names it in errors.
Expected<Model> readModel(Bytes file, std::shared_ptr<const void> owner, const std::string &where,
                          const ReadOptions &options = {});

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_READER_H
