//===- FloatBudget.h - What floats by need may cost -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_FLOATBUDGET_H
#define TPUC_DRIVER_FLOATBUDGET_H

#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Driver/FloatShare.h"
#include "tpuc/Driver/ModuleFile.h"

#include <functional>
#include <set>

namespace tpuc {

/// The part of the budget that is there for floats which only spare outputs a rounding: of 5 %, 3.
inline constexpr double kPartForOutputs = 0.6;

/// A step of floats, and whether the budget is kept without it.
struct TriedStep {
  FloatStep step;
  bool fits = false;
};

/// Which of the steps is given up: of those without which the budget is kept, the one that spares
/// the least error, and of equal ones the dearest; if there is none, the one that
/// spares the least for its cycles. Steps that cost nothing stay. None: all do.
std::optional<size_t> stepToMiss(llvm::ArrayRef<TriedStep> steps);

/// What is given up with the steps of `steps` whose names are not in `left`: their errors add up,
/// so the root of the sum of their squared gains.
double gainMissed(llvm::ArrayRef<FloatStep> steps, const std::set<std::string> &left);

/// Keeps what floats by need cost within a part of the cycles of the network on integers. Those of
/// them that spare the least error for their cycles are given up until that is so, but for those
/// that outputs would be lost without. Those of slight gain are given up first, together, where
/// they cost anything in a network that takes more cycles than on integers.
class FloatBudget {
public:
  struct Request {
    /// Percent of the cycles of the network on integers.
    double percent = 0;
    /// The network before lowering.
    mlir::ModuleOp top;
    const TargetInfo &target;
    std::function<Expected<Network>(const LoweringOptions &)> lower;
    /// What a model file of a lowered network would take, with groups by estimate.
    std::function<Expected<ModelFileReport>(mlir::ModuleOp)> measure;
    /// Whether the groups of the model file are those by estimate, so that `measure` would find
    /// what is known of it.
    bool isQuick = true;
  };

  explicit FloatBudget(Request request) : request(std::move(request)) {}

  /// The layers that have to be computed on integers next, so that the budget is kept; none where
  /// it is, or where all that may be given up costs nothing. `lowered` is the network that
  /// `lowering` made, and `file` what was found of its model file. Where the layers on floats and
  /// their casts take so little that the budget is kept whatever integers take, nothing is
  /// compiled. Errors: those of lowering and of the code generator.
  Expected<std::optional<FloatStep>> stepToGiveUp(mlir::ModuleOp lowered,
                                                  const LoweringOptions &lowering,
                                                  const ModelFileReport &file);

  /// Writes what was found, and what was given up, into `share`.
  void describe(std::optional<FloatShare> &share) const;

private:
  Expected<void> measureStrict(const LoweringOptions &lowering);
  Expected<std::optional<FloatStep>> leastMissed(mlir::ModuleOp lowered,
                                                 const LoweringOptions &lowering,
                                                 const ModelFileReport &made, double percent,
                                                 bool onlySlight) const;
  double costOf(const ModelFileReport &file) const {
    return double(file.cycles) / double(strict->cycles) - 1;
  }

  Request request;
  /// Of the network on integers, once it was needed. What has no kernel on integers is compared
  /// with nothing.
  std::optional<ModelFileReport> strict;
  bool hasStrict = true;
  std::optional<double> cost;
  std::optional<int64_t> excess;
  std::vector<FloatStep> leftOut;
};

} // namespace tpuc

#endif // TPUC_DRIVER_FLOATBUDGET_H
