//===- Pool.h - Pooling of tensors ------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_POOL_H
#define TPUC_INTERPRETER_KERNELS_POOL_H

#include "tpuc/Interpreter/Kernels/Convolution.h"

namespace tpuc::kernels {

struct PoolParams {
  WindowParams window;
  bool countIncludePad = false;
  double padValue = 0; ///< What a counted element of the padding is worth.
  bool doRelu = false;
  double reluLimit = -1; ///< Negative: none.
};

// Inputs are [N, C, spatial...] with 1 to 3 spatial dimensions, shapes must fit.

/// The average over the window's elements, or with countIncludePad over those of the padding too.
void averagePool(const Tensor &input, const PoolParams &params, Tensor &output,
                 ThreadPool &threads);
/// The maximum over the window's elements inside of the input. `indices` (i64, may be null) says
/// where in the whole input the first maximum stands; with `columnMajor` the spatial dimensions are
/// counted first to last instead of last to first.
void maxPool(const Tensor &input, const PoolParams &params, Tensor &output, Tensor *indices,
             bool columnMajor, ThreadPool &threads);
/// (sum of |x|^p)^(1/p) over the window's elements.
void lpPool(const Tensor &input, const PoolParams &params, int64_t p, Tensor &output,
            ThreadPool &threads);

/// Zeros, but at the positions `indices` (i64, of the shape of `input`) the elements of `input`.
/// Indices count in the whole tensor of the shape `indexed`, which has the output's rank and at
/// most its extents. Errors: an index outside of it.
Expected<void> maxUnpool(const Tensor &input, const Tensor &indices, const Shape &indexed,
                         Tensor &output);

struct RoiAlignParams {
  bool isMax = false;
  int64_t samplingRatio = 0; ///< Samples per bin and axis; 0: as many as its extent, rounded up.
  double spatialScale = 1;
  bool halfPixel = true; ///< Shift regions by half a pixel.
};

/// Pools regions (rois: [R, 4], x1 y1 x2 y2) of the images `batchIndices` ([R], i64) of `input`
/// ([N, C, H, W]) to `output` ([R, C, height, width]) from bilinear samples. The maximum is that of
/// the weighted neighbours of all samples, as ONNX defines it. Errors: an image that there is not.
Expected<void> roiAlign(const Tensor &input, const Tensor &rois, const Tensor &batchIndices,
                        const RoiAlignParams &params, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_POOL_H
