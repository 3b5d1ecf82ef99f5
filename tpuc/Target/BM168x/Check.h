//===- Check.h - Which programs are legal and in what order --- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CHECK_H
#define TPUC_TARGET_BM168X_CHECK_H

#include "tpuc/Target/Common/Order.h"

#include <functional>
#include <optional>

namespace tpuc::bm168x {

/// See mc::serialOrder, of the commands of both engines.
Expected<std::vector<mc::ScheduledCommand>> serialOrder(const mc::CommandTable &table,
                                                        std::span<const mc::Command> tiu,
                                                        std::span<const mc::Command> gdma,
                                                        const std::string &where);

/// What `checkCommand(command, where)` finds in one of the commands, then what `serialOrder` does.
std::optional<Error> checkProgram(
    const mc::CommandTable &table, std::span<const mc::Command> tiu,
    std::span<const mc::Command> gdma, const std::string &where,
    const std::function<std::optional<Error>(const mc::Command &command, const std::string &where)>
        &checkCommand);

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_CHECK_H
