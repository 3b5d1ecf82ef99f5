//===- Matrix.cpp - Matrix products----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kRows = 4, kTransposedRight = 5, kChunks = 1;

struct Sizes {
  int64_t rows, inner, columns;
};

Sizes sizesOf(const MatrixProduct &product) {
  return {product.left.shape[1], product.left.shape[3], product.output.shape[3]};
}

/// 16-bit products without anything after them are written as they are; else sums are F32.
bool hasWideSums(const MatrixProduct &product) {
  return product.output.type != DataType::F32 && product.biasAddress.has_value();
}

/// No command takes columns of F32.
bool turnsRight(const MatrixProduct &product) {
  return product.rightIsTransposed && product.left.type == DataType::F32;
}

Expected<uint32_t> checkedScratch(const std::string &where, const MatrixProduct &product) {
  for (const auto &[name, tensor] :
       {std::pair{"left", &product.left}, std::pair{"right", &product.right},
        std::pair{"output", &product.output}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  auto [rows, inner, columns] = sizesOf(product);
  Extents right =
      product.rightIsTransposed ? Extents{1, columns, 1, inner} : Extents{1, inner, 1, columns};
  bool fits = product.left.shape == Extents{1, rows, 1, inner} && product.right.shape == right &&
              product.output.shape == Extents{1, rows, 1, columns};
  if (!fits)
    return makeError(where,
                     fmt::format("[{}] times [{}] to [{}]", fmt::join(product.left.shape, ","),
                                 fmt::join(product.right.shape, ","),
                                 fmt::join(product.output.shape, ",")),
                     "[1,M,1,K] times [1,K,1,N] (turned: [1,N,1,K]) to [1,M,1,N]");
  if (Expected<void> fits = checkTerms(where, "rows of the right matrix", inner); !fits)
    return propagate(fits);
  for (const LocalTensor *tensor : {&product.left, &product.right, &product.output})
    if (tensor->startLane != 0)
      return makeError(where, fmt::format("a matrix from lane {}", tensor->startLane), "lane 0");
  DataType type = product.left.type;
  if (product.right.type != type ||
      (product.output.type != type && product.output.type != DataType::F32))
    return makeError(where,
                     fmt::format("{} times {} to {}", dataTypeName(type),
                                 dataTypeName(product.right.type),
                                 dataTypeName(product.output.type)),
                     "one type, or f32 as result");
  if (product.accumulates && product.output.type != DataType::F32)
    return makeError(where, fmt::format("an accumulation in {}", dataTypeName(product.output.type)),
                     "f32");
  if (turnsRight(product))
    return laneBytes(type, {1, inner, 1, columns});
  return hasWideSums(product) ? laneBytes(DataType::F32, product.output.shape) : 0;
}

/// In F32 the rows of the left matrix are the filters of a convolution whose channels are the rows
/// of the right one. Filters follow each other without gaps, the rows of a matrix do not, so a
/// command does the rows that lie in one slot.
void addConvolutions(Builder &builder, const MatrixProduct &product) {
  const auto [rows, inner, columns] = sizesOf(product);
  LocalTensor right = product.right;
  if (turnsRight(product)) {
    right = localTensor(DataType::F32, {1, inner, 1, columns}, product.scratch.address);
    addTurned(builder, right, product.right);
  }
  const int64_t step = product.left.liesAs(Layout::Compact) ? rows : int64_t{kLanes};
  for (int64_t first = 0; first < rows; first += step) {
    const int64_t count = std::min(step, rows - first);
    ConvCommand command;
    command.input = right;
    command.output = product.output.slice(1, first, count);
    command.filter = product.left.slice(1, first, count);
    command.accumulates = product.accumulates;
    addConv(builder, command);
  }
}

void addShortProduct(Builder &builder, const MatrixProduct &product, const LocalTensor &output) {
  unsigned sub = product.rightIsTransposed ? kTransposedRight : kRows;
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kMatMul, sub));
  command.set(Field::Res0Addr, output.tiuAddress()).set(Field::Res0Prec, output.prec());
  command.set(Field::Opd0Addr, product.left.tiuAddress());
  command.set(Field::Opd0Prec, product.left.prec());
  command.set(Field::Opd1Addr, product.right.tiuAddress()).set(Field::Opd2Const, 1);
  command.set(Field::ResAdd, product.accumulates);
  setFields(builder, command,
            {{Field::Res0C, output.shape[1]},
             {Field::Res0W, output.shape[3]},
             {Field::Opd1C, product.right.shape[1]},
             {Field::Opd1W, product.right.shape[3]}});
  builder.add(command);
}

void addBias(Builder &builder, const LocalTensor &output, uint32_t address) {
  LocalTensor row = localTensor(DataType::F32, {1, kLanes, 1, output.shape[3]}, address);
  addArith(builder, ArithOp::Add, output, output, repeatedOverLanes(row, output.shape[1]));
}

} // namespace

Expected<uint32_t> matrixProductScratch(const MatrixProduct &product) {
  return checkedScratch("matrix product", product);
}

Expected<void> emitMatrixProduct(Builder &builder, const MatrixProduct &product) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), product);
  if (Expected<void> fits = checkScratch(builder.layer(), product.scratch, needed); !fits)
    return fits;
  LocalTensor sums = product.output;
  if (hasWideSums(product))
    sums = localTensor(DataType::F32, product.output.shape, product.scratch.address);
  if (product.left.type == DataType::F32)
    addConvolutions(builder, product);
  else
    addShortProduct(builder, product, sums);
  if (product.biasAddress)
    addBias(builder, sums, *product.biasAddress);
  if (hasWideSums(product))
    addCast(builder, product.output, sums);
  addActivation(builder, product.output, product.activation);
  return {};
}

int64_t rowProductWidth(int64_t columns) {
  constexpr int64_t kLeast = 16;
  return std::min(columns, alignUp(ceilDiv(columns, kLanes), kLeast));
}

Expected<void> checkRowProduct(const RowProduct &product) {
  const std::string where = "matrix product";
  for (const auto &[name, tensor] :
       {std::pair{"left", &product.left}, std::pair{"right", &product.right},
        std::pair{"output", &product.output}}) {
    if (tensor->type != DataType::F32)
      return makeError(where, fmt::format("{} of {}", name, dataTypeName(tensor->type)), "f32");
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return fits;
  }
  auto chunked = [](int64_t rows, int64_t columns, int64_t width) {
    return Extents{rows, ceilDiv(columns, width), 1, width};
  };
  if (product.inner < 1 || product.columns < 1 || product.left.shape[3] < 1 ||
      product.output.shape[3] < 1 ||
      product.left.shape != chunked(product.left.shape[0], product.inner, product.left.shape[3]) ||
      product.right.shape != chunked(product.inner, product.columns, product.output.shape[3]) ||
      product.output.shape !=
          chunked(product.left.shape[0], product.columns, product.output.shape[3]))
    return makeError(
        where,
        fmt::format("[{}] times [{}] to [{}], {} inner, {} columns",
                    fmt::join(product.left.shape, ","), fmt::join(product.right.shape, ","),
                    fmt::join(product.output.shape, ","), product.inner, product.columns),
        "rows n, and chunks of equal width for right and output");
  if (product.biasAddress && product.accumulates)
    return makeError(where, "a bias and an accumulation", "the bias with the first part");
  return {};
}

Expected<void> emitRowProduct(Builder &builder, const RowProduct &product) {
  if (Expected<void> fits = checkRowProduct(product); !fits)
    return makeError(builder.layer(), fits.error().found, fits.error().expected);
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kMatMul, kChunks));
  const Extents &left = product.left.shape;
  const LocalTensor &output = product.output;
  command.set(Field::Res0Addr, output.tiuAddress()).set(Field::Res0Prec, output.prec());
  command.set(Field::Opd0Addr, product.left.tiuAddress()).set(Field::Opd0Prec, output.prec());
  command.set(Field::Opd1Addr, product.right.tiuAddress());
  command.set(Field::ResAdd, product.accumulates);
  if (product.biasAddress)
    command.set(Field::Opd2Addr, output.startLane * kLaneBytes + *product.biasAddress);
  else
    command.set(Field::Opd2Const, 1);
  setFields(builder, command,
            {{Field::Res0C, output.shape[1]},
             {Field::Res0W, output.shape[3]},
             {Field::Opd0N, left[0]},
             {Field::Opd0C, left[1]},
             {Field::Opd0W, left[3]},
             {Field::Opd1W, product.inner - (left[1] - 1) * left[3]}});
  builder.add(command);
  addActivation(builder, output, product.activation);
  return {};
}

namespace {

/// The local side is [rows, chunks, 1, width], the other one rows of `columns` elements.
Expected<void> addMatrixTransfer(Builder &builder, const LocalTensor &local, uint64_t address,
                                 int64_t rowStride, int64_t columns, bool toLocal) {
  const Extents &shape = local.shape;
  if (!precOf(local.type) || shape[2] != 1 || shape[3] < 1 || columns < 1 ||
      shape[1] != ceilDiv(columns, shape[3]))
    return makeError(builder.layer(),
                     fmt::format("{} columns in [{}] of {}", columns, fmt::join(shape, ","),
                                 dataTypeName(local.type)),
                     "[rows, columns / width, 1, width] of 1, 2 or 4 bytes");
  Command command = Command::make(*findCommandOp(Engine::Gdma, gdma::kMatrix, 0));
  command.set(Field::SrcPrec, local.prec()).set(Field::StrideEnable, 1);
  uint64_t from = toLocal ? address : local.gdmaAddress();
  uint64_t to = toLocal ? local.gdmaAddress() : address;
  command.set(Field::SrcAddrL32, from & 0xFFFFFFFF).set(Field::SrcAddrH8, from >> 32);
  command.set(Field::DstAddrL32, to & 0xFFFFFFFF).set(Field::DstAddrH8, to >> 32);
  Extents strides = local.strides();
  setFields(builder, command,
            {{toLocal ? Field::SrcHsize : Field::DstHsize, shape[0]},
             {toLocal ? Field::SrcWsize : Field::DstWsize, columns},
             {toLocal ? Field::SrcHstride : Field::DstHstride, rowStride},
             {toLocal ? Field::DstNsize : Field::SrcNsize, shape[0]},
             {toLocal ? Field::DstCsize : Field::SrcCsize, shape[1]},
             {toLocal ? Field::DstWsize : Field::SrcWsize, shape[3]},
             {toLocal ? Field::DstNstride : Field::SrcNstride, strides[0]},
             {toLocal ? Field::DstCstride : Field::SrcCstride, strides[1]}});
  builder.add(command);
  return {};
}

} // namespace

Expected<void> emitLoadMatrix(Builder &builder, uint64_t from, int64_t rowStride, int64_t columns,
                              const LocalTensor &to) {
  return addMatrixTransfer(builder, to, from, rowStride, columns, true);
}

Expected<void> emitStoreMatrix(Builder &builder, const LocalTensor &from, int64_t columns,
                               uint64_t to, int64_t rowStride) {
  return addMatrixTransfer(builder, from, to, rowStride, columns, false);
}

} // namespace tpuc::bm1684x
