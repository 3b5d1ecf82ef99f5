//===- Transpose.cpp - Transposes, copies between lanes, static memory, sequences -===//
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

namespace {

constexpr unsigned kWidthTranspose = 1, kLaneBroadcast = 3, kStaticBroadcast = 4;

/// res[n,c,h,w] = opd0[n,w,h,c]
Step transposeStep(const View &result, const Source &source) {
  return [result, source](Exec &exec) -> std::optional<Error> {
    Snapshot snapshot;
    Located from = snapshot.take(exec, source, mustCopyAlways(result, source));
    Located to = locateLocal(exec, result);
    const Extents &shape = result.shape;
    unsigned bytes = result.bytes();
    overIndices(exec, shape[1], shape[0] * shape[2] * shape[3] * 4,
                [&](int64_t begin, int64_t end) {
                  for (int64_t n = 0; n < shape[0]; ++n)
                    for (int64_t h = 0; h < shape[2]; ++h)
                      for (int64_t w = 0; w < shape[3]; ++w)
                        for (int64_t c = begin; c < end; ++c)
                          std::memcpy(to.at(n, c, h, w), from.at(n, w, h, c), bytes);
                });
    return std::nullopt;
  };
}

/// Copies between lanes; a source of one channel goes to all.
Step laneStep(const View &result, const Source &source) {
  return [result, source](Exec &exec) -> std::optional<Error> {
    Snapshot snapshot;
    std::array<Located, 2> tensors = {locateLocal(exec, result),
                                      snapshot.take(exec, source, mustCopyAlways(result, source))};
    unsigned bytes = result.bytes();
    const Extents &shape = result.shape;
    auto rowBytes = static_cast<size_t>(shape[2] * shape[3] * bytes);
    overIndices(exec, shape[1], shape[0] * static_cast<int64_t>(rowBytes) / 8,
                [&](int64_t begin, int64_t end) {
                  for (int64_t n = 0; n < shape[0]; ++n)
                    for (int64_t c = begin; c < end; ++c)
                      std::memcpy(tensors[0].channel(n, c),
                                  tensors[1].channel(n, source.view->shape[1] == 1 ? 0 : c),
                                  rowBytes);
                });
    return std::nullopt;
  };
}

/// A vector of static memory to every channel, or one element of it to each.
Step staticStep(const View &result, size_t offset, bool isBroadcast) {
  return [result, offset, isBroadcast](Exec &exec) -> std::optional<Error> {
    const uint8_t *from = exec.memory.staticMemory().data() + offset;
    Located to = locateLocal(exec, result);
    unsigned bytes = result.bytes();
    for (int64_t c = 0; c < result.shape[1]; ++c)
      if (isBroadcast)
        std::memcpy(to.channel(0, c), from, static_cast<size_t>(result.shape[3]) * bytes);
      else
        std::memcpy(to.channel(0, c), from + c * bytes, bytes);
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareTranspose(const Decoded &decoded) {
  unsigned sub = decoded.sub();
  View result = decoded.result();
  const View &view = *decoded.operands.find(Role::Opd0);
  if (!view.isLocal) {
    uint64_t offset = view.address - kStaticBase;
    auto length = static_cast<uint64_t>(view.shape[3] * view.bytes());
    if (view.address < kStaticBase || offset + length > kStaticBytes)
      return makeError(decoded.where,
                       fmt::format("{}: opd0 of {} bytes at {:#x}",
                                   decoded.command.operation().name, length, view.address),
                       fmt::format("{} bytes from {:#x}", kStaticBytes, kStaticBase));
    return staticStep(result, offset, sub == kStaticBroadcast);
  }
  Source source;
  source.view = view;
  source.prec = view.prec;
  if (sub <= kWidthTranspose)
    return transposeStep(result, source);
  if (sub == kLaneBroadcast && startLane(result) + result.shape[1] > kLanes)
    return decoded.unsupported("channels that pass the last lane");
  return laneStep(result, source);
}

Expected<Step> prepareSegment(const Decoded &decoded) {
  View result = decoded.result();
  constexpr unsigned kAlongChannels = 25;
  bool alongChannels = decoded.sub() == kAlongChannels;
  if (isFloatPrec(result.prec))
    return decoded.unsupported("a float result");
  if (alongChannels && result.shape[3] != 1)
    return decoded.unsupported("more than one element of a channel");
  return Step([result, alongChannels](Exec &exec) -> std::optional<Error> {
    Located to = locateLocal(exec, result);
    for (int64_t c = 0; c < result.shape[1]; ++c)
      for (int64_t w = 0; w < result.shape[3]; ++w) {
        auto value = static_cast<uint32_t>(alongChannels ? c : w);
        std::memcpy(to.at(0, c, 0, w), &value, result.bytes());
      }
    return std::nullopt;
  });
}

} // namespace tpuc::bm1684x
