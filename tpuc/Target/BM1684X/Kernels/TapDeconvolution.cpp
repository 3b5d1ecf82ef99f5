//===- TapDeconvolution.cpp - Deconvolutions without zeros-----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"
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
TapRun runOf(const Convolution &deconv, size_t axis, int64_t tap) {
  const int64_t stride = deconv.window.stride[axis];
  const int64_t firstTap = deconv.window.kernel[axis] - 1 - deconv.window.padBegin[axis];
  TapRun run;
  run.firstOutput = (tap - firstTap + stride) % stride;
  run.firstInput = (run.firstOutput + firstTap) / stride;
  run.count = ceilDiv(deconv.output.shape[axis + 2] - run.firstOutput, stride);
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

Extents largestPart(const Convolution &deconv) {
  const Extents &out = deconv.output.shape;
  return {out[0], out[1], ceilDiv(out[2], deconv.window.stride[0]),
          ceilDiv(out[3], deconv.window.stride[1])};
}

Expected<uint32_t> checkedTapScratch(const std::string &where, const Convolution &deconv) {
  const LocalTensor &in = deconv.input;
  const LocalTensor &out = deconv.output;
  for (const auto &[name, tensor] : {std::pair{"input", &in}, std::pair{"output", &out}})
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return propagate(fits);
  if (in.type != out.type || in.shape[0] != out.shape[0])
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","),
                                 dataTypeName(in.type), fmt::join(out.shape, ","),
                                 dataTypeName(out.type)),
                     "equal types and n");
  if (!hasSingleTaps(deconv))
    return makeError(where,
                     fmt::format("kernel {} with stride {}", fmt::join(deconv.window.kernel, "x"),
                                 fmt::join(deconv.window.stride, "x")),
                     "equal ones, one group and no dilation");
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t pad = deconv.window.padBegin[axis];
    bool fits = pad >= 0 && pad < deconv.window.kernel[axis];
    for (int64_t tap = 0; fits && tap < deconv.window.kernel[axis]; ++tap) {
      TapRun run = runOf(deconv, axis, tap);
      fits = run.firstInput + run.count <= in.shape[axis + 2];
    }
    if (!fits)
      return makeError(where,
                       fmt::format("{} outputs of {} inputs after {} zeros", out.shape[axis + 2],
                                   in.shape[axis + 2], pad),
                       "a tap and an input for each output");
  }
  return laneBytes(out.type, largestPart(deconv), Layout::Aligned, out.startLane);
}

} // namespace

bool hasSingleTaps(const Convolution &deconv) {
  return deconv.window.kernel == deconv.window.stride && deconv.group == 1 &&
         deconv.window.dilation == std::array<int64_t, 2>{1, 1};
}

Expected<uint32_t> tapDeconvolutionScratch(const Convolution &deconv) {
  return checkedTapScratch("deconvolution", deconv);
}

Expected<void> emitTapDeconvolution(Builder &builder, const Convolution &deconv) {
  Expected<uint32_t> needed = checkedTapScratch(builder.layer(), deconv);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits = checkScratch(builder.layer(), deconv.scratch, *needed); !fits)
    return fits;
  const LocalTensor &out = deconv.output;
  const auto &[strideH, strideW] = deconv.window.stride;
  const Extents filterShape = {out.shape[1], deconv.input.shape[1], strideH, strideW};
  LocalTensor filters =
      localTensor(deconv.input.type, tapFilterShape(deconv.input.type, filterShape),
                  deconv.filterAddress, Layout::Compact, out.startLane);
  for (int64_t tap = 0; tap < strideH * strideW; ++tap) {
    TapRun rows = runOf(deconv, 0, tap / strideW);
    TapRun columns = runOf(deconv, 1, tap % strideW);
    if (rows.count < 1 || columns.count < 1)
      continue;
    ConvCommand command;
    command.input = deconv.input.slice(2, rows.firstInput, rows.count)
                        .slice(3, columns.firstInput, columns.count);
    command.output = localTensor(out.type, {out.shape[0], out.shape[1], rows.count, columns.count},
                                 deconv.scratch.address, Layout::Aligned, out.startLane);
    command.filter = filters.slice(0, tap, 1);
    if (deconv.biasAddress)
      command.bias = localTensor(DataType::F32, {1, out.shape[1], 1, 1}, *deconv.biasAddress,
                                 Layout::Compact, out.startLane);
    addConv(builder, command);
    addActivation(builder, command.output, deconv.activation);
    LocalTensor places = everyNth(everyNth(out, 2, rows, strideH), 3, columns, strideW);
    addUnaryArith(builder, ArithOp::Copy, places, command.output);
  }
  return {};
}

} // namespace tpuc::bm1684x
