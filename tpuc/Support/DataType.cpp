//===- DataType.cpp - Element types of tensors ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/DataType.h"

namespace tpuc {

namespace {

enum class Kind : uint8_t { Float, Signed, Unsigned, Bool };

struct Description {
  std::string_view name;
  uint8_t bits;
  Kind kind;
};

/// Indexed by DataType.
constexpr std::array<Description, kAllDataTypes.size()> kDescriptions = {{
    {"f64", 64, Kind::Float},       {"f32", 32, Kind::Float},       {"f16", 16, Kind::Float},
    {"bf16", 16, Kind::Float},      {"f8E4M3FN", 8, Kind::Float},   {"f8E5M2", 8, Kind::Float},
    {"f8E4M3FNUZ", 8, Kind::Float}, {"f8E5M2FNUZ", 8, Kind::Float}, {"i4", 4, Kind::Signed},
    {"u4", 4, Kind::Unsigned},      {"i8", 8, Kind::Signed},        {"u8", 8, Kind::Unsigned},
    {"i16", 16, Kind::Signed},      {"u16", 16, Kind::Unsigned},    {"i32", 32, Kind::Signed},
    {"u32", 32, Kind::Unsigned},    {"i64", 64, Kind::Signed},      {"u64", 64, Kind::Unsigned},
    {"bool", 8, Kind::Bool},
}};

const Description &describe(DataType type) { return kDescriptions[static_cast<size_t>(type)]; }

} // namespace

unsigned bitWidth(DataType type) { return describe(type).bits; }

int64_t byteSize(DataType type, int64_t numElements) {
  unsigned bits = bitWidth(type);
  return bits == 4 ? numElements / 2 + numElements % 2 : numElements * (bits / 8);
}

bool isFloat(DataType type) { return describe(type).kind == Kind::Float; }

bool isInteger(DataType type) {
  return describe(type).kind == Kind::Signed || describe(type).kind == Kind::Unsigned;
}

bool isSigned(DataType type) {
  return describe(type).kind == Kind::Float || describe(type).kind == Kind::Signed;
}

std::string_view dataTypeName(DataType type) { return describe(type).name; }

std::optional<DataType> parseDataType(std::string_view name) {
  if (name == "i1")
    return DataType::Bool;
  // MLIR's ui8 is our u8.
  bool mlirUnsigned = name.substr(0, 2) == "ui";
  std::string_view digits = name.substr(mlirUnsigned ? 2 : 0);
  for (DataType type : kAllDataTypes) {
    std::string_view known = dataTypeName(type);
    if (known == name)
      return type;
    if (mlirUnsigned && describe(type).kind == Kind::Unsigned && known.substr(1) == digits)
      return type;
  }
  return std::nullopt;
}

} // namespace tpuc
