//===- Format.h - What reader and writer share ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_CVIMODEL_FORMAT_H
#define TPUC_MODEL_CVIMODEL_FORMAT_H

#include "tpuc/Model/Cvimodel/Cvimodel.h"

#include <algorithm>
#include <array>

namespace tpuc::cvimodel {

inline constexpr std::string_view kMagic = "CviModel";
/// The types of tensors, by their number.
inline constexpr std::array kTypes = {DataType::F32, DataType::I32, DataType::U32, DataType::BF16,
                                      DataType::I16, DataType::U16, DataType::I8,  DataType::U8};

/// Whether there is a number for it.
constexpr bool statesType(DataType type) { return std::ranges::find(kTypes, type) != kTypes.end(); }

inline constexpr size_t kMd5Bytes = 16;
/// Errors name `where`: libcrypto cannot.
Expected<std::array<std::byte, kMd5Bytes>> md5(Bytes bytes, const std::string &where);

} // namespace tpuc::cvimodel

#endif // TPUC_MODEL_CVIMODEL_FORMAT_H
