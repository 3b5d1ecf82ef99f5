//===- Recurrent.cpp - Recurrent cells over sequences ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Recurrent.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/Gemm.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

struct KnownActivation {
  std::string_view name;
  ActivationKind kind;
  std::optional<double> alpha, beta;
};

constexpr KnownActivation kActivations[] = {
    {"relu", ActivationKind::Relu, {}, {}},
    {"tanh", ActivationKind::Tanh, {}, {}},
    {"sigmoid", ActivationKind::Sigmoid, {}, {}},
    {"affine", ActivationKind::Affine, 1.0, 0.0},
    {"leakyrelu", ActivationKind::LeakyRelu, 0.01, {}},
    {"thresholdedrelu", ActivationKind::ThresholdedRelu, 1.0, {}},
    {"scaledtanh", ActivationKind::ScaledTanh, 1.0, 1.0},
    {"hardsigmoid", ActivationKind::HardSigmoid, 0.2, 0.5},
    {"elu", ActivationKind::Elu, 1.0, {}},
    {"softsign", ActivationKind::Softsign, {}, {}},
    {"softplus", ActivationKind::Softplus, {}, {}}};

template <typename T> T activate(const Activation &activation, T x) {
  auto alpha = static_cast<T>(activation.alpha);
  auto beta = static_cast<T>(activation.beta);
  switch (activation.kind) {
  case ActivationKind::Relu:
    return std::max(x, T(0));
  case ActivationKind::Tanh:
    return std::tanh(x);
  case ActivationKind::Sigmoid:
    return T(1) / (T(1) + std::exp(-x));
  case ActivationKind::Affine:
    return alpha * x + beta;
  case ActivationKind::LeakyRelu:
    return x >= 0 ? x : alpha * x;
  case ActivationKind::ThresholdedRelu:
    return x > alpha ? x : T(0);
  case ActivationKind::ScaledTanh:
    return alpha * std::tanh(beta * x);
  case ActivationKind::HardSigmoid:
    return std::clamp(alpha * x + beta, T(0), T(1));
  case ActivationKind::Elu:
    return x >= 0 ? x : alpha * std::expm1(x);
  case ActivationKind::Softsign:
    return x / (T(1) + std::abs(x));
  case ActivationKind::Softplus:
    return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

int64_t gatesOf(CellKind kind) {
  return kind == CellKind::Lstm ? 4 : kind == CellKind::Gru ? 3 : 1;
}

int64_t activationsOf(CellKind kind) {
  return kind == CellKind::Lstm ? 3 : kind == CellKind::Gru ? 2 : 1;
}

/// One direction of a cell while it runs.
template <typename T> class Direction {
public:
  Direction(const RecurrentTensors &tensors, const RecurrentParams &params, int64_t direction)
      : params(params), direction(direction), hidden(params.hidden),
        rows(gatesOf(params.kind) * params.hidden),
        sequence(tensors.input->shape()[params.batchFirst ? 1 : 0]),
        batch(tensors.input->shape()[params.batchFirst ? 0 : 1]),
        inputSize(tensors.input->shape()[2]),
        functions(params.activations.data() + direction * activationsOf(params.kind)),
        input(tensors.input->data<T>().data()),
        filter(tensors.filter->data<T>().data() + direction * rows * inputSize),
        recurrence(tensors.recurrence->data<T>().data() + direction * rows * hidden),
        bias(2 * rows, T(0)), peephole(3 * hidden, T(0)), lengths(batch, sequence),
        h(stateOf(tensors.initialH)), c(stateOf(tensors.initialC)) {
    if (tensors.bias)
      std::copy_n(tensors.bias->data<T>().data() + direction * 2 * rows, 2 * rows, bias.begin());
    if (tensors.peephole)
      std::copy_n(tensors.peephole->data<T>().data() + direction * 3 * hidden, 3 * hidden,
                  peephole.begin());
    if (tensors.sequenceLens)
      std::copy_n(tensors.sequenceLens->data<int64_t>().data(), batch, lengths.begin());
  }

  /// `y`: null if nobody asks for it.
  void run(T *y) {
    std::vector<T> fromInput(sequence * batch * rows);
    RightFactor<T>(true, inputSize, rows, filter, inputSize)
        .multiply(sequence * batch, input, inputSize, fromInput.data(), rows);
    // The candidate of a GRU may read another state than the gates before it.
    const bool isDivided = params.kind == CellKind::Gru && !params.linearBeforeReset;
    const int64_t atOnce = isDivided ? 2 * hidden : rows;
    const RightFactor<T> gates(true, hidden, atOnce, recurrence, hidden);
    std::optional<RightFactor<T>> candidate;
    if (isDivided)
      candidate.emplace(true, hidden, hidden, recurrence + 2 * hidden * hidden, hidden);
    std::vector<T> fromState(batch * rows);
    std::vector<T> reset(batch * hidden);
    for (int64_t step = 0; step < sequence; ++step) {
      gates.multiply(batch, h.data(), hidden, fromState.data(), rows);
      if (params.kind == CellKind::Gru)
        resetGates(step, fromInput, candidate, fromState, reset);
      for (int64_t b = 0; b < batch; ++b) {
        if (step >= lengths[b]) {
          if (y)
            std::fill_n(y + outputOffset(step, b), hidden, T(0));
          continue;
        }
        int64_t at = position(step, b);
        const T *x = fromInput.data() + inputRow(at, b) * rows;
        const T *r = fromState.data() + b * rows;
        if (params.kind == CellKind::Lstm)
          lstm(x, r, b);
        else if (params.kind == CellKind::Gru)
          gru(x, r, b);
        else
          rnn(x, r, b);
        if (y)
          std::copy_n(h.data() + b * hidden, hidden, y + outputOffset(at, b));
      }
    }
  }

  void storeState(const std::vector<T> &state, T *to) const {
    for (int64_t b = 0; b < batch; ++b)
      std::copy_n(state.data() + b * hidden, hidden, to + stateOffset(b));
  }
  const std::vector<T> &hiddenState() const { return h; }
  const std::vector<T> &cellState() const { return c; }

private:
  const RecurrentParams &params;
  int64_t direction, hidden, rows, sequence, batch, inputSize;
  const Activation *functions;
  const T *input, *filter, *recurrence;
  std::vector<T> bias, peephole;
  std::vector<int64_t> lengths;
  std::vector<T> h, c; ///< [batch, hidden]

  int64_t directions() const { return static_cast<int64_t>(params.reversed.size()); }
  int64_t stateOffset(int64_t b) const {
    return (params.batchFirst ? b * directions() + direction : direction * batch + b) * hidden;
  }
  std::vector<T> stateOf(const Tensor *initial) const {
    std::vector<T> state(batch * hidden, T(0));
    for (int64_t b = 0; initial && b < batch; ++b)
      std::copy_n(initial->data<T>().data() + stateOffset(b), hidden, state.data() + b * hidden);
    return state;
  }
  /// Where in its sequence `b` stands at `step`.
  int64_t position(int64_t step, int64_t b) const {
    return params.reversed[direction] ? lengths[b] - 1 - step : step;
  }
  int64_t inputRow(int64_t at, int64_t b) const {
    return params.batchFirst ? b * sequence + at : at * batch + b;
  }
  int64_t outputOffset(int64_t at, int64_t b) const {
    return (params.batchFirst ? (b * sequence + at) * directions() + direction
                              : (at * directions() + direction) * batch + b) *
           hidden;
  }
  T clipped(T x) const {
    if (!params.clip)
      return x;
    auto limit = static_cast<T>(*params.clip);
    return std::clamp(x, -limit, limit);
  }
  T apply(int64_t function, T x) const { return activate(functions[function], clipped(x)); }
  /// Gate `gate` of unit `i` before its activation.
  T sum(const T *x, const T *r, int64_t gate, int64_t i) const {
    int64_t at = gate * hidden + i;
    return x[at] + r[at] + bias[at] + bias[rows + at];
  }

  void rnn(const T *x, const T *r, int64_t b) {
    for (int64_t i = 0; i < hidden; ++i)
      h[b * hidden + i] = apply(0, sum(x, r, 0, i));
  }

  // Gates are stored in the order i o f c, peepholes i o f.
  void lstm(const T *x, const T *r, int64_t b) {
    for (int64_t i = 0; i < hidden; ++i) {
      T &cell = c[b * hidden + i];
      T in = apply(0, sum(x, r, 0, i) + peephole[i] * cell);
      T forget = params.inputForget ? T(1) - in
                                    : apply(0, sum(x, r, 2, i) + peephole[2 * hidden + i] * cell);
      cell = forget * cell + in * apply(1, sum(x, r, 3, i));
      T out = apply(0, sum(x, r, 1, i) + peephole[hidden + i] * cell);
      h[b * hidden + i] = out * activate(functions[2], cell);
    }
  }

  /// Before the candidate is computed: the recurrent part of it from the reset state, which
  /// replaces that of `fromState`. Gates are stored in the order z r h.
  void resetGates(int64_t step, const std::vector<T> &fromInput,
                  const std::optional<RightFactor<T>> &recurrent, std::vector<T> &fromState,
                  std::vector<T> &reset) {
    std::vector<T> factors(batch * hidden, T(0));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; step < lengths[b] && i < hidden; ++i) {
        const T *x = fromInput.data() + inputRow(position(step, b), b) * rows;
        factors[b * hidden + i] = apply(0, sum(x, fromState.data() + b * rows, 1, i));
      }
    T *candidate = fromState.data() + 2 * hidden;
    if (recurrent) {
      for (int64_t i = 0; i < batch * hidden; ++i)
        reset[i] = factors[i] * h[i];
      recurrent->multiply(batch, reset.data(), hidden, candidate, rows);
    }
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < hidden; ++i) {
        T &value = candidate[b * rows + i];
        value += bias[rows + 2 * hidden + i];
        if (params.linearBeforeReset)
          value *= factors[b * hidden + i];
      }
  }

  void gru(const T *x, const T *r, int64_t b) {
    for (int64_t i = 0; i < hidden; ++i) {
      T update = apply(0, sum(x, r, 0, i));
      int64_t at = 2 * hidden + i;
      T candidate = apply(1, x[at] + r[at] + bias[at]);
      T &state = h[b * hidden + i];
      state = (T(1) - update) * candidate + update * state;
    }
  }
};

} // namespace

std::optional<std::vector<Activation>>
kernels::parseActivations(const std::vector<std::string> &names, const std::vector<double> &alphas,
                          const std::vector<double> &betas) {
  std::vector<Activation> result;
  size_t alphasTaken = 0;
  size_t betasTaken = 0;
  for (std::string name : names) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return std::tolower(letter); });
    const auto *known = std::find_if(std::begin(kActivations), std::end(kActivations),
                                     [&](const auto &each) { return each.name == name; });
    if (known == std::end(kActivations))
      return std::nullopt;
    Activation activation{known->kind, known->alpha.value_or(0), known->beta.value_or(0)};
    if (known->alpha && alphasTaken < alphas.size())
      activation.alpha = alphas[alphasTaken++];
    if (known->beta && betasTaken < betas.size())
      activation.beta = betas[betasTaken++];
    result.push_back(activation);
  }
  return result;
}

Expected<void> kernels::runRecurrent(const RecurrentTensors &tensors, const RecurrentParams &params,
                                     const RecurrentResults &results, ThreadPool &threads) {
  DataType compute = computeType(tensors.input->type());
  int64_t sequence = tensors.input->shape()[params.batchFirst ? 1 : 0];
  // In the compute type; the handles live as long as the pointers to them.
  RecurrentTensors wide = tensors;
  std::array<Tensor, 8> held;
  size_t count = 0;
  auto widen = [&](const Tensor *&tensor, DataType type) {
    if (!tensor)
      return;
    held[count] = convert(*tensor, type);
    tensor = &held[count++];
  };
  for (const Tensor **tensor : {&wide.input, &wide.filter, &wide.recurrence, &wide.bias,
                                &wide.initialH, &wide.initialC, &wide.peephole})
    widen(*tensor, compute);
  widen(wide.sequenceLens, DataType::I64);
  if (wide.sequenceLens)
    for (int64_t length : wide.sequenceLens->data<int64_t>())
      if (length < 0 || length > sequence)
        return makeError("", "sequence length " + std::to_string(length),
                         "0 to " + std::to_string(sequence));
  dispatchCompute(compute, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      auto room = [&](Tensor *result) {
        return result && result->type() != compute ? Tensor(compute, result->shape())
               : result                            ? *result
                                                   : Tensor();
      };
      Tensor y = room(results.y);
      Tensor yH = room(results.yH);
      Tensor yC = room(results.yC);
      auto directions = static_cast<int64_t>(params.reversed.size());
      threads.parallelFor(directions, 1, [&](int64_t begin, int64_t end) {
        for (int64_t d = begin; d < end; ++d) {
          Direction<T> direction(wide, params, d);
          direction.run(results.y ? y.mutableData<T>().data() : nullptr);
          if (results.yH)
            direction.storeState(direction.hiddenState(), yH.mutableData<T>().data());
          if (results.yC)
            direction.storeState(direction.cellState(), yC.mutableData<T>().data());
        }
      });
      for (auto [from, to] : {std::pair(&y, results.y), {&yH, results.yH}, {&yC, results.yC}})
        if (to && to->type() != compute)
          store(*from, *to);
    }
  });
  return {};
}
