//===- Functions.h - Functions of BF16 by tables -------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lookup takes the low byte of a BF16: the lowest bit of the exponent and the significand. Where
// a number has been added whose steps are wide, that byte counts them; so all indices come from
// sums, and need no transfer. Inputs are finite. Errors of all inputs stand in docs/cv18xx.md.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_FUNCTIONS_H
#define TPUC_TARGET_CV18XX_KERNELS_FUNCTIONS_H

#include "tpuc/Target/CV18xx/Kernels/LocalTensor.h"

namespace tpuc::cv18xx {

/// An entry for each low byte of a BF16, as bits.
using Table = std::array<uint16_t, 256>;

/// The bits of the BF16 next to a number.
uint16_t bf16Bits(double number);

/// What a function works on: tensors of one shape of BF16, which do not overlap, and bytes of each
/// lane from `scratch` on (`functionScratch`).
struct FunctionOperands {
  LocalTensor result, input;
  uint32_t scratch = 0;
  /// Where the tables of a curve are already (`loadCurveTables`).
  std::optional<uint32_t> tables = std::nullopt;
};
/// Enough for each function below.
uint32_t functionScratch(const Chip &chip, const Extents &shape);

// Errors (without `where`): what the chip refuses.

/// Functions that are smooth beside their input or a factor of it.
/// `Elu` is e^x - 1 and `Softplus` ln(1 + e^x), both for x <= 0.
enum class Curve : uint8_t { Sigmoid, SiLU, GELU, TanhGELU, Mish, Tanh, Erf, Elu, Softplus };

/// Pieces whose middles are a step apart, each with its value and slope: T[i] + S[i] x, or T[i] +
/// S[i] (x - x[i] + 1/4); times x where the function is close to 0 with it.
Expected<void> emitCurve(Builder &builder, Curve curve, const FunctionOperands &operands);
/// Brings the tables of a curve to all lanes, for several `emitCurve`.
Expected<void> loadCurveTables(Builder &builder, Curve curve, uint32_t address);
/// What these take in each lane.
uint32_t curveTableBytes();
/// What a curve needs of `functionScratch`, its tables too.
uint32_t curveScratch(const Chip &chip, Curve curve, const Extents &shape);

/// x^-1, x^(1/2), x^(-1/2): the product of what the upper and the lower byte of x stand for.
/// Numbers below 2^-125 are 0, whose reciprocals are the largest number.
enum class Power : uint8_t { Reciprocal, Root, ReciprocalRoot };
Expected<void> emitPower(Builder &builder, Power power, const FunctionOperands &operands);
/// The same, and in `rest` what the result has lost by rounding.
Expected<void> emitPowerWithRest(Builder &builder, Power power, const FunctionOperands &operands,
                                 const LocalTensor &rest);

/// e^x = 2^k e^m (1 + d): k a multiple of 4, m one of 1/32, d the rest. Below -86 and above 88.5
/// the results are those of these. The result may not overlap the scratch or be the input.
Expected<void> emitExponential(Builder &builder, const FunctionOperands &operands);

/// ln x = k ln 2 + ln m with m from 1/2 to 2; of 0 a large negative number.
Expected<void> emitLogarithm(Builder &builder, const FunctionOperands &operands);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_FUNCTIONS_H
