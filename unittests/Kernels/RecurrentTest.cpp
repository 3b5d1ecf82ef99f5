//===- RecurrentTest.cpp - Recurrent cells --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Recurrent.h"
#include "tpuc/Support/Convert.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

namespace {

/// A cell of one unit and one input, in f64; equations are written out in the tests.
struct Cell {
  Tensor input = Tensor::of<double>({3, 1, 1}, {0.5, -1, 2});
  Tensor filter, recurrence, bias;
  RecurrentParams params;
  Tensor y{DataType::F64, {3, 1, 1, 1}};
  Tensor yH{DataType::F64, {1, 1, 1}};
  Tensor yC{DataType::F64, {1, 1, 1}};
  RecurrentTensors tensors{};

  Cell(CellKind kind, std::vector<double> w, std::vector<double> r, std::vector<double> b,
       const std::vector<std::string> &activations) {
    auto gates = static_cast<int64_t>(w.size());
    filter = Tensor::of<double>({1, gates, 1}, std::span<const double>(w));
    recurrence = Tensor::of<double>({1, gates, 1}, std::span<const double>(r));
    bias = Tensor::of<double>({1, 2 * gates}, std::span<const double>(b));
    params.kind = kind;
    params.hidden = 1;
    params.reversed = {false};
    params.activations = *parseActivations(activations, {}, {});
  }

  Expected<void> run() {
    ThreadPool threads(2);
    RecurrentTensors all = tensors;
    all.input = &input;
    all.filter = &filter;
    all.recurrence = &recurrence;
    all.bias = &bias;
    bool isLstm = params.kind == CellKind::Lstm;
    return runRecurrent(all, params, {&y, &yH, isLstm ? &yC : nullptr}, threads);
  }

  std::vector<double> states() const { return {y.data<double>().begin(), y.data<double>().end()}; }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

MATCHER(Near, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 1e-14; }

TEST(RecurrentTest, LstmWithPeepholesAndInitialState) {
  Cell cell(CellKind::Lstm, {0.1, 0.2, 0.3, 0.4}, {0.5, -0.6, 0.7, 0.8},
            {0.01, 0.02, 0.03, 0.04, 0.1, 0.2, 0.3, 0.4}, {"Sigmoid", "Tanh", "Tanh"});
  Tensor h0 = Tensor::of<double>({1, 1, 1}, {0.25});
  Tensor c0 = Tensor::of<double>({1, 1, 1}, {-0.5});
  Tensor peephole = Tensor::of<double>({1, 3}, {0.9, -0.8, 0.7});
  cell.tensors.initialH = &h0;
  cell.tensors.initialC = &c0;
  cell.tensors.peephole = &peephole;
  ASSERT_TRUE(cell.run());
  std::vector<double> expected;
  double h = 0.25;
  double c = -0.5;
  for (double x : {0.5, -1.0, 2.0}) {
    double i = sigmoid(0.1 * x + 0.5 * h + 0.11 + 0.9 * c);
    double f = sigmoid(0.3 * x + 0.7 * h + 0.33 + 0.7 * c);
    c = f * c + i * std::tanh(0.4 * x + 0.8 * h + 0.44);
    double o = sigmoid(0.2 * x - 0.6 * h + 0.22 - 0.8 * c);
    h = o * std::tanh(c);
    expected.push_back(h);
  }
  EXPECT_THAT(cell.states(), Pointwise(Near(), expected));
  EXPECT_THAT(cell.yH.data<double>(), ElementsAre(DoubleNear(h, 1e-14)));
  EXPECT_THAT(cell.yC.data<double>(), ElementsAre(DoubleNear(c, 1e-14)));
}

TEST(RecurrentTest, GruBothWaysOfResetting) {
  for (bool linear : {false, true}) {
    Cell cell(CellKind::Gru, {0.1, 0.2, 0.3}, {0.5, -0.6, 0.7}, {0.01, 0.02, 0.03, 0.1, 0.2, 0.3},
              {"sigmoid", "TANH"});
    cell.params.linearBeforeReset = linear;
    cell.params.clip = 0.6;
    ASSERT_TRUE(cell.run());
    std::vector<double> expected;
    double h = 0;
    auto clip = [](double x) { return std::min(0.6, std::max(-0.6, x)); };
    for (double x : {0.5, -1.0, 2.0}) {
      double z = sigmoid(clip(0.1 * x + 0.5 * h + 0.11));
      double r = sigmoid(clip(0.2 * x - 0.6 * h + 0.22));
      double inner = linear ? r * (0.7 * h + 0.3) + 0.03 : 0.7 * (r * h) + 0.33;
      h = (1 - z) * std::tanh(clip(0.3 * x + inner)) + z * h;
      expected.push_back(h);
    }
    EXPECT_THAT(cell.states(), Pointwise(Near(), expected)) << linear;
  }
}

TEST(RecurrentTest, ReversedSequencesBeginAtTheirEnd) {
  Cell cell(CellKind::Rnn, {1}, {10}, {0, 0}, {"Affine"});
  Tensor length = Tensor::of<int32_t>({1}, {2});
  cell.tensors.sequenceLens = &length;
  ASSERT_TRUE(cell.run());
  EXPECT_THAT(cell.states(), ElementsAre(0.5, 4, 0));
  EXPECT_THAT(cell.yH.data<double>(), ElementsAre(4));
  cell.params.reversed = {true};
  ASSERT_TRUE(cell.run());
  EXPECT_THAT(cell.states(), ElementsAre(-9.5, -1, 0));
  EXPECT_THAT(cell.yH.data<double>(), ElementsAre(-9.5));
  length = Tensor::of<int32_t>({1}, {4});
  Expected<void> result = cell.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "sequence length 4; expected 0 to 3");
}

TEST(RecurrentTest, BothDirectionsInBatchFirstOrderAndHalfPrecision) {
  ThreadPool threads(2);
  auto half = [](Shape shape, std::initializer_list<float> values) {
    return convert(Tensor::of<float>(shape, values), DataType::F16);
  };
  // Two samples of two steps; forward adds up, backward too, ten times as much.
  Tensor input = half({2, 2, 1}, {1, 2, 3, 4});
  Tensor filter = half({2, 1, 1}, {1, 10});
  Tensor recurrence = half({2, 1, 1}, {1, 1});
  RecurrentParams params;
  params.hidden = 1;
  params.batchFirst = true;
  params.reversed = {false, true};
  params.activations = *parseActivations({"Relu", "Relu"}, {}, {});
  Tensor y(DataType::F16, {2, 2, 2, 1}), yH(DataType::F16, {2, 2, 1});
  RecurrentTensors tensors{};
  tensors.input = &input;
  tensors.filter = &filter;
  tensors.recurrence = &recurrence;
  ASSERT_TRUE(runRecurrent(tensors, params, {&y, &yH, nullptr}, threads));
  EXPECT_THAT(convert(y, DataType::F32).data<float>(), ElementsAre(1, 30, 3, 20, 3, 70, 7, 40));
  EXPECT_THAT(convert(yH, DataType::F32).data<float>(), ElementsAre(3, 30, 7, 70));
}

TEST(RecurrentTest, ParametersGoToTheFunctionsThatHaveThem) {
  auto parsed = parseActivations({"Tanh", "hardSigmoid", "Elu", "LeakyRelu"}, {0.3, 2}, {0.4});
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)[1].alpha, 0.3);
  EXPECT_EQ((*parsed)[1].beta, 0.4);
  EXPECT_EQ((*parsed)[2].alpha, 2);
  EXPECT_EQ((*parsed)[3].alpha, 0.01);
  EXPECT_FALSE(parseActivations({"Swish"}, {}, {}));
}

} // namespace
