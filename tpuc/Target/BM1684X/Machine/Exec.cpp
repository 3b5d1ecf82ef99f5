//===- Exec.cpp - How commands are carried out ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684x {

tl::unexpected<Error> Decoded::unsupported(std::string what) const {
  return makeError(where, fmt::format("{}: {}", command.operation().name, what),
                   "a form whose meaning is known (docs/bm1684x-machine.md)");
}

Source sourceOf(const Decoded &decoded, Role role, Field address, Prec prec, bool isSigned) {
  Source source;
  source.prec = prec;
  source.isSigned = isSigned;
  if (const View *view = decoded.operands.find(role))
    source.view = *view;
  else
    source.immediate = static_cast<uint32_t>(decoded.get(address));
  return source;
}

Located locateLocal(Exec &exec, const View &view) {
  return {view, exec.memory.local().data() + view.address % kLaneBytes, kLaneBytes,
          startLane(view)};
}

Located locate(Exec &exec, const Source &source) {
  if (source.view)
    return locateLocal(exec, *source.view);
  View view;
  view.prec = source.prec;
  // Commands read immediates and never write them.
  return {view, reinterpret_cast<uint8_t *>(const_cast<uint32_t *>(&source.immediate)), 0, 0};
}

namespace {

/// The lanes that a view touches, as a mask.
uint64_t lanesOf(const View &view) {
  if (view.shape[1] >= kLanes)
    return ~uint64_t{0};
  uint64_t lanes = 0;
  for (int64_t c = 0; c < view.shape[1]; ++c)
    lanes |= uint64_t{1} << (startLane(view) + c) % kLanes;
  return lanes;
}

} // namespace

bool overlaps(const View &a, const View &b) {
  if (a.isLocal != b.isLocal)
    return false;
  auto aFirst = static_cast<int64_t>(a.isLocal ? a.address % kLaneBytes : a.address);
  auto bFirst = static_cast<int64_t>(b.isLocal ? b.address % kLaneBytes : b.address);
  if (aFirst >= bFirst + touchedBytes(b).last || bFirst >= aFirst + touchedBytes(a).last)
    return false;
  return !a.isLocal || (lanesOf(a) & lanesOf(b)) != 0;
}

bool sameElements(const View &a, const View &b) {
  if (a.address != b.address || a.bytes() != b.bytes() || a.isLocal != b.isLocal)
    return false;
  for (size_t i = 0; i < 4; ++i)
    if (std::max(a.shape[i], b.shape[i]) > 1 && a.stride[i] != b.stride[i])
      return false;
  return true;
}

bool mustCopyFor(const View &result, const Source &source) {
  return source.view && overlaps(result, *source.view) && !sameElements(result, *source.view);
}

bool mustCopyAlways(const View &result, const Source &source) {
  return source.view && overlaps(result, *source.view);
}

Located Snapshot::take(Exec &exec, const Source &source, bool mustCopy) {
  Located located = locate(exec, source);
  if (!mustCopy)
    return located;
  auto length = static_cast<size_t>(touchedBytes(*source.view).last);
  bytes.resize(length * kLanes);
  for (size_t lane = 0; lane < kLanes; ++lane)
    std::memcpy(bytes.data() + lane * length,
                located.base + static_cast<int64_t>(lane) * located.laneStride, length);
  located.base = bytes.data();
  located.laneStride = static_cast<int64_t>(length);
  return located;
}

} // namespace tpuc::bm1684x
