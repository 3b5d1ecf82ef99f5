//===- Exec.cpp - How commands are carried out ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Exec.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684 {

tl::unexpected<Error> Decoded::unsupported(std::string what) const {
  return makeError(where, fmt::format("{}: {}", command.operation().name, what),
                   "a form whose meaning is known (docs/bm1684.md)");
}

Source sourceOf(const Decoded &decoded, Role role, Field address, Prec prec, bool isSigned) {
  Source source;
  source.prec = prec;
  source.isSigned = isSigned;
  if (const Tensor *tensor = decoded.tensors.find(role))
    source.tensor = *tensor;
  else
    source.immediate = static_cast<uint32_t>(decoded.get(address));
  return source;
}

Located locate(Exec &exec, const Tensor &tensor) {
  Located located;
  located.base = exec.memory.local().data() + tensor.offset % kLaneBytes;
  located.laneStride = kLaneBytes;
  located.startLane = tensor.startLane();
  for (size_t i = 0; i < 4; ++i)
    located.step[i] = tensor.stride[i] * tensor.unit;
  // A single batch item is in the first bytes of its unit, and stands for all.
  if (tensor.shape[0] > 1)
    located.items = tensor.items;
  else
    located.step[0] = 0;
  located.bytes = tensor.bytes();
  return located;
}

Located locate(Exec &exec, const Source &source) {
  if (source.tensor)
    return locate(exec, *source.tensor);
  // Commands read immediates and never write them.
  Located located;
  located.base = reinterpret_cast<uint8_t *>(const_cast<uint32_t *>(&source.immediate));
  located.bytes = source.bytes();
  return located;
}

namespace {

/// The lanes that a tensor touches, as a mask.
uint64_t lanesOf(const Tensor &tensor) {
  if (tensor.shape[1] >= kLanes)
    return ~uint64_t{0};
  uint64_t lanes = 0;
  for (int64_t c = 0; c < tensor.shape[1]; ++c)
    lanes |= uint64_t{1} << (tensor.startLane() + c) % kLanes;
  return lanes;
}

/// Bytes behind its offset that a tensor touches in its lanes.
int64_t lengthOf(const Tensor &tensor) {
  int64_t last = 0;
  for (const View &view : tensor.views())
    last = std::max(last, static_cast<int64_t>(view.address - tensor.offset) +
                              bm168x::touchedBytes(kLocalMemory, view).last);
  return last;
}

} // namespace

bool overlaps(const Tensor &a, const Tensor &b) {
  const auto aFirst = static_cast<int64_t>(a.offset % kLaneBytes);
  const auto bFirst = static_cast<int64_t>(b.offset % kLaneBytes);
  if (aFirst >= bFirst + lengthOf(b) || bFirst >= aFirst + lengthOf(a))
    return false;
  return (lanesOf(a) & lanesOf(b)) != 0;
}

bool sameElements(const Tensor &a, const Tensor &b) {
  if (a.offset != b.offset || a.bytes() != b.bytes() || a.unit != b.unit || a.items != b.items)
    return false;
  // Items of a word have no stride of their own.
  if (a.items > 1 && a.shape[0] != b.shape[0])
    return false;
  for (size_t i = 0; i < 4; ++i)
    if (std::max(a.shape[i], b.shape[i]) > 1 && a.stride[i] != b.stride[i])
      return false;
  return true;
}

bool mustCopyFor(const Tensor &result, const Source &source) {
  return source.tensor && overlaps(result, *source.tensor) && !sameElements(result, *source.tensor);
}

bool mustCopyAlways(const Tensor &result, const Source &source) {
  return source.tensor && overlaps(result, *source.tensor);
}

Located Snapshot::take(Exec &exec, const Source &source, bool mustCopy) {
  Located located = locate(exec, source);
  if (!mustCopy)
    return located;
  const auto length = static_cast<size_t>(lengthOf(*source.tensor));
  bytes.resize(length * kLanes);
  for (size_t lane = 0; lane < kLanes; ++lane)
    std::memcpy(bytes.data() + lane * length,
                located.base + static_cast<int64_t>(lane) * located.laneStride, length);
  located.base = bytes.data();
  located.laneStride = static_cast<int64_t>(length);
  return located;
}

} // namespace tpuc::bm1684
