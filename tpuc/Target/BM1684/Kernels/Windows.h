//===- Windows.h - Convolutions, pools and matrix products of floats on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_WINDOWS_H
#define TPUC_TARGET_BM1684_KERNELS_WINDOWS_H

#include "tpuc/Target/BM1684/Kernels/Commands.h"

#include <optional>

namespace tpuc::bm1684 {

/// How a window moves over h and w. Pads are those of the tile that is computed.
struct Window2d {
  std::array<int64_t, 2> kernel{1, 1};
  std::array<int64_t, 2> stride{1, 1};
  std::array<int64_t, 2> dilation{1, 1};
  std::array<int64_t, 2> padBegin{0, 0}; ///< up, left
  std::array<int64_t, 2> padEnd{0, 0};   ///< down, right
};

/// What follows a result: max(x, 0), then min(x, limit) if the limit is not negative.
struct Activation {
  bool relu = false;
  double limit = -1;
};
/// The activation in place.
void addActivation(Builder &builder, const LocalTensor &tensor, const Activation &activation);

/// Whether a command can move `window` over `input` (after inserting zeros) to give `output`'s h
/// and w. Errors name `where`.
Expected<void> checkWindow(const std::string &where, const Window2d &window, const Extents &input,
                           const Extents &output, const std::array<int64_t, 2> &insert = {0, 0});

/// Words of a filter row for `inputs` channels and `taps`: input channels go in pairs.
constexpr int64_t filterRow(int64_t inputs, int64_t taps) { return taps * alignUp(inputs, 2); }

/// output[n,m,y,x] = bias[m] + sum of filter[m,i,ky,kx] * input[n, g*ic + i, y*stride + ..., ...].
///
/// F32. `input` has any layout, of a depthwise one that of an aligned tensor. `output` is regular
/// and overlaps no operand. `filterAddress` holds
/// for each output channel `filterRow` words in the order ky, kx, i; `biasAddress` a word for each.
/// Both begin in the output's lane.
///
/// With `isTransposed`, strides are zeros inserted between the elements of the input, the kernel
/// is turned, and pads are rows and columns around the image after the insertion.
struct Convolution {
  LocalTensor input;
  LocalTensor output;
  uint32_t filterAddress = 0;
  std::optional<uint32_t> biasAddress;
  Window2d window;
  int64_t group = 1;
  bool isTransposed = false;
  Activation activation;

  /// One input and one output channel in each of several groups: rows of taps without pairs.
  bool isDepthwise() const {
    return group > 1 && group == input.shape[1] && group == output.shape[1];
  }
};
Expected<void> checkConvolution(const Convolution &conv);
Expected<void> emitConvolution(Builder &builder, const Convolution &conv);

/// Maxima or averages of windows; an average counts the padding or not. F32, regular.
struct Pooling {
  LocalTensor input;
  LocalTensor output;
  Window2d window;
  bool isAverage = false;
  bool countsPadding = true;
  Activation activation;
  Scratch scratch;
};
Expected<uint32_t> poolingScratch(const Pooling &pool);
Expected<void> emitPooling(Builder &builder, const Pooling &pool);

/// output[1,m,1,n] = sum over k of left[1,m,1,k] * right[1,k,1,n], plus bias[n], F32 from lane 0:
/// a convolution whose filters are the rows of the left matrix. `bias` is [1,1,1,n].
struct MatrixProduct {
  LocalTensor left;
  LocalTensor right;
  LocalTensor output;
  std::optional<LocalTensor> bias;
  Activation activation;
  Scratch scratch;
};
Expected<uint32_t> matrixProductScratch(const MatrixProduct &product);
Expected<void> emitMatrixProduct(Builder &builder, const MatrixProduct &product);

/// output [n,c,h,w] = or += the same input [n,1,h,w] for all channels, F32: a convolution with
/// filters of one. `ones` is a line of scratch.
inline constexpr uint32_t kOnesBytes = kEuBytes;
void addBroadcast(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                  uint32_t ones, bool accumulates = false);

/// output [n,c,h,1] = the sum (or maximum) of input [n,c,h,w] over w, or with h = 1 in the output
/// over h and w. F32, both regular. `scratch` has `rowSumScratch` bytes.
uint32_t rowSumScratch(const LocalTensor &input);
void addRowSum(Builder &builder, const LocalTensor &output, const LocalTensor &input,
               bool isMaximum, uint32_t scratch);

Expected<void> checkScratch(const std::string &where, const Scratch &scratch,
                            const Expected<uint32_t> &needed);
/// Errors unless the tensor is F32 and regular.
Expected<void> checkRegular(const std::string &where, std::string_view name,
                            const LocalTensor &tensor);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_WINDOWS_H
