//===- PhaseDeconvolution.cpp - Deconvolutions without zeros --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// The output elements along an axis that are a stride apart and meet the same taps, and the input
/// elements that they are of: those that windows of `taps` reach, with zeros around them.
struct PhaseRun {
  int64_t firstOutput = 0, count = 0;
  int64_t firstInput = 0, inputs = 0;
  int64_t taps = 0, padBegin = 0, padEnd = 0;
};

/// With `before` elements of the whole output in front of the tile's first one that the first
/// input adds to, output o has the taps t for which o + before - t is a multiple of the stride, and
/// each meets the input (o + before - t) / stride.
PhaseRun runOf(const Window2d &window, const LocalTensor &input, const LocalTensor &output,
               size_t axis, int64_t phase) {
  const int64_t stride = window.stride[axis];
  const int64_t before = window.kernel[axis] - 1 - window.padBegin[axis];
  PhaseRun run;
  run.taps = ceilDiv(window.kernel[axis], stride);
  run.firstOutput = ((phase - before) % stride + stride) % stride;
  run.count = ceilDiv(output.shape[axis + 2] - run.firstOutput, stride);
  const int64_t last = (run.firstOutput + before - phase) / stride;
  const int64_t begin = last - run.taps + 1;
  const int64_t end = last + run.count;
  run.firstInput = std::max<int64_t>(begin, 0);
  run.inputs = std::min(end, input.shape[axis + 2]) - run.firstInput;
  run.padBegin = run.firstInput - begin;
  run.padEnd = end - run.firstInput - run.inputs;
  return run;
}

LocalTensor everyNth(const LocalTensor &output, unsigned axis, const PhaseRun &run,
                     int64_t stride) {
  LocalTensor part = output.slice(axis, run.firstOutput, 1);
  part.explicitStride = output.strides();
  part.explicitStride[axis] *= stride;
  part.layout = Layout::Explicit;
  part.shape[axis] = run.count;
  return part;
}

/// A phase, and what is of it.
struct PhasePart {
  int64_t phase = 0;
  PhaseRun rows, columns;
  LocalTensor places;
  LocalTensor of(const LocalTensor &input) const {
    return input.slice(2, rows.firstInput, rows.inputs)
        .slice(3, columns.firstInput, columns.inputs);
  }
};

template <typename Deconvolution> std::vector<PhasePart> phaseParts(const Deconvolution &deconv) {
  const auto &[strideH, strideW] = deconv.window.stride;
  const LocalTensor &out = deconv.output;
  std::vector<PhasePart> parts;
  for (int64_t phase = 0; phase < strideH * strideW; ++phase) {
    PhasePart part{phase, runOf(deconv.window, deconv.input, out, 0, phase / strideW),
                   runOf(deconv.window, deconv.input, out, 1, phase % strideW), out};
    if (part.rows.count < 1 || part.columns.count < 1)
      continue;
    part.places = everyNth(everyNth(out, 2, part.rows, strideH), 3, part.columns, strideW);
    parts.push_back(part);
  }
  return parts;
}

template <typename Deconvolution>
Expected<void> checkPhases(const std::string &where, const Deconvolution &deconv) {
  const LocalTensor &in = deconv.input;
  const LocalTensor &out = deconv.output;
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return fits;
  if (in.shape[0] != out.shape[0])
    return makeError(
        where, fmt::format("[{}] to [{}]", fmt::join(in.shape, ","), fmt::join(out.shape, ",")),
        "equal n");
  if (!hasPhases(deconv.window, deconv.group))
    return makeError(where,
                     fmt::format("kernel {} with stride {}", fmt::join(deconv.window.kernel, "x"),
                                 fmt::join(deconv.window.stride, "x")),
                     "a kernel as large as the stride, one group and no dilation");
  for (const PhasePart &part : phaseParts(deconv))
    for (auto [axis, run] : {std::pair(2, &part.rows), std::pair(3, &part.columns)})
      if (run->inputs < 1 || run->padBegin >= run->taps || run->padEnd >= run->taps)
        return makeError(where,
                         fmt::format("{} outputs of {} inputs after {} zeros", out.shape[axis],
                                     in.shape[axis], deconv.window.padBegin[axis - 2]),
                         "a tap and an input for each output");
  return {};
}

/// Whether all phases are computed together, each as a channel.
template <typename Deconvolution> bool isTogether(const Deconvolution &deconv) {
  return tapsAreChannels(deconv.window, deconv.output.shape[1]);
}

/// The deconvolution of stride 1 that stands for a phase, or for all, with space for its result.
template <typename Deconvolution>
Deconvolution withoutStride(const Deconvolution &deconv, int64_t channels, int64_t rows,
                            int64_t columns, ScratchAllocator &space) {
  const LocalTensor &out = deconv.output;
  Deconvolution made = deconv;
  made.window = Window2d();
  made.output = space.take(out.type, {out.shape[0], channels, rows, columns}, out.startLane);
  return made;
}

/// All taps over all inputs, each in a lane of its own.
template <typename Deconvolution>
Deconvolution allTaps(const Deconvolution &deconv, ScratchAllocator &space) {
  const Extents &in = deconv.input.shape;
  return withoutStride(deconv, deconv.window.kernel[0] * deconv.window.kernel[1], in[2], in[3],
                       space);
}

void setBias(Convolution & /*deconv*/, int64_t /*phase*/) {}

/// What takes up the zero point is another bias for each phase.
void setBias(QuantizedConvolution &deconv, int64_t phase) {
  if (deconv.inputZero != 0)
    deconv.biasWord += phase;
}

/// The taps of one phase over the inputs that they meet.
template <typename Deconvolution>
Deconvolution onePhase(const Deconvolution &deconv, const PhasePart &part,
                       ScratchAllocator &space) {
  Deconvolution made =
      withoutStride(deconv, deconv.output.shape[1], part.rows.count, part.columns.count, space);
  made.input = part.of(deconv.input);
  made.window.kernel = {part.rows.taps, part.columns.taps};
  made.window.padBegin = {part.rows.padBegin, part.columns.padBegin};
  made.window.padEnd = {part.rows.padEnd, part.columns.padEnd};
  setBias(made, part.phase);
  return made;
}

template <auto scratch, typename Deconvolution>
Expected<uint32_t> togetherScratch(const Deconvolution &deconv) {
  ScratchAllocator space;
  const Deconvolution conv = allTaps(deconv, space);
  const Extents &shape = conv.output.shape;
  space.take(conv.output.type, {shape[0], 1, shape[2], shape[3]});
  Expected<uint32_t> own = scratch(conv);
  if (!own)
    return own;
  return space.next + *own;
}

template <auto scratch, typename Deconvolution>
Expected<uint32_t> phaseScratch(const std::string &where, const Deconvolution &deconv) {
  if (Expected<void> fits = checkPhases(where, deconv); !fits)
    return propagate(fits);
  if (isTogether(deconv))
    return togetherScratch<scratch>(deconv);
  uint32_t most = 0;
  for (const PhasePart &part : phaseParts(deconv)) {
    ScratchAllocator space;
    Expected<uint32_t> own = scratch(onePhase(deconv, part, space));
    if (!own)
      return own;
    most = std::max(most, space.next + *own);
  }
  return most;
}

/// The rows and columns of each tap, from its own lane where it is in one.
template <auto emit, typename Deconvolution>
Expected<void> addTogether(Builder &builder, const Deconvolution &deconv) {
  ScratchAllocator space{deconv.scratch.address};
  Deconvolution conv = allTaps(deconv, space);
  const Extents &shape = conv.output.shape;
  const LocalTensor moved =
      space.take(conv.output.type, {shape[0], 1, shape[2], shape[3]}, conv.output.startLane);
  conv.scratch = {space.next, deconv.scratch.bytes - (space.next - deconv.scratch.address)};
  if (Expected<void> done = emit(builder, conv); !done)
    return done;
  for (const PhasePart &part : phaseParts(deconv)) {
    LocalTensor from = conv.output.slice(1, part.phase, 1);
    if (part.phase > 0) {
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
  const LocalTensor filters =
      localTensor(filterType, phaseFilterShape(filterType, filterShape, deconv.window.stride),
                  deconv.filterAddress, Layout::Compact, out.startLane);
  for (const PhasePart &part : phaseParts(deconv)) {
    ScratchAllocator space{deconv.scratch.address};
    Deconvolution conv = onePhase(deconv, part, space);
    conv.filterAddress = filters.slice(0, part.phase, 1).address;
    conv.scratch = {space.next, deconv.scratch.bytes - (space.next - deconv.scratch.address)};
    if (Expected<void> done = emit(builder, conv); !done)
      return done;
    addUnaryArith(builder, ArithOp::Copy, part.places, conv.output);
  }
  return {};
}

template <auto scratch, auto emit, typename Deconvolution>
Expected<void> emitPhases(Builder &builder, const Deconvolution &deconv, DataType filterType) {
  Expected<uint32_t> needed = phaseScratch<scratch>(builder.layer(), deconv);
  if (Expected<void> fits = checkScratch(builder.layer(), deconv.scratch, needed); !fits)
    return fits;
  return isTogether(deconv) ? addTogether<emit>(builder, deconv)
                            : addOneByOne<emit>(builder, deconv, filterType);
}

} // namespace

bool hasPhases(const Window2d &window, int64_t group) {
  const auto &[strideH, strideW] = window.stride;
  return strideH * strideW > 1 && window.kernel[0] >= strideH && window.kernel[1] >= strideW &&
         group == 1 && window.dilation == std::array<int64_t, 2>{1, 1};
}

bool tapsAreChannels(const Window2d &window, int64_t outputs) {
  return outputs == 1 && window.kernel == window.stride &&
         window.kernel[0] * window.kernel[1] <= kLanes;
}

Expected<uint32_t> phaseDeconvolutionScratch(const Convolution &deconv) {
  return phaseScratch<deconvolutionScratch>("deconvolution", deconv);
}

Expected<void> emitPhaseDeconvolution(Builder &builder, const Convolution &deconv) {
  return emitPhases<deconvolutionScratch, emitDeconvolution>(builder, deconv, deconv.input.type);
}

/// Biases of phases have as many words as a line has left.
static Expected<void> checkBiases(const std::string &where, const QuantizedConvolution &deconv) {
  const int64_t phases = deconv.window.stride[0] * deconv.window.stride[1];
  const int64_t most = mostPhaseBiases(deconv.roundings);
  if (deconv.inputZero == 0 || phases <= most)
    return {};
  return makeError(where,
                   fmt::format("{} phases of an input of zero point {}", phases, deconv.inputZero),
                   fmt::format("at most {}, or 0", most));
}

Expected<uint32_t> quantizedPhaseDeconvolutionScratch(const QuantizedConvolution &deconv) {
  if (Expected<void> fits = checkBiases("deconvolution", deconv); !fits)
    return propagate(fits);
  return phaseScratch<quantizedDeconvolutionScratch>("deconvolution", deconv);
}

Expected<void> emitQuantizedPhaseDeconvolution(Builder &builder,
                                               const QuantizedConvolution &deconv) {
  if (Expected<void> fits = checkBiases(builder.layer(), deconv); !fits)
    return fits;
  return emitPhases<quantizedDeconvolutionScratch, emitQuantizedDeconvolution>(builder, deconv,
                                                                               DataType::I8);
}

} // namespace tpuc::bm1684x
