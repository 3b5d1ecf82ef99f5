//===- GroupCosts.cpp - What layers and transfers take ------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/GroupCosts.h"
#include "tpuc/Codegen/GroupInfo.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The size, and whether a range is at an edge, where windows reach over it.
int64_t numberOf(Range range, int64_t extent) {
  return range.size * 4 + (range.begin == 0 ? 1 : 0) + (range.end() == extent ? 2 : 0);
}

int64_t numberOf(Operation *op) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(op)); }

StringRef bytesOf(const CostKey &key) {
  return {reinterpret_cast<const char *>(key.data()), key.size() * sizeof(int64_t)};
}

/// Where an operand is whole whatever the slice, the kernel may depend on where the slice is.
bool dependsOnPlace(const SliceModel &model, unsigned axis) {
  return axis != kAxisN && axis != kAxisC &&
         llvm::any_of(model.operands, [&](const OperandModel &operand) {
           return operand.isPresent && operand.maps[axis].kind == AxisMap::Whole &&
                  operand.extents[axis] > 1;
         });
}

CostKey keyOf(const SlicedOp &sliced) {
  CostKey key = {numberOf(sliced.op)};
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    AxisSlice along{.result = sliced.result.slice[axis]};
    for (auto [local, operand] : llvm::zip_equal(sliced.operands, sliced.model->operands))
      if (operand.isPresent)
        along.operands.emplace_back(local.slice[axis],
                                    (local.held ? *local.held : local.slice)[axis]);
    along.appendTo(key, *sliced.model, axis);
  }
  for (auto [index, local] : llvm::enumerate(sliced.operands))
    if (local.isPlaced)
      key.push_back(static_cast<int64_t>(index));
  return key;
}

} // namespace

void AxisSlice::appendTo(CostKey &key, const SliceModel &model, unsigned axis) const {
  key.push_back(numberOf(result, model.result[axis]));
  key.push_back(dependsOnPlace(model, axis) ? result.begin : 0);
  const auto *operand = operands.begin();
  for (const OperandModel &each : model.operands) {
    if (!each.isPresent)
      continue;
    key.push_back(numberOf(operand->first, each.extents[axis]));
    key.push_back(numberOf(operand->second, each.extents[axis]));
    ++operand;
  }
}

/// Gives every tensor a place of its own.
void GroupCosts::place(SlicedOp &sliced) const {
  int64_t next = 0;
  const auto put = [&](LocalSlice &local, unsigned index) {
    local.address = next;
    const int64_t bytes =
        backend.localBytes(sliced.op, *sliced.model, index, local.held ? *local.held : local.slice);
    next += alignedLocally(bytes, backend.info());
  };
  for (auto [index, operand] : llvm::enumerate(sliced.operands))
    if (sliced.model->operands[index].isPresent &&
        backend.isLoaded(sliced.op->getOpOperand(static_cast<unsigned>(index))))
      put(operand, static_cast<unsigned>(index));
  put(sliced.result, sliced.op->getNumOperands());
  sliced.scratchAddress = next;
}

std::optional<GroupCosts::Work> GroupCosts::measure(SlicedOp sliced) const {
  place(sliced);
  Expected<int64_t> scratch = backend.scratchBytes(sliced);
  if (!scratch)
    return std::nullopt;
  sliced.scratchBytes = *scratch;
  if (sliced.scratchAddress + *scratch > backend.info().memory.localBytesPerLane)
    return std::nullopt;
  Expected<int64_t> cycles =
      backend.cyclesOf([&](Emitter &emitter) { return emitter.compute(sliced); });
  return cycles ? std::optional<Work>({*cycles, *scratch}) : std::nullopt;
}

std::optional<GroupCosts::Work> GroupCosts::compute(const SlicedOp &sliced) {
  const CostKey key = keyOf(sliced);
  if (const auto known = works.find(bytesOf(key)))
    return *known;
  return works.add(bytesOf(key), measure(sliced));
}

std::optional<int64_t> GroupCosts::transfer(const SlicedOp &sliced, unsigned index) {
  CostKey key = {numberOf(sliced.op), index};
  const bool isResult = index == sliced.op->getNumOperands();
  const Slice &slice = isResult ? sliced.result.slice : sliced.operands[index].slice;
  const AxisExtents &extents =
      isResult ? sliced.model->result : sliced.model->operands[index].extents;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    key.push_back(numberOf(slice[axis], extents[axis]));
  // Models of the same op may see another shape.
  key.push_back(sliced.model->result[kAxisC]);
  if (const auto known = transfers.find(bytesOf(key)))
    return *known;
  const auto base = static_cast<int64_t>(backend.info().global.modelBase);
  Expected<int64_t> cycles = backend.cyclesOf([&](Emitter &emitter) {
    return isResult ? emitter.store(sliced, base) : emitter.load(sliced, index, base);
  });
  return transfers.add(bytesOf(key), cycles ? std::optional<int64_t>(*cycles) : std::nullopt);
}

int64_t GroupCosts::bytes(Operation *op, const SliceModel &model, unsigned index,
                          const Slice &slice) {
  CostKey key = {numberOf(op), index};
  for (const Range &range : slice)
    key.append({range.begin, range.size});
  // Models of the same op may see another shape.
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    key.push_back(model.result[axis]);
  if (const std::optional<int64_t> known = sizes.find(bytesOf(key)))
    return *known;
  return sizes.add(bytesOf(key), backend.localBytes(op, model, index, slice));
}
