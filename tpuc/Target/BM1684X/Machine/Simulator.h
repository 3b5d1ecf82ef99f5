//===- Simulator.h - The functional simulator ----------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_SIMULATOR_H
#define TPUC_TARGET_BM1684X_MACHINE_SIMULATOR_H

#include "tpuc/Target/BM1684X/Machine/Check.h"
#include "tpuc/Target/BM1684X/Machine/Exec.h"

namespace tpuc::bm1684x {

using PreparedCommand = bm168x::PreparedOn<Memory>;

/// Decodes a command completely. Errors name `where`: field values, addresses or sizes that are not
/// legal, forms whose meaning is not known.
Expected<PreparedCommand> prepare(const Command &command, const std::string &where);

using Program = bm168x::ProgramOn<Memory, kCommandTable, prepare>;

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_SIMULATOR_H
