//===- ResidentConstants.cpp - Short constants that stay in local memory ------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Place/ResidentConstants.h"
#include "tpuc/Codegen/Group/GroupInfo.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// A piece is at least so long, if another one follows. Shorter ones come sooner; each transfer
/// takes a while to start.
static constexpr int64_t kPiece = 1024;
/// The pool takes at most this part of its memory space.
static constexpr int64_t kShare = 16;

size_t PoolRows::pieceAt(int64_t offset) const {
  return static_cast<size_t>(llvm::upper_bound(ends, offset) - ends.begin());
}

int64_t PoolRows::globalOffset(int64_t offset, int64_t lanes) const {
  const Piece at = piece(pieceAt(offset));
  return at.begin * lanes + offset - at.begin;
}

ResidentConstants codegen::residentConstants(ArrayRef<Operation *> layers, const Backend &backend) {
  ResidentConstants pool;
  int64_t begin = 0;
  int64_t end = 0;
  const TargetInfo &target = backend.info();
  // Longer rows are transferred at full speed. Where that is not known, nothing is resident.
  const int64_t longRow = target.timing ? target.timing->minBurstBytes : 0;
  for (Operation *layer : layers) {
    const Expected<TileModel> model = backend.modelOf(layer);
    if (!model)
      continue;
    for (OpOperand &operand : layer->getOpOperands()) {
      auto unpack = operand.get().getDefiningOp<tpu::UnpackOp>();
      const OperandLayout &layout = model->layoutOf(operand.getOperandNumber());
      const std::optional<int64_t> alignment = layout.residentAlignment;
      if (!unpack || !alignment)
        continue;
      const unsigned space = layout.space;
      if (pool.operands.empty())
        pool.space = space;
      const MemorySpace &memory = target.memory.spaces[space];
      // [lanes, elements of a row].
      const auto lanes = cast<RankedTensorType>(unpack.getInput().getType()).getShape().front();
      const int64_t row = globalBytes(unpack.getInput().getType()) / lanes;
      const bool isFull = end - begin >= kPiece;
      const int64_t offset = alignedTo(end, isFull ? localAlignment(target, space) : *alignment);
      if (space != pool.space || memory.lanes != target.tiles().lanes || row >= longRow ||
          lanes > int64_t{memory.lanes} || offset + row > int64_t{memory.bytes} / kShare)
        continue;
      pool.operands.insert(&operand);
      if (!pool.offsets.try_emplace(unpack.getInput(), offset).second)
        continue;
      if (isFull) {
        pool.rows.ends.push_back(offset);
        begin = offset;
      }
      end = offset + row;
    }
  }
  // A short rest would take as long as a piece.
  if (!pool.rows.ends.empty() && end - begin < kPiece / 2)
    pool.rows.ends.pop_back();
  if (end > 0)
    pool.rows.ends.push_back(alignedLocally(end, target, pool.space));
  return pool;
}
