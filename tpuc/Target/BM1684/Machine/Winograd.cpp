//===- Winograd.cpp - Convolution of 3x3 by Winograd's method -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Results.h"

#include <fmt/format.h>

namespace tpuc::bm1684 {

namespace {

struct WinogradPlan {
  Tensor result;
  Source input, weight;
  std::optional<Source> bias;
  int64_t up, left;
  IntFinish finish;
};

using Block = std::array<int32_t, 16>;

/// Bt * d * B for a block d of the image.
Block transformed(const Block &d) {
  const auto line = [](int32_t a, int32_t b, int32_t c, int32_t e) {
    return std::array<int32_t, 4>{a - c, b + c, c - b, b - e};
  };
  Block half, full;
  for (size_t x = 0; x < 4; ++x) {
    const auto column = line(d[x], d[4 + x], d[8 + x], d[12 + x]);
    for (size_t y = 0; y < 4; ++y)
      half[y * 4 + x] = column[y];
  }
  for (size_t y = 0; y < 4; ++y) {
    const auto row = line(half[y * 4], half[y * 4 + 1], half[y * 4 + 2], half[y * 4 + 3]);
    std::copy(row.begin(), row.end(), full.begin() + static_cast<ptrdiff_t>(y * 4));
  }
  return full;
}

/// At * m * A: four results of a block.
std::array<int32_t, 4> reduced(const Block &m) {
  std::array<int32_t, 8> half;
  for (size_t x = 0; x < 4; ++x) {
    half[x] = m[x] + m[4 + x] + m[8 + x];
    half[4 + x] = m[4 + x] - m[8 + x] - m[12 + x];
  }
  std::array<int32_t, 4> result;
  for (size_t y = 0; y < 2; ++y) {
    const int32_t *row = &half[y * 4];
    result[y * 2] = row[0] + row[1] + row[2];
    result[y * 2 + 1] = row[1] - row[2] - row[3];
  }
  return result;
}

class Winograd {
public:
  Winograd(Exec &exec, const WinogradPlan &plan) : exec(exec), plan(plan) {
    input = snapshots[0].take(exec, plan.input, mustCopyAlways(plan.result, plan.input));
    weight = snapshots[1].take(exec, plan.weight, mustCopyAlways(plan.result, plan.weight));
    if (plan.bias)
      bias = snapshots[2].take(exec, *plan.bias, mustCopyAlways(plan.result, *plan.bias));
    result = locate(exec, plan.result);
    blockRows = ceilDiv(plan.result.shape[2], 2);
    blockColumns = ceilDiv(plan.result.shape[3], 2);
  }
  void run() {
    for (int64_t n = 0; n < plan.result.shape[0]; ++n) {
      const int64_t channels = plan.input.tensor->shape[1];
      const auto numBlocks = static_cast<size_t>(blockRows * blockColumns);
      blocks.assign(static_cast<size_t>(channels) * numBlocks, {});
      overIndices(exec.pool, channels, static_cast<int64_t>(numBlocks) * 64,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t c = begin; c < end; ++c)
                      readChannel(n, c);
                  });
      overIndices(exec.pool, plan.result.shape[1], static_cast<int64_t>(numBlocks) * channels * 8,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t oc = begin; oc < end; ++oc)
                      computeChannel(n, oc);
                  });
    }
  }

private:
  void readChannel(int64_t n, int64_t c) {
    const Extents &shape = plan.input.tensor->shape;
    Block *block = &blocks[static_cast<size_t>(c * blockRows * blockColumns)];
    for (int64_t i = 0; i < blockRows; ++i)
      for (int64_t j = 0; j < blockColumns; ++j, ++block) {
        Block d{};
        for (int64_t y = 0; y < 4; ++y)
          for (int64_t x = 0; x < 4; ++x) {
            const int64_t h = 2 * i - plan.up + y, w = 2 * j - plan.left + x;
            if (h < 0 || h >= shape[2] || w < 0 || w >= shape[3])
              continue;
            const uint8_t bits = *(input.at(n, c, h) + w * input.step[3]);
            d[static_cast<size_t>(y * 4 + x)] =
                plan.input.isSigned ? static_cast<int8_t>(bits) : bits;
          }
        *block = transformed(d);
      }
  }
  void computeChannel(int64_t n, int64_t oc) const {
    const int64_t channels = plan.input.tensor->shape[1];
    const auto numBlocks = static_cast<size_t>(blockRows * blockColumns);
    std::vector<Block> sums(numBlocks, Block{});
    for (int64_t c = 0; c < channels; ++c) {
      Block u;
      for (int64_t k = 0; k < 16; ++k)
        u[static_cast<size_t>(k)] =
            static_cast<int8_t>(*(weight.at(c, oc, k / 4) + k % 4 * weight.step[3]));
      const Block *d = &blocks[static_cast<size_t>(c) * numBlocks];
      for (size_t b = 0; b < numBlocks; ++b)
        for (size_t k = 0; k < 16; ++k)
          sums[b][k] += u[k] * d[b][k];
    }
    int32_t added = 0;
    if (plan.bias)
      exec.kernels.loadInt32(Prec::I16, plan.bias->isSigned, bias.at(0, oc, 0), 1, 1, &added);
    for (size_t b = 0; b < numBlocks; ++b) {
      const auto values = reduced(sums[b]);
      for (int64_t k = 0; k < 4; ++k) {
        const int64_t h = static_cast<int64_t>(b) / blockColumns * 2 + k / 2;
        const int64_t w = static_cast<int64_t>(b) % blockColumns * 2 + k % 2;
        if (h < plan.result.shape[2] && w < plan.result.shape[3])
          *(result.at(n, oc, h) + w * result.step[3]) =
              static_cast<uint8_t>(plan.finish(int64_t{values[static_cast<size_t>(k)]} + added));
      }
    }
  }

  Exec &exec;
  const WinogradPlan &plan;
  Located input, weight, bias, result;
  Snapshot snapshots[3];
  int64_t blockRows, blockColumns;
  /// [channels][blocks], transformed.
  std::vector<Block> blocks;
};

} // namespace

Expected<Step> prepareWinograd(const Decoded &decoded) {
  // Blocks of 4x4 stand for kernels of 3x3.
  for (const auto &[field, expected] :
       std::initializer_list<std::pair<Field, uint64_t>>{{Field::Opd1H, 4},
                                                         {Field::Opd1W, 4},
                                                         {Field::ResOpYStr, 1},
                                                         {Field::ResOpXStr, 1},
                                                         {Field::Opd0YIns0, 0},
                                                         {Field::Opd0XIns0, 0},
                                                         {Field::Opd1YIns0, 0},
                                                         {Field::Opd1XIns0, 0},
                                                         {Field::KernelRotate, 0}})
    if (decoded.get(field) != expected)
      return decoded.unsupported(
          fmt::format("{} {} in Winograd's method", bm168x::fieldName(field), decoded.get(field)));
  const auto fits = [&](Field image, Field low, Field high, Field result) {
    return decoded.get(result) + 2 == decoded.get(image) + decoded.get(low) + decoded.get(high);
  };
  if (!fits(Field::Opd0H, Field::Opd0UpPad, Field::Opd0DnPad, Field::Res0H) ||
      !fits(Field::Opd0W, Field::Opd0LfPad, Field::Opd0RtPad, Field::Res0W))
    return decoded.unsupported("a result of another size than image and padding give");
  if (decoded.prec(Field::Opd0Prec) != Prec::I8 || decoded.result().prec != Prec::I8)
    return decoded.unsupported("a Winograd convolution of other types than i8");
  WinogradPlan plan{};
  plan.result = decoded.result();
  plan.input =
      sourceOf(decoded, Role::Opd0, Field::Opd0Addr, Prec::I8, decoded.flag(Field::Opd0Sign));
  plan.weight = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, Prec::I8, true);
  if (decoded.tensors.find(Role::Opd2))
    plan.bias =
        sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::I16, decoded.flag(Field::Opd2Sign));
  plan.up = static_cast<int64_t>(decoded.get(Field::Opd0UpPad));
  plan.left = static_cast<int64_t>(decoded.get(Field::Opd0LfPad));
  plan.finish = intFinishOf(decoded, !decoded.flag(Field::Relu));
  return Step([plan](Exec &exec) -> std::optional<Error> {
    Winograd(exec, plan).run();
    return std::nullopt;
  });
}

} // namespace tpuc::bm1684
