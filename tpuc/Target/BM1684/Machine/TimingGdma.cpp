//===- TimingGdma.cpp - Cycles of transfers -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Operands.h"
#include "tpuc/Target/BM1684/Machine/Timing.h"

#include <algorithm>

namespace tpuc::bm1684::detail {

namespace {

using bm168x::Direction;
using bm168x::product;

/// What the formula takes from a command: extents and strides of both sides, in elements.
struct Transferred {
  Direction direction;
  Extents source, destination, sourceStride, destinationStride;
  int64_t bytes; ///< Of an element.
  bool isFill, isSlow;
  uint64_t address; ///< Where pages are counted.
};

Extents contiguous(const Extents &shape) {
  return {product({shape[1], shape[2], shape[3]}), product({shape[2], shape[3]}), shape[3], 1};
}

Transferred readTransfer(const Command &command) {
  const bm168x::Transfer fields = bm168x::transferOf(command);
  const unsigned opcode = command.operation().opcode;
  Transferred t{};
  t.direction = command.as<Direction>(Field::Direction);
  t.source = fields.srcShape;
  t.destination = opcode == gdma::kCwTranspose ? fields.srcShape : fields.dstShape;
  t.sourceStride = fields.srcStride;
  t.destinationStride = fields.dstStride;
  t.address = fields.src;
  t.bytes = std::max(formatBytes(command.get(Field::SrcFormat)),
                     formatBytes(command.get(Field::DstFormat)));
  t.isFill = opcode == gdma::kFill;
  t.isSlow = command.get(Field::AccWriteEnable) != 0 || opcode == gdma::kLrnShift ||
             opcode == gdma::kCwTranspose ||
             (opcode == gdma::kTranspose && command.operation().sub == 1);
  if (command.get(Field::StrideEnable) == 0) {
    t.sourceStride = contiguous(t.source);
    t.destinationStride = contiguous(t.destination);
  }
  if (t.isFill) {
    t.source = t.destination;
    t.sourceStride = contiguous(t.source);
    t.address = fields.dst;
    if (t.direction == Direction::LocalToLocal) {
      t.direction = Direction::SystemToLocal;
      t.address = 0;
    }
  }
  return t;
}

/// The longest run of elements that follow each other, as far as the estimate looks.
int64_t runOf(const Extents &shape, const Extents &stride, bool isLocal) {
  if (stride[2] != shape[3])
    return shape[3];
  const int64_t plane = product({shape[3], shape[2]});
  return isLocal || stride[1] != plane ? plane : product({plane, shape[1]});
}

/// Borders of pages of 4 KiB that a strided transfer crosses.
int64_t pagesOf(const Transferred &t, const Extents &stride) {
  const auto &[n, c, h, w] = t.source;
  const auto end = static_cast<int64_t>(t.address) + product({stride[0], n, t.bytes});
  int64_t pages = (end >> 12) - static_cast<int64_t>(t.address >> 12);
  if (stride[3] == 1)
    return pages;
  const auto isOdd = [&](int64_t elements) { return (elements * t.bytes / 4096 & 1) != 0; };
  if (isOdd(stride[2] - stride[3] * w))
    pages -= product({h - 1, c, n});
  if (isOdd(stride[1] - stride[2] * h))
    pages -= product({c - 1, h});
  if (isOdd(stride[0] - stride[1] * c))
    pages -= n - 1;
  return pages;
}

int64_t cyclesOf(const Transferred &t) {
  constexpr float kGlobalRate = 29.565F, kLocalRate = 32, kGlobalFactor = 1.1079546213150024F;
  constexpr int64_t kLatency[] = {124, 41, 124, 3};
  constexpr int64_t kPageCycles = 53;
  const auto &[n, c, h, w] = t.source;
  const bool isStrided = t.isSlow || t.sourceStride[3] != 1 || t.destinationStride[3] != 1;
  const bool toLanes = t.direction == Direction::SystemToLocal;
  const bool usesGlobal = t.direction == Direction::LocalToSystem ||
                          t.direction == Direction::SystemToSystem || (toLanes && !t.isFill);
  const int64_t latency = t.isFill ? (t.direction == Direction::LocalToSystem ? 45 : 7)
                                   : kLatency[static_cast<size_t>(t.direction)];
  const bool isDouble = !isStrided && (usesGlobal || (toLanes && t.isFill));

  // Where there is one element the stride does not matter.
  Extents stride = t.sourceStride;
  if (w == 1)
    stride[3] = 1;
  if (h == 1)
    stride[2] = product({stride[3], w});
  if (c == 1)
    stride[1] = product({stride[2], h});
  if (n == 1)
    stride[0] = product({stride[1], c});
  const int64_t width = stride[3] == 1 ? w : (w - 1) * stride[3] + 1;
  const bool fromLanes =
      t.direction == Direction::LocalToSystem || t.direction == Direction::LocalToLocal;
  const int64_t run = stride[3] == 1 ? runOf(t.source, stride, fromLanes) : width;
  const bool intoLanes = toLanes || t.direction == Direction::LocalToLocal;
  const int64_t otherRun = runOf(t.destination, t.destinationStride, intoLanes);

  const float rate = std::min(usesGlobal ? kGlobalRate : kLocalRate,
                              static_cast<float>(product({std::min(run, otherRun), t.bytes})));
  const int64_t pages =
      isStrided && usesGlobal && t.direction != Direction::LocalToSystem ? pagesOf(t, stride) : 0;
  float cycles =
      static_cast<float>(product({n, c, h, width, t.bytes})) / (rate * (isDouble ? 2.0F : 1.0F)) +
      static_cast<float>(latency) + static_cast<float>(kPageCycles * pages);
  if (usesGlobal)
    cycles *= kGlobalFactor;
  return cycles < 1e18F ? static_cast<int64_t>(cycles) : bm168x::kMostProduct;
}

} // namespace

std::optional<CommandCost> gdmaCost(const Command &command) {
  const Transferred t = readTransfer(command);
  if (t.bytes == 0)
    return std::nullopt;
  CommandCost cost;
  cost.kind = "TENSOR_GDMA";
  for (const int64_t extent : t.source)
    if (extent == 0)
      return cost;
  cost.cycles = std::max<int64_t>(cyclesOf(t), 0);
  cost.bytes = product({t.source[0], t.source[1], t.source[2], t.source[3], t.bytes});
  if (t.isFill)
    cost.fillsGlobal = command.as<Direction>(Field::Direction) == Direction::SystemToSystem;
  else
    cost.direction = t.direction;
  return cost;
}

} // namespace tpuc::bm1684::detail
