//===- GraphImporter.cpp - From a planned model to a module ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/GraphImporter.h"
#include "tpuc/Dialect/Top/ControlOps.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/Fold.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// Constants of more elements are not computed while importing: shapes have fewer, and weights are
/// the optimizer's.
constexpr int64_t kFoldedElements = 4096;

/// Nodes after expansion; functions that call each other twice over grow beyond all bounds.
constexpr int64_t kMaxNodes = 1'000'000;

/// The errors that the dialect emits while this lives, without their location.
class ErrorCatcher {
public:
  explicit ErrorCatcher(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.empty()) {
            text = diagnostic.str();
            place = diagnostic.getLocation();
          }
          return success();
        }) {}

  std::string text;
  std::optional<Location> place;

private:
  ScopedDiagnosticHandler handler;
};

} // namespace

std::string Scope::locationName(const std::string &tensor) const {
  auto found = renamed.find(tensor);
  return found != renamed.end() ? found->second : prefix + tensor;
}

GraphImporter::GraphImporter(MLIRContext &context, const OnnxModel &model, const GraphPlan &plan,
                             const OnnxImportOptions &options)
    : builder(&context), onnxModel(model), plan(plan), options(options), threads(1) {}

//===----------------------------------------------------------------------===//
// The module and its function
//===----------------------------------------------------------------------===//

Expected<OwningOpRef<ModuleOp>> GraphImporter::run() {
  if (Expected<void> checked = checkOps(); !checked)
    return propagate(checked);
  Expected<std::vector<InputSpec>> specs = inputs();
  if (!specs)
    return propagate(specs);
  std::string name = options.moduleName;
  if (name.empty())
    name = std::filesystem::path(onnxModel.where()).stem().string();
  OwningOpRef<ModuleOp> owner = ModuleOp::create(builder.getUnknownLoc(), name);
  module = *owner;
  module->setAttr("module.name", builder.getStringAttr(name));
  module->setAttr("module.chip", builder.getStringAttr("ALL"));
  module->setAttr("module.platform", builder.getStringAttr("ONNX"));
  setPhase(module, Phase::Import);
  if (!options.weightFile.empty())
    module->setAttr("module.weight_file", builder.getStringAttr(options.weightFile));
  auto *dialect = context()->getLoadedDialect<top::TopDialect>();
  dialect->setWeights(options.weightFile, std::make_shared<top::WeightStore>());
  plan.forEachNode([&](const proto::Node &node, int64_t) {
    for (const std::string &output : node.output())
      names.insert(output);
  });
  if (Expected<void> made = makeMain(module, *specs); !made)
    return propagate(made);
  ErrorCatcher catcher(context());
  if (failed(verify(module))) {
    std::string layer;
    if (auto loc = catcher.place ? (*catcher.place)->findInstanceOf<NameLoc>() : NameLoc()) {
      std::string name = loc.getName().str();
      layer = ": tensor '" + name + "'";
      plan.forEachNode([&](const proto::Node &node, int64_t) {
        if (llvm::is_contained(node.output(), name))
          layer = ": " + describe(node);
      });
    }
    return makeError(onnxModel.where() + layer, catcher.text);
  }
  return owner;
}

Expected<void> GraphImporter::checkOps() const {
  // By operator, all of them, so that nobody has to find one after the other.
  std::map<std::string, std::vector<std::string>> missing;
  plan.forEachNode([&](const proto::Node &node, int64_t opset) {
    if (plan.functionOf(node))
      return;
    std::string name = node.op_type();
    if (!normalDomain(node.domain()).empty())
      name = node.domain() + "." + name;
    else if (findRow(node.op_type(), opset))
      return;
    else if (findRow(node.op_type(), kNewestOpset))
      name = fmt::format("{} of opset {}", name, opset);
    missing[name].push_back(describe(node));
  });
  if (missing.empty())
    return {};
  std::vector<std::string> lines;
  for (auto &[name, nodes] : missing) {
    size_t count = nodes.size();
    if (count > 5)
      nodes.resize(5);
    lines.push_back(fmt::format("{} ({}{})", name, fmt::join(nodes, ", "),
                                count > 5 ? fmt::format(" and {} more", count - 5) : ""));
  }
  return makeError(onnxModel.where(),
                   fmt::format("operators that are not supported: {}", fmt::join(lines, "; ")));
}

Expected<std::vector<GraphImporter::InputSpec>> GraphImporter::inputs() const {
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
      inputNames.push_back("'" + info.name() + "'");
    }
  auto checkCount = [&](const char *option, size_t count) -> Expected<void> {
    if (count == 0 || count == infos.size())
      return {};
    return makeError(
        option, fmt::format("has {} entries", count),
        fmt::format("one for each of the {} inputs {}", infos.size(), fmt::join(inputNames, ", ")));
  };
  if (Expected<void> right = checkCount("--input_shapes", options.inputShapes.size()); !right)
    return propagate(right);
  if (Expected<void> right = checkCount("--input_types", options.inputTypes.size()); !right)
    return propagate(right);
  std::vector<InputSpec> specs;
  std::map<std::string, std::pair<int64_t, std::string>> bound;
  for (size_t index = 0; index < infos.size(); ++index) {
    Expected<InputSpec> spec = inputSpec(*infos[index], index);
    if (!spec)
      return propagate(spec);
    // One symbol is one number.
    const proto::TensorShape &shape = infos[index]->type().tensor_type().shape();
    for (int axis = 0; !options.inputShapes.empty() && axis < shape.dim_size(); ++axis) {
      const std::string &symbol = shape.dim(axis).dim_param();
      // '?' is what some exporters call every dimension that they do not know.
      if (symbol.empty() || symbol == "?")
        continue;
      int64_t extent = (*spec->dims)[static_cast<size_t>(axis)];
      auto [place, isNew] = bound.emplace(symbol, std::pair(extent, spec->name));
      if (!isNew && place->second.first != extent)
        return makeError("--input_shapes",
                         fmt::format("makes dimension '{}' {} in input '{}' and {} in input '{}'",
                                     symbol, place->second.first, place->second.second, extent,
                                     spec->name),
                         "one number");
    }
    // A network that was cut may not need all of them any more.
    if (options.outputNames.empty() || plan.isUsed(spec->name))
      specs.push_back(std::move(*spec));
  }
  return specs;
}

Expected<GraphImporter::InputSpec> GraphImporter::inputSpec(const proto::ValueInfo &info,
                                                            size_t index) const {
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
  std::optional<DataType> declared = dataTypeOfOnnx(number);
  if (!declared)
    return makeError(place,
                     "has elements of type " + onnxTypeName(number) + ", which are not supported");
  InputSpec spec{info.name(), *declared, *declared, std::nullopt};
  if (!options.inputTypes.empty()) {
    std::string name = options.inputTypes[index];
    for (auto [prefix, letter] : {std::pair("float", "f"), std::pair("bfloat", "bf"),
                                  std::pair("uint", "u"), std::pair("int", "i")})
      if (name.starts_with(prefix) && !name.starts_with("float8")) {
        name = letter + name.substr(std::string_view(prefix).size());
        break;
      }
    std::optional<DataType> given = parseDataType(name);
    if (!given)
      return makeError("--input_types",
                       fmt::format("'{}' is no element type", options.inputTypes[index]),
                       "float32, float16, int64, int32, uint8, bool, ...");
    spec.given = *given;
  }
  if (type.tensor_type().has_shape()) {
    spec.dims.emplace();
    for (const proto::TensorShape::Dimension &dim : type.tensor_type().shape().dim()) {
      // Some exporters write -1 for a dimension that is not known.
      if (dim.has_dim_value() && dim.dim_value() < -1)
        return makeError(place, fmt::format("has dimension {}", dim.dim_value()),
                         "a number of 0 or more, -1 for an unknown one, or a name");
      bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
      spec.dims->push_back(isKnown ? dim.dim_value() : ShapedType::kDynamic);
    }
  }
  if (!options.inputShapes.empty()) {
    const std::vector<int64_t> &shape = options.inputShapes[index];
    if (spec.dims && spec.dims->size() != shape.size())
      return makeError("--input_shapes",
                       fmt::format("gives input '{}' {} dimensions", info.name(), shape.size()),
                       fmt::format("{} as in {}", spec.dims->size(), onnxModel.where()));
    for (int64_t extent : shape)
      if (extent < 0)
        return makeError("--input_shapes",
                         fmt::format("gives input '{}' dimension {}", info.name(), extent),
                         "0 or more");
    spec.dims = Ints(shape.begin(), shape.end());
  }
  // Dynamic extents count 1 here: what is known must be addressable.
  if (spec.dims) {
    std::vector<int64_t> known(spec.dims->begin(), spec.dims->end());
    std::ranges::replace(known, ShapedType::kDynamic, int64_t(1));
    Expected<int64_t> count = checkedNumElements(known, spec.declared, place);
    if (!count)
      return propagate(count);
  }
  return spec;
}

Expected<void> GraphImporter::makeMain(ModuleOp target, const std::vector<InputSpec> &specs) {
  SmallVector<Type> argumentTypes;
  SmallVector<Location> argumentLocs;
  for (const InputSpec &spec : specs) {
    Type element = tpuc::elementType(context(), spec.given);
    argumentTypes.push_back(spec.dims ? Type(RankedTensorType::get(*spec.dims, element))
                                      : Type(UnrankedTensorType::get(element)));
    argumentLocs.push_back(location({spec.name}));
  }
  builder.setInsertionPointToStart(target.getBody());
  auto function = builder.create<func::FuncOp>(builder.getUnknownLoc(), "main",
                                               builder.getFunctionType(argumentTypes, {}));
  mainBlock = builder.createBlock(&function.getBody(), {}, argumentTypes, argumentLocs);
  noneValue = builder.create<top::NoneOp>(builder.getUnknownLoc(), builder.getNoneType());
  Scope scope;
  scope.opset = onnxModel.opset();
  scope.block = mainBlock;
  addWeights(scope, onnxModel.message().graph());
  for (auto [index, spec] : llvm::enumerate(specs)) {
    names.insert(spec.name);
    OperationState state(argumentLocs[index], top::InputOp::getOperationName());
    state.addOperands(mainBlock->getArgument(static_cast<unsigned>(index)));
    state.addTypes(argumentTypes[index]);
    Value value = builder.create(state)->getResult(0);
    if (spec.given != spec.declared) {
      OperationState cast(location({freeName(spec.name + "_cast")}),
                          top::CastOp::getOperationName());
      cast.addOperands(value);
      cast.addAttribute("to", TypeAttr::get(tpuc::elementType(context(), spec.declared)));
      cast.addTypes(UnrankedTensorType::get(builder.getF32Type()));
      SmallVector<Value> results;
      Expected<Operation *> made = makeOp(scope, cast, results);
      if (!made)
        return propagate(made);
      value = results[0];
    }
    scope.values[spec.name] = value;
  }
  if (Expected<void> done = convert(scope, plan.nodes(onnxModel.message().graph())); !done)
    return done;
  SmallVector<Value> results;
  SmallVector<Type> types;
  for (const std::string &name : plan.outputs()) {
    Expected<Value> value = lookup(scope, name);
    if (!value)
      return propagate(value);
    if (!*value || isa<NoneType>(value->getType()))
      return makeError(onnxModel.where() + ": output '" + name + "'", "is not computed");
    results.push_back(*value);
    types.push_back(value->getType());
  }
  builder.setInsertionPointToEnd(mainBlock);
  builder.create<func::ReturnOp>(builder.getUnknownLoc(), results);
  function.setFunctionType(builder.getFunctionType(argumentTypes, types));
  eraseUnusedWeights();
  return {};
}

/// Constants that became attributes, or that only ops used which were computed at once.
void GraphImporter::eraseUnusedWeights() {
  for (Operation &op : llvm::make_early_inc_range(*mainBlock))
    if (isa<top::WeightOp, top::NoneOp>(op) && op.use_empty())
      op.erase();
}

void GraphImporter::addWeights(Scope &scope, const proto::Graph &graph) {
  for (const proto::Tensor &tensor : graph.initializer()) {
    scope.weights[tensor.name()] = &tensor;
    names.insert(tensor.name());
  }
  for (const proto::SparseTensor &tensor : graph.sparse_initializer()) {
    scope.sparseWeights[tensor.values().name()] = &tensor;
    names.insert(tensor.values().name());
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
  const OpRow *row = findRow(node.op_type(), scope.opset);
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
    Value value = makeWeight(at->prefix + name, std::move(*tensor));
    weightOf[key] = value;
    return value;
  }
  return makeError(onnxModel.where() + ": tensor '" + name + "'", "is used before it is made");
}

Value GraphImporter::makeWeight(const std::string &name, Tensor tensor) {
  // In the block of main, where graphs that are used again see it too.
  builder.setInsertionPointToEnd(mainBlock);
  return top::WeightOp::create(builder, module, name, std::move(tensor)).getOutput();
}

Location GraphImporter::location(ArrayRef<std::string> parts) {
  SmallVector<Location> locations;
  for (const std::string &part : parts)
    locations.push_back(NameLoc::get(builder.getStringAttr(part)));
  return locations.size() == 1 ? locations[0] : FusedLoc::get(context(), locations);
}

std::string GraphImporter::freeName(const std::string &wanted) {
  std::string name = wanted;
  for (int number = 1; !names.insert(name).second; ++number)
    name = fmt::format("{}_{}", wanted, number);
  return name;
}

Expected<Operation *> GraphImporter::makeOp(Scope &scope, OperationState &state,
                                            SmallVectorImpl<Value> &results) {
  builder.setInsertionPointToEnd(scope.block);
  ErrorCatcher catcher(context());
  Operation *op = builder.create(state);
  auto inference = dyn_cast<top::InferShapeInterface>(op);
  if (inference && failed(inference.inferShape())) {
    op->erase();
    return makeError("", catcher.text);
  }
  if (fold(op, results)) {
    op->erase();
    return static_cast<Operation *>(nullptr);
  }
  llvm::append_range(results, op->getResults());
  return op;
}

bool GraphImporter::fold(Operation *op, SmallVectorImpl<Value> &results) {
  std::optional<SmallVector<Tensor>> tensors =
      foldConstant(op, {.maxElements = kFoldedElements}, threads);
  if (!tensors)
    return false;
  SmallVector<std::string> parts = tensorNames(op);
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    results.push_back(top::isPresent(result) ? makeWeight(parts[index], (*tensors)[index])
                                             : noneValue);
  return true;
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
      OperationState state(location({outer.locationName(node.output(index))}),
                           top::CopyOp::getOperationName());
      state.addOperands(*value);
      state.addTypes(UnrankedTensorType::get(builder.getF32Type()));
      SmallVector<Value> results;
      if (Expected<Operation *> made = makeOp(outer, state, results); !made)
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
    scope.values[name] = block->addArgument(type, location({scope.prefix + name}));
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
  builder.setInsertionPointToEnd(block);
  builder.create<top::YieldOp>(builder.getUnknownLoc(), results);
  return region;
}
