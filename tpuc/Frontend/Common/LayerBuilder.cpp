//===- LayerBuilder.cpp - What the converter of one layer works with ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Common/LayerBuilder.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Counted.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::frontend;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attrs &Attrs::set(StringRef name, Attribute value) {
  attributes.set(name, value);
  return *this;
}

Attrs &Attrs::setInt(StringRef name, std::optional<int64_t> value) {
  return value ? set(name, builder.getI64IntegerAttr(*value)) : *this;
}

Attrs &Attrs::setFloat(StringRef name, std::optional<double> value) {
  return value ? set(name, builder.getF64FloatAttr(*value)) : *this;
}

Attrs &Attrs::setBool(StringRef name, bool value) { return set(name, builder.getBoolAttr(value)); }

Attrs &Attrs::setString(StringRef name, StringRef value) {
  return set(name, builder.getStringAttr(value));
}

Attrs &Attrs::setInts(StringRef name, const std::optional<Ints> &value) {
  return value ? set(name, builder.getI64ArrayAttr(*value)) : *this;
}

Attrs &Attrs::setFloats(StringRef name, const std::optional<std::vector<double>> &value) {
  return value ? set(name, builder.getF64ArrayAttr(*value)) : *this;
}

Attrs &Attrs::setType(StringRef name, Type value) {
  return value ? set(name, TypeAttr::get(value)) : *this;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

LayerBuilder::LayerBuilder(ModuleBuilder &module, Block *block, std::vector<std::string> outputs,
                           std::string name)
    : module(module), block(block), outputNames(std::move(outputs)), layerName(std::move(name)) {}

LayerBuilder::~LayerBuilder() = default;

SmallVector<Value> LayerBuilder::firstInputs(unsigned count) {
  SmallVector<Value> values;
  for (unsigned index = 0; index < count; ++index)
    values.push_back(in(index));
  return values;
}

SmallVector<Value> LayerBuilder::inputsFrom(unsigned index) {
  SmallVector<Value> values;
  for (; index < numInputs(); ++index)
    values.push_back(in(index));
  return values;
}

std::optional<Tensor> LayerBuilder::constant(unsigned index) {
  return top::constantTensor(in(index));
}

std::optional<Ints> LayerBuilder::constantInts(unsigned index) {
  return top::constantInts(in(index));
}

std::optional<double> LayerBuilder::constantFloat(unsigned index) {
  std::optional<Tensor> tensor = constant(index);
  if (!tensor || tensor->numElements() != 1)
    return std::nullopt;
  return convert(*tensor, DataType::F64).data<double>()[0];
}

IntsOrTensor LayerBuilder::intsOrTensor(unsigned index) {
  if (std::optional<Ints> ints = has(index) ? constantInts(index) : std::nullopt)
    return {ints, none()};
  return {std::nullopt, in(index)};
}

std::optional<Ints> LayerBuilder::dims(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional<Ints>(Ints(type.getShape())) : std::nullopt;
}

std::optional<int64_t> LayerBuilder::rank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
}

bool LayerBuilder::isStatic(const Ints &dims) { return !ShapedType::isDynamicShape(dims); }

Type LayerBuilder::elementType(Value value) { return top::elementTypeOf(value); }

int64_t LayerBuilder::needRank(unsigned index, StringRef what) {
  std::optional<int64_t> known = rank(in(index));
  if (!known)
    fail(fmt::format("{} needs the rank of input {}, which is not known", what.str(), index),
         "a shape of known rank; --input_shapes may help");
  return known.value_or(1);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::string LayerBuilder::baseName() const {
  for (const std::string &output : outputNames)
    if (!output.empty())
      return output;
  return layerName;
}

std::string LayerBuilder::outputName(unsigned index) {
  return wants(index) ? outputNames[index]
                      : module.freeName(fmt::format("{}_{}", baseName(), index));
}

SmallVector<Value> LayerBuilder::makeNamed(const std::vector<std::string> &names, StringRef op,
                                           ValueRange operands, const Attrs &attributes,
                                           unsigned firstUnwanted) {
  SmallVector<Type> types;
  for (unsigned index = 0; index < names.size(); ++index)
    types.push_back(index < firstUnwanted
                        ? Type(UnrankedTensorType::get(Float32Type::get(context())))
                        : Type(NoneType::get(context())));
  OperationState state(module.location(names), op);
  state.addOperands(operands);
  state.addAttributes(attributes.list().getAttrs());
  state.addTypes(types);
  SmallVector<Value> results;
  if (Expected<Operation *> made = module.makeOp(block, state, results); !made) {
    failWith(std::move(made.error()));
    return {};
  }
  return results;
}

Value LayerBuilder::makeOutput(unsigned index, StringRef op, ValueRange operands,
                               const Attrs &attributes, unsigned count) {
  if (failed())
    return none();
  std::vector<std::string> names = {outputName(index)};
  for (unsigned other = 1; other < count; ++other)
    names.push_back(module.freeName(fmt::format("{}_{}", names[0], other)));
  SmallVector<Value> made = makeNamed(names, op, operands, attributes, 1);
  if (made.empty())
    return none();
  bind(index, made[0]);
  return made[0];
}

Operation *LayerBuilder::makeOutputs(unsigned count, unsigned firstOptional, StringRef op,
                                     ValueRange operands, const Attrs &attributes,
                                     MutableArrayRef<std::unique_ptr<Region>> regions) {
  if (failed())
    return nullptr;
  std::vector<std::string> names;
  SmallVector<Type> types;
  for (unsigned index = 0; index < count; ++index) {
    names.push_back(outputName(index));
    if (!wants(index) && index >= firstOptional)
      types.push_back(NoneType::get(context()));
    else
      types.push_back(UnrankedTensorType::get(Float32Type::get(context())));
  }
  OperationState state(module.location(names), op);
  state.addOperands(operands);
  state.addAttributes(attributes.list().getAttrs());
  state.addTypes(types);
  for (std::unique_ptr<Region> &region : regions)
    state.addRegion(std::move(region));
  SmallVector<Value> results;
  Expected<Operation *> made = module.makeOp(block, state, results);
  if (!made) {
    failWith(std::move(made.error()));
    return nullptr;
  }
  for (auto [index, value] : llvm::enumerate(results))
    bind(static_cast<unsigned>(index), value);
  return *made;
}

Attrs LayerBuilder::partAttrs(int64_t axis, int64_t begin, int64_t end) const {
  return attrs()
      .setInts("offset", Ints{begin})
      .setInts("ends", Ints{end})
      .setInts("steps", Ints{1})
      .setInts("axes", Ints{axis});
}

Value LayerBuilder::part(StringRef suffix, Value value, int64_t axis, int64_t begin, int64_t end) {
  return temp<top::SliceOp>(suffix, {value, none(), none(), none(), none()},
                            partAttrs(axis, begin, end));
}

SmallVector<Value> LayerBuilder::makeTemps(StringRef suffix, StringRef op, ValueRange operands,
                                           const Attrs &attributes, unsigned count,
                                           unsigned firstUnwanted) {
  std::vector<std::string> names;
  const std::string name = baseName() + "_" + suffix.str();
  for (unsigned index = 0; index < count && !failed(); ++index)
    names.push_back(module.freeName(index == 0 ? name : fmt::format("{}_{}", name, index)));
  SmallVector<Value> made;
  if (!failed())
    made = makeNamed(names, op, operands, attributes, firstUnwanted);
  made.resize(count, none());
  return made;
}

Value LayerBuilder::weight(StringRef suffix, Tensor tensor) {
  return module.makeWeight(module.freeName(baseName() + "_" + suffix.str()), std::move(tensor));
}

void LayerBuilder::emitConstant(Tensor tensor) {
  bind(0, module.makeWeight(baseName(), std::move(tensor)));
}

Value LayerBuilder::intsWeight(StringRef suffix, ArrayRef<int64_t> values) {
  return weight(suffix, Tensor::of<int64_t>({static_cast<int64_t>(values.size())},
                                            std::span(values.data(), values.size())));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void LayerBuilder::fail(std::string found, std::string expected) {
  failWith(Error{place(), std::move(found), std::move(expected)});
}

void LayerBuilder::failWith(Error inner) {
  if (error)
    return;
  // What the dialect says about an op does not know the file and the layer.
  if (inner.where.empty())
    inner.where = place();
  error = std::move(inner);
}

std::optional<Tensor> LayerBuilder::orFail(Expected<Tensor> tensor) {
  if (tensor)
    return *tensor;
  failWith(std::move(tensor.error()));
  return std::nullopt;
}

void LayerBuilder::checkArity(int minInputs, int maxInputs) {
  auto count = static_cast<int>(numInputs());
  std::string wanted = maxInputs == minInputs ? std::to_string(minInputs)
                       : maxInputs < 0        ? fmt::format("{} or more", minInputs)
                                              : fmt::format("{} to {}", minInputs, maxInputs);
  if (count < minInputs || (maxInputs >= 0 && count > maxInputs))
    return fail("has " + counted(count, "input"), wanted);
  for (int index = 0; index < minInputs; ++index)
    if (!has(static_cast<unsigned>(index)))
      return fail(fmt::format("input {} is left out", index), "a tensor");
  if (numOutputs() == 0)
    fail("has no outputs", "one at least");
}
