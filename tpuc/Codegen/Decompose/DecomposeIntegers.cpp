//===- DecomposeIntegers.cpp - Integers of 64 bits by their low words ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

static bool isLong(Value value) { return storageDataType(value.getType()) == DataType::I64; }

static bool isShort(int64_t number) {
  return number >= std::numeric_limits<int32_t>::min() &&
         number <= std::numeric_limits<int32_t>::max();
}

/// The low word of each element; of a constant all of it. None where a constant is longer.
static std::optional<Value> narrowed(OpMaker &maker, Value value, StringRef what) {
  if (!top::constantTensor(value))
    return maker.converted(value, maker.builder.getI32Type(), what);
  const std::optional<SmallVector<int64_t>> numbers = top::constantInts(value);
  if (!numbers || !llvm::all_of(*numbers, isShort))
    return std::nullopt;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(value);
  Tensor tensor(DataType::I32, Shape(std::span(dims.data(), dims.size())));
  for (auto [number, made] : llvm::zip_equal(*numbers, tensor.mutableData<int32_t>()))
    made = static_cast<int32_t>(number);
  return maker.weight(tensor, what);
}

/// To floats or conditions, of the low words.
static bool narrowCast(OpMaker &maker, tpu::DtypeCastOp op) {
  if (!isLong(op.getInput()) || top::constantTensor(op.getInput()))
    return false;
  const std::optional<DataType> type = storageDataType(op.getOutput().getType());
  if (!OpMaker::isFloat(op.getOutput()) && type != DataType::Bool)
    return false;
  const std::optional<Value> low = narrowed(maker, op.getInput(), "low");
  maker.replace(0, maker.converted(*low, OpMaker::typeOf(op.getOutput()).getElementType(), "cast"));
  return true;
}

/// Of the low words, where both operands are long.
static bool narrowCompare(OpMaker &maker, tpu::CompareOp op) {
  if (!llvm::all_of(op->getOperands(), isLong))
    return false;
  SmallVector<Value> words;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    const std::optional<Value> low = narrowed(maker, operand, ("low" + llvm::Twine(index)).str());
    if (!low)
      return false;
    words.push_back(*low);
  }
  maker.replace(0, maker.make(tpu::CompareOp::getOperationName(), "compared",
                              Type(OpMaker::typeOf(op.getOutput())), words, op->getAttrs()));
  return true;
}

static bool narrowCompare(OpMaker &maker, tpu::CompareConstOp op) {
  const double number = op.getConstVal().convertToDouble();
  if (!isLong(op.getInput()) || !(std::abs(number) <= std::numeric_limits<int32_t>::max()))
    return false;
  const std::optional<Value> low = narrowed(maker, op.getInput(), "low");
  if (!low)
    return false;
  maker.replace(0, maker.make(tpu::CompareConstOp::getOperationName(), "compared",
                              Type(OpMaker::typeOf(op.getOutput())), *low, op->getAttrs()));
  return true;
}

bool codegen::decomposeLongIntegers(OpMaker &maker) {
  if (auto cast = dyn_cast<tpu::DtypeCastOp>(maker.op))
    return narrowCast(maker, cast);
  if (auto compare = dyn_cast<tpu::CompareOp>(maker.op))
    return narrowCompare(maker, compare);
  auto compare = dyn_cast<tpu::CompareConstOp>(maker.op);
  return compare && narrowCompare(maker, compare);
}
