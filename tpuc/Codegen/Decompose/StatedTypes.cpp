//===- StatedTypes.cpp - Inputs and outputs of types that model files have -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Model/Container.h"
#include "tpuc/Support/Convert.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The nearest type with half of the bits or for truth values; none for others.
std::optional<DataType> closestTo(DataType type) {
  switch (type) {
  case DataType::F64:
    return DataType::F32;
  case DataType::I64:
    return DataType::I32;
  case DataType::U64:
    return DataType::U32;
  case DataType::Bool:
    return DataType::U8;
  default:
    return std::nullopt;
  }
}

class StatedTypes {
public:
  StatedTypes(const model::Container &container, const Backend &backend)
      : container(container), backend(backend) {}

  /// The network takes what files state, and makes of it what `input` was.
  void apply(top::InputOp input) const;
  /// The network gives what files state of what an output was, under its name.
  void apply(OpOperand &output) const;

private:
  /// The element type of an input or output of `value`; null where it can stay, or nothing is near.
  Type statedFor(Value value) const;

  const model::Container &container;
  const Backend &backend;
};

Type StatedTypes::statedFor(Value value) const {
  const std::optional<DataType> type = storageDataType(value.getType());
  if (!type || container.states(*type))
    return {};
  const std::optional<DataType> closest = closestTo(*type);
  if (!closest || !container.states(*closest))
    return {};
  return elementType(value.getContext(), *closest);
}

void StatedTypes::apply(top::InputOp input) const {
  auto argument = dyn_cast<BlockArgument>(input.getInput());
  const Type stated = statedFor(input.getResult());
  if (!stated || !argument || !argument.hasOneUse())
    return;
  const Type element = getElementTypeOrSelf(input.getResult().getType());
  for (Value value : {Value(argument), Value(input.getResult())})
    value.setType(cast<RankedTensorType>(value.getType()).clone(stated));
  OpMaker maker(input, backend);
  maker.builder.setInsertionPointAfter(input);
  const Value wide = maker.converted(input.getResult(), element, "wide");
  input.getResult().replaceAllUsesExcept(wide, wide.getDefiningOp());
}

void StatedTypes::apply(OpOperand &output) const {
  auto value = dyn_cast<OpResult>(output.get());
  const Type stated = value ? statedFor(value) : Type();
  if (!stated || isa<top::InputOp>(value.getOwner()))
    return;
  Operation *producer = value.getOwner();
  SmallVector<std::string> names = tensorNames(producer);
  OpMaker maker(producer, backend);
  const auto nameOf = [&](StringRef name) -> Location {
    return NameLoc::get(maker.builder.getStringAttr(name));
  };
  // A constant is found by its name, so that a converted one takes its place.
  if (auto constant = dyn_cast<top::WeightOp>(producer)) {
    Expected<Tensor> numbers = constant.read();
    if (!numbers)
      return;
    const Value narrow =
        maker.weight(tpuc::convert(*numbers, *closestTo(numbers->type())), "stated");
    maker.builder.setInsertionPoint(output.getOwner());
    const Value copy =
        maker.builder.create<tpu::CopyOp>(nameOf(names[0]), narrow.getType(), narrow).getOutput();
    output.getOwner()->replaceUsesOfWith(value, copy);
    if (constant->use_empty())
      constant->erase();
    return;
  }
  maker.builder.setInsertionPoint(output.getOwner());
  const Value made = maker.converted(value, stated, "stated");
  made.getDefiningOp()->setLoc(nameOf(names[value.getResultNumber()]));
  names[value.getResultNumber()] += "_wide";
  SmallVector<Location> locations;
  for (const std::string &name : names)
    locations.push_back(nameOf(name));
  producer->setLoc(locations.size() == 1 ? locations.front()
                                         : FusedLoc::get(producer->getContext(), locations));
  // The same tensor may be several outputs.
  output.getOwner()->replaceUsesOfWith(value, made);
}

} // namespace

void codegen::useStatedTypes(func::FuncOp main, const Backend &backend) {
  const model::Container *container =
      model::findContainer(backend.info().container, model::containers());
  if (!container)
    return;
  const StatedTypes types(*container, backend);
  for (auto input : llvm::to_vector(main.getOps<top::InputOp>()))
    types.apply(input);
  Operation *end = main.front().getTerminator();
  for (OpOperand &output : end->getOpOperands())
    types.apply(output);
  top::updateFunctionType(main);
}
