//===- SliceModel.cpp - How one op is cut into slices ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/SliceModel.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/SliceModels.h"
#include "tpuc/Dialect/Top/OpTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;
using namespace tpuc::codegen::slicing;

namespace {

/// What groups an op asks for.
enum class Asks : uint8_t {
  Nothing,  ///< It is at home in all of them.
  Rows,     ///< It sees rows of matrices.
  Channels, ///< It sees channels of pictures.
};

/// How ops of one class are cut.
struct SliceRule {
  Expected<SliceModel> (*model)(Operation *op, Company company, const Spread &spread);
  Asks asks;
};

/// The ops that are not element-wise, or not that alone. What is in no row and not `Pointwise`
/// cannot be cut.
class SliceRules {
public:
  template <typename... Ops, typename Model> SliceRules &add(Asks asks, Model /*model*/) {
    (rules.add<Ops>({&callOn<Ops, Model, Expected<SliceModel>, Company, const Spread &>, asks}),
     ...);
    return *this;
  }
  const SliceRule *find(OperationName op) const { return rules.find(op); }

private:
  OpTable<SliceRule> rules;
};

const SliceRules &sliceRules() {
  static const SliceRules kRules =
      SliceRules()
          .add<tpu::ConvOp>(Asks::Channels,
                            [](tpu::ConvOp op, Company, const Spread &) { return convModel(op); })
          .add<tpu::DeconvOp>(Asks::Channels, [](tpu::DeconvOp op, Company,
                                                 const Spread &) { return deconvModel(op); })
          .add<tpu::MaxPoolOp, tpu::AvgPoolOp>(
              Asks::Channels, [](auto op, Company, const Spread &) { return poolModel(op); })
          .add<tpu::InstanceNormOp>(
              Asks::Channels,
              [](tpu::InstanceNormOp op, Company, const Spread &) { return instanceNormModel(op); })
          .add<tpu::UpsampleOp>(Asks::Channels, [](tpu::UpsampleOp op, Company,
                                                   const Spread &) { return upsampleModel(op); })
          .add<tpu::InterpOp>(Asks::Channels, [](tpu::InterpOp op, Company,
                                                 const Spread &) { return interpModel(op); })
          .add<tpu::PReluOp>(Asks::Channels, [](tpu::PReluOp op, Company,
                                                const Spread &) { return preluModel(op); })
          .add<tpu::MatMulOp>(Asks::Rows, [](tpu::MatMulOp op, Company company,
                                             const Spread &) { return matMulModel(op, company); })
          .add<tpu::SoftmaxOp>(Asks::Rows, [](tpu::SoftmaxOp op, Company company,
                                              const Spread &) { return softmaxModel(op, company); })
          .add<tpu::LayerNormOp, tpu::RMSNormOp>(
              Asks::Rows,
              [](auto op, Company company, const Spread &) { return layerNormModel(op, company); })
          .add<tpu::ScaleDotProductAttentionOp>(Asks::Rows,
                                                [](tpu::ScaleDotProductAttentionOp op, Company,
                                                   const Spread &) { return attentionModel(op); })
          .add<tpu::PixelNormOp>(Asks::Nothing, [](tpu::PixelNormOp op, Company,
                                                   const Spread &) { return pixelNormModel(op); })
          .add<tpu::SliceOp>(Asks::Nothing, [](tpu::SliceOp op, Company,
                                               const Spread &) { return columnSliceModel(op); })
          .add<tpu::ReduceOp>(Asks::Nothing,
                              [](tpu::ReduceOp op, Company company, const Spread &) {
                                return reduceModel(op, company);
                              })
          .add<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(
              Asks::Nothing, [](auto op, Company, const Spread &) { return recurrentModel(op); })
          .add<tpu::LutOp>(Asks::Nothing, [](tpu::LutOp op, Company company, const Spread &spread) {
            return tableModel(op, company, spread);
          });
  return kRules;
}

bool asksFor(Operation *op, Asks what) {
  const SliceRule *rule = sliceRules().find(op->getName());
  return rule && rule->asks == what;
}

Expected<SliceModel> modelOf(Operation *op, Company company, const Spread &spread) {
  if (const SliceRule *rule = sliceRules().find(op->getName()))
    return rule->model(op, company, spread);
  if (op->hasTrait<traits::Pointwise>())
    return freeModel(op, op->getOperands(), company, spread);
  return makeError("", "an op that nobody knows how to cut", "one with a slice model");
}

} // namespace

bool codegen::hasSliceModel(OperationName op) {
  return sliceRules().find(op) || op.hasTrait<traits::Pointwise>();
}

Value codegen::givenResult(Operation *op) {
  for (Value result : op->getResults())
    if (!isAbsent(result))
      return result;
  return op->getResult(0);
}

Company codegen::companyOf(ArrayRef<Operation *> layers) {
  if (layers.size() == 1)
    return Company::Alone;
  const auto isOfRows = [](Operation *op) { return asksFor(op, Asks::Rows); };
  const auto isOfChannels = [](Operation *op) {
    // One pixel that lies as a row still has channels.
    return asksFor(op, Asks::Channels) || op->hasAttr(kInRow);
  };
  return llvm::any_of(layers, isOfRows) && llvm::none_of(layers, isOfChannels) ? Company::InRows
                                                                               : Company::InGroup;
}

SmallVector<Company> codegen::companiesOf(ArrayRef<Operation *> layers,
                                          llvm::function_ref<bool(Operation *)> takesAny) {
  SmallVector<Company> companies(layers.size(), companyOf(layers));
  if (layers.size() == 1)
    return companies;
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
      companies[layer] = Company::Alone;
  return companies;
}

Expected<SliceModel> slicing::checkedModel(Operation *op, Company company, const Spread &spread) {
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
  return modelOf(op, company, spread);
}

Expected<SliceModel> codegen::sliceModel(Operation *op, const TargetInfo &target, Company company) {
  return checkedModel(op, company, spreadOf(target));
}
