//===- Depthwise.h - Depthwise convolutions of floats -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_DEPTHWISE_H
#define TPUC_TARGET_BM1684X_KERNELS_DEPTHWISE_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/Kernels/ConvolutionPlan.h"

namespace tpuc::bm1684x {

/// What `Convolution` says of depthwise ones, which `conv` is. The work is done piece by piece.
///
/// The command rounds each product and each sum to the type of its input, so those of 16 bits and
/// several taps are computed in F32 (depthwiseBiasType). Strides in both directions take it three
/// times as long: rows that are two apart are then brought together, and even and odd rows of the
/// kernel are two convolutions of stride 1 along h, whose sums are added.
uint32_t depthwiseScratch(const Convolution &conv, const ConvolutionPlan &plan);
void addDepthwiseLayer(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_DEPTHWISE_H
