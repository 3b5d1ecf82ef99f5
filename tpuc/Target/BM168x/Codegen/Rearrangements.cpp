//===- Rearrangements.cpp - Ops that take elements by dimension -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/Rearrangements.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Support/Convert.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tpuc::bm168x::backend {

namespace {

using Sources = Expected<std::vector<kernels::AxisSource>>;

ArrayRef<int64_t> extentsIn(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

size_t frontDim(int64_t axis, Value value) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(extentsIn(value).size())
                                      : axis);
}

/// The dimensions that an op names, or all.
std::optional<SmallVector<int64_t>> axesOr(std::optional<ArrayAttr> attribute, Value tensor,
                                           Value input) {
  if (const auto axes = top::intsOf(attribute, tensor))
    return *axes;
  if (!isa<NoneType>(tensor.getType()))
    return std::nullopt;
  return llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(extentsIn(input).size())));
}

/// Every dimension as it is.
std::vector<kernels::AxisSource> identity(Value input) {
  std::vector<kernels::AxisSource> sources;
  for (int64_t extent : extentsIn(input))
    sources.push_back(kernels::tileSource(extent, 1));
  return sources;
}

Sources tileSources(tpu::TileOp op) {
  std::vector<kernels::AxisSource> sources;
  for (auto [from, to] : llvm::zip_equal(extentsIn(op.getInput()), extentsIn(op.getOutput())))
    sources.push_back(kernels::tileSource(from, to / from));
  return sources;
}

Sources padSources(tpu::PadOp op) {
  const auto pads = top::intsOf(op.getPaddings(), op.getPaddingsTensor());
  const auto axes = axesOr(std::nullopt, op.getAxesTensor(), op.getInput());
  if (!pads || !axes || pads->size() != 2 * axes->size())
    return makeError("", "paddings that are computed", "constants");
  const auto mode = llvm::StringSwitch<kernels::PadMode>(op.getMode())
                        .Case("edge", kernels::PadMode::Edge)
                        .Case("reflect", kernels::PadMode::Reflect)
                        .Case("wrap", kernels::PadMode::Wrap)
                        .Default(kernels::PadMode::Constant);
  std::vector<kernels::AxisSource> sources = identity(op.getInput());
  for (auto [index, axis] : llvm::enumerate(*axes)) {
    const size_t dim = frontDim(axis, op.getInput());
    sources[dim] = kernels::padSource(extentsIn(op.getInput())[dim], (*pads)[index],
                                      (*pads)[index + axes->size()], mode);
  }
  return sources;
}

Sources centreSources(tpu::CenterCropPadOp op) {
  std::vector<kernels::AxisSource> sources;
  for (auto [extent, target] :
       llvm::zip_equal(extentsIn(op.getInput()), extentsIn(op.getOutput()))) {
    // Both halves are rounded down in front.
    const int64_t before = target >= extent ? (target - extent) / 2 : -((extent - target) / 2);
    sources.push_back(
        kernels::padSource(extent, before, target - extent - before, kernels::PadMode::Constant));
  }
  return sources;
}

Sources sliceSources(tpu::SliceOp op) {
  const auto offset = top::intsOf(op.getOffset(), op.getOffsetTensor());
  const auto steps = top::intsOf(op.getSteps(), op.getStepsTensor());
  auto axes = top::intsOf(op.getAxes(), op.getAxesTensor());
  if (!offset || (!steps && !isa<NoneType>(op.getStepsTensor().getType())) ||
      (!axes && !isa<NoneType>(op.getAxesTensor().getType())))
    return makeError("", "offsets that are computed", "constants");
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(offset->size())));
  std::vector<kernels::AxisSource> sources = identity(op.getInput());
  for (auto [index, axis] : llvm::enumerate(*axes)) {
    const size_t dim = frontDim(axis, op.getInput());
    const int64_t extent = extentsIn(op.getInput())[dim];
    const int64_t step = steps ? (*steps)[index] : 1;
    int64_t first = (*offset)[index];
    first =
        std::clamp<int64_t>(first < 0 ? first + extent : first, 0, step < 0 ? extent - 1 : extent);
    sources[dim].clear();
    for (int64_t i = 0; i < extentsIn(op.getOutput())[dim]; ++i)
      sources[dim].push_back(first + i * step);
  }
  return sources;
}

/// What follows itself at equal steps, which are not negative; without what is filled.
std::vector<Run> runsOf(const kernels::AxisSource &source) {
  std::vector<Run> runs;
  const auto count = static_cast<int64_t>(source.size());
  for (int64_t i = 0; i < count;) {
    const auto at = [&](int64_t index) { return source[static_cast<size_t>(index)]; };
    if (at(i) == kernels::kFill) {
      ++i;
      continue;
    }
    Run run{.to = i, .from = at(i), .count = 1, .step = 1};
    if (i + 1 < count && at(i + 1) != kernels::kFill && at(i + 1) >= at(i))
      run.step = at(i + 1) - at(i);
    while (i + run.count < count && at(i + run.count) == run.from + run.count * run.step)
      ++run.count;
    i += run.count;
    runs.push_back(run);
  }
  return runs;
}

Expected<double> fillOf(Operation *op) {
  auto pad = dyn_cast<tpu::PadOp>(op);
  if (!pad)
    return 0;
  if (isa<NoneType>(pad.getValTensor().getType()))
    return pad.getVal().convertToDouble();
  const std::optional<Tensor> value = top::constantTensor(pad.getValTensor());
  if (!value || value->numElements() != 1)
    return makeError("", "a value that is computed", "a constant");
  return convert(*value, DataType::F64).data<double>()[0];
}

const OpFunctions<Sources()> &sourceFunctions() {
  static const auto kFunctions =
      OpFunctions<Sources()>()
          .add<tpu::TileOp>([](tpu::TileOp tile) { return tileSources(tile); })
          .add<tpu::PadOp>([](tpu::PadOp pad) { return padSources(pad); })
          .add<tpu::CenterCropPadOp>([](tpu::CenterCropPadOp crop) { return centreSources(crop); })
          .add<tpu::SliceOp>([](tpu::SliceOp tile) { return sliceSources(tile); });
  return kFunctions;
}

} // namespace

bool isRearrangement(Operation *op) { return sourceFunctions().find(op) != nullptr; }

Expected<Rearrangement> rearrangementOf(Operation *op) {
  const auto sourcesOf = sourceFunctions().find(op);
  if (!sourcesOf)
    return makeError("", "no rearrangement");
  Sources sources = sourcesOf(op);
  if (!sources)
    return propagate(sources);
  Rearrangement made;
  for (const kernels::AxisSource &source : *sources) {
    made.isFilled |= llvm::is_contained(source, kernels::kFill);
    made.runs.push_back(runsOf(source));
  }
  if (!made.isFilled)
    return made;
  Expected<double> fill = fillOf(op);
  if (!fill)
    return propagate(fill);
  made.fill = *fill;
  return made;
}

} // namespace tpuc::bm168x::backend
