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
  /// The integers of the results follow floats, which round differently.
  bool hasFloats = false;
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

/// A table in integers.
void drawFunction(Sketch &sketch) {
  const int64_t channels = sketch.channels();
  sketch.input("x", {sketch.between(1, 2), channels, 7, sketch.between(3, 12)});
  sketch.op("r", "Sigmoid", {"x"});
}

/// Functions one after the other, of numbers above 0 where they need that.
void drawFunctions(Sketch &sketch) {
  sketch.input("x", {1, sketch.channels(), 7, sketch.between(3, 12)});
  const char *const first[] = {"SiLU",     "GELU", "Mish",  "Tanh",    "Erf",
                               "Softplus", "Elu",  "Swish", "Softsign"};
  sketch.op("f", first[sketch.between(0, 8)], {"x"});
  sketch.op("p", "Softplus", {"f"});
  sketch.op("a", "AddConst", {"p"}, "const_val = 0.3 : f64");
  const char *const second[] = {"Log", "Sqrt", "Rsqrt", "Reciprocal", "Exp"};
  sketch.op("r", second[sketch.between(0, 4)], {"a"});
}

void drawQuotient(Sketch &sketch) {
  const int64_t channels = sketch.channels();
  sketch.input("x", {1, channels, 7, 5});
  sketch.input("y", {1, channels, sketch.among({1, 7}), 1});
  sketch.op("e", "Exp", {"y"});
  sketch.op("r", "Div", {"x", "e"});
}

void drawSoftmax(Sketch &sketch) {
  sketch.input("x", {2, sketch.among({5, 40}), sketch.between(2, 12), sketch.between(2, 30)});
  sketch.op("r", "Softmax", {"x"}, fmt::format("axis = {} : i64", sketch.between(1, 3)));
}

/// Rows that fit no tile.
void drawLongSoftmax(Sketch &sketch) {
  sketch.input("x", {3, 6625});
  sketch.op("r", "Softmax", {"x"}, "axis = -1 : i64");
}

void drawLayerNorm(Sketch &sketch) {
  const int64_t width = sketch.among({7, 64, 192});
  sketch.input("x", {1, sketch.among({5, 70}), width});
  sketch.weight("w", {width});
  sketch.op("r", "LayerNorm", {"x", "w", sketch.weight("b", {width})},
            "axis = -1 : i64, eps = 1.0e-5 : f64", "f32", 2);
}

void drawOtherNorms(Sketch &sketch) {
  sketch.input("x", {1, 12, 7, sketch.between(3, 12)});
  sketch.weight("w", {12});
  sketch.weight("b", {12});
  if (sketch.between(0, 1) == 1)
    sketch.op("r", "InstanceNorm", {"x", "w", "b"});
  else
    sketch.op("r", "GroupNorm", {"x", "w", "b"}, "num_groups = 3 : i64");
}

void drawReduction(Sketch &sketch) {
  sketch.input("x", {2, sketch.among({5, 40}), sketch.between(2, 9), sketch.between(2, 20)});
  const char *const modes[] = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"};
  const char *const axes[] = {"1", "3", "2, 3"};
  // Floats, also in a network of integers.
  sketch.op("e", "Exp", {"x"});
  sketch.op("r", "Reduce", {"e", "n"},
            fmt::format("axes = [{}], mode = \"{}\", keepdims = true", axes[sketch.between(0, 2)],
                        modes[sketch.between(0, 3)]));
}

/// The largest stored integer.
void drawLargestOfRows(Sketch &sketch) {
  sketch.input("x", {2, sketch.among({5, 40}), sketch.between(2, 9), sketch.between(2, 20)});
  sketch.op("r", "Reduce", {"x", "n"},
            fmt::format("axes = [{}], mode = \"ReduceMax\", keepdims = true",
                        sketch.between(0, 1) == 1 ? "1" : "3"));
}

/// Rows of queries, keys and values.
void drawAttention(Sketch &sketch) {
  const int64_t heads = sketch.among({1, 3}), width = sketch.among({16, 40});
  sketch.input("q", {1, heads, sketch.among({5, 30}), width});
  sketch.input("k", {1, heads, 21, width});
  sketch.input("v", {1, heads, 21, width});
  sketch.opOfMany("r", "ScaleDotProductAttention", 4, {"q", "k", "v", "n", "n", "n", "n"},
                  "scale = 0.25 : f64");
}

/// Each query sees keys of its past, or of a window.
void drawHiddenKeys(Sketch &sketch) {
  sketch.input("q", {1, 2, 21, 16});
  sketch.input("k", {1, 2, 21, 16});
  sketch.input("v", {1, 2, 21, 16});
  sketch.opOfMany("r", "ScaleDotProductAttention", 4, {"q", "k", "v", "n", "n", "n", "n"},
                  sketch.between(0, 1) == 1
                      ? "is_causal = true"
                      : "is_causal = true, left_window = 4 : i64, right_window = 2 : i64");
}

/// Scores of which a constant hides some, by infinite numbers.
void drawHiddenScores(Sketch &sketch) {
  sketch.input("x", {1, 2, 9, 21});
  sketch.weight("m", {9, 21});
  for (auto &[name, mask] : sketch.weights)
    for (size_t i = 0; i < 9 * 21; ++i)
      mask.mutableData<float>()[i] = i % 21 > i / 21 + 3 ? -INFINITY : 0;
  sketch.op("a", "Add", {"x", "m"});
  sketch.op("r", "Softmax", {"a"}, "axis = -1 : i64");
}

/// A product of two tensors.
void drawComputedMatrix(Sketch &sketch) {
  const int64_t inner = sketch.among({7, 64}), columns = sketch.among({5, 64, 90});
  const bool isTurned = sketch.between(0, 1) == 1;
  sketch.input("x", {2, sketch.among({1, 9, 70}), inner});
  sketch.input("y", {2, isTurned ? columns : inner, isTurned ? inner : columns});
  sketch.op("r", "MatMul", {"x", "y", "n"}, isTurned ? "right_transpose = true" : "");
}

/// Of a constant matrix, with what it multiplies turned.
void drawTurnedProduct(Sketch &sketch) {
  sketch.input("x", {1, 40, sketch.among({1, 9, 24})});
  sketch.weight("w", {40, 30});
  sketch.op("r", "MatMul", {"x", "w", sketch.weight("b", {30})}, "left_transpose = true");
}

void drawGroups(Sketch &sketch) {
  const int64_t groups = sketch.among({2, 3, 5});
  const int64_t in = groups * sketch.among({3, 8}), out = groups * sketch.among({2, 9});
  sketch.input("x", {sketch.between(1, 2), in, 7, 6});
  sketch.weight("w", {out, in / groups, 3, 3});
  sketch.op("r", "Conv", {"x", "w", sketch.weight("b", {out})},
            fmt::format("kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = {} : i64", groups));
}

/// Something other than 0 beside the input.
void drawOutside(Sketch &sketch) {
  const int64_t channels = sketch.among({3, 40});
  sketch.input("x", {1, channels, 9, 6});
  sketch.weight("w", {channels, 1, 3, 3});
  sketch.op("a", "AddConst", {"x"}, "const_val = 0.75 : f64");
  sketch.op("r", "Conv", {"a", "w", sketch.weight("b", {channels})},
            fmt::format("kernel_shape = [3, 3], pads = [1, 1, 1, 1], pad_value = 1.5 : f64, group "
                        "= {} : i64",
                        channels));
}

void drawTransposed(Sketch &sketch) {
  const bool isDepthwise = sketch.between(0, 2) == 0;
  const int64_t in = sketch.among({3, 40}), out = isDepthwise ? 1 : sketch.among({1, 20});
  const int64_t kernel = sketch.between(2, 4), stride = sketch.between(1, 3);
  sketch.input("x", {1, in, sketch.between(2, 7), sketch.between(2, 7)});
  sketch.weight("w", {in, out, kernel, kernel});
  sketch.op("r", "Deconv", {"x", "w", sketch.weight("b", {isDepthwise ? in : out})},
            fmt::format("kernel_shape = [{0}, {0}], strides = [{1}, {1}], pads = [{2}, {2}, {2}, "
                        "{2}], output_padding = [{4}, {4}], group = {3} : i64",
                        kernel, stride, sketch.between(0, 1), isDepthwise ? in : 1,
                        sketch.between(0, stride - 1)));
}

/// Groups of several channels, which have no kernel on integers.
void drawTransposedGroups(Sketch &sketch) {
  const int64_t groups = sketch.among({2, 3});
  sketch.input("x", {1, groups * 4, sketch.between(2, 7), sketch.between(2, 7)});
  sketch.weight("w", {groups * 4, 5, 3, 3});
  conv(sketch, "c", "x", groups * 4, groups * 4, 3, 1);
  sketch.op("t", "Deconv", {"c", "w", sketch.weight("b", {groups * 5})},
            fmt::format("kernel_shape = [3, 3], strides = [2, 2], group = {} : i64", groups));
  conv(sketch, "r", "t", groups * 5, 6, 1, 1);
}

/// Sums, means and least numbers of stored integers over rows, between convolutions.
void drawReducedIntegers(Sketch &sketch) {
  const char *const modes[] = {"ReduceSum", "ReduceMean", "ReduceMin"};
  const char *const axes[] = {"1", "2", "3", "1, 2"};
  sketch.input("x", {1, 3, sketch.between(3, 9), sketch.between(3, 9)});
  conv(sketch, "c", "x", 3, 17, 3, 1);
  sketch.op("r", "Reduce", {"c", "n"},
            fmt::format("axes = [{}], mode = \"{}\", keepdims = true", axes[sketch.between(0, 3)],
                        modes[sketch.between(0, 2)]));
}

/// An input that is read in integers and in floats.
void drawInputOfTwoTypes(Sketch &sketch) {
  sketch.input("x", {1, 3, 6, sketch.between(3, 9)});
  conv(sketch, "c", "x", 3, 3, 3, 1);
  sketch.op("e", "Exp", {"x"});
  sketch.op("s", "Add", {"c", "e"});
  sketch.op("r", "Add", {"s", "x"});
}

/// Windows that do not meet, and rows behind the last one, in tiles of few rows.
void drawApart(Sketch &sketch) {
  sketch.input("x", {1, 70, 40, 40});
  sketch.weight("w", {70, 9, 2, 2});
  sketch.op("r", "Deconv", {"x", "w", sketch.weight("b", {9})},
            "kernel_shape = [2, 2], strides = [3, 3], output_padding = [2, 1]");
}

/// What constant indices name.
void drawGather(Sketch &sketch) {
  sketch.input("x", {6, 5, 20});
  sketch.integers("i", {sketch.between(0, 5)}, {1});
  sketch.op("p", "MaxConst", {"x"}, "const_val = -0.5 : f64");
  sketch.op("g", "Gather", {"p", "i"}, "axis = 0 : i64");
  sketch.integers("j", {1, 3});
  sketch.op("r", "Gather", {"g", "j"}, "axis = 1 : i64");
}

/// Sums of neighbours.
void drawResized(Sketch &sketch) {
  sketch.input("x", {1, sketch.channels(), sketch.between(2, 7), sketch.between(2, 7)});
  sketch.op("e", "Exp", {"x"});
  const char *const modes[] = {"half_pixel", "align_corners", "asymmetric"};
  sketch.op("r", "Interp", {"e", "n", "n", "n"},
            fmt::format("scales = [1.0, 1.0, {}, 2.0], mode = \"linear\", coord_mode = \"{}\"",
                        sketch.between(0, 1) == 1 ? "2.0" : "3.0", modes[sketch.between(0, 2)]));
}

void drawPadded(Sketch &sketch) {
  sketch.input("x", {2, 5, sketch.between(3, 7), sketch.between(3, 7)});
  sketch.op("m", "MaxPool", {"x"}, "kernel_shape = [1, 1]");
  sketch.op("r", "Pad", {"m", "n", "n", "n"},
            fmt::format("paddings = [0, {}, {}, 1, 1, 0, 2, {}]", sketch.between(0, 2),
                        sketch.between(-1, 3), sketch.between(0, 2)));
}

void drawBlocks(Sketch &sketch) {
  const bool isInversed = sketch.between(0, 1) == 1;
  sketch.input("x", {2, isInversed ? 3 : 12, 6, 4});
  sketch.op("m", "MaxPool", {"x"}, "kernel_shape = [1, 1]");
  sketch.op("r", "Depth2Space", {"m"},
            fmt::format("block_h = {} : i64, block_w = 2 : i64, is_CRD = {}, is_inversed = {}",
                        sketch.among({2, 3}), sketch.between(0, 1) == 1, isInversed));
}

void drawRepeated(Sketch &sketch) {
  sketch.input("x", {2, 5, sketch.between(1, 4), 1});
  sketch.op("m", "MaxPool", {"x"}, "kernel_shape = [1, 1]");
  sketch.op("e", "Expand", {"m", "n"}, "shape = [2, 5, 1, 6]");
  sketch.op("r", "Tile", {"e", "n"}, "tile = [1, 2, 1, 3]");
}

void drawCell(Sketch &sketch) {
  const int64_t steps = sketch.among({1, 6}), samples = sketch.among({1, 3});
  const int64_t inputs = sketch.among({3, 20}), units = sketch.among({8, 20});
  const int64_t kind = sketch.between(0, 2), gates = kind == 0 ? 4 : kind == 1 ? 3 : 1;
  const char *const kinds[] = {"LSTM", "GRU", "RNN"};
  const int64_t directions = sketch.among({1, 2});
  sketch.input("x", {steps, samples, inputs});
  sketch.weight("w", {directions, gates * units, inputs});
  sketch.weight("u", {directions, gates * units, units});
  sketch.weight("b", {directions, 2 * gates * units});
  std::vector<std::string> operands = {"x", "w", "u", "b", "n", "n"};
  if (kind == 0)
    operands.insert(operands.end(), {"n", "n"});
  std::string attributes = fmt::format("hidden_size = {} : i64, direction = \"{}\"", units,
                                       directions == 2             ? "bidirectional"
                                       : sketch.between(0, 1) == 1 ? "reverse"
                                                                   : "forward");
  if (kind == 1 && sketch.between(0, 1) == 1)
    attributes += ", linear_before_reset = true";
  sketch.opOfMany("r", kinds[kind], kind == 0 ? 3 : 2, operands, attributes);
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

/// Channels and columns change places, between layers whose filters could be loaded early.
void drawExchanged(Sketch &sketch) {
  const int64_t channels = sketch.among({12, 40}), width = sketch.among({30, 70});
  sketch.input("x", {1, 3, 9, width});
  conv(sketch, "c", "x", 3, channels, 3, 1);
  sketch.op("p", "Permute", {"c"}, "order = [0, 3, 2, 1]");
  conv(sketch, "r", "p", width, 16, 3, 1);
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
    {"Exchanged", drawExchanged},
    {"Conv", drawConv},
    {"Depthwise", drawDepthwise},
    {"Groups", drawGroups},
    {"Transposed", drawTransposed},
    {"Apart", drawApart},
    {"Outside", drawOutside, true},
    {"Product", drawProduct},
    {"TurnedProduct", drawTurnedProduct},
    {"ComputedMatrix", drawComputedMatrix},
    {"Attention", drawAttention, true},
    {"HiddenKeys", drawHiddenKeys, true},
    {"MaxPool", drawMaxPool},
    {"AveragePool", drawAveragePool},
    {"MeanOfPictures", drawMeanOfPictures},
    {"Reduction", drawReduction, true},
    {"LargestOfRows", drawLargestOfRows},
    {"Softmax", drawSoftmax, true},
    {"LongSoftmax", drawLongSoftmax, true},
    {"LayerNorm", drawLayerNorm, true},
    {"OtherNorms", drawOtherNorms, true},
    {"HardSwish", drawHardSwish},
    {"Function", drawFunction},
    {"Functions", drawFunctions, true},
    {"Quotient", drawQuotient, true},
    {"RepeatedPixels", drawRepeatedPixels},
    {"Resized", drawResized, true},
    {"Padded", drawPadded},
    {"Blocks", drawBlocks},
    {"Repeated", drawRepeated},
    {"Cell", drawCell, true},
    {"Sum", drawSum},
    {"Largest", drawLargest},
    {"ScaledChannels", drawScaledChannels},
    {"Concat", drawConcat},
    {"Gather", drawGather},
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
                     .isExact = mode.scheme.isQuantized() && !network.hasFloats});
    }
  }
}

std::string nameOf(const testing::TestParamInfo<std::tuple<std::string, Network>> &info) {
  return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param).name);
}

using InfiniteConstants = CompiledNetworks;

TEST_F(InfiniteConstants, HideScores) {
  for (const std::string &chip : compiledChipsWithoutF32()) {
    SCOPED_TRACE(chip);
    Sketch sketch(1);
    drawHiddenScores(sketch);
    check(sketch, {.chip = chip, .mode = {"BF16", schemes::kBF16}});
  }
}

class DeployedStored : public CompiledStored {};

/// What is no layer of `kNetworks`, as the chip does not compute all of it in integers.
constexpr Network kLoweredNetworks[] = {{"TransposedGroups", drawTransposedGroups},
                                        {"ReducedIntegers", drawReducedIntegers},
                                        {"InputOfTwoTypes", drawInputOfTwoTypes}};

/// In INT8. What the chip does not compute in integers is in floats, or on the host.
TEST_P(DeployedStored, MakeAModelFile) {
  const auto &[chip, network] = GetParam();
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Sketch sketch(seed);
    network.draw(sketch);
    deploy(sketch, {.chip = chip, .mode = kModes[3], .opt = 0, .isStrict = seed % 2 == 1});
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, DeployedStored,
                         testing::Combine(testing::ValuesIn(compiledChipsWithoutF32()),
                                          testing::ValuesIn(kNetworks)),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(Lowered, DeployedStored,
                         testing::Combine(testing::ValuesIn(compiledChipsWithoutF32()),
                                          testing::ValuesIn(kLoweredNetworks)),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(Networks, CompiledStored,
                         testing::Combine(testing::ValuesIn(compiledChipsWithoutF32()),
                                          testing::ValuesIn(kNetworks)),
                         nameOf);

} // namespace

} // namespace tpuc::codegen::stored
