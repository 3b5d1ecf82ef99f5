//===- Builder.cpp - Collecting the commands of both engines --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Builder.h"

namespace tpuc::bm1684x {

namespace {

const bm168x::BuilderChip &builderChip() {
  static const bm168x::BuilderChip chip = [] {
    Command tiuEnd = Command::make(*findCommandOp(Engine::Tiu, tiu::kSys, tiu::kSysEnd));
    // The end of the TIU's stream has an id only.
    tiuEnd.set(Field::CmdIdEn, 0);
    const Command gdmaEnd = Command::make(*findCommandOp(Engine::Gdma, gdma::kSys, 0));
    // The ids of a command have 20 bits, and 0 is none.
    return bm168x::BuilderChip{kLocalMemory, &operandsOf, {tiuEnd, gdmaEnd}, (1 << 20) - 2};
  }();
  return chip;
}

} // namespace

Builder::Builder(bm168x::Waits waits) : CommandBuilder(builderChip(), waits) {}

} // namespace tpuc::bm1684x
