//===- Pooling.cpp - Pools and sums of rows on the BM1684 -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/WindowCommands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

namespace {

/// Columns of the rectangle to which a row is folded: a command takes so many at a time.
constexpr int64_t kFold = 16;

int64_t numTaps(const Window2d &window) { return window.kernel[0] * window.kernel[1]; }

/// One window that sees the whole image.
bool isGlobal(const Pooling &pool) {
  constexpr std::array<int64_t, 2> kNone{0, 0}, kOne{1, 1};
  const Extents &input = pool.input.shape;
  return pool.output.shape[2] == 1 && pool.output.shape[3] == 1 &&
         pool.window.kernel == std::array<int64_t, 2>{input[2], input[3]} &&
         pool.window.padBegin == kNone && pool.window.padEnd == kNone &&
         pool.window.dilation == kOne;
}

/// Sums (times `factor`) or maxima of windows.
void addPool(Builder &builder, const LocalTensor &output, const LocalTensor &input,
             const Window2d &window, bool isAverage, double factor) {
  for (int64_t c = 0; c < output.shape[1]; c += kMostChannels) {
    const auto part = [&](const LocalTensor &tensor) {
      return tensor.shape[1] <= kMostChannels
                 ? tensor
                 : tensor.slice(1, c, std::min(kMostChannels, tensor.shape[1] - c));
    };
    Command command =
        windowCommand(builder, tiu::kPorD, isAverage ? sub::kDepthwise : sub::kMaxPool,
                      part(output), part(input), window, {0, 0});
    command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, number(isAverage ? factor : 0).bits);
    builder.add(command);
  }
}

/// Windows at the border hold fewer elements than were divided by.
void addBorderCorrections(Builder &builder, const Pooling &pool) {
  for (unsigned axis = 0; axis < 2; ++axis) {
    const Window2d &window = pool.window;
    for (int64_t at = 0; at < pool.output.shape[axis + 2]; ++at) {
      int64_t count = 0;
      for (int64_t k = 0; k < window.kernel[axis]; ++k) {
        const int64_t from =
            at * window.stride[axis] + k * window.dilation[axis] - window.padBegin[axis];
        count += from >= 0 && from < pool.input.shape[axis + 2] ? 1 : 0;
      }
      if (count == window.kernel[axis] || count == 0)
        continue;
      const LocalTensor line = pool.output.slice(axis + 2, at, 1);
      addArith(builder, ArithOp::Mul, line, line,
               number(static_cast<double>(window.kernel[axis]) / static_cast<double>(count)));
    }
  }
}

Expected<uint32_t> checkedScratch(const std::string &where, const Pooling &pool) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &pool.input}, std::pair{"output", &pool.output}})
    if (Expected<void> fits = checkRegular(where, name, *tensor); !fits)
      return propagate(fits);
  if (isGlobal(pool))
    return rowSumScratch(pool.input);
  if (Expected<void> fits = checkWindow(where, pool.window, pool.input.shape, pool.output.shape);
      !fits)
    return propagate(fits);
  if (!pool.isAverage && pool.window.dilation != std::array<int64_t, 2>{1, 1})
    return makeError(where, "a maximum over windows with holes");
  return 0;
}

} // namespace

Expected<uint32_t> poolingScratch(const Pooling &pool) { return checkedScratch("pool", pool); }

Expected<void> emitPooling(Builder &builder, const Pooling &pool) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), pool.scratch, checkedScratch(builder.layer(), pool));
      !fits)
    return fits;
  const double share = 1.0 / static_cast<double>(numTaps(pool.window));
  if (isGlobal(pool)) {
    addRowSum(builder, pool.output, pool.input, !pool.isAverage, pool.scratch.address);
    if (pool.isAverage)
      addLinear(builder, pool.output, pool.output, share, 0);
  } else {
    addPool(builder, pool.output, pool.input, pool.window, pool.isAverage, share);
    if (pool.isAverage && !pool.countsPadding)
      addBorderCorrections(builder, pool);
  }
  addActivation(builder, pool.output, pool.activation);
  return {};
}

uint32_t rowSumScratch(const LocalTensor &input) {
  const Extents &shape = input.shape;
  return laneBytes(DataType::F32, {1, shape[1], 1, 2 * kFold}, Layout::Aligned, input.startLane);
}

namespace {

/// A row of all words of a channel.
LocalTensor rowOf(const LocalTensor &tensor, int64_t n, int64_t h, int64_t rows, int64_t width) {
  LocalTensor row = tensor.slice(0, n, 1).slice(2, h, 1);
  row.explicitStride = row.strides();
  row.layout = Layout::Explicit;
  row.shape[2] = rows;
  row.shape[3] = width;
  row.explicitStride[2] = width;
  row.explicitStride[3] = 1;
  return row;
}

/// One row: a tall window for each of 16 columns costs what one of them would, as do windows of one
/// column each half of what rows would.
void addOneRow(Builder &builder, const LocalTensor &output, const LocalTensor &input, int64_t n,
               int64_t h, int64_t length, bool isMaximum, uint32_t scratch) {
  LocalTensor to = output.slice(0, n, 1).slice(2, h, 1);
  const auto fold = [&](const LocalTensor &result, const LocalTensor &from, int64_t rows) {
    addPool(builder, result, from, {.kernel = {rows, 1}}, !isMaximum, 1);
  };
  if (length < 2 * kFold)
    return fold(to, rowOf(input, n, h, length, 1), length);
  const int64_t rows = length / kFold, rest = length % kFold;
  const LocalTensor sums = localTensor(DataType::F32, {1, input.shape[1], 1, kFold}, scratch,
                                       Layout::Aligned, input.startLane);
  fold(sums, rowOf(input, n, h, rows, kFold), rows);
  if (rest > 0) {
    LocalTensor behind = rowOf(input, n, h, 1, rest);
    behind.address += static_cast<uint32_t>(rows * kFold * 4);
    const LocalTensor some = sums.slice(3, 0, rest);
    addArith(builder, isMaximum ? ArithOp::Max : ArithOp::Add, some, some, behind);
  }
  fold(to, rowOf(sums, 0, 0, kFold, 1), kFold);
}

} // namespace

void addRowSum(Builder &builder, const LocalTensor &output, const LocalTensor &input,
               bool isMaximum, uint32_t scratch) {
  const Extents &shape = input.shape;
  const bool isPlane = output.shape[2] == 1;
  const int64_t length = isPlane ? shape[2] * shape[3] : shape[3];
  // Pools find channels of the next slot where an aligned image of the window's has them, whatever
  // the strides: slot by slot there are none, and it takes as long.
  for (int64_t c = 0; c < shape[1];) {
    const int64_t lane = (input.startLane + c) % kLanes;
    const int64_t count = std::min<int64_t>(kLanes - lane, shape[1] - c);
    const LocalTensor from = input.slice(1, c, count), to = output.slice(1, c, count);
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t h = 0; h < output.shape[2]; ++h)
        addOneRow(builder, to, from, n, h, length, isMaximum, scratch);
    c += count;
  }
}

} // namespace tpuc::bm1684
