//===- Layers.cpp - The ops of a network that compute ------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

using namespace mlir;
using namespace tpuc;

bool codegen::isConstant(Operation *op) {
  return op->hasTrait<traits::Parameter>() || isa<tpu::UnpackOp>(op);
}

bool codegen::isConstantValue(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<top::WeightOp>(op))
      return true;
    if (!isa<tpu::UnpackOp, tpu::LoadOp>(op))
      break;
    value = op->getOperand(0);
  }
  return false;
}

bool codegen::isLayer(Operation *op) {
  return !op->hasTrait<traits::Structural>() && !isa<tpu::UnpackOp>(op) &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

bool codegen::isOnCpu(Operation *op) {
  auto layer = dyn_cast<tpu::SubNetInterface>(op);
  const StringAttr mode = layer ? layer.getSubnetModeAttr() : StringAttr();
  return isLayer(op) && mode && mode.getValue() == tpu::kOnCpu;
}

std::vector<codegen::SubNet> codegen::subNetsOf(Block &block) {
  std::vector<SubNet> subNets;
  std::optional<int64_t> last;
  for (Operation &op : block.without_terminator()) {
    if (!isLayer(&op))
      continue;
    if (tpu::subNetOf(&op) != last)
      subNets.push_back({isOnCpu(&op), {}});
    last = tpu::subNetOf(&op);
    subNets.back().layers.push_back(&op);
  }
  if (subNets.empty())
    subNets.emplace_back();
  return subNets;
}

bool codegen::staysOnHost(Value value) {
  Operation *producer = value.getDefiningOp();
  return producer && isOnCpu(producer) && llvm::all_of(value.getUsers(), [&](Operation *user) {
           return (isOnCpu(user) && tpu::subNetOf(user) == tpu::subNetOf(producer)) ||
                  (user->hasTrait<OpTrait::IsTerminator>() && !hasKnownShape(value));
         });
}

std::optional<unsigned> codegen::outputOnHost(Value value) {
  if (!hasKnownShape(value))
    for (OpOperand &use : value.getUses())
      if (use.getOwner()->hasTrait<OpTrait::IsTerminator>())
        return use.getOperandNumber();
  return std::nullopt;
}

bool codegen::hasKnownShape(Value value) {
  return isa<NoneType>(value.getType()) || staticType(value);
}

RankedTensorType codegen::staticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

tl::unexpected<Error> codegen::wrong(Operation *op, const Twine &found, const Twine &expected) {
  return makeError("layer '" + layerName(op) + "'", found.str(), expected.str());
}

int64_t codegen::globalBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<DataType> element = storageDataType(type);
  if (!tensor || !tensor.hasStaticShape() || !element)
    return 0;
  return byteSize(*element, tensor.getNumElements());
}

std::optional<int64_t> codegen::addressOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto address = tensor ? dyn_cast_or_null<IntegerAttr>(tensor.getEncoding()) : IntegerAttr();
  return address ? std::optional(address.getInt()) : std::nullopt;
}

RankedTensorType codegen::withAddress(RankedTensorType type, int64_t address) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               IntegerAttr::get(IntegerType::get(type.getContext(), 64), address));
}
