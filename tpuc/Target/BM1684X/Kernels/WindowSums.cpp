//===- WindowSums.cpp - Sums and maxima of whole rows and images-----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <limits>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kSums = 1, kMaxima = 4;

/// The width of the rectangle to which an image is folded; 0 where that does not pay.
int64_t foldedWidth(const WindowSum &sum) {
  const Extents &shape = sum.input.shape;
  if (sum.overWidth && shape[2] > 1)
    return 0;
  const int64_t length = shape[2] * shape[3];
  const int64_t perCycle = kEuBytes / sum.input.elementBytes();
  int64_t best = 0;
  int64_t least = length / 2;
  for (int64_t width = 2; width <= length / 2; ++width) {
    int64_t cycles = length / width * ceilDiv(width, perCycle) + width;
    if (length % width == 0 && cycles < least) {
      least = cycles;
      best = width;
    }
  }
  return best;
}

/// Each window gives one element of `output`; windows do not overlap.
void addWindow(Builder &builder, const WindowSum &sum, const LocalTensor &output,
               const LocalTensor &input, const std::array<int64_t, 2> &kernel, double scale) {
  Command command =
      Command::make(*findOperation(Engine::Tiu, tiu::kPorD, sum.isMaximum ? kMaxima : kSums));
  Window2d window;
  window.kernel = kernel;
  setResult(builder, command, output);
  setWindow(builder, command, window, input.shape);
  command.set(Field::Opd0Addr, input.tiuAddress()).set(Field::Opd0Prec, input.prec());
  command.set(Field::Opd1Const, 1).set(Field::Opd2Const, 1).set(Field::Opd3Const, 1);
  if (!sum.isMaximum)
    command.set(Field::Opd1Addr, immediateBits(input.type, scale));
  builder.add(command);
}

} // namespace

LocalTensor takeWindowScratch(const WindowSum &sum, Room &room) {
  int64_t width = foldedWidth(sum);
  const LocalTensor &input = sum.input;
  if (width == 0)
    return {};
  return room.take(input.type, {input.shape[0], input.shape[1], 1, width}, input.startLane);
}

void addWindowSum(Builder &builder, const WindowSum &sum, const LocalTensor &scratch) {
  LocalTensor input = sum.input;
  input.layout = Layout::Aligned;
  const Extents &shape = input.shape;
  int64_t width = foldedWidth(sum);
  if (width == 0)
    return addWindow(builder, sum, sum.output, input, {sum.overWidth ? 1 : shape[2], shape[3]},
                     sum.scale);
  int64_t height = shape[2] * shape[3] / width;
  LocalTensor folded = input.withShape({shape[0], shape[1], height, width});
  addWindow(builder, sum, scratch, folded, {height, 1}, 1);
  addWindow(builder, sum, sum.output, scratch, {1, width}, sum.scale);
}

} // namespace tpuc::bm1684x
