//===- TapDeconvolution.cpp - Deconvolutions without zeros-----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"
#include "tpuc/Target/BM1684X/Kernels/Room.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// The output elements along an axis that one tap makes, and the input elements that they are of.
struct TapRun {
  int64_t firstOutput = 0;
  int64_t firstInput = 0;
  int64_t count = 0;
};

/// The slice's first output element belongs to tap kernel - 1 - padBegin: with so many zeros before
/// it, the window that ends at the first input element is that of tap 0.
TapRun runOf(const Window2d &window, const LocalTensor &output, size_t axis, int64_t tap) {
  const int64_t stride = window.stride[axis];
  const int64_t firstTap = window.kernel[axis] - 1 - window.padBegin[axis];
  TapRun run;
  run.firstOutput = (tap - firstTap + stride) % stride;
  run.firstInput = (run.firstOutput + firstTap) / stride;
  run.count = ceilDiv(output.shape[axis + 2] - run.firstOutput, stride);
  return run;
}

LocalTensor everyNth(const LocalTensor &output, unsigned axis, const TapRun &run, int64_t stride) {
  LocalTensor part = output.slice(axis, run.firstOutput, 1);
  part.explicitStride = output.strides();
  part.explicitStride[axis] *= stride;
  part.layout = Layout::Explicit;
  part.shape[axis] = run.count;
  return part;
}

/// A tap, and what is of it.
struct TapPart {
  int64_t tap = 0;
  TapRun rows, columns;
  LocalTensor places;
  LocalTensor of(const LocalTensor &input) const {
    return input.slice(2, rows.firstInput, rows.count).slice(3, columns.firstInput, columns.count);
  }
};

std::vector<TapPart> tapParts(const Window2d &window, const LocalTensor &output) {
  std::vector<TapPart> parts;
  for (int64_t tap = 0; tap < window.kernel[0] * window.kernel[1]; ++tap) {
    TapPart part{tap, runOf(window, output, 0, tap / window.kernel[1]),
                 runOf(window, output, 1, tap % window.kernel[1]), output};
    if (part.rows.count < 1 || part.columns.count < 1)
      continue;
    part.places = everyNth(everyNth(output, 2, part.rows, window.stride[0]), 3, part.columns,
                           window.stride[1]);
    parts.push_back(part);
  }
  return parts;
}

template <typename Deconvolution>
Expected<void> checkTapShapes(const std::string &where, const Deconvolution &deconv) {
  const LocalTensor &in = deconv.input;
  const LocalTensor &out = deconv.output;
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return fits;
  if (in.shape[0] != out.shape[0])
    return makeError(
        where, fmt::format("[{}] to [{}]", fmt::join(in.shape, ","), fmt::join(out.shape, ",")),
        "equal n");
  if (!hasSingleTaps(deconv.window, deconv.group))
    return makeError(where,
                     fmt::format("kernel {} with stride {}", fmt::join(deconv.window.kernel, "x"),
                                 fmt::join(deconv.window.stride, "x")),
                     "equal ones, one group and no dilation");
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t pad = deconv.window.padBegin[axis];
    bool fits = pad >= 0 && pad < deconv.window.kernel[axis];
    for (int64_t tap = 0; fits && tap < deconv.window.kernel[axis]; ++tap) {
      TapRun run = runOf(deconv.window, out, axis, tap);
      fits = run.firstInput + run.count <= in.shape[axis + 2];
    }
    if (!fits)
      return makeError(where,
                       fmt::format("{} outputs of {} inputs after {} zeros", out.shape[axis + 2],
                                   in.shape[axis + 2], pad),
                       "a tap and an input for each output");
  }
  return {};
}

/// Whether taps are computed together, each as a channel.
template <typename Deconvolution> bool isTogether(const Deconvolution &deconv) {
  return tapsAreChannels(deconv.window, deconv.output.shape[1]);
}

/// The convolution of 1x1 that stands for a tap, or for all, with room for its result.
template <typename Deconvolution>
Deconvolution tapConvolution(const Deconvolution &deconv, int64_t channels, int64_t rows,
                             int64_t columns, Room &room) {
  const LocalTensor &out = deconv.output;
  Deconvolution conv = deconv;
  conv.window = Window2d();
  conv.output = room.take(out.type, {out.shape[0], channels, rows, columns}, out.startLane);
  return conv;
}

/// All taps over all inputs, each in a lane of its own.
template <typename Deconvolution> Deconvolution allTaps(const Deconvolution &deconv, Room &room) {
  const Extents &in = deconv.input.shape;
  return tapConvolution(deconv, deconv.window.kernel[0] * deconv.window.kernel[1], in[2], in[3],
                        room);
}

/// The largest part of one tap.
template <typename Deconvolution>
Deconvolution largestTap(const Deconvolution &deconv, Room &room) {
  const Extents &out = deconv.output.shape;
  Deconvolution conv = tapConvolution(deconv, out[1], ceilDiv(out[2], deconv.window.stride[0]),
                                      ceilDiv(out[3], deconv.window.stride[1]), room);
  conv.input.shape[2] = conv.output.shape[2];
  conv.input.shape[3] = conv.output.shape[3];
  conv.input.explicitStride = deconv.input.strides();
  conv.input.layout = Layout::Explicit;
  return conv;
}

template <auto scratch, typename Deconvolution>
Expected<uint32_t> tapScratch(const std::string &where, const Deconvolution &deconv) {
  if (Expected<void> fits = checkTapShapes(where, deconv); !fits)
    return propagate(fits);
  Room room;
  const bool together = isTogether(deconv);
  const Deconvolution conv = together ? allTaps(deconv, room) : largestTap(deconv, room);
  Expected<uint32_t> own = scratch(conv);
  if (!own)
    return own;
  if (together)
    room.take(conv.output.type,
              {conv.output.shape[0], 1, conv.output.shape[2], conv.output.shape[3]});
  return room.next + *own;
}

/// The rows and columns of each tap, from its own lane where it is in one.
template <auto emit, typename Deconvolution>
Expected<void> addTogether(Builder &builder, const Deconvolution &deconv) {
  Room room{deconv.scratch.address};
  Deconvolution conv = allTaps(deconv, room);
  const Extents &shape = conv.output.shape;
  const LocalTensor moved =
      room.take(conv.output.type, {shape[0], 1, shape[2], shape[3]}, conv.output.startLane);
  conv.scratch = {room.next, deconv.scratch.bytes - (room.next - deconv.scratch.address)};
  if (Expected<void> done = emit(builder, conv); !done)
    return done;
  for (const TapPart &part : tapParts(deconv.window, deconv.output)) {
    LocalTensor from = conv.output.slice(1, part.tap, 1);
    if (part.tap > 0) {
      addLaneBroadcast(builder, moved, from);
      from = moved;
    }
    addUnaryArith(builder, ArithOp::Copy, part.places, part.of(from));
  }
  return {};
}

template <auto emit, typename Deconvolution>
Expected<void> addOneByOne(Builder &builder, const Deconvolution &deconv, DataType filterType) {
  const LocalTensor &out = deconv.output;
  const Extents filterShape = {out.shape[1], deconv.input.shape[1], deconv.window.kernel[0],
                               deconv.window.kernel[1]};
  const LocalTensor filters = localTensor(filterType, tapFilterShape(filterType, filterShape),
                                          deconv.filterAddress, Layout::Compact, out.startLane);
  for (const TapPart &part : tapParts(deconv.window, out)) {
    Room room{deconv.scratch.address};
    Deconvolution conv =
        tapConvolution(deconv, out.shape[1], part.rows.count, part.columns.count, room);
    conv.input = part.of(deconv.input);
    conv.filterAddress = filters.slice(0, part.tap, 1).address;
    conv.scratch = {room.next, deconv.scratch.bytes - (room.next - deconv.scratch.address)};
    if (Expected<void> done = emit(builder, conv); !done)
      return done;
    addUnaryArith(builder, ArithOp::Copy, part.places, conv.output);
  }
  return {};
}

template <auto scratch, auto emit, typename Deconvolution>
Expected<void> emitTaps(Builder &builder, const Deconvolution &deconv, DataType filterType) {
  Expected<uint32_t> needed = tapScratch<scratch>(builder.layer(), deconv);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits = checkScratch(builder.layer(), deconv.scratch, *needed); !fits)
    return fits;
  return isTogether(deconv) ? addTogether<emit>(builder, deconv)
                            : addOneByOne<emit>(builder, deconv, filterType);
}

} // namespace

bool hasSingleTaps(const Window2d &window, int64_t group) {
  return window.kernel == window.stride && group == 1 &&
         window.dilation == std::array<int64_t, 2>{1, 1};
}

bool tapsAreChannels(const Window2d &window, int64_t outputs) {
  return outputs == 1 && window.kernel[0] * window.kernel[1] <= kLanes;
}

Expected<uint32_t> tapDeconvolutionScratch(const Convolution &deconv) {
  return tapScratch<convolutionScratch>("deconvolution", deconv);
}

Expected<void> emitTapDeconvolution(Builder &builder, const Convolution &deconv) {
  return emitTaps<convolutionScratch, emitConvolution>(builder, deconv, deconv.input.type);
}

/// A bias that takes up the zero point does so for all taps.
static Expected<void> checkZero(const std::string &where, const QuantizedConvolution &deconv) {
  if (deconv.inputZero == 0)
    return {};
  return makeError(where, fmt::format("an input of zero point {}", deconv.inputZero), "0");
}

Expected<uint32_t> quantizedTapDeconvolutionScratch(const QuantizedConvolution &deconv) {
  if (Expected<void> fits = checkZero("deconvolution", deconv); !fits)
    return propagate(fits);
  return tapScratch<quantizedConvolutionScratch>("deconvolution", deconv);
}

Expected<void> emitQuantizedTapDeconvolution(Builder &builder, const QuantizedConvolution &deconv) {
  if (Expected<void> fits = checkZero(builder.layer(), deconv); !fits)
    return fits;
  return emitTaps<quantizedConvolutionScratch, emitQuantizedConvolution>(builder, deconv,
                                                                         DataType::I8);
}

} // namespace tpuc::bm1684x
