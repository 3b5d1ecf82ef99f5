//===- Conv.cpp - Convolution (CONV) --------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Window.h"
#include "tpuc/Target/BM168x/WindowTiles.h"

#include <bit>
#include <cstring>
#include <span>

namespace tpuc::bm1684x {

using bm168x::BlockSums;
using bm168x::ColumnTile;
using bm168x::FloatSums;
using bm168x::IntSums;
using bm168x::storeSums;
using bm168x::WindowTile;

namespace {

struct ConvPlan {
  unsigned sub;
  Window window;
  View result;
  Source input, weight, extra;
  Fillers fillers;
  std::optional<View> old; ///< What the sums are added to.
  bool rotates;
  bool resultSigned;
  int shift;
};

/// What all precisions share.
template <typename SumsT> struct ConvJob {
  Exec &exec;
  const ConvPlan &plan;
  SumsT sums{};
  int64_t batches, rows, columns, numSegments;
  int64_t channels, positions;
  std::vector<typename SumsT::Weight> weights;
  std::vector<uint32_t> pads, inserts;
  Located input, result, extra;
  std::optional<Located> old;
  Snapshot snapshots[2];

  ConvJob(Exec &exec, const ConvPlan &plan) : exec(exec), plan(plan) {
    const Extents &shape = plan.result.shape;
    batches = shape[0];
    rows = shape[1];
    columns = shape[2] * shape[3];
    channels = plan.input.view->shape[1];
    positions = plan.window.kernel[0] * plan.window.kernel[1];
    input = snapshots[0].take(exec, plan.input, mustCopyAlways(plan.result, plan.input));
    result = locateLocal(exec, plan.result);
    extra = locate(exec, plan.extra);
    if (plan.old) {
      Source source;
      source.view = plan.old;
      old = snapshots[1].take(exec, source, mustCopyFor(plan.result, source));
    }
    for (int64_t c = 0; c < channels; ++c) {
      pads.push_back(plan.fillers.pad(exec, c));
      inserts.push_back(plan.fillers.insert(exec, c));
    }
  }

  WindowTile prepare(const ColumnTile &tile) const {
    const Extents &stride = plan.input.view->stride;
    return bm168x::makeWindowTile(plan.window, stride[2], stride[3], tile);
  }

  /// The tile's elements of a channel at a position of the kernel, as raw bits.
  template <typename T>
  void gather(const WindowTile &tile, int64_t c, int64_t position, T *out) const {
    auto at = static_cast<size_t>(c);
    bm168x::gatherRuns(tile.runs[static_cast<size_t>(position)], input.channel(tile.batch, c),
                       pads[at], inserts[at], out);
  }
  void gatherFloats(const WindowTile &tile, int64_t c, int64_t position, float *out) const {
    Prec prec = plan.input.prec;
    if (prec == Prec::F32) {
      auto *bits = reinterpret_cast<uint8_t *>(out);
      gather(tile, c, position, reinterpret_cast<uint32_t *>(out));
      return exec.kernels.loadFloat(prec, bits, 1, tile.count, out);
    }
    alignas(64) uint16_t raw[kTile] = {};
    gather(tile, c, position, raw);
    exec.kernels.loadFloat(prec, reinterpret_cast<const uint8_t *>(raw), 1, kTile, out);
  }

  /// Fills `weights` from rows of `convert(oc, slot)`, which holds an output channel's weights as
  /// the chip stores them.
  template <typename Convert> void packWeights(const Convert &convert) {
    using Weight = typename SumsT::Weight;
    int64_t block = channelBlock(plan.input.prec);
    int64_t slot = alignUp(channels, block) * positions;
    int64_t stride = numSegments * SumsT::kDepth;
    weights.assign(static_cast<size_t>(rows * stride), 0);
    overIndices(exec, rows, slot, [&](int64_t begin, int64_t end) {
      ScopedFlush flush;
      for (int64_t oc = begin; oc < end; ++oc) {
        std::span<Weight> row(weights.data() + oc * stride, static_cast<size_t>(slot));
        convert(oc, row);
        if (plan.rotates)
          rotate(row, block);
        clearUnused(row, block);
      }
    });
  }
  /// Turns the kernels of a row by 180 degrees: the blocks of channels take the opposite positions.
  void rotate(std::span<typename SumsT::Weight> row, int64_t block) const {
    for (int64_t b = 0; b < ceilDiv(channels, block); ++b)
      for (int64_t position = 0; position < positions / 2; ++position) {
        auto *at = row.data() + b * positions * block;
        std::swap_ranges(at + position * block, at + (position + 1) * block,
                         at + (positions - 1 - position) * block);
      }
  }
  /// The last block of channels may be filled up with anything.
  void clearUnused(std::span<typename SumsT::Weight> row, int64_t block) const {
    int64_t used = channels % block;
    if (used == 0)
      return;
    for (int64_t position = 0; position < positions; ++position)
      std::fill_n(row.end() - (position + 1) * block + used, block - used, 0);
  }

  void loadWeights(int64_t oc, std::span<float> raw) const {
    const Source &source = plan.weight;
    Located located = locate(exec, source);
    exec.kernels.loadFloat(source.prec, located.channel(0, oc), source.view ? 1 : 0,
                           static_cast<int64_t>(raw.size()), raw.data());
  }

  /// The bias, and for f32 the second addend.
  void startFloat(const ColumnTile &tile, int64_t row, float *sum, float *second) const {
    float bias;
    exec.kernels.loadFloat(Prec::F32, extra.channel(0, row), 1, 1, &bias);
    std::fill_n(sum, kTile, bias);
    if (second)
      std::fill_n(second, kTile, 0.0f);
    if (!old)
      return;
    const uint8_t *from = old->channel(tile.batch, row) + tile.first * 4;
    if (second)
      return exec.kernels.loadFloat(Prec::F32, from, 1, tile.count, second);
    alignas(64) float before[kTile] = {};
    exec.kernels.loadFloat(Prec::F32, from, 1, tile.count, before);
    exec.kernels.arithFloat(RowOp::Add, kTile, sum, before, sum);
  }

  uint8_t *resultAt(const ColumnTile &tile, int64_t row) const {
    return result.channel(tile.batch, row) + tile.first * plan.result.bytes();
  }
  void finishFloat(const ColumnTile &tile, int64_t row, const float *sum) const {
    storeSums(exec.kernels, plan.result.prec, resultAt(tile, row), tile.count, sum);
  }
};

struct FloatConv : ConvJob<FloatSums> {
  FloatConv(Exec &exec, const ConvPlan &plan) : ConvJob(exec, plan) {
    numSegments = ceilDiv(channels * positions, FloatSums::kDepth);
    sums.startsOdd = !plan.old;
    packWeights([&](int64_t oc, std::span<float> raw) { loadWeights(oc, raw); });
  }
  int64_t depth(int64_t segment) const {
    return std::min(FloatSums::kDepth, channels * positions - segment * FloatSums::kDepth);
  }
  void fill(const WindowTile &tile, int64_t segment, float *x) const {
    for (int64_t k = 0; k < depth(segment); ++k) {
      int64_t at = segment * FloatSums::kDepth + k;
      gatherFloats(tile, at / positions, at % positions, x + k * kTile);
    }
  }
  void start(const ColumnTile &tile, int64_t row, float *even, float *odd) const {
    startFloat(tile, row, even, odd);
  }
  void finish(const ColumnTile &tile, int64_t row, const float *sum) const {
    finishFloat(tile, row, sum);
  }
};

struct BlockConv : ConvJob<BlockSums> {
  BlockConv(Exec &exec, const ConvPlan &plan) : ConvJob(exec, plan) {
    numSegments = ceilDiv(channels, kBlock) * positions;
    packWeights([&](int64_t oc, std::span<float> raw) { loadWeights(oc, raw); });
  }
  int64_t depth(int64_t segment) const {
    return std::min(kBlock, channels - segment / positions * kBlock);
  }
  void fill(const WindowTile &tile, int64_t segment, float *x) const {
    int64_t block = segment / positions;
    for (int64_t k = 0; k < depth(segment); ++k)
      gatherFloats(tile, block * kBlock + k, segment % positions, x + k * kTile);
  }
  void start(const ColumnTile &tile, int64_t row, float *sum, float *) const {
    startFloat(tile, row, sum, nullptr);
  }
  void finish(const ColumnTile &tile, int64_t row, const float *sum) const {
    finishFloat(tile, row, sum);
  }
};

struct IntConv : ConvJob<IntSums> {
  IntConv(Exec &exec, const ConvPlan &plan) : ConvJob(exec, plan) {
    numSegments = ceilDiv(channels, IntSums::kDepth) * positions;
    packWeights([&](int64_t oc, std::span<int16_t> raw) { loadInts(oc, raw); });
  }
  /// Weights minus the kernel's zero point, which a requantizing convolution lacks.
  void loadInts(int64_t oc, std::span<int16_t> raw) const {
    int32_t zeroPoint = 0;
    if (plan.sub == 0)
      exec.kernels.loadInt32(Prec::I8, plan.extra.isSigned, extra.channel(0, oc), 1, 1, &zeroPoint);
    Located located = locate(exec, plan.weight);
    const uint8_t *from = located.channel(0, oc);
    bool isTensor = plan.weight.view.has_value();
    for (size_t i = 0; i < raw.size(); ++i) {
      uint8_t bits = from[isTensor ? i : 0];
      int32_t value = plan.weight.isSigned ? static_cast<int8_t>(bits) : bits;
      raw[i] = static_cast<int16_t>(value - zeroPoint);
    }
  }
  int64_t depth(int64_t segment) const {
    return std::min(IntSums::kDepth, channels - segment / positions * IntSums::kDepth);
  }
  void fill(const WindowTile &tile, int64_t segment, int16_t *x) const {
    int64_t first = segment / positions * IntSums::kDepth;
    int64_t count = depth(segment);
    alignas(64) uint8_t a[kTile] = {};
    alignas(64) uint8_t b[kTile] = {};
    for (int64_t k = 0; k < count; k += 2) {
      gather(tile, first + k, segment % positions, a);
      if (k + 1 < count)
        gather(tile, first + k + 1, segment % positions, b);
      else
        std::memset(b, 0, sizeof b);
      exec.kernels.interleave(plan.input.isSigned, a, b, x + k * kTile);
    }
  }
  void loadOld(const ColumnTile &tile, int64_t row, int32_t *values) const {
    exec.kernels.loadInt32(Prec::I32, true, old->channel(tile.batch, row) + tile.first * 4, 1,
                           tile.count, values);
  }
  void start(const ColumnTile &tile, int64_t row, int32_t *sum, int32_t *) const {
    std::fill_n(sum, kTile, 0);
    if (old && plan.sub == 0)
      loadOld(tile, row, sum);
  }
  void finish(const ColumnTile &tile, int64_t row, const int32_t *sum) const {
    const Kernels &k = exec.kernels;
    uint8_t *to = resultAt(tile, row);
    if (plan.sub == 0)
      return k.storeInt32(plan.result.prec, plan.resultSigned, true, to, 1, tile.count, sum);
    int32_t bias;
    k.loadInt32(Prec::I16, plan.extra.isSigned, extra.channel(0, row), 1, 1, &bias);
    alignas(64) int64_t values[kTile];
    for (int64_t i = 0; i < tile.count; ++i) {
      values[i] = static_cast<int64_t>(sum[i]) + bias;
      if (plan.sub == 2)
        values[i] = std::max<int64_t>(values[i], 0);
    }
    k.shiftInt64(tile.count, values, -plan.shift, 5);
    if (old) {
      // What is requantized is added to the old result, and wraps.
      alignas(64) int32_t before[kTile];
      loadOld(tile, row, before);
      for (int64_t i = 0; i < tile.count; ++i)
        values[i] += before[i];
      return k.storeInt64(Prec::I32, true, false, to, 1, tile.count, values);
    }
    k.storeInt64(plan.result.prec, plan.resultSigned, true, to, 1, tile.count, values);
  }
};

template <typename Job> Step convStep(const ConvPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    ScopedFlush flush;
    Job job(exec, plan);
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
  plan.sub = decoded.sub();
  plan.window = *window;
  plan.result = decoded.result();
  Prec prec = decoded.prec(Field::Opd0Prec);
  Prec resPrec = plan.result.prec;
  bool isFloat = isFloatPrec(prec);
  bool inputSigned = decoded.flag(Field::Opd0Sign);
  bool weightSigned = decoded.flag(Field::Opd1Sign);
  bool extraSigned = decoded.flag(Field::Opd2Sign);
  plan.input = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, inputSigned);
  plan.weight = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, weightSigned);
  plan.fillers = fillersOf(decoded, prec, inputSigned);
  plan.rotates = decoded.flag(Field::KernelRotate);
  bool adds = decoded.flag(Field::ResAdd);
  if (isFloat) {
    if (resPrec != prec && resPrec != Prec::F32)
      return decoded.unsupported("a result of another type");
    // Requantization is for integers: sub-opcodes 1 and 2 mean the same as 0 here.
    plan.sub = 0;
    plan.extra = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::F32, true);
    if (adds) {
      const View *old = decoded.operands.find(Role::Res1);
      plan.old = old ? *old : plan.result;
    }
    return prec == Prec::F32 ? convStep<FloatConv>(plan) : convStep<BlockConv>(plan);
  }
  if (prec != Prec::I8)
    return decoded.unsupported("integers of other types than i8");
  bool isRequant = plan.sub != 0;
  plan.extra =
      sourceOf(decoded, Role::Opd2, Field::Opd2Addr, isRequant ? Prec::I16 : Prec::I8, extraSigned);
  plan.shift = static_cast<int>(decoded.get(Field::Opd3Addr) & 31);
  plan.resultSigned = plan.sub != 2 && (inputSigned || weightSigned || extraSigned);
  if (isFloatPrec(resPrec))
    return decoded.unsupported("a result of this type");
  // A zero point that is subtracted gives a sum with a sign; the constant 0 is none.
  const bool hasZeroPoint = plan.extra.view || (plan.extra.immediate & 0xFF) != 0;
  if (!isRequant)
    plan.resultSigned =
        inputSigned || weightSigned || extraSigned || hasZeroPoint || resPrec == Prec::I32;
  if (isRequant) {
    plan.fillers.source.view.reset();
    plan.fillers.source.immediate = plan.fillers.insertImmediate = 0;
  }
  // Shorter results do not accumulate, whatever the flag says.
  if (adds && resPrec == Prec::I32)
    plan.old = plan.result;
  return convStep<IntConv>(plan);
}

} // namespace tpuc::bm1684x
