//===- RowsOfPictures.cpp - Pictures with channels last as rows -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms and products over channels that stand behind the pixels, [n, h, w, c], see rows. As
// [n, h * w, c] all pixels of a picture are the rows of one matrix, and lanes turn it to channels
// of pictures at once.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Transposes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

constexpr int64_t kPictureRank = 4;

bool isPicture(Value value) {
  const RankedTensorType type = staticType(value);
  return type && type.getRank() == kPictureRank;
}

/// [n, h, w, c] as [n, h * w, c].
SmallVector<int64_t> rowDims(ArrayRef<int64_t> dims) {
  return {dims[0], dims[1] * dims[2], dims[3]};
}

/// Whether an op sees rows of channels, each by itself.
bool seesRows(Operation *op) {
  const auto isLast = [](int64_t axis) { return axis == -1 || axis == kPictureRank - 1; };
  if (auto norm = dyn_cast<tpu::LayerNormOp>(op))
    return isLast(static_cast<int64_t>(norm.getAxis()));
  if (auto norm = dyn_cast<tpu::RMSNormOp>(op))
    return isLast(static_cast<int64_t>(norm.getAxis()));
  auto product = dyn_cast<tpu::MatMulOp>(op);
  return product && !product.getLeftTranspose() && isConstantValue(product.getRight()) &&
         staticType(product.getRight()).getRank() == 2;
}

/// The rows of pictures that ops see as such.
class PictureRows {
public:
  explicit PictureRows(const Backend &backend) : backend(backend) {}

  void run(Operation *op);
  /// Erases the pictures that nothing reads any more.
  void finish();

private:
  std::optional<SmallVector<Value>> operandsOf(OpMaker &maker, Operation *op);
  Value rows(Value picture);

  const Backend &backend;
  llvm::DenseMap<Value, Value> known;
};

Value PictureRows::rows(Value picture) {
  Value &found = known[picture];
  if (found)
    return found;
  const SmallVector<int64_t> dims = rowDims(staticType(picture).getShape());
  if (auto reshape = picture.getDefiningOp<tpu::ReshapeOp>();
      reshape && staticType(reshape.getInput()) &&
      staticType(reshape.getInput()).getShape() == ArrayRef(dims))
    return found = reshape.getInput();
  OpMaker maker(picture.getDefiningOp(), backend);
  maker.builder.setInsertionPointAfter(picture.getDefiningOp());
  return found = maker.reshaped(picture, dims, "as_rows");
}

/// Those of an op on rows; none where one of them is no picture of as many pixels, constant for all
/// of them, nor what the op reads beside its rows.
std::optional<SmallVector<Value>> PictureRows::operandsOf(OpMaker &maker, Operation *op) {
  const ArrayRef<int64_t> dims = staticType(op->getResult(0)).getShape();
  const bool isElementwise = !seesRows(op) && !isa<tpu::LutOp>(op);
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    const RankedTensorType type = staticType(operand);
    const bool isPixels = type && operand.getDefiningOp() && !isConstantValue(operand) &&
                          type.getRank() == kPictureRank &&
                          type.getShape().drop_back() == dims.drop_back() &&
                          (!isElementwise || type.getShape() == dims);
    if (isPixels) {
      operands.push_back(rows(operand));
      continue;
    }
    if (isa<NoneType>(operand.getType()) || (!isElementwise && index > 0)) {
      operands.push_back(operand);
      continue;
    }
    const bool isForAll = type && isConstantValue(operand) &&
                          (type.getRank() == 0 || type.getNumElements() == type.getShape().back());
    if (!isForAll || !operand.getDefiningOp<top::WeightOp>())
      return std::nullopt;
    operands.push_back(type.getRank() < kPictureRank
                           ? operand
                           : maker.reshaped(operand, {1, 1, type.getShape().back()}, "of_rows"));
  }
  return operands;
}

/// Computes an op on rows, where it sees such, or reads what is made of them.
void PictureRows::run(Operation *op) {
  const bool isOfElements = op->hasTrait<traits::Pointwise>();
  const auto isMade = [&](Value value) { return known.contains(value) && isPicture(value); };
  const bool isOfRows = seesRows(op) || (isOfElements && llvm::any_of(op->getOperands(), isMade));
  if (!isOfRows || !isPicture(op->getResult(0)) ||
      llvm::any_of(op->getResults().drop_front(),
                   [](Value value) { return !isa<NoneType>(value.getType()); }))
    return;
  OpMaker maker(op, backend);
  const std::optional<SmallVector<Value>> operands = operandsOf(maker, op);
  if (!operands)
    return;
  const Value result = op->getResult(0);
  const RankedTensorType type = staticType(result);
  Operation *made = maker.builder.clone(*op);
  made->setOperands(*operands);
  made->getResult(0).setType(type.clone(rowDims(type.getShape())));
  made->setLoc(NameLoc::get(maker.builder.getStringAttr(tensorNames(op)[0] + "_of_rows")));
  const Value picture = maker.reshaped(made->getResult(0), type.getShape(), "picture");
  maker.replace(0, picture);
  known[picture] = made->getResult(0);
  op->erase();
}

void PictureRows::finish() {
  SmallVector<Operation *> unused;
  for (const auto &[picture, rows] : known)
    if (auto reshape = picture.getDefiningOp<tpu::ReshapeOp>();
        reshape && reshape->use_empty() && reshape.getInput() == rows)
      unused.push_back(reshape);
  for (Operation *reshape : unused)
    reshape->erase();
}

} // namespace

void computeRowsOfPictures(Block &block, const Backend &backend) {
  PictureRows pictures(backend);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isLayer(&op) && op.getNumResults() > 0)
      pictures.run(&op);
  pictures.finish();
}

} // namespace tpuc::bm1684x::backend
