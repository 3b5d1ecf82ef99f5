//===- ConvertShared.cpp - What the converters of all families share ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Support/Convert.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

StringRef tpuc::onnx::opName(const NodeBuilder &node) { return node.node().op_type(); }

int64_t tpuc::onnx::frontAxis(NodeBuilder &node, int64_t axis, int64_t rank, bool endAllowed) {
  if (axis < -rank || axis > rank || (axis == rank && !endAllowed)) {
    node.fail(fmt::format("axis {} does not exist", axis),
              fmt::format("{} to {}", -rank, endAllowed ? rank : rank - 1));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

TypedAttr tpuc::onnx::elementAttr(MLIRContext *context, const Tensor &tensor) {
  Type type = elementType(context, tensor.type());
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, convert(tensor, DataType::F64).data<double>()[0]);
  // The low bits are the same for either sign.
  ConvertOptions wrap;
  wrap.integerOverflow = IntegerOverflow::Wrap;
  int64_t value = convert(tensor, DataType::I64, wrap).data<int64_t>()[0];
  unsigned width = cast<IntegerType>(type).getWidth();
  return IntegerAttr::get(type, APInt(64, static_cast<uint64_t>(value)).trunc(width));
}

std::string tpuc::onnx::autoPad(NodeBuilder &node) {
  return node.getChoice("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
}

Value tpuc::onnx::reshapeLike(NodeBuilder &node, Value input, Value like) {
  std::optional<Ints> dims = NodeBuilder::dims(like);
  if (dims && llvm::count(*dims, ShapedType::kDynamic) <= 1 && !llvm::is_contained(*dims, 0)) {
    std::replace(dims->begin(), dims->end(), ShapedType::kDynamic, int64_t(-1));
    return node.emit<top::ReshapeOp>({input, node.none()}, node.attrs().setInts("shape", dims));
  }
  Value shape = node.temp<top::ShapeOp>("shape", like);
  return node.emit<top::ReshapeOp>({input, shape}, node.attrs().setBool("allowzero", true));
}
