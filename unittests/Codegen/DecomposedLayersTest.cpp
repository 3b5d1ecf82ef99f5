//===- DecomposedLayersTest.cpp ---------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers that no chip has a kernel for, and that are computed as other ones: none is left to the
// host, and the file computes what the lowered network computes.
//
//===----------------------------------------------------------------------===//

#include "unittests/Codegen/CompiledNetworks.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Draws a network whose result is "r".
struct RewrittenLayer {
  const char *name;
  void (*draw)(Sketch &);
  /// Integers give the same bits.
  bool isExact = true;
  /// Integers are left to the host.
  bool isOfFloats = false;
};

/// Two parts, of which one is computed and the other is an input, behind each other.
void drawActivatedConcat(Sketch &sketch, const std::string &limit) {
  const int64_t channels = sketch.channels();
  const int64_t width = sketch.between(4, 9);
  sketch.input("x", {2, channels, 5, width});
  sketch.op("c", "Conv", {"x", sketch.weight("w", {7, channels, 3, 3}), "n"},
            "kernel_shape = [3, 3], pads = [1, 1, 1, 1]");
  sketch.op("r", "Concat", {"x", "c"}, "axis = 1 : i64, do_relu = true" + limit);
}

/// The angles are constants, computed, or rows of a table that positions name.
enum class Angles : uint8_t { Constant, Computed, OfPositions };

void drawRope(Sketch &sketch, bool isInterleaved, Angles from = Angles::Constant) {
  const int64_t batch = sketch.between(1, 2);
  const int64_t heads = sketch.among({1, 3, 66});
  const int64_t steps = sketch.among({1, 5, 70});
  const int64_t width = sketch.among({8, 16, 32});
  const bool areStepsFirst = sketch.between(0, 1) == 1;
  const int64_t turned = sketch.between(0, 1) == 1 ? width : width / 2;
  sketch.input("x", areStepsFirst ? Dims{batch, steps, heads * width}
                                  : Dims{batch, heads, steps, width});
  const Dims angles = {sketch.between(0, 1) == 1 ? batch : 1, steps, turned / 2};
  std::string cos, sin, positions = "n";
  if (from == Angles::Computed) {
    const std::string places = sketch.input("places", angles);
    cos = sketch.op("cos", "Cos", {places});
    sin = sketch.op("sin", "Sin", {places});
  } else if (from == Angles::OfPositions) {
    constexpr int64_t kRows = 9;
    cos = sketch.weight("cos", {kRows, turned / 2});
    sin = sketch.weight("sin", {kRows, turned / 2});
    positions = sketch.indices("at", {batch, steps}, kRows);
  } else {
    cos = sketch.weight("cos", angles);
    sin = sketch.weight("sin", angles);
  }
  sketch.op("r", "Rope", {"x", cos, sin, positions},
            fmt::format("interleaved = {}, num_heads = {} : i64, rotary_dim = {} : i64",
                        isInterleaved, areStepsFirst ? heads : 0, turned == width ? 0 : turned));
}

constexpr RewrittenLayer kRewritten[] = {
    {"ShuffleChannel",
     [](Sketch &s) {
       const int64_t groups = s.between(2, 5);
       Dims dims = {s.between(1, 3), groups * s.among({1, 4, 30}), s.between(1, 9)};
       if (s.between(0, 1) == 1)
         dims.push_back(s.between(1, 9));
       s.op("r", "ShuffleChannel", {s.input("x", dims)}, fmt::format("group = {} : i64", groups));
     }},
    {"ShuffleChannelOfParts",
     [](Sketch &s) {
       const Dims dims = {s.between(1, 3), s.among({1, 4, 30}), s.between(3, 9), 32};
       std::vector<std::string> parts;
       for (int64_t part = 0, count = s.between(2, 3); part < count; ++part)
         parts.push_back(s.input(fmt::format("x{}", part), dims));
       s.op("c", "Concat", parts, "axis = 1 : i64");
       s.op("r", "ShuffleChannel", {"c"}, fmt::format("group = {} : i64", parts.size()));
     }},
    {"ConcatWithRelu", [](Sketch &s) { drawActivatedConcat(s, ""); }},
    {"ConcatWithReluAndLimit",
     [](Sketch &s) { drawActivatedConcat(s, ", relu_limit = 0.5 : f64"); }, false, true},
    {"SumOfFiveDimensions",
     [](Sketch &s) {
       const int64_t windows = s.between(2, 5);
       const int64_t heads = s.between(2, 4);
       s.input("x", {s.between(1, 2), windows, heads, 9, 7});
       s.input("y", {1, windows, 1, 9, 7});
       s.op("r", "Add", {"x", "y"});
     }},
    {"ProductOfFiveDimensionsAndAConstant",
     [](Sketch &s) {
       const int64_t windows = s.between(2, 5);
       s.input("x", {s.between(2, 3), windows, s.between(2, 4), 9, 7});
       s.op("r", "Mul", {s.weight("w", {windows, 1, 9, 7}), "x"});
     }},
    {"ProductOfSixDimensions",
     [](Sketch &s) {
       s.input("x", {2, s.between(1, 3), s.between(2, 4), 3, 4, 5});
       s.op("r", "Mul", {"x", s.weight("w", {3, 1, 1})});
     }},
    {"SlopesOfFiveDimensions",
     [](Sketch &s) {
       const int64_t channels = s.channels();
       s.input("x", {s.between(1, 2), channels, 3, 4, s.between(2, 5)});
       s.op("r", "PRelu", {"x", s.weight("w", {channels, 1, 1, 1})});
     }},
    {"BoxesOfPermutedChannels",
     [](Sketch &s) {
       const Dims pixels = {s.between(9, 20), s.between(20, 40)};
       s.input("x", {s.between(1, 2), 3, s.between(6, 20), pixels[0], pixels[1]});
       s.op("t", "Permute", {"x"}, "order = [0, 1, 3, 4, 2]");
       const auto part = [&](const std::string &name, int64_t begin, int64_t end) {
         return s.op(
             name, "Slice", {"t", "n", "n", "n", "n"},
             fmt::format("axes = [4], offset = [{}], ends = [{}], steps = [1]", begin, end));
       };
       s.op("a", "Add", {part("p", 0, 2), s.weight("grid", {pixels[0], pixels[1], 2})});
       s.op("b", "Mul", {part("q", 2, 4), s.weight("anchors", {3, 1, 1, 2})});
       s.op("r", "Concat", {"a", "b", part("o", 4, 1000)}, "axis = -1 : i64");
     }},
    {"Rope", [](Sketch &s) { drawRope(s, false); }, false},
    {"RopeOfNeighbours", [](Sketch &s) { drawRope(s, true); }, false},
    {"RopeOfComputedAngles", [](Sketch &s) { drawRope(s, s.between(0, 1) == 1, Angles::Computed); },
     false},
    {"RopeOfPositions", [](Sketch &s) { drawRope(s, s.between(0, 1) == 1, Angles::OfPositions); },
     false},
    {"PlaceOfTheLargestIndex",
     [](Sketch &s) {
       const int64_t steps = s.among({5, 40});
       const std::string ids = s.indices("ids", {1, steps}, 30);
       s.op("rows", "Gather", {s.weight("table", {30, 16}), ids}, "axis = 0 : i64");
       s.op("at", "Arg", {ids}, "axis = -1 : i64, keepdims = true, mode = \"ArgMax\"", "i64", 1);
       s.op("next", "Add", {"at", s.integers("more", {-steps})}, "", "i64");
       s.op("r", "Mul", {"rows", s.op("c", "Cast", {"next"}, "to = f32")});
     }},
    {"ConvsOfFewChannels",
     [](Sketch &s) {
       const int64_t width = s.between(50, 70);
       const int64_t kernel = s.among({3, 5});
       s.input("x", {s.between(1, 2), 16, 64, width});
       s.op("c", "Conv", {"x", s.weight("u", {8, 16, 1, 1}), "n"}, "kernel_shape = [1, 1]");
       s.op("a", "LeakyRelu", {"c"}, "alpha = 0.1 : f64");
       s.op("r", "Conv", {"a", s.weight("w", {16, 8, kernel, 3}), s.weight("b", {16})},
            fmt::format("kernel_shape = [{0}, 3], pads = [{1}, 1, {1}, 1], strides = [{2}, 1]",
                        kernel, kernel / 2, s.between(1, 2)));
     },
     false},
    {"ConvOfWidePadding",
     [](Sketch &s) {
       const int64_t channels = s.channels();
       const int64_t pad = s.between(16, 20);
       s.input("x", {s.between(1, 2), channels, s.between(3, 9), 6});
       s.op("r", "Conv", {"x", s.weight("w", {5, channels, 3, 3}), s.weight("b", {5})},
            fmt::format("kernel_shape = [3, 3], pads = [{0}, 1, {0}, 17], do_relu = {1}", pad,
                        s.between(0, 1) == 1));
     }},
    {"ConvOfWideDilation",
     [](Sketch &s) {
       const int64_t group = s.among({1, 6});
       const int64_t dilation = s.among({17, 32, 40});
       s.input("x", {s.between(1, 2), 6, s.between(2, 3) * dilation + s.between(1, 9)});
       s.op("r", "Conv", {"x", s.weight("w", {12, 6 / group, 3}), s.weight("b", {12})},
            fmt::format(
                "kernel_shape = [3], pads = [{0}, {1}], dilations = [{2}], group = {3} : i64",
                dilation, s.between(0, 1) * dilation, dilation, group));
     }},
    {"ConvOfWideDilations",
     [](Sketch &s) {
       const int64_t group = s.among({1, 6});
       const int64_t down = s.among({17, 18, 24});
       const int64_t across = s.among({1, 18, 20});
       s.input("x", {s.between(1, 2), 6, down + s.between(1, 9), across + s.between(1, 9)});
       s.op("r", "Conv", {"x", s.weight("w", {6, 6 / group, 3, 3}), s.weight("b", {6})},
            fmt::format("kernel_shape = [3, 3], pads = [{0}, {1}, {0}, {1}], "
                        "dilations = [{0}, {1}], group = {2} : i64",
                        down, across, group));
     }},
};

void PrintTo(const RewrittenLayer &layer, std::ostream *out) { *out << layer.name; }

/// A layer on a chip.
class DecomposedLayers
    : public CompiledNetworks,
      public testing::WithParamInterface<std::tuple<std::string, RewrittenLayer>> {};

TEST_P(DecomposedLayers, GiveWhatTheLoweredNetworkGives) {
  constexpr unsigned kNumDraws = 4;
  const auto &[chip, layer] = GetParam();
  for (const Mode &mode : compiledModes(chip)) {
    // No kernel of integers has a slope for each channel.
    const bool isLeftOnFloats =
        layer.isOfFloats ||
        (chip == "bm1684" && layer.name == std::string_view("SlopesOfFiveDimensions"));
    if (isLeftOnFloats && mode.scheme.isQuantized())
      continue;
    // It has no kernel that reads places.
    const bool readsPlaces = layer.name == std::string_view("RopeOfPositions") ||
                             layer.name == std::string_view("PlaceOfTheLargestIndex");
    if (chip == "null" && readsPlaces)
      continue;
    SCOPED_TRACE(mode.name);
    for (unsigned seed = 1; seed <= kNumDraws; ++seed) {
      Sketch sketch(seed);
      layer.draw(sketch);
      check(sketch, {.chip = chip,
                     .mode = mode,
                     .opt = static_cast<int>(seed % 2),
                     .isExact = mode.scheme.isQuantized() && layer.isExact});
    }
  }
}

std::string
nameOfRewritten(const testing::TestParamInfo<std::tuple<std::string, RewrittenLayer>> &info) {
  return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(Layers, DecomposedLayers,
                         testing::Combine(testing::ValuesIn(compiledChips()),
                                          testing::ValuesIn(kRewritten)),
                         nameOfRewritten);

} // namespace
