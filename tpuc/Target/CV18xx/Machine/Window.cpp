//===- Window.cpp - Convolutions and pools --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Elements.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"

namespace tpuc::cv18xx {

namespace {

/// For each tap and each place of the result, the row or column of the input, or -1 where there is
/// a pad or an inserted value.
std::vector<int32_t> placesOf(uint32_t extent, uint32_t insert, uint32_t pad, uint32_t taps,
                              uint32_t dilation, uint32_t stride, uint32_t results) {
  std::vector<int32_t> places(size_t{taps} * results);
  for (uint32_t tap = 0; tap < taps; ++tap)
    for (uint32_t i = 0; i < results; ++i) {
      const int64_t at = int64_t{i} * stride + int64_t{tap} * dilation - pad;
      const bool isValue = at >= 0 && at % (insert + 1) == 0 && at / (insert + 1) < extent;
      places[size_t{tap} * results + i] = isValue ? static_cast<int32_t>(at / (insert + 1)) : -1;
    }
  return places;
}

/// What the windows of a row of results see: for each tap (kernel rows, kernel columns, channels)
/// one value for each column of the result.
template <typename T> class WindowRows {
public:
  WindowRows(const TiuCommand &command, std::span<const T> input, T fill, uint32_t channels)
      : command(command), input(input), fill(fill), channels(channels) {
    const Extents &in = command.opd0.shape;
    kernelH = command.opd1.shape[2];
    kernelW = command.opd1.shape[3];
    width = command.res0.shape[3];
    rows = placesOf(in[2], command.insertY, command.padTop, kernelH, command.dilationY,
                    command.strideY, command.res0.shape[2]);
    columns = placesOf(in[3], command.insertX, command.padLeft, kernelW, command.dilationX,
                       command.strideX, width);
    values.resize(taps() * width);
  }

  size_t taps() const { return size_t{kernelH} * kernelW * channels; }

  /// The taps of row `h` of the results, from `channels` channels of the input on from `channel`.
  const T *row(uint32_t n, uint32_t channel, uint32_t h) {
    const Extents &in = command.opd0.shape;
    T *out = values.data();
    for (uint32_t i = 0; i < kernelH; ++i)
      for (uint32_t j = 0; j < kernelW; ++j)
        for (uint32_t c = 0; c < channels; ++c, out += width) {
          const int32_t y = rows[size_t{i} * command.res0.shape[2] + h];
          const int32_t *x = &columns[size_t{j} * width];
          if (y < 0) {
            std::fill_n(out, width, fill);
            continue;
          }
          const T *from =
              &input[((size_t{n} * in[1] + channel + c) * in[2] + static_cast<size_t>(y)) * in[3]];
          for (uint32_t w = 0; w < width; ++w)
            out[w] = x[w] < 0 ? fill : from[x[w]];
        }
    return values.data();
  }

  uint32_t width = 0;

private:
  const TiuCommand &command;
  std::span<const T> input;
  T fill;
  uint32_t channels, kernelH = 0, kernelW = 0;
  std::vector<int32_t> rows, columns;
  std::vector<T> values;
};

int32_t insertInteger(const TiuCommand &command) {
  const auto low = static_cast<uint8_t>(command.insertValue);
  return command.opd0.isSigned ? static_cast<int8_t>(low) : low;
}

/// Adds the products of all taps of a row; integers wrap at 32 bits.
void addProducts(std::span<int32_t> sums, const int32_t *taps, const int32_t *weights,
                 size_t count) {
  for (size_t k = 0; k < count; ++k, taps += sums.size())
    for (size_t w = 0; w < sums.size(); ++w)
      sums[w] = static_cast<int32_t>(static_cast<uint32_t>(sums[w]) +
                                     static_cast<uint32_t>(taps[w] * weights[k]));
}

void addProducts(std::span<float> sums, const float *taps, const float *weights, size_t count,
                 std::span<float> scratch) {
  for (size_t k = 0; k < count; ++k, taps += sums.size())
    addScaled(sums, taps, weights[k], scratch);
}

/// The result of a sum, which wrapped at 32 bits.
int32_t finishChannel(const TiuCommand &command, int32_t sum, const ChannelParameters &channel) {
  const auto wrapped =
      static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(channel.bias));
  if (!command.hasRequant)
    return finishInteger(command, wrapped);
  int64_t value = requantize(wrapped, channel.multiplier, channel.shift);
  if (command.hasRelu)
    value = std::max<int64_t>(value, 0);
  return static_cast<int32_t>(saturate(value, 8, command.res0.isSigned));
}

float finishFloat(const TiuCommand &command, float sum, bool hasBias, float bias) {
  if (hasBias)
    sum = addTruncating(sum, bias);
  return command.hasRelu ? reluOf(sum) : sum;
}

/// Both types of convolution: `groups` of 1 or of one for each channel.
struct WindowShape {
  uint32_t count, channels, height, width, perGroup;
};

/// Calls `add(row, taps, channel)` for each row of the sums, with the taps of its windows.
template <typename T, typename Add>
void overRows(WindowRows<T> &windows, const WindowShape &shape, bool isDepthwise,
              std::vector<T> &sums, const Add &add) {
  for (uint32_t n = 0; n < shape.count; ++n)
    for (uint32_t group = 0; group < (isDepthwise ? shape.channels : 1); ++group)
      for (uint32_t h = 0; h < shape.height; ++h) {
        const T *taps = windows.row(n, group, h);
        for (uint32_t c = isDepthwise ? group : 0; c < (isDepthwise ? group + 1 : shape.channels);
             ++c)
          add(std::span<T>(
                  &sums[((size_t{n} * shape.channels + c) * shape.height + h) * shape.width],
                  shape.width),
              taps, c);
      }
}

void convIntegers(Memory &memory, const TiuCommand &command, const TiuViews &views,
                  const WindowShape &shape) {
  const bool isDepthwise = shape.perGroup == 1 && command.type == tiu::kPool;
  const std::vector<int32_t> input = readIntegers(memory, views.opd0, command.opd0.isSigned);
  std::vector<int32_t> weights = readIntegers(memory, views.opd1, command.opd1.isSigned);
  std::vector<int32_t> sums(views.res0.view.count());
  if (views.readsResult)
    sums = readIntegers(memory, views.res0, true);
  WindowRows<int32_t> windows(command, input, insertInteger(command), shape.perGroup);
  if (views.opd1.count == 0) {
    Operand immediate = command.opd1;
    immediate.isNarrow = true;
    weights.assign(windows.taps() * shape.channels, integerImmediate(immediate));
  }
  overRows(windows, shape, isDepthwise, sums,
           [&](std::span<int32_t> row, const int32_t *taps, uint32_t channel) {
             addProducts(row, taps, &weights[channel * windows.taps()], windows.taps());
           });
  if (!command.storesPartial) {
    const std::vector<ChannelParameters> channels =
        readChannels(memory, command, views.opd2, shape.channels);
    const size_t plane = size_t{shape.height} * shape.width;
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = finishChannel(command, sums[i], channels[i / plane % shape.channels]);
  }
  Planes result = views.res0;
  if (!command.storesPartial)
    result.count = 1;
  writeIntegers(memory, result, sums);
}

void convFloats(Memory &memory, const TiuCommand &command, const TiuViews &views,
                const WindowShape &shape) {
  const bool isDepthwise = shape.perGroup == 1 && command.type == tiu::kPool;
  const std::vector<float> input = readFloats(memory, views.opd0);
  std::vector<float> weights = readFloats(memory, views.opd1);
  std::vector<float> sums(views.res0.view.count());
  if (views.readsResult)
    sums = readFloats(memory, views.res0);
  // A stored sum that is no number counts as the largest one.
  for (float &sum : sums)
    sum = std::isfinite(sum) ? sum : kLargest;
  WindowRows<float> windows(command, input, fromBf16(command.insertValue), shape.perGroup);
  if (views.opd1.count == 0)
    weights.assign(windows.taps() * shape.channels, floatImmediate(command.opd1));
  std::vector<float> scratch(shape.width);
  overRows(windows, shape, isDepthwise, sums,
           [&](std::span<float> row, const float *taps, uint32_t channel) {
             addProducts(row, taps, &weights[channel * windows.taps()], windows.taps(), scratch);
           });
  Planes result = views.res0;
  if (!command.storesPartial) {
    const std::vector<float> biases = readFloats(memory, views.opd2);
    const size_t plane = size_t{shape.height} * shape.width;
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = finishFloat(command, sums[i], !biases.empty(),
                            biases.empty() ? 0 : biases[i / plane % shape.channels]);
    result.count = 1;
  }
  writeFloats(memory, result, sums);
}

/// Maximum or minimum. The value between those of the input always takes part where they are
/// integers.
template <typename T>
std::vector<T> extremes(const TiuCommand &command, std::span<const T> input, T fill,
                        bool fillTakesPart) {
  WindowRows<T> windows(command, input, fill, 1);
  const Extents &out = command.res0.shape;
  std::vector<T> results;
  results.reserve(size_t{out[0]} * out[1] * out[2] * out[3]);
  const auto better = [&](T a, T b) {
    if constexpr (std::is_same_v<T, float>)
      return command.pool == PoolFunction::Max ? largerOf(a, b) : smallerOf(a, b);
    else
      return command.pool == PoolFunction::Max ? std::max(a, b) : std::min(a, b);
  };
  for (uint32_t n = 0; n < out[0]; ++n)
    for (uint32_t c = 0; c < out[1]; ++c)
      for (uint32_t h = 0; h < out[2]; ++h) {
        const T *taps = windows.row(n, c, h);
        for (uint32_t w = 0; w < out[3]; ++w) {
          T best = fillTakesPart ? better(fill, taps[w]) : taps[w];
          for (size_t k = 1; k < windows.taps(); ++k)
            best = better(best, taps[k * windows.width + w]);
          results.push_back(best);
        }
      }
  return results;
}

} // namespace

void runConv(Memory &memory, const TiuCommand &command) {
  const TiuViews views = viewsOf(memory.chip(), command);
  const Extents &out = command.res0.shape;
  const WindowShape shape = {out[0], out[1], out[2], out[3], command.opd0.shape[1]};
  if (command.isBf16)
    convFloats(memory, command, views, shape);
  else
    convIntegers(memory, command, views, shape);
}

void runPool(Memory &memory, const TiuCommand &command) {
  const TiuViews views = viewsOf(memory.chip(), command);
  const Extents &out = command.res0.shape;
  const WindowShape shape = {out[0], out[1], out[2], out[3], 1};
  if (command.pool == PoolFunction::Average || command.pool == PoolFunction::Depthwise) {
    if (command.isBf16)
      convFloats(memory, command, views, shape);
    else
      convIntegers(memory, command, views, shape);
    return;
  }
  if (command.isBf16) {
    const std::vector<float> input = readFloats(memory, views.opd0);
    writeFloats(memory, views.res0,
                extremes<float>(command, input, fromBf16(command.insertValue), false));
    return;
  }
  const std::vector<int32_t> input = readIntegers(memory, views.opd0, command.opd0.isSigned);
  std::vector<int32_t> results = extremes<int32_t>(command, input, insertInteger(command), true);
  const std::vector<ChannelParameters> channels =
      readChannels(memory, command, views.opd2, shape.channels);
  const size_t plane = size_t{shape.height} * shape.width;
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = finishChannel(command, results[i], channels[i / plane % shape.channels]);
  writeIntegers(memory, views.res0, results);
}

} // namespace tpuc::cv18xx
