//===- MirroredOp.cpp - Ops of the tpu dialect and those of top that they come from ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/MirroredOp.h"

#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace tpuc;

/// `tpu.Cast` is another op than `top.Cast`: it changes the stored type, not the meaning.
static StringRef twinStem(StringRef dialect, StringRef stem) {
  if (dialect == "top")
    return stem == "Cast" ? "DtypeCast" : stem;
  return stem == "DtypeCast" ? "Cast" : stem == "Cast" ? "" : stem;
}

std::optional<OperationName> tpu::mirrorOf(OperationName name) {
  const StringRef dialect = name.getDialectNamespace();
  if (dialect != "top" && dialect != "tpu")
    return std::nullopt;
  const StringRef stem = twinStem(dialect, name.stripDialect());
  const std::string other = (dialect == "top" ? "tpu." : "top.") + stem.str();
  std::optional<RegisteredOperationName> found =
      RegisteredOperationName::lookup(other, name.getContext());
  if (!found)
    return std::nullopt;
  return *found;
}

Operation *tpu::createMirrored(OpBuilder &builder, Operation *op, OperationName name,
                               ValueRange operands, TypeRange results) {
  OperationState state(op->getLoc(), name, operands, results, op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  return builder.create(state);
}
