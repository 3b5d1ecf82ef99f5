//===- FloatsByNeed.cpp - Layers whose signal 8 bits would lose -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/FloatsByNeed.h"
#include "tpuc/Conversion/TopToTpu/FirstLayers.h"
#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace mlir;
using namespace tpuc;

namespace {

/// Why a layer is at risk, and what floats spare it (FloatNeed).
struct Risk {
  std::string reason;
  double gain = 1;
};

class NeedFinder {
public:
  NeedFinder(func::FuncOp main, llvm::function_ref<quant::UniformQuantizedType(Value)> typeOf,
             llvm::function_ref<bool(Operation *)> isInteger,
             llvm::function_ref<bool(Operation *)> isScaling)
      : main(main), typeOf(typeOf), isInteger(isInteger), isScaling(isScaling) {}

  llvm::MapVector<Operation *, FloatNeed> run();

private:
  std::optional<Risk> riskOf(Operation *op);
  std::optional<Risk> lossOf(Operation *op);
  bool isInTail(Operation *op) const { return tail.contains(op); }
  void findTail();
  void follow(Operation *seed);
  void precede();

  func::FuncOp main;
  llvm::function_ref<quant::UniformQuantizedType(Value)> typeOf;
  llvm::function_ref<bool(Operation *)> isInteger;
  llvm::function_ref<bool(Operation *)> isScaling;
  /// Ops behind which no product stands that learned filters, only means of bins.
  llvm::DenseSet<Operation *> tail;
  llvm::MapVector<Operation *, FloatNeed> needs;
};

/// Whether `op` sums up constants by the weights of a softmax.
bool isMeanOfBins(Operation *op) {
  if (!op->hasTrait<traits::Product>() || op->getNumOperands() < 2 ||
      !op->getOperand(1).getDefiningOp<top::WeightOp>())
    return false;
  Operation *maker = op->getOperand(0).getDefiningOp();
  // Between them elements are moved at most.
  while (maker && !isa<top::SoftmaxOp>(maker) && maker->getNumOperands() > 0 &&
         integerForm(maker) == IntegerForm::Moves)
    maker = maker->getOperand(0).getDefiningOp();
  auto softmax = dyn_cast_or_null<top::SoftmaxOp>(maker);
  return softmax && !softmax.getLog();
}

/// Whether `values` lie on a grid: they take few different steps from each to the next, while
/// numbers that were learned take as many as there are.
bool isGrid(std::span<const float> values) {
  constexpr size_t kLeast = 16;
  if (values.size() < kLeast)
    return false;
  const auto [least, most] = std::ranges::minmax(values);
  const double unit = (double(most) - double(least)) * 1e-4;
  if (!(unit > 0) || !std::isfinite(unit))
    return false;
  std::set<int64_t> differences;
  for (size_t i = 1; i < values.size(); ++i)
    differences.insert(std::llround((double(values[i]) - double(values[i - 1])) / unit));
  return differences.size() <= values.size() / 4;
}

/// Whether `op` adds a constant grid to a tensor, or subtracts one from the other.
bool addsPlaces(Operation *op) {
  if (!isa<top::AddOp, top::SubOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [](Value operand) {
    auto weight = operand.getDefiningOp<top::WeightOp>();
    if (!weight || !isa<FloatType>(cast<TensorType>(operand.getType()).getElementType()))
      return false;
    Expected<Tensor> tensor = weight.read();
    if (!tensor)
      return false;
    const bool is = isGrid(convert(*tensor, DataType::F32).data<float>());
    releaseMapped(tensor->rawBytes());
    return is;
  });
}

/// The operand of `op` that would be lost in the scale of the result, if any.
std::optional<Risk> NeedFinder::lossOf(Operation *op) {
  if (!isa<top::ConcatOp, top::AddOp, top::SubOp>(op))
    return std::nullopt;
  quant::UniformQuantizedType shared = typeOf(op->getResult(0));
  if (!shared || tpu::isQuantized(op->getResult(0)))
    return std::nullopt;
  auto coeff = op->getAttrOfType<ArrayAttr>("coeff");
  for (OpOperand *operand : integerOperands(op)) {
    quant::UniformQuantizedType own = typeOf(operand->get());
    if (!own || tpu::isQuantized(operand->get()))
      continue;
    double range = std::ldexp(own.getScale(), static_cast<int>(own.getStorage().width));
    if (coeff)
      range *= std::abs(cast<FloatAttr>(coeff[operand->getOperandNumber()]).getValueAsDouble());
    if (range < kLeastSteps * shared.getScale())
      return Risk{fmt::format("operand {} would cover fewer than {:.0f} steps of the shared scale",
                              operand->getOperandNumber(), kLeastSteps),
                  std::ldexp(shared.getScale() / range, static_cast<int>(own.getStorage().width))};
  }
  return std::nullopt;
}

std::optional<Risk> NeedFinder::riskOf(Operation *op) {
  if (!isInteger(op))
    return std::nullopt;
  if (std::optional<Risk> loss = lossOf(op))
    return loss;
  if (!isInTail(op))
    return std::nullopt;
  if (isMeanOfBins(op))
    return Risk{"it is the mean of bins by a softmax"};
  return addsPlaces(op) ? std::optional(Risk{"it adds places"}) : std::nullopt;
}

void NeedFinder::findTail() {
  for (Operation &op : llvm::reverse(main.front().without_terminator()))
    if (!op.hasTrait<traits::Structural>() && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return user->hasTrait<OpTrait::IsTerminator>() ||
                 (tail.contains(user) &&
                  (!user->hasTrait<traits::Product>() || isMeanOfBins(user)));
        }))
      tail.insert(&op);
}

/// All behind `seed` needs floats, too.
void NeedFinder::follow(Operation *seed) {
  const std::string name = layerName(seed);
  const bool isPlace = needs[seed].isPlace;
  SmallVector<Operation *> open = {seed};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    for (Operation *user : op->getUsers()) {
      if (!tail.contains(user))
        continue;
      auto [place, isNew] = needs.try_emplace(user);
      if (isNew)
        place->second = {fmt::format("it is behind '{}'", name), kTailStep.str()};
      if (isNew || (isPlace && !place->second.isPlace)) {
        place->second.isPlace |= isPlace;
        open.push_back(user);
      }
    }
  }
}

/// What only such layers read does, up to products.
void NeedFinder::precede() {
  for (Operation &op : llvm::reverse(main.front().without_terminator())) {
    if (!tail.contains(&op) || needs.contains(&op) || op.hasTrait<traits::Product>() ||
        op.use_empty())
      continue;
    if (llvm::all_of(op.getUsers(), [&](Operation *user) {
          auto found = needs.find(user);
          return found != needs.end() && tail.contains(user);
        }))
      needs[&op] = {fmt::format("it is before '{}'", layerName(*op.user_begin())), kTailStep.str()};
  }
}

llvm::MapVector<Operation *, FloatNeed> NeedFinder::run() {
  findTail();
  SmallVector<Operation *> seeds;
  for (Operation &op : main.front().without_terminator()) {
    std::optional<Risk> risk = op.hasTrait<traits::Structural>() ? std::nullopt : riskOf(&op);
    if (!risk)
      continue;
    // Its channels may have got scales of their own already.
    const auto isRead = [&](Operation *user) {
      return user->hasTrait<traits::Product>() || isScaling(user);
    };
    if (isInTail(&op))
      seeds.push_back(&op);
    else if (!isa<top::ConcatOp>(op) || !llvm::all_of(op.getUsers(), isRead))
      continue;
    needs[&op] = {.reason = std::move(risk->reason),
                  .step = isInTail(&op) ? kTailStep.str() : layerName(&op),
                  .gain = risk->gain,
                  .isPlace = isInTail(&op) && addsPlaces(&op)};
  }
  for (Operation *seed : seeds)
    follow(seed);
  precede();
  for (auto &[op, first] : firstLayersInFloats(main, typeOf, isInteger))
    needs.try_emplace(op, FloatNeed{first.reason, layerName(first.amplifier), first.noise});
  return std::move(needs);
}

} // namespace

llvm::MapVector<Operation *, FloatNeed>
tpuc::floatsByNeed(func::FuncOp main, llvm::function_ref<quant::UniformQuantizedType(Value)> typeOf,
                   llvm::function_ref<bool(Operation *)> isInteger,
                   llvm::function_ref<bool(Operation *)> isScaling) {
  return NeedFinder(main, typeOf, isInteger, isScaling).run();
}
