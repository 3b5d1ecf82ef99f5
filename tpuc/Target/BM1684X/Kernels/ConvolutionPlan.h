//===- ConvolutionPlan.h - Convolutions as commands see them -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_CONVOLUTIONPLAN_H
#define TPUC_TARGET_BM1684X_KERNELS_CONVOLUTIONPLAN_H

#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"

namespace tpuc::bm1684x {

/// A convolution as commands see it: in a deconvolution zeros are inserted, the kernel is turned
/// and steps are 1.
struct ConvolutionPlan {
  Window2d window;
  std::array<int64_t, 2> insert{0, 0};
  bool rotates = false;
  /// More than 1 where several commands share a large stride, each a phase of the filter.
  std::array<int64_t, 2> factors{1, 1};

  bool isShared() const { return factors[0] * factors[1] != 1; }
  /// The stride by which the filter is packed.
  const std::array<int64_t, 2> &packedStride() const { return window.stride; }
};
ConvolutionPlan convolutionPlan(const Window2d &window);
ConvolutionPlan deconvolutionPlan(const Window2d &window);

/// Errors unless the channels are multiples of the groups, n is equal, and commands can move the
/// window of the plan.
Expected<void> checkPlan(const std::string &where, const ConvolutionPlan &plan,
                         const LocalTensor &input, const LocalTensor &output, int64_t group,
                         bool isDepthwise);

/// Sets the input and window of `command`, whose output is set, for one phase of the filter.
void setPhase(ConvCommand &command, const ConvolutionPlan &plan, const LocalTensor &input,
              int64_t phase);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_CONVOLUTIONPLAN_H
