//===- GraphPlan.cpp - Which nodes of a model count, in which order -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/GraphPlan.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Support/Suggest.h"

#include <algorithm>
#include <fmt/format.h>
#include <queue>

using namespace tpuc;
using namespace tpuc::onnx;

/// What a graph and a function have in common.
struct GraphPlan::Body {
  const void *key;
  /// `graph 'main'`, `function me.F`.
  std::string what;
  /// Inputs and initializers.
  Names given;
  const google::protobuf::RepeatedPtrField<proto::Node> *nodes;
  std::vector<std::string> outputs;
  bool isMain = false;
  /// The node that makes a tensor.
  std::unordered_map<std::string, int> maker;
  /// Tensors of the body that each node uses, in graphs inside it too.
  std::vector<std::vector<std::string>> uses;
};

namespace {

constexpr size_t kMaxCallDepth = 100;

/// The names that `graph` takes from outside, and those that it may.
void freeNames(const proto::Graph &graph, std::set<std::string> &names);

void usesOf(const proto::Node &node, std::set<std::string> &names) {
  for (const std::string &input : node.input())
    if (!input.empty())
      names.insert(input);
  for (const proto::Attribute &attribute : node.attribute()) {
    if (attribute.has_g())
      freeNames(attribute.g(), names);
    for (const proto::Graph &graph : attribute.graphs())
      freeNames(graph, names);
  }
}

void freeNames(const proto::Graph &graph, std::set<std::string> &names) {
  std::set<std::string> inner;
  for (const proto::Node &node : graph.node())
    usesOf(node, inner);
  for (const proto::ValueInfo &output : graph.output())
    inner.insert(output.name());
  for (const proto::ValueInfo &input : graph.input())
    inner.erase(input.name());
  for (const proto::Tensor &tensor : graph.initializer())
    inner.erase(tensor.name());
  for (const proto::SparseTensor &tensor : graph.sparse_initializer())
    inner.erase(tensor.values().name());
  for (const proto::Node &node : graph.node())
    for (const std::string &output : node.output())
      inner.erase(output);
  names.merge(inner);
}

std::string functionKey(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}\n{}\n{}", normalDomain(domain), name, overload);
}

/// `; did you mean 'relu1'?` or nothing.
std::string suggestion(const std::string &name, const std::set<std::string, std::less<>> &known) {
  std::vector<std::string_view> names(known.begin(), known.end());
  // Edit distances to very many names, or very long ones, take longer than they are worth.
  if (names.size() > 20000 || name.size() > 200)
    return "";
  std::optional<std::string_view> match = closestMatch(name, names);
  return match ? fmt::format(" (did you mean '{}'?)", *match) : "";
}

} // namespace

std::string tpuc::onnx::describe(const proto::Node &node) {
  if (!node.name().empty())
    return fmt::format("node '{}' ({})", node.name(), node.op_type());
  for (const std::string &output : node.output())
    if (!output.empty())
      return fmt::format("node of '{}' ({})", output, node.op_type());
  return fmt::format("node without a name ({})", node.op_type());
}

std::set<std::string> tpuc::onnx::usedNames(const proto::Node &node) {
  std::set<std::string> names;
  usesOf(node, names);
  return names;
}

std::string_view tpuc::onnx::normalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

const proto::Function *GraphPlan::functionOf(const proto::Node &node) const {
  auto found = functions.find(functionKey(node.domain(), node.op_type(), node.overload()));
  return found == functions.end() ? nullptr : found->second;
}

int64_t GraphPlan::opsetOf(const proto::Function &function) const {
  int64_t version = 0;
  for (const proto::OperatorSetId &import : function.opset_import())
    if (normalDomain(import.domain()).empty())
      version = std::max(version, import.version());
  return version > 0 ? version : model.opset();
}

Expected<GraphPlan> GraphPlan::make(const OnnxModel &model,
                                    const std::vector<std::string> &outputs) {
  GraphPlan plan(model);
  plan.outputNames = outputs;
  if (Expected<void> added = plan.addFunctions(); !added)
    return propagate(added);
  if (Expected<void> done = plan.planGraph(model.message().graph(), {}, true); !done)
    return propagate(done);
  return plan;
}

Expected<void> GraphPlan::addFunctions() {
  for (const proto::Function &function : model.message().functions()) {
    std::string key = functionKey(function.domain(), function.name(), function.overload());
    if (!functions.emplace(key, &function).second)
      return makeError(model.where(), fmt::format("holds function {}.{} twice", function.domain(),
                                                  function.name()));
  }
  return {};
}

Expected<void> GraphPlan::planGraph(const proto::Graph &graph,
                                    const std::vector<const Names *> &outer, bool isMain) {
  Body body{&graph, fmt::format("graph '{}'", graph.name()), {}, &graph.node(), {}, isMain, {}, {}};
  Names inputs;
  for (const proto::ValueInfo &input : graph.input()) {
    if (input.name().empty())
      return makeError(model.where(), body.what + " has an input without a name");
    if (!inputs.insert(input.name()).second)
      return makeError(model.where(),
                       fmt::format("{} has two inputs '{}'", body.what, input.name()));
  }
  auto addWeight = [&](const std::string &name) -> Expected<void> {
    if (name.empty())
      return makeError(model.where(), body.what + " has an initializer without a name");
    if (!body.given.insert(name).second)
      return makeError(model.where(), fmt::format("{} has two initializers '{}'", body.what, name));
    return {};
  };
  for (const proto::Tensor &tensor : graph.initializer())
    if (Expected<void> added = addWeight(tensor.name()); !added)
      return added;
  for (const proto::SparseTensor &tensor : graph.sparse_initializer())
    if (Expected<void> added = addWeight(tensor.values().name()); !added)
      return added;
  body.given.merge(inputs);
  for (const proto::ValueInfo &output : graph.output())
    body.outputs.push_back(output.name());
  if (isMain) {
    if (outputNames.empty()) {
      // A tensor that is named twice is one output.
      for (const std::string &name : body.outputs)
        if (std::ranges::find(outputNames, name) == outputNames.end())
          outputNames.push_back(name);
    }
    body.outputs = outputNames;
    if (body.outputs.empty())
      return makeError(model.where(), body.what + " has no outputs", "one at least");
  }
  return planBody(body, outer);
}

Expected<void> GraphPlan::planFunction(const proto::Function &function) {
  if (bodies.contains(&function))
    return {};
  std::string what = fmt::format("function {}.{}", function.domain(), function.name());
  if (std::ranges::find(callStack, &function) != callStack.end())
    return makeError(model.where(), what + " calls itself, directly or through others");
  if (int64_t opset = opsetOf(function); opset > kNewestOpset)
    return makeError(model.where(), fmt::format("{} needs opset version {}", what, opset),
                     fmt::format("1 to {}", kNewestOpset));
  if (callStack.size() >= kMaxCallDepth)
    return makeError(model.where(),
                     fmt::format("functions call each other more than {} deep", kMaxCallDepth));
  Body body{&function, what, {}, &function.node(), {}, false, {}, {}};
  for (const std::string &input : function.input())
    if (input.empty() || !body.given.insert(input).second)
      return makeError(model.where(),
                       fmt::format("{} has an input without a name, or two '{}'", what, input));
  body.outputs.assign(function.output().begin(), function.output().end());
  callStack.push_back(&function);
  Expected<void> planned = planBody(body, {});
  callStack.pop_back();
  return planned;
}

Expected<void> GraphPlan::planBody(const Body &given, std::vector<const Names *> outer) {
  Body body = given;
  Names defined = body.given;
  for (int index = 0; index < body.nodes->size(); ++index)
    for (const std::string &output : body.nodes->at(index).output()) {
      if (output.empty())
        continue;
      if (!defined.insert(output).second)
        return makeError(model.where(),
                         fmt::format("{}: output '{}' is made elsewhere too",
                                     describe(body.nodes->at(index)), output),
                         "each tensor's name once");
      body.maker.emplace(output, index);
    }
  outer.push_back(&defined);
  auto isKnown = [&](const std::string &name) {
    return std::ranges::any_of(outer, [&](const Names *names) { return names->contains(name); });
  };
  for (const proto::Node &node : *body.nodes) {
    std::set<std::string> uses = usedNames(node);
    body.uses.emplace_back(uses.begin(), uses.end());
  }
  for (const std::string &output : body.outputs)
    if (!isKnown(output))
      return makeError(model.where(), fmt::format("output '{}' of {} is no tensor of it{}", output,
                                                  body.what, suggestion(output, defined)));
  Expected<Nodes> sorted = sort(body);
  if (!sorted)
    return propagate(sorted);
  if (body.isMain)
    used.insert(body.outputs.begin(), body.outputs.end());
  for (const proto::Node *node : *sorted) {
    std::set<std::string> uses = usedNames(*node);
    for (const std::string &name : uses)
      if (!isKnown(name))
        return makeError(model.where() + ": " + describe(*node),
                         fmt::format("input '{}' is made by no node and is no input or "
                                     "initializer{}",
                                     name, suggestion(name, defined)));
    if (body.isMain)
      used.merge(Names(uses.begin(), uses.end()));
    if (Expected<void> planned = planInner(*node, outer); !planned)
      return planned;
  }
  bodies[body.key] = std::move(*sorted);
  return {};
}

Expected<void> GraphPlan::planInner(const proto::Node &node,
                                    const std::vector<const Names *> &outer) {
  if (const proto::Function *function = functionOf(node))
    return planFunction(*function);
  for (const proto::Attribute &attribute : node.attribute()) {
    if (attribute.has_g())
      if (Expected<void> planned = planGraph(attribute.g(), outer, false); !planned)
        return planned;
    for (const proto::Graph &graph : attribute.graphs())
      if (Expected<void> planned = planGraph(graph, outer, false); !planned)
        return planned;
  }
  return {};
}

Expected<GraphPlan::Nodes> GraphPlan::sort(const Body &body) const {
  // Which nodes the outputs need.
  auto count = static_cast<size_t>(body.nodes->size());
  std::vector<bool> live(count, false);
  std::vector<int> stack;
  auto need = [&](const std::string &name) {
    auto made = body.maker.find(name);
    if (made == body.maker.end() || live[static_cast<size_t>(made->second)])
      return;
    live[static_cast<size_t>(made->second)] = true;
    stack.push_back(made->second);
  };
  std::ranges::for_each(body.outputs, need);
  while (!stack.empty()) {
    auto node = static_cast<size_t>(stack.back());
    stack.pop_back();
    std::ranges::for_each(body.uses[node], need);
  }
  // Kahn's algorithm, of the nodes that could come next always the one that stands first.
  std::vector<std::vector<int>> users(count);
  std::vector<int> waitsFor(count, 0);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  int left = 0;
  for (size_t node = 0; node < count; ++node) {
    if (!live[node])
      continue;
    ++left;
    for (const std::string &name : body.uses[node])
      if (auto made = body.maker.find(name); made != body.maker.end()) {
        users[static_cast<size_t>(made->second)].push_back(static_cast<int>(node));
        ++waitsFor[node];
      }
    if (waitsFor[node] == 0)
      ready.push(static_cast<int>(node));
  }
  Nodes sorted;
  for (; !ready.empty(); --left) {
    auto node = static_cast<size_t>(ready.top());
    ready.pop();
    sorted.push_back(&body.nodes->at(static_cast<int>(node)));
    for (int user : users[node])
      if (--waitsFor[static_cast<size_t>(user)] == 0)
        ready.push(user);
  }
  if (left > 0)
    return cycle(body, waitsFor);
  return sorted;
}

tl::unexpected<Error> GraphPlan::cycle(const Body &body, const std::vector<int> &waitsFor) const {
  // Every node that still waits, waits for another such node: going back must close a circle.
  auto start = std::ranges::find_if(waitsFor, [](int count) { return count > 0; });
  int node = static_cast<int>(start - waitsFor.begin());
  std::vector<std::pair<int, std::string>> path;
  for (;;) {
    auto seen = std::ranges::find(path, node, &std::pair<int, std::string>::first);
    if (seen != path.end()) {
      std::vector<std::string> names;
      for (auto step = path.end(); step != seen;)
        names.push_back("'" + (--step)->second + "'");
      if (names.size() > 12)
        names.resize(12, "...");
      return makeError(model.where(), fmt::format("{} is cyclic: {} need each other", body.what,
                                                  fmt::join(names, ", ")));
    }
    for (const std::string &name : body.uses[static_cast<size_t>(node)]) {
      auto made = body.maker.find(name);
      if (made == body.maker.end() || waitsFor[static_cast<size_t>(made->second)] == 0)
        continue;
      path.emplace_back(node, name);
      node = made->second;
      break;
    }
  }
}

void GraphPlan::forEachNode(
    const std::function<void(const proto::Node &, int64_t opset)> &visit) const {
  std::set<const void *> seen;
  visitNodes(nodes(model.message().graph()), model.opset(), seen, visit);
}

void GraphPlan::visitNodes(const Nodes &nodesToVisit, int64_t opset, std::set<const void *> &seen,
                           const std::function<void(const proto::Node &, int64_t)> &visit) const {
  for (const proto::Node *node : nodesToVisit) {
    visit(*node, opset);
    if (const proto::Function *function = functionOf(*node)) {
      if (seen.insert(function).second)
        visitNodes(nodes(*function), opsetOf(*function), seen, visit);
      continue;
    }
    for (const proto::Attribute &attribute : node->attribute()) {
      if (attribute.has_g())
        visitNodes(nodes(attribute.g()), opset, seen, visit);
      for (const proto::Graph &graph : attribute.graphs())
        visitNodes(nodes(graph), opset, seen, visit);
    }
  }
}
