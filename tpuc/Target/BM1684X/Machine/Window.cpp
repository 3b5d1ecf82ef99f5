//===- Window.cpp - Windows that slide over padded images -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Window.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684x {

Expected<Window> windowOf(const Decoded &decoded) {
  Expected<Window> read = bm168x::readWindow(decoded.command, decoded.where);
  if (!read)
    return read;
  const Window &window = *read;
  // Strides of 0 let a few bytes stand for any number of elements.
  constexpr int64_t kMostProducts = int64_t{1} << 38;
  const bool isConv = decoded.command.operation().opcode == tiu::kConv;
  const View *input = decoded.operands.find(Role::Opd0);
  int64_t products = isConv && input ? input->shape[1] : 1;
  for (const int64_t factor : {decoded.result().numElements(), window.kernel[0], window.kernel[1]})
    if (__builtin_mul_overflow(products, factor, &products) || products > kMostProducts)
      return makeError(decoded.where,
                       fmt::format("{}: windows of {}x{} over {} results",
                                   decoded.command.operation().name, window.kernel[0],
                                   window.kernel[1], decoded.result().numElements()),
                       fmt::format("{} products at most", kMostProducts));
  return read;
}

Fillers fillersOf(const Decoded &decoded, Prec prec, bool isSigned) {
  return {sourceOf(decoded, Role::Opd3, Field::Opd3Addr, prec, isSigned),
          static_cast<uint32_t>(decoded.get(Field::Res1Addr))};
}

namespace {

uint32_t filler(Exec &exec, const Source &source, int64_t channel, int64_t w) {
  Located located = locateLocal(exec, *source.view);
  uint32_t bits = 0;
  std::memcpy(&bits, located.at(0, channel, 0, w), precBytes(source.prec));
  return bits;
}

} // namespace

uint32_t Fillers::pad(Exec &exec, int64_t channel) const {
  return source.view ? filler(exec, source, channel, 0) : source.immediate;
}

uint32_t Fillers::insert(Exec &exec, int64_t channel) const {
  return source.view ? filler(exec, source, channel, 1) : insertImmediate;
}

} // namespace tpuc::bm1684x
