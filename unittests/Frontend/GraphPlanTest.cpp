//===- GraphPlanTest.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/GraphPlan.h"
#include "OnnxTestModel.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::onnx;
using namespace tpuc::onnx::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

/// The operators of the main graph in the order of the plan, or the error.
std::vector<std::string> planned(const proto::Model &message,
                                 const std::vector<std::string> &outputs = {}) {
  Expected<OnnxModel> model = parse(message);
  Expected<GraphPlan> plan = GraphPlan::make(*model, outputs);
  if (!plan)
    return {plan.error().message()};
  std::vector<std::string> ops;
  for (const proto::Node *node : plan->nodes(model->message().graph()))
    ops.push_back(node->op_type());
  return ops;
}

proto::Model chain() {
  proto::Model model = emptyModel();
  addInput(*model.mutable_graph(), "x");
  addOutput(*model.mutable_graph(), "y");
  return model;
}

TEST(GraphPlan, SortsAndLeavesOutWhatNothingNeeds) {
  proto::Model model = chain();
  proto::Graph &graph = *model.mutable_graph();
  addNode(graph, "Third", {"b"}, {"y"});
  addNode(graph, "Second", {"a"}, {"b"});
  addNode(graph, "First", {"x"}, {"a"});
  addNode(graph, "Unused", {"x"}, {"u"});
  EXPECT_THAT(planned(model), ElementsAre("First", "Second", "Third"));
  EXPECT_THAT(planned(model, {"b"}), ElementsAre("First", "Second"));
  EXPECT_THAT(planned(model, {"u", "a"}), ElementsAre("First", "Unused"));
  EXPECT_THAT(planned(model, {"bb"})[0], HasSubstr("did you mean 'b'"));
}

TEST(GraphPlan, NamesTheTensorsOfACycle) {
  proto::Model model = chain();
  proto::Graph &graph = *model.mutable_graph();
  addNode(graph, "Add", {"x", "b"}, {"a"});
  addNode(graph, "Relu", {"a"}, {"b"});
  addNode(graph, "Relu", {"b"}, {"y"});
  EXPECT_THAT(planned(model)[0], HasSubstr("cyclic: 'a', 'b' need each other"));
}

TEST(GraphPlan, RefusesNamesThatAreMissingOrTwice) {
  proto::Model model = chain();
  proto::Graph &graph = *model.mutable_graph();
  addNode(graph, "Relu", {"nope"}, {"y"}).set_name("r");
  EXPECT_THAT(planned(model)[0], HasSubstr("node 'r' (Relu): input 'nope' is made by no node"));
  graph.mutable_node(0)->set_input(0, "x");
  EXPECT_THAT(planned(model), ElementsAre("Relu"));
  addNode(graph, "Abs", {"x"}, {"y"});
  EXPECT_THAT(planned(model)[0], HasSubstr("output 'y' is made elsewhere too"));
  graph.mutable_node()->RemoveLast();
  addInput(graph, "x");
  EXPECT_THAT(planned(model)[0], HasSubstr("two inputs 'x'"));
  graph.mutable_input()->RemoveLast();
  addInput(graph, "");
  EXPECT_THAT(planned(model)[0], HasSubstr("input without a name"));
  graph.mutable_input()->RemoveLast();
  setFloats(*graph.add_initializer(), "x", {1});
  EXPECT_THAT(planned(model), ElementsAre("Relu"));
  setFloats(*graph.add_initializer(), "x", {1});
  EXPECT_THAT(planned(model)[0], HasSubstr("two initializers 'x'"));
  graph.clear_output();
  graph.clear_initializer();
  EXPECT_THAT(planned(model)[0], HasSubstr("has no outputs"));
}

TEST(GraphPlan, SeesWhatInnerGraphsUse) {
  proto::Model model = chain();
  proto::Graph &graph = *model.mutable_graph();
  proto::Node &branch = addNode(graph, "If", {"c"}, {"y"});
  proto::Attribute &attribute = *branch.add_attribute();
  attribute.set_name("then_branch");
  addNode(*attribute.mutable_g(), "Relu", {"outer"}, {"t"});
  addOutput(*attribute.mutable_g(), "t");
  addNode(graph, "Abs", {"x"}, {"outer"});
  addNode(graph, "Not", {"x"}, {"c"});
  EXPECT_THAT(planned(model), ElementsAre("Abs", "Not", "If"));
  attribute.mutable_g()->mutable_node(0)->set_input(0, "missing");
  EXPECT_THAT(planned(model)[0], HasSubstr("'missing'"));
}

TEST(GraphPlan, RefusesFunctionsThatCallThemselves) {
  proto::Model model = chain();
  addNode(*model.mutable_graph(), "F", {"x"}, {"y"}).set_domain("me");
  proto::Function &function = *model.add_functions();
  function.set_domain("me");
  function.set_name("F");
  function.add_input("a");
  function.add_output("b");
  addNode(function, "G", {"a"}, {"b"}).set_domain("me");
  proto::Function &other = *model.add_functions();
  other = function;
  other.set_name("G");
  other.mutable_node(0)->set_op_type("F");
  EXPECT_THAT(planned(model)[0], HasSubstr("function me.F calls itself"));
  other.mutable_node(0)->set_op_type("Abs");
  EXPECT_THAT(planned(model), ElementsAre("F"));
  *model.add_functions() = other;
  EXPECT_THAT(planned(model)[0], HasSubstr("function me.G twice"));
}

} // namespace
