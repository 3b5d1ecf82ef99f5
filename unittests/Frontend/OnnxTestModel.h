//===- OnnxTestModel.h - Small ONNX models for tests -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_FRONTEND_ONNXTESTMODEL_H
#define UNITTESTS_FRONTEND_ONNXTESTMODEL_H

#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Frontend/Onnx/OnnxModel.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tpuc::onnx::testing {

inline proto::Model emptyModel(int64_t opset = 13) {
  proto::Model model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("g");
  return model;
}

template <typename Owner>
proto::Node &addNode(Owner &owner, const std::string &op,
                     std::initializer_list<const char *> inputs,
                     std::initializer_list<const char *> outputs) {
  proto::Node &node = *owner.add_node();
  node.set_op_type(op);
  for (const char *input : inputs)
    node.add_input(input);
  for (const char *output : outputs)
    node.add_output(output);
  return node;
}

inline void addInput(proto::Graph &graph, const std::string &name) {
  proto::ValueInfo &info = *graph.add_input();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(1);
}

inline void addOutput(proto::Graph &graph, const std::string &name) {
  graph.add_output()->set_name(name);
}

/// A tensor of floats as raw data.
inline void setFloats(proto::Tensor &tensor, const std::string &name,
                      std::initializer_list<float> values) {
  tensor.set_name(name);
  tensor.set_data_type(1);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  tensor.set_raw_data(values.begin(), values.size() * sizeof(float));
}

/// The model as it is read from memory, which lives as long as it does.
inline Expected<OnnxModel> parse(const proto::Model &message, const std::string &folder = "") {
  auto bytes = std::make_shared<std::string>(message.SerializeAsString());
  return OnnxModel::fromMemory(std::as_bytes(std::span(*bytes)), bytes, "m.onnx", folder);
}

inline std::vector<float> floatsOf(const Tensor &tensor) {
  auto values = tensor.data<float>();
  return {values.begin(), values.end()};
}

/// A folder of its own for each test, removed behind it.
class InFolder : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tpuc-onnx-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &bytes) const {
    std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::filesystem::path folder;
};

} // namespace tpuc::onnx::testing

#endif // UNITTESTS_FRONTEND_ONNXTESTMODEL_H
