//===- TileOrder.cpp - Which tiles load, and what becomes of sums ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/TileOrder.h"

namespace tpuc::dnnweaver {

namespace {
constexpr uint64_t kAddressMask = (uint64_t{1} << kAddressBits) - 1;
} // namespace

TileOrder::TileOrder(const Block &ofBlock) : block(&ofBlock), at(ofBlock.tiles) {
  updateFinished(block->tiles.size() - 1);
}

/// Loops that do not move the sums' address are those that add to the same sums. The machine looks
/// at each such loop when it enters it, from outside to inside, and believes the last one.
void TileOrder::updateFinished(size_t from) {
  for (size_t level = from + 1; level-- > 0;)
    if (block->tiles[level].strides[index(Buffer::Output)] == 0)
      finished = at.count(level) + 1 == block->tiles[level].trips;
}

std::array<uint64_t, kNumBuffers> TileOrder::address() const {
  std::array<uint64_t, kNumBuffers> result;
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = (block->base[i] + at.offset(i)) & kAddressMask;
  return result;
}

bool TileOrder::addsToSums() const {
  for (size_t level = 0; level < block->tiles.size(); ++level)
    if (block->tiles[level].strides[index(Buffer::Output)] == 0 && at.count(level) > 0)
      return true;
  return false;
}

bool TileOrder::next() {
  const std::array<uint64_t, kNumBuffers> before = address();
  const size_t level = at.next();
  if (level == block->tiles.size())
    return false;
  isFirst = false;
  const std::array<uint64_t, kNumBuffers> now = address();
  for (size_t i = 0; i < now.size(); ++i)
    changed[i] = now[i] != before[i];
  updateFinished(level);
  return true;
}

} // namespace tpuc::dnnweaver
