//===- WidePads.h - Convolutions with wide pads ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_WIDEPADS_H
#define TPUC_TARGET_BM1684X_KERNELS_WIDEPADS_H

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

namespace tpuc::bm1684x {

/// Whether commands cannot add what is around an image: it has more rows or columns than they can
/// state, or there is nothing else for the windows of `output` to see.
bool hasWidePads(const Window2d &window, const Extents &output);

/// The place of an image with what `window` adds around it, Aligned, at the beginning of `scratch`.
/// It ends where the windows of `output` do.
LocalTensor paddedPlace(const LocalTensor &image, const Window2d &window, const Extents &output,
                        const Scratch &scratch);

/// Writes `image` to `padded` (`paddedPlace`), and `outside` around it.
void addPadded(Builder &builder, const LocalTensor &padded, const LocalTensor &image,
               const Window2d &window, double outside);

/// The convolution of what `addPadded` makes, whose window adds nothing. `Conv`: Convolution or
/// QuantizedConvolution, with wide pads.
template <typename Conv> Conv ofPadded(Conv conv) {
  conv.input = paddedPlace(conv.input, conv.window, conv.output.shape, conv.scratch);
  conv.window.padBegin = conv.window.padEnd = {0, 0};
  const uint32_t own =
      laneBytes(conv.input.type, conv.input.shape, Layout::Aligned, conv.input.startLane);
  conv.scratch.address += own;
  conv.scratch.bytes -= std::min(own, conv.scratch.bytes);
  return conv;
}

/// Bytes of scratch for such a convolution: its copy of the image, and what `scratch` says of it.
template <auto scratch, typename Conv> Expected<uint32_t> scratchOfPadded(const Conv &conv) {
  const Conv inner = ofPadded(conv);
  const Expected<uint32_t> needed = scratch(inner);
  return needed ? Expected<uint32_t>(inner.scratch.address - conv.scratch.address + *needed)
                : needed;
}

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_WIDEPADS_H
