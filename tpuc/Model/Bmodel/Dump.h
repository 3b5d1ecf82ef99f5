//===- Dump.h - A .bmodel file as text --------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_DUMP_H
#define TPUC_MODEL_BMODEL_DUMP_H

#include "tpuc/Model/Bmodel/Bmodel.h"

#include <nlohmann/json_fwd.hpp>

namespace tpuc::bmodel {

/// What a user wants to know of a model: its nets, their inputs and outputs, and the memory that
/// they take. Ends in a line break.
std::string formatInfo(const Model &model);

/// Every field, large parts by their size only. Names that are not UTF-8 have their bad bytes
/// replaced when the result is printed with `error_handler_t::replace`.
nlohmann::ordered_json toJson(const Model &model);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_DUMP_H
