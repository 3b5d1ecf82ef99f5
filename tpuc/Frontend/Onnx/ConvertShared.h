//===- ConvertShared.h - What the converters of all families share -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_CONVERTSHARED_H
#define TPUC_FRONTEND_ONNX_CONVERTSHARED_H

#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Frontend/Onnx/NodeBuilder.h"

#include "llvm/ADT/StringSwitch.h"
#include <fmt/format.h>

namespace tpuc::onnx {

using frontend::elementAttr;
using frontend::frontAxis;
using frontend::reshapeLike;

/// The operator that the node names.
llvm::StringRef opName(const NodeBuilder &node);

/// The attribute auto_pad, one of those that ONNX has.
std::string autoPad(NodeBuilder &node);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_CONVERTSHARED_H
