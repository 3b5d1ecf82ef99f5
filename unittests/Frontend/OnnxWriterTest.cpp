//===- OnnxWriterTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/OnnxWriter.h"
#include "OnnxTestModel.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::onnx;
using namespace tpuc::onnx::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

using OnnxWriterTest = InFolder;

proto::Model network() {
  proto::Model model = emptyModel();
  proto::Graph &graph = *model.mutable_graph();
  addInput(graph, "x");
  addInput(graph, "z");
  addOutput(graph, "y");
  setFloats(*graph.add_initializer(), "w", {1, 2});
  setFloats(*graph.add_initializer(), "unused", {7});
  proto::Attribute &value = *addNode(graph, "Constant", {}, {"k"}).add_attribute();
  value.set_name("value");
  value.set_type(4);
  setFloats(*value.mutable_t(), "", {3, 4});
  addNode(graph, "Neg", {"w"}, {"n"});
  addNode(graph, "Add", {"x", "n"}, {"a"});
  addNode(graph, "Mul", {"a", "k"}, {"b"});
  addNode(graph, "Sub", {"b", "z"}, {"y"});
  return model;
}

std::vector<std::string> ops(const OnnxModel &model) {
  std::vector<std::string> names;
  for (const proto::Node &node : model.message().graph().node())
    names.push_back(node.op_type());
  return names;
}

TEST_F(OnnxWriterTest, CutsFoldsAndKeepsTheWeights) {
  Expected<OnnxModel> model = parse(network());
  ASSERT_TRUE(model);
  std::string path = (folder / "out.onnx").string();
  auto known = [](const std::string &name) -> std::optional<Tensor> {
    if (name == "n")
      return Tensor::of<float>({2}, {-1, -2});
    return std::nullopt;
  };
  Expected<std::vector<OutputFile>> written = writeOptimizedOnnx(*model, {"b"}, path, known);
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_FALSE(std::filesystem::exists(path)) << "before it is committed";
  ASSERT_TRUE(commitAll(std::move(*written)));

  Expected<OnnxModel> made = OnnxModel::open(path);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(ops(*made), ElementsAre("Add", "Mul"));
  const proto::Graph &graph = made->message().graph();
  ASSERT_EQ(graph.input_size(), 1);
  EXPECT_EQ(graph.input(0).name(), "x");
  ASSERT_EQ(graph.output_size(), 1);
  EXPECT_EQ(graph.output(0).name(), "b");
  std::map<std::string, std::vector<float>> weights;
  for (const proto::Tensor &tensor : graph.initializer())
    weights[tensor.name()] = floatsOf(*made->read(tensor, tensor.name()));
  EXPECT_EQ(weights, (std::map<std::string, std::vector<float>>{{"k", {3, 4}}, {"n", {-1, -2}}}));

  std::ifstream text(path + ".prototxt");
  std::string shown(std::istreambuf_iterator<char>(text), {});
  EXPECT_THAT(shown, HasSubstr("op_type: \"Mul\""));
  EXPECT_THAT(shown, HasSubstr("name: \"n\""));
  EXPECT_THAT(shown, Not(HasSubstr("raw_data")));
  EXPECT_THAT(shown, Not(HasSubstr("mapped")));
}

TEST_F(OnnxWriterTest, WithoutCuttingItIsTheSameNetwork) {
  Expected<OnnxModel> model = parse(network());
  std::string path = (folder / "out.onnx").string();
  Expected<std::vector<OutputFile>> written = writeOptimizedOnnx(*model, {}, path, nullptr);
  ASSERT_TRUE(written) << written.error().message();
  ASSERT_TRUE(commitAll(std::move(*written)));
  Expected<OnnxModel> made = OnnxModel::open(path);
  ASSERT_TRUE(made);
  EXPECT_THAT(ops(*made), ElementsAre("Neg", "Add", "Mul", "Sub"));
  EXPECT_EQ(made->message().graph().input_size(), 2);
  EXPECT_EQ(made->message().graph().initializer_size(), 2);
}

TEST_F(OnnxWriterTest, LeavesNothingBehindWhenAWeightIsBroken) {
  proto::Model message = network();
  message.mutable_graph()->mutable_initializer(0)->set_dims(0, 3);
  Expected<OnnxModel> model = parse(message);
  std::string path = (folder / "out.onnx").string();
  Expected<std::vector<OutputFile>> written = writeOptimizedOnnx(*model, {}, path, nullptr);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message(), HasSubstr("tensor 'w'"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
