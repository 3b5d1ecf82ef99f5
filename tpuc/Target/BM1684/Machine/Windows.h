//===- Windows.h - Windows that slide over padded images ------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_WINDOWS_H
#define TPUC_TARGET_BM1684_MACHINE_WINDOWS_H

#include "tpuc/Target/BM1684/Machine/Exec.h"
#include "tpuc/Target/BM168x/Window.h"

namespace tpuc::bm1684 {

using bm168x::Window;

/// The window of a command. Errors name the command: those of `bm168x::readWindow`, and more
/// products than any command has.
Expected<Window> windowOf(const Decoded &decoded);

/// Calls `body(h, w, first, count)` for the rows of an image of this width that the pixels
/// [start, start + length) cover; `first` counts pixels behind `start`.
template <typename Body>
void overRowsOf(int64_t width, int64_t start, int64_t length, const Body &body) {
  for (int64_t first = 0; first < length;) {
    const int64_t at = start + first;
    const int64_t count = std::min(length - first, width - at % width);
    body(at / width, at % width, first, count);
    first += count;
  }
}

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_WINDOWS_H
