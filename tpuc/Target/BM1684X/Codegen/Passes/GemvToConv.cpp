//===- GemvToConv.cpp - Products of one row -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM168x/Codegen/ProductFilters.h"

#include <numeric>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Whether a product has one row, and a constant on the right.
bool hasOneRow(tpu::MatMulOp op) {
  for (Value value : {op.getInput(), op.getRight(), op.getOutput()})
    if (const RankedTensorType type = staticType(value); !type || type.getRank() < 2)
      return false;
  const auto columns = OpMaker::dimsOf(op.getOutput()).back();
  return OpMaker::typeOf(op.getOutput()).getNumElements() == columns &&
         OpMaker::dimsOf(op.getRight()).size() == 2 &&
         op.getRight().getDefiningOp<top::WeightOp>() && tpu::zeroPointOf(op.getRight()) == 0;
}

/// The cast that alone reads a value.
tpu::CastOp castOf(Value value) {
  return value.hasOneUse() ? dyn_cast<tpu::CastOp>(*value.getUsers().begin()) : tpu::CastOp();
}

/// Whether the product of one row with a constant matrix is computed faster as a convolution of one
/// window over the picture [channels, rows, columns] that the row is.
///
/// A filter has long rows in each lane, and one row of a product uses one lane of 64. Input
/// channels in blocks that are not full would be loaded for nothing. Local memory has to hold the
/// filters of one round of lanes while others are loaded.
bool wantsConvolution(Operation *product, ArrayRef<int64_t> picture, const TargetInfo &target) {
  const DataType type = elementTypeOf(product, 1);
  if (!precOf(type))
    return false;
  const int64_t taps = picture[1] * picture[2];
  const int64_t own = picture[0] * taps;
  const int64_t kept = alignUp(picture[0], bm1684x::channelBlock(*precOf(type))) * taps;
  const int64_t row = taps == 1 ? byteSize(elementTypeOf(product, 0), own) : 0;
  const int64_t space = int64_t{target.tiles().bytes} / 8 * 7;
  // Zeros in the filter are loaded, too; a few take less time than a row of single elements that is
  // stored and loaded.
  constexpr int64_t kFewBytes = 16384;
  const int64_t columns = cast<RankedTensorType>(product->getResult(0).getType()).getShape().back();
  const int64_t zeros = byteSize(type, (kept - own) * columns);
  return (kept <= own + own / 8 || zeros <= kFewBytes) && 2 * byteSize(type, kept) + row <= space;
}

/// Makes a convolution of a product.
class RowRewriter {
public:
  RowRewriter(tpu::MatMulOp op, const Backend &backend) : op(op), maker(op, backend) {}

  /// Does nothing where the chip would gain nothing by it.
  Expected<void> run();

private:
  bool isFasterAsPicture(ArrayRef<int64_t> picture) {
    return wantsConvolution(op, picture, maker.backend.info());
  }
  Expected<Value> biasFor(const Tensor &filter);
  void replaceCast(tpu::CastOp cast, Value row);
  NamedAttrList attributesFor(ArrayRef<int64_t> picture, bool isRow) const;

  tpu::MatMulOp op;
  OpMaker maker;
};

/// One for each column. That of integers takes up the zero point of the row, as a convolution's
/// does.
Expected<Value> RowRewriter::biasFor(const Tensor &filter) {
  const int64_t columns = filter.shape()[0];
  const int64_t zero = tpu::zeroPointOf(op.getInput());
  const bool isAbsent = isa<NoneType>(op.getBias().getType());
  if (zero == 0 && (isAbsent || OpMaker::dimsOf(op.getBias()) == ArrayRef(columns)))
    return op.getBias();
  Tensor bias(DataType::I32, {columns});
  if (!isAbsent) {
    Expected<Tensor> given = op.getBias().getDefiningOp<top::WeightOp>().read();
    if (!given)
      return propagate(given);
    bias = Tensor(given->type(), {columns});
    const auto width = static_cast<size_t>(byteSize(given->type(), 1));
    const std::span<std::byte> to = bias.mutableBytes();
    for (size_t at = 0; at < to.size(); ++at)
      to[at] = given->rawBytes()[given->numElements() == 1 ? at % width : at];
  }
  if (zero != 0) {
    const std::span<int32_t> sums = bias.mutableData<int32_t>();
    const std::span<const int8_t> elements = filter.data<int8_t>();
    const size_t inner = elements.size() / sums.size();
    for (size_t column = 0; column < sums.size(); ++column) {
      const auto own = elements.subspan(column * inner, inner);
      sums[column] -= static_cast<int32_t>(zero) * std::accumulate(own.begin(), own.end(), 0);
    }
  }
  return maker.weight(bias, "bias");
}

NamedAttrList RowRewriter::attributesFor(ArrayRef<int64_t> picture, bool isRow) const {
  OpBuilder builder(op);
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("left_transpose");
  attributes.erase("right_transpose");
  attributes.set("kernel_shape", builder.getI64ArrayAttr(picture.take_back(2)));
  attributes.set("strides", builder.getI64ArrayAttr({1, 1}));
  attributes.set("dilations", builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", builder.getI64ArrayAttr({0, 0, 0, 0}));
  attributes.set("group", builder.getI64IntegerAttr(1));
  attributes.set(tpu::kInRow, builder.getUnitAttr());
  if (isRow)
    attributes.set(tpu::kFromRow, builder.getUnitAttr());
  return attributes;
}

Expected<void> RowRewriter::run() {
  Value picture = bm168x::backend::picturesOf(op.getInput(), 1);
  if (!picture || !isFasterAsPicture(OpMaker::dimsOf(picture).drop_front()))
    picture = {};
  const int64_t inner = OpMaker::typeOf(op.getInput()).getNumElements();
  // What another product gives is a row already.
  const bool isRow =
      !picture || (picture.getDefiningOp() && tpu::givesPixelRow(picture.getDefiningOp()));
  if (!picture && !isFasterAsPicture({inner, 1, 1}))
    return {};
  Expected<Tensor> matrix = op.getRight().getDefiningOp<top::WeightOp>().read();
  if (!matrix)
    return propagate(matrix);
  const int64_t columns = OpMaker::dimsOf(op.getOutput()).back();
  if (!picture)
    picture = maker.reshaped(op.getInput(), {1, inner, 1, 1}, "channels");
  SmallVector<int64_t> dims(OpMaker::dimsOf(picture));
  dims[0] = columns;
  const Tensor filter = bm168x::backend::filterOf(*matrix, op.getRightTranspose(), dims);
  Expected<Value> bias = biasFor(filter);
  if (!bias)
    return propagate(bias);
  const Value weight = maker.weight(filter, "filter");
  Value(weight).setType(OpMaker::typeOf(op.getRight()).clone(dims));
  const Type type = OpMaker::typeOf(op.getOutput()).clone({1, columns, 1, 1});
  const Value result =
      maker.make(tpu::ConvOp::getOperationName(), "filtered", type, {picture, weight, *bias},
                 attributesFor(OpMaker::dimsOf(picture), isRow));
  if (auto cast = castOf(op.getOutput()))
    replaceCast(cast, result);
  else
    maker.replace(0, maker.finished(result, 0));
  return {};
}

/// Casts the row itself, so that it stays in local memory.
void RowRewriter::replaceCast(tpu::CastOp cast, Value row) {
  OpMaker last(cast, maker.backend);
  row.getDefiningOp()->setLoc(op.getLoc());
  NamedAttrList attributes(cast->getAttrDictionary());
  attributes.set(tpu::kFromRow, last.builder.getUnitAttr());
  attributes.set(tpu::kInRow, last.builder.getUnitAttr());
  const Type type = OpMaker::typeOf(cast.getOutput()).clone(OpMaker::dimsOf(row));
  const Value made = last.make(tpu::CastOp::getOperationName(), "row", type, {row}, attributes);
  last.replace(0, last.reshaped(made, OpMaker::dimsOf(cast.getOutput()), "shaped"));
  cast.erase();
}

} // namespace

Expected<void> gemvToConv(ModuleOp module, const Backend &backend) {
  const auto wants = [](tpu::MatMulOp op, const Backend &) { return hasOneRow(op); };
  const auto filter = [](tpu::MatMulOp op, const Backend &backend) {
    Expected<void> done = RowRewriter(op, backend).run();
    if (op.use_empty())
      bm168x::backend::eraseFlattening(op);
    return done;
  };
  if (Expected<void> done = rewriteOps<tpu::MatMulOp>(module, backend, wants, filter); !done)
    return done;
  module.walk([](Operation *op) {
    if (isConstant(op) && op->use_empty())
      op->erase();
  });
  return {};
}

} // namespace tpuc::bm1684x::backend
