//===- Windows.h - Windows of convolutions and pools ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_WINDOWS_H
#define TPUC_TARGET_BM1684X_KERNELS_WINDOWS_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

namespace tpuc::bm1684x {

/// What a window's fields can hold.
inline constexpr int64_t kMostStride = 15, kMostPad = 15, kMostDilation = 16, kMostInsert = 15;

/// Whether a command can move `window` over `input` (after inserting zeros) to give `output`'s h
/// and w. Errors name `where`.
Expected<void> checkWindow(const std::string &where, const Window2d &window, const Extents &input,
                           const Extents &output, const std::array<int64_t, 2> &insert = {0, 0});

/// Sets the fields that CONV and PorD share; the window has passed `checkWindow`.
void setWindow(Builder &builder, Command &command, const Window2d &window, const Extents &input,
               const std::array<int64_t, 2> &insert = {0, 0});

/// The activation in place.
void addActivation(Builder &builder, const LocalTensor &tensor, const Activation &activation);

/// Whether a type is one of the three that floating-point kernels compute with.
inline bool isKernelFloat(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

/// Errors unless all extents are at least 1 and the type is a kernel's float.
Expected<void> checkFloatTensor(const std::string &where, std::string_view name,
                                const LocalTensor &tensor);
/// Errors unless the tensor is as regular as `layout`.
Expected<void> checkLayout(const std::string &where, std::string_view name,
                           const LocalTensor &tensor, Layout layout);
/// Errors unless a command's field can hold the number of terms of a sum: `count` of `what`.
Expected<void> checkTerms(const std::string &where, std::string_view what, int64_t count);
/// Errors unless it is known how many bytes are needed, and the scratch has them.
Expected<void> checkScratch(const std::string &where, const Scratch &scratch,
                            const Expected<uint32_t> &needed);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_WINDOWS_H
