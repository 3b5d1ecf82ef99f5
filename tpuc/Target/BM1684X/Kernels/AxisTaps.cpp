//===- AxisTaps.cpp - Weighted sums of two elements of an axis ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/AxisTaps.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tpuc::bm1684x {

bool TapBlock::copies() const {
  return std::ranges::all_of(weights, [](double weight) { return weight == 0; });
}

namespace {

/// What a command takes beside its elements, by the conservative parameters.
constexpr int64_t kCommandCycles = 50;

/// Whether a block fits to the end of the row of blocks; the second decides the distances.
bool extend(TapBlock &row, int64_t to, int64_t from) {
  const int64_t toStep = to - (row.to + (row.count - 1) * row.toStep);
  const int64_t fromStep = from - (row.from + (row.count - 1) * row.fromStep);
  if (row.count > 1 && (toStep != row.toStep || fromStep != row.fromStep))
    return false;
  row.toStep = toStep;
  row.fromStep = fromStep;
  ++row.count;
  return true;
}

/// Taps that follow each other and make elements of the same two.
struct TapRun {
  size_t begin = 0, end = 0;
  /// How far the second tap is behind the first one.
  int64_t toSecond = 0;
};

/// Blocks of `width` elements at most. The fewest are not looked for: taps of a scale that is a
/// ratio of small numbers repeat, and each class of them is a block.
std::vector<TapBlock> blocksOf(const std::vector<ResizeTap> &taps, size_t width) {
  constexpr double kSame = 1 << 24;
  std::vector<int64_t> weights;
  weights.reserve(taps.size());
  for (const ResizeTap &tap : taps)
    weights.push_back(std::llround(tap.secondWeight * kSame));
  std::vector<TapRun> runs;
  runs.reserve(taps.size());
  for (size_t i = 0; i < taps.size();) {
    const ResizeTap &first = taps[i];
    TapRun &run = runs.emplace_back(i, i, first.second - first.first);
    while (i < taps.size() && i - run.begin < width && taps[i].first == first.first &&
           taps[i].second == first.second)
      ++i;
    run.end = i;
  }
  const auto order = [&](const TapRun &a, const TapRun &b) {
    const auto byWeights = std::lexicographical_compare_three_way(
        weights.begin() + static_cast<std::ptrdiff_t>(a.begin),
        weights.begin() + static_cast<std::ptrdiff_t>(a.end),
        weights.begin() + static_cast<std::ptrdiff_t>(b.begin),
        weights.begin() + static_cast<std::ptrdiff_t>(b.end));
    return byWeights != 0 ? byWeights : a.toSecond <=> b.toSecond;
  };
  std::ranges::stable_sort(runs, [&](const TapRun &a, const TapRun &b) { return order(a, b) < 0; });
  std::vector<TapBlock> all;
  for (size_t number = 0; number < runs.size(); ++number) {
    const TapRun &run = runs[number];
    const int64_t to = static_cast<int64_t>(run.begin), from = taps[run.begin].first;
    const bool isOfClass = number > 0 && order(runs[number - 1], run) == 0;
    if (isOfClass && extend(all.back(), to, from))
      continue;
    TapBlock &block = all.emplace_back(to, 1, from, 1, run.toSecond, 1);
    block.weights.reserve(run.end - run.begin);
    for (size_t i = run.begin; i < run.end; ++i)
      block.weights.push_back(taps[i].secondWeight);
  }
  return all;
}

/// How commands see a block. One of more than one row and column needs an axis more.
enum class BlockForm : uint8_t {
  Line,       ///< A row, or a column: in place of the axis.
  Heights,    ///< Rows in place of h, which is 1.
  EachImage,  ///< Rows in place of n, or of h where that becomes n: a command for each image.
  EachOfRows, ///< A command for each row.
};

BlockForm formOf(const TapBlock &block, unsigned axis, const Extents &shape) {
  if (block.count == 1 || block.width() == 1)
    return BlockForm::Line;
  if (axis == 3 && shape[2] == 1)
    return BlockForm::Heights;
  return shape[0] <= block.count ? BlockForm::EachImage : BlockForm::EachOfRows;
}

int64_t repeatsOf(BlockForm form, const TapBlock &block, const Extents &shape) {
  return form == BlockForm::EachImage ? shape[0] : form == BlockForm::EachOfRows ? block.count : 1;
}

/// What one of these commands sees of a tensor [n,c,h,w]: elements at first + i * step + k * inner
/// of the axis.
LocalTensor viewOf(const LocalTensor &tensor, unsigned axis, const TapBlock &block, BlockForm form,
                   int64_t repeat, int64_t first, int64_t step, int64_t inner) {
  const int64_t stride = tensor.strides()[axis];
  LocalTensor part =
      tensor.slice(axis, first + (form == BlockForm::EachOfRows ? repeat * step : 0), 1);
  if (form == BlockForm::EachImage)
    part = part.slice(0, repeat, 1);
  part.explicitStride = tensor.strides();
  part.layout = Layout::Explicit;
  part.shape[axis] = block.width();
  part.explicitStride[axis] = stride * inner;
  const auto setRows = [&](unsigned place) {
    part.shape[place] = block.count;
    part.explicitStride[place] = stride * step;
  };
  if (form == BlockForm::Line && block.width() == 1) {
    setRows(axis);
  } else if (form == BlockForm::Heights) {
    setRows(2);
  } else if (form == BlockForm::EachImage) {
    if (axis == 3) {
      part.shape[0] = part.shape[2];
      part.explicitStride[0] = part.explicitStride[2];
    }
    setRows(axis == 3 ? 2 : 0);
  }
  return part;
}

/// The cycles of a block's commands by the chip's timing formulas, about. `output` has 32 bits.
int64_t cyclesOf(const TapBlock &block, unsigned axis, const Extents &output) {
  constexpr int64_t kPerCycle = kEuBytes / 4;
  const BlockForm form = formOf(block, axis, output);
  const Extents seen =
      viewOf(localTensor(DataType::F32, output), axis, block, form, 0, block.to, block.toStep, 1)
          .shape;
  const int64_t pass = seen[0] * ceilDiv(seen[1], kLanes) * ceilDiv(seen[2] * seen[3], kPerCycle);
  const int64_t repeats = repeatsOf(form, block, output);
  const bool isSpread = axis == 3 && block.width() == 1;
  const int64_t to = isSpread ? std::clamp<int64_t>(block.toStep, 1, kPerCycle) : 1;
  const int64_t from = isSpread ? std::clamp<int64_t>(block.fromStep, 1, kPerCycle) : 1;
  if (block.copies())
    return repeats * (kCommandCycles + pass * std::max(to, from));
  // Two products and a sum, which takes twice as long in place. A tensor of weights is a second
  // operand with strides of its own.
  const int64_t factors = block.width() == 1 ? std::max(to, from) + from + 2 * to : 6;
  return repeats * (3 * kCommandCycles + pass * factors);
}

int64_t cyclesOf(const std::vector<TapBlock> &blocks, unsigned axis, const Extents &shape) {
  int64_t sum = 0;
  std::map<std::vector<double>, bool> isFilled;
  for (const TapBlock &block : blocks) {
    sum += cyclesOf(block, axis, shape);
    if (block.width() > 1 && !block.copies() && !std::exchange(isFilled[block.weights], true))
      sum += (block.width() + 1) * (kCommandCycles + 1);
  }
  return sum;
}

} // namespace

std::vector<TapBlock> tapBlocks(std::vector<ResizeTap> taps, unsigned axis, const Extents &shape) {
  for (ResizeTap &tap : taps) {
    // At the edges both may be the same element.
    if (tap.secondWeight == 0 || tap.second == tap.first) {
      tap.second = tap.first;
      tap.secondWeight = 0;
    }
  }
  std::vector<TapBlock> single = blocksOf(taps, 1);
  std::vector<TapBlock> wide = blocksOf(taps, taps.size());
  return cyclesOf(wide, axis, shape) < cyclesOf(single, axis, shape) ? wide : single;
}

namespace {

/// The type that weights have.
DataType weightType(DataType sums) { return sums == DataType::I32 ? DataType::I16 : sums; }

/// Weights of a first and a second element: floats, or those of integers.
std::array<double, 2> numbersOf(double weight, DataType sums) {
  if (sums != DataType::I32)
    return {1 - weight, weight};
  const std::array<int64_t, 2> weights = tapWeights(weight);
  return {static_cast<double>(weights[0]), static_cast<double>(weights[1])};
}

} // namespace

void TapWeights::plan(const std::vector<TapBlock> &blocks, ScratchAllocator &space) {
  const unsigned bytes = sums == DataType::I32 ? 2 : precBytes(*precOf(sums));
  for (const TapBlock &block : blocks) {
    if (block.width() == 1 || block.copies() || pairs.contains(block.weights))
      continue;
    const auto length = static_cast<uint32_t>(block.width() * bytes);
    pairs[block.weights].places = {space.bytes(length), space.bytes(length)};
  }
}

std::array<LocalTensor, 2> TapWeights::of(Builder &builder, const TapBlock &block) {
  Pair &pair = pairs.at(block.weights);
  std::array<LocalTensor, 2> tensors;
  for (size_t tap = 0; tap < 2; ++tap)
    tensors[tap] = localTensor(weightType(sums), {1, kLanes, 1, block.width()}, pair.places[tap]);
  if (std::exchange(pair.isFilled, true))
    return tensors;
  const DataType type = weightType(sums);
  // What the first ones lack is exact in integers, which saves half of the commands.
  const bool isExact = sums == DataType::I32;
  for (int64_t at = 0; at < block.width(); ++at) {
    const std::array<double, 2> numbers = numbersOf(block.weights[static_cast<size_t>(at)], sums);
    for (size_t tap = isExact ? 1 : 0; tap < 2; ++tap)
      addUnaryArith(builder, ArithOp::Copy, tensors[tap].slice(3, at, 1),
                    immediate(type, numbers[tap]));
  }
  if (isExact)
    addArith(builder, ArithOp::Sub, tensors[0], immediate(type, std::ldexp(1, kTapBits)),
             tensors[1]);
  return tensors;
}

namespace {

/// [1,64,1,width] of all lanes for the elements of a view, whose columns of the axis they weigh.
LocalTensor spread(const LocalTensor &weights, unsigned axis, const LocalTensor &view) {
  LocalTensor result = weights;
  result.layout = Layout::Explicit;
  result.startLane = view.startLane;
  result.shape = view.shape;
  result.explicitStride = {};
  result.explicitStride[axis] = 1;
  return result;
}

bool isByteOrShort(const LocalTensor &tensor) { return tensor.elementBytes() <= 2; }

} // namespace

void addBlocks(Builder &builder, const LocalTensor &output, const LocalTensor &input, unsigned axis,
               const std::vector<TapBlock> &blocks, TapWeights &weights, uint32_t products) {
  const LocalTensor allProducts =
      localTensor(output.type, output.shape, products, Layout::Aligned, output.startLane);
  // Products of short integers are added to sums at once.
  const bool accumulates = output.type == DataType::I32 && isByteOrShort(input);
  for (const TapBlock &block : blocks) {
    const BlockForm form = formOf(block, axis, output.shape);
    std::array<Term, 2> factors;
    std::array<LocalTensor, 2> tensors;
    const bool copies = block.copies();
    const bool isVector = block.width() > 1 && !copies;
    if (isVector) {
      tensors = weights.of(builder, block);
    } else {
      const std::array<double, 2> numbers = numbersOf(block.weights.front(), output.type);
      for (size_t tap = 0; tap < 2; ++tap)
        factors[tap] = immediate(weightType(output.type), numbers[tap]);
    }
    for (int64_t repeat = 0; repeat < repeatsOf(form, block, output.shape); ++repeat) {
      const auto view = [&](const LocalTensor &tensor, int64_t first, int64_t step, int64_t inner) {
        return viewOf(tensor, axis, block, form, repeat, first, step, inner);
      };
      const LocalTensor to = view(output, block.to, block.toStep, 1);
      const LocalTensor first = view(input, block.from, block.fromStep, 0);
      if (isVector)
        for (size_t tap = 0; tap < 2; ++tap)
          factors[tap] = spread(tensors[tap], axis, to);
      // Without a second element floats are as they are.
      if (copies && output.type != DataType::I32)
        addUnaryArith(builder, ArithOp::Copy, to, first);
      else
        addArith(builder, ArithOp::Mul, to, first, factors[0]);
      if (copies)
        continue;
      const LocalTensor second = view(input, block.from + block.toSecond, block.fromStep, 0);
      if (accumulates) {
        addMultiplyAdd(builder, to, second, factors[1]);
        continue;
      }
      // Products lie packed where their places allow it.
      const LocalTensor product = block.width() > 1 ? view(allProducts, block.to, block.toStep, 1)
                                                    : localTensor(to.type, to.shape, products,
                                                                  Layout::Aligned, to.startLane);
      addArith(builder, ArithOp::Mul, product, second, factors[1]);
      addArith(builder, ArithOp::Add, to, to, product);
    }
  }
}

} // namespace tpuc::bm1684x
