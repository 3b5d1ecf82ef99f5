//===- IntegerProducts.cpp - Products of matrices of integers on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/IntegerCommands.h"
#include "tpuc/Target/BM1684/Kernels/WindowCommands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

//===--- Products of dense pieces -----------------------------------------===//

namespace {

Expected<void> check(const std::string &where, const IntegerProduct &product) {
  // Extents of the fields.
  constexpr int64_t kMost = 65535, kMostPieces = 4095;
  const std::pair<std::string_view, int64_t> extents[] = {
      {"rows", product.rows}, {"columns", product.columns}, {"terms", product.depth}};
  for (const auto &[name, extent] : extents)
    if (extent < 1 || extent > kMost || MatrixPieces::of(extent).count > kMostPieces)
      return makeError(where, fmt::format("a product of {} {}", extent, name),
                       fmt::format("1 to {}", kMost));
  return checkShift(where, product.shift);
}

} // namespace

Expected<void> checkIntegerProduct(const IntegerProduct &product) {
  return check("product", product);
}

Expected<void> emitIntegerProduct(Builder &builder, const IntegerProduct &product) {
  if (Expected<void> fits = check(builder.layer(), product); !fits)
    return fits;
  const MatrixPieces left = MatrixPieces::of(product.depth);
  const MatrixPieces columns = MatrixPieces::of(product.columns);
  Command command = tiuCommand(tiu::kMatMul, 0);
  for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec})
    command.set(field, Prec::I8);
  command.set(Field::Opd2Prec, Prec::I16).set(Field::Opd2Sign, 1);
  command.set(Field::Opd0Sign, isSigned(product.leftType));
  command.set(Field::Opd1Sign, isSigned(product.rightType));
  command.set(Field::Relu, product.outputType == DataType::U8);
  setFields(builder, command,
            {{Field::Res0N, product.rows},
             {Field::Res0C, columns.count},
             {Field::Res0H, 1},
             {Field::Res0W, columns.width},
             {Field::Opd0N, product.rows},
             {Field::Opd0C, left.count},
             {Field::Opd0W, left.width},
             {Field::Opd1N, product.depth},
             {Field::Opd1C, columns.count},
             {Field::Opd1W, left.last},
             {Field::RightShift, product.shift}});
  command.set(Field::Res0Addr, kLocalBase + product.output);
  command.set(Field::Opd0Addr, kLocalBase + product.left);
  command.set(Field::Opd1Addr, kLocalBase + product.right);
  if (product.bias)
    command.set(Field::OpdNum, 3).set(Field::Opd2Addr, kLocalBase + *product.bias);
  builder.add(command);
  // The result as words of four columns, which are compared byte by byte.
  const int64_t bytes = columns.pitch(1) / columns.slots;
  LocalTensor result =
      localTensor(product.outputType, {4, kLanes, product.rows * columns.slots, bytes / 4},
                  product.output, Layout::Compact);
  addBounds(builder, result, product.bounds);
  return {};
}

//===--- Products of rows in lanes ----------------------------------------===//

namespace {

/// Columns of a matrix of bytes that share a word.
constexpr int64_t kColumns = 4;

/// What the terms are multiplied by that make a bias: `biasParts` of it.
constexpr int8_t kBiasFactors[kBiasParts] = {127, 127, 127, 1};

/// Terms of a sum with a bias.
int64_t termsOf(const IntegerRowProduct &product) {
  return product.right.shape[1] + (product.bias ? kBiasParts : 0);
}

/// Both operands with the terms of the bias, for one product.
struct BiasedOperands {
  LocalTensor left, right;
  uint32_t bytes = 0;
};

BiasedOperands biasedOperands(const IntegerRowProduct &product) {
  ScratchAllocator space{product.scratch.address};
  const int64_t terms = termsOf(product);
  BiasedOperands operands;
  operands.left = space.take(DataType::I32, {1, product.left.shape[1], 1, terms / kColumns});
  operands.right = space.take(DataType::I32, {1, terms, 1, product.right.shape[3]});
  operands.bytes = space.next - product.scratch.address;
  return operands;
}

Expected<uint32_t> checkedScratch(const std::string &where, const IntegerRowProduct &product) {
  const Extents &left = product.left.shape, &right = product.right.shape,
                &output = product.output.shape;
  for (const LocalTensor *matrix : {&product.left, &product.right, &product.output})
    if (matrix->type != DataType::I32 || !matrix->isRegular() || matrix->startLane != 0)
      return makeError(where, "a matrix in other than aligned words from lane 0");
  if (left[0] != output[0] || (right[0] != 1 && right[0] != left[0]) || left[1] != output[1] ||
      right[1] != kColumns * left[3] || right[3] != output[3] ||
      left[2] * right[2] * output[2] != 1)
    return makeError(where, fmt::format("words [{}] times [{}] to [{}]", fmt::join(left, ","),
                                        fmt::join(right, ","), fmt::join(output, ",")));
  if (left[1] > kMostChannels || termsOf(product) > kMostChannels)
    return makeError(where, fmt::format("a product of {} rows and {} terms", left[1], right[1]),
                     fmt::format("{} at most", kMostChannels));
  if (product.bias && (product.bias->shape != Extents{1, kBiasParts, 1, right[3]} ||
                       product.bias->startLane != right[1] % kLanes))
    return makeError(where, "a bias of other columns or lanes than the terms behind the last");
  if (Expected<void> fits = checkShift(where, product.shift); !fits)
    return propagate(fits);
  return product.bias ? biasedOperands(product).bytes : 0;
}

/// The bytes of words as the items of a tensor.
LocalTensor itemsOf(const LocalTensor &words, DataType type) {
  return localTensor(type, {kColumns, words.shape[1], 1, words.shape[3]}, words.address);
}

void addRowProduct(Builder &builder, const IntegerRowProduct &product, const LocalTensor &left,
                   const LocalTensor &right, const LocalTensor &output) {
  const LocalTensor result = itemsOf(output, product.outputType);
  const LocalTensor image = itemsOf(right, product.rightType);
  Command command = windowCommand(builder, tiu::kConv, 0, result, image, Window2d{}, {0, 0});
  setIntegers(builder, command, product.outputType, left.commandAddress(), product.shift);
  command.set(Field::Opd1Sign, isSigned(product.leftType)).set(Field::Opd1Str, Layout::Explicit);
  const int64_t words = right.shape[1] / kColumns;
  setFields(builder, command,
            {{Field::Opd0C, right.shape[1]},
             {Field::Opd1NStr, 1},
             {Field::Opd1CStr, left.strides()[1]},
             {Field::Opd1HStr, words},
             {Field::Opd1WStr, words}});
  builder.add(command);
  addBounds(builder, result, product.bounds);
}

} // namespace

std::array<int8_t, kBiasParts> biasParts(int64_t bias) {
  std::array<int8_t, kBiasParts> parts{};
  const int64_t factor = kBiasFactors[0];
  // Rounded, so that the rest is a small number of either sign.
  int64_t left = (bias + (bias < 0 ? -factor : factor) / 2) / factor;
  parts[kBiasParts - 1] = static_cast<int8_t>(bias - left * factor);
  for (int64_t i = 0; i + 1 < kBiasParts; ++i) {
    const int64_t part = std::clamp<int64_t>(left, -factor, factor);
    parts[static_cast<size_t>(i)] = static_cast<int8_t>(part);
    left -= part;
  }
  return parts;
}

bool takesRowProduct(int64_t rows, int64_t depth, int64_t columns) {
  if (depth % kColumns != 0 || columns % kColumns != 0 || depth + kBiasParts > kMostChannels)
    return false;
  // Cycles of both commands by the estimate of the chip's vendor.
  const auto product = [](int64_t a, int64_t b, int64_t c) {
    return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
  };
  const MatrixPieces pieces = MatrixPieces::of(columns);
  constexpr int64_t kAtOnce = 64, kPixels = 16, kStart = 11;
  const double ofPieces = product(rows, pieces.slots * ceilDiv(pieces.width, kAtOnce), depth);
  const double ofRows = product(ceilDiv(rows, kLanes), ceilDiv(columns / kColumns, kPixels),
                                depth / kColumns + kStart);
  return ofRows < ofPieces;
}

Expected<uint32_t> integerRowProductScratch(const IntegerRowProduct &product) {
  return checkedScratch("product", product);
}

Expected<void> emitIntegerRowProduct(Builder &builder, const IntegerRowProduct &product) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), product.scratch, checkedScratch(builder.layer(), product));
      !fits)
    return fits;
  const int64_t depth = product.right.shape[1], words = product.left.shape[3];
  const BiasedOperands biased = biasedOperands(product);
  if (product.bias) {
    uint32_t factors = 0;
    std::memcpy(&factors, kBiasFactors, sizeof factors);
    addCopy(builder, biased.left.slice(3, words, 1), Immediate{DataType::I32, factors});
    addCopy(builder, biased.right.slice(1, depth, kBiasParts), *product.bias);
  }
  for (int64_t n = 0; n < product.output.shape[0]; ++n) {
    const bool isShared = product.right.shape[0] == 1;
    LocalTensor left = product.left.slice(0, n, 1);
    LocalTensor right = product.right.slice(0, isShared ? 0 : n, 1);
    if (product.bias) {
      addCopy(builder, biased.left.slice(3, 0, words), left);
      if (n == 0 || !isShared)
        addCopy(builder, biased.right.slice(1, 0, depth), right);
      left = biased.left;
      right = biased.right;
    }
    addRowProduct(builder, product, left, right, product.output.slice(0, n, 1));
  }
  return {};
}

} // namespace tpuc::bm1684
