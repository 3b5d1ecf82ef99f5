//===- OnnxFormat.h - What an ONNX file is -------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_ONNXFORMAT_H
#define TPUC_FRONTEND_ONNX_ONNXFORMAT_H

#include "tpuc/Frontend/Formats.h"

namespace tpuc::onnx {

/// ONNX, as tpuc_add_frontend asks for it.
const SourceFormat &describeFormat();

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_ONNXFORMAT_H
