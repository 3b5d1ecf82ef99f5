//===- ConvCommand.h - The commands of convolutions -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_CONVCOMMAND_H
#define TPUC_TARGET_BM1684X_KERNELS_CONVCOMMAND_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

#include <vector>

namespace tpuc::bm1684x {

/// One CONV or depthwise PorD. Types say which: floats with sums in F32, or 8-bit integers with an
/// I32 output. All but `input` lie as the command wants them.
struct ConvCommand {
  LocalTensor input;
  LocalTensor output;
  LocalTensor filter;
  /// CONV of floats and PorD only.
  std::optional<LocalTensor> bias;
  Window2d window;
  std::array<int64_t, 2> insert{0, 0};
  bool rotates = false;
  /// Adds to what the output holds: not for PorD.
  bool accumulates = false;
  /// The bits of what lies around the image and between its elements; between them, depthwise
  /// integers have 0.
  uint32_t outside = 0;
  /// The same of each input channel, [1, channels, 1, 2] Compact: around the image, and between its
  /// elements. CONV only.
  std::optional<LocalTensor> outsides = {};
};

void addConv(Builder &builder, const ConvCommand &conv);
void addDepthwise(Builder &builder, const ConvCommand &conv);

/// One group of one batch, or all of both where there is one group only.
struct GroupPart {
  LocalTensor input;
  LocalTensor output;
  int64_t firstOutput = 0;
};
/// Channels of a group are not next to each other in n, so each n goes alone.
std::vector<GroupPart> groupParts(const LocalTensor &input, const LocalTensor &output,
                                  int64_t group);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_CONVCOMMAND_H
