//===- IntegerLstm.h - LSTM cells of integers --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LSTM cells whose products are of 8-bit integers, and whose gates and content have 16 bits: the
// arithmetic of LiteRT's integer LSTM (8x8 to 16 bits) and of gemmlowp's functions in fixed point.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERLSTM_H
#define TPUC_INTERPRETER_KERNELS_INTEGERLSTM_H

#include "tpuc/Support/Requant.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <vector>

namespace tpuc::kernels {

/// The sigmoid of `value` / 2^12, in units of 2^-15: gemmlowp's `logistic` of 16 bits.
int16_t fixedSigmoid(int16_t value);
/// The hyperbolic tangent of `value` / 2^(15 - integerBits), in units of 2^-15; `integerBits` is 0
/// to 6. gemmlowp's `tanh` of 16 bits.
int16_t fixedTanh(int16_t value, int integerBits);
/// 1 / sqrt(value) of an integer of 1 or more, as a factor for RequantMode::TFLite_LShift: five
/// steps of Newton's method with 28 fractional bits.
MultiplierShift fixedInverseRoot(int32_t value);

/// The scales of a cell; G gates: 4 in the order i f c o, or 3 without i, where i = 1 - f.
struct IntegerLstmParams {
  /// Whether the samples come first in input and output.
  bool batchFirst = false;
  int32_t inputZeroPoint = 0, hiddenZeroPoint = 0, outputZeroPoint = 0;
  /// Of sums over the input and over the last output, G of each, in units of a gate.
  std::vector<double> inputFactors, recurrentFactors;
  /// Of products with the content, one for each gate but c; empty without peepholes.
  std::vector<double> peepholeFactors;
  /// The scales of the coefficients of norms, G of them; empty without norms.
  std::vector<double> normScales;
  /// Of o * tanh(c) in units of the hidden state, and of its sums in those of the output.
  double hiddenFactor = 1, projectionFactor = 1;
  /// The content has so many bits (0 to 6) in front of the point, and 15 less that behind it.
  int contentBits = 0;
  /// 0 for none, in units of the content and of the output.
  int32_t contentLimit = 0, outputLimit = 0;
};

/// Shapes: input i8 [steps, samples, elements] (or the samples first), filter i8
/// [G * units, elements], recurrence i8 [G * units, outputs], bias i32 [G * units], peephole i16
/// [(G - 1) * units], norm i16 [G * units], projection i8 [outputs, units], its bias i32 [outputs].
struct IntegerLstmTensors {
  const Tensor &input, &filter, &recurrence, &bias;
  /// Null where there is none.
  const Tensor *peephole, *norm, *projection, *projectionBias;
};

/// All steps, from a content of 0 and outputs at their zero point: output i8, as the input with
/// `outputs` elements. As in LiteRT, peepholes are counted by outputs: of `n` samples of a step
/// (one where they come first), the first n * outputs cells have one, that of their place modulo
/// outputs; `outputs` <= units then.
void integerLstm(const IntegerLstmTensors &tensors, const IntegerLstmParams &params, Tensor &output,
                 ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERLSTM_H
