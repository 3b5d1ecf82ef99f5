//===- NestConcats.cpp - Concatenations that begin like others -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Densely connected layers join what all layers in front of them gave:
//
//   concat(a, b), concat(a, b, c), ...  ->  concat(a, b), concat(concat(a, b), c), ...
//
// A tensor can lie inside of one concatenation. Those that begin like a longer one lie inside of
// it, so that each part is stored where all of them want it.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// Whether nothing is repeated in front of the joined dimension, and nothing is done to elements.
static bool liesInOrder(tpu::ConcatOp op) {
  const auto type = dyn_cast<RankedTensorType>(op.getOutput().getType());
  if (!type || !type.hasStaticShape() || op.getDoRelu() || op.getInputs().size() < 2)
    return false;
  const int64_t axis = op.getAxis() + (op.getAxis() < 0 ? type.getRank() : 0);
  return llvm::all_of(type.getShape().take_front(static_cast<size_t>(axis)),
                      [](int64_t extent) { return extent == 1; }) &&
         llvm::all_of(op.getInputs(), [&](Value input) {
           return getElementTypeOrSelf(input.getType()) == type.getElementType();
         });
}

void codegen::nestConcats(func::FuncOp main) {
  // What concatenations join, from first to last, by a hash of it; those that were nested as they
  // were written.
  llvm::DenseMap<size_t, std::pair<tpu::ConcatOp, SmallVector<Value>>> known;
  for (tpu::ConcatOp op : llvm::make_early_inc_range(main.front().getOps<tpu::ConcatOp>())) {
    if (!liesInOrder(op))
      continue;
    const SmallVector<Value> inputs(op.getInputs());
    size_t hash = llvm::hash_combine(op.getAxis(),
                                     cast<RankedTensorType>(op.getOutput().getType()).getRank());
    std::pair<tpu::ConcatOp, size_t> longest = {nullptr, 0};
    for (auto [index, input] : llvm::enumerate(inputs)) {
      hash = llvm::hash_combine(hash, input.getAsOpaquePointer());
      const auto found = known.find(hash);
      if (index > 0 && index + 1 < inputs.size() && found != known.end() &&
          ArrayRef(inputs).take_front(index + 1) == ArrayRef(found->second.second) &&
          found->second.first.getAxis() == op.getAxis())
        longest = {found->second.first, index + 1};
    }
    known.try_emplace(hash, op, inputs);
    if (!longest.first || getElementTypeOrSelf(longest.first.getOutput().getType()) !=
                              getElementTypeOrSelf(op.getOutput().getType()))
      continue;
    SmallVector<Value> nested = {longest.first.getOutput()};
    llvm::append_range(nested, ArrayRef(inputs).drop_front(longest.second));
    op->setOperands(nested);
  }
}
