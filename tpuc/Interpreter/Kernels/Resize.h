//===- Resize.h - Resampling of tensors -------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_RESIZE_H
#define TPUC_INTERPRETER_KERNELS_RESIZE_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <vector>

namespace tpuc::kernels {

enum class ResampleMode : uint8_t { Nearest, Linear, Cubic };

/// Which point of the input an output position stands for; names as ONNX's Resize has them.
enum class CoordinateMode : uint8_t {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfCropAndResize,
};

enum class NearestMode : uint8_t { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };

struct ResizeParams {
  ResampleMode mode = ResampleMode::Nearest;
  CoordinateMode coordinates = CoordinateMode::HalfPixel;
  NearestMode nearest = NearestMode::RoundPreferFloor;
  double cubicA = -0.75;
  bool excludeOutside = false; ///< Taps outside of the input weigh nothing, the others more.
  bool antialias = false;      ///< Widen the kernel where the scale is below 1.
  bool fixedPoint = false;  ///< Of integers: positions of 10 bits, as kernels::fixedTaps has them.
  double extrapolation = 0; ///< The value outside of the input, TfCropAndResize only.
  std::vector<double> scales; ///< For each axis; exactly 1 for those that stay.
  /// Begin and end of the region for each axis, as fractions of the last index. TfCropAndResize
  /// only.
  std::vector<double> roiBegin, roiEnd;
};

/// ONNX's Resize to the shape of `output`. Axis by axis: output[x] = sum of weight * input[tap]
/// over the taps around the point that x stands for; taps outside repeat the edge. Integers are
/// computed in f64 and cut toward zero, saturated; nearest copies elements of any type but the
/// 4-bit ones. `input` must not be empty unless `output` is.
void resize(const Tensor &input, const ResizeParams &params, Tensor &output, ThreadPool &threads);

/// Each pixel scaleH times scaleW times, then ReLU if asked (limit negative: none).
void upsample(const Tensor &input, int64_t scaleH, int64_t scaleW, bool doRelu, double reluLimit,
              Tensor &output, ThreadPool &threads);

enum class GridPadding : uint8_t { Zeros, Border, Reflection };

/// Samples of `input` ([N, C, spatial...]) where `grid` ([N, out..., coordinates, last axis first])
/// says: -1 and 1 are the centres of the outermost pixels with `alignCorners`, else their edges.
void gridSample(const Tensor &input, const Tensor &grid, ResampleMode mode, GridPadding padding,
                bool alignCorners, Tensor &output, ThreadPool &threads);

/// The grid [N, out..., d] for gridSample whose points are theta ([N, d, d+1]) times the points of
/// the output in homogeneous coordinates.
void affineGrid(const Tensor &theta, bool alignCorners, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_RESIZE_H
