//===- ConstantIndices.cpp - Indices that a network states ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ConstantIndices.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/Convert.h"

#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;

namespace {

/// Along which axes of `input` the indices count: the last axis of the indices has one for each of
/// them, or all count along the only one.
struct Indexing {
  Value input;
  Value indices;
  int64_t firstAxis = 0;
  bool isTuple = false;
};

std::optional<Indexing> indexingOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Indexing>>(op)
      .Case<top::GatherOp, top::GatherElementsOp, top::ScatterElementsOp>([](auto each) {
        return Indexing{each.getInput(), each.getIndices(), static_cast<int64_t>(each.getAxis())};
      })
      .Case<top::GatherNDOp>([](top::GatherNDOp each) {
        return Indexing{each.getInput(), each.getIndices(),
                        static_cast<int64_t>(each.getBatchDims()), true};
      })
      .Case<top::ScatterNDOp>([](top::ScatterNDOp each) {
        return Indexing{each.getInput(), each.getIndices(), 0, true};
      })
      .Default([](Operation *) { return std::nullopt; });
}

Expected<void> checkIndices(Operation *op, const Indexing &indexing) {
  auto weight = indexing.indices.getDefiningOp<top::WeightOp>();
  auto input = dyn_cast<RankedTensorType>(indexing.input.getType());
  if (!weight || !input)
    return {};
  Expected<Tensor> read = weight.read();
  if (!read)
    return propagate(read);
  const Tensor indices = convert(*read, DataType::I64);
  const int64_t first =
      indexing.firstAxis < 0 ? indexing.firstAxis + input.getRank() : indexing.firstAxis;
  const size_t rank = indices.shape().rank();
  const int64_t numAxes = indexing.isTuple && rank > 0 ? indices.shape()[rank - 1] : 1;
  if (first < 0 || numAxes < 1 || first + numAxes > input.getRank())
    return {};
  const auto values = indices.data<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t axis = first + static_cast<int64_t>(i) % numAxes;
    const int64_t extent = input.getDimSize(static_cast<unsigned>(axis));
    if (ShapedType::isDynamic(extent) || (values[i] >= -extent && values[i] < extent))
      continue;
    return makeError(fmt::format("'{}' ({})", layerName(op), op->getName().getStringRef().str()),
                     fmt::format("index {} along axis {} of extent {}", values[i], axis, extent),
                     fmt::format("{} to {}", -extent, extent - 1));
  }
  return {};
}

} // namespace

Expected<void> tpuc::checkConstantIndices(ModuleOp module) {
  Expected<void> result;
  module.walk([&](Operation *op) {
    if (const std::optional<Indexing> indexing = indexingOf(op))
      result = checkIndices(op, *indexing);
    return result ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result;
}
