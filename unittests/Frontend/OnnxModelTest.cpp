//===- OnnxModelTest.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxTestModel.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::onnx;
using namespace tpuc::onnx::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

using OnnxModelTest = InFolder;

/// Reads the only initializer of a model that has `tensor` as it.
Expected<Tensor> readTensor(const proto::Tensor &tensor, const std::string &folder = "") {
  proto::Model message = emptyModel();
  *message.mutable_graph()->add_initializer() = tensor;
  Expected<OnnxModel> model = parse(message, folder);
  if (!model)
    return propagate(model);
  return model->read(model->message().graph().initializer(0), "w");
}

std::string errorOf(const Expected<Tensor> &tensor) {
  return tensor ? "no error" : tensor.error().message();
}

TEST(OnnxModel, RefusesWhatIsNoModel) {
  auto error = [](const std::string &bytes) {
    auto model = OnnxModel::fromMemory(std::as_bytes(std::span(bytes)), nullptr, "m.onnx", "");
    return model ? std::string("no error") : model.error().message();
  };
  EXPECT_EQ(error(""), "m.onnx: is empty; expected an ONNX model");
  EXPECT_THAT(error("this is a shopping list\n"), HasSubstr("not an ONNX model"));
  EXPECT_THAT(error(emptyModel(0).SerializeAsString()), HasSubstr("no version"));
  EXPECT_THAT(error(emptyModel(99).SerializeAsString()), HasSubstr("opset version 99"));
  proto::Model noGraph = emptyModel();
  noGraph.clear_graph();
  EXPECT_THAT(error(noGraph.SerializeAsString()), HasSubstr("no graph"));
}

TEST(OnnxModel, SaysWhereATruncatedFileBreaksOff) {
  proto::Model message = emptyModel();
  setFloats(*message.mutable_graph()->add_initializer(), "w", {1, 2, 3, 4});
  std::string bytes = message.SerializeAsString();
  // Whatever the length, it is an error or a smaller model, never a crash.
  for (size_t length = 0; length < bytes.size(); ++length) {
    auto part = std::as_bytes(std::span(bytes)).first(length);
    (void)OnnxModel::fromMemory(part, nullptr, "m.onnx", "");
  }
  auto cut = OnnxModel::fromMemory(std::as_bytes(std::span(bytes)).first(bytes.size() - 12),
                                   nullptr, "m.onnx", "");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message(), HasSubstr("bytes where"));
}

TEST(OnnxModel, RefusesMissingFilesAndFolders) {
  EXPECT_THAT(OnnxModel::open("/nowhere/m.onnx").error().message(), HasSubstr("/nowhere/m.onnx"));
  EXPECT_THAT(OnnxModel::open("/").error().message(), HasSubstr("directory"));
}

TEST(OnnxModel, ReadsEveryPlaceOfElements) {
  proto::Tensor raw;
  setFloats(raw, "w", {1, 2, 3});
  EXPECT_THAT(floatsOf(*readTensor(raw)), ElementsAre(1, 2, 3));

  proto::Tensor floats;
  floats.set_data_type(1);
  floats.add_dims(2);
  floats.add_float_data(0.5F);
  floats.add_float_data(-4);
  EXPECT_THAT(floatsOf(*readTensor(floats)), ElementsAre(0.5F, -4));

  proto::Tensor doubles;
  doubles.set_data_type(11);
  doubles.add_double_data(0.1);
  Expected<Tensor> scalar = readTensor(doubles);
  EXPECT_EQ(scalar->shape().rank(), 0U);
  EXPECT_EQ(scalar->data<double>()[0], 0.1);

  proto::Tensor longs;
  longs.set_data_type(7);
  longs.add_dims(1);
  longs.add_int64_data(-9007199254740993);
  EXPECT_EQ(readTensor(longs)->data<int64_t>()[0], -9007199254740993);

  proto::Tensor halves;
  halves.set_data_type(10);
  halves.add_dims(1);
  halves.add_int32_data(0x3c00);
  EXPECT_EQ(readTensor(halves)->data<uint16_t>()[0], 0x3c00);

  proto::Tensor flags;
  flags.set_data_type(9);
  flags.add_dims(3);
  flags.set_raw_data(std::string("\0\1\7", 3));
  EXPECT_THAT(readTensor(flags)->data<uint8_t>(), ElementsAre(0, 1, 1));

  proto::Tensor nibbles;
  nibbles.set_data_type(22);
  nibbles.add_dims(3);
  nibbles.set_raw_data(std::string("\x21\x0f", 2));
  EXPECT_EQ(readTensor(nibbles)->byteSize(), 2);
}

TEST(OnnxModel, RefusesElementsThatDoNotFit) {
  proto::Tensor tensor;
  setFloats(tensor, "w", {1, 2, 3});
  tensor.set_dims(0, 4);
  EXPECT_THAT(errorOf(readTensor(tensor)), HasSubstr("holds 12 bytes of data; expected 16"));
  tensor.set_dims(0, int64_t(1) << 62);
  EXPECT_NE(errorOf(readTensor(tensor)), "no error");
  tensor.set_dims(0, -3);
  EXPECT_NE(errorOf(readTensor(tensor)), "no error");
  tensor.set_dims(0, 3);
  tensor.set_data_type(8);
  EXPECT_THAT(errorOf(readTensor(tensor)), HasSubstr("STRING"));
  tensor.set_data_type(99);
  EXPECT_THAT(errorOf(readTensor(tensor)), HasSubstr("type 99"));

  // The bytes of floats are not taken for integers.
  proto::Tensor wrong;
  wrong.set_data_type(6);
  wrong.add_dims(1);
  wrong.add_float_data(1);
  EXPECT_THAT(errorOf(readTensor(wrong)), HasSubstr("field for another type"));
}

TEST(OnnxModel, DoesNotBelieveAPlaceInTheFile) {
  proto::Tensor tensor;
  tensor.set_data_type(1);
  tensor.add_dims(1 << 20);
  tensor.set_mapped_offset(0);
  tensor.set_mapped_length(4 << 20);
  tensor.set_mapped_field(9);
  EXPECT_THAT(errorOf(readTensor(tensor)), HasSubstr("holds 0 elements"));
}

TEST_F(OnnxModelTest, MapsExternalData) {
  write("weights.bin", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12));
  proto::Tensor tensor;
  tensor.set_data_type(1);
  tensor.add_dims(2);
  tensor.set_data_location(1);
  auto set = [&](const char *key, const std::string &value) {
    for (proto::StringStringEntry &entry : *tensor.mutable_external_data())
      if (entry.key() == key)
        return entry.set_value(value);
    proto::StringStringEntry &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  auto error = [&] { return errorOf(readTensor(tensor, folder.string())); };
  EXPECT_THAT(error(), HasSubstr("without a location"));
  set("location", "weights.bin");
  set("offset", "4");
  set("length", "8");
  Expected<Tensor> read = readTensor(tensor, folder.string());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(floatsOf(*read), ElementsAre(1, 2));
  EXPECT_FALSE(read->isWritable());

  set("length", "12");
  EXPECT_THAT(error(), HasSubstr("has 12 bytes; expected 12 from byte 4 on"));
  set("length", "-1");
  EXPECT_THAT(error(), HasSubstr("no number"));
  set("length", "8");
  set("location", "nothere.bin");
  EXPECT_THAT(error(), HasSubstr("nothere.bin"));
  for (const char *outside : {"../weights.bin", "/etc/passwd", "a/../../x", "."}) {
    set("location", outside);
    EXPECT_THAT(error(), HasSubstr("outside the model's folder")) << outside;
  }
  std::filesystem::create_symlink("/etc/passwd", folder / "link");
  set("location", "link");
  EXPECT_THAT(error(), HasSubstr("outside the model's folder"));
}

TEST(OnnxModel, MakesSparseTensorsDense) {
  proto::Model message = emptyModel();
  proto::SparseTensor &sparse = *message.mutable_graph()->add_sparse_initializer();
  setFloats(*sparse.mutable_values(), "s", {5, 6});
  sparse.mutable_indices()->set_data_type(7);
  sparse.mutable_indices()->add_dims(2);
  sparse.mutable_indices()->add_int64_data(1);
  sparse.mutable_indices()->add_int64_data(3);
  sparse.add_dims(2);
  sparse.add_dims(2);
  auto read = [&] {
    Expected<OnnxModel> model = parse(message);
    return model->read(model->message().graph().sparse_initializer(0), "s");
  };
  EXPECT_THAT(floatsOf(*read()), ElementsAre(0, 5, 0, 6));
  sparse.mutable_indices()->set_int64_data(1, 4);
  EXPECT_THAT(errorOf(read()), HasSubstr("outside shape [2, 2]"));
  sparse.mutable_indices()->set_dims(0, 1);
  sparse.mutable_indices()->add_dims(2);
  EXPECT_THAT(errorOf(read()), HasSubstr("int64 indices"));
}

} // namespace
