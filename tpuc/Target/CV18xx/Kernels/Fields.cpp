//===- Fields.cpp - Fields of operands, set together ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Fields.h"

#include <fmt/format.h>

namespace tpuc::cv18xx {

FieldSetter &FieldSetter::set(Field field, uint64_t value) {
  if (!command.trySet(field, value) && !problem)
    problem = Error{"", fmt::format("{}={}", command.table().field(field).name, value),
                    "what its field can hold"};
  return *this;
}

FieldSetter &FieldSetter::shape(const std::array<Field, 4> &fields, const Extents &shape) {
  for (size_t i = 0; i < 4; ++i)
    set(fields[i], shape[i]);
  return *this;
}

FieldSetter &FieldSetter::strides(const std::array<Field, 4> &fields,
                                  const std::array<uint32_t, 4> &strides) {
  for (size_t i = 0; i < 4; ++i)
    set(fields[i], strides[i]);
  return *this;
}

FieldSetter &FieldSetter::allSigned() {
  for (const Field field : {Field::Res0Sign, Field::Opd0Sign, Field::Opd1Sign, Field::Opd2Sign})
    set(field, 1);
  return set(Field::ShiftSigned, 1);
}

Expected<void> FieldSetter::done() const {
  if (problem)
    return tl::unexpected<Error>(*problem);
  return {};
}

} // namespace tpuc::cv18xx
