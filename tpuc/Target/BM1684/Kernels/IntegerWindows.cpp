//===- IntegerWindows.cpp - Convolutions and pools of integers on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/IntegerCommands.h"
#include "tpuc/Target/BM1684/Kernels/WindowCommands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

void setIntegers(Builder &builder, Command &command, DataType output, uint64_t filter,
                 int64_t shift) {
  for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec})
    command.set(field, Prec::I8);
  command.set(Field::Opd2Prec, Prec::I16).set(Field::Opd1Sign, 1).set(Field::Opd2Sign, 1);
  // Signed weights make a signed result, but for that of a ReLU, which begins at 0.
  command.set(Field::Relu, output == DataType::U8).set(Field::Opd1Addr, filter);
  setField(builder, command, Field::RightShift, shift);
}

namespace {

/// The window as commands have it, and the zeros between elements.
std::pair<Window2d, std::array<int64_t, 2>> commandWindow(const IntegerConvolution &conv) {
  Window2d window = conv.window;
  if (!conv.isTransposed)
    return {window, {0, 0}};
  window.stride = {1, 1};
  return {window, {conv.window.stride[0] - 1, conv.window.stride[1] - 1}};
}

Expected<void> check(const std::string &where, const IntegerConvolution &conv) {
  if (Expected<void> fits = checkBytes(where, "input", conv.input); !fits)
    return fits;
  if (Expected<void> fits = checkRegularBytes(where, "output", conv.output); !fits)
    return fits;
  if (conv.group < 1 || conv.input.shape[1] % conv.group != 0 ||
      conv.output.shape[1] % conv.group != 0 || conv.output.startLane != 0)
    return makeError(where, fmt::format("{} groups", conv.group), "a divisor of the channels");
  if (conv.shifts.size() != 1 && std::ssize(conv.shifts) != conv.output.shape[1])
    return makeError(where, fmt::format("{} shifts", conv.shifts.size()),
                     "one, or one for each output channel");
  for (const int64_t shift : conv.shifts)
    if (Expected<void> fits = checkShift(where, shift); !fits)
      return fits;
  if (conv.isDepthwise() && (conv.isTransposed || !conv.input.liesAs(Layout::Aligned)))
    return makeError(where, "a depthwise convolution that is transposed, or of gaps",
                     "an aligned input");
  const int64_t inputs = conv.input.shape[1] / conv.group;
  if (inputs > kMostChannels)
    return makeError(where, fmt::format("{} input channels", inputs),
                     fmt::format("{} at most", kMostChannels));
  const auto &[window, insert] = commandWindow(conv);
  return checkWindow(where, window, conv.input.shape, conv.output.shape, insert);
}

/// A tensor's channels [first, first + count), where that is not all of them.
LocalTensor channelsOf(const LocalTensor &tensor, int64_t first, int64_t count) {
  return tensor.shape[1] == count ? tensor : tensor.slice(1, first, count);
}

/// Calls `body(first, count)` for parts of so many channels that commands can hold.
template <typename Body> void overChannels(int64_t channels, const Body &body) {
  for (int64_t first = 0; first < channels; first += kMostChannels)
    body(first, std::min(kMostChannels, channels - first));
}

/// Calls `body(first, count)` for the parts of `channels` output channels from `begin` on that have
/// one shift.
template <typename Body>
void overShifts(const IntegerConvolution &conv, int64_t begin, int64_t channels, const Body &body) {
  if (conv.shifts.size() == 1)
    return body(begin, channels);
  const int64_t end = begin + channels;
  for (int64_t first = begin, next = begin; first < end; first = next) {
    while (next < end && conv.shiftOf(next) == conv.shiftOf(first))
      ++next;
    body(first, next - first);
  }
}

/// What the first channel of `output` reads, of `bytes` for each slot from `address` on.
uint64_t rowAddress(const LocalTensor &whole, const LocalTensor &output, int64_t firstChannel,
                    uint32_t address, int64_t bytes) {
  const int64_t slot = (whole.startLane + firstChannel) / kLanes;
  LocalTensor row = output;
  row.address = address + static_cast<uint32_t>(slot * bytes);
  return row.commandAddress();
}

/// A depthwise command over some channels of a word of batch items.
void addDepthwisePart(Builder &builder, const IntegerConvolution &conv, const LocalTensor &output,
                      const LocalTensor &input, int64_t first) {
  const int64_t taps = conv.window.kernel[0] * conv.window.kernel[1];
  Command command =
      windowCommand(builder, tiu::kPorD, sub::kDepthwise, output, input, conv.window, {0, 0});
  setIntegers(builder, command, output.type,
              rowAddress(conv.output, output, first, conv.filterAddress, taps),
              conv.shiftOf(first));
  if (conv.biasAddress)
    command.set(Field::OpdNum, 3)
        .set(Field::Opd2Addr, rowAddress(conv.output, output, first, *conv.biasAddress, 2));
  builder.add(command);
}

void addDepthwise(Builder &builder, const IntegerConvolution &conv) {
  const int64_t images = conv.output.shape[0], items = conv.output.items();
  overShifts(conv, 0, conv.output.shape[1], [&](int64_t begin, int64_t channels) {
    overChannels(channels, [&](int64_t offset, int64_t count) {
      const int64_t first = begin + offset;
      const LocalTensor output = channelsOf(conv.output, first, count);
      const LocalTensor input = channelsOf(conv.input, first, count);
      // Words of other batch items lie where all channels say.
      const int64_t step = count == conv.output.shape[1] ? images : items;
      for (int64_t n = 0; n < images; n += step) {
        const int64_t part = std::min(step, images - n);
        addDepthwisePart(builder, conv, part == images ? output : output.slice(0, n, part),
                         part == images ? input : input.slice(0, n, part), first);
      }
    });
  });
}

void addDense(Builder &builder, const IntegerConvolution &conv) {
  const auto &[window, insert] = commandWindow(conv);
  const int64_t ic = conv.input.shape[1] / conv.group, oc = conv.output.shape[1] / conv.group;
  const int64_t row = byteFilterRow(ic, window.kernel[0] * window.kernel[1]);
  const int64_t words = ceilDiv(ic, 4);
  const auto add = [&](const LocalTensor &input, int64_t first, int64_t count) {
    const LocalTensor output = channelsOf(conv.output, first, count);
    Command command = windowCommand(builder, tiu::kConv, 0, output, input, window, insert);
    setIntegers(builder, command, output.type,
                rowAddress(conv.output, output, first, conv.filterAddress, row),
                conv.shiftOf(first));
    command.set(Field::Opd1Str, Layout::Explicit).set(Field::KernelRotate, conv.isTransposed);
    setFields(builder, command,
              {{Field::Opd0C, ic},
               {Field::Opd1NStr, 1},
               {Field::Opd1CStr, row / 4},
               {Field::Opd1HStr, window.kernel[1] * words},
               {Field::Opd1WStr, words}});
    if (conv.biasAddress)
      command.set(Field::OpdNum, 3)
          .set(Field::Opd2Addr, rowAddress(conv.output, output, first, *conv.biasAddress, 2));
    builder.add(command);
  };
  for (int64_t g = 0; g < conv.group; ++g) {
    const LocalTensor input = channelsOf(conv.input, g * ic, ic);
    overShifts(conv, g * oc, oc, [&](int64_t begin, int64_t channels) {
      overChannels(channels,
                   [&](int64_t first, int64_t count) { add(input, begin + first, count); });
    });
  }
}

} // namespace

//===--- Strips -----------------------------------------------------------===//

namespace {

constexpr int64_t kStrips = 4;

/// Of a single image, strips of rows that are the batch items of another convolution.
struct StripPlan {
  /// Rows of the result and of the input in each strip, and how far apart the latter begin.
  int64_t outputRows = 0, inputRows = 0, step = 0;
  /// The strips, their result, and room for one of the former.
  LocalTensor input, output, part;
  uint32_t bytes = 0;
};

/// Cycles of the command for 16 pixels and a slot of output channels: of few input channels a tap
/// takes more than one.
double cyclesOf(const IntegerConvolution &conv) {
  constexpr double kTap[] = {6.82, 3.91, 1.55, 1.3, 1.15, 1.05};
  constexpr double kStart = 10;
  const int64_t groups = ceilDiv(conv.input.shape[1] / conv.group, 4);
  const double tap = groups <= std::ssize(kTap) ? kTap[static_cast<size_t>(groups - 1)] : 1.0;
  const int64_t taps = conv.window.kernel[0] * conv.window.kernel[1];
  return static_cast<double>(groups * taps) * tap + kStart;
}

/// The strips, where they are worth it; none of others.
std::optional<StripPlan> stripsOf(const IntegerConvolution &conv) {
  const Extents &in = conv.input.shape, &out = conv.output.shape;
  if (out[0] != 1 || out[2] < 2 || conv.isDepthwise() || conv.isTransposed ||
      conv.input.startLane != 0)
    return std::nullopt;
  StripPlan plan;
  plan.outputRows = ceilDiv(out[2], kStrips);
  plan.step = plan.outputRows * conv.window.stride[0];
  plan.inputRows = (plan.outputRows - 1) * conv.window.stride[0] +
                   (conv.window.kernel[0] - 1) * conv.window.dilation[0] + 1;
  // For 16 pixels and a slot of channels: nine commands of two cycles put words beside each other,
  // and three, and one of one cycle, take them apart.
  constexpr double kPack = 18, kUnpack = 7;
  const auto rounds = [](int64_t channels, int64_t rows, int64_t columns) {
    return static_cast<double>(ceilDiv(channels, kLanes) * ceilDiv(rows * columns, 16));
  };
  const double whole = rounds(out[1], out[2], out[3]) * cyclesOf(conv);
  const double inStrips = rounds(out[1], plan.outputRows, out[3]) * (cyclesOf(conv) + kUnpack) +
                          rounds(in[1], plan.inputRows, in[3]) * kPack;
  constexpr double kWorthwhile = 0.9;
  if (inStrips > kWorthwhile * whole)
    return std::nullopt;
  ScratchAllocator space{conv.scratch.address};
  plan.input = space.take(conv.input.type, {kStrips, in[1], plan.inputRows, in[3]});
  // The result takes the place of what was put beside others before.
  ScratchAllocator behind = space;
  plan.part = behind.take(DataType::I32, {1, in[1], plan.inputRows, in[3]});
  plan.output = space.take(conv.output.type, {kStrips, out[1], plan.outputRows, out[3]});
  plan.bytes = std::max(space.next, behind.next) - conv.scratch.address;
  return plan;
}

/// The words of a tensor of bytes of up to four batch items.
LocalTensor wholeWords(const LocalTensor &bytes) {
  LocalTensor words = bytes.as(DataType::I32);
  words.explicitStride = bytes.strides();
  words.layout = Layout::Explicit;
  words.shape[0] = 1;
  return words;
}

Immediate byteMask() { return {DataType::I32, 0xFF}; }

Immediate shiftByBytes(int64_t bytes) {
  constexpr int64_t kBits = 8;
  return immediate(DataType::I32, static_cast<double>(kBits * bytes));
}

/// The rows of each strip as a byte of the words of `plan.input`, and zeros outside of the image.
void packStrips(Builder &builder, const IntegerConvolution &conv, const StripPlan &plan) {
  const LocalTensor image = wholeWords(conv.input), strips = wholeWords(plan.input);
  const int64_t height = conv.input.shape[2];
  for (int64_t strip = 0; strip < kStrips; ++strip) {
    const int64_t origin = strip * plan.step - conv.window.padBegin[0];
    const int64_t begin = std::clamp<int64_t>(-origin, 0, plan.inputRows);
    const int64_t end = std::clamp(height - origin, begin, plan.inputRows);
    if (strip == 0)
      for (const auto &[first, last] : {std::pair(int64_t{0}, begin), {end, plan.inputRows}})
        if (first < last)
          addCopy(builder, strips.slice(2, first, last - first), Immediate{DataType::I32, 0});
    if (begin == end)
      continue;
    const LocalTensor to = strips.slice(2, begin, end - begin);
    const LocalTensor from = image.slice(2, origin + begin, end - begin);
    if (strip == 0) {
      addArith(builder, ArithOp::And, to, from, byteMask());
      continue;
    }
    const LocalTensor part = plan.part.slice(2, begin, end - begin);
    // What is shifted to the top leaves nothing else behind.
    const bool isLast = strip + 1 == kStrips;
    if (!isLast)
      addArith(builder, ArithOp::And, part, from, byteMask());
    addArith(builder, ArithOp::Shift, part, isLast ? from : part, shiftByBytes(strip));
    addArith(builder, ArithOp::Or, to, to, part);
  }
}

/// The bytes of the words of `plan.output` as strips of the result's rows.
void unpackStrips(Builder &builder, const IntegerConvolution &conv, const StripPlan &plan) {
  const LocalTensor image = wholeWords(conv.output), strips = wholeWords(plan.output);
  const int64_t height = conv.output.shape[2];
  for (int64_t first = 0; first < height; first += plan.outputRows) {
    const int64_t rows = std::min(plan.outputRows, height - first);
    const LocalTensor from = strips.slice(2, 0, rows), to = image.slice(2, first, rows);
    if (first == 0)
      addCopy(builder, to, from);
    else
      addArith(builder, ArithOp::Shift, to, from, shiftByBytes(-first / plan.outputRows));
  }
}

/// The convolution of the strips, which have the rows around them.
IntegerConvolution stripConvolution(const IntegerConvolution &conv, const StripPlan &plan) {
  IntegerConvolution strips = conv;
  strips.input = plan.input;
  strips.output = plan.output;
  strips.window.padBegin[0] = strips.window.padEnd[0] = 0;
  return strips;
}

Expected<uint32_t> checkedScratch(const std::string &where, const IntegerConvolution &conv) {
  if (Expected<void> fits = check(where, conv); !fits)
    return propagate(fits);
  const std::optional<StripPlan> plan = stripsOf(conv);
  return plan ? plan->bytes : 0;
}

} // namespace

Expected<uint32_t> integerConvolutionScratch(const IntegerConvolution &conv) {
  return checkedScratch("convolution", conv);
}

Expected<void> emitIntegerConvolution(Builder &builder, const IntegerConvolution &conv) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), conv.scratch, checkedScratch(builder.layer(), conv));
      !fits)
    return fits;
  if (const std::optional<StripPlan> plan = stripsOf(conv)) {
    packStrips(builder, conv, *plan);
    addDense(builder, stripConvolution(conv, *plan));
    addBounds(builder, plan->output, conv.bounds);
    unpackStrips(builder, conv, *plan);
    return {};
  }
  if (conv.isDepthwise())
    addDepthwise(builder, conv);
  else
    addDense(builder, conv);
  addBounds(builder, conv.output, conv.bounds);
  return {};
}

namespace {

/// What windows of one channel each want: both regular, of equal channels.
Expected<void> checkPool(const std::string &where, const LocalTensor &input,
                         const LocalTensor &output, const Window2d &window) {
  if (Expected<void> fits = checkRegularBytes(where, "input", input); !fits)
    return fits;
  if (Expected<void> fits = checkRegularBytes(where, "output", output); !fits)
    return fits;
  if (input.shape[0] != output.shape[0] || input.shape[1] != output.shape[1] ||
      input.startLane + output.startLane != 0)
    return makeError(
        where,
        fmt::format("[{}] to [{}]", fmt::join(input.shape, ","), fmt::join(output.shape, ",")),
        "equal n and c from lane 0");
  return checkWindow(where, window, input.shape, output.shape);
}

Expected<void> check(const std::string &where, const IntegerMaxPool &pool) {
  if (pool.input.type != pool.output.type)
    return makeError(where,
                     fmt::format("a maximum of {} to {}", dataTypeName(pool.input.type),
                                 dataTypeName(pool.output.type)),
                     "one type");
  if (pool.window.dilation != std::array<int64_t, 2>{1, 1})
    return makeError(where, "a maximum over windows with holes");
  return checkPool(where, pool.input, pool.output, pool.window);
}

} // namespace

Expected<void> checkIntegerMaxPool(const IntegerMaxPool &pool) { return check("pool", pool); }

Expected<void> emitIntegerMaxPool(Builder &builder, const IntegerMaxPool &pool) {
  if (Expected<void> fits = check(builder.layer(), pool); !fits)
    return fits;
  overChannels(pool.output.shape[1], [&](int64_t first, int64_t count) {
    Command command =
        windowCommand(builder, tiu::kPorD, sub::kMaxPool, channelsOf(pool.output, first, count),
                      channelsOf(pool.input, first, count), pool.window, {0, 0});
    for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec})
      command.set(field, Prec::I8);
    command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, 0);
    builder.add(command);
  });
  addBounds(builder, pool.output, pool.bounds);
  return {};
}

namespace {

/// The weights of a sum: the same byte for every tap of every slot.
LocalTensor weightsOf(const IntegerWindowSum &sum) {
  const int64_t taps = sum.window.kernel[0] * sum.window.kernel[1];
  const int64_t slots = ceilDiv(sum.output.shape[1], kLanes);
  return localTensor(DataType::I32, {1, kLanes, 1, ceilDiv(taps * slots, 4)}, sum.scratch.address,
                     Layout::Compact);
}

Expected<uint32_t> checkedScratch(const std::string &where, const IntegerWindowSum &sum) {
  if (Expected<void> fits = checkPool(where, sum.input, sum.output, sum.window); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkFactor(where, sum.factor); !fits)
    return propagate(fits);
  return static_cast<uint32_t>(alignUp(weightsOf(sum).bytesPerLane(), kEuBytes));
}

} // namespace

Expected<uint32_t> integerWindowSumScratch(const IntegerWindowSum &sum) {
  return checkedScratch("pool", sum);
}

Expected<void> emitIntegerWindowSum(Builder &builder, const IntegerWindowSum &sum) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), sum.scratch, checkedScratch(builder.layer(), sum));
      !fits)
    return fits;
  constexpr uint32_t kEveryByte = 0x01010101;
  const uint32_t byte = immediateBits(DataType::I8, static_cast<double>(sum.factor.multiplier));
  addCopy(builder, weightsOf(sum), Immediate{DataType::I32, byte * kEveryByte});
  IntegerConvolution conv{.input = sum.input,
                          .output = sum.output,
                          .filterAddress = sum.scratch.address,
                          .biasAddress = std::nullopt,
                          .window = sum.window,
                          .group = sum.output.shape[1],
                          .shifts = {sum.factor.shift},
                          .bounds = sum.bounds,
                          .scratch = {}};
  addDepthwise(builder, conv);
  addBounds(builder, sum.output, sum.bounds);
  return {};
}

} // namespace tpuc::bm1684
