//===- SelectKernels.cpp - Kernels of comparisons and choices -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684/Codegen/FloatKernels.h"
#include "tpuc/Target/BM1684/Kernels/Select.h"
#include "tpuc/Target/BM168x/Codegen/Comparisons.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

// Not the machine's.
using bm168x::backend::compareKind;
using mlir::Operation;

namespace {

/// Tensors of types that no command takes.
Expected<void> checkElements(const TiledOp &tiled) {
  const BM1684Layout &layout = layoutOf(tiled);
  for (unsigned index = 0; index < layout.numTensors(); ++index) {
    const DataType type = layout.operand(index).type;
    const std::optional<Prec> prec = precOf(type);
    if (layout.operand(index).isLoaded && (!prec || *prec == Prec::I16))
      return makeError("", "a tensor of " + std::string(dataTypeName(type)),
                       "elements of 8 or 32 bits");
  }
  return {};
}

/// Operand `index`, or the number that it is.
BinaryOperand operandOrNumber(const TiledOp &tiled, unsigned index) {
  if (const std::optional<double> number = layoutOf(tiled).operand(index).number)
    return *number;
  return operandOf(tiled, index);
}

Kernels selected(const TiledOp &tiled, Select select) {
  select.output = resultOf(tiled);
  select.scratch = scratchRoom(tiled);
  return one<selectScratch, emitSelect>(select);
}

Kernels compared(const TiledOp &tiled, CompareKind kind, BinaryOperand left, BinaryOperand right) {
  Select select;
  select.kind = kind;
  select.left = std::move(left);
  select.right = std::move(right);
  return selected(tiled, std::move(select));
}

Kernels compareConstKernels(tpu::CompareConstOp op, const TiledOp &tiled) {
  const LocalTensor input = operandOf(tiled, 0);
  auto asked = bm168x::backend::numberComparison(op, input.type);
  if (!asked)
    return propagate(asked);
  if (!asked->always)
    return compared(tiled, asked->kind, input, asked->number);
  Select select;
  select.left = input;
  select.right = 0.0;
  select.ifTrue = select.ifFalse = *asked->always ? 1.0 : 0.0;
  return selected(tiled, std::move(select));
}

/// A choice by a condition: 0 stands for false.
Kernels chosen(const TiledOp &tiled, BinaryOperand ifTrue, BinaryOperand ifFalse) {
  Select select;
  select.kind = CompareKind::NotEqual;
  select.left = operandOf(tiled, 0);
  select.right = 0.0;
  select.ifTrue = std::move(ifTrue);
  select.ifFalse = std::move(ifFalse);
  return selected(tiled, std::move(select));
}

/// Of truth values of one shape.
Kernels logical(const TiledOp &tiled, LogicalKind kind, std::optional<LocalTensor> right) {
  return one<logicalScratch, emitLogical>(Logical{.kind = kind,
                                                  .left = operandOf(tiled, 0),
                                                  .right = std::move(right),
                                                  .output = resultOf(tiled),
                                                  .scratch = scratchRoom(tiled)});
}

Kernels logicalKernels(tpu::LogicalBinaryOp op, const TiledOp &tiled) {
  const StringRef mode = op.getMode();
  const LocalTensor left = operandOf(tiled, 0), right = operandOf(tiled, 1);
  if (const Extents shape = resultOf(tiled).shape; left.shape == shape && right.shape == shape)
    return logical(tiled,
                   mode == "And"  ? LogicalKind::And
                   : mode == "Or" ? LogicalKind::Or
                                  : LogicalKind::Xor,
                   right);
  if (mode == "And")
    return chosen(tiled, right, 0.0);
  if (mode == "Or")
    return chosen(tiled, 1.0, right);
  return compared(tiled, CompareKind::NotEqual, left, right);
}

Kernels castKernels(tpu::DtypeCastOp op, const TiledOp &tiled) {
  const auto isTruth = [](Value value) {
    return getElementTypeOrSelf(value.getType()).isInteger(1);
  };
  const LocalTensor input = operandOf(tiled, 0), output = resultOf(tiled);
  if (isTruth(op.getOutput()))
    return compared(tiled, CompareKind::NotEqual, input, 0.0);
  if (isTruth(op.getInput()))
    return chosen(tiled, 1.0, 0.0);
  if (input.type != DataType::F32 && output.type != DataType::F32 &&
      !bm168x::backend::holdsAll(output.type, input.type))
    return makeError("", "integers that may not fit", "a type that holds all of them");
  return one<conversionScratch, emitConversion>(
      Conversion{.input = input, .output = output, .scratch = scratchRoom(tiled)});
}

KernelTable selectTable() {
  return KernelTable(takesAll, checkElements)
      .add<tpu::CompareOp>([](tpu::CompareOp compare, Sliced tiled) {
        return compared(tiled, compareKind(compare.getMode()), operandOrNumber(tiled, 0),
                        operandOrNumber(tiled, 1));
      })
      .add<tpu::CompareConstOp>([](tpu::CompareConstOp compare, Sliced tiled) {
        return compareConstKernels(compare, tiled);
      })
      .add<tpu::WhereOp>([](Operation *, Sliced tiled) {
        return chosen(tiled, operandOrNumber(tiled, 1), operandOrNumber(tiled, 2));
      })
      .add<tpu::LogicalNotOp>(
          [](Operation *, Sliced tiled) { return logical(tiled, LogicalKind::Not, std::nullopt); })
      .add<tpu::LogicalBinaryOp>(
          [](tpu::LogicalBinaryOp logical, Sliced tiled) { return logicalKernels(logical, tiled); })
      .add<tpu::DtypeCastOp>(
          [](tpu::DtypeCastOp cast, Sliced tiled) { return castKernels(cast, tiled); });
}

} // namespace

const KernelTable &selectKernels() {
  static const KernelTable kTable = selectTable();
  return kTable;
}

} // namespace tpuc::bm1684::backend
