//===- FixedPoint.h - Ops on integers with a scale, in fixed point -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What networks compute that a source has quantized: r = scale * (q - zeroPoint), and a number is
// multiplied by a multiplier of 31 bits and rounded twice (RequantMode::TFLite_LShift). Tensors are
// i8, u8 or i16.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_FIXEDPOINT_H
#define TPUC_INTERPRETER_KERNELS_FIXEDPOINT_H

#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Support/Quantize.h"
#include "tpuc/Support/Requant.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// `scale` (0 or more) as a multiplier of 31 bits for RequantMode::TFLite_LShift; 0 where it is
/// less than 2^-32.
MultiplierShift fixedPoint(double scale);

/// The factor of products of integers in units of `left` and `right` in units of `output`, as
/// fixedMul has it: computed in f32.
MultiplierShift productFactor(double left, double right, double output);
/// `scale` / `count` (1 or more) as the factor of a sum of so many, as fixedSum has it.
MultiplierShift meanFactor(double scale, int64_t count);
/// The factor with which an average of `count` integers (1 to 2^20) of 8 bits, which is rounded
/// once and half away from zero, is that of fixedAveragePool: the least multiplier of 31 bits that
/// is not below 1 / count, so that ties stay ties or lie beyond.
MultiplierShift averageFactor(int64_t count);

/// The mode in which such multipliers scale, those that shift to the left or others.
RequantMode fixedPointMode(bool shiftsLeft);

/// One operand of an element-wise op: integers of any type, less their zero point in units of
/// `scale`.
struct FixedOperand {
  const Tensor &integers;
  QuantParams params;
};

/// What results are stored as, and where they are cut off.
struct FixedResult {
  QuantParams params;
  IntegerRange range;
};

/// left + right, or left - right, broadcast. Both are shifted left by 20 bits (15 for i16), scaled
/// to twice the larger of their scales, added, and scaled to that of the output.
void fixedAdd(const FixedOperand &left, const FixedOperand &right, bool subtracts,
              const FixedResult &result, Tensor &output, ThreadPool &threads);
/// The unit of what fixedDifference makes of integers in units of `left` and `right`: twice the
/// larger scale / 2^7.
double differenceUnit(double left, double right);
/// left - right of integers of 8 bits, broadcast, as LiteRT's SQUARED_DIFFERENCE has it: both are
/// shifted left by 7 bits, scaled to twice the larger scale, and subtracted. `output` holds i16.
void fixedDifference(const FixedOperand &left, const FixedOperand &right, Tensor &output,
                     ThreadPool &threads);
/// The squares of i16 `differences` in units of `unit`: each is scaled once, by a factor in f64.
void fixedSquare(const Tensor &differences, double unit, const FixedResult &result, Tensor &output,
                 ThreadPool &threads);
/// left * right, broadcast: the product is scaled once. The factor is computed in f32.
void fixedMul(const FixedOperand &left, const FixedOperand &right, const FixedResult &result,
              Tensor &output, ThreadPool &threads);

/// left / right, broadcast. The reciprocal of the right side has 31 bits, by three steps of
/// Newton's method; the product is rounded there, scaled, and rounded again. What is divided by 0
/// is the largest or least integer, 0 / 0 is 0. Quotients below half of an integer are 0.
void fixedDiv(const FixedOperand &left, const FixedOperand &right, const FixedResult &result,
              Tensor &output, ThreadPool &threads);

/// The root of numbers of 0 or more (others count as 0), in f32, cut off towards the zero point.
void fixedSqrt(const FixedOperand &input, const FixedResult &result, Tensor &output,
               ThreadPool &threads);

/// Numbers below 0 times alpha, others as they are: each sign has a multiplier of its own, computed
/// in f32.
void fixedLeakyRelu(const FixedOperand &input, double alpha, const FixedResult &result,
                    Tensor &output, ThreadPool &threads);

/// Numbers below 0 times the slope, which is broadcast, others as they are: each sign has a
/// multiplier of its own.
void fixedPRelu(const FixedOperand &input, const FixedOperand &slope, const FixedResult &result,
                Tensor &output, ThreadPool &threads);

/// x * min(max(x + 3, 0), 6) / 6 of 8-bit integers, in 16 bits: x by 2^7 and by the output's scale,
/// the other factor in units of 3 / 2^15, their product cut off. Multipliers have 16 bits.
void fixedHardSwish(const FixedOperand &input, const FixedResult &result, Tensor &output,
                    ThreadPool &threads);

/// The integers' own average over the elements of a window that lie inside of the input, ties away
/// from zero. Input [N, C, spatial...] of 1 to 3 spatial dimensions and output have one scale.
void fixedAveragePool(const Tensor &input, const WindowParams &window, const FixedResult &result,
                      Tensor &output, ThreadPool &threads);

/// The sum over the dimensions `axes` (0 to rank - 1, each at most once), or the mean, whose count
/// is a part of the multiplier. Sums beyond 32 bits, which LiteRT lets wrap around, are rounded
/// once.
void fixedSum(const FixedOperand &input, std::span<const int64_t> axes, bool isMean,
              const FixedResult &result, Tensor &output);

/// The product over the dimensions `axes`, as fixedSum takes them. Each of the `count` integers of
/// a product is followed by a factor of scale / outputScale^(1 / count): of 15 bits and rounded
/// once but behind the last, which is as in fixedMul.
void fixedProd(const FixedOperand &input, std::span<const int64_t> axes, const FixedResult &result,
               Tensor &output);

/// Softmax of beta * input along `axis`, from a table of e^x in f32; sums and products in f32.
void fixedSoftmax(const FixedOperand &input, int64_t axis, double beta, const FixedResult &result,
                  Tensor &output, ThreadPool &threads);

/// How positions of a resized tensor become those of its input.
enum class FixedResize : uint8_t { Asymmetric, AlignCorners, HalfPixel };
/// Where one position of a resized dimension reads: from `low` and `high`, the latter with `weight`
/// / 2^10. They are one element at the ends, where the weight may be anything.
struct FixedTap {
  int64_t low, high;
  int32_t weight;
};
/// Those of all positions, from `from` to `to` elements (both 1 or more).
std::vector<FixedTap> fixedTaps(int64_t from, int64_t to, FixedResize how);
/// Bilinear interpolation of the last two dimensions of a tensor [..., H, W] to those of the
/// output, of one scale. Positions have 10 fractional bits, and the sum of the four products is
/// rounded once, ties away from zero. For u8, all of that is in f32, ties up.
void fixedResize(const Tensor &input, FixedResize how, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_FIXEDPOINT_H
