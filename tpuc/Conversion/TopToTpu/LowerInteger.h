//===- LowerInteger.h - Lowering functions of ops that have a form on integers ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_LOWERINTEGER_H
#define TPUC_CONVERSION_TOPTOTPU_LOWERINTEGER_H

#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

namespace tpuc {

// The formulas are those of the manual, section 6.3, with the corrections of docs/quantization.md.

/// How the constant filter (operand 1) of a convolution or product belongs to output channels; none
/// for other ops and for shapes that are not known.
std::optional<ChannelOrder> filterOrder(mlir::Operation *op);

/// Whether all output channels of `op` are computed at a time, and it is worth two commands to give
/// them two shifts: depthwise convolutions, which have few multiplications.
bool mayShiftTwice(mlir::Operation *op, const TargetInfo &target);

/// The channel of the input that each element of the constant filter of such an op meets.
class InputChannels {
public:
  explicit InputChannels(mlir::Operation *op);

  /// `visit(channel)` for each of so many elements in their order.
  template <typename Visit> void forEach(int64_t elements, Visit visit) const {
    int64_t base = 0;
    for (int64_t index = 0; index < elements; base += count)
      for (int64_t end = index + std::min(group, elements - index); index < end;)
        for (int64_t channel = 0; channel < count; ++channel)
          for (int64_t same = 0; same < stride; ++same, ++index)
            visit(static_cast<size_t>(base + channel));
  }

  /// After how many of so many elements the channels repeat.
  int64_t period(int64_t elements) const {
    return group < elements ? elements : std::min(elements, stride * count);
  }

  /// Those of a filter that has one element for each `taps` neighbours, which meet one channel.
  InputChannels withoutTaps(int64_t taps) const {
    InputChannels fewer = *this;
    fewer.stride /= taps;
    if (group != std::numeric_limits<int64_t>::max())
      fewer.group /= taps;
    return fewer;
  }

  /// Whether each run of so many elements meets as many neighbouring channels.
  bool areNeighbours(int64_t run) const { return stride == 1 && count == run; }
  /// The first channel of those that the run meets in which an element is.
  int64_t firstOf(int64_t element) const { return element / group * count; }

private:
  /// Elements from one channel to the next, channels, and elements that meet the same ones.
  int64_t stride = 1, count = 1, group = std::numeric_limits<int64_t>::max();
};

Expected<void> lowerConv(top::ConvOp op, Lowering &lowering);
Expected<void> lowerDeconv(top::DeconvOp op, Lowering &lowering);
Expected<void> lowerMatMul(top::MatMulOp op, Lowering &lowering);

/// Add and Sub.
Expected<void> lowerAddSub(mlir::Operation *op, Lowering &lowering);
Expected<void> lowerMul(top::MulOp op, Lowering &lowering);
/// Max and Min.
Expected<void> lowerMinMax(mlir::Operation *op, Lowering &lowering);
Expected<void> lowerLeakyRelu(top::LeakyReluOp op, Lowering &lowering);
Expected<void> lowerPRelu(top::PReluOp op, Lowering &lowering);
Expected<void> lowerCompare(top::CompareOp op, Lowering &lowering);
Expected<void> lowerCompareConst(top::CompareConstOp op, Lowering &lowering);
/// The same integers, or those of another scale.
Expected<void> lowerCopy(top::CopyOp op, Lowering &lowering);
/// A function of one tensor, as the table of its values. Of integers that a source states, it holds
/// what the interpreter computes of them.
Expected<void> lowerTable(mlir::Operation *op, Lowering &lowering);

Expected<void> lowerAvgPool(top::AvgPoolOp op, Lowering &lowering);
Expected<void> lowerReduce(top::ReduceOp op, Lowering &lowering);
Expected<void> lowerInterp(top::InterpOp op, Lowering &lowering);

/// Ops that move elements.
Expected<void> lowerMover(mlir::Operation *op, Lowering &lowering);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_LOWERINTEGER_H
