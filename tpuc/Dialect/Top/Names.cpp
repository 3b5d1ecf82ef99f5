//===- Names.cpp - The names of layers and tensors ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/Names.h"

using namespace mlir;

std::string tpuc::layerName(Operation *op) {
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    return name.getName().str();
  return op->getName().getStringRef().str();
}

SmallVector<std::string> tpuc::tensorNames(Operation *op) {
  SmallVector<std::string> names;
  if (auto fused = dyn_cast<FusedLoc>(op->getLoc()))
    for (Location part : fused.getLocations())
      if (auto name = dyn_cast<NameLoc>(part))
        names.push_back(name.getName().str());
  if (names.empty())
    names.push_back(layerName(op));
  for (size_t index = names.size(); index < op->getNumResults(); ++index)
    names.push_back(names[0] + "_" + std::to_string(index));
  names.resize(op->getNumResults());
  return names;
}
