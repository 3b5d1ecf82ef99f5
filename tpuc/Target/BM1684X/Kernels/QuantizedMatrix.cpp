//===- QuantizedMatrix.cpp - Matrix products of quantized integers---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kAsIs = 4, kTurned = 5;

bool holdsSums(const QuantizedMatrixProduct &product) {
  return product.output.type == DataType::I32;
}

/// Places of sums besides the output: for commands that would otherwise read what they write.
uint32_t numSums(const QuantizedMatrixProduct &product) {
  if (holdsSums(product))
    return 0;
  return product.columnAddress && isByte(product.output.type) ? 2 : 1;
}

/// A matrix like the left one of nothing but its zero point.
uint32_t zeroBytes(const QuantizedMatrixProduct &product) {
  return product.leftZero == 0 ? 0 : laneBytes(DataType::I8, product.left.shape);
}

Expected<void> checkTypes(const std::string &where, const QuantizedMatrixProduct &product) {
  for (const auto &[name, tensor] :
       {std::pair{"left", &product.left}, std::pair{"right", &product.right}})
    if (Expected<void> fits = checkByteTensor(where, name, *tensor); !fits)
      return fits;
  const LocalTensor &out = product.output;
  if (!isByte(out.type) && !holdsSums(product) && !isKernelFloat(out.type))
    return makeError(where, fmt::format("output of {}", dataTypeName(out.type)),
                     "i8, u8, i32 or a float");
  return checkLayout(where, "output", out, Layout::Aligned);
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedMatrixProduct &product) {
  if (Expected<void> fits = checkTypes(where, product); !fits)
    return propagate(fits);
  const LocalTensor &out = product.output;
  const int64_t rows = product.left.shape[1];
  const int64_t inner = product.left.shape[3];
  const int64_t columns = out.shape[3];
  Extents right =
      product.rightIsTransposed ? Extents{1, columns, 1, inner} : Extents{1, inner, 1, columns};
  bool fits = product.left.shape == Extents{1, rows, 1, inner} && product.right.shape == right &&
              out.shape == Extents{1, rows, 1, columns} && product.left.startLane == 0 &&
              product.right.startLane == 0 && out.startLane == 0;
  if (!fits)
    return makeError(where,
                     fmt::format("[{}] times [{}] to [{}]", fmt::join(product.left.shape, ","),
                                 fmt::join(product.right.shape, ","), fmt::join(out.shape, ",")),
                     "[1,M,1,K] times [1,K,1,N] (turned: [1,N,1,K]) to [1,M,1,N], from lane 0");
  if (Expected<void> terms = checkTerms(where, "rows of the right matrix", inner); !terms)
    return propagate(terms);
  if (Expected<void> parameters = checkRequantize(where, product.requantize); !parameters)
    return propagate(parameters);
  if (product.accumulates && (!holdsSums(product) || product.leftZero != 0 || product.biasAddress ||
                              product.columnAddress))
    return makeError(where, "a result, a bias or a left zero point", "sums alone to accumulate");
  if (product.leftZero < INT8_MIN || product.leftZero > INT8_MAX)
    return makeError(where, fmt::format("a left zero point of {}", product.leftZero),
                     fmt::format("{} to {}", INT8_MIN, INT8_MAX));
  return numSums(product) * laneBytes(DataType::I32, out.shape) + zeroBytes(product);
}

void addProduct(Builder &builder, const QuantizedMatrixProduct &product, const LocalTensor &left,
                const LocalTensor &sums, bool accumulates) {
  const Extents &shape = product.output.shape;
  Command command = Command::make(
      *findCommandOp(Engine::Tiu, tiu::kMatMul, product.rightIsTransposed ? kTurned : kAsIs));
  setFields(builder, command,
            {{Field::Res0C, shape[1]},
             {Field::Res0W, shape[3]},
             {Field::Opd1C, product.right.shape[1]},
             {Field::Opd1W, product.right.shape[3]},
             {Field::Res0Addr, sums.tiuAddress()},
             {Field::Opd0Addr, left.tiuAddress()},
             {Field::Opd1Addr, product.right.tiuAddress()}});
  command.set(Field::Res0Prec, sums.prec()).set(Field::Opd0Prec, left.prec());
  command.set(Field::Opd0Sign, isSigned(left.type));
  command.set(Field::Opd1Sign, isSigned(product.right.type));
  command.set(Field::Opd2Const, 1);
  command.set(Field::Opd2Addr, static_cast<uint32_t>(product.rightZero) & 255);
  command.set(Field::ResAdd, accumulates);
  builder.add(command);
}

/// One of the rows of `columnAddress`, for all rows of the output.
LocalTensor columnRow(const QuantizedMatrixProduct &product, int64_t row) {
  const Extents &shape = product.output.shape;
  LocalTensor all =
      localTensor(DataType::I32, {kColumnRows, kLanes, 1, shape[3]}, *product.columnAddress);
  return repeatedOverLanes(all.slice(0, row, 1), shape[1]);
}

/// What the sums of a column begin with.
std::optional<LocalTensor> biasOf(const QuantizedMatrixProduct &product) {
  const Extents &shape = product.output.shape;
  if (product.columnAddress)
    return columnRow(product, 0);
  if (!product.biasAddress)
    return std::nullopt;
  LocalTensor row = localTensor(DataType::I32, {1, kLanes, 1, shape[3]}, *product.biasAddress);
  return repeatedOverLanes(row, shape[1]);
}

/// The output from sums with a factor for each column: exact, as powers of two that do not fit are
/// of results that are cut off.
void addColumnRequantize(Builder &builder, const QuantizedMatrixProduct &product,
                         const LocalTensor &sums, const LocalTensor &other) {
  const Requantize &requantize = product.requantize;
  addArith(builder, ArithOp::MulSat, other, sums, columnRow(product, 1));
  addShiftedArith(builder, ArithOp::MulSat, sums, other, columnRow(product, 2), -requantize.shift,
                  Rounding::HalfUp);
  // Sums with signed operands saturate as signed numbers.
  const Immediate zero = immediate(DataType::I32, requantize.zeroPoint);
  if (isSigned(product.output.type)) {
    addArith(builder, ArithOp::AddSat, product.output, sums, zero);
  } else {
    addArith(builder, ArithOp::AddSat, other, sums, zero);
    addCast(builder, product.output, other);
  }
  addCutOff(builder, product.output, requantize.lowest, requantize.highest);
}

} // namespace

Expected<uint32_t> quantizedMatrixProductScratch(const QuantizedMatrixProduct &product) {
  return checkedScratch("matrix product", product);
}

Expected<void> emitQuantizedMatrixProduct(Builder &builder, const QuantizedMatrixProduct &product) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), product);
  if (Expected<void> fits = checkScratch(builder.layer(), product.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{product.scratch.address};
  const Extents &shape = product.output.shape;
  LocalTensor sums = holdsSums(product) ? product.output : space.take(DataType::I32, shape);
  std::optional<LocalTensor> bias = biasOf(product);
  if (bias)
    addInitialSums(builder, sums, *bias);
  if (product.leftZero != 0) {
    // -leftZero times the sums of the columns; 128 has no sign.
    DataType type = product.leftZero < 0 ? DataType::U8 : DataType::I8;
    LocalTensor zeros = space.take(type, product.left.shape);
    addUnaryArith(builder, ArithOp::Copy, zeros, immediate(type, -product.leftZero));
    addProduct(builder, product, zeros, sums, bias.has_value());
  }
  addProduct(builder, product, product.left, sums,
             bias || product.leftZero != 0 || product.accumulates);
  if (holdsSums(product))
    return {};
  if (!isByte(product.output.type)) {
    Term factor = immediate(DataType::F32, product.scale);
    if (product.columnAddress)
      factor = columnRow(product, 1).as(DataType::F32);
    addDequantizeSums(builder, product.output, sums, factor, product.activation);
  } else if (product.columnAddress) {
    addColumnRequantize(builder, product, sums, space.take(DataType::I32, shape));
  } else {
    addRequantize(builder, product.output, sums, product.requantize);
  }
  return {};
}

namespace {

/// Beyond this shift a sum of 32 bits that saturates has a result that is cut off.
constexpr int32_t kMostColumnShift = 52;

/// The same factor with a multiplier of at least 2^30, and a shift that is not too large.
Requantize normalized(Requantize factor) {
  while (factor.multiplier != 0 && factor.multiplier < (1 << 30)) {
    factor.multiplier *= 2;
    ++factor.shift;
  }
  for (; factor.shift > kMostColumnShift; --factor.shift)
    factor.multiplier = factor.multiplier / 2 + factor.multiplier % 2;
  if (factor.multiplier == 0)
    factor.shift = INT32_MIN;
  return factor;
}

} // namespace

int32_t columnShift(std::span<const Requantize> columns) {
  int32_t shift = INT32_MIN;
  for (const Requantize &column : columns)
    shift = std::max(shift, normalized(column).shift);
  return shift == INT32_MIN ? 0 : shift;
}

std::vector<int32_t> packColumns(std::span<const Requantize> columns,
                                 std::span<const int32_t> biases) {
  const int32_t shift = columnShift(columns);
  std::vector<int32_t> words(biases.begin(), biases.end());
  words.resize(kColumnRows * columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    Requantize column = normalized(columns[i]);
    constexpr int64_t kMostPower = 30;
    const int64_t power = std::clamp<int64_t>(int64_t{shift} - column.shift, 0, kMostPower);
    words[columns.size() + i] = 1 << power;
    words[2 * columns.size() + i] = column.multiplier;
  }
  return words;
}

std::vector<int32_t> packColumnScales(std::span<const float> columns,
                                      std::span<const int32_t> biases) {
  std::vector<int32_t> words(biases.begin(), biases.end());
  words.resize(kColumnRows * columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    words[columns.size() + i] = std::bit_cast<int32_t>(columns[i]);
  return words;
}

} // namespace tpuc::bm1684x
