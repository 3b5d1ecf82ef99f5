//===- Fields.h - Fields of operands, set together ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_FIELDS_H
#define TPUC_TARGET_CV18XX_KERNELS_FIELDS_H

#include "tpuc/Target/CV18xx/Kernels/LocalTensor.h"

namespace tpuc::cv18xx {

/// What fails where a value is too large for its field.
class FieldSetter {
public:
  explicit FieldSetter(Command &command) : command(command) {}

  FieldSetter &set(Field field, uint64_t value);
  FieldSetter &shape(const std::array<Field, 4> &fields, const Extents &shape);
  FieldSetter &strides(const std::array<Field, 4> &fields, const std::array<uint32_t, 4> &strides);
  /// All operands signed, as the vendor's commands have those that are not used.
  FieldSetter &allSigned();
  /// Errors (without `where`): the first value that was too large.
  Expected<void> done() const;

private:
  Command &command;
  std::optional<Error> problem;
};

inline constexpr std::array kRes0Shape = {Field::Res0N, Field::Res0C, Field::Res0H, Field::Res0W};
inline constexpr std::array kOpd0Shape = {Field::Opd0N, Field::Opd0C, Field::Opd0H, Field::Opd0W};
inline constexpr std::array kOpd1Shape = {Field::Opd1N, Field::Opd1C, Field::Opd1H, Field::Opd1W};
inline constexpr std::array kOpd2Shape = {Field::Opd2N, Field::Opd2C, Field::Opd2H, Field::Opd2W};
inline constexpr std::array kRes0Strides = {Field::Res0StrN, Field::Res0StrC, Field::Res0StrH,
                                            Field::Res0StrW};
inline constexpr std::array kOpd0Strides = {Field::Opd0StrN, Field::Opd0StrC, Field::Opd0StrH,
                                            Field::Opd0StrW};
inline constexpr std::array kOpd1Strides = {Field::Opd1StrN, Field::Opd1StrC, Field::Opd1StrH,
                                            Field::Opd1StrW};

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_FIELDS_H
