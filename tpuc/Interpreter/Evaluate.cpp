//===- Evaluate.cpp - What an op computes -------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/Convert.h"

#include "mlir/IR/Location.h"

#include "tpuc/Interpreter/EvaluateInterface.cpp.inc"

using namespace tpuc;

EvalContext::EvalContext(mlir::Operation *op, llvm::ArrayRef<std::optional<Tensor>> operands,
                         Allocate allocate, RunRegion runRegion, ThreadPool &threads)
    : operation(op), inputs(operands), outputs(op->getNumResults()), allocator(std::move(allocate)),
      regionRunner(std::move(runRegion)), pool(threads) {}

bool EvalContext::wants(unsigned index) const {
  return top::isPresent(operation->getResult(index));
}

Expected<Tensor *> EvalContext::allocate(unsigned index, DataType type, const Shape &shape) {
  Expected<Tensor> tensor = allocator(index, type, shape);
  if (!tensor)
    return propagate(tensor);
  outputs[index] = std::move(*tensor);
  return &outputs[index];
}

kernels::KernelCache *EvalContext::cacheFor(unsigned constant) const {
  return operation->getOperand(constant).getDefiningOp<top::WeightOp>() ? kept : nullptr;
}

std::optional<llvm::SmallVector<int64_t>>
EvalContext::ints(std::optional<mlir::ArrayAttr> attribute, unsigned operandIndex) const {
  if (has(operandIndex)) {
    Tensor wide = convert(operand(operandIndex), DataType::I64);
    auto values = wide.data<int64_t>();
    return llvm::SmallVector<int64_t>(values.begin(), values.end());
  }
  if (attribute)
    return top::toInts(*attribute);
  return std::nullopt;
}

tl::unexpected<Error> EvalContext::error(std::string found, std::string expected) const {
  return makeError("layer '" + layerName(operation) + "' (" +
                       operation->getName().getStringRef().str() + ")",
                   std::move(found), std::move(expected));
}

std::string tpuc::layerName(mlir::Operation *op) {
  if (auto name = op->getLoc()->findInstanceOf<mlir::NameLoc>())
    return name.getName().str();
  return op->getName().getStringRef().str();
}

llvm::SmallVector<std::string> tpuc::tensorNames(mlir::Operation *op) {
  llvm::SmallVector<std::string> names;
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(op->getLoc()))
    for (mlir::Location part : fused.getLocations())
      if (auto name = mlir::dyn_cast<mlir::NameLoc>(part))
        names.push_back(name.getName().str());
  if (names.empty())
    names.push_back(layerName(op));
  for (size_t index = names.size(); index < op->getNumResults(); ++index)
    names.push_back(names[0] + "_" + std::to_string(index));
  names.resize(op->getNumResults());
  return names;
}
