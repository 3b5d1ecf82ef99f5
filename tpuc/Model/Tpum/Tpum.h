//===- Tpum.h - The .tpum file ------------------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A FlatBuffers file that holds a `CompiledModel` as it is: docs/tpum.md.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_TPUM_TPUM_H
#define TPUC_MODEL_TPUM_TPUM_H

#include "tpuc/Model/Container.h"

namespace tpuc::model::tpum {

inline constexpr uint32_t kVersion = 1;

/// Whether a file that begins with these bytes says that it is one.
bool hasMagic(Bytes beginning);

/// The model of a file, whose bytes `owner` keeps alive. The file may come from anywhere. Errors
/// name `path`: bytes that are no such file, other versions, numbers of things that do not exist,
/// layers that do not rise.
Expected<CompiledModel> readModel(Bytes bytes, std::shared_ptr<const void> owner,
                                  const std::string &path);

/// The file of a model. The same model gives the same bytes. Errors name `path`: tensors of unknown
/// types, more than 2 GB, stages that refuse to run.
Expected<std::vector<std::byte>> encodeModel(const CompiledModel &model, const std::string &path);

} // namespace tpuc::model::tpum

#endif // TPUC_MODEL_TPUM_TPUM_H
