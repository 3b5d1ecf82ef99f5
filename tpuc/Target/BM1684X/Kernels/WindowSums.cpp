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

/// A rectangle to which an image is folded.
struct Fold {
  int64_t height = 0, width = 0;
  /// Elements behind the image, up to the end of its line, that belong to it.
  int64_t filled = 0;
};

/// The rectangle of `length` elements that takes the fewest cycles, fewer than `least`: of several
/// the narrowest. Takes time as the square root of `length` does.
std::optional<Fold> bestFold(int64_t length, int64_t perCycle, int64_t &least) {
  std::optional<Fold> best;
  const auto consider = [&](int64_t width) {
    const int64_t cycles = length / width * ceilDiv(width, perCycle) + width;
    if (cycles < least || (best && cycles == least && width < best->width)) {
      least = cycles;
      best = Fold{length / width, width};
    }
  };
  // Divisors come in pairs.
  for (int64_t divisor = 2; divisor <= length / divisor; ++divisor)
    if (length % divisor == 0) {
      consider(divisor);
      consider(length / divisor);
    }
  return best;
}

/// None where folding does not pay.
std::optional<Fold> foldOf(const WindowSum &sum) {
  const Extents &shape = sum.input.shape;
  if (sum.overWidth && shape[2] > 1)
    return std::nullopt;
  const int64_t length = shape[2] * shape[3];
  const int64_t perCycle = kEuBytes / sum.input.elementBytes();
  int64_t least = length / 2;
  std::optional<Fold> best = bestFold(length, perCycle, least);
  // Filling takes a command, too.
  const int64_t line = alignUp(length, perCycle);
  least -= 2;
  if (std::optional<Fold> filled = bestFold(line, perCycle, least)) {
    best = filled;
    best->filled = line - length;
  }
  return best;
}

/// What changes neither a sum nor a maximum.
Immediate neutral(const WindowSum &sum) {
  return immediate(sum.input.type, sum.isMaximum ? -std::numeric_limits<double>::infinity() : 0);
}

/// Each window gives one element of `output`; windows do not overlap.
void addWindow(Builder &builder, const WindowSum &sum, const LocalTensor &output,
               const LocalTensor &input, const std::array<int64_t, 2> &kernel, double scale) {
  Command command =
      Command::make(*findCommandOp(Engine::Tiu, tiu::kPorD, sum.isMaximum ? kMaxima : kSums));
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

LocalTensor takeWindowScratch(const WindowSum &sum, ScratchAllocator &space) {
  const std::optional<Fold> fold = foldOf(sum);
  const LocalTensor &input = sum.input;
  if (!fold)
    return {};
  return space.take(input.type, {input.shape[0], input.shape[1], 1, fold->width}, input.startLane);
}

void addWindowSum(Builder &builder, const WindowSum &sum, const LocalTensor &scratch) {
  LocalTensor input = sum.input;
  input.layout = Layout::Aligned;
  const Extents &shape = input.shape;
  const std::optional<Fold> fold = foldOf(sum);
  if (!fold)
    return addWindow(builder, sum, sum.output, input, {sum.overWidth ? 1 : shape[2], shape[3]},
                     sum.scale);
  LocalTensor folded = input;
  folded.shape = {shape[0], shape[1], 1, fold->height * fold->width};
  if (fold->filled > 0)
    addUnaryArith(builder, ArithOp::Copy, folded.slice(3, shape[2] * shape[3], fold->filled),
                  neutral(sum));
  folded.shape = {shape[0], shape[1], fold->height, fold->width};
  addWindow(builder, sum, scratch, folded, {fold->height, 1}, 1);
  addWindow(builder, sum, sum.output, scratch, {1, fold->width}, sum.scale);
}

} // namespace tpuc::bm1684x
