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

/// The operator that the node names.
llvm::StringRef opName(const NodeBuilder &node);

/// `axis` counted from the front; an error of the node unless it is in [-rank, rank), or in
/// [-rank, rank] if `endAllowed`.
int64_t frontAxis(NodeBuilder &node, int64_t axis, int64_t rank, bool endAllowed = false);

/// The one element of `tensor` as an attribute of its type.
mlir::TypedAttr elementAttr(mlir::MLIRContext *context, const Tensor &tensor);

/// The attribute auto_pad, one of those that ONNX has.
std::string autoPad(NodeBuilder &node);

/// The shape of `value` for a later Reshape: as an attribute where at most one extent is unknown
/// (-1 stands for it), else computed.
mlir::Value reshapeLike(NodeBuilder &node, mlir::Value input, mlir::Value like);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_CONVERTSHARED_H
