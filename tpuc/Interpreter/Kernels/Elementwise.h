//===- Elementwise.h - Loops over the elements of broadcast tensors ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_ELEMENTWISE_H
#define TPUC_INTERPRETER_KERNELS_ELEMENTWISE_H

#include "tpuc/Interpreter/Kernels/Blocks.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Support/ThreadPool.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace tpuc::kernels {

/// The shape that numpy's broadcasting gives; none if the shapes do not fit.
std::optional<Shape> broadcastShape(std::span<const Shape> shapes);

/// How an operand is read in the order of the output: extents and strides, outermost first, with
/// adjacent dimensions joined where they can be. Strides are in elements, 0 where it is broadcast.
class BroadcastView {
public:
  /// `operand` must broadcast to `output`.
  BroadcastView(const Shape &operand, const Shape &output);

  /// The operand is read in its own order.
  bool isContiguous() const { return rank == 0 || (rank == 1 && strides[0] == 1); }

  /// Copies elements `first` to `first + count` of the output's order into `to`.
  template <typename T> void gather(const T *from, int64_t first, int64_t count, T *to) const {
    const size_t last = rank - 1;
    std::array<int64_t, Shape::kMaxRank> index{};
    int64_t offset = 0;
    for (size_t axis = rank; axis-- > 0; first /= extents[axis]) {
      index[axis] = first % extents[axis];
      offset += index[axis] * strides[axis];
    }
    while (true) {
      const int64_t run = std::min(extents[last] - index[last], count);
      if (strides[last] == 0)
        std::fill_n(to, run, from[offset]);
      else
        std::copy_n(from + offset, run, to);
      to += run;
      count -= run;
      if (count == 0)
        return;
      offset -= index[last] * strides[last];
      index[last] = 0;
      for (size_t axis = last; axis-- > 0;) {
        offset += strides[axis];
        if (++index[axis] < extents[axis])
          break;
        offset -= extents[axis] * strides[axis];
        index[axis] = 0;
      }
    }
  }

private:
  size_t rank = 0;
  std::array<int64_t, Shape::kMaxRank> extents{};
  std::array<int64_t, Shape::kMaxRank> strides{};
};

/// The elements of an operand as T, in the order of the output. An operand that does not hold T
/// is converted, for which T must be a working type.
template <typename T> class OperandReader {
public:
  OperandReader(const Tensor &operand, const Shape &output)
      : view(operand.shape(), output), isStored(operand.type() == dataTypeOf<T>()),
        tensor(operand) {
    if constexpr (Working<T>) {
      if (!isStored && !view.isContiguous())
        tensor = toWorking<T>(operand);
    } else {
      assert(isStored);
    }
  }

  /// `count` elements from `first`, where they lie or in `buffer`.
  const T *read(int64_t first, int64_t count, T *buffer) const {
    if (!view.isContiguous()) {
      view.gather(tensor.data<T>().data(), first, count, buffer);
      return buffer;
    }
    if (isStored)
      return tensor.data<T>().data() + first;
    if constexpr (Working<T>)
      loadBlock<T>(tensor, first, std::span(buffer, static_cast<size_t>(count)));
    return buffer;
  }

private:
  BroadcastView view;
  bool isStored;
  Tensor tensor;
};

/// Room for the elements of a block of the output, as T: the output itself or a buffer.
template <typename T> class BlockWriter {
public:
  explicit BlockWriter(Tensor &output)
      : output(output), isStored(output.type() == dataTypeOf<T>()) {}

  T *room(int64_t first, T *buffer) const {
    return isStored ? output.mutableData<T>().data() + first : buffer;
  }
  void finish(int64_t first, int64_t count, const T *values) const {
    if constexpr (Working<T>)
      if (!isStored)
        storeBlock<T>(std::span(values, static_cast<size_t>(count)), output, first);
  }

private:
  Tensor &output;
  bool isStored;
};

/// Calls `body(first, count)` for the blocks of `numElements` elements that take about
/// `costPerElement` simple operations each.
template <typename Body>
void forEachBlock(ThreadPool &threads, int64_t numElements, int64_t costPerElement, Body body) {
  const int64_t numBlocks = (numElements + kBlockElements - 1) / kBlockElements;
  threads.parallelFor(numBlocks, grainFor(kBlockElements * costPerElement),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t block = begin; block < end; ++block) {
                          const int64_t first = block * kBlockElements;
                          body(first, std::min(kBlockElements, numElements - first));
                        }
                      });
}

/// output[i] = function(input[i]); the function takes and gives T, or gives bool for an output of
/// bools. Input and output have the same shape.
template <typename T, typename Function>
void mapElements(const Tensor &input, Tensor &output, int64_t costPerElement, ThreadPool &threads,
                 Function function) {
  const OperandReader<T> reader(input, output.shape());
  using Result = std::invoke_result_t<Function, T>;
  const BlockWriter<Result> writer(output);
  forEachBlock(threads, output.numElements(), costPerElement, [&](int64_t first, int64_t count) {
    std::array<T, kBlockElements> inBuffer;
    std::array<Result, kBlockElements> outBuffer;
    const T *in = reader.read(first, count, inBuffer.data());
    Result *out = writer.room(first, outBuffer.data());
    for (int64_t i = 0; i < count; ++i)
      out[i] = function(in[i]);
    writer.finish(first, count, out);
  });
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_ELEMENTWISE_H
