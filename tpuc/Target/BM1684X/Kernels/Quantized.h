//===- Quantized.h - Operations on quantized integers -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_QUANTIZED_H
#define TPUC_TARGET_BM1684X_KERNELS_QUANTIZED_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

#include <vector>

namespace tpuc::bm1684x {

// 8-bit tensors are I8 or U8 with a zero point; sums are I32. A sum becomes a result as
//   saturate(round(sum * multiplier / 2^shift) + zeroPoint)
// with one rounding of the 64-bit product, half up, as the chip's requantization does it. Bits are
// those of the interpreter's integer kernels.

/// How often the product of a sum and its factor is rounded.
enum class Roundings : uint8_t {
  Once,     ///< As above.
  OnceAway, ///< The same, halves away from zero.
  /// h = sum * multiplier / 2^31, half up, then h / 2^shift, half away from zero; shift >= 0.
  Twice,
  /// The same; for a negative shift, h is taken of sum * 2^-shift, saturated to 32 bits.
  TwiceAfterLeftShift,
};

/// How the sums of a tensor become its elements.
struct Requantize {
  int32_t multiplier = 1;
  int32_t shift = 0; ///< To the right, -63 to 63; -31 to 31 where it is rounded twice.
  int32_t zeroPoint = 0;
  /// Where the result is cut off, within its type (a fused ReLU); the type's own bounds: nothing.
  std::optional<int32_t> lowest;
  std::optional<int32_t> highest;
  /// Of products of two tensors, sums of windows and reductions.
  Roundings roundings = Roundings::Once;
};

/// Words of each channel, of which the last one is the bias.
inline constexpr int64_t kRequantWords = 4, kBiasWord = 3;
/// Words of a channel whose sums are rounded twice: those above, the biases of more phases, the
/// factor of the first step, and the power of two by which sums are multiplied before.
inline constexpr int64_t kTwoStepWords = 16, kFirstFactorWord = 14, kPowerWord = 15;

/// output[n,m,y,x] = requantized bias[m] + sum of filter * input, where around the image lies
/// `inputZero`. The zero point is not subtracted: -inputZero * the sum of a channel's filter
/// belongs into its bias.
///
/// `input` I8 or U8, any layout (depthwise: Aligned), filter I8 packed by `packFilter` (depthwise:
/// Compact [1,c,kh,kw]), `output` Aligned: I8 or U8; I32, which holds the sums; F32, F16 or BF16,
/// f32(sum) * scale, limited by the activation. `parameterAddress`: what `packChannels` or
/// `packScales` makes, I32 [1,oc,1,4] Aligned, or `packFirstFactors`, of kTwoStepWords. Parameters
/// begin in the output's lane. Strides as for `emitConvolution`.
struct QuantizedConvolution {
  LocalTensor input;
  LocalTensor output;
  uint32_t filterAddress = 0;
  uint32_t parameterAddress = 0;
  /// False where all biases are 0.
  bool hasBias = true;
  /// Which word of a channel is its bias.
  int64_t biasWord = kBiasWord;
  /// Of integers.
  Roundings roundings = Roundings::Once;
  int32_t inputZero = 0;
  Window2d window;
  int64_t group = 1;
  /// Where integers are cut off.
  std::optional<int32_t> lowest;
  std::optional<int32_t> highest;
  Activation activation;
  Scratch scratch;

  bool isDepthwise() const {
    return group > 1 && group == input.shape[1] && group == output.shape[1];
  }
};
Expected<uint32_t> quantizedConvolutionScratch(const QuantizedConvolution &conv);
Expected<void> emitQuantizedConvolution(Builder &builder, const QuantizedConvolution &conv);
/// The transposed convolution, with window and filter as for `emitDeconvolution`. Inserted elements
/// are `inputZero`, too, so the same bias is right. Depthwise: with inputZero 0 only.
Expected<uint32_t> quantizedDeconvolutionScratch(const QuantizedConvolution &deconv);
Expected<void> emitQuantizedDeconvolution(Builder &builder, const QuantizedConvolution &deconv);
/// The same phase after phase: see `emitPhaseDeconvolution`. Where inputZero is not 0, each phase
/// has a bias of its own, with -inputZero * the sum of the phase's filter in it: the words behind
/// the first one, of at most so many phases.
constexpr int64_t mostPhaseBiases(Roundings roundings) {
  return (roundings == Roundings::Once ? kTwoStepWords : kFirstFactorWord) - kBiasWord;
}
Expected<uint32_t> quantizedPhaseDeconvolutionScratch(const QuantizedConvolution &deconv);
Expected<void> emitQuantizedPhaseDeconvolution(Builder &builder,
                                               const QuantizedConvolution &deconv);

/// {multiplier, -shift, zero point, bias} of each channel; no biases: 0.
std::vector<int32_t> packChannels(std::span<const Requantize> channels,
                                  std::span<const int32_t> biases);
/// As many words for each channel, whose sums are rounded twice: `words` as packChannels makes
/// them, and more biases behind, as lines of kTwoStepWords.
std::vector<int32_t> packFirstFactors(std::span<const int32_t> words,
                                      std::span<const Requantize> channels);
/// {scale in F32, 0, 0, bias} of each channel.
std::vector<int32_t> packScales(std::span<const float> channels, std::span<const int32_t> biases);

/// output = requantized sum of inputs[i] * multipliers[i] + constant. Inputs are I8 or U8 and
/// broadcast to the output, which is I8 or U8, Aligned. Multipliers fit in 16 bits with their sign.
struct QuantizedSum {
  std::vector<LocalTensor> inputs;
  std::vector<int32_t> multipliers;
  int32_t constant = 0;
  Requantize requantize;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> quantizedSumScratch(const QuantizedSum &sum);
Expected<void> emitQuantizedSum(Builder &builder, const QuantizedSum &sum);

/// output = left + right (or left - right) in fixed point, as kernels::fixedAdd: each less its zero
/// point times 2^kLeftShift, scaled by its factor, and the sum by that of the result, all rounded
/// twice (Roundings::Twice). Factors are of 0 to less than 1, with shifts behind that by 31. Inputs
/// and output are I8 or U8, Aligned, and inputs are broadcast.
struct QuantizedAddition {
  static constexpr int32_t kLeftShift = 20;
  LocalTensor left;
  LocalTensor right;
  Requantize leftFactor;
  Requantize rightFactor;
  bool subtracts = false;
  Requantize result;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> quantizedAdditionScratch(const QuantizedAddition &sum);
Expected<void> emitQuantizedAddition(Builder &builder, const QuantizedAddition &sum);

/// output = requantized (left - leftZero) * (right - rightZero); types as above. Products may be
/// rounded twice.
struct QuantizedProduct {
  LocalTensor left;
  LocalTensor right;
  int32_t leftZero = 0;
  int32_t rightZero = 0;
  Requantize requantize;
  LocalTensor output;
  Scratch scratch;
};
Expected<uint32_t> quantizedProductScratch(const QuantizedProduct &product);
Expected<void> emitQuantizedProduct(Builder &builder, const QuantizedProduct &product);

/// output = requantized sum of input - inputZero over windows. `factors[n]` is for windows of n
/// counted elements (those inside of the image, or with `countsPadding` all of the window); one
/// factor serves all windows. Sums may be rounded twice. Input and output I8 or U8, Aligned.
struct QuantizedAveragePool {
  LocalTensor input;
  LocalTensor output;
  Window2d window;
  bool countsPadding = false;
  int32_t inputZero = 0;
  std::vector<Requantize> factors;
  Scratch scratch;
};
Expected<uint32_t> quantizedAveragePoolScratch(const QuantizedAveragePool &pool);
Expected<void> emitQuantizedAveragePool(Builder &builder, const QuantizedAveragePool &pool);

/// output = requantized (left - leftZero) * (right - rightZero) + bias, rows over lanes as in
/// MatrixProduct: left [1,M,1,K], right [1,K,1,N] or turned [1,N,1,K], I8 or U8. Output I8 or U8;
/// I32 for the sums; F32, F16 or BF16: f32(sum) * scale, limited by the activation.
///
/// Either `biasAddress` and one factor for all columns: I32 [1,64,1,N] Aligned, the same in every
/// lane; or `columnAddress`: I32 [3,64,1,N] Aligned, what `packColumns` or `packColumnScales`
/// makes, the same in every lane. A left zero point that is not folded into biases costs a second
/// product. Sums that accumulate are added to what the output holds, which then takes no bias and
/// no left zero point.
struct QuantizedMatrixProduct {
  LocalTensor left;
  LocalTensor right;
  LocalTensor output;
  bool rightIsTransposed = false;
  int32_t leftZero = 0;
  int32_t rightZero = 0;
  std::optional<uint32_t> biasAddress;
  std::optional<uint32_t> columnAddress;
  /// With `columnAddress` the multiplier is not read.
  Requantize requantize;
  double scale = 1;
  Activation activation;
  bool accumulates = false;
  Scratch scratch;
};
Expected<uint32_t> quantizedMatrixProductScratch(const QuantizedMatrixProduct &product);
Expected<void> emitQuantizedMatrixProduct(Builder &builder, const QuantizedMatrixProduct &product);

/// Rows of words for each column.
inline constexpr int64_t kColumnRows = 3;
/// The shift that columns of these factors share: of `QuantizedMatrixProduct::requantize`.
int32_t columnShift(std::span<const Requantize> columns);
/// Rows of biases, of powers of two, and of multipliers: sum * power * multiplier / 2^columnShift
/// is what the factors say.
std::vector<int32_t> packColumns(std::span<const Requantize> columns,
                                 std::span<const int32_t> biases);
/// Rows of biases, of scales in F32, and of nothing.
std::vector<int32_t> packColumnScales(std::span<const float> columns,
                                      std::span<const int32_t> biases);

/// output = requantized input - inputZero, by one factor where that is not negative and by another
/// where it is: `negative`, or the requantization parameters of each channel at `parameterAddress`
/// (`packChannels`). Input and output I8 or U8, Aligned.
struct QuantizedLeakyRelu {
  LocalTensor input;
  LocalTensor output;
  int32_t inputZero = 0;
  Requantize positive;
  Requantize negative;
  std::optional<uint32_t> parameterAddress;
  Scratch scratch;
};
Expected<uint32_t> quantizedLeakyReluScratch(const QuantizedLeakyRelu &relu);
Expected<void> emitQuantizedLeakyRelu(Builder &builder, const QuantizedLeakyRelu &relu);

/// output = table[input as a byte without sign]; the 256 bytes lie at `tableAddress` of every lane
/// (emitLoadTableToLanes). 8-bit types, Aligned.
struct TableLookup {
  LocalTensor input;
  LocalTensor output;
  uint32_t tableAddress = 0;
};
Expected<void> checkTableLookup(const TableLookup &lookup);
Expected<void> emitTableLookup(Builder &builder, const TableLookup &lookup);
/// A table that is indexed by an I8 number + 128 (as kernels::ByteTable is), by its byte.
std::vector<uint8_t> tableByByte(std::span<const uint8_t> byNumber, bool isSigned);

/// output (I8, U8, I16) = saturate(round(input * f32(1 / scale)) + zeroPoint), halves away from
/// zero. Input F32, F16 or BF16, Aligned.
struct QuantizeOp {
  LocalTensor input;
  LocalTensor output;
  double scale = 1;
  int32_t zeroPoint = 0;
  Scratch scratch;
};
Expected<uint32_t> quantizeScratch(const QuantizeOp &quantize);
Expected<void> emitQuantize(Builder &builder, const QuantizeOp &quantize);

/// output (F32, F16, BF16) = scale * (input - zeroPoint), input I8, U8, I16 or U16; both Aligned.
struct DequantizeOp {
  LocalTensor input;
  LocalTensor output;
  double scale = 1;
  int32_t zeroPoint = 0;
  Scratch scratch;
};
Expected<uint32_t> dequantizeScratch(const DequantizeOp &dequantize);
Expected<void> emitDequantize(Builder &builder, const DequantizeOp &dequantize);

/// output (I8, U8) = requantized input - inputZero; input 8, 16 or 32 bits, Aligned.
struct RequantizeOp {
  LocalTensor input;
  LocalTensor output;
  int32_t inputZero = 0;
  Requantize requantize;
  Scratch scratch;
};
Expected<uint32_t> requantizeScratch(const RequantizeOp &requantize);
Expected<void> emitRequantize(Builder &builder, const RequantizeOp &requantize);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_QUANTIZED_H
