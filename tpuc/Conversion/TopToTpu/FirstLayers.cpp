//===- FirstLayers.cpp - First layers that amplify rounding ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/FirstLayers.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;

double tpuc::multiplicationsOf(Operation *op) {
  if (!op->hasTrait<traits::Product>())
    return 0;
  const auto isKnown = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getRank() > 0;
  };
  if (!isKnown(op->getResult(0)) || !isKnown(op->getOperand(0)) || !isKnown(op->getOperand(1)))
    return 0;
  const auto elements = double(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
  if (summedAxis(op))
    return elements * double(filterOrder(op)->perChannel());
  return elements * double(cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back());
}

namespace {

/// All ops that `value` is computed by, in no special order.
llvm::SmallSetVector<Operation *, 8> makersOf(Value value) {
  llvm::SmallSetVector<Operation *, 8> makers;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && !isa<top::InputOp>(op) && !op->hasTrait<traits::Structural>() && makers.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  return makers;
}

/// How many times the error of rounding its result the error is that rounding its input adds to the
/// sums of `op`; 0 where the filter cannot be read.
double noiseOf(Operation *op, double inputStep, double resultStep) {
  Expected<Tensor> read = op->getOperand(1).getDefiningOp<top::WeightOp>().read();
  if (!read)
    return 0;
  const Tensor filter = convert(*read, DataType::F32);
  double power = 0;
  for (float weight : filter.data<float>())
    power += double(weight) * double(weight);
  releaseMapped(read->rawBytes());
  return std::sqrt(power / double(filterOrder(op)->numChannels())) * inputStep / resultStep;
}

} // namespace

llvm::MapVector<Operation *, FirstLayer>
tpuc::firstLayersInFloats(func::FuncOp main,
                          llvm::function_ref<quant::UniformQuantizedType(Value)> typeOf,
                          llvm::function_ref<bool(Operation *)> isInteger) {
  double all = 0;
  for (Operation &op : main.front().without_terminator())
    all += multiplicationsOf(&op);
  llvm::MapVector<Operation *, FirstLayer> found;
  double sofar = 0;
  for (Operation &op : main.front().without_terminator()) {
    // What stands before an op has at least the multiplications of what it is computed by.
    const double macs = multiplicationsOf(&op);
    sofar += macs;
    if (!summedAxis(&op) || !(macs > 0) || !isInteger(&op))
      continue;
    const quant::UniformQuantizedType input = typeOf(op.getOperand(0));
    const quant::UniformQuantizedType result = typeOf(op.getResult(0));
    if (sofar > kMostFirstMacs * all)
      break;
    const auto makers = makersOf(op.getResult(0));
    if (!input || !result || !llvm::all_of(makers, isInteger))
      continue;
    const double noise = noiseOf(&op, input.getScale(), result.getScale());
    if (noise <= kMostFirstNoise)
      continue;
    for (Operation *maker : makers)
      found.try_emplace(
          maker,
          FirstLayer{maker == &op ? fmt::format("rounding its input adds {:.1f} times the error of "
                                                "rounding its result",
                                                noise)
                                  : fmt::format("it is before '{}'", layerName(&op)),
                     &op, noise});
  }
  return found;
}
