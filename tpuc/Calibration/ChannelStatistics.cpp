//===- ChannelStatistics.cpp - The channels that products read ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Calibration/SampleRunner.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <span>

using namespace tpuc;

/// Means are summed in units of 2^-60: 128 bits hold what a million samples of 2^40 add up to.
static constexpr int kFractionBits = 60;
static constexpr double kMostMean = 0x1p40;

std::optional<int64_t> tpuc::summedAxis(mlir::Operation *op) {
  if (op->getNumOperands() < 2 || !op->getOperand(1).getDefiningOp<top::WeightOp>())
    return std::nullopt;
  if (mlir::isa<top::ConvOp, top::DeconvOp>(op))
    return 1;
  auto product = mlir::dyn_cast<top::MatMulOp>(op);
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(op->getOperand(0).getType());
  if (!product || !type || type.getRank() == 0)
    return std::nullopt;
  return product.getLeftTranspose() && type.getRank() > 1 ? type.getRank() - 2 : type.getRank() - 1;
}

ChannelStatistics::ChannelStatistics(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal())
    return;
  for (mlir::Operation &op : main.front().without_terminator())
    if (std::optional<int64_t> axis = summedAxis(&op))
      if (auto result = mlir::dyn_cast<mlir::OpResult>(op.getOperand(0)))
        entries[tensorNames(result.getOwner())[result.getResultNumber()]].axis = *axis;
}

void ChannelStatistics::add(const std::string &name, const Tensor &tensor) {
  auto found = entries.find(name);
  const int64_t axis = found == entries.end() ? -1 : found->second.axis;
  if (axis < 0 || axis >= static_cast<int64_t>(tensor.shape().rank()) || tensor.numElements() == 0)
    return;
  const FloatElements elements(tensor);
  const auto values = elements.values();
  const auto channels = static_cast<size_t>(tensor.shape()[axis]);
  const auto inner = static_cast<size_t>(tensor.shape().strides()[static_cast<size_t>(axis)]);
  std::vector<double> sums(channels, 0);
  std::vector<TensorRange> ranges(channels);
  for (size_t first = 0; first < values.size(); first += inner) {
    const size_t channel = first / inner % channels;
    const auto run = values.subspan(first, inner);
    double sum = 0;
    for (float value : run)
      sum += double(value);
    sums[channel] += sum;
    ranges[channel].add(run);
  }
  const double count = double(values.size()) / double(channels);
  std::lock_guard lock(mutex);
  Entry &entry = found->second;
  entry.sums.resize(channels);
  entry.ranges.resize(channels);
  ++entry.samples;
  for (size_t channel = 0; channel < channels; ++channel) {
    entry.ranges[channel].merge(ranges[channel]);
    const double mean = sums[channel] / count;
    if (std::abs(mean) < kMostMean)
      entry.sums[channel] += static_cast<Sum>(std::ldexp(mean, kFractionBits));
  }
}

void ChannelStatistics::merge(const ChannelStatistics &other) {
  for (const auto &[name, from] : other.entries) {
    Entry &to = entries[name];
    to.axis = from.axis;
    to.samples += from.samples;
    to.sums.resize(std::max(to.sums.size(), from.sums.size()));
    to.ranges.resize(to.sums.size());
    for (size_t channel = 0; channel < from.sums.size(); ++channel) {
      to.sums[channel] += from.sums[channel];
      to.ranges[channel].merge(from.ranges[channel]);
    }
  }
}

ChannelFigures ChannelStatistics::of(const std::string &name) const {
  const auto found = entries.find(name);
  if (found == entries.end())
    return {};
  const Entry &entry = found->second;
  ChannelFigures figures;
  for (const Sum sum : entry.sums)
    figures.means.push_back(
        static_cast<float>(std::ldexp(double(sum), -kFractionBits) / double(entry.samples)));
  for (const TensorRange &range : entry.ranges) {
    figures.lowest.push_back(range.min());
    figures.highest.push_back(range.max());
  }
  return figures;
}

std::string tpuc::channelFile(const std::string &table) { return table + "_channels.npz"; }
