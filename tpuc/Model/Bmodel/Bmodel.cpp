//===- Bmodel.cpp - What a .bmodel file says ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Bmodel.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bmodel {

namespace {

/// The element type of each code. Codes from 11 on belong to types that no chip of ours computes
/// in.
constexpr std::array kTypes = {DataType::F32,  DataType::F16, DataType::I8,  DataType::U8,
                               DataType::I16,  DataType::U16, DataType::I32, DataType::U32,
                               DataType::BF16, DataType::I4,  DataType::U4};

/// Codes of our own, for types that only layers on the CPU have: this and the number of the type.
constexpr uint32_t kOwnTypes = 0x100;

} // namespace

std::optional<DataType> dataTypeOfCode(uint32_t code) {
  if (code < kTypes.size())
    return kTypes[code];
  if (code < kOwnTypes || code - kOwnTypes >= kAllDataTypes.size())
    return std::nullopt;
  const DataType own = kAllDataTypes[code - kOwnTypes];
  return std::ranges::find(kTypes, own) == kTypes.end() ? std::optional(own) : std::nullopt;
}

uint32_t codeOfDataType(DataType type) {
  const auto *found = std::find(kTypes.begin(), kTypes.end(), type);
  if (found != kTypes.end())
    return static_cast<uint32_t>(found - kTypes.begin());
  const auto *own = std::ranges::find(kAllDataTypes, type);
  return kOwnTypes + static_cast<uint32_t>(own - kAllDataTypes.begin());
}

std::string typeCodeName(uint32_t code) {
  const std::optional<DataType> type = dataTypeOfCode(code);
  return type ? std::string(dataTypeName(*type)) : fmt::format("type {}", code);
}

} // namespace tpuc::bmodel
