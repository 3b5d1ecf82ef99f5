//===- Decompositions.h - Ops in terms of others ----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_DECOMPOSITIONS_H
#define TPUC_CODEGEN_DECOMPOSE_DECOMPOSITIONS_H

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tpuc::codegen {

// Each makes the ops that `maker.op`, an op of static shapes, stands for,
// and gives its users their results; the op itself stays, without users. Says no, and makes
// nothing, where it does not know the op or its form.

/// LSTM, GRU and RNN: with as many units as whole lines of lanes, the steps in front of the
/// samples, and nothing but the steps' results. Both directions are one cell where the chip has a
/// kernel for that, else two.
bool decomposeRecurrent(OpMaker &maker);

/// Reductions over dimensions with others between them; norms, and logarithms of sums.
bool decomposeReduce(OpMaker &maker);
/// A norm over the channels of pictures, between permutes that make rows of them and pictures
/// again: sums over channels are convolutions, so nothing is permuted. Only for chips with F32 and
/// BF16.
bool decomposeChannelNorm(OpMaker &maker);
/// A mean or a sum of the channels of one pixel: a convolution, which leaves channels in their
/// lanes. As a row they would be stored and loaded one by one. Only for chips with F32.
bool decomposeChannelMean(OpMaker &maker);
/// A sum along a dimension of 2 to 8 elements, with many behind it: of parts of the input, in F32
/// where there are more than two. Rows of a few elements would be transferred one by one.
/// Nothing is sliced of what is stacked, nor of products or sums with that, which are computed of
/// the parts.
bool decomposeSumOfFew(OpMaker &maker);
/// Whether `decomposeSumOfFew` computes `op` in parts, when it comes to the op's only reader.
bool isPartOfSum(mlir::Operation *op, const Backend &backend);
/// A division by the norm along a dimension.
bool decomposeNormalize(OpMaker &maker);
/// Running sums of floats.
bool decomposeCumSum(OpMaker &maker);

/// A layer norm of which the mean or the factor is wanted too.
bool decomposeLayerNorm(OpMaker &maker);
bool decomposeGroupNorm(OpMaker &maker);
/// One of all channels whose elements local memory holds.
bool decomposeSmallGroupNorm(OpMaker &maker);
/// A division by a power of the squares of neighbours.
bool decomposeLRN(OpMaker &maker);

/// Sums, extremes and means of other than two tensors.
bool decomposeManyOperands(OpMaker &maker);
/// Limits that are tensors.
bool decomposeClip(OpMaker &maker);
/// Factors and addends of channels, where they are in no op that makes the input.
bool decomposeScale(OpMaker &maker);
/// Powers with one number as exponent.
bool decomposePower(OpMaker &maker);
bool decomposeTrilu(OpMaker &maker);

/// Floats that are repeated along all that lies behind them: a product with ones, which can be in
/// a group, where a move would go through global memory.
bool decomposeExpand(OpMaker &maker);
/// Channels of a convolution's result that are interleaved: its filters in that order. Of one in
/// groups, whose channels do not stay together, all groups are computed as one, with zeros in the
/// filter, where that takes less by estimate. Also of quantized tensors.
bool decomposeShuffledConv(OpMaker &maker);
/// Channels that are interleaved: a permute. Also of quantized tensors.
bool decomposeShuffleChannel(OpMaker &maker);
/// Concatenations with an activation: of parts that have it. Also of quantized tensors, where the
/// activation changes nothing of what their type can store.
bool decomposeActivatedConcat(OpMaker &maker);

/// Tables of channels: one table where all are the same, else a product of integers that gives
/// every entry, else a table for each channel by itself.
bool decomposeScaleLut(OpMaker &maker);

/// Gives inputs of 64-bit integers 32 bits, where all that reads them can have that: casts,
/// comparisons, indices, moves and the host's layers. A model file refuses other numbers there.
void narrowInputs(mlir::func::FuncOp main, const Backend &backend);
/// Gives inputs and outputs of types that the chip's container cannot state (`Container::states`)
/// the closest ones that it can: integers and floats of 64 bits 32, truth values bytes. Behind such
/// inputs and in front of such outputs a `tpu.DtypeCast` converts. Types without a close one stay;
/// the container refuses them by name.
void useStatedTypes(mlir::func::FuncOp main, const Backend &backend);
/// Sums, differences, products and running sums of 32- and 64-bit integers that the chip has no
/// kernel for: in F32, where operands and results are known to be integers that F32 has. So are
/// quotients and rests of numbers of 0 and more by a constant, and places of extremes, of floats as
/// well, and the first elements in order where they are few. Bounds come from conditions,
/// constants, extents and tables whose rows numbers name; casts, moves, concatenations and indices
/// that read such numbers read the floats. Sums, differences, products and running sums of other
/// 64-bit integers are computed modulo 2^32, where the chip does that and nothing but the lowest 32
/// bits is read of them: by indices, casts to 32 bits, and others of that kind. Where casts to
/// floats alone read those of 32-bit numbers, floats beside them tell which integers 32 bits hold.
void computeBoundedIntegers(mlir::func::FuncOp main, const Backend &backend);
/// Permutes that make rows short stand behind what is done to parts of these rows, where it reads
/// nothing else but constants and gives one result: parts of the longer rows in front of them take
/// clearly less time to move. Also of quantized tensors.
void permuteLate(mlir::func::FuncOp main, const Backend &backend);
/// Concatenations that begin like an earlier one join that and the rest, where all lie in order in
/// global memory. Also of quantized tensors.
void nestConcats(mlir::func::FuncOp main);
/// Casts of 64-bit integers to floats or conditions, and their comparisons: of their words. The
/// latter two are exact; floats are rounded once if 32 bits hold the integer, else within one unit
/// in the last place.
bool decomposeLongIntegers(OpMaker &maker);
/// Element-wise ops of more than 4 dimensions, of which some can be joined. Also of quantized
/// tensors.
bool decomposeManyDimensions(OpMaker &maker);
/// Ops on elements that a reshape gave more than four dimensions: on what was reshaped.
bool decomposeReshapedElements(OpMaker &maker);
/// Rotary positions by constant angles: products with cosines and sines.
bool decomposeRope(OpMaker &maker);
/// Whether `rows` rows of `width` elements, those of all heads, are turned by one product: it has
/// the square of `width` numbers.
bool canTurnRows(int64_t rows, int64_t width);
/// Convolutions with more padding than a command has: padding first. Over one dimension with more
/// dilation: over rows of so many columns. Also of quantized tensors.
bool decomposeWideConv(OpMaker &maker);

/// Gathers of floats by signed indices: by ui32, counted from the front.
bool decomposeGather(OpMaker &maker);
/// Constant columns of rows, runs of which are joined again, where the chip does both in local
/// memory.
bool decomposeColumnGather(OpMaker &maker);
/// Of floats by tuples of signed indices: of slices in a row. A tuple out of range, which the chip
/// does not find, names another slice or none.
bool decomposeGatherND(OpMaker &maker);

/// Floats in other extents, of modes and dimensions that the chip has no kernel for: products with
/// constants, one dimension after the other. Not where what lies outside of the input is a number.
bool decomposeResize(OpMaker &maker);

/// Concatenations of short pieces of many rows: as columns, where the chip joins these in local
/// memory. Also of quantized tensors.
bool decomposeNarrowConcat(OpMaker &maker);

/// Scatters of floats by constant indices.
bool decomposeScatter(OpMaker &maker);

/// Attention on floats, also with masks, windows, a past, or heads that are shared: products, sums
/// with masks and a softmax.
bool decomposeAttention(OpMaker &maker);
/// Products with vectors, and of matrices whose batches are repeated.
bool decomposeMatMul(OpMaker &maker);
/// Pools and convolutions over three dimensions; transposed ones whose windows do not meet. Of
/// pools of stored integers, maxima and means of whole volumes.
bool decomposePool3d(OpMaker &maker);
bool decomposeStoredPool3d(OpMaker &maker);
/// `foldsDepths`: depths of convolutions may become channels.
bool decomposeConv3d(OpMaker &maker, bool foldsDepths);
bool decomposeDeconv3d(OpMaker &maker);
/// Pools with strides that the chip does not have, whose windows follow each other.
bool decomposePoolApart(OpMaker &maker);
/// Norms of channels of more than two dimensions: planes become longer rows.
bool decomposeInstanceNorm(OpMaker &maker);
/// Convolutions with a filter or a bias that is computed.
bool decomposeComputedFilter(OpMaker &maker);

/// Products with sums so long that no tile fits local memory: parts of the sums, which are F32
/// until they are added. Says no where a tile fits.
bool decomposeLongMatMul(OpMaker &maker);
bool decomposeLongConv(OpMaker &maker);
/// Both directions of a recurrent cell of which no tile fits local memory: a cell for each.
bool decomposeLongRecurrent(OpMaker &maker);

// Rows so long that no tile fits local memory: parts of them, whose sums and maxima are put
// together in F32. Each says no where a tile fits.

/// Reductions of floats, also norms and logarithms of sums.
bool decomposeLongReduce(OpMaker &maker);
/// Pools over whole pictures.
bool decomposeLongPool(OpMaker &maker);
/// Other pools over two dimensions, one after the other.
bool decomposeLargePool(OpMaker &maker);
/// Layer, group, instance and root-mean-square norms.
bool decomposeLongNorm(OpMaker &maker);
bool decomposeLongSoftmax(OpMaker &maker);

/// A maximum or minimum of quantized elements that has no kernel or no tile, by that of the numbers
/// they mean: one rounding forth and one back give the same integers.
bool decomposeStoredExtremum(OpMaker &maker);

/// The dimensions that a reduction reduces; none where they are computed.
std::optional<llvm::SmallBitVector> dimsReducedBy(tpu::ReduceOp op);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_DECOMPOSITIONS_H
