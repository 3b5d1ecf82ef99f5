//===- Convolution.h - Convolutions -----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_CONVOLUTION_H
#define TPUC_TARGET_BM1684X_KERNELS_CONVOLUTION_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include <optional>
#include <span>
#include <vector>

namespace tpuc::bm1684x {

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

/// output[n,m,y,x] = bias[m] + sum of filter[m,i,ky,kx] * input[n, g*ic + i, y*stride + ..., ...].
///
/// `input` is F32, F16 or BF16, `output` of the same type or F32; sums are F32. `input` has any
/// layout (rows of a larger tensor as they are, see LocalTensor::slice), `output` is Aligned and
/// overlaps no operand. `filterAddress` holds what `packFilter` makes, `biasAddress` F32
/// [1,oc,1,1] Compact; both begin in the output's lane.
///
/// Depthwise (one input and one output channel in each group, more than one group): `input` is
/// Aligned, too, the filter is Compact [1,c,kh,kw], the bias has `depthwiseBiasType`, the output
/// the type of the input, and sums are rounded to that type at each step; those of BF16, and of F16
/// with up to 9 taps, are computed in F32 (scratch), unless F16 has `narrowSums`. Around the input
/// stands `outside`, or of several channels in one group their `outsides` (scratch).
struct Convolution {
  LocalTensor input;
  LocalTensor output;
  uint32_t filterAddress = 0;
  std::optional<uint32_t> biasAddress;
  Window2d window;
  int64_t group = 1;
  double outside = 0;
  std::vector<double> outsides = {};
  bool narrowSums = false;
  Activation activation;
  Scratch scratch;

  bool isDepthwise() const {
    return group > 1 && group == input.shape[1] && group == output.shape[1];
  }
};

/// The type in which a depthwise convolution of tensors of `type` and a kernel of `taps` elements
/// takes its bias: F32 where it is computed so.
DataType depthwiseBiasType(DataType type, int64_t taps, bool narrowSums = false);

/// Bytes of scratch per lane; an error says what the kernel cannot do. Addresses are not looked at.
Expected<uint32_t> convolutionScratch(const Convolution &conv);
Expected<void> emitConvolution(Builder &builder, const Convolution &conv);

/// The transposed convolution: inserts stride - 1 zeros between the elements of the input and moves
/// the turned kernel over it in steps of 1. `window.stride` is the deconvolution's. The pads are
/// rows and columns of zeros around the image after the insertion: dilation * (kernel - 1) minus
/// the deconvolution's pads (plus the output padding at the end) for a whole image. The filter is
/// packed from [oc, ic / group, kh, kw] (`swapFilterChannels`), not turned: the command turns it.
Expected<uint32_t> deconvolutionScratch(const Convolution &deconv);
Expected<void> emitDeconvolution(Builder &builder, const Convolution &deconv);

/// Whether the output elements of the deconvolution that are a stride apart may be computed
/// together, phase after phase, each as a deconvolution of stride 1 with the taps that its elements
/// meet: the kernel is at least as large as the stride, one group, no dilation. Without the zeros
/// there are up to stride[0] * stride[1] times fewer products. Window, pads and operands are as for
/// `emitDeconvolution`, but for the filter, which `packPhaseFilter` packs. Each output element
/// needs an input and a tap.
bool hasPhases(const Window2d &window, int64_t group);
/// Whether one convolution does it for all phases, each of which is a channel: each has one tap,
/// there is one output channel, and lanes enough. Then filters of the taps, [1, kh * kw, 1,
/// channels], and as many equal biases (or words of integers) lie in successive lanes.
bool tapsAreChannels(const Window2d &window, int64_t outputs);
Expected<uint32_t> phaseDeconvolutionScratch(const Convolution &deconv);
Expected<void> emitPhaseDeconvolution(Builder &builder, const Convolution &deconv);
/// A filter [oc, ic, kh, kw] as filters of the phases that follow each other, each of
/// ceil(kernel / stride) taps, those that are missing 0; and its shape
/// [phases, oc, 1, channels * taps], Compact.
Extents phaseFilterShape(DataType type, const Extents &filter,
                         const std::array<int64_t, 2> &stride);
std::vector<uint8_t> packPhaseFilter(DataType type, const Extents &filter,
                                     std::span<const uint8_t> bytes,
                                     const std::array<int64_t, 2> &stride);

/// The shape under which the packed filter lies in global memory, row-major, and in local memory,
/// Compact. `filter` is [oc, ic / group, kh, kw]. n is 1, or where the stride is beyond what a
/// command can do, the number of commands that share the work.
Extents packedFilterShape(DataType type, const Extents &filter,
                          const std::array<int64_t, 2> &stride = {1, 1});
/// The bytes of a filter in the chip's order: for each output channel blocks of P input channels (8
/// bits 64, 16 bits 32, 32 bits 1), in a block kernel rows, kernel columns, input channels. `bytes`
/// holds the filter [oc, ic / group, kh, kw], row-major. The last block is filled with zeros.
/// `stride` is the convolution's; deconvolutions have {1, 1}.
std::vector<uint8_t> packFilter(DataType type, const Extents &filter,
                                std::span<const uint8_t> bytes,
                                const std::array<int64_t, 2> &stride = {1, 1});
/// A filter [ic, oc / group, kh, kw] of a deconvolution as [oc, ic / group, kh, kw].
std::vector<uint8_t> swapFilterChannels(DataType type, const Extents &filter, int64_t group,
                                        std::span<const uint8_t> bytes);
/// Depthwise filters [c, 1, kh, kw] are used as they are: Compact [1, c, kh, kw].
inline Extents depthwiseFilterShape(const Extents &filter) {
  return {1, filter[0], filter[2], filter[3]};
}

/// The factors of h and w by which a convolution with this stride is shared among commands: 1
/// unless the stride is more than 15, 0 where that is not possible.
std::array<int64_t, 2> strideFactors(const std::array<int64_t, 2> &stride);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_CONVOLUTION_H
