//===- GroupCosts.cpp - What layers and transfers take ------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/GroupCosts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// What the cost of a slice depends on, as bytes.
class Key {
public:
  void add(int64_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  /// The size, and whether the slice is at an edge, where windows reach over it.
  void add(const Slice &slice, const AxisExtents &extents) {
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      add(slice[axis].size * 4 + (slice[axis].begin == 0 ? 1 : 0) +
          (slice[axis].end() == extents[axis] ? 2 : 0));
  }
  StringRef text() const { return bytes; }

private:
  std::string bytes;
};

/// Where an operand is whole whatever the slice, the kernel may depend on where the slice is.
bool dependsOnPlace(const SliceModel &model, unsigned axis) {
  return llvm::any_of(model.operands, [&](const OperandModel &operand) {
    return operand.isPresent && operand.maps[axis].kind == AxisMap::Whole &&
           operand.extents[axis] > 1;
  });
}

Key keyOf(const SlicedOp &sliced) {
  Key key;
  key.add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(sliced.op)));
  const SliceModel &model = *sliced.model;
  key.add(sliced.result.slice, model.result);
  for (unsigned axis : {kAxisD, kAxisH, kAxisW})
    key.add(dependsOnPlace(model, axis) ? sliced.result.slice[axis].begin : 0);
  for (auto [local, operand] : llvm::zip_equal(sliced.operands, model.operands)) {
    if (!operand.isPresent)
      continue;
    key.add(local.slice, operand.extents);
    if (local.held && *local.held != local.slice)
      key.add(*local.held, operand.extents);
  }
  return key;
}

/// Room between tensors, so that none is taken for another.
constexpr int64_t kGap = 64;

} // namespace

/// Gives every tensor a place of its own.
void GroupCosts::place(SlicedOp &sliced) const {
  int64_t next = 0;
  const auto put = [&](LocalSlice &local, unsigned index) {
    local.address = next;
    const int64_t bytes =
        backend.localBytes(sliced.op, *sliced.model, index, local.held ? *local.held : local.slice);
    next += static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(bytes), kGap));
  };
  for (auto [index, operand] : llvm::enumerate(sliced.operands))
    if (sliced.model->operands[index].isPresent &&
        backend.isLoaded(sliced.op->getOpOperand(static_cast<unsigned>(index))))
      put(operand, static_cast<unsigned>(index));
  put(sliced.result, sliced.op->getNumOperands());
  sliced.scratchAddress = next;
}

std::optional<GroupCosts::Work> GroupCosts::compute(SlicedOp sliced) {
  auto [entry, isNew] = works.try_emplace(keyOf(sliced).text(), std::nullopt);
  if (!isNew)
    return entry->second;
  place(sliced);
  Expected<int64_t> scratch = backend.scratchBytes(sliced);
  if (!scratch)
    return std::nullopt;
  sliced.scratchBytes = *scratch;
  if (sliced.scratchAddress + *scratch > backend.info().memory.localBytesPerLane)
    return std::nullopt;
  Expected<int64_t> cycles =
      backend.cyclesOf([&](Emitter &emitter) { return emitter.compute(sliced); });
  if (cycles)
    entry->second = {*cycles, *scratch};
  return entry->second;
}

std::optional<int64_t> GroupCosts::transfer(const SlicedOp &sliced, unsigned index) {
  Key key;
  key.add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(sliced.op)));
  key.add(index);
  const bool isResult = index == sliced.op->getNumOperands();
  const Slice &slice = isResult ? sliced.result.slice : sliced.operands[index].slice;
  key.add(slice, isResult ? sliced.model->result : sliced.model->operands[index].extents);
  // Models of the same op may see another shape.
  key.add(sliced.model->result[kAxisC]);
  auto [entry, isNew] = transfers.try_emplace(key.text(), std::nullopt);
  if (!isNew)
    return entry->second;
  const auto base = static_cast<int64_t>(backend.info().global.modelBase);
  Expected<int64_t> cycles = backend.cyclesOf([&](Emitter &emitter) {
    return isResult ? emitter.store(sliced, base) : emitter.load(sliced, index, base);
  });
  if (cycles)
    entry->second = *cycles;
  return entry->second;
}
