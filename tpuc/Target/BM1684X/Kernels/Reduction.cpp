//===- Reduction.cpp - Reductions------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Room.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kSums = 1, kMaxima = 4, kNormalProduct = 4;

bool isSum(ReduceKind kind) { return kind == ReduceKind::Sum || kind == ReduceKind::Mean; }

/// Sums over h and w in 16 bits are products with a matrix of ones, whose sums are F32.
bool isProduct(const Reduction &reduction) {
  return isSum(reduction.kind) && !reduction.overWidth && reduction.input.type != DataType::F32;
}

/// Sums over w in 16 bits are taken of a copy in F32.
bool isWidened(const Reduction &reduction) {
  return isSum(reduction.kind) && reduction.overWidth && reduction.input.type != DataType::F32;
}

LocalTensor wide(const LocalTensor &tensor, Room &room) {
  return room.take(DataType::F32, tensor.shape, tensor.startLane);
}

uint32_t wideBytes(const LocalTensor &tensor) {
  return laneBytes(DataType::F32, tensor.shape, Layout::Aligned, tensor.startLane);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Reduction &reduction) {
  const LocalTensor &in = reduction.input;
  const LocalTensor &out = reduction.output;
  for (const auto &[name, tensor] : {std::pair{"input", &in}, std::pair{"output", &out}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  Extents wanted = {in.shape[0], in.shape[1], reduction.overWidth ? in.shape[2] : 1, 1};
  if (out.shape != wanted || out.type != in.type || out.startLane != in.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","),
                                 dataTypeName(in.type), fmt::join(out.shape, ","),
                                 dataTypeName(out.type)),
                     fmt::format("[{}] of the same type and lane", fmt::join(wanted, ",")));
  if (isProduct(reduction))
    return wideBytes(out);
  if (isWidened(reduction))
    return wideBytes(in) + wideBytes(out);
  return reduction.kind == ReduceKind::Min
             ? laneBytes(in.type, in.shape, Layout::Aligned, in.startLane)
             : 0;
}

/// Sums (times `scale`) or maxima over windows that see all of h and w, or rows.
void addWindows(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                bool overWidth, bool isMaximum, double scale) {
  unsigned sub = isMaximum ? kMaxima : kSums;
  Command command = Command::make(*findOperation(Engine::Tiu, tiu::kPorD, sub));
  Window2d window;
  window.kernel = {overWidth ? 1 : input.shape[2], input.shape[3]};
  const std::pair<Field, int64_t> shape[] = {{Field::Res0N, output.shape[0]},
                                             {Field::Res0C, output.shape[1]},
                                             {Field::Res0H, output.shape[2]},
                                             {Field::Res0W, 1}};
  for (auto [field, value] : shape)
    setField(builder, command, field, value);
  setWindow(builder, command, window, input.shape);
  command.set(Field::Res0Addr, output.tiuAddress()).set(Field::Res0Prec, output.prec());
  command.set(Field::Opd0Addr, input.tiuAddress()).set(Field::Opd0Prec, input.prec());
  command.set(Field::Opd1Const, 1).set(Field::Opd2Const, 1).set(Field::Opd3Const, 1);
  if (!isMaximum)
    command.set(Field::Opd1Addr, immediateBits(input.type, scale));
  builder.add(command);
}

/// output [1,c,1,1] F32 = the sums over h and w of input [1,c,h,w] of 16 bits.
void addOnesProduct(Builder &builder, const LocalTensor &output, const LocalTensor &input) {
  Command command = Command::make(*findOperation(Engine::Tiu, tiu::kMatMul, kNormalProduct));
  command.set(Field::Res0Addr, output.tiuAddress()).set(Field::Res0Prec, output.prec());
  command.set(Field::Opd0Addr, input.tiuAddress()).set(Field::Opd0Prec, input.prec());
  command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, immediateBits(input.type, 1));
  command.set(Field::Opd2Const, 1);
  const std::pair<Field, int64_t> extents[] = {{Field::Res0C, output.shape[1]},
                                               {Field::Res0W, 1},
                                               {Field::Opd1C, input.shape[2] * input.shape[3]},
                                               {Field::Opd1W, 1}};
  for (auto [field, value] : extents)
    setField(builder, command, field, value);
  builder.add(command);
}

/// Minima are the negative maxima of what is negative.
void addMinima(Builder &builder, const Reduction &reduction) {
  LocalTensor negative = reduction.input.at(reduction.scratch.address);
  negative.layout = Layout::Aligned;
  addArith(builder, ArithOp::Mul, negative, reduction.input, immediate(negative.type, -1));
  addWindows(builder, reduction.output, negative, reduction.overWidth, true, 1);
  addArith(builder, ArithOp::Mul, reduction.output, reduction.output, immediate(negative.type, -1));
}

} // namespace

Expected<uint32_t> reductionScratch(const Reduction &reduction) {
  return checkedScratch("reduction", reduction);
}

Expected<void> emitReduction(Builder &builder, const Reduction &reduction) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), reduction);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits = checkScratch(builder.layer(), reduction.scratch, *needed); !fits)
    return fits;
  const LocalTensor &in = reduction.input;
  const LocalTensor &out = reduction.output;
  const auto count = static_cast<double>((reduction.overWidth ? 1 : in.shape[2]) * in.shape[3]);
  const double scale = reduction.kind == ReduceKind::Mean ? 1 / count : 1;
  Room room{reduction.scratch.address};
  if (isProduct(reduction)) {
    LocalTensor sums = wide(out, room);
    for (int64_t n = 0; n < in.shape[0]; ++n)
      addOnesProduct(builder, sums.slice(0, n, 1), in.slice(0, n, 1));
    if (scale != 1)
      addArith(builder, ArithOp::Mul, sums, sums, immediate(DataType::F32, scale));
    addCast(builder, out, sums);
  } else if (isWidened(reduction)) {
    LocalTensor wideIn = wide(in, room);
    LocalTensor wideOut = wide(out, room);
    addCast(builder, wideIn, in);
    addWindows(builder, wideOut, wideIn, reduction.overWidth, false, scale);
    addCast(builder, out, wideOut);
  } else if (reduction.kind == ReduceKind::Min) {
    addMinima(builder, reduction);
  } else {
    addWindows(builder, out, in, reduction.overWidth, reduction.kind == ReduceKind::Max, scale);
  }
  return {};
}

} // namespace tpuc::bm1684x
