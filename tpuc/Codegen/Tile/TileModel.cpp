//===- TileModel.cpp - How one op is divided into tiles ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/TileModels.h"
#include "tpuc/Dialect/Top/OpTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;
using namespace tpuc::codegen::tiling;

namespace {

/// What groups an op asks for.
enum class Asks : uint8_t {
  Nothing,  ///< It is at home in all of them.
  Rows,     ///< It sees rows of matrices.
  Channels, ///< It sees channels of pictures.
};

/// How ops of one class are tiled.
struct TileRule {
  Expected<TileModel> (*model)(Operation *op, TileLayout layout, const Spread &spread);
  Asks asks;
};

/// The ops that are not element-wise, or not that alone. What is in no row and not `Pointwise`
/// cannot be tiled.
class TileRules {
public:
  template <typename... Ops, typename Model> TileRules &add(Asks asks, Model /*model*/) {
    (rules.add<Ops>({&callOn<Ops, Model, Expected<TileModel>, TileLayout, const Spread &>, asks}),
     ...);
    return *this;
  }
  const TileRule *find(OperationName op) const { return rules.find(op); }

private:
  OpTable<TileRule> rules;
};

const TileRules &tileRules() {
  static const TileRules kRules =
      TileRules()
          .add<tpu::ConvOp>(Asks::Channels, [](tpu::ConvOp op, TileLayout,
                                               const Spread &) { return convModel(op); })
          .add<tpu::DeconvOp>(Asks::Channels, [](tpu::DeconvOp op, TileLayout,
                                                 const Spread &) { return deconvModel(op); })
          .add<tpu::MaxPoolOp, tpu::AvgPoolOp>(
              Asks::Channels, [](auto op, TileLayout, const Spread &) { return poolModel(op); })
          .add<tpu::InstanceNormOp>(Asks::Channels,
                                    [](tpu::InstanceNormOp op, TileLayout, const Spread &) {
                                      return instanceNormModel(op);
                                    })
          .add<tpu::UpsampleOp>(Asks::Channels, [](tpu::UpsampleOp op, TileLayout,
                                                   const Spread &) { return upsampleModel(op); })
          .add<tpu::InterpOp>(Asks::Channels, [](tpu::InterpOp op, TileLayout,
                                                 const Spread &) { return interpModel(op); })
          .add<tpu::PadOp>(Asks::Channels,
                           [](tpu::PadOp op, TileLayout, const Spread &) { return padModel(op); })
          .add<tpu::PackRowsOp>(Asks::Channels, [](tpu::PackRowsOp op, TileLayout,
                                                   const Spread &) { return packRowsModel(op); })
          .add<tpu::TransposeOp>(Asks::Channels, [](tpu::TransposeOp op, TileLayout,
                                                    const Spread &) { return transposeModel(op); })
          .add<tpu::PReluOp>(Asks::Channels, [](tpu::PReluOp op, TileLayout,
                                                const Spread &) { return preluModel(op); })
          .add<tpu::MatMulOp>(Asks::Rows, [](tpu::MatMulOp op, TileLayout layout,
                                             const Spread &) { return matMulModel(op, layout); })
          .add<tpu::SoftmaxOp>(Asks::Rows, [](tpu::SoftmaxOp op, TileLayout layout,
                                              const Spread &) { return softmaxModel(op, layout); })
          .add<tpu::LayerNormOp, tpu::RMSNormOp>(
              Asks::Rows,
              [](auto op, TileLayout layout, const Spread &) { return layerNormModel(op, layout); })
          .add<tpu::ScaleDotProductAttentionOp>(Asks::Rows,
                                                [](tpu::ScaleDotProductAttentionOp op, TileLayout,
                                                   const Spread &) { return attentionModel(op); })
          .add<tpu::PixelNormOp>(Asks::Nothing, [](tpu::PixelNormOp op, TileLayout,
                                                   const Spread &) { return pixelNormModel(op); })
          .add<tpu::SliceOp>(Asks::Nothing, [](tpu::SliceOp op, TileLayout,
                                               const Spread &) { return columnTileModel(op); })
          .add<tpu::ConcatOp>(Asks::Nothing, [](tpu::ConcatOp op, TileLayout,
                                                const Spread &) { return columnConcatModel(op); })
          .add<tpu::ReduceOp>(Asks::Nothing, [](tpu::ReduceOp op, TileLayout layout,
                                                const Spread &) { return reduceModel(op, layout); })
          .add<tpu::CumSumOp>(Asks::Nothing, [](tpu::CumSumOp op, TileLayout layout,
                                                const Spread &) { return cumSumModel(op, layout); })
          .add<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(
              Asks::Nothing, [](auto op, TileLayout, const Spread &) { return recurrentModel(op); })
          .add<tpu::LutOp>(Asks::Nothing,
                           [](tpu::LutOp op, TileLayout layout, const Spread &spread) {
                             return tableModel(op, layout, spread);
                           });
  return kRules;
}

bool asksFor(Operation *op, Asks what) {
  const TileRule *rule = tileRules().find(op->getName());
  return rule && rule->asks == what;
}

Expected<TileModel> modelOf(Operation *op, TileLayout layout, const Spread &spread) {
  if (const TileRule *rule = tileRules().find(op->getName()))
    return rule->model(op, layout, spread);
  if (op->hasTrait<traits::Pointwise>())
    return freeModel(op, op->getOperands(), layout, spread);
  return makeError("", "an op that nobody knows how to cut", "one with a slice model");
}

} // namespace

bool codegen::hasTileModel(OperationName op) {
  return tileRules().find(op) || op.hasTrait<traits::Pointwise>();
}

Value codegen::givenResult(Operation *op) {
  for (Value result : op->getResults())
    if (!isAbsent(result))
      return result;
  return op->getResult(0);
}

TileLayout codegen::tileLayoutOf(ArrayRef<Operation *> layers) {
  if (layers.size() == 1)
    return TileLayout::Flat;
  const auto isOfRows = [](Operation *op) { return asksFor(op, Asks::Rows); };
  const auto isOfChannels = [](Operation *op) {
    // One pixel that lies as a row still has channels.
    return asksFor(op, Asks::Channels) || tpu::givesPixelRow(op);
  };
  return llvm::any_of(layers, isOfRows) && llvm::none_of(layers, isOfChannels) ? TileLayout::Matrix
                                                                               : TileLayout::NCHW;
}

SmallVector<TileLayout> codegen::tileLayoutsOf(ArrayRef<Operation *> layers,
                                               llvm::function_ref<bool(Operation *)> takesAny) {
  SmallVector<TileLayout> layouts(layers.size(), tileLayoutOf(layers));
  if (layers.size() == 1)
    return layouts;
  // Layers that read each other are in one class, by its first layer; all of one shape.
  llvm::DenseMap<Operation *, unsigned> numberOf;
  llvm::IntEqClasses classes(static_cast<unsigned>(layers.size()));
  llvm::SmallBitVector isFixed(static_cast<unsigned>(layers.size()));
  for (auto [index, op] : llvm::enumerate(layers)) {
    const auto layer = static_cast<unsigned>(index);
    numberOf[op] = layer;
    isFixed[layer] = !takesAny(op);
    for (Value operand : op->getOperands())
      if (auto found = numberOf.find(operand.getDefiningOp()); found != numberOf.end()) {
        classes.join(found->second, layer);
        isFixed[layer] = isFixed[layer] || dimsOf(operand) != dimsOf(op->getResult(0));
      }
  }
  llvm::DenseSet<unsigned> fixed;
  for (unsigned layer : isFixed.set_bits())
    fixed.insert(classes.findLeader(layer));
  for (unsigned layer = 0; layer < layers.size(); ++layer)
    if (!fixed.contains(classes.findLeader(layer)))
      layouts[layer] = TileLayout::Flat;
  return layouts;
}

Expected<TileModel> tiling::checkedModel(Operation *op, TileLayout layout, const Spread &spread) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                            SmallVector<Type>(op->getResultTypes()))) {
    if (isa<NoneType>(type))
      continue;
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked || !ranked.hasStaticShape() || ranked.getNumElements() == 0)
      return makeError("", "a tensor whose extents are not known, or 0", "static shapes");
  }
  const auto given =
      llvm::count_if(op->getResultTypes(), [](Type type) { return !isa<NoneType>(type); });
  const bool isFirst = given == 1 && !isa<NoneType>(op->getResult(0).getType());
  if (!isFirst && (given != 1 || !isa<tpu::LSTMOp>(op)))
    return makeError("", std::to_string(given) + " results", "one");
  return modelOf(op, layout, spread);
}

Expected<TileModel> codegen::tileModel(Operation *op, const TargetInfo &target, TileLayout layout) {
  return checkedModel(op, layout, spreadOf(target));
}
