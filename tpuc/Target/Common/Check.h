//===- Check.h - Values of fields and whether they are legal -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_COMMON_CHECK_H
#define TPUC_TARGET_COMMON_CHECK_H

#include "tpuc/Target/Common/Command.h"

namespace tpuc::mc {

/// A field's value as the text form and errors write it: its name, where it has one.
std::string valueText(const FieldInfo &field, uint64_t value);

/// The first field whose value breaks a limit of the command table. Errors name `where`.
std::optional<Error> checkFields(const Command &command, const std::string &where);

/// "where: TIU command 3", as errors name a command.
std::string commandName(const std::string &where, const Command &command, size_t index);

} // namespace tpuc::mc

#endif // TPUC_TARGET_COMMON_CHECK_H
