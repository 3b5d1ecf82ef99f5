//===- Integers.h - Operations on integers of 8 bits on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Tensors of I8 or U8 lie in words of four batch items; a single image takes a word for each
// element. Results are those of exact integers: sum * multiplier / 2^shift, rounded half up, then
// cut off at the bounds of the output. The chip has no multiplier behind a convolution, and
// multiplies bytes only, so wider products are taken apart into bytes.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_INTEGERS_H
#define TPUC_TARGET_BM1684_KERNELS_INTEGERS_H

#include "tpuc/Target/BM1684/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684/Kernels/Windows.h"

#include <array>
#include <vector>

namespace tpuc::bm1684 {

/// The least and the greatest integer of a result.
struct IntegerBounds {
  int64_t low = 0;
  int64_t high = 0;
};

/// What a sum is multiplied by: `multiplier` / 2^`shift`. Multipliers have 8 bits, shifts are 0 to
/// 31.
struct IntegerFactor {
  int64_t multiplier = 1;
  int64_t shift = 0;
};

/// Bytes of a filter row for `inputs` channels and `taps`: input channels go in fours.
constexpr int64_t byteFilterRow(int64_t inputs, int64_t taps) { return taps * alignUp(inputs, 4); }

/// output = (sum of filter * input + bias) / 2^shift. Filters are I8, biases I16. There is one
/// shift, or one for each output channel; neighbours of one shift are a command.
///
/// `input` has any layout, of a depthwise one that of an aligned tensor; `output` is regular and
/// overlaps no operand. `filterAddress` holds for each output channel `byteFilterRow` bytes in the
/// order ky, kx, i, for depthwise ones the bytes of its taps; `biasAddress` two bytes for each.
/// Both begin in lane 0, as does the output. Transposed ones: see Convolution.
///
/// A command computes four batch items at once. Of a single image four strips of rows become these
/// items, in scratch, where that takes fewer cycles than it saves.
struct IntegerConvolution {
  LocalTensor input;
  LocalTensor output;
  uint32_t filterAddress = 0;
  std::optional<uint32_t> biasAddress;
  Window2d window;
  int64_t group = 1;
  bool isTransposed = false;
  std::vector<int64_t> shifts = {0};
  IntegerBounds bounds;
  Scratch scratch;

  int64_t shiftOf(int64_t channel) const {
    return shifts[shifts.size() == 1 ? 0 : static_cast<size_t>(channel)];
  }
  bool isDepthwise() const {
    return group > 1 && group == input.shape[1] && group == output.shape[1];
  }
};
Expected<uint32_t> integerConvolutionScratch(const IntegerConvolution &conv);
Expected<void> emitIntegerConvolution(Builder &builder, const IntegerConvolution &conv);

/// The maxima of windows, of one type.
struct IntegerMaxPool {
  LocalTensor input;
  LocalTensor output;
  Window2d window;
  IntegerBounds bounds;
};
Expected<void> checkIntegerMaxPool(const IntegerMaxPool &pool);
Expected<void> emitIntegerMaxPool(Builder &builder, const IntegerMaxPool &pool);

/// output = the sum over a window, padding counted as 0, times the factor: a depthwise convolution
/// whose weights are the multiplier.
struct IntegerWindowSum {
  LocalTensor input;
  LocalTensor output;
  Window2d window;
  IntegerFactor factor;
  IntegerBounds bounds;
  Scratch scratch;
};
Expected<uint32_t> integerWindowSumScratch(const IntegerWindowSum &sum);
Expected<void> emitIntegerWindowSum(Builder &builder, const IntegerWindowSum &sum);

/// output = (left [rows, depth] * right [depth, columns] + bias [columns]) / 2^shift: dense pieces
/// (MatrixPieces) at byte addresses of the lanes, biases of 16 bits.
struct IntegerProduct {
  DataType leftType = DataType::I8, rightType = DataType::I8, outputType = DataType::I8;
  uint32_t left = 0, right = 0, output = 0;
  std::optional<uint32_t> bias;
  int64_t rows = 1, depth = 1, columns = 1;
  int64_t shift = 0;
  IntegerBounds bounds;
};
Expected<void> checkIntegerProduct(const IntegerProduct &product);
Expected<void> emitIntegerProduct(Builder &builder, const IntegerProduct &product);

/// The same product as a convolution: rows of the left matrix are filters, and the right matrix is
/// an image of one row, whose words hold four columns. Rows lie in lanes as the bytes that they are
/// in global memory: I32 words [n, rows, 1, depth / 4], [n or 1, depth, 1, columns / 4] and
/// [n, rows, 1, columns / 4], all regular.
///
/// A bias makes four more terms, in scratch: its parts (`biasParts`) are the rows of `bias`, words
/// [1, 4, 1, columns / 4] from lane depth mod 64 on.
struct IntegerRowProduct {
  DataType leftType = DataType::I8, rightType = DataType::I8, outputType = DataType::I8;
  LocalTensor left, right, output;
  std::optional<LocalTensor> bias;
  int64_t shift = 0;
  IntegerBounds bounds;
  Scratch scratch;
};
Expected<uint32_t> integerRowProductScratch(const IntegerRowProduct &product);
Expected<void> emitIntegerRowProduct(Builder &builder, const IntegerRowProduct &product);

/// A bias of 16 bits as bytes: 127 times each of them but the last, and the last one, make it.
inline constexpr int64_t kBiasParts = 4;
std::array<int8_t, kBiasParts> biasParts(int64_t bias);

/// Whether a product of these extents can be one of rows, and takes fewer cycles than one of
/// pieces.
bool takesRowProduct(int64_t rows, int64_t depth, int64_t columns);

/// One integer of a type for all elements.
struct IntegerNumber {
  DataType type = DataType::I8;
  int64_t value = 0;
};
/// What broadcasts to an output along h and w, a word of batch items along n, and what lies in all
/// lanes along c.
using IntegerOperand = std::variant<LocalTensor, IntegerNumber>;

/// output = sum of multipliers[i] * inputs[i], over 2^shift. Multipliers have 8 bits.
struct IntegerSum {
  std::vector<IntegerOperand> inputs;
  std::vector<int64_t> multipliers;
  int64_t shift = 0;
  LocalTensor output;
  IntegerBounds bounds;
  Scratch scratch;
};
Expected<uint32_t> integerSumScratch(const IntegerSum &sum);
Expected<void> emitIntegerSum(Builder &builder, const IntegerSum &sum);

/// output = left * right * factor.
struct IntegerMultiplication {
  IntegerOperand left;
  IntegerOperand right;
  IntegerFactor factor;
  LocalTensor output;
  IntegerBounds bounds;
  Scratch scratch;
};
Expected<uint32_t> integerMultiplicationScratch(const IntegerMultiplication &product);
Expected<void> emitIntegerMultiplication(Builder &builder, const IntegerMultiplication &product);

/// output = the greater or the less of two, all of one type.
struct IntegerExtreme {
  bool isMaximum = true;
  IntegerOperand left;
  IntegerOperand right;
  LocalTensor output;
  IntegerBounds bounds;
};
Expected<void> checkIntegerExtreme(const IntegerExtreme &extreme);
Expected<void> emitIntegerExtreme(Builder &builder, const IntegerExtreme &extreme);

/// output = input * factor; with `negative` what is below 0 has that factor, and signed types.
struct IntegerRescaling {
  LocalTensor input;
  IntegerFactor factor;
  std::optional<IntegerFactor> negative;
  LocalTensor output;
  IntegerBounds bounds;
  Scratch scratch;
};
Expected<uint32_t> integerRescalingScratch(const IntegerRescaling &rescaling);
Expected<void> emitIntegerRescaling(Builder &builder, const IntegerRescaling &rescaling);

/// output = the byte of a table of 256 words at `table` of L2 that the input's byte names. Regular.
struct IntegerTable {
  LocalTensor input;
  uint32_t table = 0;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> integerTableScratch(const IntegerTable &lookup);
Expected<void> emitIntegerTable(Builder &builder, const IntegerTable &lookup);

/// From floats to integers (rounded half away from zero after the product with `factor`, then cut
/// off at the bounds), or from integers to floats (times `factor`). NaN becomes the upper bound.
/// Both are regular.
struct IntegerCast {
  LocalTensor input;
  LocalTensor output;
  double factor = 1;
  IntegerBounds bounds;
  Scratch scratch;
};
Expected<uint32_t> integerCastScratch(const IntegerCast &cast);
Expected<void> emitIntegerCast(Builder &builder, const IntegerCast &cast);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_INTEGERS_H
