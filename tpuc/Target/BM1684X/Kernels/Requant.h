//===- Requant.h - Commands from sums to quantized integers -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_REQUANT_H
#define TPUC_TARGET_BM1684X_KERNELS_REQUANT_H

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"

namespace tpuc::bm1684x {

/// Whether a type is I8 or U8.
inline bool isByte(DataType type) { return type == DataType::I8 || type == DataType::U8; }

/// Errors unless the tensor is Aligned, I8 or U8, with extents of at least 1.
Expected<void> checkByteTensor(const std::string &where, std::string_view name,
                               const LocalTensor &tensor);
/// Errors unless shift and zero point are what the command can hold.
Expected<void> checkRequantize(const std::string &where, const Requantize &requantize);

/// Whether sums are rounded twice: of I32 then.
inline bool isTwice(const Requantize &requantize) {
  return requantize.roundings == Roundings::Twice ||
         requantize.roundings == Roundings::TwiceAfterLeftShift;
}
/// output (8 bits) = sums (I16 or I32) requantized and cut off, both Aligned. `rounding` is that of
/// the only step. Sums that are rounded twice are overwritten.
void addRequantize(Builder &builder, const LocalTensor &output, const LocalTensor &sums,
                   const Requantize &requantize, Rounding rounding = Rounding::HalfUp);
/// The same with the requantization parameters of each channel at `parameters` (see packChannels).
void addRequantize(Builder &builder, const LocalTensor &output, const LocalTensor &sums,
                   uint32_t parameters, Rounding rounding = Rounding::HalfUp);
/// Cuts off in place.
void addCutOff(Builder &builder, const LocalTensor &tensor, std::optional<int32_t> lowest,
               std::optional<int32_t> highest);

/// One of the requantization parameters of each channel at `parameters`, as [1,channels,1,1].
LocalTensor channelWord(DataType type, int64_t channels, uint32_t parameters, int64_t word,
                        uint32_t startLane);
inline constexpr int64_t kScaleWord = 0;

/// output (floats, Aligned) = f32(sums) * factor, limited. `factor` is of F32 and has the shape of
/// the sums (see `repeated`), whose place is used for more.
void addDequantizeSums(Builder &builder, const LocalTensor &output, const LocalTensor &sums,
                       const Term &factor, const Activation &activation);

/// sums I32 = `row`, which broadcasts to them: what sums begin with.
void addInitialSums(Builder &builder, const LocalTensor &sums, const LocalTensor &row);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_REQUANT_H
