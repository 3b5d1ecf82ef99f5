//===- CompiledLayersTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small networks of random shapes, lowered, compiled and run on the chip's simulator, against the
// lowered network: integers give the same bits, floats what their precision allows.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/CompiledNetworks.h"

#include <set>

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

using Dims3 = std::array<int64_t, 3>;

/// Draws a network whose result is "r".
struct Layer {
  const char *name;
  void (*draw)(Sketch &);
  /// Whether integers become floats before the end.
  bool endsInFloats = false;
  unsigned numDraws = 3;
  /// Integers are refused.
  bool isOfFloats = false;
  /// Some of it is computed by the host.
  bool needsHost = false;
};

/// Whether `layer` is large for a chip whose lanes hold few KiB: it would be cut into hundreds of
/// tiles, which takes minutes op by op.
bool isTooLarge(const Layer &layer, const TargetInfo &target) {
  static const std::set<std::string_view> kLarge = {
      "ConvOfFewChannels",      "ConvOfLargeWindows",   "ConvOfLongSums",
      "ConvOfLongSumsInGroups", "ConvOfRowsSideBySide", "ConvOfRowsSideBySideToFloats",
      "MatMulOfLongSums",       "MatMulsOfPictures",    "PoolOfLargeWindows"};
  return target.tiles().bytes < (64 << 10) && kLarge.contains(layer.name);
}

/// Whether `layer` has ops that the chip without kernels for them leaves to the host.
bool isLeftToHost(const Layer &layer, const TargetInfo &target) {
  static const std::set<std::string_view> kOfNull = {"GRU", "GRUThatResetsTheState", "LSTM", "RNN"};
  static const std::set<std::string_view> kOfBM1684 = {"ExtremumOfLongRows"};
  return layer.needsHost || (target.name == "null" && kOfNull.contains(layer.name)) ||
         (target.name == "bm1684" && kOfBM1684.contains(layer.name));
}

/// Whether the chip without kernels of integers for `layer` refuses these, so that deployment
/// leaves it on floats.
bool isLeftOnFloats(const Layer &layer, const TargetInfo &target) {
  static const std::set<std::string_view> kOfBM1684 = {
      "AvgPoolPadded", "ConvOfPatches",   "MatMulOfTurnedLeft", "MatMulOfTurnedRight",
      "PRelu",         "PReluOfOneSlope", "ResizeLinear",       "ResizeLinearAlignedCorners",
  };
  return layer.isOfFloats || (target.name == "bm1684" && kOfBM1684.contains(layer.name));
}

/// Whether floats stand between integers, or in the end. Chips that shift sums alone have softmaxes
/// of floats.
bool endsInFloats(const Layer &layer, const TargetInfo &target) {
  const bool onlyShifts = target.requant.strategy == RequantStrategy::SharedShift;
  return layer.endsInFloats || (onlyShifts && layer.name == std::string_view("Attention"));
}

void drawConv(Sketch &sketch, int64_t group, const std::string &kind, const std::string &more) {
  const int64_t in = group * sketch.among({1, 3, 40});
  const int64_t out = group * sketch.among({1, 5, 70});
  const int64_t kernel = sketch.between(1, 3);
  const int64_t height = sketch.between(5, 12);
  sketch.input("x", {sketch.between(1, 2), in, height, sketch.between(5, 12)});
  if (kind == "Conv")
    sketch.weight("w", {out, in / group, kernel, kernel});
  else
    sketch.weight("w", {in, out / group, kernel, kernel});
  sketch.op("r", kind, {"x", "w", sketch.weight("b", {out})},
            fmt::format("kernel_shape = [{0}, {0}], pads = [{1}, 0, {1}, {1}], strides = [{2}, 1], "
                        "group = {3} : i64{4}",
                        kernel, kernel / 2, sketch.between(1, 2), group, more));
}

/// A convolution "c", what `draw` draws from it to "h", which the host computes, and another one.
void drawBetweenConvolutions(Sketch &sketch, void (*draw)(Sketch &)) {
  const int64_t channels = sketch.channels();
  sketch.input("x", {1, 3, sketch.between(5, 9), 8});
  sketch.op("c", "Conv", {"x", sketch.weight("w", {channels, 3, 3, 3}), "n"},
            "kernel_shape = [3, 3], pads = [1, 1, 1, 1]");
  draw(sketch);
  sketch.op("r", "Conv", {"h", sketch.weight("v", {5, channels, 1, 1}), "n"},
            "kernel_shape = [1, 1]");
}

void drawDepthwise(Sketch &sketch) {
  const int64_t channels = sketch.channels();
  const int64_t kernel = sketch.among({2, 3, 5});
  sketch.input("x", {1, channels, sketch.between(6, 12), sketch.between(6, 12)});
  sketch.weight("w", {channels, 1, kernel, kernel});
  sketch.op("r", "Conv", {"x", "w", sketch.weight("b", {channels})},
            fmt::format("kernel_shape = [{0}, {0}], pads = [{1}, {1}, {1}, {1}], strides = [{2}, "
                        "{2}], group = {3} : i64, do_relu = true",
                        kernel, kernel / 2, sketch.between(1, 2), channels));
}

void drawProduct(Sketch &sketch, const std::string &attributes, bool isTurned) {
  const int64_t inner = sketch.among({7, 64, 100});
  const int64_t columns = sketch.among({5, 64, 90});
  sketch.input("x", {sketch.between(1, 3), sketch.among({1, 9, 70}), inner});
  sketch.weight("w", isTurned ? Dims{columns, inner} : Dims{inner, columns});
  sketch.op("r", "MatMul", {"x", "w", sketch.weight("b", {columns})}, attributes);
}

/// Two in a row, of many rows and whole words of columns.
void drawProductsOfRows(Sketch &sketch) {
  const int64_t inner = sketch.among({12, 64, 100}), between = sketch.among({64, 92, 260});
  sketch.input("x", {sketch.between(1, 2), sketch.among({17, 70, 130}), inner});
  std::string left = "x";
  if (sketch.between(0, 1) == 1)
    left = sketch.op("p", "Relu", {"x"});
  sketch.weight("w", {inner, between});
  sketch.op("s", "MatMul", {left, "w", sketch.weight("b", {between})},
            sketch.between(0, 1) == 1 ? "do_relu = true" : "");
  const bool isTurned = sketch.between(0, 1) == 1;
  sketch.weight("v", {isTurned ? 48 : between, isTurned ? between : 48});
  sketch.op("r", "MatMul", {"s", "v", sketch.between(0, 1) == 1 ? "n" : sketch.weight("c", {48})},
            isTurned ? "right_transpose = true" : "");
}

/// Of long rows, which were pictures or have many divisors.
void drawProductOfPictures(Sketch &sketch) {
  const int64_t batch = sketch.between(1, 3), channels = sketch.among({52, 70});
  const int64_t inner = channels * 49, columns = sketch.among({5, 70});
  const bool isTurned = sketch.between(0, 1) == 1;
  sketch.input("x", {batch, channels, 7, 7});
  sketch.op("f", "FlattenTo2D", {"x"}, "axis = 1 : i64");
  sketch.weight("w", isTurned ? Dims{columns, inner} : Dims{inner, columns});
  sketch.op("s", "MatMul", {"f", "w", sketch.weight("b", {columns})},
            isTurned ? "right_transpose = true" : "");
  sketch.input("y", {batch, 2210});
  sketch.weight("v", {2210, columns});
  sketch.op("t", "MatMul", {"y", "v", "n"});
  sketch.op("r", "Add", {"s", "t"});
}

void drawTensorProduct(Sketch &sketch, bool isLeftTurned, bool isRightTurned) {
  const int64_t batch = sketch.between(1, 3);
  const int64_t rows = sketch.among({1, 9, 70});
  const int64_t inner = sketch.among({7, 64, 100});
  const int64_t columns = sketch.among({5, 64, 90});
  sketch.input("x", isLeftTurned ? Dims{batch, inner, rows} : Dims{batch, rows, inner});
  sketch.input("y", isRightTurned ? Dims{batch, columns, inner} : Dims{batch, inner, columns});
  sketch.op("r", "MatMul", {"x", "y", "n"},
            fmt::format("left_transpose = {}, right_transpose = {}", isLeftTurned, isRightTurned));
}

/// Heads are reordered rows of products, and their results become rows again.
void drawAttention(Sketch &sketch) {
  const int64_t rows = sketch.among({5, 64, 70});
  const int64_t heads = sketch.between(1, 3);
  const int64_t width = sketch.among({8, 20});
  const std::string x = sketch.input("x", {sketch.between(1, 2), rows, 24});
  const auto headsOf = [&](const std::string &name) {
    sketch.op(name + "m", "MatMul", {x, sketch.weight(name + "w", {24, heads * width}), "n"});
    sketch.op(name + "r", "Reshape", {name + "m", "n"},
              fmt::format("shape = [0, {}, {}, {}]", rows, heads, width));
    return sketch.op(name, "Permute", {name + "r"}, "order = [0, 2, 1, 3]");
  };
  const std::string query = headsOf("q");
  const std::string key = headsOf("k");
  sketch.opOfMany("a", "ScaleDotProductAttention", 4,
                  {query, key, headsOf("v"), "n", "n", "n", "n"});
  sketch.op("p", "Permute", {"a"}, "order = [0, 2, 1, 3]");
  sketch.op("j", "Reshape", {"p", "n"}, fmt::format("shape = [0, {}, {}]", rows, heads * width));
  sketch.op("r", "MatMul", {"j", sketch.weight("w", {heads * width, 24}), "n"});
}

/// Heads that are no reordered rows, and stay heads.
void drawAttentionOfHeads(Sketch &sketch) {
  const int64_t rows = sketch.among({5, 70});
  const int64_t heads = sketch.between(1, 3);
  const std::string x = sketch.input("x", {2, heads, rows, 24});
  const auto headsOf = [&](const std::string &name) {
    return sketch.op(name, "MatMul", {x, sketch.weight(name + "w", {24, 20}), "n"});
  };
  const std::string query = headsOf("q");
  const std::string key = headsOf("k");
  sketch.opOfMany("a", "ScaleDotProductAttention", 4,
                  {query, key, headsOf("v"), "n", "n", "n", "n"});
  sketch.op("r", "MatMul", {"a", sketch.weight("w", {20, 24}), "n"});
}

/// Shares of a softmax that a product on integers reads.
void drawWeighedMeans(Sketch &sketch) {
  const int64_t rows = sketch.among({5, 70});
  sketch.input("x", {2, rows, 24});
  sketch.op("s", "MatMul", {"x", sketch.weight("w", {24, 90}), "n"});
  sketch.op("p", "Softmax", {"s"}, "axis = -1 : i64");
  sketch.op("r", "MatMul", {"p", sketch.weight("v", {90, 24}), "n"});
}

/// What stands between two attentions: all of it along rows.
void drawFeedForward(Sketch &sketch) {
  const int64_t rows = sketch.among({5, 64, 70});
  sketch.input("x", {sketch.between(1, 2), rows, 24});
  sketch.opOfMany("l", "LayerNorm", 3, {"x", sketch.weight("g", {24}), sketch.weight("h", {24})},
                  "axis = -1 : i64, eps = 1.0e-3 : f64");
  sketch.op("m", "MatMul", {"l", sketch.weight("w", {24, 70}), sketch.weight("b", {70})});
  sketch.op("e", "GELU", {"m"});
  sketch.op("o", "MatMul", {"e", sketch.weight("v", {70, 24}), sketch.weight("c", {24})});
  sketch.op("r", "Add", {"x", "o"});
}

void drawUnary(Sketch &sketch, const std::string &kind, const std::string &attributes = "") {
  sketch.input("x", {sketch.between(1, 2), sketch.channels(), sketch.between(1, 9), 13});
  sketch.op("r", kind, {"x"}, attributes);
}

/// Of two tensors, the second of which may repeat.
void drawBinary(Sketch &sketch, const std::string &kind, const std::string &attributes = "") {
  const Dims dims{sketch.between(1, 2), sketch.channels(), sketch.between(1, 9), 13};
  sketch.input("x", dims);
  const int64_t which = sketch.between(0, 2);
  const Dims second = which == 0   ? dims
                      : which == 1 ? Dims{dims[0], dims[1], 1, 1}
                                   : Dims{1, 1, dims[2], 13};
  sketch.op("r", kind, {"x", sketch.input("y", second)}, attributes);
}

void drawPool(Sketch &sketch, const std::string &kind, const std::string &attributes) {
  sketch.input("x", {sketch.between(1, 2), sketch.channels(), sketch.between(6, 12), 9});
  sketch.op("s", "Neg", {"x"});
  sketch.op("r", kind, {"s"}, attributes);
}

void drawMove(Sketch &sketch, const std::string &kind, const std::vector<std::string> &more,
              const std::string &attributes) {
  sketch.input("x", {2, 4 * sketch.between(1, 20), 6, sketch.between(3, 9)});
  std::vector<std::string> operands = {sketch.op("s", "Neg", {"x"})};
  operands.insert(operands.end(), more.begin(), more.end());
  sketch.op("r", kind, operands, attributes);
}

/// A recurrent cell of any number of directions, its operands behind the bias `more`.
void drawCell(Sketch &sketch, const std::string &kind, int64_t gates,
              const std::vector<std::string> &more, const std::string &attributes) {
  const int64_t directions = sketch.between(1, 2);
  const int64_t units = sketch.among({5, 64, 70});
  const int64_t inputs = sketch.among({3, 40});
  const bool isBatchFirst = sketch.between(0, 1) == 1;
  sketch.input("x", {sketch.between(2, 4), sketch.between(2, 4), inputs});
  std::vector<std::string> operands = {"x", sketch.weight("w", {directions, gates * units, inputs}),
                                       sketch.weight("u", {directions, gates * units, units}),
                                       sketch.weight("b", {directions, 2 * gates * units}), "n"};
  operands.insert(operands.end(), more.begin(), more.end());
  for (const std::string &state : more)
    if (state != "n")
      sketch.weight(state, isBatchFirst
                               ? Dims{sketch.inputs.at("x").shape()[0], directions, units}
                               : Dims{directions, sketch.inputs.at("x").shape()[1], units});
  sketch.op("r", kind, operands,
            fmt::format("hidden_size = {} : i64, direction = \"{}\", batch_first = {}{}", units,
                        directions == 2             ? "bidirectional"
                        : sketch.between(0, 1) == 1 ? "reverse"
                                                    : "forward",
                        isBatchFirst, attributes),
            "f32", kind == "LSTM" ? 2 : 1);
}

/// One or two rows "x" too long for local memory, with parts whose means are far from each other.
/// Gives their length.
int64_t drawLongRows(Sketch &sketch) {
  const int64_t length = sketch.among({65536, 70001});
  const int64_t rows = sketch.between(1, 2);
  sketch.input("y", {rows, length / 2});
  sketch.op("z", "AddConst", {sketch.input("v", {rows, length - length / 2})},
            "const_val = 3.0 : f64");
  sketch.op("x", "Concat", {"y", "z"}, "axis = 1 : i64");
  return length;
}

const std::vector<Layer> kLayers = {
    {"Conv", [](Sketch &s) { drawConv(s, 1, "Conv", ", do_relu = true"); }},
    {"ConvRelu6", [](Sketch &s) { drawConv(s, 1, "Conv", ", do_relu = true, relu_limit = 6.0"); }},
    {"ConvGrouped", [](Sketch &s) { drawConv(s, 3, "Conv", ""); }},
    {"ConvDepthwise", drawDepthwise},
    {"ConvDepthwiseBehindNumbers",
     [](Sketch &s) {
       // In 16 bits it takes over both numbers, and stands in what is not 0.
       const int64_t channels = s.channels();
       s.input("x", {s.between(1, 2), channels, s.between(6, 12), s.between(6, 12)});
       s.op("m", "MulConst", {"x"}, "const_val = 0.7 : f64");
       s.op("a", "AddConst", {"m"}, "const_val = 0.9 : f64");
       s.op("r", "Conv", {"a", s.weight("w", {channels, 1, 3, 3}), s.weight("b", {channels})},
            fmt::format("kernel_shape = [3, 3], pads = [1, 0, 1, 2], strides = [{}, 1], "
                        "group = {} : i64",
                        s.between(1, 2), channels));
     }},
    {"ConvWithoutBias",
     [](Sketch &s) {
       s.input("x", {1, s.channels(), 7, 8});
       const int64_t inputs = s.inputs.at("x").shape()[1];
       s.op("r", "Conv", {"x", s.weight("w", {s.channels(), inputs, 1, 1}), "n"},
            "kernel_shape = [1, 1]");
     }},
    {"ConvOfManyRows",
     [](Sketch &s) {
       // Rows of a filter longer than 256 bytes, for a number of channels that fills no lanes.
       s.input("x", {1, 130, 6, 7});
       s.op("r", "Conv", {"x", s.weight("w", {100, 130, 3, 3}), s.weight("b", {100})},
            "kernel_shape = [3, 3]");
     }},
    {"ConvInParts",
     [](Sketch &s) {
       // Blocks of input channels are filled up, which makes the filter of 16 and 8 bits too large
       // for local memory: it is cut along the channels of the result.
       s.input("x", {1, 1, 12, 12});
       s.op("r", "Conv", {"x", s.weight("w", {2240, 1, 11, 11}), s.weight("b", {2240})},
            "kernel_shape = [11, 11]");
     },
     false, 1},
    {"ConvOfPatches",
     [](Sketch &s) {
       const int64_t stride = s.among({16, 20, 28});
       const int64_t kernel = stride - s.between(0, 1);
       s.input("x", {1, 3, 3 * stride, 2 * stride});
       s.op("r", "Conv", {"x", s.weight("w", {70, 3, kernel, kernel}), s.weight("b", {70})},
            fmt::format("kernel_shape = [{0}, {0}], strides = [{1}, {1}]", kernel, stride));
     }},
    {"ConvOfFewChannels",
     [](Sketch &s) {
       // Pictures so large that the rows under a window become channels: tiles of them begin above
       // the picture, end below it, or neither.
       const int64_t kernel = s.among({3, 6, 7});
       const int64_t stride = s.between(1, 2);
       s.input("x", {s.between(1, 2), 3, 150, s.among({150, 224})});
       s.op("r", "Conv", {"x", s.weight("w", {70, 3, kernel, kernel}), s.weight("b", {70})},
            fmt::format("kernel_shape = [{0}, {0}], pads = [{1}, {1}, {2}, {1}], "
                        "strides = [{3}, {3}]",
                        kernel, kernel / 2, kernel - 1, stride));
     }},
    {"ConvOfRowsSideBySide",
     [](Sketch &s) {
       // Few output channels: several rows of results are computed side by side, through what is
       // computed of each element, and stored one below the other.
       const int64_t inputs = s.among({48, 96});
       const int64_t outputs = s.among({12, 16, 24});
       const std::string height = s.among({0, 1}) == 0 ? "1, 1, 1, 1" : "2, 1, 0, 1";
       s.input("x", {s.between(1, 2), inputs, 48, s.among({80, 95})});
       s.op("c", "Conv", {"x", s.weight("w", {outputs, inputs, 3, 3}), s.weight("b", {outputs})},
            fmt::format("kernel_shape = [3, 3], pads = [{}], do_relu = true", height));
       s.op("t", "Tanh", {"c"});
       s.op("r", "Permute", {"t"}, "order = [0, 2, 3, 1]");
     },
     false, 2},
    {"ConvOfRowsSideBySideToFloats",
     [](Sketch &s) {
       // Sums of integers that become floats: each channel has a factor of its own.
       s.input("x", {1, 96, 64, 64});
       s.op("c", "Conv", {"x", s.weight("w", {24, 96, 3, 3}), s.weight("b", {24})},
            "kernel_shape = [3, 3], pads = [1, 1, 1, 1], do_relu = true");
       s.op("s", "Sqrt", {"c"});
       s.op("r", "Permute", {"s"}, "order = [0, 2, 3, 1]");
     },
     true, 1},
    {"ConvsOfRowsSideBySide",
     [](Sketch &s) {
       // The second one reads the rows as the first one leaves them.
       const int64_t stride = s.between(1, 2);
       s.input("x", {1, 3, 128, s.among({128, 160})});
       s.op("c", "Conv", {"x", s.weight("w", {32, 3, 6, 6}), s.weight("b", {32})},
            "kernel_shape = [6, 6], pads = [2, 2, 2, 2], strides = [2, 2]");
       s.op("t", "Sigmoid", {"c"});
       s.op(
           "r", "Conv", {"t", s.weight("v", {32, 32, 3, 3}), s.weight("d", {32})},
           fmt::format("kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [{0}, {0}]", stride));
     },
     false, 2},
    {"ConvToFloats",
     [](Sketch &s) {
       s.input("x", {1, s.channels(), 7, 8});
       const int64_t inputs = s.inputs.at("x").shape()[1];
       const int64_t outputs = s.channels();
       s.op("s", "Conv", {"x", s.weight("w", {outputs, inputs, 1, 1}), s.weight("b", {outputs})},
            "kernel_shape = [1, 1], do_relu = true");
       s.op("r", "Sqrt", {"s"});
     },
     true},
    {"Deconv", [](Sketch &s) { drawConv(s, 1, "Deconv", ""); }},
    {"DeconvOfOneTap",
     [](Sketch &s) {
       const int64_t inputs = s.among({3, 40, 70});
       const int64_t outputs = s.among({1, 2, 70});
       const int64_t height = s.between(1, 3);
       const int64_t width = s.between(1, 3);
       s.input("x", {s.between(1, 2), inputs, 6, 7});
       s.op("d", "Deconv",
            {"x", s.weight("w", {inputs, outputs, height, width}), s.weight("b", {outputs})},
            fmt::format("kernel_shape = [{0}, {1}], strides = [{0}, {1}], do_relu = true", height,
                        width));
       // Tiles begin within windows.
       s.op("r", "MaxPool", {"d"}, "kernel_shape = [2, 2], strides = [1, 1], pads = [1, 1, 0, 0]");
     },
     false, 8},
    {"DeconvInPhases",
     [](Sketch &s) {
       const int64_t inputs = s.among({3, 70});
       const int64_t outputs = s.among({1, 5, 70});
       const int64_t kernel = s.between(3, 5);
       s.input("x", {s.between(1, 2), inputs, 6, 7});
       s.op("d", "Deconv",
            {"x", s.weight("w", {inputs, outputs, kernel, 4}), s.weight("b", {outputs})},
            fmt::format("kernel_shape = [{}, 4], strides = [{}, 2], pads = [1, 1, 2, 0], "
                        "output_padding = [1, 0]",
                        kernel, s.between(2, 3)));
       s.op("r", "MaxPool", {"d"}, "kernel_shape = [2, 2], strides = [1, 1], pads = [1, 1, 0, 0]");
     },
     false, 8},
    {"DeconvOfOneTapWithoutBias",
     [](Sketch &s) {
       s.input("x", {1, 5, 6, 7});
       s.op("r", "Deconv", {"x", s.weight("w", {5, 1, 2, 2}), "n"},
            "kernel_shape = [2, 2], strides = [2, 2]");
     }},
    {"ProductOfOneRow",
     [](Sketch &s) {
       const int64_t columns = s.among({5, 64, 90});
       s.input("x", {1, s.among({70, 128})});
       const int64_t inner = s.inputs.at("x").shape()[1];
       s.op("r", "MatMul", {"x", s.weight("w", {inner, columns}), s.weight("b", {columns})},
            "do_relu = true");
     },
     false, 6},
    {"ProductsOfOneRow",
     [](Sketch &s) {
       // The filter of the first is so long that it stands in parts.
       s.input("x", {1, 64, 7, 5});
       s.op("p", "MaxPool", {"x"}, "kernel_shape = [2, 2], strides = [1, 1]");
       s.op("f", "Reshape", {"p", "n"}, "shape = [1, 1536]");
       s.op("s", "MatMul", {"f", s.weight("w", {256, 1536}), s.weight("b", {256})},
            "right_transpose = true");
       s.op("r", "MatMul", {"s", s.weight("v", {256, 70}), "n"});
     },
     false, 2},
    {"ProductOfOneRowToFloats",
     [](Sketch &s) {
       s.input("x", {1, 1, 130});
       s.op("s", "MatMul", {"x", s.weight("w", {130, 70}), s.weight("b", {70})});
       s.op("r", "Softmax", {"s"}, "axis = 2 : i64");
     },
     true},
    {"MatMul", [](Sketch &s) { drawProduct(s, "do_relu = true", false); }},
    {"MatMulTurned", [](Sketch &s) { drawProduct(s, "right_transpose = true", true); }},
    {"MatMulsOfRows", drawProductsOfRows},
    {"MatMulsOfPictures", drawProductOfPictures},
    {"MatMulToFloats",
     [](Sketch &s) {
       s.input("x", {s.between(1, 9), 40});
       s.op("s", "MatMul", {"x", s.weight("w", {40, 70}), s.weight("b", {70})});
       s.op("r", "Softmax", {"s"}, "axis = 1 : i64");
     },
     true},
    {"MatMulOfTensors", [](Sketch &s) { drawTensorProduct(s, false, false); }},
    {"MatMulOfTurnedLeft", [](Sketch &s) { drawTensorProduct(s, true, false); }},
    {"MatMulOfTurnedRight", [](Sketch &s) { drawTensorProduct(s, false, true); }},
    {"Attention", drawAttention},
    // In F16 beside integers, whose sums are in F32 in another order than in the interpreter.
    {"AttentionOfHeads", drawAttentionOfHeads, true},
    {"FeedForward", drawFeedForward},
    {"SoftmaxBetweenProducts", drawWeighedMeans},
    {"SliceOfColumns",
     [](Sketch &s) {
       s.input("x", {s.between(1, 2), s.among({2, 70}), 40});
       s.op("s", "Neg", {"x"});
       s.op("r", "Slice", {"s", "n", "n", "n", "n"},
            "axes = [2], offset = [7], ends = [30], steps = [1]");
     }},
    {"Add", [](Sketch &s) { drawBinary(s, "Add", "do_relu = true"); }},
    {"Sub", [](Sketch &s) { drawBinary(s, "Sub"); }},
    {"Mul", [](Sketch &s) { drawBinary(s, "Mul"); }},
    {"Max", [](Sketch &s) { drawBinary(s, "Max"); }},
    {"Min", [](Sketch &s) { drawBinary(s, "Min"); }},
    {"AddConstant",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 3, 5});
       const int64_t channels = s.inputs.at("x").shape()[1];
       s.op("r", "Add", {"x", s.weight("w", {1, channels, 1, 1})});
     }},
    {"MulByNumber",
     [](Sketch &s) {
       s.input("x", {1, s.channels(), 3, 5});
       s.op("r", "Mul", {"x", s.weight("w", {1})});
     }},
    {"HardSwish", [](Sketch &s) { drawUnary(s, "HardSwish"); }},
    {"LeakyRelu", [](Sketch &s) { drawUnary(s, "LeakyRelu", "alpha = 0.1"); }},
    {"PRelu",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       const int64_t channels = s.inputs.at("x").shape()[1];
       s.op("r", "PRelu", {"x", s.weight("w", {channels, 1, 1})});
     }},
    {"PReluOfOneSlope",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "PRelu", {"x", s.weight("w", {1})});
     }},
    {"MaxPool",
     [](Sketch &s) {
       drawPool(s, "MaxPool", "kernel_shape = [3, 2], strides = [2, 2], pads = [1, 1, 1, 0]");
     }},
    {"AvgPool",
     [](Sketch &s) { drawPool(s, "AvgPool", "kernel_shape = [2, 3], strides = [2, 1]"); }},
    {"AvgPoolPadded",
     [](Sketch &s) { drawPool(s, "AvgPool", "kernel_shape = [3, 3], pads = [1, 1, 1, 1]"); }},
    {"ReduceMean",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Reduce", {"x", "n"}, "axes = [2, 3], mode = \"ReduceMean\"");
     }},
    {"LSTM", [](Sketch &s) { drawCell(s, "LSTM", 4, {"h", "c", "n"}, ""); }, true},
    {"GRU", [](Sketch &s) { drawCell(s, "GRU", 3, {"n"}, ", linear_before_reset = true"); }, true},
    {"GRUThatResetsTheState", [](Sketch &s) { drawCell(s, "GRU", 3, {"h"}, ""); }, true},
    {"RNN", [](Sketch &s) { drawCell(s, "RNN", 1, {"n"}, ""); }, true},
    {"ReduceSequences",
     [](Sketch &s) {
       // In the group of what makes the sequences, which lie over channels.
       const int64_t outputs = s.among({40, 130});
       s.input("x", {2, 24, 203});
       s.op("c", "Conv", {"x", s.weight("w", {outputs, 24, 1}), s.weight("b", {outputs})},
            "kernel_shape = [1], pads = [0, 0]");
       s.op("r", "Reduce", {"c", "n"},
            fmt::format("axes = [2], mode = \"{}\", keepdims = false",
                        s.among({0, 1}) == 0 ? "ReduceMax" : "ReduceMean"));
     },
     true},
    {"ReduceOfTwoParts",
     [](Sketch &s) {
       s.input("x", {s.between(1, 2), 2, 5, s.between(4, 20), 7});
       s.op("r", "Reduce", {"x", "n"}, "axes = [1], mode = \"ReduceSum\", keepdims = false");
     },
     true, 3, true},
    {"ReduceApart",
     [](Sketch &s) {
       s.input("x", {3, s.channels(), 5, 6});
       s.op("r", "Reduce", {"x", "n"}, "axes = [0, 2], mode = \"ReduceSum\"");
     },
     true, 3, true},
    {"ReduceL2",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Reduce", {"x", "n"}, "axes = [1], mode = \"ReduceL2\", keepdims = false");
     },
     true},
    {"ReduceLogSumExp",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Reduce", {"x", "n"}, "axes = [2, 3], mode = \"ReduceLogSumExp\"");
     },
     true},
    {"Normalize",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Normalize", {"x"}, fmt::format("axis = 1 : i64, p = {} : i64", s.between(1, 2)));
     },
     true},
    {"CumSum",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "CumSum", {"x", "n"},
            fmt::format("axis = {} : i64, exclusive = {}, reverse = {}", s.between(1, 3),
                        s.between(0, 1) == 1, s.between(0, 1) == 1));
     },
     true},
    {"GroupNorm",
     [](Sketch &s) {
       s.input("x", {2, 36, 5, 6});
       s.op("r", "GroupNorm", {"x", s.weight("w", {36}), s.weight("b", {36})},
            "num_groups = 4 : i64");
     },
     true},
    {"GroupNormOfChannels",
     [](Sketch &s) {
       s.input("x", s.between(0, 1) == 1 ? std::vector<int64_t>{2, 12, 17, 19}
                                         : std::vector<int64_t>{3, 12, 301});
       s.op("r", "GroupNorm", {"x", s.weight("w", {12}), s.between(0, 1) == 1 ? s.weight("b", {12}) : "n"},
            "num_groups = 4 : i64");
     },
     true},
    {"RMSNorm",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 30});
       s.op("r", "RMSNorm", {"x", s.weight("w", {30})}, "axis = -1 : i64");
     },
     true},
    {"LRN",
     [](Sketch &s) {
       const int64_t channels = s.channels();
       if (s.between(0, 1) == 0)
         s.input("x", {2, channels, 5, 6});
       else
         s.input("x", {2, channels, 7});
       s.op("r", "LRN", {"x"},
            fmt::format("size = {} : i64, alpha = 0.7 : f64, beta = {} : f64, bias = 1.5 : f64",
                        s.between(1, 6), s.between(0, 1) == 0 ? "1.0" : "0.75"));
     },
     true},
    {"LRNWithinChannels",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "LRN", {"x"},
            fmt::format("size = {} : i64, alpha = 0.7 : f64, within_channel = true",
                        s.between(1, 6)));
     },
     true},
    {"MeanOfThree",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.input("y", {1, 1, 5, 1});
       s.op("r", "Mean", {"x", "y", "x"});
     },
     true},
    {"Power",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "PowConst", {"x"}, fmt::format("const_val = {}.0 : f64", s.among({2, 3, 6})));
     },
     true},
    {"Root",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("s", "AddConst", {s.op("a", "Abs", {"x"})}, "const_val = 0.5 : f64");
       s.op("r", "PowConst", {"s"},
            fmt::format("const_val = {} : f64",
                        0.05 * static_cast<double>(s.among({-10, 6, 5, -15, 25, -70}))));
     },
     true},
    {"Triangle",
     [](Sketch &s) {
       s.input("x", {2, 3, 7, 9});
       s.op("r", "Trilu", {"x", "n"},
            fmt::format("diagonal = {} : i64, upper = {}", s.between(-2, 2), s.between(0, 1) == 1));
     },
     true},
    {"MatMulOfRepeatedBatches",
     [](Sketch &s) {
       s.input("x", {2, 1, 9, 17});
       s.op("r", "MatMul", {"x", s.input("y", {3, 17, 20}), "n"});
     },
     true, 3, true},
    {"MatMulWithVector",
     [](Sketch &s) {
       s.input("x", {3, 9, 17});
       s.op("r", "MatMul", {"x", s.input("y", {17}), "n"});
     },
     true, 3, true},
    {"AttentionWithMask",
     [](Sketch &s) {
       // Of numbers or booleans, for all heads or each; of booleans, some rows see no key.
       const int64_t queries = s.among({5, 70});
       s.input("q", {2, 4, queries, 24});
       s.input("k", {2, 2, 90, 24});
       s.input("v", {2, 2, 90, 20});
       std::string mask =
           s.input("m", {s.between(1, 2), s.between(0, 1) == 1 ? 4 : 1, queries, 90});
       if (s.between(0, 1) == 1)
         mask =
             s.op("h", "CompareConst", {mask}, "mode = \"Greater\", const_val = 2.3 : f64", "i1");
       s.opOfMany("a", "ScaleDotProductAttention", 4, {"q", "k", "v", mask, "n", "n", "n"},
                  s.between(0, 1) == 1 ? "is_causal = true" : "softcap = 3.0 : f64");
       s.op("r", "MatMul", {"a", s.weight("w", {20, 24}), "n"});
     },
     true, 6, true},
    {"AttentionInWindows",
     [](Sketch &s) {
       // Rows of all heads behind some of the past; the last queries see no key.
       s.input("q", {2, 30, 48});
       s.input("k", {2, 9, 48});
       s.input("v", {2, 9, 40});
       s.input("p", {2, 2, 4, 24});
       s.input("o", {2, 2, 4, 20});
       s.opOfMany("a", "ScaleDotProductAttention", 4, {"q", "k", "v", "n", "p", "o", "n"},
                  fmt::format("q_num_heads = 2 : i64, kv_num_heads = 2 : i64, left_window = {} : "
                              "i64, right_window = 3 : i64",
                              s.between(0, 5)));
       s.op("r", "MatMul", {"a", s.weight("w", {40, 24}), "n"});
     },
     true, 3, true},
    {"MatMulOfLongSums",
     [](Sketch &s) {
       // Constants or not, and the left one turned or not.
       const bool isTurned = s.between(0, 1) == 1;
       const Dims right{70001, 5};
       s.input("x", isTurned ? Dims{70001, 3} : Dims{3, 70001});
       const std::string y = s.between(0, 1) == 1 ? s.input("y", right) : s.weight("y", right);
       s.op("r", "MatMul", {"x", y, s.weight("b", {5})},
            fmt::format("left_transpose = {}, do_relu = true", isTurned));
     },
     true, 3, true},
    {"ConvOfLongSums",
     [](Sketch &s) {
       s.input("x", {1, 15001, 4, 3});
       s.op("r", "Conv", {"x", s.weight("w", {5, 15001, 3, 3}), s.weight("b", {5})},
            fmt::format("kernel_shape = [3, 3], pads = [1, 1, 2, 1], strides = [{}, 1]",
                        s.between(1, 2)));
     },
     true, 2, true},
    {"ConvOfLargeWindows",
     [](Sketch &s) {
       // Few channels: the rows of the window are cut, the first of which see padding.
       s.input("x", {1, 3, 256, 260});
       s.op("r", "Conv", {"x", s.weight("w", {4, 3, 250, 257}), s.weight("b", {4})},
            fmt::format("kernel_shape = [250, 257], pads = [{}, 0, 2, 1], strides = [2, 1], "
                        "do_relu = true",
                        s.between(0, 3)));
     },
     true, 2, true},
    {"ConvOfLongSumsInGroups",
     [](Sketch &s) {
       s.input("x", {2, 20002, 4, 3});
       s.op("r", "Conv", {"x", s.weight("w", {4, 10001, 3, 3}), s.weight("b", {4})},
            "kernel_shape = [3, 3], group = 2 : i64, do_relu = true");
     },
     true, 1, true},
    {"ReduceOfLongRows",
     [](Sketch &s) {
       static constexpr std::array kModes = {"ReduceMean", "ReduceSum", "ReduceMin", "ReduceMax",
                                             "ReduceL1",   "ReduceL2",  "ReduceLogSumExp"};
       // Also lengths that are no product, rows beside each other, and separate axes.
       static constexpr std::array kForms = {std::pair(Dims3{2, 70001, 1}, "[1]"),
                                             std::pair(Dims3{1, 30000, 7}, "[1]"),
                                             std::pair(Dims3{300, 3, 250}, "[0, 2]")};
       const auto &[dims, axes] = kForms[static_cast<size_t>(s.between(0, 2))];
       s.input("x", {dims.begin(), dims.end()});
       s.op("r", "Reduce", {"x", "n"},
            fmt::format("axes = {}, mode = \"{}\"", axes,
                        kModes[static_cast<size_t>(s.between(0, std::ssize(kModes) - 1))]));
     },
     true, 8, true},
    {"ExtremumOfLongRows",
     [](Sketch &s) {
       s.input("x", {3, 70001});
       s.op("m", "Neg", {"x"});
       s.op("r", "Reduce", {"m", "n"},
            s.between(0, 1) == 1 ? "axes = [1], mode = \"ReduceMax\""
                                 : "axes = [1], mode = \"ReduceMin\", keepdims = false");
     },
     false, 2},
    {"PoolOfLargePicture",
     [](Sketch &s) {
       s.input("x", {1, 3, 301, 302});
       s.op("m", "Neg", {"x"});
       s.op("r", s.between(0, 1) == 1 ? "MaxPool" : "AvgPool", {"m"},
            fmt::format("kernel_shape = [301, 302], strides = [1, 1], do_relu = {}",
                        s.between(0, 1) == 1));
     },
     true, 3},
    {"PoolOfLargeWindows",
     [](Sketch &s) {
       // Of integers the maximum only.
       s.input("x", {1, 3, 301, 302});
       s.op("m", "Neg", {"x"});
       s.op("r", s.between(0, 1) == 1 ? "MaxPool" : "AvgPool", {"m"},
            fmt::format("kernel_shape = [290, 299], strides = [{}, 1], pads = [2, 1, 0, 1], "
                        "count_include_pad = {}, do_relu = {}",
                        s.between(1, 3), s.between(0, 1) == 1, s.between(0, 1) == 1));
     },
     true, 3},
    {"PoolOfWindowsApart",
     [](Sketch &s) {
       // Strides that the chip does not have; rows that are left over, too.
       const bool isMean = s.between(0, 1) == 1;
       s.input("x", {2, 5, s.between(57, 62), 74});
       s.op("m", "Neg", {"x"});
       s.op("r", isMean ? "AvgPool" : "MaxPool", {"m"},
            fmt::format("kernel_shape = [19, {}], strides = [19, {}], do_relu = {}",
                        s.among({1, 15}), s.between(1, 15), s.between(0, 1) == 1));
     },
     true, 6},
    {"SoftmaxOfLongRows",
     [](Sketch &s) {
       const bool isInside = s.between(0, 1) == 1;
       s.input("x", isInside ? Dims{1, 30000, 5} : Dims{2, 70001});
       s.op("r", "Softmax", {"x"}, fmt::format("axis = 1 : i64, log = {}", s.between(0, 1) == 1));
     },
     true, 3, true},
    {"LayerNormOfLongRows",
     [](Sketch &s) {
       const int64_t length = drawLongRows(s);
       s.opOfMany("r", "LayerNorm", 3, {"x", s.weight("w", {length}), s.weight("b", {length})},
                  "axis = 1 : i64");
     },
     true, 2, true},
    {"RMSNormOfLongRows",
     [](Sketch &s) {
       const int64_t length = drawLongRows(s);
       s.op("r", "RMSNorm", {"x", s.weight("w", {length})}, "axis = -1 : i64");
     },
     true, 2, true},
    {"NormOfLargePictures",
     [](Sketch &s) {
       s.input("x", {s.between(1, 2), 6, 150, s.among({150, 151})});
       const std::vector<std::string> operands = {"x", s.weight("w", {6}), s.weight("b", {6})};
       if (s.between(0, 1) == 1)
         s.op("r", "InstanceNorm", operands);
       else
         s.op("r", "GroupNorm", operands, "num_groups = 2 : i64");
     },
     true, 4, true},
    {"NormalizeLongRows",
     [](Sketch &s) {
       s.input("x", {1, 70001});
       s.op("r", "Normalize", {"x"}, fmt::format("axis = 1 : i64, p = {} : i64", s.between(1, 2)));
     },
     true, 2, true},
    {"MaxPool3d",
     [](Sketch &s) {
       s.input("x", {2, 5, 6, 7, 8});
       s.op("r", "MaxPool", {"x"},
            "kernel_shape = [2, 3, 2], strides = [1, 2, 2], pads = [1, 1, 0, 0, 1, 0]");
     },
     true},
    {"AvgPool3d",
     [](Sketch &s) {
       s.input("x", {1, 5, 6, 7, 8});
       s.op("r", "AvgPool", {"x"},
            fmt::format("kernel_shape = [2, 3, 3], strides = [2, 2, 1], pads = [0, 1, 1, 0, 1, 1], "
                        "count_include_pad = {}",
                        s.between(0, 1) == 1));
     },
     true, 3, true},
    {"AvgPool3dOfAll",
     [](Sketch &s) {
       const int64_t height = s.between(1, 5);
       s.input("x", {2, s.channels(), 4, height, 6});
       s.op("r", "AvgPool", {"x"}, fmt::format("kernel_shape = [4, {}, 6]", height));
     }},
    {"Conv3d",
     [](Sketch &s) {
       s.input("x", {2, 3, 6, 7, 8});
       s.op(
           "r", "Conv", {"x", s.weight("w", {10, 3, 3, 2, 3}), s.weight("b", {10})},
           fmt::format("kernel_shape = [3, 2, 3], strides = [{}, 1, 2], pads = [1, 0, 1, 1, 0, 1], "
                       "dilations = [{}, 1, 1], do_relu = true",
                       s.between(1, 2), s.between(1, 2)));
     }},
    {"Conv3dInGroups",
     [](Sketch &s) {
       s.input("x", {2, 6, 5, 6, 7});
       s.op("r", "Conv", {"x", s.weight("w", {10, 3, 3, 2, 3}), s.weight("b", {10})},
            fmt::format("kernel_shape = [3, 2, 3], strides = [{}, 1, 2], pads = [1, 0, 1, 1, 0, 1],"
                        " group = 2 : i64, do_relu = true",
                        s.between(1, 2)));
     }},
    {"Conv3dDepthwise",
     [](Sketch &s) {
       const int64_t channels = s.channels();
       const int64_t depth = s.between(1, 3);
       s.input("x", {2, channels, 5, 6, 7});
       s.op("r", "Conv",
            {"x", s.weight("w", {channels, 1, depth, 3, 2}), s.weight("b", {channels})},
            fmt::format("kernel_shape = [{}, 3, 2], pads = [1, 1, 0, 0, 1, 1], "
                        "dilations = [2, 1, 1], group = {} : i64, do_relu = true",
                        depth, channels));
     }},
    {"Conv3dOverDepths",
     [](Sketch &s) {
       s.input("x", {2, 5, 7, 6, 9});
       s.op("r", "Conv", {"x", s.weight("w", {10, 5, 3, 1, 1}), s.weight("b", {10})},
            fmt::format("kernel_shape = [3, 1, 1], strides = [{}, 1, 1], pads = [1, 0, 0, 2, 0, 0], "
                        "dilations = [{}, 1, 1], do_relu = true",
                        s.between(1, 2), s.between(1, 2)));
     }},
    {"Conv3dOfManyDepths",
     [](Sketch &s) {
       s.input("x", {1, 8, s.among({12, 18}), 9, 10});
       s.op("c", "Conv", {"x", s.weight("w", {8, 8, 3, 3, 3}), s.weight("b", {8})},
            fmt::format("kernel_shape = [3, 3, 3], pads = [1, 1, 1, {}, 1, 1]",
                        s.between(0, 1)));
       s.op("r", "LeakyRelu", {"c"}, "alpha = 0.25");
     },
     false, 2},
    {"Conv3dTwice",
     [](Sketch &s) {
       s.input("x", {2, 3, 4, 6, 7});
       s.op("c", "Conv", {"x", s.weight("w", {8, 3, 1, 3, 3}), s.weight("b", {8})},
            "kernel_shape = [1, 3, 3], pads = [0, 1, 1, 0, 1, 1], do_relu = true");
       s.op("d", "Conv", {"c", s.weight("v", {8, 8, 3, 1, 1}), s.weight("a", {8})},
            fmt::format("kernel_shape = [3, 1, 1], pads = [1, 0, 0, 1, 0, 0], strides = [{}, 1, 1]",
                        s.between(1, 2)));
       s.op("e", "LeakyRelu", {"d"}, "alpha = 0.25");
       s.op("r", "MaxPool", {"e"}, "kernel_shape = [1, 2, 2], strides = [1, 2, 2]");
     },
     false, 2},
    {"Conv3dAndPoolOfPlanes",
     [](Sketch &s) {
       s.input("x", {2, 5, s.between(1, 5), 9, 12});
       s.op("c", "Conv", {"x", s.weight("w", {10, 5, 1, 3, 3}), s.weight("b", {10})},
            "kernel_shape = [1, 3, 3], pads = [0, 1, 1, 0, 1, 1], do_relu = true");
       s.op("r", "MaxPool", {"c"}, "kernel_shape = [1, 2, 2], strides = [1, 2, 2]");
     }},
    {"Conv3dOverPlanes",
     [](Sketch &s) {
       const int64_t group = s.among({1, 2});
       s.input("x", {2, 6, s.between(1, 5), 6, 7});
       s.op("r", "Conv", {"x", s.weight("w", {10, 6 / group, 1, 3, 2}), s.weight("b", {10})},
            fmt::format("kernel_shape = [1, 3, 2], strides = [{}, 1, 2], pads = [0, 1, 0, 0, 1, 1], "
                        "group = {} : i64",
                        s.between(1, 2), group));
     },
     false, 4},
    {"Conv3dOverPlanesOfFewChannels",
     [](Sketch &s) {
       const int64_t channels = s.between(1, 4);
       s.input("x", {2, channels, s.between(1, 3), 6, 7});
       s.op("r", "Conv", {"x", s.weight("w", {10, channels, 1, 3, 3}), s.weight("b", {10})},
            fmt::format("kernel_shape = [1, 3, 3], strides = [1, {}, 1], pads = [0, 1, 1, 0, 1, 1]",
                        s.between(1, 2)));
     }},
    {"Deconv3d",
     [](Sketch &s) {
       const int64_t depth = s.between(1, 3);
       s.input("x", {2, 5, 4, 6, 7});
       s.op("r", "Deconv",
            {"x", s.weight("w", {5, 9, depth, 2, 3}), s.between(0, 1) == 1 ? s.weight("b", {9}) : "n"},
            fmt::format("kernel_shape = [{0}, 2, 3], strides = [{0}, 2, 2], pads = [0, 1, 0, 0, 0, 1]",
                        depth));
     },
     false, 4},
    {"InstanceNorm3d",
     [](Sketch &s) {
       s.input("x", {2, 6, 4, 5, 7});
       s.op("r", "InstanceNorm", {"x", s.weight("w", {6}), s.weight("b", {6})});
     },
     true, 2, true},
    {"ConvWithComputedFilter",
     [](Sketch &s) {
       const int64_t group = s.between(1, 2);
       const int64_t height = s.between(1, 3);
       s.input("x", {s.between(1, 2), 70, 7, 8});
       s.op("r", "Conv", {"x", s.input("w", {10, 70 / group, height, 2}), s.input("b", {10})},
            fmt::format("kernel_shape = [{}, 2], pads = [1, 0, 1, 2], strides = [{}, 1], "
                        "dilations = [2, 1], group = {} : i64, do_relu = true",
                        height, s.between(1, 2), group));
     },
     true, 4, true},
    {"ConvDepthwiseWithComputedFilter",
     [](Sketch &s) {
       const int64_t channels = s.channels();
       s.input("x", {2, channels, 11});
       s.op("r", "Conv", {"x", s.input("w", {channels, 1, 3}), "n"},
            fmt::format("kernel_shape = [3], pads = [1, 2], group = {} : i64", channels));
     },
     true, 3, true},
    {"Conv3dWithComputedFilter",
     [](Sketch &s) {
       s.input("x", {2, 6, 5, 6, 7});
       s.op("r", "Conv", {"x", s.input("w", {4, 6, 2, 3, 2}), s.weight("b", {4})},
            "kernel_shape = [2, 3, 2], pads = [1, 0, 1, 0, 1, 0]");
     },
     true, 1, true},
    {"ConvWithComputedBias",
     [](Sketch &s) {
       const int64_t group = s.among({1, 2, 6});
       s.input("x", {2, 6, 7, 8});
       s.op("r", "Conv", {"x", s.weight("w", {6, 6 / group, 3, 3}), s.input("b", {6})},
            fmt::format("kernel_shape = [3, 3], group = {} : i64, do_relu = true, relu_limit = 6.0",
                        group));
     },
     true, 4, true},
    {"Copy",
     [](Sketch &s) {
       s.input("x", {2, 3, 7});
       s.op("r", "Neg", {s.op("c", "Copy", {"x"})});
     },
     true},
    {"Shrink", [](Sketch &s) { drawUnary(s, "Shrink", "lambd = 0.5, bias = 0.25"); }, true},
    {"Selu", [](Sketch &s) { drawUnary(s, "Selu"); }, true},
    {"Sine", [](Sketch &s) { drawUnary(s, s.between(0, 1) == 1 ? "Sin" : "Cos"); }, true},
    {"ReduceInTheMiddle",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Reduce", {"x", "n"}, "axes = [1, -2], mode = \"ReduceMean\"");
     }},
    {"ReduceAll",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Reduce", {"x", "n"}, "mode = \"ReduceMax\", keepdims = false");
     }},
    {"SoftmaxInTheMiddle",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Softmax", {"x"}, "axis = 1 : i64");
     },
     true},
    {"LogSoftmaxInFront",
     [](Sketch &s) {
       s.input("x", {s.between(2, 9), s.channels(), 7});
       s.op("r", "Softmax", {"x"}, "axis = 0 : i64, log = true");
     },
     true},
    {"PixelNorm",
     [](Sketch &s) {
       const int64_t channels = s.channels();
       s.input("x", {2, channels, 5, 6});
       s.op("r", "PixelNorm", {"x", s.weight("w", {channels}), s.weight("b", {channels})});
     },
     true},
    {"CompareAndChoose",
     [](Sketch &s) {
       const int64_t channels = s.channels();
       s.input("x", {2, channels, 5, 6});
       s.input("y", {1, channels, 1, 6});
       s.op("c", "Compare", {"x", "y"}, "mode = \"GreaterOrEqual\"", "i1");
       s.op("d", "CompareConst", {"x"}, "mode = \"Less\", const_val = 0.5 : f64", "i1");
       s.op("e", "LogicalBinary", {"c", "d"},
            s.among({0, 1}) == 0 ? "mode = \"And\"" : "mode = \"Or\"", "i1");
       s.op("f", "LogicalNot", {s.op("g", "LogicalBinary", {"c", "e"}, "mode = \"Xor\"", "i1")}, "",
            "i1");
       s.op("r", "Where", {"f", "x", s.weight("w", {1})});
     },
     true},
    {"CompareBetweenNumbers",
     [](Sketch &s) {
       // With a number that 16 bits do not hold, of so many that some are beside it.
       static constexpr std::array kModes = {"Equal",          "NotEqual", "Greater",
                                             "GreaterOrEqual", "Less",     "LessOrEqual"};
       s.input("x", {2, 70, 30, 30});
       s.op("c", "CompareConst", {"x"},
            fmt::format("mode = \"{}\", const_val = 2.3 : f64, inversed = {}",
                        kModes[static_cast<size_t>(s.between(0, 5))], s.between(0, 1) == 1),
            "i1");
       s.op("r", "Cast", {"c"}, "to = f32");
     },
     true, 12, true},
    {"CastBooleans",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("c", "CompareConst", {"x"}, "mode = \"Less\", const_val = 0.5 : f64", "i1");
       s.op("r", "Cast", {"c"}, "to = f32");
     },
     true},
    {"CastToIntegersAndBack",
     [](Sketch &s) {
       s.input("x", {2, s.channels(), 5, 6});
       s.op("r", "Cast", {s.op("c", "Cast", {"x"}, "to = i32", "i32")}, "to = f32");
     },
     true},
    {"ResizeNearest",
     [](Sketch &s) {
       drawMove(s, "Interp", {"n", "n", "n"}, "mode = \"nearest\", scales = [1.0, 1.0, 2.0, 3.0]");
     }},
    {"ResizeLinear",
     [](Sketch &s) {
       drawMove(s, "Interp", {"n", "n", "n"},
                "mode = \"linear\", coord_mode = \"half_pixel\", scales = [1.0, 1.0, 2.0, 2.0]");
     }},
    // Extents that the scales do not give exactly.
    {"ResizeLinearAlignedCorners",
     [](Sketch &s) {
       drawMove(s, "Interp", {"n", "n", "n"},
                "mode = \"linear\", coord_mode = \"align_corners\", scales = [1.0, 1.0, 0.6, 1.7]");
     }},
    {"Concat", [](Sketch &s) { drawMove(s, "Concat", {"x"}, "axis = 1 : i64"); }},
    // Of few columns, in local memory: what layers make, what is loaded, and one part twice.
    {"ConcatOfColumns",
     [](Sketch &s) {
       const Dims rows = {s.between(1, 3), s.among({2, 67, 700})};
       s.input("x", {rows[0], rows[1], s.between(1, 9)});
       s.input("y", {rows[0], rows[1], s.among({3, 33, 150})});
       s.op("a", "Abs", {"x"});
       s.op("b", "Concat", {"a", "y", "x", "a"}, "axis = -1 : i64");
       s.op("r", "Abs", {"b"});
     }},
    // Short pieces of many rows, and columns that are chosen: as columns, too.
    {"ConvOfShuffledChannels",
     [](Sketch &s) {
       const int64_t group = s.among({1, 2, 3}), shuffled = s.among({2, 3, 6});
       const int64_t in = group * s.among({1, 5}), out = 6 * s.among({1, 5});
       const int64_t kernel = s.among({1, 3});
       s.input("x", {s.between(1, 2), in, 6, 7});
       s.op("c", "Conv",
            {"x", s.weight("w", {out, in / group, kernel, kernel}),
             s.between(0, 1) == 1 ? s.weight("b", {out}) : "n"},
            fmt::format("kernel_shape = [{0}, {0}], pads = [{1}, {1}, {1}, {1}], group = {2} : i64, "
                        "do_relu = {3}",
                        kernel, kernel / 2, group, s.between(0, 1) == 1));
       s.op("r", "ShuffleChannel", {"c"}, fmt::format("group = {} : i64", shuffled));
     },
     false, 6},
    {"ConcatOfRepeatedNumbers",
     [](Sketch &s) {
       const int64_t images = s.between(1, 3), length = s.among({9, 70});
       s.input("x", {images, s.among({5, 64}), length});
       s.input("y", {images, s.among({3, 40}), 1});
       s.op("a", "Relu", {"x"});
       s.op("b", "Expand", {"y", "n"}, fmt::format("shape = [1, 1, {}]", length));
       s.op("j", "Concat", {"a", "b"}, "axis = 1 : i64");
       s.op("r", "Relu", {"j"});
     }},
    {"ConcatOfShortPieces",
     [](Sketch &s) {
       const int64_t rows = s.among({5, 16, 70});
       const int64_t width = s.between(1, 9);
       s.input("x", {rows, 1, width});
       s.input("y", {rows, s.between(1, 3), width});
       s.op("a", "Abs", {"x"});
       s.op("r", "Concat", {"a", "y", "x"}, "axis = 1 : i64");
     }},
    // The transfers that store the result put its channels behind its pixels, group by group.
    {"StoredTurned",
     [](Sketch &s) {
       const int64_t groups = s.between(1, 3);
       const int64_t channels = s.among({5, 43, 85});
       const Dims pixels = {s.between(4, 20), s.between(4, 20)};
       const int64_t images = s.between(1, 2);
       s.input("x", {images, 3, pixels[0], pixels[1]});
       s.op("c", "Conv", {"x", s.weight("w", {groups * channels, 3, 1, 1}), "n"},
            "kernel_shape = [1, 1]");
       s.op("a", "Reshape", {"c", "n"},
            fmt::format("shape = [{}, {}, {}, {}, {}]", images, groups, channels, pixels[0],
                        pixels[1]));
       s.op("r", "Permute", {"a"}, "order = [0, 1, 3, 4, 2]");
     }},
    // What the convolution does not read sees its elements in any order, in one group with it.
    {"ElementsBesideAConvolution",
     [](Sketch &s) {
       const int64_t width = s.among({8, 64, 80});
       s.input("x", {1, 1, 16, width});
       s.op("t", "Tanh", {"x"});
       s.op("a", "Abs", {"t"});
       s.input("y", {1, 3, 16, width});
       s.op("c", "Conv", {"y", s.weight("w", {1, 3, 3, 3}), "n"},
            "kernel_shape = [3, 3], pads = [1, 1, 1, 1]");
       s.op("r", "Concat", {"a", "c"}, "axis = 2 : i64");
     }},
    {"Permute", [](Sketch &s) { drawMove(s, "Permute", {}, "order = [0, 3, 1, 2]"); }},
    {"PermuteOfShortRuns",
     [](Sketch &s) { drawMove(s, "Permute", {}, "order = [0, 2, 1, 3]"); }},
    {"Slice",
     [](Sketch &s) {
       drawMove(s, "Slice", {"n", "n", "n", "n"},
                "offset = [0, 1, 2, 0], ends = [2, 3, 6, 3], steps = [1, 1, 2, 1]");
     }},
    {"SliceBackwards",
     [](Sketch &s) {
       drawMove(s, "Slice", {"n", "n", "n", "n"},
                "offset = [0, -1, 5, 0], ends = [2, -1000, 0, 3], steps = [1, -1, -2, 1]");
     }},
    {"Tile", [](Sketch &s) { drawMove(s, "Tile", {"n"}, "tile = [1, 2, 1, 3]"); }},
    {"PadWithNumber",
     [](Sketch &s) {
       drawMove(s, "Pad", {"n", "n", "n"}, "paddings = [0, 1, 2, 0, 1, 0, -1, 3], val = 0.5 : f64");
     }},
    {"PadByTheEdge",
     [](Sketch &s) {
       const int64_t mode = s.between(0, 2);
       drawMove(s, "Pad", {"n", "n", "n"},
                fmt::format("paddings = [0, 0, 2, 1, 0, 1, 1, 2], mode = \"{}\"", mode == 0 ? "edge"
                                                                                  : mode == 1
                                                                                      ? "reflect"
                                                                                      : "wrap"));
     }},
    {"CropTheCentre",
     [](Sketch &s) { drawMove(s, "CenterCropPad", {"n"}, "shape = [2, 3, 9, 2]"); }},
    {"GatherByComputedIndices",
     [](Sketch &s) {
       s.input("x", {3, s.channels()});
       s.input("y", {2, 9, 7});
       s.op("m", "MulConst", {"x"}, "const_val = 5.0 : f64");
       s.op("a", "Clip", {"m"}, "min = -9.0 : f64, max = 8.0 : f64");
       const std::string element = s.among({0, 1}) == 0 ? "i32" : "i64";
       s.op("r", "Gather", {"y", s.op("i", "Cast", {"a"}, "to = " + element, element)},
            "axis = 1 : i64");
     },
     true, 3, true, true},
    {"ScatterOfBoxes",
     [](Sketch &s) {
       // Columns 2 and 3 of two rows of all pictures, or two whole pictures.
       std::vector<int64_t> places;
       const bool isOfColumns = s.between(0, 1) == 1;
       if (isOfColumns)
         for (int64_t n = 0; n < 3; ++n)
           for (int64_t h = 1; h < 3; ++h)
             for (int64_t w = 2; w < 4; ++w)
               places.insert(places.end(), {n, h, w});
       else
         places = {-2, 2};
       s.input("x", {3, 5, 6, 7});
       s.input("u", isOfColumns ? Dims{3, 2, 2, 7} : Dims{2, 5, 6, 7});
       s.op("r", "ScatterND",
            {"x",
             isOfColumns ? s.integers("i", places, {3, 2, 2, 3}) : s.integers("i", places, {2, 1}),
             "u"},
            s.between(0, 1) == 1 ? "reduction = \"max\"" : "");
     },
     true, 6, true},
    {"ScatterOfRows",
     [](Sketch &s) {
       // The last of those for one row counts; reductions take each row once.
       const bool isSum = s.between(0, 1) == 1;
       s.input("x", {2, 40, 9});
       s.input("u", {4, 9});
       s.op("r", "ScatterND",
            {"x", s.integers("i", {1, 30, 0, 5, 0, isSum ? -1 : 5, 1, -40}, {4, 2}), "u"},
            isSum ? "reduction = \"add\"" : "");
     },
     true, 4, true},
    {"ScatterOfElements",
     [](Sketch &s) {
       const int64_t axis = s.between(0, 2) - 1;
       std::vector<int64_t> indices;
       for (int64_t i = 0; i < 24; ++i)
         indices.push_back(s.between(-6, 5));
       s.input("x", {6, 6, 7});
       s.op("r", "ScatterElements",
            {"x", s.integers("i", indices, {2, 3, 4}), s.input("u", {2, 3, 4})},
            fmt::format("axis = {} : i64", axis));
     },
     true, 4, true},
    // Runs of columns, of which some are taken again.
    {"GathersByEntries",
     [](Sketch &s) {
       // Tables that are read by columns of the same indices, some counted from the end.
       s.input("x", {6, 3});
       s.input("y", {17, 5});
       const std::string element = s.between(0, 1) == 1 ? "i64" : "i32";
       s.op("h", "Clip", {"x"}, "min = -8.0, max = 8.0");
       s.op("i", "Cast", {"h"}, "to = " + element, element);
       std::vector<std::string> parts;
       for (const int64_t column : {2, 0, -1}) {
         const std::string name = fmt::format("{}", parts.size());
         s.op("c" + name, "Gather", {"i", s.integers("n" + name, {column})}, "axis = 1 : i64",
              element);
         s.op("g" + name, "Gather", {"y", "c" + name}, "axis = 0 : i64");
         parts.push_back("g" + name);
       }
       s.op("r", "Concat", parts, "axis = 1 : i64");
     },
     true, 4, true, true},
    {"GatherOfColumns",
     [](Sketch &s) {
       const int64_t rows = s.among({3, 16, 70});
       s.input("x", {rows, 17});
       s.op("y", "Abs", {"x"});
       s.op("r", "Gather", {"y", s.integers("i", {-1, 3, 4, 5, 0, 9, 10, 9})}, "axis = 1 : i64");
     }},
    {"GatherByManyConstants",
     [](Sketch &s) {
       s.input("y", {2, 9, 7});
       const int64_t count = s.among({70, 100});
       std::vector<int64_t> indices;
       for (int64_t i = 0; i < count; ++i)
         indices.push_back(s.between(-9, 8));
       s.op("r", "Gather", {"y", s.integers("i", indices)}, "axis = 1 : i64");
     }},
    {"HostBetweenConvolutions",
     [](Sketch &s) {
       drawBetweenConvolutions(s, [](Sketch &sketch) {
         sketch.op("g", "GatherND", {"c", sketch.integers("i", {0})});
         sketch.op("h", "Unsqueeze", {"g", "n"}, "axes = [0]");
       });
     },
     false, 3, false, true},
    {"HostOfFloatsBetweenConvolutions",
     [](Sketch &s) {
       drawBetweenConvolutions(s, [](Sketch &sketch) {
         sketch.op("h", "Interp", {"c", "n", "n", "n"},
                   "mode = \"cubic\", coord_mode = \"half_pixel\", scales = [1.0, 1.0, 2.0, 1.5]");
       });
     },
     false, 3, false, true},
    {"DepthToSpace",
     [](Sketch &s) {
       drawMove(s, "Depth2Space", {},
                "block_h = 2 : i64, block_w = 2 : i64, is_CRD = true, is_inversed = false");
     }},
};

void PrintTo(const Layer &layer, std::ostream *out) { *out << layer.name; }

/// A layer on a chip.
class CompiledLayers : public CompiledNetworks,
                       public testing::WithParamInterface<std::tuple<std::string, Layer>> {};

TEST_P(CompiledLayers, GiveWhatTheLoweredNetworkGives) {
  const auto &[chip, layer] = GetParam();
  const TargetInfo &target = **lookupTarget(chip);
  if (isTooLarge(layer, target))
    GTEST_SKIP() << "too large for " << chip;
  for (const Mode &mode : compiledModes(chip)) {
    if (isLeftOnFloats(layer, target) && mode.scheme.isQuantized())
      continue;
    SCOPED_TRACE(mode.name);
    for (unsigned seed = 1; seed <= layer.numDraws; ++seed) {
      Sketch sketch(seed);
      layer.draw(sketch);
      // Each on its own, or the layer and its casts in a group. Depths may be channels, or not.
      check(sketch, {.chip = chip,
                     .mode = mode,
                     .opt = static_cast<int>(seed % 2),
                     .without = seed % 4 < 2 ? std::vector<std::string>{}
                                             : std::vector<std::string>{"fold-depths"},
                     .isExact = mode.scheme.isQuantized() && !endsInFloats(layer, target),
                     .needsHost = isLeftToHost(layer, target)});
    }
  }
}

std::string nameOf(const testing::TestParamInfo<std::tuple<std::string, Layer>> &info) {
  return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param).name);
}

/// A layer on a chip that has no F32.
class DeployedLayers : public CompiledLayers {};

/// In INT8. What the chip does not compute in integers is in floats, or on the host.
TEST_P(DeployedLayers, MakeAModelFile) {
  const auto &[chip, layer] = GetParam();
  if (isTooLarge(layer, **lookupTarget(chip)))
    GTEST_SKIP() << "too large for " << chip;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Sketch sketch(seed);
    layer.draw(sketch);
    // Factors of casts to integers are BF16, so that these may be next to those of the interpreter.
    deploy(sketch, {.chip = chip,
                    .mode = kModes[3],
                    .opt = 0,
                    .isStrict = seed % 2 == 1,
                    .decides = std::string_view(layer.name) == "CompareAndChoose"});
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, DeployedLayers,
                         testing::Combine(testing::ValuesIn(compiledChipsWithoutF32()),
                                          testing::ValuesIn(kLayers)),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(Layers, CompiledLayers,
                         testing::Combine(testing::ValuesIn(compiledChips()),
                                          testing::ValuesIn(kLayers)),
                         nameOf);

} // namespace
