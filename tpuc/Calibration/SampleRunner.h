//===- SampleRunner.h - Samples run through a network, several at once -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_SAMPLERUNNER_H
#define TPUC_CALIBRATION_SAMPLERUNNER_H

#include "tpuc/Interpreter/Interpreter.h"

#include <functional>
#include <memory>

namespace tpuc {

/// Where samples come from. Both functions may be called from several threads at once.
struct SampleSource {
  int64_t count = 0;
  /// What errors call a sample: its files.
  std::function<std::string(int64_t sample)> name;
  /// The inputs by name. Called once for each pass, so that no sample is kept.
  std::function<Expected<TensorMap>(int64_t sample)> read;
};

/// Runs samples, each in one thread with the memory of one inference.
class SampleRunner {
public:
  /// Told of every tensor of a sample in the order of the ops, while it is there. Those of one
  /// sample come from one thread.
  using Visit =
      std::function<Expected<void>(int64_t sample, const std::string &name, const Tensor &tensor)>;

  /// `module` must outlive the runner. `numThreads` 0: one for each processor.
  static Expected<std::unique_ptr<SampleRunner>> create(mlir::ModuleOp module, SampleSource source,
                                                        unsigned numThreads);
  ~SampleRunner();

  int64_t numSamples() const;

  /// Runs the samples [begin, end) with a progress bar. Errors name the sample: one that cannot be
  /// read, inputs that are not finite, what the network or `visit` says; of several the one that
  /// comes first.
  Expected<void> run(int64_t begin, int64_t end, const std::string &label, const Visit &visit);
  /// Runs these samples, of which none stands twice. Of several errors, that of the one which
  /// stands first.
  Expected<void> run(std::span<const int64_t> samples, const std::string &label,
                     const Visit &visit);

private:
  struct State;
  explicit SampleRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// The elements of a floating-point tensor: as they lie if they are f32, else converted.
class FloatElements {
public:
  explicit FloatElements(const Tensor &tensor);
  std::span<const float> values() const { return tensor.data<float>(); }

private:
  Tensor tensor;
};

} // namespace tpuc

#endif // TPUC_CALIBRATION_SAMPLERUNNER_H
