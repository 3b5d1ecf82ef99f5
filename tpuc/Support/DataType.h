//===- DataType.h - Element types of tensors --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_DATATYPE_H
#define TPUC_SUPPORT_DATATYPE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tpuc {

/// The element types that a tensor can have, in every phase and on every chip.
enum class DataType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,   ///< OCP: bias 7, no infinities, one NaN per sign, largest 448.
  F8E5M2,     ///< OCP: bias 15, IEEE-like, largest 57344.
  F8E4M3FNUZ, ///< bias 8, no infinities, no negative zero, NaN is 0x80, largest 240.
  F8E5M2FNUZ, ///< bias 16, no infinities, no negative zero, NaN is 0x80, largest 57344.
  I4,         ///< Two elements per byte, the first in the low nibble.
  U4,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  Bool, ///< One byte per element, 0 or 1.
};

inline constexpr std::array kAllDataTypes = {
    DataType::F64,      DataType::F32,    DataType::F16,        DataType::BF16,
    DataType::F8E4M3FN, DataType::F8E5M2, DataType::F8E4M3FNUZ, DataType::F8E5M2FNUZ,
    DataType::I4,       DataType::U4,     DataType::I8,         DataType::U8,
    DataType::I16,      DataType::U16,    DataType::I32,        DataType::U32,
    DataType::I64,      DataType::U64,    DataType::Bool};

/// Bits that one element takes in memory: 4, 8, 16, 32 or 64.
unsigned bitWidth(DataType type);

/// Bytes that `numElements` densely stored elements take; a last half byte counts as a whole one.
/// `numElements` must be non-negative and the result must fit in 63 bits.
int64_t byteSize(DataType type, int64_t numElements);

bool isFloat(DataType type);
/// Integers of either sign; bool is not one.
bool isInteger(DataType type);
/// Floats and signed integers.
bool isSigned(DataType type);

/// The name used in messages, options and files, as MLIR spells the type where it has one:
/// f64 f32 f16 bf16 f8E4M3FN ... i4 u4 i8 u8 ... bool.
std::string_view dataTypeName(DataType type);
/// The inverse of `dataTypeName`; `ui8` is read as `u8` and `i1` as `bool`.
std::optional<DataType> parseDataType(std::string_view name);

} // namespace tpuc

#endif // TPUC_SUPPORT_DATATYPE_H
