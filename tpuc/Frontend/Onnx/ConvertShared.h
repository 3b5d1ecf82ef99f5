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

/// The attribute kernel_shape, or the spatial extents of the filter, which is input `filter`.
std::optional<Ints> kernelShape(NodeBuilder &node, unsigned filter);

/// The attributes of a convolution whose filter is input `filter`.
Attrs convAttrs(NodeBuilder &node, unsigned filter);

/// The attributes of an LSTM whose hidden size, where no attribute says it, is the last extent of
/// `recurrence`, [D, 4 * H, H].
Attrs lstmAttrs(NodeBuilder &node, mlir::Value recurrence);

/// `input` with dimension 1 at the end (`toEnd`), or with the last as dimension 1: output 0 if
/// `last`, else a tensor on the way called `suffix`.
mlir::Value moveChannels(NodeBuilder &node, mlir::Value input, bool toEnd, bool last,
                         llvm::StringRef suffix);

/// Fails where one of the inputs `indices` is left out.
void needInputs(NodeBuilder &node, llvm::ArrayRef<unsigned> indices);

/// alpha * A' * B' + beta * C of inputs 0 to 2: output 0 if `last`, else a tensor on the way.
mlir::Value makeGemm(NodeBuilder &node, bool last);

/// Output 0 if `last`, else a tensor on the way called `suffix`.
template <typename Op>
mlir::Value make(NodeBuilder &node, bool last, llvm::StringRef suffix, mlir::ValueRange operands,
                 const Attrs &attributes) {
  return last ? node.emit<Op>(operands, attributes) : node.temp<Op>(suffix, operands, attributes);
}

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_CONVERTSHARED_H
