//===- OutputParts.cpp - The parts of outputs that are concatenated -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/OutputParts.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Support/Convert.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace tpuc;

namespace {

/// Below this the target has less than a quarter of the reference's variance.
constexpr double kLeastCorrelation = 0.5;
/// The correlation of fewer elements says little.
constexpr int64_t kFewElements = 16;
/// A reference that changes by less than this share of its largest magnitude is no signal.
constexpr double kLeastSpread = 1.0 / 128;

/// Appends the parts of `value`, which begins at `begin` along `axis`, and gives where it ends;
/// nothing where extents are not known.
std::optional<int64_t> addParts(mlir::Value value, int64_t axis, int64_t begin,
                                std::vector<OutputPart> &parts) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  auto result = mlir::dyn_cast<mlir::OpResult>(value);
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  auto concat = value.getDefiningOp<top::ConcatOp>();
  const int64_t rank = type.getRank();
  const auto front = [&](int64_t given) { return given < 0 ? given + rank : given; };
  if (concat && front(static_cast<int64_t>(concat.getAxis())) == axis) {
    for (mlir::Value operand : concat->getOperands()) {
      const std::optional<int64_t> end = addParts(operand, axis, begin, parts);
      if (!end)
        return end;
      begin = *end;
    }
    return begin;
  }
  const int64_t end = begin + type.getShape()[static_cast<size_t>(axis)];
  parts.push_back({result ? tensorNames(result.getOwner())[result.getResultNumber()] : "input",
                   axis, begin, end});
  return end;
}

/// Sums over the finite pairs of a part.
struct Sums {
  int64_t count = 0;
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  double lowX = INFINITY, highX = -INFINITY, lowY = INFINITY, highY = -INFINITY;

  void add(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b))
      return;
    ++count;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
    lowX = std::min(lowX, a);
    highX = std::max(highX, a);
    lowY = std::min(lowY, b);
    highY = std::max(highY, b);
  }
  bool hasSignal() const {
    return count > 1 && highY - lowY > kLeastSpread * std::max(std::abs(highY), std::abs(lowY));
  }
  double correlation() const {
    const double n = static_cast<double>(count);
    const double varianceX = xx - x * x / n;
    const double varianceY = yy - y * y / n;
    const bool isConstant = lowX == highX || varianceX <= 0 || varianceY <= 0;
    return isConstant ? 0 : (xy - x * y / n) / std::sqrt(varianceX * varianceY);
  }
  bool isLost() const {
    if (!hasSignal())
      return false;
    return lowX == highX || (count >= kFewElements && correlation() < kLeastCorrelation);
  }
};

Sums sumsOf(const Tensor &target, const Tensor &reference, const OutputPart &part) {
  const Shape &shape = target.shape();
  const auto axis = static_cast<size_t>(part.axis);
  const int64_t inner = shape.strides()[axis];
  const int64_t extent = shape[axis];
  const int64_t outer = shape.numElements() / (extent * inner);
  const std::span<const float> x = target.data<float>();
  const std::span<const float> y = reference.data<float>();
  Sums sums;
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = (i * extent + part.begin) * inner; j < (i * extent + part.end) * inner; ++j)
      sums.add(double(x[static_cast<size_t>(j)]), double(y[static_cast<size_t>(j)]));
  return sums;
}

} // namespace

OutputParts tpuc::outputParts(mlir::ModuleOp module) {
  OutputParts outputs;
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal())
    return outputs;
  for (mlir::Value value : main.front().getTerminator()->getOperands()) {
    auto concat = value.getDefiningOp<top::ConcatOp>();
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!concat || !type)
      continue;
    auto axis = static_cast<int64_t>(concat.getAxis());
    axis += axis < 0 ? type.getRank() : 0;
    std::vector<OutputPart> parts;
    if (addParts(value, axis, 0, parts) && parts.size() > 1)
      outputs.emplace(layerName(concat), std::move(parts));
  }
  return outputs;
}

std::string tpuc::lostPart(const Tensor &target, const Tensor &reference,
                           const std::vector<OutputPart> &parts) {
  if (target.shape() != reference.shape() || target.numElements() == 0)
    return "";
  const Tensor made = convert(target, DataType::F32);
  const Tensor wanted = convert(reference, DataType::F32);
  for (const OutputPart &part : parts) {
    if (part.axis >= static_cast<int64_t>(target.shape().rank()) ||
        part.end > target.shape()[static_cast<size_t>(part.axis)])
      return "";
    const Sums sums = sumsOf(made, wanted, part);
    if (sums.isLost())
      return fmt::format("the part '{}', {} to {} along axis {}, has lost its signal: {:.6g} to "
                         "{:.6g} instead of {:.6g} to {:.6g}, correlation {:.3f}",
                         part.name, part.begin, part.end - 1, part.axis, sums.lowX, sums.highX,
                         sums.lowY, sums.highY, sums.correlation());
  }
  return "";
}

std::string tpuc::lostSignal(const Tensor &target, const Tensor &reference,
                             const std::string &name) {
  if (reference.shape().rank() == 0 || target.shape() != reference.shape())
    return "";
  return lostPart(target, reference,
                  {{.name = name, .axis = 0, .begin = 0, .end = reference.shape()[0]}});
}

std::string tpuc::lostPart(const Tensor &target, const Tensor &reference, const OutputParts &parts,
                           const std::string &name) {
  const auto found = parts.find(name);
  return found == parts.end() ? "" : lostPart(target, reference, found->second);
}
