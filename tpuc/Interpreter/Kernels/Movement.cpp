//===- Movement.cpp - Moving elements ----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Interpreter/Kernels/ElementBytes.h"
#include "tpuc/Interpreter/Kernels/Extents.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <algorithm>
#include <numeric>

using namespace tpuc;
using namespace tpuc::kernels;

//===--- Sources of a dimension ---------------------------------------------===//

AxisSource kernels::sliceSource(const SliceRange &range) {
  AxisSource source(static_cast<size_t>(range.count));
  for (int64_t i = 0; i < range.count; ++i)
    source[static_cast<size_t>(i)] = range.start + i * range.step;
  return source;
}

AxisSource kernels::tileSource(int64_t extent, int64_t times) {
  AxisSource source(static_cast<size_t>(extent * times));
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<int64_t>(i) % extent;
  return source;
}

/// The index in [0, extent) that stands for `index`, any one.
static int64_t padIndex(int64_t index, int64_t extent, PadMode mode) {
  if (index >= 0 && index < extent)
    return index;
  if (mode == PadMode::Constant)
    return kFill;
  if (mode == PadMode::Edge || extent == 1)
    return std::clamp(index, int64_t(0), extent - 1);
  int64_t period = mode == PadMode::Wrap ? extent : 2 * (extent - 1);
  int64_t place = index % period;
  if (place < 0)
    place += period;
  return place < extent ? place : period - place;
}

AxisSource kernels::padSource(int64_t extent, int64_t before, int64_t after, PadMode mode) {
  AxisSource source(static_cast<size_t>(extent + before + after));
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = padIndex(static_cast<int64_t>(i) - before, extent, mode);
  return source;
}

//===--- Remapping ----------------------------------------------------------===//

namespace {

/// Elements `to + i` of a row come from `from + i * step`; from kFill they are new.
struct Run {
  int64_t to;
  int64_t from;
  int64_t step;
  int64_t count;
};

/// A remapping without the inner dimensions that stay as they are.
struct RemapPlan {
  std::vector<int64_t> outerExtents;
  std::vector<int64_t> outerStrides; ///< Bytes of the input.
  std::vector<Run> runs;
  int64_t rowExtent = 1;
  int64_t block = 1; ///< Bytes that move together.
};

} // namespace

static bool isIdentity(const AxisSource &source, int64_t extent) {
  if (static_cast<int64_t>(source.size()) != extent)
    return false;
  for (size_t i = 0; i < source.size(); ++i)
    if (source[i] != static_cast<int64_t>(i))
      return false;
  return true;
}

static std::vector<Run> runsOf(const AxisSource &source) {
  std::vector<Run> runs;
  for (size_t i = 0; i < source.size(); ++i) {
    int64_t from = source[i];
    if (!runs.empty()) {
      Run &last = runs.back();
      bool sameKind = (last.from == kFill) == (from == kFill);
      if (sameKind && last.count == 1 && from != kFill)
        last.step = from - last.from;
      if (sameKind && (from == kFill || from == last.from + last.count * last.step)) {
        ++last.count;
        continue;
      }
      if (last.count == 1)
        last.step = 1;
    }
    runs.push_back({static_cast<int64_t>(i), from, 1, 1});
  }
  return runs;
}

static RemapPlan planRemap(const Shape &shape, std::span<const AxisSource> source,
                           int64_t elementSize) {
  RemapPlan plan;
  plan.block = elementSize;
  size_t rank = shape.rank();
  while (rank > 0 && isIdentity(source[rank - 1], shape[rank - 1])) {
    plan.block *= shape[rank - 1];
    --rank;
  }
  plan.runs = {{0, 0, 1, 1}};
  if (rank == 0)
    return plan;
  plan.runs = runsOf(source[rank - 1]);
  plan.rowExtent = static_cast<int64_t>(source[rank - 1].size());
  plan.outerStrides.resize(rank - 1);
  int64_t stride = plan.block * shape[rank - 1];
  for (size_t axis = rank - 1; axis-- > 0; stride *= shape[axis])
    plan.outerStrides[axis] = stride;
  for (size_t axis = 0; axis + 1 < rank; ++axis)
    plan.outerExtents.push_back(static_cast<int64_t>(source[axis].size()));
  return plan;
}

/// Where row `row` begins in the input, in bytes; kFill for a row of new elements.
static int64_t rowOffset(const RemapPlan &plan, std::span<const AxisSource> source, int64_t row) {
  int64_t offset = 0;
  for (size_t axis = plan.outerExtents.size(); axis-- > 0;) {
    int64_t from = source[axis][static_cast<size_t>(row % plan.outerExtents[axis])];
    if (from == kFill)
      return kFill;
    offset += from * plan.outerStrides[axis];
    row /= plan.outerExtents[axis];
  }
  return offset;
}

void kernels::remap(const Tensor &input, std::span<const AxisSource> source, const Tensor *fill,
                    Tensor &output, ThreadPool &threads) {
  assert(source.size() == input.shape().rank());
  if (output.numElements() == 0)
    return;
  std::array<std::byte, 8> newElement{};
  if (fill) {
    auto bytes = fill->rawBytes();
    std::copy(bytes.begin(), bytes.end(), newElement.begin());
    if (bitWidth(fill->type()) == 4)
      newElement[0] &= std::byte(0x0F);
  }
  withWholeBytes(input, output, [&](const Tensor &from, Tensor &to) {
    int64_t size = elementBytes(from.type());
    RemapPlan plan = planRemap(from.shape(), source, size);
    const std::byte *in = from.rawBytes().data();
    std::byte *out = to.mutableBytes().data();
    int64_t rowBytes = plan.rowExtent * plan.block;
    int64_t rows = product(plan.outerExtents);
    threads.parallelFor(rows, grainFor(rowBytes), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t offset = rowOffset(plan, source, row);
        std::byte *rowOut = out + row * rowBytes;
        if (offset == kFill) {
          fillElements(rowOut, newElement.data(), size, rowBytes / size);
          continue;
        }
        for (const Run &run : plan.runs) {
          std::byte *place = rowOut + run.to * plan.block;
          if (run.from == kFill)
            fillElements(place, newElement.data(), size, run.count * plan.block / size);
          else
            copyStrided(place, plan.block, in + offset + run.from * plan.block,
                        run.step * plan.block, run.count, plan.block);
        }
      }
    });
  });
}

//===--- Permuting ----------------------------------------------------------===//

namespace {

/// A permutation whose dimensions cannot be joined further: extents of the output, and for each
/// the stride in the input, in elements.
struct PermutePlan {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
};

} // namespace

static PermutePlan planPermute(const Shape &shape, std::span<const int64_t> order) {
  Shape strides = shape.strides();
  PermutePlan plan;
  for (int64_t from : order) {
    auto axis = static_cast<size_t>(from);
    if (shape[axis] == 1)
      continue;
    // The dimension continues the one before it if that steps over exactly its elements.
    if (!plan.extents.empty() && plan.strides.back() == strides[axis] * shape[axis]) {
      plan.extents.back() *= shape[axis];
      plan.strides.back() = strides[axis];
      continue;
    }
    plan.extents.push_back(shape[axis]);
    plan.strides.push_back(strides[axis]);
  }
  return plan;
}

/// Copies a matrix of `rows` x `columns` whose rows are contiguous in the output and whose columns
/// are contiguous in the input, in tiles that stay in the first cache.
static void transposeTiles(std::byte *to, int64_t toRowStep, const std::byte *from,
                           int64_t fromColumnStep, int64_t rows, int64_t columns, int64_t size) {
  constexpr int64_t kTile = 32;
  for (int64_t column = 0; column < columns; column += kTile) {
    int64_t count = std::min(kTile, columns - column);
    for (int64_t row = 0; row < rows; ++row)
      copyStrided(to + row * toRowStep + column * size, size,
                  from + row * size + column * fromColumnStep, fromColumnStep, count, size);
  }
}

void kernels::permute(const Tensor &input, std::span<const int64_t> order, Tensor &output,
                      ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  withWholeBytes(input, output, [&](const Tensor &from, Tensor &to) {
    PermutePlan plan = planPermute(from.shape(), order);
    int64_t size = elementBytes(from.type());
    const std::byte *in = from.rawBytes().data();
    std::byte *out = to.mutableBytes().data();
    if (plan.extents.empty() || plan.strides.back() == 1) {
      // The innermost dimension stays; what is left is an order of blocks.
      int64_t block = size;
      if (!plan.extents.empty()) {
        block *= plan.extents.back();
        plan.extents.pop_back();
        plan.strides.pop_back();
      }
      int64_t last = plan.extents.empty() ? 1 : plan.extents.back();
      int64_t lastStep = plan.strides.empty() ? block : plan.strides.back() * size;
      int64_t rows = product(plan.extents) / last;
      threads.parallelFor(rows, grainFor(last * block), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          int64_t offset = 0;
          int64_t rest = row;
          for (size_t axis = plan.extents.empty() ? 0 : plan.extents.size() - 1; axis-- > 0;) {
            offset += rest % plan.extents[axis] * plan.strides[axis] * size;
            rest /= plan.extents[axis];
          }
          copyStrided(out + row * last * block, block, in + offset, lastStep, last, block);
        }
      });
      return;
    }
    // The innermost dimension of the input is dimension `inner` of the output.
    size_t rank = plan.extents.size();
    size_t inner = 0;
    while (plan.strides[inner] != 1)
      ++inner;
    std::vector<int64_t> outStrides(rank, size);
    for (size_t axis = rank - 1; axis-- > 0;)
      outStrides[axis] = outStrides[axis + 1] * plan.extents[axis + 1];
    constexpr int64_t kRows = 32;
    int64_t rows = plan.extents[inner];
    int64_t columns = plan.extents.back();
    int64_t strips = (rows + kRows - 1) / kRows;
    int64_t matrices = product(plan.extents) / (rows * columns);
    threads.parallelFor(matrices * strips, grainFor(kRows * columns * size),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t unit = begin; unit < end; ++unit) {
                            int64_t firstRow = unit % strips * kRows;
                            int64_t rest = unit / strips;
                            int64_t fromOffset = firstRow * size;
                            int64_t toOffset = firstRow * outStrides[inner];
                            for (size_t axis = rank - 1; axis-- > 0;) {
                              if (axis == inner)
                                continue;
                              int64_t index = rest % plan.extents[axis];
                              rest /= plan.extents[axis];
                              fromOffset += index * plan.strides[axis] * size;
                              toOffset += index * outStrides[axis];
                            }
                            transposeTiles(out + toOffset, outStrides[inner], in + fromOffset,
                                           plan.strides.back() * size,
                                           std::min(kRows, rows - firstRow), columns, size);
                          }
                        });
  });
}

//===--- Joining, blocks, sequences, triangles -------------------------------===//

void kernels::concat(std::span<const Tensor> inputs, size_t axis, Tensor &output,
                     ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  if (bitWidth(output.type()) == 4) {
    std::vector<Tensor> bytes;
    for (const Tensor &input : inputs)
      bytes.push_back(unpackedNibbles(input));
    Tensor joined(DataType::U8, output.shape());
    concat(bytes, axis, joined, threads);
    packNibbles(joined, output);
    return;
  }
  auto extents = output.shape().dims();
  int64_t outer = product(extents.first(axis));
  int64_t rowBytes = output.byteSize() / outer;
  std::byte *out = output.mutableBytes().data();
  for (const Tensor &input : inputs) {
    int64_t bytes = input.byteSize() / outer;
    const std::byte *in = input.rawBytes().data();
    // One long row is cut into pieces too.
    constexpr int64_t kPiece = 65536;
    int64_t pieces = std::max<int64_t>(1, (bytes + kPiece - 1) / kPiece);
    threads.parallelFor(outer * pieces, grainFor(bytes / pieces), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t row = i / pieces;
        int64_t first = i % pieces * kPiece;
        int64_t count = std::min(kPiece, bytes - first);
        copyStrided(out + row * rowBytes + first, count, in + row * bytes + first, count, 1, count);
      }
    });
    out += bytes;
  }
}

void kernels::depthToSpace(const Tensor &input, const BlockParams &params, Tensor &output,
                           ThreadPool &threads) {
  const Shape &to = output.shape();
  int64_t h = input.shape()[2];
  int64_t w = input.shape()[3];
  Shape deep = params.crd ? Shape{to[0], to[1], params.blockH, params.blockW, h, w}
                          : Shape{to[0], params.blockH, params.blockW, to[1], h, w};
  constexpr int64_t kOrder[] = {0, 3, 4, 1, 5, 2};
  constexpr int64_t kCrdOrder[] = {0, 1, 4, 2, 5, 3};
  Tensor result = output.reshaped({to[0], to[1], h, params.blockH, w, params.blockW});
  permute(input.reshaped(deep), params.crd ? kCrdOrder : kOrder, result, threads);
}

void kernels::spaceToDepth(const Tensor &input, const BlockParams &params, Tensor &output,
                           ThreadPool &threads) {
  const Shape &from = input.shape();
  int64_t h = output.shape()[2];
  int64_t w = output.shape()[3];
  Shape deep = params.crd ? Shape{from[0], from[1], params.blockH, params.blockW, h, w}
                          : Shape{from[0], params.blockH, params.blockW, from[1], h, w};
  constexpr int64_t kOrder[] = {0, 3, 5, 1, 2, 4};
  constexpr int64_t kCrdOrder[] = {0, 1, 3, 5, 2, 4};
  Tensor result = output.reshaped(deep);
  permute(input.reshaped({from[0], from[1], h, params.blockH, w, params.blockW}),
          params.crd ? kCrdOrder : kOrder, result, threads);
}

void kernels::reverseSequence(const Tensor &input, std::span<const int64_t> lengths,
                              size_t batchAxis, size_t timeAxis, Tensor &output,
                              ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  withWholeBytes(input, output, [&](const Tensor &from, Tensor &to) {
    auto extents = from.shape().dims();
    size_t first = std::min(batchAxis, timeAxis);
    size_t second = std::max(batchAxis, timeAxis);
    int64_t middle = product(extents.subspan(first + 1, second - first - 1));
    int64_t inner = product(extents.subspan(second + 1)) * elementBytes(from.type());
    int64_t firstExtent = extents[first];
    int64_t secondExtent = extents[second];
    int64_t rows = product(extents.first(second));
    const std::byte *in = from.rawBytes().data();
    std::byte *out = to.mutableBytes().data();
    auto reversed = [](int64_t time, int64_t length) {
      return time < length ? length - 1 - time : time;
    };
    threads.parallelFor(rows, grainFor(secondExtent * inner), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t index = row / middle % firstExtent;
        for (int64_t j = 0; j < secondExtent; ++j) {
          int64_t fromRow = row;
          int64_t fromIndex = j;
          if (timeAxis == second)
            fromIndex = reversed(j, lengths[static_cast<size_t>(index)]);
          else
            fromRow += (reversed(index, lengths[static_cast<size_t>(j)]) - index) * middle;
          std::memcpy(out + (row * secondExtent + j) * inner,
                      in + (fromRow * secondExtent + fromIndex) * inner,
                      static_cast<size_t>(inner));
        }
      }
    });
  });
}

void kernels::trilu(const Tensor &input, int64_t diagonal, bool upper, Tensor &output,
                    ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  withWholeBytes(input, output, [&](const Tensor &from, Tensor &to) {
    size_t rank = from.shape().rank();
    int64_t rows = from.shape()[rank - 2];
    int64_t columns = from.shape()[rank - 1];
    int64_t size = elementBytes(from.type());
    // Beyond the corners nothing changes; that also keeps i + diagonal from overflowing.
    int64_t shift = std::clamp(diagonal, -rows - 1, columns + 1);
    const std::byte *in = from.rawBytes().data();
    std::byte *out = to.mutableBytes().data();
    threads.parallelFor(from.numElements() / columns, grainFor(columns * size),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t row = begin; row < end; ++row) {
                            int64_t border = row % rows + shift + (upper ? 0 : 1);
                            int64_t split = std::clamp(border, int64_t(0), columns) * size;
                            const std::byte *rowIn = in + row * columns * size;
                            std::byte *rowOut = out + row * columns * size;
                            std::fill(rowOut, rowOut + columns * size, std::byte(0));
                            if (upper)
                              std::copy(rowIn + split, rowIn + columns * size, rowOut + split);
                            else
                              std::copy(rowIn, rowIn + split, rowOut);
                          }
                        });
  });
}
