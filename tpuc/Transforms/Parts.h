//===- Parts.h - Parts of the last dimension ---------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_PARTS_H
#define TPUC_TRANSFORMS_PARTS_H

#include "tpuc/Transforms/Matching.h"

namespace tpuc {

/// Elements begin, begin + step, ... of the last dimension of `whole`, `count` of them.
struct Part {
  mlir::Value whole;
  int64_t begin;
  int64_t count;
  int64_t step = 1;

  bool is(mlir::Value tensor, int64_t first, int64_t number, int64_t stride) const {
    return whole == tensor && begin == first && count == number && step == stride;
  }
};

/// The static extent of the last dimension; none if there is no such thing.
std::optional<int64_t> lastExtent(mlir::Value value);
/// Whether `axis`, which may count from the end, is the last one of `value`.
bool isLastAxis(int64_t axis, mlir::Value value);

/// `value` as part of the last dimension of another tensor: of a slice, a split or a gather.
/// Element 0 or 1 of pairs that a reshape made are every other element of what it reads.
std::optional<Part> takePart(Interior &interior, mlir::Value value);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_PARTS_H
