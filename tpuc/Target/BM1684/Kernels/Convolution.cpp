//===- Convolution.cpp - Convolutions of floats on the BM1684 -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/WindowCommands.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

namespace {
constexpr int64_t kMostStride = 15, kMostPad = 15, kMostDilation = 16, kMostInsert = 15;
} // namespace

Expected<void> checkWindow(const std::string &where, const Window2d &window, const Extents &input,
                           const Extents &output, const std::array<int64_t, 2> &insert) {
  for (size_t axis = 0; axis < 2; ++axis) {
    struct Range {
      std::string_view name;
      int64_t value, least, most;
    };
    const Range ranges[] = {{"kernel", window.kernel[axis], 1, 65535},
                            {"stride", window.stride[axis], 1, kMostStride},
                            {"dilation", window.dilation[axis], 1, kMostDilation},
                            {"pad", window.padBegin[axis], 0, kMostPad},
                            {"pad", window.padEnd[axis], 0, kMostPad},
                            {"zeros inserted", insert[axis], 0, kMostInsert}};
    for (const Range &range : ranges)
      if (range.value < range.least || range.value > range.most)
        return makeError(where, fmt::format("{} of {}", range.name, range.value),
                         fmt::format("{} to {}", range.least, range.most));
    const int64_t padded = (input[axis + 2] - 1) * (insert[axis] + 1) + 1 + window.padBegin[axis] +
                           window.padEnd[axis];
    const int64_t covered = (output[axis + 2] - 1) * window.stride[axis] +
                            (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    if (covered > padded)
      return makeError(where,
                       fmt::format("windows that cover {} of {} {}", covered, padded,
                                   axis == 0 ? "rows" : "columns"),
                       "windows inside of the padded image");
  }
  return {};
}

Command windowCommand(Builder &builder, unsigned opcode, unsigned sub, const LocalTensor &output,
                      const LocalTensor &input, const Window2d &window,
                      const std::array<int64_t, 2> &insert) {
  Command command = tiuCommand(opcode, sub);
  setResult(builder, command, output);
  setInput(builder, command, input);
  setFields(builder, command,
            {{Field::Opd0H, input.shape[2]},
             {Field::Opd0W, input.shape[3]},
             {Field::Opd1H, window.kernel[0]},
             {Field::Opd1W, window.kernel[1]},
             {Field::ResOpYStr, window.stride[0]},
             {Field::ResOpXStr, window.stride[1]},
             {Field::Opd1YIns0, window.dilation[0] - 1},
             {Field::Opd1XIns0, window.dilation[1] - 1},
             {Field::Opd0UpPad, window.padBegin[0]},
             {Field::Opd0LfPad, window.padBegin[1]},
             {Field::Opd0DnPad, window.padEnd[0]},
             {Field::Opd0RtPad, window.padEnd[1]},
             {Field::Opd0YIns0, insert[0]},
             {Field::Opd0XIns0, insert[1]}});
  return command;
}

void addConv(Builder &builder, const ConvCommand &conv) {
  // Sums go on over input channels that no field holds.
  const int64_t channels = conv.input.shape[1];
  const int64_t taps = conv.window.kernel[0] * conv.window.kernel[1];
  const int64_t width = conv.filterWidth == 0 ? conv.window.kernel[1] : conv.filterWidth;
  if (channels > kMostChannels && taps > 1)
    return builder.fail(fmt::format("{} input channels", channels),
                        fmt::format("{} at most", kMostChannels));
  for (int64_t first = 0; first < channels; first += kMostChannels) {
    const int64_t count = std::min(kMostChannels, channels - first);
    const LocalTensor input = count == channels ? conv.input : conv.input.slice(1, first, count);
    const bool accumulates = conv.accumulates || first > 0;
    for (int64_t c = 0; c < conv.output.shape[1]; c += kMostChannels) {
      const LocalTensor output =
          conv.output.shape[1] <= kMostChannels
              ? conv.output
              : conv.output.slice(1, c, std::min(kMostChannels, conv.output.shape[1] - c));
      Command command =
          windowCommand(builder, tiu::kConv, 0, output, input, conv.window, conv.insert);
      const int64_t slot = conv.slotStride, pairs = alignUp(count, 2) / 2;
      const auto filter = conv.filter + static_cast<uint64_t>((c / kLanes * slot + first) * 4);
      command.set(Field::Opd1Addr, filter).set(Field::Opd1Str, Layout::Explicit);
      setFields(builder, command,
                {{Field::Opd0C, count},
                 {Field::Opd1NStr, 1},
                 {Field::Opd1CStr, slot / 2},
                 {Field::Opd1HStr, conv.tapStep[0] * width * pairs},
                 {Field::Opd1WStr, conv.tapStep[1] * pairs}});
      command.set(Field::ResAdd, accumulates).set(Field::KernelRotate, conv.isTurned);
      if (conv.bias && first == 0)
        command.set(Field::OpdNum, 3)
            .set(Field::Opd2Addr, *conv.bias + static_cast<uint64_t>(c / kLanes * 4));
      builder.add(command);
    }
  }
}

void addActivation(Builder &builder, const LocalTensor &tensor, const Activation &activation) {
  if (!activation.relu)
    return;
  addArith(builder, ArithOp::Max, tensor, tensor, number(0));
  if (activation.limit >= 0)
    addArith(builder, ArithOp::Min, tensor, tensor, number(activation.limit));
}

Expected<void> checkRegular(const std::string &where, std::string_view name,
                            const LocalTensor &tensor) {
  if (tensor.type != DataType::F32 || !tensor.isRegular())
    return makeError(where,
                     fmt::format("{} of {} [{}]{}", name, dataTypeName(tensor.type),
                                 fmt::join(tensor.shape, ","),
                                 tensor.isRegular() ? "" : " with gaps"),
                     "an aligned tensor of f32");
  return {};
}

Expected<void> checkScratch(const std::string &where, const Scratch &scratch,
                            const Expected<uint32_t> &needed) {
  if (!needed)
    return tl::unexpected<Error>(needed.error());
  if (scratch.bytes < *needed)
    return makeError(where, fmt::format("{} bytes of scratch", scratch.bytes),
                     fmt::format("{} bytes", *needed));
  return {};
}

namespace {

/// The window as commands have it, and the zeros between elements.
std::pair<Window2d, std::array<int64_t, 2>> commandWindow(const Convolution &conv) {
  Window2d window = conv.window;
  if (!conv.isTransposed)
    return {window, {0, 0}};
  window.stride = {1, 1};
  return {window, {conv.window.stride[0] - 1, conv.window.stride[1] - 1}};
}

/// The least factor by which elements of the image are taken apart so that a command can do the
/// rest of the stride; 0 where there is none.
int64_t strideFactor(int64_t stride) {
  for (int64_t factor = 1; factor <= stride; ++factor)
    if (stride % factor == 0 && stride / factor <= kMostStride)
      return factor;
  return 0;
}

/// Whether several commands share windows whose strides are too large, each of which sees every
/// few rows and columns of the image.
bool isShared(const Convolution &conv) {
  return !conv.isTransposed && !conv.isDepthwise() &&
         std::ranges::max(conv.window.stride) > kMostStride;
}

Expected<void> check(const std::string &where, const Convolution &conv) {
  if (Expected<void> fits = checkRegular(where, "output", conv.output); !fits)
    return fits;
  if (conv.group < 1 || conv.input.shape[1] % conv.group != 0 ||
      conv.output.shape[1] % conv.group != 0)
    return makeError(where, fmt::format("{} groups", conv.group), "a divisor of the channels");
  const auto &[window, insert] = commandWindow(conv);
  if (conv.isDepthwise() && conv.isTransposed)
    return makeError(where, "a transposed depthwise convolution");
  // The command finds elements where an aligned tensor has them.
  if (conv.isDepthwise() && !conv.input.liesAs(Layout::Aligned))
    return makeError(where, "a depthwise convolution of an input with gaps", "an aligned tensor");
  const int64_t inputs = conv.input.shape[1] / conv.group;
  if (inputs > kMostChannels && window.kernel != std::array<int64_t, 2>{1, 1})
    return makeError(where, fmt::format("{} input channels", inputs),
                     fmt::format("{} at most", kMostChannels));
  if (!isShared(conv))
    return checkWindow(where, window, conv.input.shape, conv.output.shape, insert);
  constexpr std::array<int64_t, 2> kOne{1, 1}, kNone{0, 0};
  if (window.dilation != kOne || window.padBegin != kNone || window.padEnd != kNone ||
      strideFactor(window.stride[0]) == 0 || strideFactor(window.stride[1]) == 0)
    return makeError(where, fmt::format("strides of {}", fmt::join(window.stride, "x")),
                     fmt::format("at most {}, or windows without padding or holes", kMostStride));
  return {};
}

void addDepthwise(Builder &builder, const Convolution &conv) {
  const int64_t taps = conv.window.kernel[0] * conv.window.kernel[1];
  for (int64_t c = 0; c < conv.output.shape[1]; c += kMostChannels) {
    const auto part = [&](const LocalTensor &tensor) {
      return tensor.shape[1] <= kMostChannels
                 ? tensor
                 : tensor.slice(1, c, std::min(kMostChannels, tensor.shape[1] - c));
    };
    const LocalTensor output = part(conv.output);
    Command command = windowCommand(builder, tiu::kPorD, sub::kDepthwise, output, part(conv.input),
                                    conv.window, {0, 0});
    const auto at = [&](uint32_t address, int64_t words) {
      return output.at(address + static_cast<uint32_t>(c / kLanes * words * 4)).commandAddress();
    };
    command.set(Field::Opd1Addr, at(conv.filterAddress, taps));
    if (conv.biasAddress)
      command.set(Field::OpdNum, 3).set(Field::Opd2Addr, at(*conv.biasAddress, 1));
    builder.add(command);
  }
}

/// Whether three input channels get a fourth one of zeros: commands of four take less than half
/// the time, and filters have a zero there anyway.
bool fillsUp(const Convolution &conv) {
  const LocalTensor &input = conv.input;
  return input.shape[1] == 3 && conv.group == 1 && input.startLane + 4 <= kLanes;
}

/// Each part of `command` that sees the elements of one phase, added up.
void addPhases(Builder &builder, const ConvCommand &command, int64_t inputs) {
  const std::array<int64_t, 2> factors = {strideFactor(command.window.stride[0]),
                                          strideFactor(command.window.stride[1])};
  ConvCommand part = command;
  part.filterWidth = command.window.kernel[1];
  part.tapStep = factors;
  for (int64_t y = 0; y < std::min(factors[0], command.window.kernel[0]); ++y)
    for (int64_t x = 0; x < std::min(factors[1], command.window.kernel[1]); ++x) {
      part.input = command.input;
      const std::array<int64_t, 2> first = {y, x};
      for (unsigned i = 0; i < 2; ++i) {
        part.window.stride[i] = command.window.stride[i] / factors[i];
        part.window.kernel[i] = ceilDiv(command.window.kernel[i] - first[i], factors[i]);
        part.input = part.input.every(i + 2, first[i], factors[i],
                                      ceilDiv(command.input.shape[i + 2] - first[i], factors[i]));
      }
      part.filter = command.filter +
                    static_cast<uint64_t>((y * part.filterWidth + x) * alignUp(inputs, 2) * 4);
      addConv(builder, part);
      part.accumulates = true;
      part.bias.reset();
    }
}

/// Group by group, as their channels lie in lanes of their own.
void addDense(Builder &builder, const Convolution &conv) {
  const auto &[window, insert] = commandWindow(conv);
  const int64_t ic = conv.input.shape[1] / conv.group, oc = conv.output.shape[1] / conv.group;
  const int64_t row = filterRow(ic, window.kernel[0] * window.kernel[1]);
  LocalTensor whole = conv.input;
  if (fillsUp(conv)) {
    // The bytes of the tensor belong to it in all lanes.
    whole.explicitStride = whole.strides();
    whole.layout = Layout::Explicit;
    whole.shape[1] = 4;
    addCopy(builder, whole.slice(1, 3, 1), number(0));
  }
  for (int64_t g = 0; g < conv.group; ++g) {
    ConvCommand command{.input = conv.group == 1 ? whole : conv.input.slice(1, g * ic, ic),
                        .output = conv.group == 1 ? conv.output : conv.output.slice(1, g * oc, oc),
                        .window = window,
                        .insert = insert,
                        .slotStride = row,
                        .isTurned = conv.isTransposed};
    // The first channel's row: its lane is that of the output.
    const int64_t slot = (conv.output.startLane + g * oc) / kLanes;
    command.filter = command.output.at(conv.filterAddress + static_cast<uint32_t>(slot * row * 4))
                         .commandAddress();
    if (conv.biasAddress)
      command.bias =
          command.output.at(*conv.biasAddress + static_cast<uint32_t>(slot * 4)).commandAddress();
    if (isShared(conv))
      addPhases(builder, command, ic);
    else
      addConv(builder, command);
  }
}

} // namespace

Expected<void> checkConvolution(const Convolution &conv) { return check("convolution", conv); }

Expected<void> emitConvolution(Builder &builder, const Convolution &conv) {
  if (Expected<void> fits = check(builder.layer(), conv); !fits)
    return fits;
  if (conv.isDepthwise())
    addDepthwise(builder, conv);
  else
    addDense(builder, conv);
  addActivation(builder, conv.output, conv.activation);
  return {};
}

void addBroadcast(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                  uint32_t ones, bool accumulates) {
  // The second word stands beside the channel that fills up the pair.
  LocalTensor filter = localTensor(DataType::F32, {1, kLanes, 1, 2}, ones, Layout::Compact);
  addCopy(builder, filter, number(1));
  filter.startLane = output.startLane;
  addConv(builder, {.input = input,
                    .output = output,
                    .filter = filter.commandAddress(),
                    .accumulates = accumulates});
}

namespace {

Expected<uint32_t> checkedScratch(const std::string &where, const MatrixProduct &product) {
  const Extents &left = product.left.shape, &right = product.right.shape,
                &out = product.output.shape;
  if (Expected<void> fits = checkRegular(where, "output", product.output); !fits)
    return propagate(fits);
  const bool fits =
      left[3] == right[1] && out[1] == left[1] && out[3] == right[3] && left[0] == 1 &&
      right[0] == 1 && out[0] == 1 && left[2] * right[2] == 1 &&
      product.left.startLane + product.right.startLane + product.output.startLane == 0 &&
      product.left.strides()[1] % 2 == 0 && product.left.address % 8 == 0;
  if (!fits)
    return makeError(where,
                     fmt::format("[{}] times [{}] to [{}]", fmt::join(left, ","),
                                 fmt::join(right, ","), fmt::join(out, ",")),
                     "[1,m,1,k] times [1,k,1,n] to [1,m,1,n] from lane 0");
  return product.bias ? kOnesBytes : 0;
}

} // namespace

Expected<uint32_t> matrixProductScratch(const MatrixProduct &product) {
  return checkedScratch("product", product);
}

Expected<void> emitMatrixProduct(Builder &builder, const MatrixProduct &product) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), product.scratch, checkedScratch(builder.layer(), product));
      !fits)
    return fits;
  addConv(builder, {.input = product.right,
                    .output = product.output,
                    .filter = product.left.commandAddress(),
                    .slotStride = product.left.strides()[1]});
  if (product.bias)
    addBroadcast(builder, product.output, *product.bias, product.scratch.address,
                 /*accumulates=*/true);
  addActivation(builder, product.output, product.activation);
  return {};
}

} // namespace tpuc::bm1684
