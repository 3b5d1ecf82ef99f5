//===- Signal.h - Spectra of signals ----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_SIGNAL_H
#define TPUC_INTERPRETER_KERNELS_SIGNAL_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <vector>

namespace tpuc::kernels {

struct DftParams {
  size_t axis = 0;
  int64_t length = 0; ///< Elements of a transform; the input is cut, or filled with 0.
  bool isInverse = false;
  /// Forward: the output holds frequencies up to length / 2. Inverse: so does the input, and the
  /// output is real.
  bool isOnesided = false;
};
/// The op DFT: the last extent of `input` is 1 (real) or 2 (complex), that of `output` 2, or 1
/// where it is real. In f64, in the order of N times the sum of the prime factors of N operations.
void dft(const Tensor &input, const DftParams &params, Tensor &output, ThreadPool &threads);

/// The op STFT, `output` [B, F, bins, 2]: the transforms of `length` elements of `input` [B, S, 1
/// or 2] from every `step` on, multiplied with `window` (null: 1).
void stft(const Tensor &input, int64_t step, int64_t length, const Tensor *window, Tensor &output,
          ThreadPool &threads);

/// output[n] = sum over k of (-1)^k * coeff[k] * cos(2 pi k n / P), where P is the number of
/// elements, less 1 unless `isPeriodic`.
void cosineWindow(const std::vector<double> &coeff, bool isPeriodic, Tensor &output);

struct MelParams {
  int64_t length = 0;
  double rate = 0, lower = 0, upper = 0;
};
/// The op MelWeightMatrix, `output` [length / 2 + 1, bins]. Errors: a band beyond the spectrum, a
/// rate that is not positive.
Expected<void> melWeightMatrix(const MelParams &params, Tensor &output);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_SIGNAL_H
