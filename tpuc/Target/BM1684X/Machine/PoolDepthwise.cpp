//===- PoolDepthwise.cpp - Pooling and depthwise convolution (PorD) -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Window.h"

#include <bit>
#include <cstring>
#include <limits>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kDepthwise = 0, kAverage = 1, kDepthwiseRelu = 2, kMaximum = 4;

struct PoolPlan {
  unsigned sub;
  Window window;
  View result;
  Source input, weight, bias;
  Fillers fillers;
  bool hasBias;
  bool rotates;
  bool resultSigned;
  bool sumSigned;
  int shift;
  unsigned mode;
};

/// Buffers that a thread needs for one channel.
template <typename T> struct Scratch {
  std::vector<T> raw;    ///< One row of the image.
  std::vector<T> padded; ///< The rows of the image after inserting and padding of columns.
  std::vector<T> fill;   ///< A row of padding.
  std::vector<T> insert;
  std::vector<T> plane; ///< All padded rows, one after the other.
  std::vector<T> weights;
  std::vector<T> sums[2];
};

/// The columns of the padded image, as `Window::source` of a window of one column.
std::vector<int32_t> paddedColumns(const Window &window) {
  Window single = window;
  single.stride[1] = single.dilation[1] = 1;
  auto width = static_cast<size_t>((window.image[1] - 1) * (window.insert[1] + 1) + 1 +
                                   window.padLow[1] + window.padHigh[1]);
  std::vector<int32_t> columns(width);
  for (size_t i = 0; i < width; ++i)
    columns[i] = single.source(1, static_cast<int64_t>(i), 0);
  return columns;
}

template <typename T> T loadOne(const Kernels &k, const Source &source, const void *at) {
  T value;
  load(k, source, static_cast<const uint8_t *>(at), 1, &value);
  return value;
}

/// Fills `scratch.padded` from the plane at `plane`, whose rows follow each other.
template <typename T>
void padPlane(const Kernels &k, const PoolPlan &plan, const std::vector<int32_t> &columns,
              const uint8_t *plane, T pad, T insert, Scratch<T> &scratch) {
  const Window &window = plan.window;
  size_t width = columns.size();
  auto imageWidth = static_cast<size_t>(window.image[1]);
  scratch.raw.resize(imageWidth);
  scratch.padded.resize(static_cast<size_t>(window.image[0]) * width);
  scratch.fill.assign(width, pad);
  // Inserted rows are padded at their sides like all others.
  scratch.insert.resize(width);
  for (size_t i = 0; i < width; ++i)
    scratch.insert[i] = columns[i] == kPadValue ? pad : insert;
  for (int64_t y = 0; y < window.image[0]; ++y) {
    load(k, plan.input,
         plane + y * window.image[1] * static_cast<int64_t>(precBytes(plan.input.prec)),
         window.image[1], scratch.raw.data());
    T *row = scratch.padded.data() + static_cast<size_t>(y) * width;
    for (size_t i = 0; i < width; ++i)
      row[i] = columns[i] >= 0           ? scratch.raw[static_cast<size_t>(columns[i])]
               : columns[i] == kPadValue ? pad
                                         : insert;
  }
}

/// Where the products of a channel lie. With equal strides along both axes several rows of the
/// result are one row of the padded width: element y * width + x of a sum sees element
/// (y * width + x) * stride of the plane. What lies between the rows is calculated, and not used.
struct Sweep {
  int64_t rows;   ///< Result rows that a sum covers, at most.
  int64_t width;  ///< Of a padded row, and from one result row to the next in a sum.
  int64_t stride; ///< From one element to the next in the plane.

  int64_t rowsFrom(const Window &window, int64_t y) const {
    return std::min(rows, window.result[0] - y);
  }
  /// Elements of a sum over so many rows.
  int64_t length(const Window &window, int64_t count) const {
    return (count - 1) * width + window.result[1];
  }
};

Sweep sweepOf(const Window &window, size_t width) {
  // Sums and plane stay in the cache of a processor.
  constexpr int64_t kMostElements = 8192;
  const auto pitch = static_cast<int64_t>(width);
  const bool areRowsAlike = window.stride[0] == window.stride[1];
  const int64_t rows =
      areRowsAlike ? std::clamp<int64_t>(kMostElements / pitch, 1, window.result[0]) : 1;
  return {rows, pitch, window.stride[1]};
}

/// Lays the padded rows that `count` result rows from `y` on see after each other into
/// `scratch.plane`.
template <typename T>
void layOutPlane(const Window &window, const Sweep &sweep, int64_t y, int64_t count,
                 Scratch<T> &scratch) {
  Window single = window;
  single.stride[0] = single.dilation[0] = 1;
  const int64_t height =
      (count - 1) * window.stride[0] + (window.kernel[0] - 1) * window.dilation[0] + 1;
  scratch.plane.resize(static_cast<size_t>(height * sweep.width));
  for (int64_t i = 0; i < height; ++i) {
    const int32_t source = single.source(0, y * window.stride[0] + i, 0);
    const T *row = source == kPadValue      ? scratch.fill.data()
                   : source == kInsertValue ? scratch.insert.data()
                                            : scratch.padded.data() + source * sweep.width;
    std::copy_n(row, sweep.width, scratch.plane.data() + i * sweep.width);
  }
}

/// Calls `body(elements, tap)` for the taps of the kernel, in their order; `elements` are those
/// that the sums see at the tap.
template <typename T, typename Body>
void overTaps(const Window &window, const Sweep &sweep, const Scratch<T> &scratch,
              const Body &body) {
  for (int64_t ky = 0; ky < window.kernel[0]; ++ky)
    for (int64_t kx = 0; kx < window.kernel[1]; ++kx)
      body(scratch.plane.data() + ky * window.dilation[0] * sweep.width + kx * window.dilation[1],
           static_cast<size_t>(ky * window.kernel[1] + kx));
}

/// Calls `body(result, n, c, plane)` for every channel, in parallel.
template <typename T, typename Body>
void overChannels(Exec &exec, const PoolPlan &plan, const Body &body) {
  Snapshot snapshot;
  Located input = snapshot.take(exec, plan.input, mustCopyAlways(plan.result, plan.input));
  Located result = locateLocal(exec, plan.result);
  std::vector<int32_t> columns = paddedColumns(plan.window);
  const Extents &shape = plan.result.shape;
  const int64_t taps = plan.window.kernel[0] * plan.window.kernel[1];
  overIndices(exec, shape[1], shape[0] * shape[2] * shape[3] * (taps + 2) / 2,
              [&](int64_t begin, int64_t end) {
                ScopedFlush flush;
                Scratch<T> scratch;
                for (int64_t c = begin; c < end; ++c) {
                  uint32_t padBits = plan.fillers.pad(exec, c);
                  uint32_t insertBits = plan.fillers.insert(exec, c);
                  T pad = loadOne<T>(exec.kernels, plan.input, &padBits);
                  T insert = loadOne<T>(exec.kernels, plan.input, &insertBits);
                  for (int64_t n = 0; n < shape[0]; ++n) {
                    padPlane(exec.kernels, plan, columns, input.channel(n, c), pad, insert,
                             scratch);
                    body(scratch, columns.size(), n, c, result.channel(n, c));
                  }
                }
              });
}

/// The weights of a channel, in the order in which the kernel is walked.
template <typename T>
void loadWeights(Exec &exec, const PoolPlan &plan, int64_t c, Scratch<T> &scratch) {
  auto count = static_cast<size_t>(plan.window.kernel[0] * plan.window.kernel[1]);
  scratch.weights.resize(count);
  if (!plan.weight.view) {
    T value = loadOne<T>(exec.kernels, plan.weight, &plan.weight.immediate);
    std::ranges::fill(scratch.weights, value);
    return;
  }
  Located weight = locateLocal(exec, *plan.weight.view);
  load(exec.kernels, plan.weight, weight.channel(0, c), static_cast<int64_t>(count),
       scratch.weights.data());
  if (plan.rotates && plan.sub != kAverage)
    std::ranges::reverse(scratch.weights);
}

template <typename T> T biasOf(Exec &exec, const PoolPlan &plan, int64_t c) {
  Located bias = locate(exec, plan.bias);
  return loadOne<T>(exec.kernels, plan.bias, bias.channel(0, c));
}

/// Row `y` of the result, of which `out` is the first.
uint8_t *rowAt(const PoolPlan &plan, uint8_t *out, int64_t y) {
  return out + y * plan.window.result[1] * static_cast<int64_t>(plan.result.bytes());
}

/// Where the search for a maximum begins. For floats that is the lowest finite number: the maximum
/// of nothing but minus infinities is finite.
template <typename T> T lowestOf(Prec prec) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr float kLowestF16 = -65504;
    constexpr float kLowestBF16 = -0x1.fep127F;
    return prec == Prec::F16    ? kLowestF16
           : prec == Prec::BF16 ? kLowestBF16
                                : std::numeric_limits<float>::lowest();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

Step maximumStep(const PoolPlan &plan, auto element) {
  using T = decltype(element);
  return [plan](Exec &exec) -> std::optional<Error> {
    const Kernels &k = exec.kernels;
    overChannels<T>(
        exec, plan, [&](Scratch<T> &scratch, size_t width, int64_t, int64_t, uint8_t *out) {
          const Window &window = plan.window;
          const Sweep sweep = sweepOf(window, width);
          std::vector<T> &most = scratch.sums[0];
          const T lowest = lowestOf<T>(plan.input.prec);
          for (int64_t y = 0; y < window.result[0]; y += sweep.rows) {
            const int64_t rows = sweep.rowsFrom(window, y);
            const int64_t length = sweep.length(window, rows);
            layOutPlane(window, sweep, y, rows, scratch);
            most.resize(static_cast<size_t>(length));
            overTaps(window, sweep, scratch, [&](const T *from, size_t tap) {
              if (tap == 0)
                for (int64_t i = 0; i < length; ++i)
                  most[static_cast<size_t>(i)] = std::max(from[i * sweep.stride], lowest);
              else if constexpr (std::is_same_v<T, float>)
                k.maxFloat(length, from, sweep.stride, most.data());
              else
                k.maxInt32(length, from, sweep.stride, most.data());
            });
            for (int64_t row = 0; row < rows; ++row) {
              const T *values = most.data() + row * sweep.width;
              uint8_t *to = rowAt(plan, out, y + row);
              if constexpr (std::is_same_v<T, float>)
                k.storeFloat(plan.result.prec, to, 1, window.result[1], values);
              else
                k.storeInt32(plan.result.prec, plan.input.isSigned, false, to, 1, window.result[1],
                             values);
            }
          }
        });
    return std::nullopt;
  };
}

/// The addends go alternately to two sums, everything rounded to the type.
Step floatSumStep(const PoolPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    const Kernels &k = exec.kernels;
    Prec prec = plan.input.prec;
    overChannels<float>(
        exec, plan, [&](Scratch<float> &scratch, size_t width, int64_t, int64_t c, uint8_t *out) {
          const Window &window = plan.window;
          const Sweep sweep = sweepOf(window, width);
          loadWeights(exec, plan, c, scratch);
          float bias = plan.hasBias ? biasOf<float>(exec, plan, c) : 0;
          for (int64_t y = 0; y < window.result[0]; y += sweep.rows) {
            const int64_t rows = sweep.rowsFrom(window, y);
            const int64_t length = sweep.length(window, rows);
            layOutPlane(window, sweep, y, rows, scratch);
            // An average of nothing but -0 is -0: adding to -0 changes no sign.
            for (std::vector<float> &sum : scratch.sums)
              sum.assign(static_cast<size_t>(length), plan.sub == kAverage ? -0.0f : 0.0f);
            if (plan.hasBias)
              for (float &value : scratch.sums[0])
                value += bias;
            const size_t first = plan.hasBias ? 1 : 0;
            overTaps(window, sweep, scratch, [&](const float *from, size_t tap) {
              k.macFloat(prec, length, from, sweep.stride, scratch.weights[tap],
                         scratch.sums[(first + tap) % 2].data());
            });
            float *sum = scratch.sums[0].data();
            k.arithFloat(RowOp::Add, length, sum, scratch.sums[1].data(), sum);
            for (int64_t row = 0; row < rows; ++row)
              k.storeFloat(prec, rowAt(plan, out, y + row), 1, window.result[1],
                           sum + row * sweep.width);
          }
        });
    return std::nullopt;
  };
}

Step intSumStep(const PoolPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    const Kernels &k = exec.kernels;
    overChannels<int32_t>(
        exec, plan, [&](Scratch<int32_t> &scratch, size_t width, int64_t, int64_t c, uint8_t *out) {
          const Window &window = plan.window;
          const Sweep sweep = sweepOf(window, width);
          const int64_t count = window.result[1];
          loadWeights(exec, plan, c, scratch);
          int64_t bias = plan.hasBias ? biasOf<int32_t>(exec, plan, c) : 0;
          std::vector<int64_t> wide(static_cast<size_t>(count));
          for (int64_t y = 0; y < window.result[0]; y += sweep.rows) {
            const int64_t rows = sweep.rowsFrom(window, y);
            const int64_t length = sweep.length(window, rows);
            layOutPlane(window, sweep, y, rows, scratch);
            scratch.sums[0].assign(static_cast<size_t>(length), 0);
            overTaps(window, sweep, scratch, [&](const int32_t *from, size_t tap) {
              k.macInt32(length, from, sweep.stride, scratch.weights[tap], scratch.sums[0].data());
            });
            for (int64_t row = 0; row < rows; ++row) {
              const int32_t *sums = scratch.sums[0].data() + row * sweep.width;
              for (size_t i = 0; i < wide.size(); ++i) {
                // The sum wraps in 32 bits, and is unsigned when everything is.
                auto sum = static_cast<uint32_t>(sums[i]) + static_cast<uint32_t>(bias);
                wide[i] = plan.sumSigned ? static_cast<int32_t>(sum) : int64_t{sum};
                if (plan.sub == kDepthwiseRelu)
                  wide[i] = std::max<int64_t>(wide[i], 0);
              }
              k.shiftInt64(count, wide.data(), -plan.shift, plan.mode);
              k.storeInt64(plan.result.prec, plan.resultSigned, true, rowAt(plan, out, y + row), 1,
                           count, wide.data());
            }
          }
        });
    return std::nullopt;
  };
}

} // namespace

Expected<Step> preparePorD(const Decoded &decoded) {
  unsigned sub = decoded.sub();
  if (sub != kDepthwise && sub != kAverage && sub != kDepthwiseRelu && sub != kMaximum)
    return decoded.unsupported("the operation");
  Expected<Window> window = windowOf(decoded);
  if (!window)
    return propagate(window);
  PoolPlan plan{};
  plan.sub = sub;
  plan.window = *window;
  plan.result = decoded.result();
  Prec prec = decoded.prec(Field::Opd0Prec);
  bool inputSigned = decoded.flag(Field::Opd0Sign);
  bool weightSigned = decoded.flag(Field::Opd1Sign);
  plan.input = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, inputSigned);
  // The factor of an average has no sign.
  plan.weight =
      sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, weightSigned && sub != kAverage);
  plan.fillers = fillersOf(decoded, prec, inputSigned);
  plan.rotates = decoded.flag(Field::KernelRotate);
  bool isFloat = isFloatPrec(prec);
  bool isDepthwise = sub == kDepthwise || sub == kDepthwiseRelu;
  plan.bias = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, isFloat ? prec : Prec::I32,
                       isFloat || decoded.flag(Field::Opd2Sign));
  plan.hasBias = isDepthwise && (plan.bias.view || plan.bias.immediate != 0);
  plan.shift = static_cast<int>(decoded.get(Field::Res1Addr) >> 8 & 255);
  plan.mode = static_cast<unsigned>(decoded.get(Field::Round)) & 7;
  if (sub == kAverage) {
    // The second operand's address is the shift itself, whether or not it is called a constant,
    // and always rounds half up. From 32 on nothing is left (seen on the vendor's model).
    constexpr unsigned kHalfUp = 5;
    constexpr uint64_t kNothingLeft = 62;
    plan.shift = static_cast<int>(std::min(decoded.get(Field::Opd2Addr), kNothingLeft));
    plan.mode = kHalfUp;
  }
  Prec resPrec = plan.result.prec;
  if (isFloat != isFloatPrec(resPrec) || (isFloat && resPrec != prec))
    return decoded.unsupported("a result of another type");
  if (!isFloat && isDepthwise && !plan.fillers.source.view)
    plan.fillers.insertImmediate = 0;
  if (sub == kMaximum) {
    if (!isFloat && (prec != resPrec || prec == Prec::I32))
      return decoded.unsupported("other types than i8 and i16");
    return isFloat ? maximumStep(plan, float()) : maximumStep(plan, int32_t());
  }
  if (isFloat)
    return sub == kDepthwiseRelu ? decoded.unsupported("floats")
                                 : Expected<Step>(floatSumStep(plan));
  if (prec != Prec::I8)
    return decoded.unsupported("integers of other types than i8");
  if (isDepthwise && plan.mode > 6)
    return decoded.unsupported("rounding mode 7");
  plan.sumSigned =
      inputSigned || plan.weight.isSigned || (isDepthwise && decoded.flag(Field::Opd2Sign));
  plan.resultSigned = inputSigned || plan.weight.isSigned;
  if (isDepthwise)
    plan.resultSigned = sub == kDepthwise && (plan.resultSigned || decoded.flag(Field::Opd2Sign));
  if (resPrec == Prec::I32)
    plan.resultSigned = plan.sumSigned;
  return intSumStep(plan);
}

} // namespace tpuc::bm1684x
