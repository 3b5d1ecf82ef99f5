//===- SelectKernels.cpp - Kernels of comparisons and choices ------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/SelectKernels.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Kernels/Select.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Tensors of types that no command takes.
Expected<void> checkElements(const TiledOp &tiled) {
  const BM1684XLayout &layout = layoutOf(tiled);
  for (unsigned index = 0; index < layout.numTensors(); ++index) {
    const DataType type = layout.operand(index).type;
    if (!layout.operand(index).isLoaded)
      continue;
    if (!precOf(type))
      return makeError("", "a tensor of " + std::string(dataTypeName(type)),
                       "elements of at most 32 bits");
  }
  return {};
}

CompareKind compareKind(StringRef mode) {
  return llvm::StringSwitch<CompareKind>(mode)
      .Case("Equal", CompareKind::Equal)
      .Case("NotEqual", CompareKind::NotEqual)
      .Case("Greater", CompareKind::Greater)
      .Case("GreaterOrEqual", CompareKind::GreaterOrEqual)
      .Case("Less", CompareKind::Less)
      .Default(CompareKind::LessOrEqual);
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

/// The comparison with the operands exchanged.
CompareKind mirrored(CompareKind kind) {
  switch (kind) {
  case CompareKind::Greater:
    return CompareKind::Less;
  case CompareKind::GreaterOrEqual:
    return CompareKind::LessOrEqual;
  case CompareKind::Less:
    return CompareKind::Greater;
  case CompareKind::LessOrEqual:
    return CompareKind::GreaterOrEqual;
  default:
    return kind;
  }
}

/// The numbers of a type on both sides of one, which are the same where it is one of them.
struct Neighbours {
  double below, above;
};

Neighbours neighboursOf(DataType type, double number) {
  if (!isFloat(type))
    return {std::floor(number), std::ceil(number)};
  const auto single = static_cast<float>(number);
  const auto toward = [&](RoundingMode mode) -> double {
    return type == DataType::F16    ? roundToFormat<DataType::F16>(single, mode)
           : type == DataType::BF16 ? roundToFormat<DataType::BF16>(single, mode)
                                    : single;
  };
  return {toward(RoundingMode::Down), toward(RoundingMode::Up)};
}

/// Compared with a number between two of the type: with one of the two. None is equal.
Kernels comparedBetween(const TiledOp &tiled, CompareKind kind, const LocalTensor &input,
                        const Neighbours &neighbours) {
  switch (kind) {
  case CompareKind::Greater:
  case CompareKind::GreaterOrEqual:
    return compared(tiled, CompareKind::GreaterOrEqual, input, neighbours.above);
  case CompareKind::Less:
  case CompareKind::LessOrEqual:
    return compared(tiled, CompareKind::LessOrEqual, input, neighbours.below);
  default: {
    Select select;
    select.left = input;
    select.right = 0.0;
    select.ifTrue = select.ifFalse = kind == CompareKind::NotEqual ? 1.0 : 0.0;
    return selected(tiled, std::move(select));
  }
  }
}

Kernels compareConstKernels(tpu::CompareConstOp op, const TiledOp &tiled) {
  const double number = op.getConstVal().convertToDouble();
  const LocalTensor input = operandOf(tiled, 0);
  const CompareKind mode = compareKind(op.getMode());
  const CompareKind kind = op.getInversed() ? mirrored(mode) : mode;
  constexpr double kMost = 127;
  if (!isFloat(input.type) && byteSize(input.type, 1) == 1 &&
      (number > kMost || number < (isSigned(input.type) ? -kMost : 0)))
    return makeError("", "bytes compared with " + std::to_string(number), "at most 127");
  const Neighbours neighbours = neighboursOf(input.type, number);
  if (neighbours.below != neighbours.above)
    return comparedBetween(tiled, kind, input, neighbours);
  return compared(tiled, kind, input, number);
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

Kernels logicalKernels(tpu::LogicalBinaryOp op, const TiledOp &tiled) {
  const LocalTensor right = operandOf(tiled, 1);
  if (op.getMode() == "And")
    return chosen(tiled, right, 0.0);
  if (op.getMode() == "Or")
    return chosen(tiled, 1.0, right);
  return compared(tiled, CompareKind::NotEqual, operandOf(tiled, 0), right);
}

/// Whether every integer of type `from` is one of `to`.
bool holdsAll(DataType to, DataType from) {
  if (from == DataType::Bool)
    return true;
  if (isSigned(from) && !isSigned(to))
    return false;
  const int64_t spare = isSigned(to) && !isSigned(from) ? 1 : 0;
  return byteSize(to, 1) >= byteSize(from, 1) + spare;
}

Kernels castKernels(const TiledOp &tiled) {
  const LocalTensor input = operandOf(tiled, 0);
  const LocalTensor output = resultOf(tiled);
  if (output.type == DataType::Bool)
    return compared(tiled, CompareKind::NotEqual, input, 0.0);
  if (!isFloat(input.type) && !isFloat(output.type) && !holdsAll(output.type, input.type))
    return makeError("", "integers that may not fit", "a type that holds all of them");
  return one<castScratch, emitCast>(
      CastOp{.input = input, .output = output, .truncates = true, .scratch = scratchRoom(tiled)});
}

} // namespace

const KernelTable &selectKernels() {
  static const KernelTable kTable =
      KernelTable(takesAll, checkElements)
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
          .add<tpu::LogicalNotOp>([](Operation *, Sliced tiled) {
            return compared(tiled, CompareKind::Equal, operandOf(tiled, 0), 0.0);
          })
          .add<tpu::LogicalBinaryOp>([](tpu::LogicalBinaryOp logical, Sliced tiled) {
            return logicalKernels(logical, tiled);
          })
          .add<tpu::DtypeCastOp>([](Operation *, Sliced tiled) { return castKernels(tiled); });
  return kTable;
}

} // namespace tpuc::bm1684x::backend
