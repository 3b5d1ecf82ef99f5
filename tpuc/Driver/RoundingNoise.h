//===- RoundingNoise.h - How far single roundings move outputs ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_ROUNDINGNOISE_H
#define TPUC_DRIVER_ROUNDINGNOISE_H

#include "tpuc/Driver/OutputParts.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Compare.h"

namespace tpuc {

/// How far the outputs of a lowered network move where its layers round otherwise, measured with
/// the interpreter itself. It is what the outputs of two right implementations may differ by.
///
/// In each of `kRuns` runs, every result of a layer that computes in floats is moved by one
/// rounding, and what reads it goes on with that:
/// - floats of 16 bits or less: one element in 32 goes up or down by a unit of its last place.
///   Where each is rounded once, only sums that lie close to a border are rounded otherwise. It is
///   one in two where devices may round inside of the layer (depthwise convolutions, recurrent
///   cells, attention; on chips without F32 norms, quotients and functions), and more of few
///   elements, so that some 64 are moved;
/// - F32: by up to `kF32Units` * sqrt(k) units of 2^-24 of the element and of the tensor's root
///   mean square, where k is the number of terms of a sum; `kFunctionUnits` of them where the layer
///   has functions that devices compute by series;
/// - integers that are made from floats: one in 1024 goes up or down by a step, at least one does.
///
/// Detections are matched with those of the network before they are compared (DetectionSets.h).
/// Layers that move elements, and layers between integers, move nothing by themselves. Which
/// elements are moved follows from the layer's place and the run, so that results are the same
/// every time.
class RoundingNoise {
public:
  static constexpr int kRuns = 2;
  /// Products, sums and quotients of F32 are rounded once or twice.
  static constexpr double kF32Units = 2;
  /// What series and iterations of devices are off by in F32; one has 13 units for erf.
  static constexpr double kFunctionUnits = 16;
  /// The tolerance is so many times what was measured.
  static constexpr double kMargin = 2.5;
  /// That of single slices of a tensor, which are many.
  static constexpr double kSliceMargin = 6;
  /// Where roundings may move an output by more than this over its norm, a difference says little:
  /// then it has to keep its signal, too (lostPart).
  static constexpr double kLargeDifference = 0.5;
  /// Slices of fewer elements are not looked at by themselves.
  static constexpr int64_t kLeastSlice = 16;

  /// `outputs` is what the network gives of `inputs` as it is; only these are measured. Beside
  /// them and a run of the interpreter, it keeps a float for each of their elements. Errors: those
  /// of the interpreter.
  static Expected<RoundingNoise> measure(mlir::ModuleOp lowered, const TensorMap &inputs,
                                         const TensorMap &outputs, unsigned numThreads);

  /// The number of layers whose results were moved.
  int64_t numLayers() const { return layers; }
  /// The euclidean norm of what the runs moved an output by, over that of the output: the root of
  /// the mean square over the runs. Infinite where the output is 0 and moved.
  double moved(const std::string &name) const;
  /// The least similarity of an output: of a difference `limit(name)` times its norm, which is
  /// unlike the output itself.
  Tolerance tolerance(const std::string &name) const;
  /// The largest difference that an output may have, over its norm: kMargin times what it was moved
  /// by, more for few elements.
  double limit(const std::string &name) const;
  /// The most detections of an output that one run has lost (MatchedDetections::numLost).
  int64_t mostLost(const std::string &name) const;
  /// Why `made` is not the output `name` up to roundings although the whole is alike: one of its
  /// parts, or a slice along an axis (a channel), is farther off than roundings move it. Empty
  /// where all are near. Both have the shape of the output.
  std::string faultOf(const std::string &name, const Tensor &made, const OutputParts &parts) const;

private:
  struct Output {
    /// What the network gives, as f32.
    Tensor plain;
    /// The mean square, over the runs, of what each element was moved by.
    std::vector<float> squares;
    int64_t mostLost = 0;
  };
  int64_t layers = 0;
  std::map<std::string, Output> outputs;
};

} // namespace tpuc

#endif // TPUC_DRIVER_ROUNDINGNOISE_H
