//===- Compare.cpp - How alike two tensors are ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Compare.h"

#include "tpuc/Support/Elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <tuple>
#include <vector>

namespace tpuc {

namespace {

constexpr int64_t kPairsPerBlock = 4096;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What is known about a stretch of pairs. Sums are over finite pairs.
struct Partial {
  double xx = 0;
  double yy = 0;
  double xy = 0;
  double dd = 0;      ///< (x - y)^2
  double ss = 0;      ///< (x + y)^2
  double largest = 0; ///< max(|x|, |y|)
  double maxDifference = 0;
  int64_t maxIndex = -1;
  WideInteger maxExact = 0; ///< For pairs of integers.
  int64_t nonFinite = 0;
  int64_t firstNonFinite = -1;
  int64_t unbounded = 0; ///< Pairs that differ, of which both stand for the same infinity.

  /// Appends the stretch that follows this one.
  void append(const Partial &next) {
    xx += next.xx;
    yy += next.yy;
    xy += next.xy;
    dd += next.dd;
    ss += next.ss;
    largest = std::max(largest, next.largest);
    // The first of equals.
    bool further =
        next.maxExact == maxExact ? next.maxDifference > maxDifference : next.maxExact > maxExact;
    if (next.maxIndex >= 0 && (maxIndex < 0 || further)) {
      maxDifference = next.maxDifference;
      maxIndex = next.maxIndex;
      maxExact = next.maxExact;
    }
    nonFinite += next.nonFinite;
    unbounded += next.unbounded;
    if (firstNonFinite < 0)
      firstNonFinite = next.firstNonFinite;
  }
};

/// From here on an element of `type` stands for infinity, where the other side has one: what the
/// type saturates to, and the numbers that networks put into masks.
double unboundedFrom(DataType type) {
  constexpr double kLargestF16 = 65504;
  constexpr double kMask = 1e30;
  if (type == DataType::F16)
    return kLargestF16;
  return type == DataType::BF16 || type == DataType::F32 ? kMask : kInfinity;
}

/// The sums of a block, in lanes that the compiler can keep in one vector register.
class Lanes {
public:
  void add(const double *x, const double *y, const double *d, size_t count) {
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane)
        addOne(lane, x[i + lane], y[i + lane], d[i + lane]);
    for (size_t lane = 0; i < count; ++i, ++lane)
      addOne(lane, x[i], y[i], d[i]);
  }
  void finish(Partial &partial) const {
    partial.xx = sum(xx);
    partial.yy = sum(yy);
    partial.xy = sum(xy);
    partial.dd = sum(dd);
    partial.ss = sum(ss);
  }

private:
  static constexpr size_t kLanes = 8;
  using Array = std::array<double, kLanes>;

  void addOne(size_t lane, double x, double y, double d) {
    xx[lane] += x * x;
    yy[lane] += y * y;
    xy[lane] += x * y;
    dd[lane] += d * d;
    ss[lane] += (x + y) * (x + y);
  }
  static double sum(const Array &a) {
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
  }

  Array xx{}, yy{}, xy{}, dd{}, ss{};
};

class Comparer {
public:
  Comparer(const Tensor &target, const Tensor &reference)
      : target(target), reference(reference), count(target.numElements()) {
    auto isExact = [](const Tensor &tensor) { return !isFloat(tensor.type()); };
    // Doubles hold the other integers exactly.
    wide = isExact(target) && isExact(reference) &&
           std::max(bitWidth(target.type()), bitWidth(reference.type())) == 64;
    limits = {unboundedFrom(target.type()), unboundedFrom(reference.type())};
  }

  /// All sums of products of `scale * element`, on `threads` where there are some.
  Partial run(double scale, ThreadPool *threads) const {
    int64_t blocks = (count + kPairsPerBlock - 1) / kPairsPerBlock;
    std::vector<Partial> partials(static_cast<size_t>(blocks));
    auto work = [&](int64_t begin, int64_t end) {
      Scratch scratch;
      for (int64_t i = begin; i < end; ++i)
        partials[static_cast<size_t>(i)] = compareBlock(i * kPairsPerBlock, scale, scratch);
    };
    // In smaller pieces a thread costs more than it saves.
    constexpr int64_t kBlocksPerPiece = 64;
    if (threads)
      threads->parallelFor(blocks, kBlocksPerPiece, work);
    else
      work(0, blocks);
    return reduce(partials);
  }

private:
  struct Scratch {
    std::vector<double> x = std::vector<double>(kPairsPerBlock);
    std::vector<double> y = std::vector<double>(kPairsPerBlock);
    std::vector<double> d = std::vector<double>(kPairsPerBlock);
    std::vector<WideInteger> wideX, wideY;
  };

  static Partial reduce(std::span<const Partial> partials) {
    if (partials.empty())
      return {};
    if (partials.size() == 1)
      return partials[0];
    size_t half = partials.size() / 2;
    Partial result = reduce(partials.first(half));
    result.append(reduce(partials.subspan(half)));
    return result;
  }

  /// Whether both stand for the same infinity, one of them by being it or by its type.
  bool areUnbounded(double x, double y) const {
    const bool mayDiffer = std::isinf(x) || std::isinf(y) || target.type() != reference.type();
    return mayDiffer && std::signbit(x) == std::signbit(y) && std::abs(x) >= limits[0] &&
           std::abs(y) >= limits[1];
  }

  /// Sets pairs that are not finite to zero and counts those that differ.
  void takeOutNonFinite(Partial &partial, int64_t first, std::span<double> x,
                        std::span<double> y) const {
    for (size_t i = 0; i < x.size(); ++i) {
      const bool isUnbounded = areUnbounded(x[i], y[i]);
      if (std::isfinite(x[i]) && std::isfinite(y[i]) && !isUnbounded)
        continue;
      bool equal = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
      if (!equal && isUnbounded) {
        ++partial.unbounded;
      } else if (!equal) {
        if (partial.firstNonFinite < 0)
          partial.firstNonFinite = first + static_cast<int64_t>(i);
        ++partial.nonFinite;
      }
      x[i] = y[i] = 0;
    }
  }

  void differencesOfIntegers(Partial &partial, int64_t first, Scratch &scratch, size_t size) const {
    scratch.wideX.resize(size);
    scratch.wideY.resize(size);
    loadElements(target, first, std::span(scratch.wideX));
    loadElements(reference, first, std::span(scratch.wideY));
    for (size_t i = 0; i < size; ++i) {
      WideInteger difference = scratch.wideX[i] - scratch.wideY[i];
      scratch.d[i] = static_cast<double>(difference);
      difference = difference < 0 ? -difference : difference;
      if (difference > partial.maxExact || partial.maxIndex < 0) {
        partial.maxExact = difference;
        partial.maxDifference = std::abs(scratch.d[i]);
        partial.maxIndex = first + static_cast<int64_t>(i);
      }
    }
  }

  static void findLargestDifference(Partial &partial, int64_t first, std::span<const double> d) {
    double largest = 0;
    for (double difference : d)
      largest = std::max(largest, std::abs(difference));
    auto at = std::find_if(d.begin(), d.end(),
                           [&](double difference) { return std::abs(difference) == largest; });
    partial.maxDifference = largest;
    partial.maxIndex = first + (at - d.begin());
  }

  Partial compareBlock(int64_t first, double scale, Scratch &scratch) const {
    auto size = static_cast<size_t>(std::min(kPairsPerBlock, count - first));
    std::span<double> x = std::span(scratch.x).first(size);
    std::span<double> y = std::span(scratch.y).first(size);
    std::span<double> d = std::span(scratch.d).first(size);
    loadElements(target, first, x);
    loadElements(reference, first, y);
    Partial partial;
    // The sum is finite only if all elements are (or it overflows, which costs a second look).
    double probe = 0;
    for (size_t i = 0; i < size; ++i)
      probe += std::abs(x[i]) + std::abs(y[i]);
    if (!(probe < std::min(limits[0], limits[1])))
      takeOutNonFinite(partial, first, x, y);
    for (size_t i = 0; i < size; ++i)
      partial.largest = std::max({partial.largest, std::abs(x[i]), std::abs(y[i])});
    if (wide) {
      differencesOfIntegers(partial, first, scratch, size);
    } else {
      for (size_t i = 0; i < size; ++i)
        d[i] = x[i] - y[i];
      findLargestDifference(partial, first, d);
    }
    if (scale != 1) {
      for (size_t i = 0; i < size; ++i) {
        x[i] *= scale;
        y[i] *= scale;
        d[i] = x[i] - y[i];
      }
    }
    Lanes lanes;
    lanes.add(x.data(), y.data(), d.data(), size);
    lanes.finish(partial);
    return partial;
  }

  const Tensor &target;
  const Tensor &reference;
  int64_t count;
  bool wide = false;
  /// unboundedFrom of both.
  std::array<double, 2> limits{};
};

void setFigures(TensorComparison &result, const Partial &sums) {
  bool equalPairs = sums.maxDifference == 0;
  if (equalPairs) {
    result.cosine = 1;
    // Only what is equal has the figure 1.
    result.euclid = sums.unbounded == 0 ? 1 : std::nextafter(1.0, 0.0);
    result.snr = kInfinity;
    return;
  }
  double norms = std::sqrt(sums.xx) * std::sqrt(sums.yy);
  result.cosine = norms > 0 ? std::clamp(sums.xy / norms, -1.0, 1.0) : 0;
  double mean = std::sqrt(sums.ss) / 2;
  result.euclid = mean > 0 ? 1 - std::sqrt(sums.dd) / mean : -kInfinity;
  // Only what is equal has the figure 1.
  result.euclid = std::min(result.euclid, std::nextafter(1.0, 0.0));
  result.snr = sums.yy > 0 ? 10 * std::log10(sums.yy / sums.dd) : -kInfinity;
}

} // namespace

ShapeRelation relateShapes(const Shape &a, const Shape &b) {
  if (a == b)
    return ShapeRelation::Same;
  if (a.numElements() != b.numElements())
    return ShapeRelation::Mismatch;
  auto squeezed = [](const Shape &shape) {
    std::vector<int64_t> dims = shape.vec();
    std::erase(dims, 1);
    return dims;
  };
  return squeezed(a) == squeezed(b) ? ShapeRelation::Squeezed : ShapeRelation::Reshaped;
}

bool isLessAlike(const TensorComparison &a, const TensorComparison &b) {
  const auto likeness = [](const TensorComparison &c) {
    return std::tuple(c.isComparable(), c.nonFiniteMismatches == 0, c.euclid, c.cosine);
  };
  return likeness(a) < likeness(b);
}

std::string similarityText(double value) {
  constexpr double kDigits = 1e6;
  if (!std::isfinite(value))
    return fmt::format("{}", value);
  return fmt::format("{:.6f}", std::floor(value * kDigits) / kDigits);
}

std::string indexText(const Shape &shape, int64_t index) {
  Shape position = shape;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    position[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return position.str();
}

TensorComparison compareTensors(const Tensor &target, const Tensor &reference,
                                ThreadPool *threads) {
  TensorComparison result;
  result.targetType = target.type();
  result.referenceType = reference.type();
  result.targetShape = target.shape();
  result.referenceShape = reference.shape();
  result.relation = relateShapes(target.shape(), reference.shape());
  if (!result.isComparable())
    return result;

  Comparer comparer(target, reference);
  Partial sums = comparer.run(1, threads);
  // Only f64 goes where squares leave the range of doubles; then once more, scaled by a power of 2.
  constexpr double kLeast = 1e-100;
  constexpr double kMost = 1e140;
  if (sums.largest > kMost || (sums.largest > 0 && sums.largest < kLeast)) {
    int exponent = std::clamp(std::ilogb(sums.largest), -1000, 1000);
    sums = comparer.run(std::ldexp(1.0, -exponent), threads);
  }
  setFigures(result, sums);
  result.isEqual = sums.maxDifference == 0 && sums.nonFinite == 0 && sums.unbounded == 0;
  result.maxDifference = sums.maxDifference;
  if (sums.maxDifference > 0) {
    result.maxIndex = sums.maxIndex;
    result.targetText = elementText(target, sums.maxIndex);
    result.referenceText = elementText(reference, sums.maxIndex);
    result.maxDifferenceText = sums.maxExact > 0 ? wideIntegerText(sums.maxExact)
                                                 : fmt::format("{:.6g}", sums.maxDifference);
  }
  result.nonFiniteMismatches = sums.nonFinite;
  result.firstNonFinite = sums.firstNonFinite;
  if (sums.firstNonFinite >= 0) {
    result.nonFiniteTarget = elementText(target, sums.firstNonFinite);
    result.nonFiniteReference = elementText(reference, sums.firstNonFinite);
  }
  return result;
}

bool TensorComparison::passes(const Tolerance &tolerance) const {
  return isComparable() && nonFiniteMismatches == 0 && cosine >= tolerance.cosine &&
         euclid >= tolerance.euclid;
}

std::string TensorComparison::failure(const Tolerance &tolerance) const {
  if (!isComparable())
    return fmt::format("shape {} against {}", targetShape.str(), referenceShape.str());
  if (nonFiniteMismatches > 0)
    return fmt::format("{} against {} at {}, {} such element{}", nonFiniteTarget,
                       nonFiniteReference, indexText(targetShape, firstNonFinite),
                       nonFiniteMismatches, nonFiniteMismatches == 1 ? "" : "s");
  std::string text;
  if (cosine < tolerance.cosine)
    text = fmt::format("cosine {} below {}", similarityText(cosine), tolerance.cosine);
  if (euclid < tolerance.euclid)
    text += fmt::format("{}euclid {} below {}", text.empty() ? "" : ", ", similarityText(euclid),
                        tolerance.euclid);
  return text;
}

} // namespace tpuc
