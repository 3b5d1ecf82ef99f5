//===- Chips.h - The chips that the runtime knows ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHIPS_H
#define RUNTIME_CHIPS_H

#include "runtime/Chip.h"

namespace tpuc::runtime {

const Chip &chipBM1684X();

} // namespace tpuc::runtime

#endif // RUNTIME_CHIPS_H
