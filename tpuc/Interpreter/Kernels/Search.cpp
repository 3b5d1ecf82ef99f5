//===- Search.cpp - Where elements are ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Search.h"
#include "tpuc/Interpreter/Kernels/Blocks.h"
#include "tpuc/Interpreter/Kernels/Boxes.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tpuc::kernels {

namespace {

/// Ascending, NaN last.
template <typename T> bool isLess(T a, T b) { return a < b || (b != b && a == a); }
template <typename T> bool isSame(T a, T b) { return a == b || (a != a && b != b); }

/// The lines of a tensor along an axis.
struct Lines {
  int64_t length;
  int64_t inner;
  int64_t count;

  Lines(const Shape &shape, int64_t axis)
      : length(shape[static_cast<size_t>(axis)]), inner(1), count(1) {
    for (size_t i = 0; i < shape.rank(); ++i) {
      if (static_cast<int64_t>(i) > axis)
        inner *= shape[i];
      if (static_cast<int64_t>(i) != axis)
        count *= shape[i];
    }
  }
  /// Where line `index` starts in a tensor that has `extent` elements along the axis.
  int64_t start(int64_t index, int64_t extent) const {
    return index / inner * extent * inner + index % inner;
  }
};

/// Whether element `candidate` is preferred to `best`.
template <typename T> bool isBetter(T candidate, T best, bool largest, bool selectLast) {
  if (best != best)
    return selectLast && candidate != candidate;
  if (candidate != candidate)
    return true;
  if (candidate == best)
    return selectLast;
  return largest ? candidate > best : candidate < best;
}

} // namespace

void argExtreme(const Tensor &input, int64_t axis, bool largest, bool selectLast, Tensor &indices,
                Tensor *values, ThreadPool &threads) {
  const Lines lines(input.shape(), axis);
  dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    const Tensor working = toWorking<T>(input);
    const T *from = working.data<T>().data();
    int64_t *to = indices.mutableData<int64_t>().data();
    std::vector<T> found(values ? static_cast<size_t>(lines.count) : 0);
    threads.parallelFor(lines.count, grainFor(lines.length), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const T *first = from + lines.start(line, lines.length);
        int64_t best = 0;
        for (int64_t i = 1; i < lines.length; ++i)
          if (isBetter(first[i * lines.inner], first[best * lines.inner], largest, selectLast))
            best = i;
        to[line] = best;
        if (values)
          found[static_cast<size_t>(line)] = first[best * lines.inner];
      }
    });
    if (values)
      storeBlock<T>(found, *values, 0);
  });
}

void topK(const Tensor &input, int64_t axis, bool largest, Tensor &values, Tensor &indices,
          ThreadPool &threads) {
  const Lines lines(input.shape(), axis);
  const int64_t size = values.shape()[static_cast<size_t>(axis)];
  if (size == 0 || lines.count == 0)
    return;
  dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    const Tensor working = toWorking<T>(input);
    const T *from = working.data<T>().data();
    int64_t *to = indices.mutableData<int64_t>().data();
    std::vector<T> found(static_cast<size_t>(values.numElements()));
    threads.parallelFor(lines.count, grainFor(lines.length * 8), [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order(static_cast<size_t>(lines.length));
      for (int64_t line = begin; line < end; ++line) {
        const T *first = from + lines.start(line, lines.length);
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + size, order.end(),
                          [&](int64_t a, int64_t b) {
                            const T x = first[a * lines.inner];
                            const T y = first[b * lines.inner];
                            if (isSame(x, y))
                              return a < b;
                            return largest ? isLess(y, x) : isLess(x, y);
                          });
        const int64_t start = lines.start(line, size);
        for (int64_t i = 0; i < size; ++i) {
          const int64_t index = order[static_cast<size_t>(i)];
          to[start + i * lines.inner] = index;
          found[static_cast<size_t>(start + i * lines.inner)] = first[index * lines.inner];
        }
      }
    });
    storeBlock<T>(found, values, 0);
  });
}

Tensor nonZero(const Tensor &input) {
  return dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    const Tensor working = toWorking<T>(input);
    const std::span<const T> values = working.data<T>();
    std::vector<int64_t> found;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != T(0))
        found.push_back(static_cast<int64_t>(i));
    const auto count = static_cast<int64_t>(found.size());
    const Shape &shape = input.shape();
    const auto rank = static_cast<int64_t>(shape.rank());
    Tensor result(DataType::I64, Shape{rank, count});
    int64_t *to = result.mutableData<int64_t>().data();
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t stride = shape.strides()[static_cast<size_t>(axis)];
      const int64_t extent = shape[static_cast<size_t>(axis)];
      for (int64_t i = 0; i < count; ++i)
        to[axis * count + i] = found[static_cast<size_t>(i)] / stride % extent;
    }
    return result;
  });
}

UniqueResult unique(const Tensor &input, std::optional<int64_t> axis, bool sorted) {
  const Shape flat{input.numElements()};
  const Shape &shape = axis ? input.shape() : flat;
  const auto along = static_cast<size_t>(axis.value_or(0));
  const Lines lines(shape, static_cast<int64_t>(along));
  return dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    const Tensor working = toWorking<T>(input);
    const T *from = working.data<T>().data();
    const auto at = [&](int64_t slice, int64_t line) {
      return from[lines.start(line, lines.length) + slice * lines.inner];
    };
    // Below 0, 0 or above 0 as slice a comes before, is equal to or comes after b.
    const auto order = [&](int64_t a, int64_t b) {
      for (int64_t line = 0; line < lines.count; ++line) {
        const T x = at(a, line);
        const T y = at(b, line);
        if (!isSame(x, y))
          return isLess(x, y) ? -1 : 1;
      }
      return 0;
    };
    std::vector<int64_t> slices(static_cast<size_t>(lines.length));
    std::iota(slices.begin(), slices.end(), 0);
    std::ranges::sort(slices, [&](int64_t a, int64_t b) {
      const int compared = order(a, b);
      return compared != 0 ? compared < 0 : a < b;
    });
    // Groups of equal slices: their first slice and their size. Sorting put it in front.
    struct Group {
      int64_t first;
      int64_t count;
    };
    std::vector<Group> groups;
    std::vector<size_t> groupOf(slices.size());
    for (int64_t slice : slices) {
      if (groups.empty() || order(groups.back().first, slice) != 0)
        groups.push_back({slice, 0});
      ++groups.back().count;
      groupOf[static_cast<size_t>(slice)] = groups.size() - 1;
    }
    std::vector<size_t> rank(groups.size());
    std::iota(rank.begin(), rank.end(), 0);
    if (!sorted)
      std::ranges::sort(rank, {}, [&](size_t group) { return groups[group].first; });
    std::vector<int64_t> place(groups.size());
    for (size_t i = 0; i < rank.size(); ++i)
      place[rank[i]] = static_cast<int64_t>(i);

    const auto count = static_cast<int64_t>(groups.size());
    Shape valueShape = shape;
    valueShape[along] = count;
    UniqueResult result{Tensor(input.type(), valueShape), Tensor(DataType::I64, Shape{count}),
                        Tensor(DataType::I64, Shape{lines.length}),
                        Tensor(DataType::I64, Shape{count})};
    std::vector<T> values(static_cast<size_t>(valueShape.numElements()));
    for (int64_t i = 0; i < count; ++i) {
      const Group &group = groups[rank[static_cast<size_t>(i)]];
      result.first.mutableData<int64_t>()[static_cast<size_t>(i)] = group.first;
      result.counts.mutableData<int64_t>()[static_cast<size_t>(i)] = group.count;
      for (int64_t line = 0; line < lines.count; ++line)
        values[static_cast<size_t>(lines.start(line, count) + i * lines.inner)] =
            at(group.first, line);
    }
    for (size_t slice = 0; slice < groupOf.size(); ++slice)
      result.inverse.mutableData<int64_t>()[slice] = place[groupOf[slice]];
    storeBlock<T>(values, result.values, 0);
    return result;
  });
}

namespace {

Box readBox(const float *from, bool isCenter) {
  if (isCenter)
    return {from[1] - from[3] / 2, from[0] - from[2] / 2, from[1] + from[3] / 2,
            from[0] + from[2] / 2};
  // Any two opposite corners.
  return {std::min(from[0], from[2]), std::min(from[1], from[3]), std::max(from[0], from[2]),
          std::max(from[1], from[3])};
}

} // namespace

Tensor nonMaximumSuppression(const Tensor &boxes, const Tensor &scores, const NmsParams &params) {
  const Tensor boxValues = toWorking<float>(boxes);
  const Tensor scoreValues = toWorking<float>(scores);
  const int64_t numBatches = scores.shape()[0];
  const int64_t numClasses = scores.shape()[1];
  const int64_t numBoxes = scores.shape()[2];
  std::vector<int64_t> kept;
  std::vector<Box> read(static_cast<size_t>(numBoxes));
  std::vector<int64_t> candidates;
  std::vector<int64_t> selected;
  for (int64_t batch = 0; batch < numBatches; ++batch) {
    for (int64_t i = 0; i < numBoxes; ++i)
      read[static_cast<size_t>(i)] =
          readBox(boxValues.data<float>().data() + (batch * numBoxes + i) * 4, params.isCenter);
    for (int64_t group = 0; group < numClasses; ++group) {
      const float *score =
          scoreValues.data<float>().data() + (batch * numClasses + group) * numBoxes;
      candidates.clear();
      for (int64_t i = 0; i < numBoxes; ++i)
        if (!params.scoreThreshold || score[i] > static_cast<float>(*params.scoreThreshold))
          candidates.push_back(i);
      std::ranges::sort(candidates, [&](int64_t a, int64_t b) {
        return isSame(score[a], score[b]) ? a < b : isLess(score[b], score[a]);
      });
      selected.clear();
      for (int64_t candidate : candidates) {
        if (static_cast<int64_t>(selected.size()) >= params.maxOutputSize)
          break;
        const Box &box = read[static_cast<size_t>(candidate)];
        const bool isDropped = std::ranges::any_of(selected, [&](int64_t other) {
          return overlap(box, read[static_cast<size_t>(other)]) >
                 static_cast<float>(params.iouThreshold);
        });
        if (!isDropped)
          selected.push_back(candidate);
      }
      for (int64_t box : selected)
        kept.insert(kept.end(), {batch, group, box});
    }
  }
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(kept.size() / 3), 3}, kept);
}

} // namespace tpuc::kernels
