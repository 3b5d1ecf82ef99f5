//===- Pooling.cpp - Pooling-----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Pooling.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kAverage = 1, kMaximum = 4;

int64_t numTaps(const Window2d &window) { return window.kernel[0] * window.kernel[1]; }

/// One window that sees the whole image: a reduction.
bool isGlobal(const Pooling &pool) {
  constexpr std::array<int64_t, 2> kNone{0, 0};
  const Extents &input = pool.input.shape;
  return pool.isAverage && pool.output.shape[2] == 1 && pool.output.shape[3] == 1 &&
         pool.window.kernel == std::array<int64_t, 2>{input[2], input[3]} &&
         pool.window.padBegin == kNone && pool.window.padEnd == kNone &&
         pool.window.dilation == std::array<int64_t, 2>{1, 1};
}

/// Sums are taken in F32: in 16 bits the factor, each product and each addition would round.
bool isWidened(const Pooling &pool) {
  return pool.isAverage && pool.input.type != DataType::F32 && numTaps(pool.window) > 1;
}

Reduction reductionOf(const Pooling &pool) {
  return {ReduceKind::Mean, false, pool.input, pool.output, pool.scratch};
}

Expected<uint32_t> checkedScratch(const std::string &where, const Pooling &pool) {
  bool isByte = pool.input.type == DataType::I8 || pool.input.type == DataType::U8;
  if (!isKernelFloat(pool.input.type) && !(isByte && !pool.isAverage))
    return makeError(where, fmt::format("input of {}", dataTypeName(pool.input.type)),
                     pool.isAverage ? "f32, f16 or bf16" : "f32, f16, bf16, i8 or u8");
  const Extents &in = pool.input.shape;
  const Extents &out = pool.output.shape;
  if (pool.output.type != pool.input.type || in[0] != out[0] || in[1] != out[1])
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(in, ","),
                                 dataTypeName(pool.input.type), fmt::join(out, ","),
                                 dataTypeName(pool.output.type)),
                     "equal types, n and c");
  for (const auto &[name, tensor] :
       {std::pair{"input", &pool.input}, std::pair{"output", &pool.output}})
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  if (pool.activation.relu && isByte)
    return makeError(where, "an activation of integers", "none");
  if (isGlobal(pool))
    return reductionScratch(reductionOf(pool));
  if (Expected<void> fits = checkWindow(where, pool.window, in, out); !fits)
    return propagate(fits);
  if (!isWidened(pool))
    return 0;
  return laneBytes(DataType::F32, in, Layout::Aligned, pool.input.startLane) +
         laneBytes(DataType::F32, out, Layout::Aligned, pool.output.startLane);
}

void addPool(Builder &builder, const Pooling &pool) {
  unsigned sub = pool.isAverage ? kAverage : kMaximum;
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kPorD, sub));
  setResult(builder, command, pool.output);
  setWindow(builder, command, pool.window, pool.input.shape);
  DataType type = pool.input.type;
  command.set(Field::Opd0Addr, pool.input.tiuAddress()).set(Field::Opd0Prec, *precOf(type));
  command.set(Field::Opd0Sign, isSigned(type));
  command.set(Field::Opd1Const, 1).set(Field::Opd2Const, 1).set(Field::Opd3Const, 1);
  if (pool.isAverage)
    command.set(Field::Opd1Addr,
                immediateBits(type, 1.0 / static_cast<double>(numTaps(pool.window))));
  else
    command.set(Field::Opd3Addr, immediateBits(type, -std::numeric_limits<double>::infinity()));
  builder.add(command);
}

/// Windows at the border hold fewer elements than were divided by.
void addBorderCorrections(Builder &builder, const Pooling &pool) {
  for (unsigned axis = 0; axis < 2; ++axis) {
    const Window2d &window = pool.window;
    for (int64_t at = 0; at < pool.output.shape[axis + 2]; ++at) {
      int64_t count = 0;
      for (int64_t k = 0; k < window.kernel[axis]; ++k) {
        int64_t from = at * window.stride[axis] + k * window.dilation[axis] - window.padBegin[axis];
        count += from >= 0 && from < pool.input.shape[axis + 2] ? 1 : 0;
      }
      if (count == window.kernel[axis] || count == 0)
        continue;
      LocalTensor line = pool.output.slice(axis + 2, at, 1);
      double factor = static_cast<double>(window.kernel[axis]) / static_cast<double>(count);
      addArith(builder, ArithOp::Mul, line, line, immediate(line.type, factor));
    }
  }
}

void addAverage(Builder &builder, const Pooling &pool) {
  addPool(builder, pool);
  if (!pool.countsPadding)
    addBorderCorrections(builder, pool);
}

void addWidenedAverage(Builder &builder, const Pooling &pool) {
  Pooling wide = pool;
  wide.input = localTensor(DataType::F32, pool.input.shape, pool.scratch.address, Layout::Aligned,
                           pool.input.startLane);
  uint32_t after = pool.scratch.address + laneBytes(DataType::F32, pool.input.shape,
                                                    Layout::Aligned, pool.input.startLane);
  wide.output =
      localTensor(DataType::F32, pool.output.shape, after, Layout::Aligned, pool.output.startLane);
  addCast(builder, wide.input, pool.input);
  addAverage(builder, wide);
  addCast(builder, pool.output, wide.output);
}

} // namespace

Expected<uint32_t> poolingScratch(const Pooling &pool) { return checkedScratch("pooling", pool); }

Expected<void> emitPooling(Builder &builder, const Pooling &pool) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), pool);
  if (Expected<void> fits = checkScratch(builder.layer(), pool.scratch, needed); !fits)
    return fits;
  if (isGlobal(pool)) {
    if (Expected<void> done = emitReduction(builder, reductionOf(pool)); !done)
      return done;
  } else if (isWidened(pool)) {
    addWidenedAverage(builder, pool);
  } else if (pool.isAverage) {
    addAverage(builder, pool);
  } else {
    addPool(builder, pool);
  }
  addActivation(builder, pool.output, pool.activation);
  return {};
}

} // namespace tpuc::bm1684x
