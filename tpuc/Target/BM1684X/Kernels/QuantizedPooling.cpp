//===- QuantizedPooling.cpp - Averages of quantized integers---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// The output's rows or columns whose windows count equally many rows or columns of the image.
struct Band {
  int64_t first = 0;
  int64_t length = 0;
  int64_t counted = 0;
};

std::vector<Band> bandsOf(const QuantizedAveragePool &pool, size_t axis) {
  const Window2d &window = pool.window;
  std::vector<Band> bands;
  for (int64_t at = 0; at < pool.output.shape[axis + 2]; ++at) {
    int64_t counted = pool.countsPadding ? window.kernel[axis] : 0;
    for (int64_t k = 0; k < window.kernel[axis] && !pool.countsPadding; ++k) {
      int64_t from = at * window.stride[axis] + k * window.dilation[axis] - window.padBegin[axis];
      counted += from >= 0 && from < pool.input.shape[axis + 2] ? 1 : 0;
    }
    if (!bands.empty() && bands.back().counted == counted)
      ++bands.back().length;
    else
      bands.push_back({at, 1, counted});
  }
  return bands;
}

const Requantize &factorFor(const QuantizedAveragePool &pool, int64_t count) {
  return pool.factors[pool.factors.size() == 1 ? 0 : static_cast<size_t>(count)];
}

bool hasOneFactor(const QuantizedAveragePool &pool) {
  return pool.factors.size() == 1 || (bandsOf(pool, 0).size() == 1 && bandsOf(pool, 1).size() == 1);
}

/// Whether one window is the image, and so long that a product with ones gives its sums faster than
/// a convolution with one result does: a product takes 64 elements at once. Ones have to be written
/// first, and products know no start lane.
bool isProduct(const QuantizedAveragePool &pool) {
  constexpr int64_t kStart = 50;
  const Extents &in = pool.input.shape;
  const std::array<int64_t, 2> image{in[2], in[3]};
  const bool isWhole = pool.window.kernel == image && pool.window.padBegin[0] == 0 &&
                       pool.window.padBegin[1] == 0 && pool.output.shape[2] == 1 &&
                       pool.output.shape[3] == 1;
  const int64_t slots = ceilDiv(in[1], kLanes);
  const int64_t length = in[2] * in[3];
  const int64_t lines = ceilDiv(length, int64_t{kEuBytes});
  return isWhole && pool.input.startLane == 0 && pool.output.startLane == 0 &&
         in[0] * slots * length > (in[0] * slots + 1) * lines + kStart * (in[0] + 1);
}

/// Of an image that is a product: the elements that are summed at once, so that ones stay few.
constexpr int64_t kMostOnes = 16384;

int64_t numOnes(const QuantizedAveragePool &pool) {
  return std::min(pool.input.shape[2] * pool.input.shape[3], kMostOnes);
}

uint32_t onesBytes(const QuantizedAveragePool &pool) {
  return isProduct(pool) ? laneBytes(DataType::I8, {1, 1, 1, numOnes(pool)}) : 0;
}

uint32_t outputBytes(const QuantizedAveragePool &pool, DataType type) {
  return laneBytes(type, pool.output.shape, Layout::Aligned, pool.output.startLane);
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedAveragePool &pool) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &pool.input}, std::pair{"output", &pool.output}})
    if (Expected<void> fits = checkByteTensor(where, name, *tensor); !fits)
      return propagate(fits);
  const Extents &in = pool.input.shape;
  const Extents &out = pool.output.shape;
  if (in[0] != out[0] || in[1] != out[1])
    return makeError(where, fmt::format("[{}] to [{}]", fmt::join(in, ","), fmt::join(out, ",")),
                     "equal n and c");
  if (Expected<void> fits = checkWindow(where, pool.window, in, out); !fits)
    return propagate(fits);
  const auto most = static_cast<size_t>(pool.window.kernel[0] * pool.window.kernel[1]);
  if (pool.factors.size() != 1 && pool.factors.size() <= most)
    return makeError(where, fmt::format("{} factors", pool.factors.size()),
                     fmt::format("1 or {}", most + 1));
  for (const Requantize &factor : pool.factors)
    if (Expected<void> fits = checkRequantize(where, factor); !fits)
      return propagate(fits);
  uint32_t sums = outputBytes(pool, DataType::I32);
  if (isProduct(pool))
    return sums + onesBytes(pool);
  return hasOneFactor(pool) ? sums : 2 * sums + outputBytes(pool, pool.output.type);
}

/// sums = the sums of input - inputZero over the windows, as a depthwise convolution with ones.
void addSums(Builder &builder, const QuantizedAveragePool &pool, const LocalTensor &sums) {
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kPorD, 0));
  setResult(builder, command, sums);
  setField(builder, command, Field::Opd0Addr, pool.input.tiuAddress());
  setWindow(builder, command, pool.window, pool.input.shape);
  const int64_t taps = pool.window.kernel[0] * pool.window.kernel[1];
  command.set(Field::Opd0Prec, Prec::I8);
  command.set(Field::Opd0Sign, isSigned(pool.input.type)).set(Field::Opd1Sign, 1);
  command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, 1);
  // Around the image lies the zero point, so that every window has as many of them.
  command.set(Field::Opd2Const, 1).set(Field::Opd2Sign, 1);
  command.set(Field::Opd2Addr, static_cast<uint32_t>(-pool.inputZero * taps));
  command.set(Field::Opd3Const, 1);
  command.set(Field::Opd3Addr, static_cast<uint32_t>(pool.inputZero) & 255);
  builder.add(command);
}

/// The sums of whole images, as products with ones. A part of an image has the stride of all of it
/// between its slots, which the command does not know: each slot is a product of its own then.
Expected<void> addImageSums(Builder &builder, const QuantizedAveragePool &pool,
                            const LocalTensor &sums, const LocalTensor &ones) {
  const Extents &shape = pool.input.shape;
  const int64_t length = shape[2] * shape[3];
  const int64_t most = ones.shape[3];
  const int64_t channels = length > most ? int64_t{kLanes} : shape[1];
  const LocalTensor images = pool.input.withShape({shape[0], shape[1], 1, length});
  addUnaryArith(builder, ArithOp::Copy, ones, immediate(DataType::I8, 1));
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; c += channels) {
      const int64_t count = std::min(channels, shape[1] - c);
      const LocalTensor slots = images.slice(0, n, 1).slice(1, c, count);
      for (int64_t first = 0; first < length; first += most) {
        QuantizedMatrixProduct product;
        product.left = slots.slice(3, first, std::min(most, length - first));
        product.left.layout = Layout::Aligned;
        product.right = ones.slice(3, 0, product.left.shape[3]);
        product.rightIsTransposed = true;
        product.output = sums.slice(0, n, 1).slice(1, c, count);
        product.accumulates = first > 0;
        if (Expected<void> emitted = emitQuantizedMatrixProduct(builder, product); !emitted)
          return emitted;
      }
    }
  if (pool.inputZero != 0)
    addArith(builder, ArithOp::Sub, sums, sums,
             immediate(DataType::I32, static_cast<double>(pool.inputZero * length)));
  return {};
}

LocalTensor rectangle(const LocalTensor &tensor, const Band &rows, const Band &columns) {
  return tensor.slice(2, rows.first, rows.length).slice(3, columns.first, columns.length);
}

} // namespace

Expected<uint32_t> quantizedAveragePoolScratch(const QuantizedAveragePool &pool) {
  return checkedScratch("average pool", pool);
}

Expected<void> emitQuantizedAveragePool(Builder &builder, const QuantizedAveragePool &pool) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), pool);
  if (Expected<void> fits = checkScratch(builder.layer(), pool.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{pool.scratch.address};
  auto take = [&](DataType type, const Extents &shape) {
    return space.take(type, shape, pool.output.startLane);
  };
  LocalTensor sums = take(DataType::I32, pool.output.shape);
  if (!isProduct(pool)) {
    addSums(builder, pool, sums);
  } else {
    const LocalTensor ones = space.take(DataType::I8, {1, 1, 1, numOnes(pool)});
    if (Expected<void> added = addImageSums(builder, pool, sums, ones); !added)
      return added;
  }
  std::vector<Band> rows = bandsOf(pool, 0);
  std::vector<Band> columns = bandsOf(pool, 1);
  if (hasOneFactor(pool)) {
    addRequantize(builder, pool.output, sums,
                  factorFor(pool, rows[0].counted * columns[0].counted));
    return {};
  }
  // The command takes whole tensors only: rectangles of equal counts go through copies.
  const uint32_t sumsAt = take(DataType::I32, pool.output.shape).address;
  const uint32_t resultsAt = take(pool.output.type, pool.output.shape).address;
  for (const Band &row : rows)
    for (const Band &column : columns) {
      LocalTensor from = rectangle(sums, row, column);
      LocalTensor part =
          localTensor(DataType::I32, from.shape, sumsAt, Layout::Aligned, from.startLane);
      LocalTensor result =
          localTensor(pool.output.type, from.shape, resultsAt, Layout::Aligned, from.startLane);
      addUnaryArith(builder, ArithOp::Copy, part, from);
      addRequantize(builder, result, part, factorFor(pool, row.counted * column.counted));
      addUnaryArith(builder, ArithOp::Copy, rectangle(pool.output, row, column), result);
    }
  return {};
}

} // namespace tpuc::bm1684x
