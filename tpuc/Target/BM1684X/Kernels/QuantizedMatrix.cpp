//===- QuantizedMatrix.cpp - Matrix products of quantized integers---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/Room.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kAsIs = 4, kTurned = 5;

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedMatrixProduct &product) {
  for (const auto &[name, tensor] :
       {std::pair{"left", &product.left}, std::pair{"right", &product.right}})
    if (Expected<void> fits = checkByteTensor(where, name, *tensor); !fits)
      return propagate(fits);
  const LocalTensor &out = product.output;
  bool holdsSums = out.type == DataType::I32;
  if (!isByte(out.type) && !holdsSums)
    return makeError(where, fmt::format("output of {}", dataTypeName(out.type)), "i8, u8 or i32");
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return propagate(fits);
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
  if (Expected<void> parameters = checkRequantize(where, product.requantize); !parameters)
    return propagate(parameters);
  return holdsSums ? 0 : laneBytes(DataType::I32, out.shape);
}

} // namespace

Expected<uint32_t> quantizedMatrixProductScratch(const QuantizedMatrixProduct &product) {
  return checkedScratch("matrix product", product);
}

Expected<void> emitQuantizedMatrixProduct(Builder &builder, const QuantizedMatrixProduct &product) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), product);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits = checkScratch(builder.layer(), product.scratch, *needed); !fits)
    return fits;
  Room room{product.scratch.address};
  const Extents &shape = product.output.shape;
  const bool holdsSums = product.output.type == DataType::I32;
  LocalTensor sums = holdsSums ? product.output : room.take(DataType::I32, shape);
  if (product.biasAddress) {
    LocalTensor row = localTensor(DataType::I32, {1, kLanes, 1, shape[3]}, *product.biasAddress);
    addInitialSums(builder, sums, repeatedOverLanes(row, shape[1]));
  }
  Command command = Command::make(
      *findOperation(Engine::Tiu, tiu::kMatMul, product.rightIsTransposed ? kTurned : kAsIs));
  setFields(builder, command,
            {{Field::Res0C, shape[1]},
             {Field::Res0W, shape[3]},
             {Field::Opd1C, product.right.shape[1]},
             {Field::Opd1W, product.right.shape[3]},
             {Field::Res0Addr, sums.tiuAddress()},
             {Field::Opd0Addr, product.left.tiuAddress()},
             {Field::Opd1Addr, product.right.tiuAddress()}});
  command.set(Field::Res0Prec, sums.prec()).set(Field::Opd0Prec, product.left.prec());
  command.set(Field::Opd0Sign, isSigned(product.left.type));
  command.set(Field::Opd1Sign, isSigned(product.right.type));
  command.set(Field::Opd2Const, 1);
  command.set(Field::Opd2Addr, static_cast<uint32_t>(product.rightZero) & 255);
  command.set(Field::ResAdd, product.biasAddress.has_value());
  builder.add(command);
  if (!holdsSums)
    addRequantize(builder, product.output, sums, product.requantize);
  return {};
}

} // namespace tpuc::bm1684x
