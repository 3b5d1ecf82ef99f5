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

/// How a window moves over h and w. Pads are those of the slice that is computed.
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
/// F32, F16 or BF16 throughout; sums are F32. `input` has any layout (rows of a larger tensor as
/// they are, see LocalTensor::slice), `output` is Aligned and overlaps no operand. `filterAddress`
/// holds what `packFilter` makes, `bias` F32 [1,oc,1,1] Compact. Filter, bias and output begin in
/// the same lane. With as many groups as input and output channels, or groups of one input channel
/// and one output channel, the depthwise form: `filter` from `packDepthwiseFilter`, bias of the
/// type of the input, `input` Aligned.
struct Convolution {
  LocalTensor input;
  LocalTensor output;
  uint32_t filterAddress = 0;
  std::optional<uint32_t> biasAddress;
  Window2d window;
  int64_t group = 1;
  Activation activation;
  Scratch scratch;

  bool isDepthwise() const {
    return group > 1 && group == input.shape[1] && group == output.shape[1];
  }
};

/// Bytes of scratch per lane; an error says what the kernel cannot do. Addresses are not looked at.
Expected<uint32_t> convolutionScratch(const Convolution &conv);
Expected<void> emitConvolution(Builder &builder, const Convolution &conv);

/// The transposed convolution: inserts stride - 1 zeros between the elements of the input and moves
/// the turned kernel over it. `window.stride` is the deconvolution's; pads are those of the
/// deconvolution's slice (0 to dilation * (kernel - 1)). The filter is packed from
/// [oc, ic / group, kh, kw], not turned: the command turns it.
Expected<uint32_t> deconvolutionScratch(const Convolution &deconv);
Expected<void> emitDeconvolution(Builder &builder, const Convolution &deconv);

/// The shape under which the packed filter lies in global memory, row-major, and in local memory,
/// Compact: [1, oc, 1, elements per output channel]. `filter` is [oc, ic / group, kh, kw].
Extents packedFilterShape(DataType type, const Extents &filter);
/// The bytes of a filter in the chip's order: for each output channel blocks of P input channels (8
/// bits 64, 16 bits 32, 32 bits 1), in a block kernel rows, kernel columns, input channels. `bytes`
/// holds the filter [oc, ic / group, kh, kw], row-major. The last block is filled with zeros.
std::vector<uint8_t> packFilter(DataType type, const Extents &filter,
                                std::span<const uint8_t> bytes);
/// A filter [ic, oc / group, kh, kw] of a deconvolution as [oc, ic / group, kh, kw].
std::vector<uint8_t> swapFilterChannels(DataType type, const Extents &filter, int64_t group,
                                        std::span<const uint8_t> bytes);
/// Depthwise filters [c, 1, kh, kw] are used as they are: Compact [1, c, kh, kw].
inline Extents depthwiseFilterShape(const Extents &filter) {
  return {1, filter[0], filter[2], filter[3]};
}
/// Where the filter of output channels [first, ...) of a packed filter begins, per lane: an output
/// channel's slice starts at lane 0 when `first` is a multiple of 64.
uint32_t packedFilterLaneBytes(DataType type, const Extents &filter);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_CONVOLUTION_H
