//===- PoolDepthwise.cpp - Depthwise convolution and pools (PorD) ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Results.h"
#include "tpuc/Target/BM1684/Machine/Windows.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tpuc::bm1684 {

namespace {

struct PoolPlan {
  Window window;
  Tensor result;
  Source input;
  std::optional<Source> kernel, bias; ///< A constant kernel is `factor`.
  uint32_t factor = 0;
  bool isMax = false, hasRelu = false;
  /// Averages of integers sum the holes of a dilated window, too.
  bool fillsHoles = false;
  IntFinish finish;
};

/// The factor of an average of integers over `taps`: the odd part of round(2^s / taps) for the
/// largest s that gives 8 bits. Large windows take that of the command.
uint32_t averageFactor(int64_t taps, uint32_t given) {
  if (taps >= 256)
    return given & 0xff;
  if (taps > 225)
    return 0;
  uint32_t factor = 0;
  for (int shift = 0;; ++shift) {
    const int64_t next = ((int64_t{2} << shift) + taps) / (2 * taps);
    if (next > 255)
      break;
    factor = static_cast<uint32_t>(next);
  }
  return factor >> std::countr_zero(factor);
}

/// The planes of an image with padding and inserted places, one at a time.
template <typename T> class Plane {
public:
  explicit Plane(const Window &window) : window(window) {
    for (size_t axis = 0; axis < 2; ++axis)
      size[axis] = (window.image[axis] - 1) * (window.insert[axis] + 1) + 1 + window.padLow[axis] +
                   window.padHigh[axis];
    values.resize(static_cast<size_t>(size[0] * size[1]));
  }
  template <typename Load> void fill(T filler, const Load &loadRow) {
    std::fill(values.begin(), values.end(), filler);
    std::vector<T> row(static_cast<size_t>(window.image[1]));
    for (int64_t h = 0; h < window.image[0]; ++h) {
      loadRow(h, row.data());
      T *to = &values[static_cast<size_t>(
          (window.padLow[0] + h * (window.insert[0] + 1)) * size[1] + window.padLow[1])];
      for (int64_t w = 0; w < window.image[1]; ++w)
        to[w * (window.insert[1] + 1)] = row[static_cast<size_t>(w)];
    }
  }
  const T *at(int64_t h, int64_t w) const { return &values[static_cast<size_t>(h * size[1] + w)]; }

private:
  const Window &window;
  std::array<int64_t, 2> size;
  std::vector<T> values;
};

/// Calls `body(n, c)` for all planes of the result, in parallel over channels, each with what
/// `make()` gives its thread.
template <typename Make, typename Body>
void overPlanes(Exec &exec, const PoolPlan &plan, const Make &make, const Body &body) {
  const Extents &shape = plan.result.shape;
  const int64_t work =
      shape[0] * (shape[2] * shape[3] * plan.window.kernel[0] * plan.window.kernel[1] +
                  plan.window.image[0] * plan.window.image[1]);
  overIndices(exec.pool, shape[1], work, [&](int64_t begin, int64_t end) {
    ScopedFlush flush;
    auto state = make();
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t c = begin; c < end; ++c)
        body(state, n, c);
  });
}

struct PoolOperands {
  Snapshot snapshots[3];
  Located input, kernel, bias, result;

  PoolOperands(Exec &exec, const PoolPlan &plan) : result(locate(exec, plan.result)) {
    input = snapshots[0].take(exec, plan.input, mustCopyAlways(plan.result, plan.input));
    if (plan.kernel)
      kernel = snapshots[1].take(exec, *plan.kernel, mustCopyAlways(plan.result, *plan.kernel));
    if (plan.bias)
      bias = snapshots[2].take(exec, *plan.bias, mustCopyAlways(plan.result, *plan.bias));
  }
};

//===--- 32-bit floats ----------------------------------------------------===//

float floatAt(const uint8_t *at) {
  float value;
  std::memcpy(&value, at, 4);
  return value;
}

void floatMaxRow(const PoolPlan &plan, const Plane<float> &plane, int64_t h, float *out) {
  const Window &window = plan.window;
  for (int64_t ky = 0; ky < window.kernel[0]; ++ky)
    for (int64_t kx = 0; kx < window.kernel[1]; ++kx) {
      const float *x = plane.at(h * window.stride[0] + ky, kx);
      for (int64_t w = 0; w < window.result[1]; ++w) {
        const float value = x[w * window.stride[1]];
        out[w] = value > out[w] ? value : out[w];
      }
    }
}

/// Products go to two sums in turn.
void floatSumRow(const Kernels &k, const PoolPlan &plan, const Plane<float> &plane,
                 const uint8_t *kernel, int64_t h, float *out, float *odd) {
  const Window &window = plan.window;
  int64_t tap = 0;
  for (int64_t ky = 0; ky < window.kernel[0]; ++ky)
    for (int64_t kx = 0; kx < window.kernel[1]; ++kx, ++tap) {
      const float weight = kernel ? floatAt(kernel + tap * 4) : std::bit_cast<float>(plan.factor);
      k.macFloat(Prec::F32, window.result[1],
                 plane.at(h * window.stride[0] + ky * window.dilation[0], kx * window.dilation[1]),
                 window.stride[1], weight, tap % 2 == 0 ? out : odd);
    }
  k.arithFloat(RowOp::Add, window.result[1], out, odd, out);
}

std::optional<Error> runFloat(Exec &exec, const PoolPlan &plan) {
  const Kernels &k = exec.kernels;
  const PoolOperands operands(exec, plan);
  const int64_t width = plan.window.result[1];
  const auto body = [&](Plane<float> &plane, int64_t n, int64_t c) {
    plane.fill(plan.isMax ? std::numeric_limits<float>::lowest() : 0.0f, [&](int64_t h, float *to) {
      k.loadFloat(Prec::F32, operands.input.at(n, c, h), operands.input.stride(),
                  plan.window.image[1], to);
    });
    std::vector<float> out(static_cast<size_t>(width)), odd(out);
    const uint8_t *kernel = plan.kernel ? operands.kernel.at(0, c, 0) : nullptr;
    for (int64_t h = 0; h < plan.window.result[0]; ++h) {
      if (plan.isMax) {
        std::fill(out.begin(), out.end(), std::numeric_limits<float>::lowest());
        floatMaxRow(plan, plane, h, out.data());
      } else {
        // A single product keeps its sign where it is zero.
        const bool isSingle = plan.window.kernel == std::array<int64_t, 2>{1, 1};
        std::fill(out.begin(), out.end(), isSingle ? -0.0f : 0.0f);
        std::fill(odd.begin(), odd.end(), isSingle ? -0.0f : 0.0f);
        floatSumRow(k, plan, plane, kernel, h, out.data(), odd.data());
      }
      if (plan.bias) {
        k.loadFloat(Prec::F32, operands.bias.at(0, c, 0), 0, width, odd.data());
        k.arithFloat(RowOp::Add, width, out.data(), odd.data(), out.data());
      }
      k.storeFloat(Prec::F32, operands.result.at(n, c, h), operands.result.stride(), width,
                   out.data());
    }
  };
  overPlanes(exec, plan, [&] { return Plane<float>(plan.window); }, body);
  return std::nullopt;
}

//===--- 8-bit integers ---------------------------------------------------===//

void intMaxRow(const Kernels &k, const PoolPlan &plan, const Plane<int32_t> &plane, int64_t h,
               int32_t *out) {
  const Window &window = plan.window;
  for (int64_t ky = 0; ky < window.kernel[0]; ++ky)
    for (int64_t kx = 0; kx < window.kernel[1]; ++kx)
      k.maxInt32(window.result[1], plane.at(h * window.stride[0] + ky, kx), window.stride[1], out);
}

void intSumRow(const Kernels &k, const PoolPlan &plan, const Plane<int32_t> &plane,
               const uint8_t *kernel, int64_t h, int32_t *out) {
  const Window &window = plan.window;
  const std::array<int64_t, 2> step =
      plan.fillsHoles ? std::array<int64_t, 2>{1, 1} : window.dilation;
  std::array<int64_t, 2> taps = window.kernel;
  if (plan.fillsHoles)
    for (size_t axis = 0; axis < 2; ++axis)
      taps[axis] = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
  for (int64_t ky = 0; ky < taps[0]; ++ky)
    for (int64_t kx = 0; kx < taps[1]; ++kx) {
      auto weight = static_cast<int32_t>(plan.factor);
      if (kernel) {
        const uint8_t bits = kernel[ky * taps[1] + kx];
        weight = plan.kernel->isSigned ? static_cast<int8_t>(bits) : bits;
      }
      k.macInt32(window.result[1], plane.at(h * window.stride[0] + ky * step[0], kx * step[1]),
                 window.stride[1], weight, out);
    }
}

std::optional<Error> runInt(Exec &exec, const PoolPlan &plan) {
  const Kernels &k = exec.kernels;
  const PoolOperands operands(exec, plan);
  const int64_t width = plan.window.result[1];
  const int32_t lowest = plan.input.isSigned ? -128 : 0;
  const auto body = [&](Plane<int32_t> &plane, int64_t n, int64_t c) {
    plane.fill(plan.isMax ? lowest : 0, [&](int64_t h, int32_t *to) {
      k.loadInt32(Prec::I8, plan.input.isSigned, operands.input.at(n, c, h),
                  operands.input.stride(), plan.window.image[1], to);
    });
    std::vector<int32_t> out(static_cast<size_t>(width));
    const uint8_t *kernel = plan.kernel ? operands.kernel.at(0, c, 0) : nullptr;
    int32_t added = 0;
    if (plan.bias)
      k.loadInt32(Prec::I16, plan.bias->isSigned, operands.bias.at(0, c, 0), 1, 1, &added);
    for (int64_t h = 0; h < plan.window.result[0]; ++h) {
      std::fill(out.begin(), out.end(), plan.isMax ? lowest : 0);
      if (plan.isMax) {
        intMaxRow(k, plan, plane, h, out.data());
        // Relu looks at the top bit, whether or not it is a sign.
        for (int32_t &value : out)
          value = plan.hasRelu && (value < 0 || value > 127) ? 0 : value;
      } else {
        intSumRow(k, plan, plane, kernel, h, out.data());
        plan.finish.apply(width, out.data(), added, out.data());
      }
      k.storeInt32(plan.result.prec, true, false, operands.result.at(n, c, h),
                   operands.result.stride(), width, out.data());
    }
  };
  overPlanes(exec, plan, [&] { return Plane<int32_t>(plan.window); }, body);
  return std::nullopt;
}

} // namespace

Expected<Step> preparePorD(const Decoded &decoded) {
  Expected<Window> window = windowOf(decoded);
  if (!window)
    return propagate(window);
  PoolPlan plan{};
  plan.window = *window;
  plan.result = decoded.result();
  const Prec prec = decoded.prec(Field::Opd0Prec);
  const bool isInt = prec == Prec::I8;
  plan.isMax = decoded.sub() == sub::kMaxPool;
  plan.hasRelu = decoded.flag(Field::Relu);
  plan.input = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, decoded.flag(Field::Opd0Sign));
  if (decoded.flag(Field::KernelRotate))
    return decoded.unsupported("a rotated kernel");
  if (plan.isMax) {
    if (!isInt && (window->insert[0] != 0 || window->insert[1] != 0))
      return decoded.unsupported("insertion");
  } else if (decoded.tensors.find(Role::Opd1)) {
    plan.kernel =
        sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, decoded.flag(Field::Opd1Sign));
  } else {
    plan.factor = static_cast<uint32_t>(decoded.get(Field::Opd1Addr));
  }
  if (decoded.tensors.find(Role::Opd2))
    plan.bias = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, isInt ? Prec::I16 : Prec::F32,
                         decoded.flag(Field::Opd2Sign));
  if (!isInt)
    return Step([plan](Exec &exec) { return runFloat(exec, plan); });
  plan.finish = intFinishOf(decoded);
  if (!plan.isMax && !plan.kernel) {
    plan.fillsHoles = true;
    plan.factor = averageFactor(window->kernel[0] * window->kernel[1], plan.factor);
    if (decoded.flag(Field::Opd1Sign))
      plan.factor = static_cast<uint32_t>(static_cast<int8_t>(plan.factor));
    plan.finish = intFinishOf(decoded, decoded.flag(Field::Opd0Sign) && !plan.hasRelu);
  }
  return Step([plan](Exec &exec) { return runInt(exec, plan); });
}

} // namespace tpuc::bm1684
