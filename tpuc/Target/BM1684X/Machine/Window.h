//===- Window.h - Windows that slide over padded images ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_WINDOW_H
#define TPUC_TARGET_BM1684X_MACHINE_WINDOW_H

#include "tpuc/Target/BM1684X/Machine/Exec.h"
#include "tpuc/Target/BM168x/Window.h"

namespace tpuc::bm1684x {

using bm168x::kInsertValue;
using bm168x::kPadValue;
using bm168x::Window;

/// The window of a command. Errors name the command: those of `bm168x::readWindow`, and more
/// products than any command has.
Expected<Window> windowOf(const Decoded &decoded);

/// The values of padding and inserted places of a channel, as raw bits of the input type.
struct Fillers {
  Source source;
  uint32_t insertImmediate = 0;

  uint32_t pad(Exec &exec, int64_t channel) const;
  uint32_t insert(Exec &exec, int64_t channel) const;
};
Fillers fillersOf(const Decoded &decoded, Prec prec, bool isSigned);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_WINDOW_H
