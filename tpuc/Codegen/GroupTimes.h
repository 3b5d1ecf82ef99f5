//===- GroupTimes.h - When a group reads and writes global memory ----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUPTIMES_H
#define TPUC_CODEGEN_GROUPTIMES_H

#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Support/Error.h"

#include "llvm/ADT/DenseMap.h"

namespace tpuc::codegen {

/// The order of the transfers of a group. The engine that moves data works in order: at each of the
/// times that are counted here, first loads, then stores.
class GroupTimes {
public:
  /// Errors name the member: it does not say what it holds.
  static Expected<GroupTimes> of(tpu::GroupOp group);

  struct Span {
    int64_t first = 0, last = 0;
  };
  /// From the first to the last slice of a load or store.
  Span spanOf(mlir::Operation *transfer) const { return spans.lookup(transfer); }
  /// How many times there are.
  int64_t count() const { return numTimes; }

private:
  llvm::DenseMap<mlir::Operation *, Span> spans;
  int64_t numTimes = 0;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUPTIMES_H
