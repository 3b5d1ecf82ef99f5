//===- Matrix.cpp - Products of matrices ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Elements.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"

namespace tpuc::cv18xx {

namespace {

/// Rows of the left matrix, columns of all its pieces, columns of the result.
struct MatrixShape {
  size_t rows, inner, leftColumns, columns;
};

void matrixIntegers(Memory &memory, const TiuCommand &command, const TiuViews &views,
                    const MatrixShape &shape) {
  const std::vector<int32_t> left = readIntegers(memory, views.opd0, command.opd0.isSigned);
  const std::vector<int32_t> right = readIntegers(memory, views.opd1, command.opd1.isSigned);
  std::vector<int32_t> sums(shape.rows * shape.columns);
  if (command.addsPartial)
    sums = readIntegers(memory, views.res0, true);
  for (size_t row = 0; row < shape.rows; ++row)
    for (size_t k = 0; k < shape.inner; ++k) {
      const int32_t factor = left[row * shape.leftColumns + k];
      for (size_t column = 0; column < shape.columns; ++column) {
        int32_t &sum = sums[row * shape.columns + column];
        sum =
            static_cast<int32_t>(static_cast<uint32_t>(sum) +
                                 static_cast<uint32_t>(factor * right[k * shape.columns + column]));
      }
    }
  if (command.storesPartial)
    return writeIntegers(memory, views.res0, sums);
  std::vector<int32_t> old;
  if (command.accumulates)
    old = readIntegers(memory, views.res0, command.res0.isSigned);
  const std::vector<int32_t> biases = readIntegers(memory, views.opd2, command.opd2.isSigned);
  for (size_t i = 0; i < sums.size(); ++i) {
    auto value = static_cast<uint32_t>(sums[i]);
    if (!old.empty())
      value += static_cast<uint32_t>(old[i]) << command.leftShift;
    if (!biases.empty())
      value += static_cast<uint32_t>(biases[i % shape.columns]);
    sums[i] = finishInteger(command, static_cast<int32_t>(value));
  }
  Planes result = views.res0;
  result.count = command.res0.isNarrow ? 1 : 2;
  writeIntegers(memory, result, sums);
}

void matrixFloats(Memory &memory, const TiuCommand &command, const TiuViews &views,
                  const MatrixShape &shape) {
  const std::vector<float> left = readFloats(memory, views.opd0);
  const std::vector<float> right = readFloats(memory, views.opd1);
  std::vector<float> sums(shape.rows * shape.columns);
  if (command.addsPartial)
    sums = readFloats(memory, views.res0, Small::Kept);
  std::vector<float> scratch(shape.columns);
  // The columns of a piece one after the other, and in each the pieces.
  const size_t piece = command.opd0.shape[3];
  for (size_t row = 0; row < shape.rows; ++row)
    for (size_t first = 0; first < piece; ++first)
      for (size_t k = first; k < shape.inner; k += piece) {
        addScaled(std::span(sums).subspan(row * shape.columns, shape.columns),
                  &right[k * shape.columns], left[row * shape.leftColumns + k], scratch);
      }
  if (command.storesPartial)
    return writeFloats(memory, views.res0, sums);
  const std::vector<float> biases = readFloats(memory, views.opd2);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!biases.empty())
      sums[i] = addTruncating(sums[i], biases[i % shape.columns]);
    if (command.hasRelu)
      sums[i] = reluOf(sums[i]);
  }
  Planes result = views.res0;
  result.count = 1;
  writeFloats(memory, result, sums);
}

} // namespace

void runMatrix(Memory &memory, const TiuCommand &command) {
  const TiuViews views = viewsOf(memory.chip(), command);
  const Extents &left = views.opd0.view.shape;
  const Extents &result = views.res0.view.shape;
  const MatrixShape shape = {left[0], command.opd1.shape[0], size_t{left[1]} * left[3],
                             size_t{result[1]} * result[3]};
  if (command.isBf16)
    matrixFloats(memory, command, views, shape);
  else
    matrixIntegers(memory, command, views, shape);
}

} // namespace tpuc::cv18xx
