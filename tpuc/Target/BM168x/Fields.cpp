//===- Fields.cpp - The fields of commands of the family ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Fields.h"

#include "tpuc/Target/BM168x/FieldTable.h"

namespace tpuc::bm168x {

std::string_view precName(Prec prec) {
  const size_t code = static_cast<unsigned>(prec) & 7;
  return code < std::size(fieldtable::kPrecNames) ? fieldtable::kPrecNames[code] : "?";
}

std::string_view fieldName(mc::FieldId field) { return fieldtable::kFields[field.index()].name; }

} // namespace tpuc::bm168x
