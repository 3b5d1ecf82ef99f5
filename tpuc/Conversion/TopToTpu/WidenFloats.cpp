//===- WidenFloats.cpp - Floats of other widths as f32 ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace tpuc {
#define GEN_PASS_DEF_WIDENFLOATS
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

/// The elements as f32. Numbers beyond its range, such as the least one that hides a key, stay
/// numbers.
Tensor toF32(const Tensor &tensor) {
  Tensor made = convert(tensor, DataType::F32);
  if (tensor.type() != DataType::F64)
    return made;
  for (auto [number, exact] : llvm::zip_equal(made.mutableData<float>(), tensor.data<double>()))
    if (std::isinf(number) && !std::isinf(exact))
      number = std::copysign(std::numeric_limits<float>::max(), number);
  return made;
}

struct WidenFloatsPass : tpuc::impl::WidenFloatsBase<WidenFloatsPass> {
  using Base::Base;

  bool isWidened(Type type) const {
    const Type element = getElementTypeOrSelf(type);
    const std::optional<DataType> stored =
        isa<FloatType>(element) ? storageDataType(element) : std::nullopt;
    return stored && !element.isF32() && formats.contains(std::string(dataTypeName(*stored)));
  }

  Type widened(Type type) const {
    const Type f32 = Float32Type::get(type.getContext());
    if (auto tensor = dyn_cast<TensorType>(type); tensor && isWidened(type))
      return tensor.clone(f32);
    return isWidened(type) ? f32 : type;
  }

  /// Notes what callers give and get: lowering goes back to these types.
  void keepGivenTypes(func::FuncOp main) const {
    const auto attribute = [](Type type) { return TypeAttr::get(getElementTypeOrSelf(type)); };
    for (BlockArgument argument : main.getArguments())
      if (isWidened(argument.getType()))
        main.setArgAttr(argument.getArgNumber(), kGivenType, attribute(argument.getType()));
    for (auto [index, type] : llvm::enumerate(main.front().getTerminator()->getOperandTypes()))
      if (isWidened(type))
        main.setResultAttr(static_cast<unsigned>(index), kGivenType, attribute(type));
  }

  Expected<void> widenWeight(top::WeightOp weight) {
    OpBuilder builder(weight);
    top::WeightOp made;
    const std::string name = weight.name();
    if (const auto found = names.find(name); found != names.end()) {
      made = builder.create<top::WeightOp>(NameLoc::get(builder.getStringAttr(found->second)),
                                           widened(weight.getOutput().getType()), ArrayAttr());
    } else {
      Expected<Tensor> tensor = weight.read();
      if (!tensor)
        return propagate(tensor);
      made = top::WeightOp::create(builder, getOperation(), name + "_f32", toF32(*tensor));
      releaseMapped(tensor->rawBytes());
      names[name] = made.name();
    }
    if (weight.getWeightScale())
      made.setWeightScaleAttr(weight.getWeightScaleAttr());
    weight.getOutput().replaceAllUsesWith(made.getOutput());
    weight.erase();
    return {};
  }

  /// Bits are those of the source's types: casts stand around.
  void castBits(top::BitCastOp op) {
    OpBuilder builder(op);
    const auto converted = [&](Value value, Type type, const std::string &name) {
      return builder.create<top::CastOp>(NameLoc::get(builder.getStringAttr(name)), type, value,
                                         getElementTypeOrSelf(type));
    };
    const std::string name = layerName(op);
    if (const Type type = op.getInput().getType(); isWidened(type))
      op.getInputMutable().assign(converted(op.getInput(), type, name + "_input").getOutput());
    if (const Type type = op.getOutput().getType(); isWidened(type)) {
      builder.setInsertionPointAfter(op);
      renameTensor(cast<OpResult>(op.getOutput()), name + "_bits");
      top::CastOp wide = converted(op.getOutput(), widened(type), name);
      op.getOutput().replaceAllUsesExcept(wide.getOutput(), wide);
    }
  }

  void widenTypes(Operation *op) {
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(widened(argument.getType()));
    for (Value result : op->getResults())
      result.setType(widened(result.getType()));
    for (NamedAttribute attribute : op->getAttrs())
      if (auto type = dyn_cast<TypeAttr>(attribute.getValue()); type && isWidened(type.getValue()))
        op->setAttr(attribute.getName(), TypeAttr::get(widened(type.getValue())));
    if (auto fill = dyn_cast<top::ConstantFillOp>(op))
      if (auto value = dyn_cast<FloatAttr>(fill.getValue()); value && isWidened(value.getType()))
        fill.setValueAttr(
            FloatAttr::get(Float32Type::get(&getContext()), value.getValueAsDouble()));
  }

  /// A cast between types that are one now. A result of the network keeps its name.
  static void dropCast(top::CastOp op) {
    const auto isGiven = [](Value value) {
      return llvm::any_of(value.getUsers(),
                          [](Operation *user) { return isa<func::ReturnOp>(user); });
    };
    if (isGiven(op.getOutput())) {
      auto made = dyn_cast<OpResult>(op.getInput());
      if (!made || made.getOwner()->hasTrait<traits::Structural>() || isGiven(made))
        return;
      renameTensor(made, layerName(op));
    }
    op.getOutput().replaceAllUsesWith(op.getInput());
    op.erase();
  }

  Expected<void> run(ModuleOp module) {
    Expected<func::FuncOp> main = top::mainFunction(module);
    if (!main)
      return propagate(main);
    keepGivenTypes(*main);
    std::vector<top::WeightOp> weights;
    std::vector<top::BitCastOp> bits;
    std::vector<top::CastOp> casts;
    std::vector<Operation *> others;
    module.walk([&](Operation *op) {
      if (auto weight = dyn_cast<top::WeightOp>(op); weight && isWidened(weight.getType()))
        weights.push_back(weight);
      else if (auto bit = dyn_cast<top::BitCastOp>(op))
        bits.push_back(bit);
      else
        others.push_back(op);
      if (auto cast = dyn_cast<top::CastOp>(op);
          cast && cast.getInput().getType() != cast.getOutput().getType())
        casts.push_back(cast);
    });
    // Before the constants, whose bits are those of their own type.
    for (top::BitCastOp bit : bits)
      castBits(bit);
    for (top::WeightOp weight : weights)
      if (Expected<void> done = widenWeight(weight); !done)
        return done;
    for (Operation *op : others)
      widenTypes(op);
    for (top::CastOp cast : casts)
      if (cast.getInput().getType() == cast.getOutput().getType())
        dropCast(cast);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        top::updateFunctionType(function);
    return {};
  }

  void runOnOperation() override {
    formats = {types.begin(), types.end()};
    if (formats.empty())
      for (DataType type : {DataType::F16, DataType::BF16, DataType::F64})
        formats.insert(std::string(dataTypeName(type)));
    names.clear();
    if (Expected<void> done = run(getOperation()); !done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }

  std::set<std::string> formats;
  /// What weights are called as f32, by their names.
  std::map<std::string, std::string> names;
};

} // namespace
