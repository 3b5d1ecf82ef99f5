//===- Check.h - Checks of whole programs --------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_CHECK_H
#define TPUC_TARGET_BM1684_MACHINE_CHECK_H

#include "tpuc/Target/BM1684/Machine/Command.h"
#include "tpuc/Target/Common/Order.h"

namespace tpuc::bm1684 {

using mc::ScheduledCommand;

/// The order in which a machine that does one command at a time may run two streams: before each
/// GDMA command all TIU commands that wait for none of the remaining GDMA commands. Errors name
/// `where`: ids that do not count from 1, ids of commands that do not exist, commands that wait for
/// each other.
Expected<std::vector<ScheduledCommand>>
serialOrder(std::span<const Command> tiu, std::span<const Command> gdma, const std::string &where);

/// What one command's own bits can show: field values, types, operands that are misaligned or leave
/// their memory. Errors name `where`.
std::optional<Error> checkCommand(const Command &command, const std::string &where);

/// The first error of a command of two streams, then of their order.
std::optional<Error> checkProgram(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_CHECK_H
