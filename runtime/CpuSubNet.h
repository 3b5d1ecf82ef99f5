//===- CpuSubNet.h - Layers that the host computes --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CPUSUBNET_H
#define RUNTIME_CPUSUBNET_H

#include "runtime/DeviceDriver.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Model/CpuProgram/CpuProgram.h"

namespace tpuc::runtime {

/// A sub-net of the CPU, ready to run; for any number of devices and threads. Needs the memory that
/// the stage it was made from points to.
class CpuSubNet {
public:
  /// `subNet` is one of `stage` for the host. Errors name `where`: ops that this runtime does not
  /// know; operands, results and attributes other than `ops::checkOp` wants; weights that the stage
  /// does not have.
  static Expected<std::shared_ptr<const CpuSubNet>>
  create(const model::Stage &stage, const model::SubNet &subNet, const std::string &where);

  /// The names of the layers, in the order in which they are computed.
  const std::vector<std::string> &layers() const { return layerNames; }

  /// Computes all layers on tensors in the memory of `device`. What is given to the caller goes to
  /// `results`, one for each output of the network. Errors name the layer: what only the data show,
  /// such as an index out of range or a result of another shape than was foreseen.
  Expected<void> run(Device &device, std::span<std::optional<Tensor>> results,
                     ThreadPool &threads) const;

private:
  struct Step {
    const ops::OpEvaluator *evaluator = nullptr;
    std::unique_ptr<kernels::KernelCache> cache = std::make_unique<kernels::KernelCache>();
    /// The values that nobody reads afterwards.
    std::vector<size_t> dead = {};
  };
  /// A program, and its weights in the place of their values.
  struct Part {
    cpu::Program program;
    std::vector<std::optional<Tensor>> constants;
    std::vector<Step> steps;
  };
  class Frame;

  CpuSubNet() = default;

  std::vector<Part> parts;
  std::vector<std::string> layerNames;
};

} // namespace tpuc::runtime

#endif // RUNTIME_CPUSUBNET_H
