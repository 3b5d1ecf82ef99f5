//===- RowPackingTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Passes/RowPacking.h"

#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using bm1684x::backend::RowMarks;
using bm1684x::backend::RowPacking;
using bm1684x::backend::RowWindows;

namespace {

/// [channels, rows] of numbers; a picture of one column.
struct Picture {
  Picture(int64_t channels, int64_t rows)
      : channels(channels), rows(rows), values(static_cast<size_t>(channels * rows)) {}
  float &at(int64_t channel, int64_t row) {
    return values[static_cast<size_t>(channel * rows + row)];
  }
  float read(int64_t channel, int64_t row) { return row < 0 || row >= rows ? 0 : at(channel, row); }

  int64_t channels, rows;
  std::vector<float> values;
};

Picture convolved(Picture input, const Tensor &filter, const RowWindows &windows) {
  const Shape &dims = filter.shape();
  Picture result(dims[0], windows.resultRows);
  const auto weights = filter.data<float>();
  for (int64_t o = 0; o < dims[0]; ++o)
    for (int64_t row = 0; row < result.rows; ++row)
      for (int64_t c = 0; c < dims[1]; ++c)
        for (int64_t tap = 0; tap < dims[2]; ++tap)
          result.at(o, row) += weights[static_cast<size_t>((o * dims[1] + c) * dims[2] + tap)] *
                               input.read(c, row * windows.stride - windows.padBegin + tap);
  return result;
}

/// The windows of `stride` rows of which `kernel` are channels, those of the first row first.
Picture stacked(Picture input, int64_t kernel, int64_t stride, int64_t pad, int64_t rows) {
  Picture result(kernel * input.channels, rows);
  for (int64_t channel = 0; channel < result.channels; ++channel)
    for (int64_t row = 0; row < rows; ++row)
      result.at(channel, row) =
          input.read(channel % input.channels, row * stride - pad + channel / input.channels);
  return result;
}

Picture sideBySide(Picture input, int64_t rows) {
  return stacked(input, rows, rows, 0, input.rows / rows);
}

/// `count` rows, of which `rows` lie side by side.
Picture belowEachOther(Picture input, int64_t rows, int64_t count) {
  Picture result(input.channels / rows, count);
  for (int64_t channel = 0; channel < result.channels; ++channel)
    for (int64_t row = 0; row < count; ++row)
      result.at(channel, row) = input.at(row % rows * result.channels + channel, row / rows);
  return result;
}

/// Of all ways to pack rows, those that are possible.
TEST(RowPacking, ComputesTheSameOnPackedRows) {
  std::mt19937 generator(7);
  const auto fill = [&](std::span<float> values) {
    for (float &value : values)
      value = static_cast<float>(static_cast<int>(generator() % 17) - 8);
  };
  int64_t tried = 0;
  for (int64_t kernel : {1, 2, 3, 5, 6})
    for (int64_t stride : {1, 2, 3})
      for (int64_t padBegin : {0, 1, 2})
        for (int64_t padEnd : {0, 1, 2})
          for (int64_t inputRows : {12, 13, 16, 24}) {
            const int64_t span = inputRows + padBegin + padEnd - kernel;
            const RowWindows windows = {.inputRows = inputRows,
                                        .resultRows = span / stride + 1,
                                        .kernel = kernel,
                                        .stride = stride,
                                        .padBegin = padBegin,
                                        .padEnd = padEnd};
            Picture input(3, inputRows);
            fill(input.values);
            Tensor filter(DataType::F32, {2, 3, kernel, 1});
            fill(filter.mutableData<float>());
            const Picture expected = convolved(input, filter, windows);
            for (int64_t results : {1, 2, 4})
              for (int64_t inputs : {0, 1, 2, 4}) {
                const RowPacking packing = {.inputs = std::max<int64_t>(inputs, 1),
                                            .results = results,
                                            .isStacked = inputs == 0};
                const std::optional<RowWindows> packed = windows.packed(packing);
                if (!packed)
                  continue;
                ++tried;
                // What shape inference would say of them.
                ASSERT_EQ((packed->inputRows + packed->padBegin + packed->padEnd - packed->kernel) /
                                  packed->stride +
                              1,
                          packed->resultRows);
                const Picture read = inputs == 0
                                         ? stacked(input, windows.reach(results), stride * results,
                                                   padBegin, packed->resultRows)
                                         : sideBySide(input, packing.inputs);
                const Picture made =
                    convolved(read, windows.packedFilter(filter, packing), *packed);
                ASSERT_EQ(belowEachOther(made, results, expected.rows).values, expected.values)
                    << "kernel " << kernel << ", stride " << stride << ", pads " << padBegin
                    << " and " << padEnd << ", " << inputRows << " rows, packed " << inputs
                    << " and " << results;
              }
          }
  EXPECT_GT(tried, 1000);
}

TEST(RowPacking, RefusesRowsThatCannotBeSharedOut) {
  const RowWindows windows = {
      .inputRows = 9, .resultRows = 9, .kernel = 3, .padBegin = 1, .padEnd = 1};
  EXPECT_FALSE(windows.packed({.inputs = 2, .results = 3}));
  EXPECT_TRUE(windows.packed({.results = 3}));
  // Windows that move on by less than the rows that lie side by side.
  EXPECT_FALSE(windows.packed({.inputs = 3}));
}

TEST(RowPacking, LeavesTheRestOfTheLastRowToNobody) {
  const RowWindows windows = {
      .inputRows = 9, .resultRows = 9, .kernel = 3, .padBegin = 1, .padEnd = 1};
  const std::optional<RowWindows> packed = windows.packed({.results = 2});
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->resultRows, 5);
  EXPECT_EQ(packed->padEnd, 2);
}

/// Stacked rows with what marks say outside, as tpu.PackRows makes them.
Picture marked(Picture input, const RowMarks &marks, int64_t kernel, int64_t stride, int64_t pad,
               int64_t rows) {
  Picture result(kernel * input.channels + std::ssize(marks.rows), rows);
  const auto fill = static_cast<float>(marks.fill);
  for (int64_t channel = 0; channel < result.channels; ++channel)
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t index = channel - kernel * input.channels;
      const int64_t place =
          index < 0 ? channel / input.channels : marks.rows[static_cast<size_t>(index)];
      const int64_t source = row * stride - pad + place;
      const bool exists = (index >= 0 && place < 0) || (source >= 0 && source < input.rows);
      const float inside = index < 0 ? input.read(channel % input.channels, source) : 0;
      result.at(channel, row) = exists ? inside : fill;
    }
  return result;
}

/// Windows along one column, of pictures around which each channel has a number of its own.
TEST(RowPacking, MarksSayWhatIsOutside) {
  std::mt19937 generator(27);
  const auto number = [&] {
    return static_cast<float>(static_cast<int>(generator() % 33) - 16) / 4;
  };
  int64_t numMarked = 0;
  for (const std::vector<double> &outsides : {std::vector<double>{123.675, 116.28, 103.53},
                                              {128, 128, 128},
                                              {127.5, 127.5, 127.5},
                                              {-3, 0, 400},
                                              {0, 0, 0.25}})
    for (int64_t kernel : {1, 2, 3, 5})
      for (int64_t stride : {1, 2, 3})
        for (int64_t padBegin : {0, 1, 2})
          for (int64_t padEnd : {0, 1, 2})
            for (int64_t results : {1, 2, 4}) {
              constexpr int64_t kRows = 16;
              const RowWindows windows = {.inputRows = kRows,
                                          .resultRows =
                                              (kRows + padBegin + padEnd - kernel) / stride + 1,
                                          .kernel = kernel,
                                          .stride = stride,
                                          .padBegin = padBegin,
                                          .padEnd = padEnd};
              const RowPacking packing = {.results = results, .isStacked = true};
              if (!windows.packed(packing))
                continue;
              Picture input(3, kRows);
              std::ranges::generate(input.values, [&] { return float(generator() % 256); });
              Tensor filter(DataType::F32, Shape{2, 3, kernel, 1});
              std::ranges::generate(filter.mutableData<float>(), number);
              const RowMarks marks = windows.marks(outsides, packing, /*hasColumns=*/false);
              numMarked += marks.rows.empty() ? 0 : 1;
              const Tensor packed = windows.markedFilter(filter, packing, marks, outsides);
              Picture result =
                  convolved(marked(input, marks, windows.reach(results), stride * results, padBegin,
                                   windows.packedRows(results)),
                            packed, *windows.packed(packing));
              const auto weights = filter.data<float>();
              for (int64_t o = 0; o < 2; ++o)
                for (int64_t row = 0; row < windows.resultRows; ++row) {
                  double wanted = 0;
                  for (int64_t c = 0; c < 3; ++c)
                    for (int64_t tap = 0; tap < kernel; ++tap) {
                      const int64_t source = row * stride - padBegin + tap;
                      const double x = source < 0 || source >= kRows
                                           ? outsides[static_cast<size_t>(c)]
                                           : double(input.at(c, source));
                      wanted += weights[static_cast<size_t>((o * 3 + c) * kernel + tap)] * x;
                    }
                  ASSERT_NEAR(result.at(row % results * 2 + o, row / results), wanted, 0.01);
                }
            }
  EXPECT_GT(numMarked, 100);
}

} // namespace
