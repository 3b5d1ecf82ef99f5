//===- GraphPlan.h - Which nodes of a model count, in which order -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_GRAPHPLAN_H
#define TPUC_FRONTEND_ONNX_GRAPHPLAN_H

#include "tpuc/Frontend/Onnx/OnnxModel.h"

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

namespace tpuc::onnx {

namespace proto {
class Function;
class Graph;
class Node;
} // namespace proto

/// `node 'conv1' (Conv)`; a node without a name is called by the first tensor that it makes.
std::string describe(const proto::Node &node);

/// "" for the standard domain under both of its names.
std::string_view normalDomain(std::string_view domain);

/// The tensors that `node` uses, those that graphs inside it take from outside included.
std::set<std::string> usedNames(const proto::Node &node);

/// The nodes that a model's outputs need, in an order in which each comes after those it uses: of
/// the graph, of the graphs inside it and of the functions that it calls.
class GraphPlan {
public:
  using Nodes = std::vector<const proto::Node *>;

  /// A plan for the tensors `outputs` of the main graph, or for the graph's own outputs if there
  /// are none. Errors: a graph without outputs; tensors without a name, or two of one name;
  /// tensors that nothing makes; cycles; functions that call themselves or are there twice.
  static Expected<GraphPlan> make(const OnnxModel &model, const std::vector<std::string> &outputs);

  /// The names of the outputs of the main graph, each once.
  const std::vector<std::string> &outputs() const { return outputNames; }
  const Nodes &nodes(const proto::Graph &graph) const { return bodies.at(&graph); }
  const Nodes &nodes(const proto::Function &function) const { return bodies.at(&function); }
  /// Whether a planned node, or an output, of the main graph uses the tensor `name`.
  bool isUsed(const std::string &name) const { return used.contains(name); }

  /// The function of the model that `node` calls; null for an operator.
  const proto::Function *functionOf(const proto::Node &node) const;
  /// The version of the standard operator set that the nodes of `function` mean.
  int64_t opsetOf(const proto::Function &function) const;

  /// Calls `visit` for every planned node, those of inner graphs and of called functions included
  /// (each function once), with the opset version that it means.
  void forEachNode(const std::function<void(const proto::Node &, int64_t opset)> &visit) const;

private:
  explicit GraphPlan(OnnxModel model) : model(std::move(model)) {}

  struct Body;
  using Names = std::set<std::string, std::less<>>;

  Expected<void> addFunctions();
  Expected<void> planFunction(const proto::Function &function);
  Expected<void> planGraph(const proto::Graph &graph, const std::vector<const Names *> &outer,
                           bool isMain);
  Expected<void> planBody(const Body &body, std::vector<const Names *> outer);
  Expected<void> planInner(const proto::Node &node, const std::vector<const Names *> &outer);
  Expected<Nodes> sort(const Body &body) const;
  tl::unexpected<Error> cycle(const Body &body, const std::vector<int> &left) const;
  void visitNodes(const Nodes &nodes, int64_t opset, std::set<const void *> &seen,
                  const std::function<void(const proto::Node &, int64_t)> &visit) const;

  OnnxModel model;
  std::vector<std::string> outputNames;
  Names used;
  std::unordered_map<const void *, Nodes> bodies;
  std::map<std::string, const proto::Function *, std::less<>> functions;
  /// Functions whose planning has begun.
  std::vector<const proto::Function *> callStack;
};

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_GRAPHPLAN_H
