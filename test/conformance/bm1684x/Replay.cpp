//===- Replay.cpp - A whole model on both machines, command by command ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: bm1684x-replay libcmodel_bm1684x.so MODEL.bmodel [INPUT.npz]
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm168x/Replay.h"
#include "test/conformance/bm1684x/Chip.h"

int main(int argc, char **argv) {
  return tpuc::bm168x::conformance::replayMain<tpuc::bm1684x::conformance::Chip>(
      "bm1684x-replay", {argv, static_cast<size_t>(argc)});
}
