//===- ConsumerErrors.h - What clipping a tensor does to the ops that read it -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_CONSUMERERRORS_H
#define TPUC_CALIBRATION_CONSUMERERRORS_H

#include "tpuc/Calibration/SampleRunner.h"
#include "tpuc/Target/QuantScheme.h"

namespace tpuc {

/// The thresholds that are tried for one tensor.
struct ThresholdCandidates {
  std::string name;
  std::vector<double> thresholds;
};

/// For one tensor, `relative[consumer][candidate]`: how far the results of an op that reads it are
/// from those of the float network when the tensor alone is stored in integers with the candidate's
/// threshold and the op's weights are, too: the mean over the samples of |x - y|^2 / |y|^2. A
/// tensor that no op reads has itself as its only consumer.
struct ConsumerErrors {
  std::vector<std::vector<double>> relative;
};

/// The errors for `candidates`, in their order, over the samples `samples` of `runner`, which runs
/// `module`, with the integers of `scheme`. The same bits with any number of threads.
/// Tensors with fewer than two candidates, and those whose name several tensors have, get no
/// errors. Memory for each thread: the tensors of one sample that some op has still to read, and an
/// op's operands and results.
Expected<std::vector<ConsumerErrors>>
measureConsumers(mlir::ModuleOp module, SampleRunner &runner, std::span<const int64_t> samples,
                 std::span<const ThresholdCandidates> candidates,
                 const QuantScheme &scheme = schemes::kInt8);

/// `weight` as integers of the scheme's weights hold it, symmetric around 0: in 8 bits with the
/// scale max / 127, for each slice along `axis` or, per tensor, for all. It must be f32.
Tensor fakeQuantizeWeight(const Tensor &weight, size_t axis,
                          const QuantScheme &scheme = schemes::kInt8);

} // namespace tpuc

#endif // TPUC_CALIBRATION_CONSUMERERRORS_H
