//===- Elementwise.h - Element-wise operations of two floats on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_ELEMENTWISE_H
#define TPUC_TARGET_BM1684_KERNELS_ELEMENTWISE_H

#include "tpuc/Target/BM1684/Kernels/Windows.h"

#include <vector>

namespace tpuc::bm1684 {

enum class BinaryKind : uint8_t { Add, Sub, Mul, Max, Min, Div };

/// A tensor that broadcasts to the output (extents equal or 1), or one number for all elements.
using BinaryOperand = std::variant<LocalTensor, double>;

/// output = left op right, then the activation. F32; operands have any layout. One that repeats
/// over c (extent 1 of c, more in the output) is brought to all lanes (scratch).
struct Binary {
  BinaryKind kind = BinaryKind::Add;
  BinaryOperand left;
  BinaryOperand right;
  LocalTensor output;
  Activation activation;
  Scratch scratch;
};
Expected<uint32_t> binaryScratch(const Binary &binary);
Expected<void> emitBinary(Builder &builder, const Binary &binary);

/// output = input where that is positive, else slope * input; the slope broadcasts to the input.
struct PRelu {
  LocalTensor input;
  BinaryOperand slope;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> preluScratch(const PRelu &prelu);
Expected<void> emitPRelu(Builder &builder, const PRelu &prelu);

/// One output row or column as a weighted sum of two input ones.
struct ResizeTap {
  int64_t first = 0;
  int64_t second = 0;
  double secondWeight = 0; ///< That of `first` is 1 - secondWeight.
};
/// output[n,c,y,x] = the sum over the taps of row y and column x of the input, counted in the given
/// tile. F32, regular. Interpolates columns, then rows.
struct Resize {
  LocalTensor input;
  LocalTensor output;
  std::vector<ResizeTap> rows;
  std::vector<ResizeTap> columns;
  Scratch scratch;
};
Expected<uint32_t> resizeScratch(const Resize &resize);
Expected<void> emitResize(Builder &builder, const Resize &resize);

/// output[n,c,y,x] = input[n,c,y / scaleH, x / scaleW]: whole factors.
struct UpsampleNearest {
  LocalTensor input;
  LocalTensor output;
};
Expected<void> checkUpsampleNearest(const UpsampleNearest &upsample);
Expected<void> emitUpsampleNearest(Builder &builder, const UpsampleNearest &upsample);

/// `operand` with the shape of `output`: where it repeats over c from scratch of
/// `broadcastBytes`, which is 0 for others.
uint32_t broadcastBytes(const LocalTensor &operand, const LocalTensor &output);
Expected<void> checkBroadcast(const std::string &where, const LocalTensor &operand,
                              const LocalTensor &output);
LocalTensor broadcastTo(Builder &builder, const LocalTensor &operand, const LocalTensor &output,
                        ScratchAllocator &space);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_ELEMENTWISE_H
