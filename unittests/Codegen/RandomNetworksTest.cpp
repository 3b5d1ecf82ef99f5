//===- RandomNetworksTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chains of random layers with branches, compiled for null and run on its machine: the bits are
// those of the lowered network.
//
//===----------------------------------------------------------------------===//

#include "unittests/Codegen/CompiledNetworks.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// A picture that layers make, one after the other.
class Chain {
public:
  explicit Chain(Sketch &sketch)
      : sketch(sketch), channels(sketch.among({3, 8, 17})), height(sketch.between(12, 40)),
        width(sketch.between(12, 40)) {
    last = sketch.input("x", {sketch.between(1, 2), channels, height, width});
  }

  void addLayer() {
    ++number;
    switch (sketch.between(0, 9)) {
    case 0:
    case 1:
      return addConv();
    case 2:
      return addDepthwise();
    case 3:
      return addUnary();
    case 4:
      return addGate();
    case 5:
      return addPool();
    case 6:
      return addConcat();
    case 7:
      last = sketch.op(name("a"), "Add", {last, sketch.weight(name("v"), {1, channels, 1, 1})});
      return;
    case 8:
      last = sketch.op(name("t"), "Permute", {last}, "order = [0, 1, 3, 2]");
      return std::swap(height, width);
    default:
      last = sketch.op(name("p"), "PRelu", {last, sketch.weight(name("v"), {channels, 1, 1})});
    }
  }

  /// The last layer, which gives "r".
  void end() {
    ++number;
    switch (sketch.between(0, 4)) {
    case 0:
      sketch.op("r", "Sigmoid", {last});
      return;
    case 1:
      sketch.op("r", "Reduce", {last, "n"}, "axes = [2, 3], mode = \"ReduceMean\"");
      return;
    case 2:
      sketch.op("r", "Softmax", {addProduct()}, "axis = 2 : i64");
      return;
    case 3:
      sketch.opOfMany(
          "r", "LayerNorm", 3,
          {addProduct(), sketch.weight(name("g"), {12}), sketch.weight(name("h"), {12})},
          "axis = -1 : i64, eps = 1.0e-3 : f64");
      return;
    default:
      sketch.op("r", "Slice", {last, "n", "n", "n", "n"},
                fmt::format("axes = [1, 2], offset = [1, 0], ends = [{}, {}], steps = [1, 2]",
                            channels, height));
    }
  }

private:
  std::string name(const char *what) const { return fmt::format("{}{}", what, number); }

  void addConv() {
    const int64_t kernel = sketch.among({1, 3});
    const int64_t stride = sketch.between(1, 2);
    const int64_t outputs = sketch.among({4, 6, 18});
    last =
        sketch.op(name("c"), "Conv",
                  {last, sketch.weight(name("w"), {outputs, channels, kernel, kernel}),
                   sketch.weight(name("b"), {outputs})},
                  fmt::format("kernel_shape = [{0}, {0}], pads = [{1}, {1}, {1}, {1}], strides = "
                              "[{2}, {2}], do_relu = {3}",
                              kernel, kernel / 2, stride, sketch.between(0, 1) == 1));
    channels = outputs;
    height = (height - 1) / stride + 1;
    width = (width - 1) / stride + 1;
  }
  void addDepthwise() {
    last = sketch.op(
        name("c"), "Conv",
        {last, sketch.weight(name("w"), {channels, 1, 3, 3}), sketch.weight(name("b"), {channels})},
        fmt::format("kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = {} : i64", channels));
  }
  void addUnary() {
    static constexpr std::array kKinds = {"Sigmoid", "Tanh", "HardSwish", "Abs", "SiLU"};
    last = sketch.op(name("u"), kKinds[static_cast<size_t>(sketch.between(0, 4))], {last});
  }
  void addGate() {
    sketch.op(name("s"), "Sigmoid", {last});
    last = sketch.op(name("m"), sketch.between(0, 1) == 1 ? "Mul" : "Add", {last, name("s")});
  }
  void addPool() {
    last = sketch.op(name("m"), sketch.between(0, 1) == 1 ? "MaxPool" : "AvgPool", {last},
                     "kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]");
  }
  void addConcat() {
    sketch.op(name("s"), "Tanh", {last});
    last = sketch.op(name("j"), "Concat", {last, name("s")}, "axis = 1 : i64");
    channels *= 2;
  }
  /// Rows of 12 numbers, one for each channel.
  std::string addProduct() {
    sketch.op(name("f"), "Reshape", {last, "n"},
              fmt::format("shape = [0, {}, {}]", channels, height * width));
    return sketch.op(name("q"), "MatMul",
                     {name("f"), sketch.weight(name("w"), {height * width, 12}),
                      sketch.weight(name("b"), {12})});
  }

  Sketch &sketch;
  int64_t channels, height, width;
  unsigned number = 0;
  std::string last;
};

class RandomNetworks : public CompiledNetworks, public testing::WithParamInterface<Mode> {};

TEST_P(RandomNetworks, RunOnNullToTheBit) {
  constexpr unsigned kNetworks = 60;
  for (unsigned seed = 1; seed <= kNetworks; ++seed) {
    SCOPED_TRACE(seed);
    Sketch sketch(seed);
    Chain chain(sketch);
    for (int64_t layers = sketch.between(2, 6); layers > 0; --layers)
      chain.addLayer();
    chain.end();
    check(sketch,
          {.chip = "null", .mode = GetParam(), .opt = static_cast<int>(seed % 3), .isExact = true});
  }
}

std::string modeOf(const testing::TestParamInfo<Mode> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Modes, RandomNetworks, testing::ValuesIn(kModes), modeOf);

} // namespace
