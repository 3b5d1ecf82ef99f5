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
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/SideBySide.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SHA256.h"

#include <array>
#include <bit>
#include <cmath>
#include <span>

using namespace tpuc;

/// Means are summed in units of 2^-60: 128 bits hold what a million samples of 2^40 add up to.
static constexpr int kFractionBits = 60;
static constexpr double kMostMean = 0x1p40;
/// Covariances take time and memory with the square of the channels.
static constexpr size_t kMostPaired = 512;
static constexpr size_t kPlaces = 64;

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

bool tpuc::hasOneTap(mlir::Operation *op) {
  const auto dims = mlir::cast<mlir::ShapedType>(op->getOperand(1).getType()).getShape();
  if (auto conv = mlir::dyn_cast<top::ConvOp>(op))
    return static_cast<int64_t>(conv.getGroup()) == 1 &&
           llvm::all_of(dims.drop_front(2), [](int64_t extent) { return extent == 1; });
  return mlir::isa<top::MatMulOp>(op) && dims.size() == 2;
}

ChannelStatistics::ChannelStatistics(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal())
    return;
  for (mlir::Operation &op : main.front().without_terminator())
    if (std::optional<int64_t> axis = summedAxis(&op))
      if (auto result = mlir::dyn_cast<mlir::OpResult>(op.getOperand(0))) {
        Entry &entry = entries[tensorNames(result.getOwner())[result.getResultNumber()]];
        entry.axis = *axis;
        entry.hasPairs |= hasOneTap(&op);
      }
}

/// What a tensor whose channels lie `inner` elements apart holds in some of its places: a row for
/// each place, of the channels and a 1.
static std::vector<double> placesOf(std::span<const float> values, size_t channels, size_t inner) {
  const size_t count = values.size() / channels;
  // Odd, so that it has little in common with the extents of pictures.
  const size_t step = (count + kPlaces - 1) / kPlaces | 1;
  std::vector<double> rows;
  for (size_t place = 0; place < count; place += step) {
    const size_t first = place / inner * inner * channels + place % inner;
    for (size_t channel = 0; channel < channels; ++channel)
      rows.push_back(double(values[first + channel * inner]));
    rows.push_back(1);
  }
  return rows;
}

/// The mean over `rows` of the products of each pair of columns.
static std::vector<double> meanProducts(std::span<const double> rows, size_t columns) {
  // Rows that are counted together: every sum is read and written once for all of them.
  constexpr size_t kTogether = 4;
  const size_t count = rows.size() / columns;
  std::vector<double> products(pairIndex(columns, 0), 0);
  for (size_t first = 0; first < count; first += kTogether) {
    const size_t together = std::min(kTogether, count - first);
    std::array<const double *, kTogether> row;
    for (size_t i = 0; i < kTogether; ++i)
      row[i] = &rows[(first + std::min(i, together - 1)) * columns];
    for (size_t c = 0; c < columns; ++c) {
      std::array<double, kTogether> factor;
      for (size_t i = 0; i < kTogether; ++i)
        factor[i] = i < together ? row[i][c] / double(count) : 0.0;
      double *sums = &products[pairIndex(c, 0)];
      for (size_t d = 0; d <= c; ++d)
        sums[d] += (factor[0] * row[0][d] + factor[1] * row[1][d]) +
                   (factor[2] * row[2][d] + factor[3] * row[3][d]);
    }
  }
  return products;
}

void ChannelStatistics::addMean(Sum &sum, double mean) {
  constexpr double kUnits = double(int64_t(1) << kFractionBits);
  // What 64 bits hold, as nearly all means are, is converted by one instruction.
  if (std::abs(mean) < 4)
    sum += static_cast<int64_t>(mean * kUnits);
  else if (std::abs(mean) < kMostMean)
    sum += static_cast<Sum>(mean * kUnits);
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
    sums[channel] += sumSideBySide(run.size(), [&](size_t i) { return double(run[i]); });
    ranges[channel].add(run);
  }
  const double count = double(values.size()) / double(channels);
  Entry &entry = found->second;
  std::vector<double> products;
  if (entry.hasPairs && channels <= kMostPaired)
    products = meanProducts(placesOf(values, channels, inner), channels + 1);
  std::lock_guard lock(mutex);
  entry.products.resize(products.size());
  for (auto [sum, product] : llvm::zip_equal(entry.products, products))
    addMean(sum, product);
  entry.sums.resize(channels);
  entry.ranges.resize(channels);
  ++entry.samples;
  for (size_t channel = 0; channel < channels; ++channel) {
    entry.ranges[channel].merge(ranges[channel]);
    addMean(entry.sums[channel], sums[channel] / count);
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
    to.products.resize(std::max(to.products.size(), from.products.size()));
    for (size_t pair = 0; pair < from.products.size(); ++pair)
      to.products[pair] += from.products[pair];
  }
}

std::vector<float> ChannelStatistics::covariancesOf(const Entry &entry) {
  std::vector<float> covariances;
  if (entry.products.empty())
    return covariances;
  const auto mean = [&](size_t c, size_t d) {
    return std::ldexp(double(entry.products[pairIndex(c, d)]), -kFractionBits) /
           double(entry.samples);
  };
  const size_t channels = entry.sums.size();
  for (size_t c = 0; c < channels; ++c)
    for (size_t d = 0; d <= c; ++d)
      covariances.push_back(static_cast<float>(mean(c, d) - mean(channels, c) * mean(channels, d)));
  return covariances;
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
  figures.covariances = covariancesOf(entry);
  return figures;
}

std::string tpuc::covariancesName(const std::string &name) { return name + ":covariances"; }

std::string tpuc::channelFile(const std::string &table) { return table + "_channels.npz"; }

Tensor tpuc::tableDigest(const CalibrationTable &table) {
  llvm::SHA256 sum;
  const auto addNumber = [&](uint64_t number) {
    std::array<uint8_t, sizeof number> bytes;
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(number >> (8 * i));
    sum.update(bytes);
  };
  for (const CalibrationTable::Entry &entry : table.entries) {
    addNumber(entry.name.size());
    sum.update(entry.name);
    addNumber(std::bit_cast<uint64_t>(entry.min));
    addNumber(std::bit_cast<uint64_t>(entry.max));
  }
  const std::array<uint8_t, 32> digest = sum.final();
  Tensor made(DataType::U8, Shape{std::ssize(digest)});
  std::ranges::copy(digest, made.mutableData<uint8_t>().begin());
  return made;
}
