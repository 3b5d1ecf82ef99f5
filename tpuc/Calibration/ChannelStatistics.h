//===- ChannelStatistics.h - The channels that products read -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_CHANNELSTATISTICS_H
#define TPUC_CALIBRATION_CHANNELSTATISTICS_H

#include "tpuc/Calibration/CalibrationTable.h"
#include "tpuc/Calibration/Statistics.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tpuc {

/// The axis of operand 0 that the constant filter of `op`, a convolution or an inner product, sums
/// over; none for other ops.
std::optional<int64_t> summedAxis(mlir::Operation *op);

/// Whether each output channel of `op`, for which there is a summedAxis, has one filter element for
/// each channel: convolutions of one tap without groups, inner products with one matrix.
bool hasOneTap(mlir::Operation *op);

/// Where the numbers of a pair of channels lie in what has one for each pair: c >= d.
constexpr size_t pairIndex(size_t c, size_t d) { return c * (c + 1) / 2 + d; }

/// What is known of the channels of a tensor, one number for each.
struct ChannelFigures {
  std::vector<float> means;
  std::vector<float> lowest;
  std::vector<float> highest;
  /// For each pair of channels, as pairIndex counts them; empty unless a reader has one tap.
  std::vector<float> covariances;

  friend bool operator==(const ChannelFigures &, const ChannelFigures &) = default;
};

/// The figures of all tensors that have such a reader, over samples. Mergeable: what is added to a
/// mean for a sample is an integer, so the order does not matter. Covariances are those of at
/// most 64 places of each sample, and found for at most 512 channels: time and memory grow with the
/// square of these.
class ChannelStatistics {
public:
  /// Of the tensors of `main` in `module`.
  explicit ChannelStatistics(mlir::ModuleOp module);

  /// Counts the tensor `name` of one sample; others than those are left out. From any thread.
  void add(const std::string &name, const Tensor &tensor);
  /// `other` is of the same module.
  void merge(const ChannelStatistics &other);

  /// Of a tensor, empty if no product reads it or it was never added.
  ChannelFigures of(const std::string &name) const;

private:
  __extension__ using Sum = __int128;
  struct Entry {
    int64_t axis = 0;
    int64_t samples = 0;
    bool hasPairs = false;
    std::vector<Sum> sums;
    std::vector<TensorRange> ranges;
    /// Mean products of each pair of channels, the last of which is one more: that of the number 1.
    std::vector<Sum> products;
  };
  /// `mean` in units of 2^-60, unless it is too large for a sum of these.
  static void addMean(Sum &sum, double mean);
  static std::vector<float> covariancesOf(const Entry &entry);

  std::map<std::string, Entry> entries;
  std::mutex mutex;
};

/// Where the figures lie beside the calibration table `table`.
std::string channelFile(const std::string &table);
/// Under which name the digest of that table lies there.
inline constexpr const char *kTableDigest = ":table_sha256";
/// 32 bytes as u8: the SHA-256 of the names, minima and maxima of the table's tensors. Thresholds
/// are left out, so that a table may be edited: the figures do not depend on them. Two runs on
/// other samples or networks give other digests. The table is one that was read, whose numbers are
/// those of its text.
Tensor tableDigest(const CalibrationTable &table);
/// Under which name the covariances of the tensor `name` lie there.
std::string covariancesName(const std::string &name);

} // namespace tpuc

#endif // TPUC_CALIBRATION_CHANNELSTATISTICS_H
