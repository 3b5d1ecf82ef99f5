//===- ChannelGroups.h - Channels that one factor can go through -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_CHANNELGROUPS_H
#define TPUC_CALIBRATION_CHANNELGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace tpuc {

/// The axis of the channels that the constant filter of `op`, a convolution or an inner product,
/// makes: one for each scale of its rows. None for other ops.
std::optional<int64_t> outputChannelAxis(mlir::Operation *op);

/// The channels of one tensor.
struct TensorChannels {
  int64_t axis = 0;
  /// For each channel its group, counted from 0; kFixed where it cannot be scaled.
  llvm::SmallVector<int> groups;
};

/// Which channels of the tensors of a network can be multiplied by positive numbers, without any
/// change of what the network computes.
///
/// The channels of a group have one factor. A product with a constant filter makes channels with a
/// factor of their own, since its filter and bias can be multiplied by it, and takes them away
/// again, since its filter can be divided by it. Between the two, ops carry factors along: ReLU,
/// LeakyReLU, PReLU, pools, resizes, sums, concatenations, and products with a gate. A channel that
/// any other op makes or reads, or that the network gives, is fixed.
///
/// Example: conv -> relu -> conv of 8 channels has 8 groups, each with a channel of both tensors.
class ChannelGroups {
public:
  static constexpr int kFixed = -1;

  /// Of `main`. What an op for which `mayChange` is false makes or reads is fixed.
  ChannelGroups(mlir::func::FuncOp main, llvm::function_ref<bool(mlir::Operation *)> mayChange);

  /// The tensors of which a channel has a group, in the order of the ops.
  const llvm::MapVector<mlir::Value, TensorChannels> &tensors() const { return found; }
  int numGroups() const { return count; }

private:
  /// Where the channels of a tensor stand in `parents`.
  struct Place {
    int64_t axis = 0;
    size_t first = 0;
    int64_t channels = 0;
  };

  void place(mlir::Value value, std::optional<int64_t> axis);
  void connect(mlir::Operation *op);
  void join(mlir::Value a, mlir::Value b, int64_t offset = 0);
  void fix(mlir::Value value);
  size_t rootOf(size_t slot);
  void number();

  llvm::MapVector<mlir::Value, Place> places;
  /// A forest: slots of one tree have one factor.
  llvm::SmallVector<size_t> parents;
  llvm::SmallVector<bool> fixed;
  llvm::MapVector<mlir::Value, TensorChannels> found;
  int count = 0;
};

} // namespace tpuc

#endif // TPUC_CALIBRATION_CHANNELGROUPS_H
