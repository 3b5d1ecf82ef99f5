//===- OpAttributes.h - Attributes without MLIR -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPATTRIBUTES_H
#define TPUC_INTERPRETER_OPATTRIBUTES_H

#include "tpuc/Interpreter/Ops/OpContext.h"

#include "mlir/IR/Attributes.h"

namespace tpuc {

/// `attribute` as what ops mean is told of it; none for kinds that no meaning asks for.
std::optional<ops::Attribute> opAttribute(mlir::Attribute attribute);

} // namespace tpuc

#endif // TPUC_INTERPRETER_OPATTRIBUTES_H
