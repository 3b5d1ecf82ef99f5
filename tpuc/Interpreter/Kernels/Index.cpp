//===- Index.cpp - Gathering and scattering ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Index.h"
#include "tpuc/Interpreter/Kernels/ElementBytes.h"
#include "tpuc/Interpreter/Kernels/Extents.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tpuc;
using namespace tpuc::kernels;

static tl::unexpected<Error> indexError(int64_t index, int64_t extent) {
  return makeError("", "index " + std::to_string(index),
                   extent == 0
                       ? "none, as the dimension is empty"
                       : "-" + std::to_string(extent) + " to " + std::to_string(extent - 1));
}

/// `index` counted from the front; false if there is no such element.
static bool wrapIndex(int64_t &index, int64_t extent) {
  if (index < 0)
    index += extent;
  return index >= 0 && index < extent;
}

/// The indices, counted from the front of a dimension of `extent`.
static Expected<std::vector<int64_t>> loadIndices(const Tensor &indices, int64_t extent) {
  Tensor wide = convert(indices, DataType::I64);
  auto values = wide.data<int64_t>();
  std::vector<int64_t> result(values.begin(), values.end());
  for (int64_t &index : result)
    if (int64_t given = index; !wrapIndex(index, extent))
      return indexError(given, extent);
  return result;
}

void kernels::takeSlices(const Tensor &input, std::span<const int64_t> kept, size_t axis,
                         Tensor &output, ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  withWholeBytes(input, output, [&](const Tensor &from, Tensor &to) {
    auto extents = from.shape().dims();
    int64_t outer = product(extents.first(axis));
    int64_t block = product(extents.subspan(axis + 1)) * elementBytes(from.type());
    auto count = static_cast<int64_t>(kept.size());
    const std::byte *in = from.rawBytes().data();
    std::byte *out = to.mutableBytes().data();
    threads.parallelFor(outer * count, grainFor(block), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t source = i / count * extents[axis] + kept[static_cast<size_t>(i % count)];
        std::memcpy(out + i * block, in + source * block, static_cast<size_t>(block));
      }
    });
  });
}

Expected<void> kernels::gather(const Tensor &input, const Tensor &indices, size_t axis,
                               Tensor &output, ThreadPool &threads) {
  Expected<std::vector<int64_t>> wanted = loadIndices(indices, input.shape()[axis]);
  if (!wanted)
    return propagate(wanted);
  takeSlices(input, *wanted, axis, output, threads);
  return {};
}

/// The offset in a tensor of `shape` of element `flat` of one with the extents of `indexShape`,
/// without what dimension `axis` adds.
static int64_t offsetWithout(const Shape &indexShape, const Shape &strides, size_t axis,
                             int64_t flat) {
  int64_t offset = 0;
  for (size_t dim = indexShape.rank(); dim-- > 0;) {
    if (dim != axis)
      offset += flat % indexShape[dim] * strides[dim];
    flat /= indexShape[dim];
  }
  return offset;
}

Expected<void> kernels::gatherElements(const Tensor &input, const Tensor &indices, size_t axis,
                                       Tensor &output, ThreadPool &threads) {
  Expected<std::vector<int64_t>> wanted = loadIndices(indices, input.shape()[axis]);
  if (!wanted)
    return propagate(wanted);
  if (output.numElements() == 0)
    return {};
  withWholeBytes(input, output, [&](const Tensor &from, Tensor &to) {
    const Shape &shape = indices.shape();
    Shape strides = from.shape().strides();
    size_t last = shape.rank() - 1;
    int64_t row = shape[last];
    int64_t size = elementBytes(from.type());
    const std::byte *in = from.rawBytes().data();
    std::byte *out = to.mutableBytes().data();
    threads.parallelFor(
        shape.numElements() / row, grainFor(4 * row), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            int64_t base = offsetWithout(shape, strides, axis, i * row);
            for (int64_t j = 0; j < row; ++j) {
              int64_t index = (*wanted)[static_cast<size_t>(i * row + j)];
              int64_t source = base + index * strides[axis] + (axis == last ? 0 : j);
              copyStrided(out + (i * row + j) * size, size, in + source * size, size, 1, size);
            }
          }
        });
  });
  return {};
}

/// The number of the slice of `shape` that each tuple in the last dimension of `indices` names,
/// behind `batchDims` dimensions that both share. The slices have the extents behind the tuple's.
static Expected<std::vector<int64_t>> loadTuples(const Tensor &indices, const Shape &shape,
                                                 size_t batchDims) {
  auto extents = indices.shape().dims();
  auto tuple = static_cast<size_t>(extents.back());
  int64_t count = product(extents.first(extents.size() - 1));
  int64_t batches = product(extents.first(batchDims));
  Tensor wide = convert(indices, DataType::I64);
  const int64_t *next = wide.data<int64_t>().data();
  std::vector<int64_t> slices(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t slice = i / (count / batches);
    for (size_t k = 0; k < tuple; ++k) {
      int64_t extent = shape[batchDims + k];
      int64_t index = *next++;
      if (int64_t given = index; !wrapIndex(index, extent))
        return indexError(given, extent);
      slice = slice * extent + index;
    }
    slices[static_cast<size_t>(i)] = slice;
  }
  return slices;
}

Expected<void> kernels::gatherND(const Tensor &input, const Tensor &indices, size_t batchDims,
                                 Tensor &output, ThreadPool &threads) {
  Expected<std::vector<int64_t>> slices = loadTuples(indices, input.shape(), batchDims);
  if (!slices)
    return propagate(slices);
  size_t named = batchDims + static_cast<size_t>(indices.shape()[indices.shape().rank() - 1]);
  int64_t block = product(input.shape().dims().subspan(named));
  Shape flat = {product(input.shape().dims().first(named)), block};
  Tensor result = output.reshaped({static_cast<int64_t>(slices->size()), block});
  takeSlices(input.reshaped(flat), *slices, 0, result, threads);
  return {};
}

void kernels::oneHot(const Tensor &indices, const Tensor &values, size_t axis, Tensor &output,
                     ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  withWholeBytes(values, output, [&](const Tensor &from, Tensor &to) {
    auto extents = to.shape().dims();
    int64_t depth = extents[axis];
    int64_t inner = product(extents.subspan(axis + 1));
    int64_t outer = product(extents.first(axis));
    int64_t size = elementBytes(from.type());
    Tensor wide = convert(indices, DataType::I64);
    auto wanted = wide.data<int64_t>();
    const std::byte *off = from.rawBytes().data();
    const std::byte *on = off + size;
    std::byte *out = to.mutableBytes().data();
    threads.parallelFor(outer, grainFor(depth * inner), [&](int64_t begin, int64_t end) {
      fillElements(out + begin * depth * inner * size, off, size, (end - begin) * depth * inner);
      for (int64_t i = begin * inner; i < end * inner; ++i) {
        int64_t index = wanted[static_cast<size_t>(i)];
        if (wrapIndex(index, depth))
          std::memcpy(out + ((i / inner * depth + index) * inner + i % inner) * size, on,
                      static_cast<size_t>(size));
      }
    });
  });
}

//===--- Scattering ---------------------------------------------------------===//

namespace {

/// How an element is combined with an update.
template <Reduction kind, typename T> T combine(T old, T update) {
  if constexpr (kind == Reduction::None)
    return update;
  else if constexpr (kind == Reduction::Add) {
    if constexpr (std::is_same_v<T, bool>)
      return old || update;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(update));
    else
      return old + update;
  } else if constexpr (kind == Reduction::Mul) {
    if constexpr (std::is_same_v<T, bool>)
      return old && update;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(old) * static_cast<uint64_t>(update));
    else
      return old * update;
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(old) || std::isnan(update))
        return std::isnan(old) ? old : update;
    }
    return kind == Reduction::Max ? std::max(old, update) : std::min(old, update);
  }
}

/// Block i of `updates` goes to block `targets[i]` of `output`; blocks of `block` elements.
struct ScatterJob {
  std::span<const int64_t> targets;
  int64_t block;
};

} // namespace

template <Reduction kind, typename T>
static void scatterAs(const ScatterJob &job, const Tensor &updates, Tensor &output) {
  const T *from = updates.data<T>().data();
  T *to = output.mutableData<T>().data();
  for (int64_t target : job.targets) {
    T *place = to + target * job.block;
    for (int64_t i = 0; i < job.block; ++i)
      place[i] = combine<kind>(place[i], from[i]);
    from += job.block;
  }
}

template <typename T>
static void scatterBy(Reduction reduction, const ScatterJob &job, const Tensor &updates,
                      Tensor &output) {
  switch (reduction) {
  case Reduction::None:
    return scatterAs<Reduction::None, T>(job, updates, output);
  case Reduction::Add:
    return scatterAs<Reduction::Add, T>(job, updates, output);
  case Reduction::Mul:
    return scatterAs<Reduction::Mul, T>(job, updates, output);
  case Reduction::Max:
    return scatterAs<Reduction::Max, T>(job, updates, output);
  case Reduction::Min:
    return scatterAs<Reduction::Min, T>(job, updates, output);
  }
}

static void scatterInto(Reduction reduction, const ScatterJob &job, const Tensor &updates,
                        Tensor &output) {
  switch (output.type()) {
  case DataType::F64:
    return scatterBy<double>(reduction, job, updates, output);
  case DataType::F32:
    return scatterBy<float>(reduction, job, updates, output);
  case DataType::I8:
    return scatterBy<int8_t>(reduction, job, updates, output);
  case DataType::U8:
    return scatterBy<uint8_t>(reduction, job, updates, output);
  case DataType::I16:
    return scatterBy<int16_t>(reduction, job, updates, output);
  case DataType::U16:
    return scatterBy<uint16_t>(reduction, job, updates, output);
  case DataType::I32:
    return scatterBy<int32_t>(reduction, job, updates, output);
  case DataType::U32:
    return scatterBy<uint32_t>(reduction, job, updates, output);
  case DataType::I64:
    return scatterBy<int64_t>(reduction, job, updates, output);
  case DataType::U64:
    return scatterBy<uint64_t>(reduction, job, updates, output);
  case DataType::Bool:
    return scatterBy<bool>(reduction, job, updates, output);
  default:
    assert(false && "types without arithmetic of their own are combined in others");
  }
}

static void copyElements(const Tensor &from, Tensor &to) {
  auto bytes = from.rawBytes();
  std::copy(bytes.begin(), bytes.end(), to.mutableBytes().begin());
}

/// The type in which elements of `type` are combined.
static DataType combiningType(DataType type, Reduction reduction) {
  if (bitWidth(type) == 4)
    return type == DataType::I4 ? DataType::I8 : DataType::U8;
  if (isFloat(type) && type != DataType::F64 && type != DataType::F32) {
    // Values that are only moved keep their bits.
    if (reduction == Reduction::None)
      return bitWidth(type) == 16 ? DataType::U16 : DataType::U8;
    return DataType::F32;
  }
  return type;
}

static void scatter(const Tensor &input, const Tensor &updates, Reduction reduction,
                    const ScatterJob &job, Tensor &output) {
  DataType type = input.type();
  DataType combining = combiningType(type, reduction);
  if (combining == type) {
    copyElements(input, output);
    return scatterInto(reduction, job, updates, output);
  }
  if (bitWidth(combining) == bitWidth(type)) {
    copyElements(input, output);
    auto bits = [&](const Tensor &tensor) {
      return Tensor::borrow(combining, tensor.shape(), tensor.rawBytes().data(), nullptr);
    };
    Tensor result = bits(output).clone();
    scatterInto(reduction, job, bits(updates), result);
    return copyElements(result, output);
  }
  ConvertOptions wrap;
  wrap.integerOverflow = IntegerOverflow::Wrap;
  Tensor result = convert(input, combining);
  if (!result.isWritable())
    result = result.clone();
  scatterInto(reduction, job, convert(updates, combining), result);
  copyElements(convert(result, type, wrap), output);
}

Expected<void> kernels::scatterElements(const Tensor &input, const Tensor &indices,
                                        const Tensor &updates, size_t axis, Reduction reduction,
                                        Tensor &output) {
  Expected<std::vector<int64_t>> targets = loadIndices(indices, input.shape()[axis]);
  if (!targets)
    return propagate(targets);
  Shape strides = input.shape().strides();
  for (size_t i = 0; i < targets->size(); ++i)
    (*targets)[i] = (*targets)[i] * strides[axis] +
                    offsetWithout(indices.shape(), strides, axis, static_cast<int64_t>(i));
  scatter(input, updates, reduction, {*targets, 1}, output);
  return {};
}

Expected<void> kernels::scatterND(const Tensor &input, const Tensor &indices, const Tensor &updates,
                                  Reduction reduction, Tensor &output) {
  Expected<std::vector<int64_t>> slices = loadTuples(indices, input.shape(), 0);
  if (!slices)
    return propagate(slices);
  auto named = static_cast<size_t>(indices.shape()[indices.shape().rank() - 1]);
  scatter(input, updates, reduction, {*slices, product(input.shape().dims().subspan(named))},
          output);
  return {};
}

Expected<void> kernels::tensorScatter(const Tensor &input, const Tensor &updates,
                                      const Tensor *starts, size_t axis, bool circular,
                                      Tensor &output) {
  auto extents = input.shape().dims();
  int64_t length = extents[axis];
  int64_t run = updates.shape()[axis];
  int64_t inner = product(extents.subspan(axis + 1));
  int64_t rowsPerSample = product(extents.subspan(1, axis - 1));
  std::vector<int64_t> begins(static_cast<size_t>(extents[0]));
  if (starts) {
    Tensor wide = convert(*starts, DataType::I64);
    std::ranges::copy(wide.data<int64_t>(), begins.begin());
  }
  std::vector<int64_t> slices;
  slices.reserve(static_cast<size_t>(extents[0] * rowsPerSample * run));
  for (int64_t sample = 0; sample < extents[0]; ++sample) {
    int64_t begin = begins[static_cast<size_t>(sample)];
    if (begin < 0 || (!circular && begin > length - run))
      return makeError("",
                       "writes slices " + std::to_string(begin) + " to before " +
                           std::to_string(begin + run) + " of sample " + std::to_string(sample),
                       "0 to before " + std::to_string(length));
    for (int64_t row = sample * rowsPerSample; row < (sample + 1) * rowsPerSample; ++row)
      for (int64_t step = 0; step < run; ++step)
        slices.push_back(row * length + (begin + step) % length);
  }
  scatter(input, updates, Reduction::None, {slices, inner}, output);
  return {};
}
