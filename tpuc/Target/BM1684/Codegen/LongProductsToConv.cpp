//===- LongProductsToConv.cpp - Products of long rows of integers ---------===//
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
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684/Codegen/ChipPass.h"
#include "tpuc/Target/BM1684/Codegen/Passes.h"
#include "tpuc/Target/BM1684/Codegen/TensorLayout.h"
#include "tpuc/Target/BM1684/Kernels/Commands.h"
#include "tpuc/Target/BM168x/Codegen/ProductFilters.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

namespace {

/// Whether the pieces of a line of lanes, and as many that are loaded meanwhile, exceed local
/// memory.
bool isTooLong(int64_t terms) { return 2 * terms * int64_t{kEuBytes} > int64_t{kLaneBytes}; }

bool wantsConvolution(tpu::MatMulOp op, const Backend &) {
  for (Value value : {op.getInput(), op.getOutput()})
    if (!staticType(value) || !tpu::isQuantized(value) || tpu::zeroPointOf(value) != 0)
      return false;
  const auto right = OpMaker::dimsOf(op.getRight());
  if (right.size() != 2 || elementTypeOf(op, 1) != DataType::I8 || op.getLeftTranspose() ||
      !op.getRight().getDefiningOp<top::WeightOp>() || operandForm(op, 0) != OperandForm::Pieces)
    return false;
  const Value bias = op.getBias();
  return isTooLong(OpMaker::dimsOf(op.getInput()).back()) &&
         (isa<NoneType>(bias.getType()) ||
          OpMaker::dimsOf(bias) == ArrayRef(OpMaker::dimsOf(op.getOutput()).back()));
}

/// Channels and rows of a picture of so many elements, with as few rows as there can be; none where
/// there would be many.
std::optional<std::array<int64_t, 2>> pictureExtents(int64_t elements) {
  constexpr int64_t kMostRows = 64;
  for (int64_t rows = 1; rows <= kMostRows; ++rows)
    if (elements % rows == 0 && elements / rows <= kMostChannels)
      return {{elements / rows, rows}};
  return std::nullopt;
}

Expected<void> toConvolution(tpu::MatMulOp op, const Backend &backend) {
  OpMaker maker(op, backend);
  const int64_t terms = OpMaker::dimsOf(op.getInput()).back();
  const int64_t columns = OpMaker::dimsOf(op.getOutput()).back();
  const int64_t rows = OpMaker::typeOf(op.getInput()).getNumElements() / terms;
  Value pictures = bm168x::backend::picturesOf(op.getInput(), rows);
  if (!pictures || OpMaker::dimsOf(pictures)[1] > kMostChannels) {
    const auto extents = pictureExtents(terms);
    if (!extents)
      return {};
    pictures = maker.reshaped(op.getInput(), {rows, (*extents)[0], (*extents)[1], 1}, "channels");
  }
  Expected<tpuc::Tensor> matrix = op.getRight().getDefiningOp<top::WeightOp>().read();
  if (!matrix)
    return propagate(matrix);
  SmallVector<int64_t> dims(OpMaker::dimsOf(pictures));
  dims[0] = columns;
  const Value weight =
      maker.weight(bm168x::backend::filterOf(*matrix, op.getRightTranspose(), dims), "filter");
  Value(weight).setType(OpMaker::typeOf(op.getRight()).clone(dims));
  NamedAttrList attributes(op->getAttrDictionary());
  for (StringRef name : {"left_transpose", "right_transpose"})
    attributes.erase(name);
  OpBuilder &builder = maker.builder;
  attributes.set("kernel_shape", builder.getI64ArrayAttr(ArrayRef(dims).take_back(2)));
  attributes.set("strides", builder.getI64ArrayAttr({1, 1}));
  attributes.set("dilations", builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", builder.getI64ArrayAttr({0, 0, 0, 0}));
  attributes.set("group", builder.getI64IntegerAttr(1));
  const Type type = OpMaker::typeOf(op.getOutput()).clone({rows, columns, 1, 1});
  const Value result = maker.make(tpu::ConvOp::getOperationName(), "filtered", type,
                                  {pictures, weight, op.getBias()}, attributes);
  maker.replace(0, maker.finished(result, 0));
  if (op.use_empty())
    bm168x::backend::eraseFlattening(op);
  return {};
}

struct LongProductsToConv : ChipPass<LongProductsToConv> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LongProductsToConv)

  StringRef getArgument() const override { return "long-products-to-conv"; }
  StringRef getDescription() const override {
    return "Make convolutions of products of integers whose rows are long";
  }
  static Expected<void> rewrite(ModuleOp module, const Backend &backend) {
    if (Expected<void> done =
            rewriteOps<tpu::MatMulOp>(module, backend, wantsConvolution, toConvolution);
        !done)
      return done;
    module.walk([](mlir::Operation *op) {
      if (isConstant(op) && op->use_empty())
        op->erase();
    });
    return {};
  }
};

} // namespace

std::unique_ptr<Pass> createLongProductsToConv() { return std::make_unique<LongProductsToConv>(); }

} // namespace tpuc::bm1684::backend
