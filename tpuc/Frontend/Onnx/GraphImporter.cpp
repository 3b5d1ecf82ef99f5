//===- GraphImporter.cpp - From a planned model to a module ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/GraphImporter.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/Common/UnsupportedOps.h"
#include "tpuc/Frontend/Onnx/OnnxFormat.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::frontend;
using namespace tpuc::onnx;

namespace {

/// Nodes after expansion; functions that call each other twice over grow beyond all bounds.
constexpr int64_t kMaxNodes = 1'000'000;

} // namespace

std::string Scope::locationName(const std::string &tensor) const {
  auto found = renamed.find(tensor);
  return found != renamed.end() ? found->second : prefix + tensor;
}

GraphImporter::GraphImporter(MLIRContext &context, const OnnxModel &model, const GraphPlan &plan,
                             const ImportOptions &options)
    : builder(context, model.where()), onnxModel(model), plan(plan), options(options) {}

//===----------------------------------------------------------------------===//
// The module and its function
//===----------------------------------------------------------------------===//

Expected<OwningOpRef<ModuleOp>> GraphImporter::run() {
  if (Expected<void> checked = checkOps(); !checked)
    return propagate(checked);
  Expected<std::vector<ModelInput>> bound = inputs();
  if (!bound)
    return propagate(bound);
  plan.forEachNode([&](const proto::Node &node, int64_t) {
    for (const std::string &output : node.output())
      builder.reserveName(output);
  });
  if (Expected<void> made = makeMain(*bound); !made)
    return propagate(made);
  return builder.finish([&](const std::string &tensor) {
    std::string layer;
    plan.forEachNode([&](const proto::Node &node, int64_t) {
      if (llvm::is_contained(node.output(), tensor))
        layer = describe(node);
    });
    return layer;
  });
}

Expected<void> GraphImporter::checkOps() const {
  UnsupportedOps missing;
  plan.forEachNode([&](const proto::Node &node, int64_t opset) {
    if (plan.functionOf(node))
      return;
    std::string name = node.op_type();
    if (findRow(node, opset))
      return;
    if (!normalDomain(node.domain()).empty())
      name = node.domain() + "." + name;
    else if (findRow(node, kNewestOpset))
      name = fmt::format("{} of opset {}", name, opset);
    missing.add(name, describe(node));
  });
  return missing.check(onnxModel.where());
}

Expected<std::vector<ModelInput>> GraphImporter::inputs() const {
  const proto::Graph &graph = onnxModel.message().graph();
  std::set<std::string> constants;
  for (const proto::Tensor &tensor : graph.initializer())
    constants.insert(tensor.name());
  for (const proto::SparseTensor &tensor : graph.sparse_initializer())
    constants.insert(tensor.values().name());
  std::vector<const proto::ValueInfo *> infos;
  std::vector<std::string> inputNames;
  for (const proto::ValueInfo &info : graph.input())
    if (!constants.contains(info.name())) {
      infos.push_back(&info);
      inputNames.push_back(info.name());
    }
  InputBinder binder(onnxModel.where(), options);
  if (Expected<void> right = binder.checkCounts(inputNames); !right)
    return propagate(right);
  std::vector<ModelInput> bound;
  for (size_t index = 0; index < infos.size(); ++index) {
    Expected<DeclaredInput> declared = declaredInput(*infos[index]);
    if (!declared)
      return propagate(declared);
    Expected<ModelInput> input = binder.bind(*declared, index);
    if (!input)
      return propagate(input);
    // A network that was cut may not need all of them any more.
    if (options.outputNames.empty() || plan.isUsed(input->name))
      bound.push_back(std::move(*input));
  }
  return bound;
}

Expected<DeclaredInput> GraphImporter::declaredInput(const proto::ValueInfo &info) const {
  std::string place = fmt::format("{}: input '{}'", onnxModel.where(), info.name());
  const proto::Type &type = info.type();
  if (type.value_case() != proto::Type::kTensorType) {
    const char *kind = type.has_sequence_type()        ? "a sequence"
                       : type.has_optional_type()      ? "an optional"
                       : type.has_map_type()           ? "a map"
                       : type.has_sparse_tensor_type() ? "a sparse tensor"
                                                       : "without a type";
    return makeError(place, fmt::format("is {}", kind), "a tensor");
  }
  int64_t number = type.tensor_type().elem_type();
  std::optional<DataType> element = dataTypeOfOnnx(number);
  if (!element)
    return makeError(place,
                     "has elements of type " + onnxTypeName(number) + ", which are not supported");
  DeclaredInput input{info.name(), *element, std::nullopt, {}};
  if (!type.tensor_type().has_shape())
    return input;
  input.dims.emplace();
  for (const proto::TensorShape::Dimension &dim : type.tensor_type().shape().dim()) {
    // Some exporters write -1 for a dimension that is not known.
    if (dim.has_dim_value() && dim.dim_value() < -1)
      return makeError(place, fmt::format("has dimension {}", dim.dim_value()),
                       "a number of 0 or more, -1 for an unknown one, or a name");
    bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
    input.dims->push_back(isKnown ? dim.dim_value() : ShapedType::kDynamic);
    input.symbols.push_back(dim.dim_param());
  }
  return input;
}

Expected<void> GraphImporter::makeMain(ArrayRef<ModelInput> inputs) {
  builder.begin(options, describeFormat().name, inputs);
  Scope scope;
  scope.opset = onnxModel.opset();
  scope.block = builder.mainBlock();
  addWeights(scope, onnxModel.message().graph());
  Expected<SmallVector<Value>> values = builder.makeInputs(inputs);
  if (!values)
    return propagate(values);
  for (auto [input, value] : llvm::zip_equal(inputs, *values))
    scope.values[input.name] = value;
  if (Expected<void> done = convert(scope, plan.nodes(onnxModel.message().graph())); !done)
    return done;
  for (const std::string &name : plan.outputs()) {
    Expected<Value> value = lookup(scope, name);
    if (!value)
      return propagate(value);
    if (Expected<void> added = builder.addOutput(name, *value); !added)
      return added;
  }
  return {};
}

void GraphImporter::addWeights(Scope &scope, const proto::Graph &graph) {
  for (const proto::Tensor &tensor : graph.initializer()) {
    scope.weights[tensor.name()] = &tensor;
    builder.reserveName(tensor.name());
  }
  for (const proto::SparseTensor &tensor : graph.sparse_initializer()) {
    scope.sparseWeights[tensor.values().name()] = &tensor;
    builder.reserveName(tensor.values().name());
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Expected<void> GraphImporter::convert(Scope &scope, const GraphPlan::Nodes &nodes) {
  for (const proto::Node *node : nodes) {
    if (++nodeCount > kMaxNodes)
      return makeError(
          onnxModel.where(),
          fmt::format("has more than {} nodes once its functions are expanded", kMaxNodes));
    const proto::Function *function = plan.functionOf(*node);
    Expected<void> done = function ? expand(scope, *node, *function) : convertNode(scope, *node);
    if (!done)
      return done;
  }
  return {};
}

Expected<void> GraphImporter::convertNode(Scope &scope, const proto::Node &node) {
  const OpRow *row = findRow(node, scope.opset);
  NodeBuilder nodeBuilder(*this, scope, node);
  nodeBuilder.checkArity(row->minInputs, row->maxInputs);
  if (!nodeBuilder.failed())
    row->convert(nodeBuilder);
  nodeBuilder.checkAttributes();
  if (std::optional<Error> error = nodeBuilder.takeError())
    return tl::unexpected(std::move(*error));
  for (const std::string &output : node.output())
    if (!output.empty() && !scope.values.contains(output))
      return makeError(onnxModel.where() + ": " + describe(node),
                       fmt::format("output '{}' is not supported", output));
  return {};
}

Expected<void> GraphImporter::expand(Scope &scope, const proto::Node &node,
                                     const proto::Function &function) {
  std::string place = onnxModel.where() + ": " + describe(node);
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return makeError(
        place, fmt::format("has {} inputs and {} outputs", node.input_size(), node.output_size()),
        fmt::format("at most {} and {}, as its function", function.input_size(),
                    function.output_size()));
  CallFrame frame{&function, &node, scope.frame};
  Scope inner;
  inner.frame = &frame;
  inner.opset = plan.opsetOf(function);
  inner.block = scope.block;
  std::string call = node.name();
  for (int index = 0; call.empty() && index < node.output_size(); ++index)
    call = node.output(index);
  inner.prefix = scope.prefix + call + "/";
  for (int index = 0; index < node.output_size(); ++index)
    if (!node.output(index).empty())
      inner.renamed[function.output(index)] = scope.locationName(node.output(index));
  for (int index = 0; index < function.input_size(); ++index) {
    Value value;
    if (index < node.input_size() && !node.input(index).empty()) {
      Expected<Value> found = lookup(scope, node.input(index));
      if (!found)
        return propagate(found);
      value = *found;
    }
    inner.values[function.input(index)] = value;
  }
  if (Expected<void> done = convert(inner, plan.nodes(function)); !done)
    return done;
  for (int index = 0; index < node.output_size(); ++index) {
    if (node.output(index).empty())
      continue;
    Expected<Value> value = lookup(inner, function.output(index));
    if (!value)
      return propagate(value);
    scope.values[node.output(index)] = *value;
  }
  return {};
}

Expected<Value> GraphImporter::lookup(Scope &scope, const std::string &name) {
  for (Scope *at = &scope; at; at = at->outer) {
    if (auto found = at->values.find(name); found != at->values.end())
      return found->second;
    const void *key = nullptr;
    Expected<Tensor> tensor = Tensor();
    if (auto weight = at->weights.find(name); weight != at->weights.end()) {
      key = weight->second;
      if (Value known = weightOf.lookup(key))
        return known;
      tensor = onnxModel.read(*weight->second, name);
    } else if (auto sparse = at->sparseWeights.find(name); sparse != at->sparseWeights.end()) {
      key = sparse->second;
      if (Value known = weightOf.lookup(key))
        return known;
      tensor = onnxModel.read(*sparse->second, name);
    }
    if (!key)
      continue;
    if (!tensor)
      return propagate(tensor);
    Value value = builder.makeWeight(at->prefix + name, std::move(*tensor));
    weightOf[key] = value;
    return value;
  }
  return makeError(onnxModel.where() + ": tensor '" + name + "'", "is used before it is made");
}

Expected<void> GraphImporter::inlineGraph(Scope &outer, const proto::Node &node,
                                          const proto::Graph &graph) {
  Scope scope;
  scope.outer = &outer;
  scope.frame = outer.frame;
  scope.opset = outer.opset;
  scope.prefix = outer.prefix;
  scope.block = outer.block;
  addWeights(scope, graph);
  for (int index = 0; index < node.output_size(); ++index)
    if (!node.output(index).empty())
      scope.renamed[graph.output(index).name()] = outer.locationName(node.output(index));
  if (Expected<void> done = convert(scope, plan.nodes(graph)); !done)
    return done;
  for (int index = 0; index < node.output_size(); ++index) {
    if (node.output(index).empty())
      continue;
    const std::string &name = graph.output(index).name();
    Expected<Value> value = lookup(scope, name);
    if (!value)
      return propagate(value);
    if (!scope.values.contains(name)) {
      // A value from outside, or an initializer, under another name.
      OperationState state(builder.location({outer.locationName(node.output(index))}),
                           top::CopyOp::getOperationName());
      state.addOperands(*value);
      state.addTypes(UnrankedTensorType::get(Float32Type::get(builder.context())));
      SmallVector<Value> results;
      if (Expected<Operation *> made = builder.makeOp(outer.block, state, results); !made)
        return propagate(made);
      value = results[0];
    }
    outer.values[node.output(index)] = *value;
  }
  return {};
}

Expected<std::unique_ptr<Region>> GraphImporter::makeRegion(Scope &outer, const proto::Graph &graph,
                                                            ArrayRef<Type> arguments,
                                                            SmallVectorImpl<Type> &yielded) {
  auto region = std::make_unique<Region>();
  auto *block = new Block();
  region->push_back(block);
  Scope scope;
  scope.outer = &outer;
  scope.frame = outer.frame;
  scope.opset = outer.opset;
  scope.prefix = outer.prefix;
  scope.block = block;
  addWeights(scope, graph);
  for (auto [index, type] : llvm::enumerate(arguments)) {
    const std::string &name = graph.input(static_cast<int>(index)).name();
    scope.values[name] = block->addArgument(type, builder.location({scope.prefix + name}));
  }
  if (Expected<void> done = convert(scope, plan.nodes(graph)); !done)
    return propagate(done);
  SmallVector<Value> results;
  yielded.clear();
  for (const proto::ValueInfo &output : graph.output()) {
    Expected<Value> value = lookup(scope, output.name());
    if (!value)
      return propagate(value);
    if (!*value || !top::isPresent(*value))
      return makeError(onnxModel.where() + ": output '" + output.name() + "'", "is not computed");
    results.push_back(*value);
    yielded.push_back(value->getType());
  }
  builder.makeYield(block, results);
  return region;
}
