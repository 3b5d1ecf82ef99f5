//===- Conv.cpp - Convolution (CONV) --------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Exec.h"
#include "tpuc/Target/BM1684/Machine/Results.h"
#include "tpuc/Target/BM1684/Machine/Windows.h"
#include "tpuc/Target/BM168x/WindowTiles.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684 {

using bm168x::ColumnTile;
using bm168x::FourFloatSums;
using bm168x::IntSums;
using bm168x::kTile;
using bm168x::WindowTile;

Expected<Window> windowOf(const Decoded &decoded) {
  Expected<Window> read = bm168x::readWindow(decoded.command, decoded.where);
  if (!read)
    return read;
  // Strides of 0 let a few bytes stand for any number of elements.
  constexpr int64_t kMostProducts = int64_t{1} << 38;
  const Extents &result = decoded.result().shape;
  const bool isConv = decoded.command.operation().opcode == tiu::kConv;
  int64_t products = isConv ? decoded.tensors.find(Role::Opd0)->shape[1] : 1;
  for (const int64_t factor :
       {result[0], result[1], result[2], result[3], read->kernel[0], read->kernel[1]})
    if (__builtin_mul_overflow(products, factor, &products) || products > kMostProducts)
      return makeError(decoded.where,
                       fmt::format("{}: windows of {}x{} over results [{}]",
                                   decoded.command.operation().name, read->kernel[0],
                                   read->kernel[1], fmt::join(result, ",")),
                       fmt::format("{} products at most", kMostProducts));
  return read;
}

namespace {

struct ConvPlan {
  Window window;
  Tensor result;
  Source input, weight;
  std::optional<Source> bias;
  bool adds;
  bool rotates;
  IntFinish finish;
};

/// What both types share. The depth runs over positions of the kernel, then over input channels.
template <typename SumsT> struct ConvJob {
  Exec &exec;
  const ConvPlan &plan;
  SumsT sums{};
  int64_t batches, rows, columns, numSegments;
  int64_t channels, padded, positions;
  std::vector<typename SumsT::Weight> weights;
  Located input, result, weight, bias;
  Snapshot snapshots[3];

  ConvJob(Exec &exec, const ConvPlan &plan) : exec(exec), plan(plan) {
    rows = plan.result.shape[1];
    channels = plan.input.tensor->shape[1];
    padded = plan.weight.tensor->shape[0];
    positions = plan.window.kernel[0] * plan.window.kernel[1];
    input = snapshots[0].take(exec, plan.input, mustCopyAlways(plan.result, plan.input));
    weight = snapshots[1].take(exec, plan.weight, mustCopyAlways(plan.result, plan.weight));
    if (plan.bias)
      bias = snapshots[2].take(exec, *plan.bias, mustCopyAlways(plan.result, *plan.bias));
    result = locate(exec, plan.result);
  }

  /// The weight of a channel at a position, where it lies.
  const uint8_t *weightAt(int64_t oc, int64_t position, int64_t ic) const {
    const int64_t width = plan.window.kernel[1];
    const int64_t at = plan.rotates ? positions - 1 - position : position;
    return weight.at(ic, oc, at / width) + at % width * weight.step[3];
  }
  /// `pixels` counts words.
  WindowTile windowTile(int64_t batch, int64_t first, int64_t count) const {
    const Extents &stride = plan.input.tensor->stride;
    return bm168x::makeWindowTile(plan.window, stride[2], stride[3], {batch, first, count});
  }
};

struct FloatConv : ConvJob<FourFloatSums> {
  FloatConv(Exec &exec, const ConvPlan &plan) : ConvJob(exec, plan) {
    constexpr int64_t kDepth = FourFloatSums::kDepth;
    batches = plan.result.shape[0];
    columns = plan.result.shape[2] * plan.result.shape[3];
    numSegments = ceilDiv(padded * positions, kDepth);
    weights.assign(static_cast<size_t>(rows * numSegments * kDepth), 0);
    overIndices(exec.pool, rows, padded * positions, [&](int64_t begin, int64_t end) {
      for (int64_t oc = begin; oc < end; ++oc)
        for (int64_t k = 0; k < padded * positions; ++k)
          // What fills the channels up has products of 0, whatever its weight.
          if (k % padded < channels)
            std::memcpy(
                &weights[static_cast<size_t>(oc * numSegments * kDepth + k / kDepth * kDepth +
                                             FourFloatSums::split(k % kDepth))],
                weightAt(oc, k / padded, k % padded), 4);
    });
  }
  WindowTile prepare(const ColumnTile &tile) const {
    return windowTile(tile.batch, tile.first, tile.count);
  }
  int64_t depth(int64_t segment) const {
    return std::min(FourFloatSums::kDepth, padded * positions - segment * FourFloatSums::kDepth);
  }
  void fill(const WindowTile &tile, int64_t segment, float *x) const {
    for (int64_t k = 0; k < depth(segment); ++k) {
      const int64_t at = segment * FourFloatSums::kDepth + k;
      float *row = x + FourFloatSums::split(k) * kTile;
      if (at % padded >= channels) {
        std::fill_n(row, kTile, 0.0f);
        continue;
      }
      auto *bits = reinterpret_cast<uint32_t *>(row);
      bm168x::gatherRuns(tile.runs[static_cast<size_t>(at / padded)],
                         input.at(tile.batch, at % padded, 0), 0, 0, bits);
    }
  }
  void start(const ColumnTile &, int64_t, float *a, float *b) const {
    std::fill_n(a, kTile, 0.0f);
    std::fill_n(b, kTile, 0.0f);
  }
  void finish(const ColumnTile &tile, int64_t row, const float *sum) const {
    const Kernels &k = exec.kernels;
    alignas(64) float values[kTile], other[kTile];
    std::copy_n(sum, kTile, values);
    if (plan.bias) {
      k.loadFloat(Prec::F32, bias.at(0, row, 0), 0, kTile, other);
      k.arithFloat(RowOp::Add, kTile, values, other, values);
    }
    overPixels(tile, row, [&](uint8_t *at, int64_t first, int64_t count) {
      if (plan.adds) {
        k.loadFloat(Prec::F32, at, result.stride(), count, other);
        k.arithFloat(RowOp::Add, count, values + first, other, values + first);
      }
      k.storeFloat(Prec::F32, at, result.stride(), count, values + first);
    });
  }
  /// The rows of the result that the tile covers.
  template <typename Body>
  void overPixels(const ColumnTile &tile, int64_t row, const Body &body) const {
    overRowsOf(plan.result.shape[3], tile.first, tile.count,
               [&](int64_t h, int64_t w, int64_t first, int64_t count) {
                 body(result.at(tile.batch, row, h) + w * result.step[3], first, count);
               });
  }
};

/// Columns are the four batch items of each pixel, which lie beside each other.
struct IntConv : ConvJob<IntSums> {
  static constexpr int64_t kItems = 4;

  IntConv(Exec &exec, const ConvPlan &plan) : ConvJob(exec, plan) {
    constexpr int64_t kDepth = IntSums::kDepth;
    batches = ceilDiv(plan.result.shape[0], kItems);
    columns = plan.result.shape[2] * plan.result.shape[3] * kItems;
    numSegments = ceilDiv(channels * positions, kDepth);
    weights.assign(static_cast<size_t>(rows * numSegments * kDepth), 0);
    overIndices(exec.pool, rows, channels * positions, [&](int64_t begin, int64_t end) {
      for (int64_t oc = begin; oc < end; ++oc)
        for (int64_t k = 0; k < channels * positions; ++k) {
          const uint8_t bits = *weightAt(oc, k / channels, k % channels);
          weights[static_cast<size_t>(oc * numSegments * kDepth + k)] =
              plan.weight.isSigned ? static_cast<int8_t>(bits) : bits;
        }
    });
  }
  WindowTile prepare(const ColumnTile &tile) const {
    return windowTile(tile.batch, tile.first / kItems, tile.count / kItems);
  }
  int64_t depth(int64_t segment) const {
    return std::min(IntSums::kDepth, channels * positions - segment * IntSums::kDepth);
  }
  void gather(const WindowTile &tile, int64_t k, uint8_t *out) const {
    bm168x::gatherRuns(tile.runs[static_cast<size_t>(k / channels)],
                       input.at(tile.batch * kItems, k % channels, 0), 0, 0,
                       reinterpret_cast<uint32_t *>(out));
  }
  void fill(const WindowTile &tile, int64_t segment, int16_t *x) const {
    const int64_t count = depth(segment);
    alignas(64) uint8_t a[kTile] = {}, b[kTile] = {};
    for (int64_t k = 0; k < count; k += 2) {
      gather(tile, segment * IntSums::kDepth + k, a);
      if (k + 1 < count)
        gather(tile, segment * IntSums::kDepth + k + 1, b);
      else
        std::memset(b, 0, sizeof b);
      exec.kernels.interleave(plan.input.isSigned, a, b, x + k * kTile);
    }
  }
  void start(const ColumnTile &, int64_t, int32_t *sum, int32_t *) const {
    std::fill_n(sum, kTile, 0);
  }
  void finish(const ColumnTile &tile, int64_t row, const int32_t *sum) const {
    int32_t added = 0;
    if (plan.bias)
      exec.kernels.loadInt32(Prec::I16, plan.bias->isSigned, bias.at(0, row, 0), 1, 1, &added);
    alignas(64) int32_t values[kTile];
    plan.finish.apply(kTile, sum, added, values);
    const int64_t n = tile.batch * kItems;
    // Other batch items of the word stay as they are.
    const int64_t items = std::min(kItems, plan.result.shape[0] - n);
    overRowsOf(plan.result.shape[3], tile.first / kItems, tile.count / kItems,
               [&](int64_t h, int64_t w, int64_t first, int64_t count) {
                 uint8_t *at = result.at(n, row, h) + w * result.step[3];
                 for (int64_t i = 0; i < count; ++i, at += result.step[3])
                   storeItems(at, values + (first + i) * kItems, items);
               });
  }
  void storeItems(uint8_t *at, const int32_t *values, int64_t items) const {
    if (plan.result.prec == Prec::I8) {
      const uint32_t word = (values[0] & 0xFF) | (values[1] & 0xFF) << 8 |
                            (values[2] & 0xFF) << 16 | static_cast<uint32_t>(values[3]) << 24;
      if (items == kItems)
        std::memcpy(at, &word, 4);
      else if (items == 1)
        *at = static_cast<uint8_t>(word);
      else
        std::memcpy(at, &word, static_cast<size_t>(items));
      return;
    }
    for (int64_t i = 0; i < items; ++i) {
      const auto bits = static_cast<uint16_t>(values[i]);
      std::memcpy(at + i * 2, &bits, 2);
    }
  }
};

template <typename Job> Step convStep(const ConvPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    const Job job(exec, plan);
    bm168x::runGemm(exec.pool, exec.kernels, job);
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareConv(const Decoded &decoded) {
  Expected<Window> window = windowOf(decoded);
  if (!window)
    return propagate(window);
  ConvPlan plan{};
  plan.window = *window;
  plan.result = decoded.result();
  const Prec prec = decoded.prec(Field::Opd0Prec);
  plan.input = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, decoded.flag(Field::Opd0Sign));
  plan.weight = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, decoded.flag(Field::Opd1Sign));
  if (decoded.tensors.find(Role::Opd2))
    plan.bias =
        sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::I16, decoded.flag(Field::Opd2Sign));
  plan.adds = decoded.flag(Field::ResAdd);
  plan.rotates = decoded.flag(Field::KernelRotate);
  if (prec == Prec::F32)
    return convStep<FloatConv>(plan);
  plan.finish = intFinishOf(decoded);
  return convStep<IntConv>(plan);
}

} // namespace tpuc::bm1684
