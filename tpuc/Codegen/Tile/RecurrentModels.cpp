//===- RecurrentModels.cpp - How recurrent cells are divided into tiles ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/TileModels.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;
using namespace tpuc::codegen::tiling;

/// A cell in the form in which it needs no other cell: see DecomposeRecurrent.
template <typename Op> static Expected<TileModel> modelOfCell(Op op) {
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  const ArrayRef<int64_t> filter = dimsOf(op.getFilter());
  if (op.getBatchFirst() || !isAbsent(op.getYH()))
    return makeError("", "samples in front, or the last state", "all steps");
  if (!isAbsent(op.getSequenceLens()))
    return makeError("", "sequences of different lengths", "all steps");
  if (op.getActivations() || op.getClip())
    return makeError("", "functions other than sigmoid and tanh, or limits");
  if constexpr (requires { op.getPeephole(); })
    if (!isAbsent(op.getPeephole()) || op.getInputForget())
      return makeError("", "peepholes or coupled gates");
  const int64_t columns = input[0] * input[1];
  const int64_t states = filter[0] * input[1];
  const auto units = static_cast<int64_t>(op.getHiddenSize());
  TileModel model{.operands = {},
                  .result = {1, units, 1, 1, isAbsent(op.getY()) ? states : input[0] * states},
                  .isTileable = {}};
  model.operands.push_back(wholeOperand({1, input[2], 1, 1, columns}));
  for (Value row : {Value(op.getFilter()), Value(op.getRecurrence()), Value(op.getBias())})
    model.operands.push_back(
        isAbsent(row) ? OperandModel()
                      : wholeOperand({1, dimsOf(row)[0] * dimsOf(row)[1], 1, 1,
                                      ShapedType::getNumElements(dimsOf(row).drop_front(2))}));
  for (Value operand : op->getOperands().drop_front(model.operands.size()))
    model.operands.push_back(isAbsent(operand) ? OperandModel()
                                               : wholeOperand({1, units, 1, 1, states}));
  return model;
}

Expected<TileModel> tiling::recurrentModel(tpu::LSTMOp op) { return modelOfCell(op); }
Expected<TileModel> tiling::recurrentModel(tpu::GRUOp op) { return modelOfCell(op); }
Expected<TileModel> tiling::recurrentModel(tpu::RNNOp op) { return modelOfCell(op); }
