//===- ImportCalibrationTable.cpp - Ranges of tensors from a table ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Calibrate.h"
#include "tpuc/Calibration/CalibrationTable.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/Npz.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tpuc {
#define GEN_PASS_DEF_IMPORTCALIBRATIONTABLE
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

/// The floating-point tensors that ops of `main` make, by name.
llvm::StringMap<Value> floatTensors(func::FuncOp main) {
  llvm::StringMap<Value> tensors;
  for (Operation &op : main.front().without_terminator())
    if (!op.hasTrait<traits::Parameter>())
      for (auto [name, result] : llvm::zip_equal(tensorNames(&op), op.getResults()))
        if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
          tensors.try_emplace(name, result);
  return tensors;
}

quant::FloatRange rangeOf(const CalibrationTable::Entry &entry, bool asymmetric, bool clip) {
  const quant::FloatRange symmetric = {-entry.threshold, entry.threshold};
  if (!asymmetric || entry.min >= entry.max)
    return symmetric;
  const quant::FloatRange range = {entry.min, entry.max};
  const quant::FloatRange clipped = {std::max(range.min, symmetric.min),
                                     std::min(range.max, symmetric.max)};
  return clip && clipped.min < clipped.max ? clipped : range;
}

/// The array `name` of `file`, which has finite numbers and this shape.
Expected<Tensor> readFigures(NpzReader &file, const std::string &path, const std::string &name,
                             const Shape &expected) {
  Expected<NpzEntry> entry = file.info(name);
  // A deflated array of another shape might take any amount of memory.
  if (entry && entry->compressed && entry->shape != expected)
    return makeError(path, "array '" + name + "' of another network", expected.str());
  if (Expected<void> verified = file.verifyView(name); !verified)
    return propagate(verified);
  Expected<Tensor> figures = file.read(name);
  if (!figures)
    return figures;
  if (figures->type() != DataType::F32 || figures->shape() != expected ||
      !llvm::all_of(figures->data<float>(), [](float figure) { return std::isfinite(figure); }))
    return makeError(path, "array '" + name + "' of another network",
                     expected.str() + " finite f32");
  return figures;
}

/// Errors: the file says that it stands beside another table than that of `digest`.
Expected<void> checkTable(const NpzReader &file, const std::string &path, const Tensor &digest) {
  if (!file.contains(kTableDigest))
    return {};
  Expected<NpzEntry> entry = file.info(kTableDigest);
  if (!entry)
    return propagate(entry);
  if (entry->type != digest.type() || entry->shape != digest.shape())
    return makeError(path, "array '" + std::string(kTableDigest) + "' is no digest",
                     digest.shape().str() + " u8");
  if (Expected<void> verified = file.verifyView(kTableDigest); !verified)
    return verified;
  Expected<Tensor> stated = file.read(kTableDigest);
  if (!stated)
    return propagate(stated);
  if (!std::ranges::equal(stated->rawBytes(), digest.rawBytes()))
    return makeError(path, "is of another calibration table",
                     "the file that run_calibration wrote with this one, or none");
  return {};
}

/// Notes what is known of the channels that products read, and `withPairs` of pairs of them, where
/// the table of `digest` has a file beside it. Remarks that there is none, or that it does not say
/// whose it is.
Expected<void> importChannels(ModuleOp module, const std::string &path, const Tensor &digest,
                              bool withPairs) {
  const bool isRead =
      module.walk([](Operation *op) { return WalkResult(failure(summedAxis(op).has_value())); })
          .wasInterrupted();
  if (!std::filesystem::exists(path)) {
    if (isRead)
      module.emitRemark(path + ": is missing, so nothing is known of single channels");
    return {};
  }
  Expected<NpzReader> file = NpzReader::open(path);
  if (!file)
    return propagate(file);
  if (isRead && !file->contains(kTableDigest))
    module.emitRemark(path + ": does not say which calibration table it belongs to");
  if (Expected<void> checked = checkTable(*file, path, digest); !checked)
    return checked;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (Operation &op : main.front().without_terminator()) {
    const std::optional<int64_t> axis = summedAxis(&op);
    auto operand = axis ? dyn_cast<OpResult>(op.getOperand(0)) : OpResult();
    auto type = operand ? dyn_cast<RankedTensorType>(operand.getType()) : RankedTensorType();
    if (!axis || !type || *axis >= type.getRank() || type.isDynamicDim(*axis))
      continue;
    const std::string name = tensorNames(operand.getOwner())[operand.getResultNumber()];
    if (!file->contains(name))
      continue;
    const int64_t channels = type.getShape()[*axis];
    Expected<Tensor> rows = readFigures(
        *file, path, name, Shape{static_cast<int64_t>(std::size(kChannelFigures)), channels});
    if (!rows)
      return propagate(rows);
    ArrayRef<float> figures(rows->data<float>().data(), rows->data<float>().size());
    for (const char *attribute : kChannelFigures) {
      op.setAttr(attribute,
                 DenseF32ArrayAttr::get(op.getContext(),
                                        figures.take_front(static_cast<size_t>(channels))));
      figures = figures.drop_front(static_cast<size_t>(channels));
    }
    if (!withPairs || !hasOneTap(&op) || !file->contains(covariancesName(name)))
      continue;
    Expected<Tensor> pairs =
        readFigures(*file, path, covariancesName(name), Shape{channels * (channels + 1) / 2});
    if (!pairs)
      return propagate(pairs);
    op.setAttr(kInputCovariances,
               DenseF32ArrayAttr::get(op.getContext(),
                                      {pairs->data<float>().data(), pairs->data<float>().size()}));
  }
  return {};
}

struct ImportCalibrationTablePass
    : tpuc::impl::ImportCalibrationTableBase<ImportCalibrationTablePass> {
  using Base::Base;

  Expected<void> import(ModuleOp module) {
    Expected<CalibrationTable> table = CalibrationTable::read(file);
    if (!table)
      return propagate(table);
    const Tensor digest = tableDigest(*table);
    Expected<std::vector<std::string>> names = calibratedNames(module);
    if (!names)
      return propagate(names);
    Expected<std::string> note = table->fit(*names, file);
    if (!note)
      return propagate(note);
    if (!note->empty())
      module.emitRemark(file + ": " + *note);
    const llvm::StringMap<Value> tensors = floatTensors(module.lookupSymbol<func::FuncOp>("main"));
    for (const CalibrationTable::Entry &entry : table->entries) {
      Value value = tensors.lookup(entry.name);
      auto type = cast<TensorType>(value.getType());
      if (type.getElementType().isF32())
        value.setType(type.clone(quant::CalibratedQuantizedType::get(
            cast<FloatType>(type.getElementType()), rangeOf(entry, asymmetric, clip))));
    }
    return importChannels(module, channelFile(file), digest, covariances);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (Expected<void> imported = import(module); !imported) {
      module.emitError(imported.error().message());
      return signalPassFailure();
    }
    auto main = module.lookupSymbol<func::FuncOp>("main");
    for (auto input : main.front().getOps<top::InputOp>())
      input.getInput().setType(input.getOutput().getType());
    top::updateFunctionType(main);
    setPhase(module, Phase::Calibrate);
  }
};

} // namespace
