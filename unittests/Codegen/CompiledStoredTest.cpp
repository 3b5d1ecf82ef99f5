//===- CompiledStoredTest.cpp - Networks on chips without F32 -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/CompiledNetworks.h"

namespace tpuc::codegen::stored {

namespace {

/// Draws a network whose result is "r".
struct Network {
  const char *name;
  void (*draw)(Sketch &);
  /// Some of it is computed by the host in BF16.
  bool needsHost = false;
};

std::string conv(Sketch &sketch, const std::string &name, const std::string &input, int64_t in,
                 int64_t out, int64_t kernel, int64_t stride) {
  sketch.weight("w" + name, {out, in, kernel, kernel});
  return sketch.op(name, "Conv", {input, "w" + name, sketch.weight("b" + name, {out})},
                   fmt::format("kernel_shape = [{0}, {0}], pads = [{1}, {1}, {1}, {1}], strides = "
                               "[{2}, {2}], do_relu = true",
                               kernel, kernel / 2, stride));
}

void drawConv(Sketch &sketch) {
  const int64_t in = sketch.among({1, 3, 40});
  sketch.input("x", {sketch.between(1, 2), in, sketch.between(5, 12), sketch.between(5, 12)});
  conv(sketch, "r", "x", in, sketch.among({1, 5, 70}), sketch.between(1, 3), sketch.between(1, 2));
}

void drawDepthwise(Sketch &sketch) {
  const int64_t channels = sketch.channels();
  const int64_t kernel = sketch.among({2, 3, 5});
  sketch.input("x", {1, channels, sketch.between(6, 12), sketch.between(6, 12)});
  sketch.weight("w", {channels, 1, kernel, kernel});
  sketch.op("r", "Conv", {"x", "w", sketch.weight("b", {channels})},
            fmt::format("kernel_shape = [{0}, {0}], pads = [{1}, {1}, {1}, {1}], strides = [{2}, "
                        "{2}], group = {3} : i64",
                        kernel, kernel / 2, sketch.between(1, 2), channels));
}

void drawProduct(Sketch &sketch) {
  const int64_t inner = sketch.among({7, 64, 100});
  const int64_t columns = sketch.among({5, 64, 90});
  sketch.input("x", {sketch.among({1, 9, 70}), inner});
  sketch.weight("w", {inner, columns});
  sketch.op("r", "MatMul", {"x", "w", sketch.weight("b", {columns})});
}

void drawMaxPool(Sketch &sketch) {
  sketch.input("x", {1, sketch.channels(), sketch.between(6, 12), sketch.between(6, 12)});
  sketch.op("r", "MaxPool", {"x"}, "kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]");
}

void drawAveragePool(Sketch &sketch) {
  const int64_t extent = sketch.between(4, 9);
  sketch.input("x", {1, sketch.channels(), extent, extent});
  sketch.op("r", "AvgPool", {"x"}, fmt::format("kernel_shape = [{0}, {0}]", extent));
}

void drawSum(Sketch &sketch) {
  const int64_t channels = sketch.channels();
  const int64_t width = sketch.between(3, 12);
  sketch.input("x", {1, channels, 7, width});
  sketch.input("y", {1, channels, 7, width});
  sketch.op("r", "Add", {"x", "y"}, sketch.between(0, 1) == 1 ? "do_relu = true" : "");
}

void drawMeanOfPictures(Sketch &sketch) {
  sketch.input("x", {1, sketch.channels(), sketch.between(4, 9), 7});
  sketch.op("r", "Reduce", {"x", "n"},
            fmt::format("axes = [2, 3], mode = \"ReduceMean\", keepdims = {}",
                        sketch.between(0, 1) == 1));
}

void drawHardSwish(Sketch &sketch) {
  sketch.input("x", {1, sketch.channels(), 7, sketch.between(3, 12)});
  sketch.op("r", sketch.between(0, 1) == 1 ? "HardSwish" : "HardSigmoid", {"x"});
}

void drawRepeatedPixels(Sketch &sketch) {
  sketch.input("x", {1, sketch.channels(), 7, sketch.between(3, 12)});
  sketch.op("r", "Upsample", {"x"},
            fmt::format("scale_h = {} : i64, scale_w = 2 : i64", sketch.between(1, 3)));
}

/// A table in integers; the host computes it in BF16.
void drawFunction(Sketch &sketch) {
  const int64_t channels = sketch.channels();
  sketch.input("x", {sketch.between(1, 2), channels, 7, sketch.between(3, 12)});
  sketch.op("r", "Sigmoid", {"x"});
}

void drawLargest(Sketch &sketch) {
  sketch.input("x", {1, 17, 7, 5});
  sketch.input("y", {1, 17, 7, 5});
  sketch.op("r", sketch.between(0, 1) == 1 ? "Max" : "Min", {"x", "y"});
}

/// Each channel times a number.
void drawScaledChannels(Sketch &sketch) {
  const int64_t channels = sketch.channels();
  sketch.input("x", {1, channels, 7, sketch.between(3, 12)});
  sketch.input("y", {1, channels, 1, 1});
  sketch.op("r", "Mul", {"x", "y"});
}

void drawConcat(Sketch &sketch) {
  sketch.input("x", {1, 5, 7, 6});
  sketch.input("y", {1, 9, 7, 6});
  sketch.op("l", "MaxPool", {"x"}, "kernel_shape = [1, 1]");
  sketch.op("c", "Concat", {"l", "y"}, "axis = 1 : i64");
  sketch.op("r", "Permute", {"c"}, "order = [0, 2, 3, 1]");
}

/// A small classifier: layers in groups, a reshape between them.
void drawClassifier(Sketch &sketch) {
  const int64_t extent = sketch.among({12, 20});
  const int64_t channels = sketch.among({8, 24});
  sketch.input("x", {1, 3, extent, extent});
  conv(sketch, "c", "x", 3, channels, 3, 1);
  sketch.op("p", "MaxPool", {"c"}, "kernel_shape = [2, 2], strides = [2, 2]");
  conv(sketch, "d", "p", channels, 40, 3, 1);
  conv(sketch, "e", "d", 40, 40, 3, 1);
  sketch.op("s", "Add", {"d", "e"}, "do_relu = true");
  sketch.op("a", "AvgPool", {"s"}, fmt::format("kernel_shape = [{0}, {0}]", extent / 2));
  sketch.op("f", "FlattenTo2D", {"a"}, "axis = 1 : i64");
  sketch.weight("w", {10, 40});
  sketch.op("r", "MatMul", {"f", "w", sketch.weight("b", {10})}, "right_transpose = true");
}

constexpr Network kNetworks[] = {
    {"Conv", drawConv},
    {"Depthwise", drawDepthwise},
    {"Product", drawProduct},
    {"MaxPool", drawMaxPool},
    {"AveragePool", drawAveragePool},
    {"MeanOfPictures", drawMeanOfPictures},
    {"HardSwish", drawHardSwish},
    {"Function", drawFunction, true},
    {"RepeatedPixels", drawRepeatedPixels},
    {"Sum", drawSum},
    {"Largest", drawLargest},
    {"ScaledChannels", drawScaledChannels},
    {"Concat", drawConcat},
    {"Classifier", drawClassifier},
};

class CompiledStored : public CompiledNetworks,
                       public testing::WithParamInterface<std::tuple<std::string, Network>> {};

TEST_P(CompiledStored, AreAsLowered) {
  const auto &[chip, network] = GetParam();
  for (const Mode &mode : kModes) {
    if (!hasScheme(**lookupTarget(chip), mode.scheme))
      continue;
    SCOPED_TRACE(mode.name);
    for (unsigned seed = 1; seed <= 3; ++seed) {
      Sketch sketch(seed);
      network.draw(sketch);
      check(sketch, {.chip = chip,
                     .mode = mode,
                     .opt = static_cast<int>(seed % 2),
                     .isExact = mode.scheme.isQuantized(),
                     .needsHost = network.needsHost && !mode.scheme.isQuantized()});
    }
  }
}

std::string nameOf(const testing::TestParamInfo<std::tuple<std::string, Network>> &info) {
  return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(Networks, CompiledStored,
                         testing::Combine(testing::ValuesIn(compiledChipsWithoutF32()),
                                          testing::ValuesIn(kNetworks)),
                         nameOf);

} // namespace

} // namespace tpuc::codegen::stored
