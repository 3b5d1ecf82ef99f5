//===- NodeBuilder.cpp - What the converter of one node works with --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/NodeBuilder.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Frontend/Onnx/GraphImporter.h"

#include <fmt/format.h>

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

/// What the tensors of `node` are called in the module; empty where nobody wants one.
static std::vector<std::string> boundNames(const Scope &scope, const proto::Node &node) {
  std::vector<std::string> names;
  for (const std::string &output : node.output())
    names.push_back(output.empty() ? "" : scope.locationName(output));
  return names;
}

NodeBuilder::NodeBuilder(GraphImporter &importer, Scope &scope, const proto::Node &node)
    : LayerBuilder(importer.module(), scope.block, boundNames(scope, node), node.name()),
      importer(importer), scope(scope), source(node) {}

int64_t NodeBuilder::opset() const { return scope.opset; }

//===----------------------------------------------------------------------===//
// Inputs and outputs
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

void NodeBuilder::bind(unsigned index, Value value) {
  if (wants(index))
    scope.values[source.output(static_cast<int>(index))] = value;
}

std::string NodeBuilder::place() const {
  return importer.model().where() + ": " + describe(source);
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

//===----------------------------------------------------------------------===//
// Graphs inside the node
//===----------------------------------------------------------------------===//

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
