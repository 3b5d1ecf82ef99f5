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

LogicalResult tpuc::top::verifyEntries(Operation *op, StringRef name, std::optional<ArrayAttr> ints,
                                       size_t size) {
  if (ints && ints->size() != size)
    return op->emitOpError(name) << " has " << ints->size() << " entries; expected " << size;
  return success();
}

LogicalResult tpuc::top::verifyAutoPad(Operation *op, StringRef autoPad) {
  for (StringRef known : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"})
    if (autoPad == known)
      return success();
  return op->emitOpError("auto_pad is '")
         << autoPad << "'; expected NOTSET, SAME_UPPER, SAME_LOWER or VALID";
}
