//===- DecomposeAttention.cpp - Attention as products and a softmax -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/AttentionMasks.h"
#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include <cmath>

namespace tpuc::codegen {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// A constant [a, b, c, w] as [A, B, C, w], repeated where an extent was 1.
Tensor expandedConstant(const Tensor &tensor, ArrayRef<int64_t> dims) {
  Tensor made(tensor.type(), Shape(std::span(dims.data(), dims.size())));
  const auto row = static_cast<size_t>(byteSize(tensor.type(), dims[3]));
  const Shape &from = tensor.shape();
  const auto at = [&](size_t axis, int64_t index) { return from[axis] == 1 ? 0 : index; };
  for (int64_t i = 0; i < dims[0] * dims[1] * dims[2]; ++i) {
    const int64_t source =
        (at(0, i / (dims[1] * dims[2])) * from[1] + at(1, i / dims[2] % dims[1])) * from[2] +
        at(2, i % dims[2]);
    std::ranges::copy(tensor.rawBytes().subspan(static_cast<size_t>(source) * row, row),
                      made.mutableBytes().subspan(static_cast<size_t>(i) * row).begin());
  }
  return made;
}

/// Attention on heads [B, H, rows, D] as that of B * H samples of one head, in rows; heads of
/// queries that share one of keys follow each other as rows of one sample.
class HeadsAsSamples {
public:
  HeadsAsSamples(OpMaker &maker, tpu::ScaleDotProductAttentionOp op, AttentionBiases &biases)
      : maker(maker), op(op), biases(biases), sizes(attentionSizes(op)) {}

  /// Leaves everything as it was where the chip does not compute that.
  bool run() {
    if (!doHeadsFit())
      return false;
    const Value numbers = biases.of(maker, op);
    std::optional<Value> repeated = numbers ? ofSamples(numbers) : Value();
    if (!repeated)
      return false;
    OpBuilder &builder = maker.builder;
    const double width = OpMaker::dimsOf(op.getQuery())[3];
    constexpr StringLiteral kNames[] = {"query_rows", "key_rows", "value_rows"};
    SmallVector<Value> operands(op->getOperands());
    for (auto [operand, what] : llvm::zip(operands, kNames))
      operand = asRows(operand, what);
    auto rows = cast<tpu::ScaleDotProductAttentionOp>(builder.clone(*op));
    rows->setOperands(operands);
    rows->moveBefore(op);
    rows->setAttr("scale", builder.getF64FloatAttr(op.getScale() ? op.getScale()->convertToDouble()
                                                                 : 1 / std::sqrt(width)));
    for (const char *heads : {"q_num_heads", "kv_num_heads"})
      rows->setAttr(heads, builder.getI64IntegerAttr(1));
    addBiases(rows, *repeated);
    const Value result = op->getResult(0);
    rows->getResult(0).setType(OpMaker::typeOf(result).clone(rowsOf(result)));
    rows->setLoc(NameLoc::get(builder.getStringAttr(tensorNames(op)[0] + "_rows")));
    if (!isFitting(rows, maker.backend))
      return false;
    maker.replace(0, maker.reshaped(rows->getResult(0), OpMaker::dimsOf(result), "shaped"));
    return true;
  }

private:
  bool doHeadsFit() {
    for (Value operand : op->getOperands().take_front(3))
      if (OpMaker::dimsOf(operand).size() != 4)
        return false;
    return sizes.heads % sizes.keyHeads == 0;
  }

  /// A norm of rows, or a product with one number for each head, of rows of samples: it stands
  /// behind the reshape, where it can be in one group with the attention. Null for others.
  Value asScaledRows(Value heads, StringRef what) {
    Operation *op = heads.getDefiningOp();
    if (!op || !heads.hasOneUse())
      return {};
    const auto made = [&](Value input, Value factors) {
      return maker.make(op->getName().getStringRef(), what,
                        Type(OpMaker::typeOf(heads).clone(rowsOf(heads))),
                        {asRows(input, (what + "_unscaled").str()), factors}, op->getAttrs());
    };
    if (auto norm = dyn_cast<tpu::RMSNormOp>(op)) {
      const auto axis = static_cast<int64_t>(norm.getAxis());
      const bool isOfRows =
          isa<NoneType>(norm.getGamma().getType()) || OpMaker::dimsOf(norm.getGamma()).size() == 1;
      return axis == -1 && isOfRows && !norm.getNumHeads() ? made(norm.getInput(), norm.getGamma())
                                                           : Value();
    }
    auto product = dyn_cast<tpu::MulOp>(op);
    if (!product || product.getInputs().size() != 2 || !OpMaker::isFloat(heads) ||
        OpMaker::dimsOf(heads)[1] != sizes.keyHeads)
      return {};
    for (unsigned index : {0, 1}) {
      const Value constant = product.getInputs()[index];
      const std::optional<Tensor> factors = OpMaker::constantOf(constant);
      const int64_t number = OpMaker::dimsOf(heads)[1];
      if (!factors || factors->numElements() != number || factors->shape().rank() < 3 ||
          factors->shape()[factors->shape().rank() - 3] != number)
        continue;
      const Tensor four = factors->reshaped(Shape({1, number, 1, 1}));
      const Value all = maker.weight(expandedConstant(four, {sizes.samples, number, 1, 1})
                                         .reshaped(Shape({sizes.samples * number, 1, 1})),
                                     (what + "_factors").str());
      return made(product.getInputs()[1 - index], all);
    }
    return {};
  }

  /// Heads as rows. A conversion of what has to be stored anyway, or takes no more bytes, stands
  /// behind the reshape, where it can be in one group with the attention.
  Value asRows(Value heads, StringRef what) {
    if (Value scaled = asScaledRows(heads, what))
      return scaled;
    auto cast = heads.getDefiningOp<tpu::CastOp>();
    if (!cast || !heads.hasOneUse() || cast->getNumOperands() != 1)
      return maker.reshaped(heads, rowsOf(heads), what);
    const Value input = cast.getInput();
    const bool isStored = !input.hasOneUse() || !input.getDefiningOp() ||
                          input.getDefiningOp()->hasTrait<traits::ViewLike>() ||
                          !maker.isLocal(input);
    if (!isStored && globalBytes(input.getType()) > globalBytes(heads.getType()))
      return maker.reshaped(heads, rowsOf(heads), what);
    const Value rows = maker.reshaped(input, rowsOf(heads), (what + "_before").str());
    return maker.make(tpu::CastOp::getOperationName(), what,
                      Type(OpMaker::typeOf(heads).clone(rowsOf(heads))), rows, cast->getAttrs());
  }

  /// The dimensions of heads as rows of samples.
  SmallVector<int64_t> rowsOf(Value heads) {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(heads);
    return {sizes.samples * sizes.keyHeads, dims[1] / sizes.keyHeads * dims[2], dims[3]};
  }

  /// Numbers [B or 1, H or 1, Q or 1, T] for each of the samples, or for all; none where these
  /// would be too many.
  std::optional<Value> ofSamples(Value numbers) {
    SmallVector<int64_t> dims(OpMaker::dimsOf(numbers));
    while (dims.size() < 4)
      dims.insert(dims.begin(), 1);
    const int64_t shared = sizes.heads / sizes.keyHeads;
    const bool isForAll = dims[0] == 1 && dims[1] == 1;
    if (isForAll && (shared == 1 || dims[2] == 1))
      return numbers;
    // Rows of heads that share keys follow each other, unless all are equal.
    const bool isByRow = shared > 1 && (dims[1] > 1 || dims[2] > 1);
    SmallVector<int64_t> wanted = {isForAll ? 1 : sizes.samples, sizes.heads,
                                   isByRow ? sizes.rows : dims[2], sizes.keys};
    if (isForAll)
      wanted[1] = shared;
    else if (!isByRow && dims[1] == 1)
      wanted[1] = sizes.keyHeads;
    constexpr int64_t kMost = 1 << 22;
    if (dims != wanted && ShapedType::getNumElements(wanted) > kMost)
      return std::nullopt;
    const Value all = expanded(maker.reshaped(numbers, dims, "mask_4d"), wanted);
    return maker.reshaped(all,
                          {isForAll ? 1 : sizes.samples * sizes.keyHeads, 1,
                           isByRow ? shared * sizes.rows : wanted[2], sizes.keys},
                          "mask_rows");
  }

  Value expanded(Value value, ArrayRef<int64_t> dims) {
    if (OpMaker::dimsOf(value) == dims)
      return value;
    if (std::optional<Tensor> constant = OpMaker::constantOf(value))
      return maker.weight(expandedConstant(*constant, dims), "mask_of_all");
    NamedAttrList attributes;
    attributes.set("shape", maker.builder.getI64ArrayAttr(dims));
    return maker.make<tpu::ExpandOp>("mask_of_all", dims, {value, maker.none()}, attributes);
  }

  OpMaker &maker;
  tpu::ScaleDotProductAttentionOp op;
  AttentionBiases &biases;
  AttentionSizes sizes;
};

/// Attention on rows of all heads, with numbers that hide keys; false where the chip does not
/// compute that.
bool takeBiases(OpMaker &maker, tpu::ScaleDotProductAttentionOp op, AttentionBiases &biases) {
  auto made = cast<tpu::ScaleDotProductAttentionOp>(maker.builder.clone(*op));
  addBiases(made, biases.of(maker, op));
  made->moveBefore(op);
  if (!isFitting(made, maker.backend))
    return false;
  maker.replace(0, made->getResult(0));
  return true;
}

struct DecomposeAttentionPass : codegen::impl::DecomposeAttentionBase<DecomposeAttentionPass> {
  using Base::Base;

  void runOnOperation() override {
    AttentionBiases biases;
    const auto wants = [](tpu::ScaleDotProductAttentionOp op, const Backend &backend) {
      return !fittingPlaceOf(op, backend);
    };
    const auto decompose = [&](tpu::ScaleDotProductAttentionOp op,
                               const Backend &backend) -> Expected<void> {
      OpMaker maker(op, backend);
      const bool isOnRows =
          isAttentionAlone(op) && (op.getQNumHeads() ? takeBiases(maker, op, biases)
                                                     : HeadsAsSamples(maker, op, biases).run());
      if (isOnRows || (!tpu::hasIntegerFusion(op) && decomposeAttention(maker)))
        op->erase();
      return {};
    };
    if (failed(rewriteOps<tpu::ScaleDotProductAttentionOp>(getOperation(), wants, decompose)))
      return signalPassFailure();
    biases.eraseUnused();
  }
};

} // namespace
