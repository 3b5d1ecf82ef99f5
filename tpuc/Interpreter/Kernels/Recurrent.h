//===- Recurrent.h - Recurrent cells over sequences -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_RECURRENT_H
#define TPUC_INTERPRETER_KERNELS_RECURRENT_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <optional>
#include <string_view>
#include <vector>

namespace tpuc::kernels {

/// The activation functions of ONNX's recurrent operators.
enum class ActivationKind : uint8_t {
  Relu,
  Tanh,
  Sigmoid,
  Affine,
  LeakyRelu,
  ThresholdedRelu,
  ScaledTanh,
  HardSigmoid,
  Elu,
  Softsign,
  Softplus,
};

struct Activation {
  ActivationKind kind;
  double alpha = 0;
  double beta = 0;
};

/// The activations `names` (in any case) with their parameters, taken in order from `alphas` and
/// `betas` by those functions that have one; defaults where these have run out. None if a name is
/// unknown.
std::optional<std::vector<Activation>> parseActivations(const std::vector<std::string> &names,
                                                        const std::vector<double> &alphas,
                                                        const std::vector<double> &betas);

enum class CellKind : uint8_t { Rnn, Gru, Lstm };

struct RecurrentParams {
  CellKind kind = CellKind::Rnn;
  int64_t hidden = 0;
  bool batchFirst = false;
  /// Per direction: whether it runs from the end of each sequence.
  std::vector<bool> reversed;
  /// 1 (RNN), 2 (GRU: f g) or 3 (LSTM: f g h) for each direction.
  std::vector<Activation> activations;
  std::optional<double> clip;
  bool inputForget = false;
  bool linearBeforeReset = false;
};

/// Null where an optional one is left out. Layouts as ONNX states them.
struct RecurrentTensors {
  const Tensor *input, *filter, *recurrence, *bias, *sequenceLens, *initialH, *initialC, *peephole;
};
struct RecurrentResults {
  Tensor *y, *yH, *yC;
};

/// The equations of ONNX's RNN, GRU and LSTM. Shapes must fit, as shape inference checks. Beyond
/// the length of a sequence Y is 0 and the state stays. Errors: a sequence length outside of the
/// input.
Expected<void> runRecurrent(const RecurrentTensors &tensors, const RecurrentParams &params,
                            const RecurrentResults &results, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_RECURRENT_H
