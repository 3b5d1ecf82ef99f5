//===- Windows.cpp - Windows of convolutions and pools---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Windows.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

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
    int64_t padded = (input[axis + 2] - 1) * (insert[axis] + 1) + 1 + window.padBegin[axis] +
                     window.padEnd[axis];
    int64_t covered = (output[axis + 2] - 1) * window.stride[axis] +
                      (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    if (covered > padded)
      return makeError(where,
                       fmt::format("windows that cover {} of {} {}", covered, padded,
                                   axis == 0 ? "rows" : "columns"),
                       "windows inside of the padded image");
  }
  return {};
}

void setWindow(Builder &builder, Command &command, const Window2d &window, const Extents &input,
               const std::array<int64_t, 2> &insert) {
  setFields(builder, command,
            {{Field::Opd0H, input[2]},
             {Field::Opd0W, input[3]},
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
}

void addActivation(Builder &builder, const LocalTensor &tensor, const Activation &activation) {
  if (!activation.relu)
    return;
  addArith(builder, ArithOp::Max, tensor, tensor, immediate(tensor.type, 0));
  if (activation.limit >= 0)
    addArith(builder, ArithOp::Min, tensor, tensor, immediate(tensor.type, activation.limit));
}

Expected<void> checkFloatTensor(const std::string &where, std::string_view name,
                                const LocalTensor &tensor) {
  if (!isKernelFloat(tensor.type))
    return makeError(where, fmt::format("{} of {}", name, dataTypeName(tensor.type)),
                     "f32, f16 or bf16");
  for (int64_t extent : tensor.shape)
    if (extent < 1)
      return makeError(where, fmt::format("{} [{}]", name, fmt::join(tensor.shape, ",")),
                       "extents of at least 1");
  return {};
}

Expected<void> checkLayout(const std::string &where, std::string_view name,
                           const LocalTensor &tensor, Layout layout) {
  if (!tensor.liesAs(layout))
    return makeError(where, fmt::format("{} with gaps", name),
                     layout == Layout::Aligned ? "an aligned tensor" : "a compact tensor");
  return {};
}

Expected<void> checkTerms(const std::string &where, std::string_view what, int64_t count) {
  constexpr int64_t kMost = 65535;
  if (count > kMost)
    return makeError(where, fmt::format("{} {}", count, what), fmt::format("at most {}", kMost));
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

} // namespace tpuc::bm1684x
