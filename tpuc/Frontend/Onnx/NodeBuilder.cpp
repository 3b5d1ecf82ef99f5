//===- NodeBuilder.cpp - What the converter of one node works with --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/NodeBuilder.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Frontend/Onnx/GraphImporter.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

/// The numbers of AttributeProto.AttributeType.
enum AttributeType : uint8_t {
  AttrUndefined = 0,
  AttrFloat = 1,
  AttrInt = 2,
  AttrString = 3,
  AttrTensor = 4,
  AttrGraph = 5,
  AttrFloats = 6,
  AttrInts = 7,
  AttrStrings = 8,
  AttrSparse = 11
};

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

NodeBuilder::NodeBuilder(GraphImporter &importer, Scope &scope, const proto::Node &node)
    : importer(importer), scope(scope), source(node) {}

MLIRContext *NodeBuilder::context() const { return importer.context(); }
int64_t NodeBuilder::opset() const { return scope.opset; }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

unsigned NodeBuilder::numInputs() const { return static_cast<unsigned>(source.input_size()); }

bool NodeBuilder::has(unsigned index) const {
  if (index >= numInputs() || source.input(static_cast<int>(index)).empty())
    return false;
  Expected<Value> value = importer.lookup(scope, source.input(static_cast<int>(index)));
  return !value || *value;
}

Value NodeBuilder::in(unsigned index) {
  if (index >= numInputs() || source.input(static_cast<int>(index)).empty())
    return none();
  Expected<Value> value = importer.lookup(scope, source.input(static_cast<int>(index)));
  if (!value) {
    failWith(std::move(value.error()));
    return none();
  }
  return *value ? *value : none();
}

SmallVector<Value> NodeBuilder::firstInputs(unsigned count) {
  SmallVector<Value> values;
  for (unsigned index = 0; index < count; ++index)
    values.push_back(in(index));
  return values;
}

SmallVector<Value> NodeBuilder::inputsFrom(unsigned index) {
  SmallVector<Value> values;
  for (; index < numInputs(); ++index)
    values.push_back(in(index));
  return values;
}

Value NodeBuilder::none() { return importer.none(); }

std::optional<Tensor> NodeBuilder::constant(unsigned index) {
  return top::constantTensor(in(index));
}

std::optional<Ints> NodeBuilder::constantInts(unsigned index) {
  return top::constantInts(in(index));
}

std::optional<double> NodeBuilder::constantFloat(unsigned index) {
  std::optional<Tensor> tensor = constant(index);
  if (!tensor || tensor->numElements() != 1)
    return std::nullopt;
  return convert(*tensor, DataType::F64).data<double>()[0];
}

IntsOrTensor NodeBuilder::intsOrTensor(unsigned index) {
  if (std::optional<Ints> ints = has(index) ? constantInts(index) : std::nullopt)
    return {ints, none()};
  return {std::nullopt, in(index)};
}

std::optional<Ints> NodeBuilder::dims(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional<Ints>(Ints(type.getShape())) : std::nullopt;
}

std::optional<int64_t> NodeBuilder::rank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
}

bool NodeBuilder::isStatic(const Ints &dims) { return !ShapedType::isDynamicShape(dims); }

Type NodeBuilder::elementType(Value value) { return top::elementTypeOf(value); }

int64_t NodeBuilder::needRank(unsigned index, StringRef what) {
  std::optional<int64_t> known = rank(in(index));
  if (!known)
    fail(fmt::format("{} needs the rank of input {}, which is not known", what.str(), index),
         "a shape of known rank; --input_shapes may help");
  return known.value_or(1);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const proto::Attribute *NodeBuilder::find(StringRef name) {
  asked.push_back(name);
  auto among = [](const auto &attributes, std::string_view wanted) -> const proto::Attribute * {
    for (const proto::Attribute &attribute : attributes)
      if (attribute.name() == wanted)
        return &attribute;
    return nullptr;
  };
  const proto::Attribute *found = among(source.attribute(), name);
  // In a function, an attribute may be the one of the call, or the function's default.
  for (const CallFrame *frame = scope.frame; found && !found->ref_attr_name().empty();
       frame = frame->outer) {
    if (!frame)
      return nullptr;
    std::string wanted = found->ref_attr_name();
    found = among(frame->call->attribute(), wanted);
    if (!found)
      return among(frame->function->attribute_proto(), wanted);
  }
  return found;
}

const proto::Attribute *NodeBuilder::find(StringRef name, int64_t type, StringRef typeName) {
  const proto::Attribute *found = find(name);
  if (!found)
    return nullptr;
  int64_t actual = found->type();
  // Models of the first IR versions do not say the type.
  if (actual == AttrUndefined)
    actual = found->has_f()               ? AttrFloat
             : found->has_i()             ? AttrInt
             : found->has_s()             ? AttrString
             : found->has_t()             ? AttrTensor
             : found->has_g()             ? AttrGraph
             : found->floats_size() > 0   ? AttrFloats
             : found->ints_size() > 0     ? AttrInts
             : found->strings_size() > 0  ? AttrStrings
             : found->has_sparse_tensor() ? AttrSparse
                                          : type;
  if (actual == type)
    return found;
  fail(fmt::format("attribute '{}' has type {}", name.str(), actual),
       fmt::format("{}, which is {}", typeName.str(), type));
  return nullptr;
}

bool NodeBuilder::hasAttribute(StringRef name) { return find(name) != nullptr; }

int64_t NodeBuilder::getInt(StringRef name, int64_t otherwise) {
  const proto::Attribute *found = find(name, AttrInt, "an integer");
  return found ? found->i() : otherwise;
}

int64_t NodeBuilder::needInt(StringRef name) {
  if (!hasAttribute(name))
    fail(fmt::format("attribute '{}' is missing", name.str()));
  return getInt(name, 1);
}

double NodeBuilder::getFloat(StringRef name, double otherwise) {
  const proto::Attribute *found = find(name, AttrFloat, "a float");
  return found ? static_cast<double>(found->f()) : otherwise;
}

std::string NodeBuilder::getString(StringRef name, StringRef otherwise) {
  const proto::Attribute *found = find(name, AttrString, "a string");
  return found ? found->s() : otherwise.str();
}

std::optional<Ints> NodeBuilder::getInts(StringRef name) {
  const proto::Attribute *found = find(name, AttrInts, "integers");
  return found ? std::optional<Ints>(Ints(found->ints().begin(), found->ints().end()))
               : std::nullopt;
}

std::optional<std::vector<double>> NodeBuilder::getFloats(StringRef name) {
  const proto::Attribute *found = find(name, AttrFloats, "floats");
  if (!found)
    return std::nullopt;
  return std::vector<double>(found->floats().begin(), found->floats().end());
}

std::optional<std::vector<std::string>> NodeBuilder::getStrings(StringRef name) {
  const proto::Attribute *found = find(name, AttrStrings, "strings");
  if (!found)
    return std::nullopt;
  return std::vector<std::string>(found->strings().begin(), found->strings().end());
}

std::optional<Tensor> NodeBuilder::orFail(Expected<Tensor> tensor) {
  if (tensor)
    return *tensor;
  failWith(std::move(tensor.error()));
  return std::nullopt;
}

std::optional<Tensor> NodeBuilder::getTensor(StringRef name) {
  const proto::Attribute *found = find(name, AttrTensor, "a tensor");
  if (!found)
    return std::nullopt;
  return orFail(importer.model().read(found->t(), baseName()));
}

std::optional<Tensor> NodeBuilder::getSparseTensor(StringRef name) {
  const proto::Attribute *found = find(name, AttrSparse, "a sparse tensor");
  if (!found)
    return std::nullopt;
  return orFail(importer.model().read(found->sparse_tensor(), baseName()));
}

const proto::Graph *NodeBuilder::needGraph(StringRef name) {
  const proto::Attribute *found = find(name, AttrGraph, "a graph");
  if (!found) {
    fail(fmt::format("attribute '{}' is missing", name.str()), "a graph");
    return nullptr;
  }
  return &found->g();
}

Type NodeBuilder::getType(StringRef name, Type otherwise) {
  if (!hasAttribute(name))
    return otherwise;
  int64_t number = getInt(name, 0);
  std::optional<DataType> type = dataTypeOfOnnx(number);
  if (!type) {
    fail(fmt::format("attribute '{}' asks for elements of type {}, which are not supported",
                     name.str(), onnxTypeName(number)));
    return Float32Type::get(context());
  }
  return tpuc::elementType(context(), *type);
}

std::string NodeBuilder::getChoice(StringRef name, StringRef otherwise,
                                   ArrayRef<StringRef> choices) {
  std::string value = getString(name, otherwise);
  if (!llvm::is_contained(choices, value))
    fail(fmt::format("attribute '{}' is '{}'", name.str(), value), llvm::join(choices, ", "));
  return value;
}

void NodeBuilder::ignore(ArrayRef<StringRef> names) { llvm::append_range(asked, names); }

void NodeBuilder::checkAttributes() {
  if (failed())
    return;
  for (const proto::Attribute &attribute : source.attribute())
    if (!llvm::is_contained(asked, attribute.name()))
      return fail(fmt::format("attribute '{}' is not known for {} of opset {}", attribute.name(),
                              source.op_type(), opset()));
}

void NodeBuilder::checkArity(int minInputs, int maxInputs) {
  auto count = static_cast<int>(numInputs());
  std::string wanted = maxInputs == minInputs ? std::to_string(minInputs)
                       : maxInputs < 0        ? fmt::format("{} or more", minInputs)
                                              : fmt::format("{} to {}", minInputs, maxInputs);
  if (count < minInputs || (maxInputs >= 0 && count > maxInputs))
    return fail(fmt::format("has {} inputs", count), wanted);
  for (int index = 0; index < minInputs; ++index)
    if (!has(static_cast<unsigned>(index)))
      return fail(fmt::format("input {} is left out", index), "a tensor");
  if (numOutputs() == 0)
    fail("has no outputs", "one at least");
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

unsigned NodeBuilder::numOutputs() const { return static_cast<unsigned>(source.output_size()); }

bool NodeBuilder::wants(unsigned index) const {
  return index < numOutputs() && !source.output(static_cast<int>(index)).empty();
}

void NodeBuilder::bind(unsigned index, Value value) {
  if (wants(index))
    scope.values[source.output(static_cast<int>(index))] = value;
}

std::string NodeBuilder::baseName() const {
  for (const std::string &output : source.output())
    if (!output.empty())
      return scope.locationName(output);
  return source.name();
}

Value NodeBuilder::makeOutput(unsigned index, StringRef op, ValueRange operands,
                              const Attrs &attributes) {
  if (failed())
    return none();
  std::string name = wants(index) ? scope.locationName(source.output(static_cast<int>(index)))
                                  : importer.freeName(fmt::format("{}_{}", baseName(), index));
  OperationState state(importer.location({name}), op);
  state.addOperands(operands);
  state.addAttributes(attributes.list().getAttrs());
  state.addTypes(UnrankedTensorType::get(Float32Type::get(context())));
  SmallVector<Value> results;
  Expected<Operation *> made = importer.makeOp(scope, state, results);
  if (!made) {
    failWith(std::move(made.error()));
    return none();
  }
  bind(index, results[0]);
  return results[0];
}

Operation *NodeBuilder::makeOutputs(unsigned count, unsigned firstOptional, StringRef op,
                                    ValueRange operands, const Attrs &attributes,
                                    MutableArrayRef<std::unique_ptr<Region>> regions) {
  if (failed())
    return nullptr;
  std::vector<std::string> names;
  SmallVector<Type> types;
  for (unsigned index = 0; index < count; ++index) {
    bool wanted = wants(index);
    names.push_back(wanted ? scope.locationName(source.output(static_cast<int>(index)))
                           : importer.freeName(fmt::format("{}_{}", baseName(), index)));
    if (!wanted && index >= firstOptional)
      types.push_back(NoneType::get(context()));
    else
      types.push_back(UnrankedTensorType::get(Float32Type::get(context())));
  }
  OperationState state(importer.location(names), op);
  state.addOperands(operands);
  state.addAttributes(attributes.list().getAttrs());
  state.addTypes(types);
  for (std::unique_ptr<Region> &region : regions)
    state.addRegion(std::move(region));
  SmallVector<Value> results;
  Expected<Operation *> made = importer.makeOp(scope, state, results);
  if (!made) {
    failWith(std::move(made.error()));
    return nullptr;
  }
  for (auto [index, value] : llvm::enumerate(results))
    bind(static_cast<unsigned>(index), value);
  return *made;
}

Value NodeBuilder::makeTemp(StringRef suffix, StringRef op, ValueRange operands,
                            const Attrs &attributes) {
  if (failed())
    return none();
  std::string name = importer.freeName(baseName() + "_" + suffix.str());
  OperationState state(importer.location({name}), op);
  state.addOperands(operands);
  state.addAttributes(attributes.list().getAttrs());
  state.addTypes(UnrankedTensorType::get(Float32Type::get(context())));
  SmallVector<Value> results;
  Expected<Operation *> made = importer.makeOp(scope, state, results);
  if (!made) {
    failWith(std::move(made.error()));
    return none();
  }
  return results[0];
}

Value NodeBuilder::weight(StringRef suffix, Tensor tensor) {
  return importer.makeWeight(importer.freeName(baseName() + "_" + suffix.str()), std::move(tensor));
}

void NodeBuilder::emitConstant(Tensor tensor) {
  bind(0, importer.makeWeight(baseName(), std::move(tensor)));
}

Value NodeBuilder::intsWeight(StringRef suffix, ArrayRef<int64_t> values) {
  return weight(suffix, Tensor::of<int64_t>({static_cast<int64_t>(values.size())},
                                            std::span(values.data(), values.size())));
}

std::unique_ptr<Region> NodeBuilder::region(const proto::Graph &graph, ArrayRef<Type> arguments,
                                            SmallVectorImpl<Type> &yielded) {
  if (failed())
    return nullptr;
  Expected<std::unique_ptr<Region>> made = importer.makeRegion(scope, graph, arguments, yielded);
  if (!made) {
    failWith(std::move(made.error()));
    return nullptr;
  }
  return std::move(*made);
}

void NodeBuilder::inlineGraph(const proto::Graph &graph) {
  if (failed())
    return;
  if (Expected<void> done = importer.inlineGraph(scope, source, graph); !done)
    failWith(std::move(done.error()));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void NodeBuilder::fail(std::string found, std::string expected) {
  failWith(Error{importer.model().where() + ": " + describe(source), std::move(found),
                 std::move(expected)});
}

void NodeBuilder::failWith(Error inner) {
  if (error)
    return;
  // What the dialect says about an op does not know the file and the node.
  if (inner.where.empty())
    inner.where = importer.model().where() + ": " + describe(source);
  error = std::move(inner);
}
