//===- RefusedLayers.cpp - Layers that cannot be computed on integers ---------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/RefusedLayers.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Emit/CpuForm.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

static bool isOnIntegers(Operation *op) {
  return !isa<tpu::CastOp>(op) && (llvm::any_of(op->getOperands(), tpu::isQuantized) ||
                                   llvm::any_of(op->getResults(), tpu::isQuantized));
}

std::optional<std::string> codegen::wholeOf(const std::string &part,
                                            const std::set<std::string> &names) {
  if (names.contains(part))
    return part;
  for (size_t end = part.rfind('_'); end != std::string::npos && end > 0;
       end = part.rfind('_', end - 1))
    if (names.contains(part.substr(0, end)))
      return part.substr(0, end);
  return std::nullopt;
}

/// Whether floats of 16 bits have all that an op reads and makes, and it rounds once: products and
/// pools whose tensors are stored in integers of ranges that are far from both ends of F16.
static bool fitsF16(Operation *op) {
  constexpr double kMost = 4096, kLeast = 0x1p-8;
  if (!op->hasTrait<traits::Product>() && !isa<tpu::AvgPoolOp, tpu::MaxPoolOp>(op))
    return false;
  return llvm::all_of(llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                          SmallVector<Value>(op->getResults())),
                      [](Value value) {
                        const quant::UniformQuantizedType type = tpu::quantizedType(value);
                        if (!type)
                          return top::constantTensor(value) || isa<NoneType>(value.getType());
                        const IntegerRange range = tpu::rangeOf(type);
                        const double largest =
                            type.getScale() *
                            std::max(std::abs(double(range.lowest) - double(type.getZeroPoint())),
                                     std::abs(double(range.highest) - double(type.getZeroPoint())));
                        return largest >= kLeast && largest < kMost;
                      });
}

Expected<std::map<std::string, QuantScheme>>
codegen::layersRefusedOnIntegers(ModuleOp lowered, const std::set<std::string> &layers,
                                 const GenerationOptions &options) {
  Expected<std::unique_ptr<Backend>> backend = backendOf(lowered);
  if (!backend)
    return propagate(backend);
  OwningOpRef<ModuleOp> divided(lowered.clone());
  PassManager manager(lowered.getContext());
  addDivision(manager, **backend, options);
  if (failed(manager.run(*divided)))
    return makeError("module", "its layers cannot be divided");
  Expected<func::FuncOp> main = top::mainFunction(*divided);
  if (!main)
    return propagate(main);
  const QuantScheme widest =
      hasScheme((*backend)->info(), schemes::kF32) ? schemes::kF32 : schemes::kBF16;
  std::map<std::string, QuantScheme> refused;
  for (Operation &op : main->front().without_terminator())
    if (isLayer(&op) && isOnIntegers(&op) && !fittingPlaceOf(&op, **backend) && !checkCpuForm(&op))
      if (std::optional<std::string> name = wholeOf(layerName(&op), layers))
        if (const bool isNarrow = hasScheme((*backend)->info(), schemes::kF16) && fitsF16(&op);
            !isNarrow || !refused.contains(*name))
          refused[*name] = isNarrow ? schemes::kF16 : widest;
  return refused;
}
