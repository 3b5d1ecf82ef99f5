//===- RecurrenceTest.cpp - Recurrent cells over all steps-----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Recurrence.h"
#include "tpuc/Interpreter/Kernels/Recurrent.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

struct CellCase {
  CellKind kind;
  int64_t batch;
  bool hasStates;
  bool isReversed;
  bool resetsProduct;
  int64_t directions = 1;
};

constexpr int64_t kInputs = 20, kUnits = 128, kSteps = 5;

Tensor reshaped(const Tensor &tensor, std::initializer_list<int64_t> dims) {
  return tensor.reshaped(Shape(std::span(dims.begin(), dims.size())));
}

/// [columns, features] as [1, features, 1, columns].
Tensor turned(const Tensor &rows) {
  const int64_t columns = rows.shape()[0];
  const int64_t features = rows.shape()[1];
  const std::array<int64_t, 4> dims = {1, features, 1, columns};
  Tensor result(DataType::F32, Shape(std::span(dims)));
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t f = 0; f < features; ++f)
      result.mutableData<float>()[static_cast<size_t>(f * columns + c)] =
          rows.data<float>()[static_cast<size_t>(c * features + f)];
  return result;
}

/// What the interpreter computes of operands in F32.
struct Reference {
  Tensor input, filter, recurrence, bias, hidden, cell;
  Tensor y, lastCell;
};

Reference referenceOf(const CellCase &test, DataType type) {
  const int64_t gates = gatesOf(test.kind);
  const auto numbers = [&](std::initializer_list<int64_t> dims, unsigned seed) {
    const Shape shape(std::span(dims.begin(), dims.size()));
    return convert(randomNumbers(type, shape, seed, -0.4, 0.4), DataType::F32);
  };
  const int64_t directions = test.directions;
  Reference made{numbers({kSteps, test.batch, kInputs}, 1),
                 numbers({directions, gates * kUnits, kInputs}, 2),
                 numbers({directions, gates * kUnits, kUnits}, 3),
                 convert(numbers({directions, 2 * gates * kUnits}, 4), DataType::F32),
                 numbers({directions, test.batch, kUnits}, 5),
                 numbers({directions, test.batch, kUnits}, 6),
                 numbers({kSteps, directions, test.batch, kUnits}, 7),
                 numbers({directions, test.batch, kUnits}, 8)};
  kernels::RecurrentParams params;
  params.kind = test.kind == CellKind::Lstm  ? kernels::CellKind::Lstm
                : test.kind == CellKind::Gru ? kernels::CellKind::Gru
                                             : kernels::CellKind::Rnn;
  params.hidden = kUnits;
  params.reversed = {test.isReversed};
  params.reversed.resize(static_cast<size_t>(directions), true);
  const std::vector<std::string> names = {"Sigmoid", "Tanh", "Tanh"};
  std::vector<std::string> functions = test.kind == CellKind::Rnn ? std::vector<std::string>{"Tanh"}
                                       : test.kind == CellKind::Gru
                                           ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                           : names;
  const std::vector<std::string> ofOne = functions;
  for (int64_t direction = 1; direction < directions; ++direction)
    functions.insert(functions.end(), ofOne.begin(), ofOne.end());
  params.activations = *kernels::parseActivations(functions, {}, {});
  params.linearBeforeReset = test.resetsProduct;
  ThreadPool pool(1);
  const Tensor *hidden = test.hasStates ? &made.hidden : nullptr;
  const Tensor *cell = test.hasStates && test.kind == CellKind::Lstm ? &made.cell : nullptr;
  const kernels::RecurrentResults results{&made.y, nullptr,
                                          test.kind == CellKind::Lstm ? &made.lastCell : nullptr};
  expectOk(kernels::runRecurrent(
      {&made.input, &made.filter, &made.recurrence, &made.bias, nullptr, hidden, cell, nullptr},
      params, results, pool));
  return made;
}

/// A filter [directions, rows, columns] as the kernel wants it, at an address of local memory.
uint32_t loadFilter(Bench &bench, DataType type, const Tensor &filter) {
  const Extents shape = {filter.shape()[0] * filter.shape()[1], filter.shape()[2], 1, 1};
  const std::vector<uint8_t> packed = packFilter(type, shape, bytesOf(convert(filter, type)));
  return bench.load(tensorOf(type, packedFilterShape(type, shape), packed), Layout::Compact)
      .address;
}

Recurrence loaded(Bench &bench, const CellCase &test, DataType type, const Reference &reference) {
  const auto rows = [&](const Tensor &tensor) {
    const int64_t features = tensor.shape()[tensor.shape().rank() - 1];
    return bench.load(
        convert(turned(reshaped(tensor, {tensor.numElements() / features, features})), type));
  };
  Recurrence cell;
  cell.kind = test.kind;
  cell.input = rows(reference.input);
  cell.output = bench.local(type, {1, kUnits, 1, kSteps * test.directions * test.batch});
  cell.filterAddress = loadFilter(bench, type, reference.filter);
  cell.recurrenceAddress = loadFilter(bench, type, reference.recurrence);
  cell.biasAddress =
      bench.load(reshaped(reference.bias, {1, reference.bias.numElements(), 1, 1}), Layout::Compact)
          .address;
  if (test.hasStates)
    cell.initialHidden = rows(reference.hidden);
  if (test.hasStates && test.kind == CellKind::Lstm)
    cell.initialCell = rows(reference.cell);
  cell.batch = test.batch;
  cell.directions = test.directions;
  cell.isReversed = test.isReversed;
  cell.resetsProduct = test.resetsProduct;
  return cell;
}

TEST(Recurrence, CellsGiveWhatTheInterpreterGives) {
  const CellCase cases[] = {
      {CellKind::Lstm, 1, false, false, false},    {CellKind::Lstm, 3, true, true, false},
      {CellKind::Gru, 1, true, false, false},      {CellKind::Gru, 2, false, true, true},
      {CellKind::Rnn, 2, true, false, false},      {CellKind::Lstm, 1, true, false, false, 2},
      {CellKind::Lstm, 3, false, false, false, 2}, {CellKind::Gru, 1, false, false, true, 2},
      {CellKind::Gru, 2, true, false, false, 2},   {CellKind::Rnn, 1, false, false, false, 2}};
  for (const CellCase &test : cases)
    for (DataType type : kFloatTypes) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(test.kind) << " " << dataTypeName(type));
      const Reference reference = referenceOf(test, type);
      Bench bench;
      Recurrence cell = loaded(bench, test, type, reference);
      cell.scratch = bench.scratch(recurrenceScratch(cell));
      expectOk(emitRecurrence(bench.builder, cell));
      const GlobalTensor stored = bench.store(cell.output);
      bench.run();
      const Tensor wanted =
          turned(reshaped(reference.y, {kSteps * test.directions * test.batch, kUnits}));
      expectClose(bench.get(stored), convert(wanted, type));
    }
}

TEST(Recurrence, TheStateOfAnLstmInsteadOfItsResult) {
  for (int64_t directions : {1, 2}) {
    const CellCase test{CellKind::Lstm, 2, true, false, false, directions};
    const Reference reference = referenceOf(test, DataType::F32);
    Bench bench;
    Recurrence cell = loaded(bench, test, DataType::F32, reference);
    cell.givesCell = true;
    cell.output = bench.local(DataType::F32, {1, kUnits, 1, directions * test.batch});
    cell.scratch = bench.scratch(recurrenceScratch(cell));
    expectOk(emitRecurrence(bench.builder, cell));
    const GlobalTensor stored = bench.store(cell.output);
    bench.run();
    expectClose(bench.get(stored),
                turned(reshaped(reference.lastCell, {directions * test.batch, kUnits})));
  }
}

int64_t cyclesOfStep(const CellCase &test) {
  Bench bench;
  Recurrence cell = loaded(bench, test, DataType::F16, referenceOf(test, DataType::F16));
  cell.scratch = bench.scratch(recurrenceScratch(cell));
  expectOk(emitRecurrence(bench.builder, cell));
  bench.run();
  return bench.computeCycles() / kSteps;
}

/// A command takes as long for one gate of a unit as for all.
TEST(Recurrence, GatesOfAStepAreColumns) {
  // 128 units: products, sums, two series for both lines of units, and what is between them.
  EXPECT_LE(cyclesOfStep({CellKind::Lstm, 1, false, false, true}), 190);
  EXPECT_LE(cyclesOfStep({CellKind::Gru, 1, false, false, true}), 180);
}

/// Products have each direction by itself, and all else has both in one command.
TEST(Recurrence, BothDirectionsOfAStepAreColumns) {
  for (CellKind kind : {CellKind::Lstm, CellKind::Gru, CellKind::Rnn}) {
    const int64_t one = cyclesOfStep({kind, 1, false, false, true});
    const int64_t both = cyclesOfStep({kind, 1, false, false, true, 2});
    EXPECT_LE(both * 3, one * 5) << one << " and " << both;
  }
}

TEST(Recurrence, WhatItCannotDo) {
  Recurrence cell;
  cell.input = localTensor(DataType::F32, {1, 20, 1, 6});
  cell.output = localTensor(DataType::F32, {1, 48, 1, 6});
  EXPECT_THAT(recurrenceScratch(cell).error().message(), HasSubstr("a multiple of 64"));
  cell.output = localTensor(DataType::F32, {1, 64, 1, 6});
  cell.batch = 4;
  EXPECT_THAT(recurrenceScratch(cell).error().message(), HasSubstr("whole steps"));
  cell.batch = 2;
  cell.initialHidden = localTensor(DataType::F32, {1, 64, 1, 3});
  EXPECT_THAT(recurrenceScratch(cell).error().message(), HasSubstr("initial state"));
  cell.initialHidden = std::nullopt;
  EXPECT_TRUE(recurrenceScratch(cell));
  cell.directions = 3;
  EXPECT_THAT(recurrenceScratch(cell).error().message(), HasSubstr("1 or 2"));
}

} // namespace
