//===- ConvertShared.cpp - What the converters of all families share ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

StringRef tpuc::onnx::opName(const NodeBuilder &node) { return node.node().op_type(); }

std::string tpuc::onnx::autoPad(NodeBuilder &node) {
  return node.getChoice("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
}
