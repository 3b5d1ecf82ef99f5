//===- WindowAttributes.cpp - Checks of what describes a window -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/WindowAttributes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult tpuc::top::verifyInts(Operation *op, StringRef name, std::optional<ArrayAttr> ints,
                                    size_t size, int64_t least) {
  if (!ints)
    return success();
  if (ints->size() != size)
    return op->emitOpError(name) << " has " << ints->size() << " entries; expected " << size;
  for (int64_t value : toInts(*ints))
    if (value < least)
      return op->emitOpError(name) << " has an entry " << value << "; expected at least " << least;
  return success();
}

LogicalResult tpuc::top::verifyPositive(Operation *op, StringRef name,
                                        std::optional<ArrayAttr> ints) {
  return verifyInts(op, name, ints, ints ? ints->size() : 0, 1);
}

LogicalResult tpuc::top::verifyAtLeast(Operation *op, StringRef name, int64_t value,
                                       int64_t least) {
  if (value < least)
    return op->emitOpError(name) << " is " << value << "; expected at least " << least;
  return success();
}

LogicalResult tpuc::top::verifyAutoPad(Operation *op, StringRef autoPad) {
  for (StringRef known : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"})
    if (autoPad == known)
      return success();
  return op->emitOpError("auto_pad is '")
         << autoPad << "'; expected NOTSET, SAME_UPPER, SAME_LOWER or VALID";
}
