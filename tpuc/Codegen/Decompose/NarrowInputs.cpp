//===- NarrowInputs.cpp - 64-bit inputs of which 32 bits are enough -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

bool hasLongElements(Value value) { return storageDataType(value.getType()) == DataType::I64; }

bool fitsWord(double number) {
  return number >= std::numeric_limits<int32_t>::min() &&
         number <= std::numeric_limits<int32_t>::max();
}

/// An input and what is made of it, if it holds integers of 32 bits.
class NarrowedInput {
public:
  NarrowedInput(top::InputOp input, const Backend &backend) : input(input), backend(backend) {}

  /// Whether all that reads it can read integers of 32 bits, and the chip does some of that.
  bool isPossible() {
    moved = {input.getResult()};
    for (size_t next = 0; next < moved.size(); ++next)
      for (OpOperand &use : moved[next].getUses())
        if (!canRead(use))
          return false;
    return hasUse;
  }

  void apply();

private:
  bool canRead(OpOperand &use);
  /// Only moves elements: of its first operand, to its only result.
  static bool isMove(Operation *op) {
    return op->getNumResults() == 1 &&
           (op->hasTrait<traits::ViewLike>() ||
            isa<tpu::PermuteOp, tpu::SliceOp, tpu::ExpandOp, tpu::GatherOp>(op));
  }
  static bool isShortConstant(Value value) {
    const std::optional<SmallVector<int64_t>> numbers = top::constantInts(value);
    return numbers && llvm::all_of(*numbers, [](int64_t number) {
             return number >= std::numeric_limits<int32_t>::min() &&
                    number <= std::numeric_limits<int32_t>::max();
           });
  }

  top::InputOp input;
  const Backend &backend;
  /// The input and what is moved of it.
  SmallVector<Value> moved;
  /// Constants that are compared with it, and operands of the host's layers, which stay long.
  SmallVector<OpOperand *> constants, widened;
  bool hasUse = false;
};

bool NarrowedInput::canRead(OpOperand &use) {
  Operation *op = use.getOwner();
  const unsigned index = use.getOperandNumber();
  if (auto cast = dyn_cast<tpu::DtypeCastOp>(op)) {
    hasUse = true;
    return cast.getFromBit() == 0;
  }
  if (auto compare = dyn_cast<tpu::CompareConstOp>(op)) {
    hasUse = true;
    return fitsWord(compare.getConstVal().convertToDouble());
  }
  if (isa<tpu::CompareOp>(op)) {
    OpOperand &other = op->getOpOperand(1 - index);
    hasUse = true;
    if (llvm::is_contained(moved, other.get()))
      return true;
    constants.push_back(&other);
    return isShortConstant(other.get());
  }
  if (isa<tpu::GatherOp>(op) && index == 1) {
    hasUse = true;
    return true;
  }
  if (isMove(op) && index == 0) {
    moved.push_back(op->getResult(0));
    return true;
  }
  if (isa<func::ReturnOp>(op) || op->getNumRegions() > 0 || fittingPlaceOf(op, backend))
    return false;
  widened.push_back(&use);
  return true;
}

void NarrowedInput::apply() {
  OpBuilder builder(input);
  const Type narrow = builder.getI32Type();
  const auto block = cast<BlockArgument>(input.getInput());
  const auto retype = [&](Value value) {
    value.setType(cast<RankedTensorType>(value.getType()).clone(narrow));
  };
  retype(block);
  for (Value value : moved)
    retype(value);
  for (OpOperand *operand : constants) {
    OpMaker maker(operand->getOwner(), backend);
    const Value constant = operand->get();
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(constant);
    Tensor tensor(DataType::I32, Shape(std::span(dims.data(), dims.size())));
    for (auto [number, made] :
         llvm::zip_equal(*top::constantInts(constant), tensor.mutableData<int32_t>()))
      made = static_cast<int32_t>(number);
    operand->set(maker.weight(tensor, "narrow"));
  }
  llvm::DenseMap<Value, Value> wide;
  for (OpOperand *operand : widened) {
    Value &made = wide[operand->get()];
    if (!made) {
      OpMaker maker(operand->get().getDefiningOp(), backend);
      maker.builder.setInsertionPointAfter(maker.op);
      made = maker.converted(operand->get(), builder.getI64Type(), "wide");
    }
    operand->set(made);
  }
}

} // namespace

void codegen::narrowInputs(func::FuncOp main, const Backend &backend) {
  for (auto input : main.getOps<top::InputOp>()) {
    const auto type = dyn_cast<RankedTensorType>(input.getResult().getType());
    if (!hasLongElements(input.getResult()) || !type || !type.hasStaticShape() ||
        !isa<BlockArgument>(input.getInput()) || !input.getInput().hasOneUse())
      continue;
    NarrowedInput narrowed(input, backend);
    if (narrowed.isPossible())
      narrowed.apply();
  }
  main.setType(
      FunctionType::get(main.getContext(), main.front().getArgumentTypes(), main.getResultTypes()));
}
