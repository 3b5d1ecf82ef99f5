//===- FrontendTest.cpp - Front ends are found by their folders -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Frontend.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Driver/ModelTransform.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Support/Npz.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tpuc;
using ::testing::EndsWith;
using ::testing::HasSubstr;

namespace {

constexpr const char *kNetwork = "toy\n"
                                 "input x 1 2 n\n"
                                 "scale s x -0.5\n"
                                 "relu r s\n"
                                 "add y r x\n"
                                 "output y\n";

class FrontendTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tpuc-frontend-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name + "/";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(folder + name) << text;
    return folder + name;
  }

  /// The options that turn the network `text` into net.mlir, with input to compare on.
  ModelTransformOptions options(const std::string &text) const {
    ModelTransformOptions made;
    made.modelDef = write("net.toy", text);
    made.mlir = folder + "net.mlir";
    made.inputShapes = {{1, 2, 3}};
    made.testInput = {folder + "in.npz"};
    Expected<NpzWriter> writer = NpzWriter::create(made.testInput[0]);
    EXPECT_TRUE(writer->add("x", Tensor::of<float>({1, 2, 3}, {-1, 2, -3, 4, -5, 6})));
    EXPECT_TRUE(writer->close());
    return made;
  }

  std::string folder;
};

/// The error of a call, in one line.
template <typename T> std::string messageOf(const Expected<T> &result) {
  return result ? "no error" : result.error().message();
}

TEST_F(FrontendTest, ModelsOfEveryFolderAreTransformed) {
  Expected<ModelTransformSummary> summary = transformModel(options(kNetwork));
  ASSERT_TRUE(summary) << summary.error().message();
  // The relu is fused into the product.
  EXPECT_EQ(summary->numOps, 2);
  EXPECT_EQ(summary->reference, "the toy runtime");
  EXPECT_EQ(summary->note, "");
  ASSERT_TRUE(summary->report);
  EXPECT_EQ(summary->report->numCounting(), 2);
  EXPECT_TRUE(summary->report->passes());
  // The format has no writer: nothing but modules, weights and tensors.
  for (const std::string &file : summary->files)
    EXPECT_EQ(file.find("_opt"), std::string::npos) << file;
  Expected<NpzReader> outputs = NpzReader::open(folder + "net_top_outputs.npz");
  ASSERT_TRUE(outputs);
  Expected<Tensor> y = outputs->read("y");
  ASSERT_TRUE(y);
  EXPECT_THAT(y->data<float>(), ::testing::ElementsAre(-0.5F, 2, -1.5F, 4, -2.5F, 6));
}

TEST_F(FrontendTest, ModulesSayWhatTheyCameFrom) {
  ASSERT_TRUE(transformModel(options(kNetwork)));
  Network network;
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      readModule(*network.context, folder + "net_origin.mlir");
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_EQ((**module)->getAttrOfType<mlir::StringAttr>("module.platform").str(), "TOY");
  EXPECT_EQ((**module)->getAttrOfType<mlir::StringAttr>("module.state").str(), "TOP_F32");
  std::vector<std::string> names;
  (**module).walk([&](mlir::Operation *op) {
    if (op->getNumResults() == 1 && op->getName().getStringRef() != "top.None")
      names.push_back(layerName(op));
  });
  EXPECT_THAT(names, ::testing::ElementsAre("x", "s_factor", "s", "r", "y"));
}

TEST_F(FrontendTest, NetworksAreCutAtOutputs) {
  ModelTransformOptions cut = options(kNetwork);
  cut.outputNames = {"r"};
  Expected<ModelTransformSummary> summary = transformModel(cut);
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_EQ(summary->numOps, 1);
  cut.outputNames = {"nothing"};
  EXPECT_THAT(messageOf(transformModel(cut)), HasSubstr("output 'nothing': is not computed"));
}

TEST_F(FrontendTest, UnsupportedOpsAreListedAtOnce) {
  EXPECT_EQ(messageOf(transformModel(options("toy\n"
                                             "input x 1 2 3\n"
                                             "fft a x\n"
                                             "relu b a\n"
                                             "fft c b\n"
                                             "sort d c\n"
                                             "output d\n"))),
            folder + "net.toy: operators that are not supported: fft ('a', 'c'); sort ('d')");
}

TEST_F(FrontendTest, ErrorsNameTheFileAndTheLayer) {
  EXPECT_THAT(messageOf(transformModel(options("toy\n"
                                               "input x 1 2 3\n"
                                               "input z 5\n"
                                               "add y x z\n"
                                               "output y\n"))),
              HasSubstr("--input_shapes: has 1 entries; expected one for each of the 2 inputs"));
  ModelTransformOptions given = options("toy\n"
                                        "input x 1 2 3\n"
                                        "input z 5\n"
                                        "add y x z\n"
                                        "output y\n");
  given.inputShapes.clear();
  given.testInput.clear();
  EXPECT_THAT(messageOf(transformModel(given)), HasSubstr(folder + "net.toy: add 'y': "));
}

TEST_F(FrontendTest, FormatsAreFoundByEndingsAndContents) {
  Expected<const Frontend *> byName = frontendOfName("a/b.TOYS");
  ASSERT_TRUE(byName);
  EXPECT_EQ((*byName)->format().name, "TOY");
  Expected<const Frontend *> byContents = frontendOfContents(write("any", kNetwork));
  ASSERT_TRUE(byContents);
  EXPECT_EQ(*byContents, *byName);
  Expected<const Frontend *> other = frontendOfName("b.onnx");
  ASSERT_TRUE(other);
  EXPECT_NE(*other, *byName);
}

TEST_F(FrontendTest, FilesThatNobodyReadsAreRefusedWithWhatThereIs) {
  const std::string known = "expected " + knownFormats();
  EXPECT_THAT(known, HasSubstr("an .onnx file"));
  EXPECT_THAT(known, EndsWith(" or a .toy file"));
  EXPECT_EQ(messageOf(frontendOfName("net.foo")),
            "net.foo: the format '.foo' is not known; " + known);
  EXPECT_EQ(messageOf(frontendOfName("net.pt")),
            "net.pt: models of the format '.pt' cannot be read yet; " + known);
  const std::string path = write("any", "tomatoes");
  EXPECT_EQ(messageOf(frontendOfContents(path)), path + ": a file of another kind; " + known);
  EXPECT_THAT(messageOf(frontendOfContents(folder + "none")), HasSubstr("none: cannot be read"));
}

} // namespace
