//===- GroupChoice.h - Groups by the numbers of their layers ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPCHOICE_H
#define TPUC_CODEGEN_GROUP_GROUPCHOICE_H

#include "tpuc/Codegen/Group/GroupInfo.h"

#include <vector>

namespace tpuc::codegen {

/// One group: layers that follow each other, and how they are tiled.
struct GroupChoice {
  unsigned first = 0, count = 1;
  /// One layer, tiled as it would be alone.
  bool isAlone = false;
  TileCounts counts{1, 1, 1, 1, 1};

  unsigned end() const { return first + count; }
  int64_t numParts() const {
    int64_t parts = 1;
    for (unsigned axisTiles : counts)
      parts *= axisTiles;
    return parts;
  }
  auto operator<=>(const GroupChoice &) const = default;
};

/// The groups of a network in their order, each layer in one. A concatenation by itself makes none.
using Partition = std::vector<GroupChoice>;

/// A way to tile a group, and what it takes.
struct GroupOption {
  GroupChoice choice;
  int64_t estimate = 0, compute = 0, transfers = 0;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPCHOICE_H
