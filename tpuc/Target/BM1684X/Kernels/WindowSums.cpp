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
#include <map>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kSums = 1, kMaxima = 4;

/// What a command costs beside its passes: in the mean over both sets of timing parameters.
constexpr int64_t kCyclesOfCommand = 25;

/// Windows along rows, one set after the other, each over what the one before has made: those that
/// reduce each of some rows in the fewest cycles. A line of 16 takes 16 passes with one window, and
/// 4 + 4 with windows of 4 elements:
/// ```
/// a b c d  e f g h  ...  ->  s t u v  ->  w
/// ```
/// Rows of a length are looked at once, however many longer ones come down to them.
class RowWindows {
public:
  RowWindows(int64_t rows, int64_t perCycle) : rows(rows), perCycle(perCycle) {}

  /// What the windows of rows of `width` elements take.
  int64_t cycles(int64_t width) { return best(width).cycles; }
  std::vector<int64_t> widths(int64_t width);

private:
  struct Best {
    int64_t window = 0, cycles = 0;
  };
  Best best(int64_t width);

  int64_t rows, perCycle;
  std::map<int64_t, Best> known;
};

RowWindows::Best RowWindows::best(int64_t width) {
  constexpr int64_t kMostStride = 15;
  if (const auto found = known.find(width); found != known.end())
    return found->second;
  Best best{width, rows * width + kCyclesOfCommand};
  for (int64_t window = 2; window <= std::min(width / 2, kMostStride); ++window) {
    if (width % window != 0)
      continue;
    const int64_t first = rows * ceilDiv(width / window, perCycle) * window + kCyclesOfCommand;
    if (first >= best.cycles)
      continue;
    if (const int64_t all = first + cycles(width / window); all < best.cycles)
      best = {window, all};
  }
  return known[width] = best;
}

std::vector<int64_t> RowWindows::widths(int64_t width) {
  std::vector<int64_t> widths;
  do {
    widths.push_back(best(width).window);
    width /= widths.back();
  } while (width > 1);
  return widths;
}

/// How an image is reduced.
struct Folding {
  /// The rectangle whose columns are reduced first; none where `height` is 0.
  int64_t height = 0, width = 0;
  /// Elements behind the image, up to the end of its line, that belong to the rectangle.
  int64_t filled = 0;
  /// What reduces the rows; none where one window covers the image.
  std::vector<int64_t> widths;
  int64_t cycles = 0;
};

/// Takes the rectangles of `length` elements in turn that take the fewest cycles. Takes time as the
/// square root of `length` does.
void considerRectangles(Folding &best, int64_t length, int64_t filled, int64_t images,
                        int64_t perCycle, RowWindows &rows) {
  const auto consider = [&](int64_t width) {
    const int64_t height = length / width;
    // Filling takes a command, too.
    const int64_t cycles = images * height * ceilDiv(width, perCycle) + kCyclesOfCommand +
                           (filled > 0 ? images + kCyclesOfCommand : 0);
    if (height < 2 || cycles + images * ceilDiv(width, perCycle) >= best.cycles)
      return;
    if (const int64_t all = cycles + rows.cycles(width); all < best.cycles)
      best = {height, width, filled, rows.widths(width), all};
  };
  // Divisors come in pairs.
  for (int64_t divisor = 2; divisor <= length / divisor; ++divisor)
    if (length % divisor == 0) {
      consider(divisor);
      consider(length / divisor);
    }
}

Folding foldingOf(const WindowSum &sum) {
  const Extents &shape = sum.input.shape;
  const int64_t perCycle = kEuBytes / sum.input.elementBytes();
  const int64_t images = shape[0] * ceilDiv(sum.input.startLane + shape[1], kLanes);
  Folding best;
  const bool isOfRows = sum.overWidth || shape[2] == 1;
  RowWindows rows(isOfRows ? images * shape[2] : images, perCycle);
  if (isOfRows) {
    best.widths = rows.widths(shape[3]);
    best.cycles = rows.cycles(shape[3]);
  } else {
    best.cycles = images * shape[2] * shape[3] + kCyclesOfCommand;
  }
  if (isOfRows && shape[2] > 1)
    return best;
  const int64_t length = shape[2] * shape[3];
  considerRectangles(best, length, 0, images, perCycle, rows);
  const int64_t line = alignUp(length, perCycle);
  if (line > length)
    considerRectangles(best, line, line - length, images, perCycle, rows);
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
  if (output.shape[3] > 1)
    window.stride[1] = kernel[1];
  setResult(builder, command, output);
  setWindow(builder, command, window, input.shape);
  command.set(Field::Opd0Addr, input.tiuAddress()).set(Field::Opd0Prec, input.prec());
  command.set(Field::Opd1Const, 1).set(Field::Opd2Const, 1).set(Field::Opd3Const, 1);
  if (!sum.isMaximum)
    command.set(Field::Opd1Addr, immediateBits(input.type, scale));
  builder.add(command);
}

/// One command: windows of `kernel` over images of `image`, height first.
struct Stage {
  std::array<int64_t, 2> image, kernel;

  std::array<int64_t, 2> result() const { return {image[0] / kernel[0], image[1] / kernel[1]}; }
};

std::vector<Stage> stagesOf(const WindowSum &sum, const Folding &folding) {
  std::vector<Stage> stages;
  std::array<int64_t, 2> image = {sum.input.shape[2], sum.input.shape[3]};
  const auto add = [&](const std::array<int64_t, 2> &kernel) {
    stages.push_back({image, kernel});
    image = stages.back().result();
  };
  if (folding.height > 0) {
    image = {folding.height, folding.width};
    add({folding.height, 1});
  }
  for (int64_t width : folding.widths)
    add({1, width});
  if (stages.empty())
    add(image);
  return stages;
}

LocalTensor resultOf(const WindowSum &sum, const Stage &stage, uint32_t address) {
  const LocalTensor &input = sum.input;
  const auto [height, width] = stage.result();
  return localTensor(input.type, {input.shape[0], input.shape[1], height, width}, address,
                     Layout::Aligned, input.startLane);
}

} // namespace

// Results that are not the last lie in two places by turns: none is larger than those before it.

LocalTensor takeWindowScratch(const WindowSum &sum, ScratchAllocator &space) {
  const std::vector<Stage> stages = stagesOf(sum, foldingOf(sum));
  LocalTensor first;
  for (size_t i = 0; i + 1 < stages.size() && i < 2; ++i) {
    const LocalTensor taken =
        space.take(sum.input.type, resultOf(sum, stages[i], 0).shape, sum.input.startLane);
    if (i == 0)
      first = taken;
  }
  return first;
}

void addWindowSum(Builder &builder, const WindowSum &sum, const LocalTensor &scratch) {
  const Folding folding = foldingOf(sum);
  const Extents &shape = sum.input.shape;
  LocalTensor input = sum.input;
  input.layout = Layout::Aligned;
  if (folding.filled > 0) {
    LocalTensor line = input;
    line.shape = {shape[0], shape[1], 1, folding.height * folding.width};
    addUnaryArith(builder, ArithOp::Copy, line.slice(3, shape[2] * shape[3], folding.filled),
                  neutral(sum));
  }
  const std::vector<Stage> stages = stagesOf(sum, folding);
  const std::array<uint32_t, 2> places = {
      scratch.address,
      scratch.address + laneBytes(scratch.type, scratch.shape, Layout::Aligned, scratch.startLane)};
  for (size_t i = 0; i < stages.size(); ++i) {
    const bool isLast = i + 1 == stages.size();
    input.shape[2] = stages[i].image[0];
    input.shape[3] = stages[i].image[1];
    const LocalTensor output = isLast ? sum.output : resultOf(sum, stages[i], places[i % 2]);
    addWindow(builder, sum, output, input, stages[i].kernel, isLast ? sum.scale : 1);
    input = output;
  }
}

void addOnesProduct(Builder &builder, const LocalTensor &output, const LocalTensor &input) {
  constexpr unsigned kNormalProduct = 4;
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kMatMul, kNormalProduct));
  command.set(Field::Res0Addr, output.tiuAddress()).set(Field::Res0Prec, output.prec());
  command.set(Field::Opd0Addr, input.tiuAddress()).set(Field::Opd0Prec, input.prec());
  command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, immediateBits(input.type, 1));
  command.set(Field::Opd2Const, 1);
  setFields(builder, command,
            {{Field::Res0C, output.shape[1]},
             {Field::Res0W, 1},
             {Field::Opd1C, input.shape[2] * input.shape[3]},
             {Field::Opd1W, 1}});
  builder.add(command);
}

} // namespace tpuc::bm1684x
