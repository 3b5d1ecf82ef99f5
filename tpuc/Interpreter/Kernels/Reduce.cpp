//===- Reduce.cpp - Reductions and running sums ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Reduce.h"
#include "tpuc/Interpreter/Kernels/Blocks.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Support/Rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tpuc::kernels {

namespace {

struct Dimension {
  int64_t extent;
  int64_t stride;
};

/// Offsets of all combinations of some dimensions, outermost first.
std::vector<int64_t> offsetsOf(std::span<const Dimension> dimensions) {
  std::vector<int64_t> offsets{0};
  for (const Dimension &dimension : dimensions) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(dimension.extent));
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < dimension.extent; ++i)
        next.push_back(offset + i * dimension.stride);
    offsets = std::move(next);
  }
  return offsets;
}

/// How the elements of the input come together: output element o combines the elements at
/// kept[o / keptRun] + o % keptRun + reduced[k] + j for all k and j < reducedRun. One of the two
/// runs, the innermost dimension of the input, is contiguous; the other is 1.
struct Plan {
  std::vector<int64_t> kept;
  std::vector<int64_t> reduced;
  int64_t keptRun = 1;
  int64_t reducedRun = 1;

  Plan(const Shape &shape, std::span<const int64_t> axes) {
    const Shape strides = shape.strides();
    // Adjacent dimensions of the same fate are joined.
    std::vector<Dimension> dimensions;
    std::vector<bool> fates;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      const bool isReduced = std::ranges::count(axes, static_cast<int64_t>(axis)) != 0;
      if (shape[axis] == 1)
        continue;
      if (!fates.empty() && fates.back() == isReduced) {
        dimensions.back() = {dimensions.back().extent * shape[axis], strides[axis]};
      } else {
        dimensions.push_back({shape[axis], strides[axis]});
        fates.push_back(isReduced);
      }
    }
    if (!dimensions.empty()) {
      (fates.back() ? reducedRun : keptRun) = dimensions.back().extent;
      dimensions.pop_back();
    }
    std::vector<Dimension> keptDimensions;
    std::vector<Dimension> reducedDimensions;
    for (size_t i = 0; i < dimensions.size(); ++i)
      (fates[i] ? reducedDimensions : keptDimensions).push_back(dimensions[i]);
    kept = offsetsOf(keptDimensions);
    reduced = offsetsOf(reducedDimensions);
  }

  int64_t numOutputs() const { return static_cast<int64_t>(kept.size()) * keptRun; }
  int64_t numReduced() const { return static_cast<int64_t>(reduced.size()) * reducedRun; }
};

/// Outputs are computed in blocks of at most this many.
constexpr int64_t kOutputs = 256;
/// Independent partial results of a contiguous run: so many can be computed side by side.
constexpr int64_t kLanes = 8;

/// results[o] = the combination of step(acc, element, parameter[o]) from `init`.
template <typename Acc, typename T, typename Step, typename Combine>
void runPlan(const Plan &plan, const T *input, const Acc *parameter, Acc init, int64_t cost,
             Acc *results, ThreadPool &threads, Step step, Combine combine) {
  const int64_t count = plan.numOutputs();
  const auto reduceRun = [&](const T *values, Acc start, Acc extra) {
    std::array<Acc, kLanes> lanes;
    lanes.fill(init);
    int64_t i = 0;
    for (; i + kLanes <= plan.reducedRun; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = step(lanes[lane], static_cast<Acc>(values[i + lane]), extra);
    for (; i < plan.reducedRun; ++i)
      start = step(start, static_cast<Acc>(values[i]), extra);
    for (int64_t lane = 0; lane < kLanes; ++lane)
      start = combine(start, lanes[lane]);
    return start;
  };
  const auto reduceOutputs = [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t inRun = begin % plan.keptRun;
      const int64_t size = std::min({end - begin, plan.keptRun - inRun, kOutputs});
      const T *base = input + plan.kept[static_cast<size_t>(begin / plan.keptRun)] + inRun;
      Acc *out = results + begin;
      std::fill_n(out, size, init);
      for (int64_t offset : plan.reduced) {
        const T *values = base + offset;
        if (plan.keptRun == 1) {
          *out = reduceRun(values, *out, parameter ? parameter[begin] : Acc(0));
        } else if (parameter) {
          for (int64_t i = 0; i < size; ++i)
            out[i] = step(out[i], static_cast<Acc>(values[i]), parameter[begin + i]);
        } else {
          for (int64_t i = 0; i < size; ++i)
            out[i] = step(out[i], static_cast<Acc>(values[i]), Acc(0));
        }
      }
      begin += size;
    }
  };
  threads.parallelFor(count, grainFor(cost * plan.numReduced()), reduceOutputs);
}

template <typename T>
using WideSum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

/// `T` is the working type of the input, `Acc` what it is accumulated in.
template <typename T, typename Acc> struct Reducer {
  const Plan &plan;
  const T *input;
  std::vector<Acc> &results;
  ThreadPool &threads;

  template <typename Step>
  void sum(Acc init, Step step, int64_t cost = 1, const Acc *parameter = nullptr) const {
    runPlan(plan, input, parameter, init, cost, results.data(), threads, step,
            [](Acc a, Acc b) { return a + b; });
  }
  template <typename Choose> void choose(Acc init, Choose better) const {
    const auto step = [better](Acc a, Acc b) { return better(b, a) || b != b ? b : a; };
    runPlan(
        plan, input, static_cast<const Acc *>(nullptr), init, 1, results.data(), threads,
        [step](Acc a, Acc b, Acc) { return step(a, b); }, step);
  }
  void product() const {
    runPlan(
        plan, input, static_cast<const Acc *>(nullptr), Acc(1), 1, results.data(), threads,
        [](Acc a, Acc b, Acc) { return a * b; }, [](Acc a, Acc b) { return a * b; });
  }
  void largest() const {
    constexpr bool kIsFloat = std::is_floating_point_v<Acc>;
    choose(kIsFloat ? -std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::lowest(),
           [](Acc a, Acc b) { return a > b; });
  }
  void smallest() const {
    constexpr bool kIsFloat = std::is_floating_point_v<Acc>;
    choose(kIsFloat ? std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::max(),
           [](Acc a, Acc b) { return a < b; });
  }
};

/// Applies a function of doubles to results; integers are read with their sign and truncated.
template <typename T, typename Acc, typename Function>
void finish(std::vector<Acc> &results, Function function) {
  for (Acc &result : results) {
    if constexpr (std::is_floating_point_v<Acc>)
      result = function(result);
    else
      result =
          static_cast<Acc>(static_cast<T>(function(static_cast<double>(static_cast<T>(result)))));
  }
}

/// ln(sum of e^x) as m + ln(sum of e^(x - m)) with m the largest x, or 0 if that is infinite.
template <typename T>
void logSumExp(const Plan &plan, const T *input, std::vector<double> &results,
               ThreadPool &threads) {
  std::vector<double> shifts(results.size());
  Reducer<T, double>{plan, input, shifts, threads}.largest();
  for (double &shift : shifts)
    shift = std::isfinite(shift) ? shift : 0;
  Reducer<T, double>{plan, input, results, threads}.sum(
      0, [](double acc, double x, double shift) { return acc + std::exp(x - shift); }, 20,
      shifts.data());
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = shifts[i] + std::log(results[i]);
}

template <typename T, typename Acc>
void runReduce(ReduceOp op, const Reducer<T, Acc> &reducer, std::vector<Acc> &results) {
  const auto add = [](Acc acc, Acc x, Acc) { return acc + x; };
  const auto addSquare = [](Acc acc, Acc x, Acc) { return acc + x * x; };
  switch (op) {
  case ReduceOp::L1:
    return reducer.sum(Acc(0), [](Acc acc, Acc x, Acc) {
      if constexpr (std::is_floating_point_v<Acc>)
        return acc + std::abs(x);
      else if constexpr (std::is_signed_v<T>)
        return acc + (static_cast<int64_t>(x) < 0 ? Acc(0) - x : x);
      else
        return acc + x;
    });
  case ReduceOp::L2:
    reducer.sum(Acc(0), addSquare);
    return finish<T>(results, [](double x) { return std::sqrt(x); });
  case ReduceOp::LogSum:
    reducer.sum(Acc(0), add);
    return finish<T>(results, [](double x) { return std::log(x); });
  case ReduceOp::Mean: {
    reducer.sum(Acc(0), add);
    const int64_t count = reducer.plan.numReduced();
    for (Acc &result : results) {
      if constexpr (std::is_floating_point_v<Acc>)
        result /= static_cast<double>(count);
      else
        result = count == 0 ? 0 : static_cast<Acc>(static_cast<T>(result) / static_cast<T>(count));
    }
    return;
  }
  case ReduceOp::Prod:
    return reducer.product();
  case ReduceOp::SumSquare:
    return reducer.sum(Acc(0), addSquare);
  default:
    return reducer.sum(Acc(0), add);
  }
}

} // namespace

Shape reducedShape(const Shape &shape, std::span<const int64_t> axes, bool keepDims) {
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const bool isReduced = std::ranges::count(axes, static_cast<int64_t>(axis)) != 0;
    if (!isReduced)
      dims.push_back(shape[axis]);
    else if (keepDims)
      dims.push_back(1);
  }
  return Shape(dims);
}

/// The value of an empty maximum or minimum in the output's own type.
template <typename T> static T emptyExtreme(ReduceOp op, DataType type) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return op == ReduceOp::Max ? -kInfinity : kInfinity;
  } else {
    if (type == DataType::Bool)
      return op == ReduceOp::Min ? 1 : 0;
    const IntegerRange range = integerRange(type);
    return op == ReduceOp::Max ? static_cast<T>(range.lowest) : static_cast<T>(range.highest);
  }
}

void reduce(ReduceOp op, const Tensor &input, std::span<const int64_t> axes, Tensor &output,
            ThreadPool &threads) {
  const Plan plan(input.shape(), axes);
  const auto count = static_cast<size_t>(output.numElements());
  if (count == 0)
    return;
  dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    const Tensor working = toWorking<T>(input);
    const T *values = working.data<T>().data();
    if (op == ReduceOp::Max || op == ReduceOp::Min) {
      std::vector<T> results(count);
      const Reducer<T, T> reducer{plan, values, results, threads};
      if (plan.numReduced() == 0)
        std::ranges::fill(results, emptyExtreme<T>(op, output.type()));
      else if (op == ReduceOp::Max)
        reducer.largest();
      else
        reducer.smallest();
      return storeBlock<T>(results, output, 0);
    }
    if (op == ReduceOp::LogSumExp) {
      std::vector<double> results(count);
      logSumExp(plan, values, results, threads);
      return storeBlock<double>(results, output, 0);
    }
    using Acc = WideSum<T>;
    std::vector<Acc> results(count);
    runReduce<T, Acc>(op, {plan, values, results, threads}, results);
    storeBlock<Acc>(results, output, 0);
  });
}

void cumulative(Cumulative kind, const Tensor &input, int64_t axis, bool exclusive, bool reverse,
                Tensor &output, ThreadPool &threads) {
  const Shape &shape = input.shape();
  const int64_t length = shape[static_cast<size_t>(axis)];
  const int64_t inner = shape.strides()[static_cast<size_t>(axis)];
  const bool isProduct = kind == Cumulative::Product;
  if (input.numElements() == 0)
    return;
  dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    using Acc = WideSum<T>;
    const Tensor working = toWorking<T>(input);
    const T *from = working.data<T>().data();
    std::vector<Acc> results(static_cast<size_t>(input.numElements()));
    threads.parallelFor(
        input.numElements() / length, grainFor(length), [&](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end; ++line) {
            const int64_t start = line / inner * length * inner + line % inner;
            Acc running = isProduct ? Acc(1) : Acc(0);
            for (int64_t step = 0; step < length; ++step) {
              const int64_t i = start + (reverse ? length - 1 - step : step) * inner;
              const auto term = static_cast<Acc>(from[i]);
              const Acc next = isProduct ? running * term : running + term;
              results[static_cast<size_t>(i)] = exclusive ? running : next;
              running = next;
            }
          }
        });
    storeBlock<Acc>(results, output, 0);
  });
}

} // namespace tpuc::kernels
