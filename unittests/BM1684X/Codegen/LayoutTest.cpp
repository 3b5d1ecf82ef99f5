//===- LayoutTest.cpp -------------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/PackedLayout.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Codegen/Constants.h"
#include "tpuc/Target/BM1684X/Codegen/Loads.h"
#include "tpuc/Target/BM1684X/Codegen/PackedConstants.h"
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/Registry.h"
#include "unittests/BM1684X/Kernels/Bench.h"
#include "unittests/Codegen/Network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <numeric>

using namespace tpuc;
using namespace tpuc::bm1684x;
using namespace tpuc::bm1684x::backend;
using namespace tpuc::codegen;

namespace {

/// A function with constants %a, %b, ... of the given types (their elements are random) and
/// arguments %x, %y, ..., in which the op is called "op".
struct OneOp {
  OneOp(const std::vector<std::string> &arguments, const std::vector<std::string> &constants,
        const std::string &definition)
      : network(text(arguments, constants, definition)), op(network.layer("op")),
        backend(backendOf(**lookupTarget("bm1684x"))) {
    auto module = network.main()->getParentOfType<mlir::ModuleOp>();
    auto store = module.getContext()->getLoadedDialect<top::TopDialect>()->weights(module);
    EXPECT_TRUE(store);
    unsigned seed = 1;
    module.walk([&](top::WeightOp weight) {
      const auto type = mlir::cast<mlir::RankedTensorType>(weight.getOutput().getType());
      const Shape shape(std::span(type.getShape().data(), type.getShape().size()));
      (*store)->set(layerName(weight),
                    randomNumbers(*storageDataType(type), shape, seed++, -100, 100));
    });
    Expected<TileModel> made = backend->modelOf(op);
    EXPECT_TRUE(made) << made.error().message();
    if (made)
      model = std::move(*made);
  }

  static std::string text(const std::vector<std::string> &arguments,
                          const std::vector<std::string> &constants, const std::string &op) {
    std::string head;
    std::string body = "%n = \"top.None\"() : () -> none\n";
    for (size_t i = 0; i < arguments.size(); ++i)
      head += fmt::format("{}%{}: {}", i == 0 ? "" : ", ", "xyz"[i], arguments[i]);
    for (size_t i = 0; i < constants.size(); ++i)
      body +=
          fmt::format("%{0} = \"top.Weight\"() : () -> {1} loc(\"{0}\")\n", "abc"[i], constants[i]);
    return fmt::format("module attributes {{module.name = \"net\", module.weight_file = \"\"}} {{\n"
                       "func.func @main({}) {{\n{}{} loc(\"op\")\nreturn\n}}\n}}",
                       head, body, op);
  }

  const BM1684XLayout &layout() const { return backend::layoutOf(model); }
  /// On the whole result, or on some of its channels.
  TiledOp tiled(std::optional<Range> channels = std::nullopt) const {
    TiledOp made{.op = op, .model = &model};
    made.result.tile = wholeTile(model.result);
    if (channels)
      made.result.tile[kAxisC] = *channels;
    for (const OperandModel &operand : model.operands)
      made.operands.push_back({operand.isPresent ? operand.slice(made.result.tile) : Tile()});
    return made;
  }

  Network network;
  mlir::Operation *op;
  std::unique_ptr<Backend> backend;
  TileModel model;
};

//===--- What is known of each kind of op ---------------------------------===//

std::string formName(OperandForm form) {
  switch (form) {
  case OperandForm::Absent:
    return "Absent";
  case OperandForm::Tensor:
    return "Tensor";
  case OperandForm::PerChannel:
    return "PerChannel";
  case OperandForm::Transposed:
    return "Transposed";
  case OperandForm::Columns:
    return "Columns";
  case OperandForm::EveryLane:
    return "EveryLane";
  case OperandForm::PixelRow:
    return "PixelRow";
  }
  return "";
}

/// All that a record says beside rows, in the order of operands and result.
std::vector<std::string> described(const BM1684XLayout &layout) {
  std::vector<std::string> all;
  for (unsigned index = 0; index < layout.numTensors(); ++index) {
    const TensorLayout &tensor = layout.operand(index);
    std::string text = formName(tensor.form);
    if (tensor.number)
      text += fmt::format(" {:.0f}", *tensor.number);
    if (tensor.isLoaded)
      text += " " + std::string(dataTypeName(tensor.type));
    if (tensor.liesTurned)
      text += " turned";
    if (tensor.parameters == Carried::ChannelWords)
      text += " +channel words";
    if (tensor.parameters == Carried::ColumnWords)
      text += " +column words";
    if (tensor.residentAlignment)
      text += fmt::format(" resident {}", *tensor.residentAlignment);
    all.push_back(std::move(text));
    // What generic code takes from it.
    EXPECT_EQ(tensor.isLoaded, tensor.form != OperandForm::Absent);
    EXPECT_EQ(tensor.isAligned, tensor.form != OperandForm::PerChannel);
    EXPECT_EQ(tensor.liesLike(tensor), tensor.isLoaded && tensor.isAligned);
  }
  return all;
}

using Texts = std::vector<std::string>;

const std::string kConvAttributes = "kernel_shape = [3, 3], pads = [1, 1, 1, 1]";

TEST(BM1684XLayout, ConvolutionsHaveRowsForEachChannel) {
  OneOp plain({"tensor<1x20x8x8xf16>"}, {"tensor<70x20x3x3xf16>", "tensor<70xf32>"},
              "%r = \"tpu.Conv\"(%x, %a, %b) {" + kConvAttributes +
                  "} : (tensor<1x20x8x8xf16>, tensor<70x20x3x3xf16>, tensor<70xf32>) -> "
                  "tensor<1x70x8x8xf16>");
  // Long rows of 70 channels stand channel after channel: in a lane they would be apart.
  EXPECT_EQ(described(plain.layout()),
            (Texts{"Tensor f16", "PerChannel f16", "PerChannel f32 resident 4", "Tensor f16"}));
  EXPECT_FALSE(plain.layout().filter.isDepthwise);
  const ChannelRows &rows = plain.layout().operand(1).rows;
  EXPECT_EQ(rows.channels, 70);
  EXPECT_EQ(rows.row, 9 * channelBlock(DataType::F16));

  OneOp few({"tensor<1x20x8x8xf16>"}, {"tensor<32x20x3x3xf16>"},
            "%r = \"tpu.Conv\"(%x, %a, %n) {" + kConvAttributes +
                "} : (tensor<1x20x8x8xf16>, tensor<32x20x3x3xf16>, none) -> tensor<1x32x8x8xf16>");
  EXPECT_EQ(described(few.layout()),
            (Texts{"Tensor f16", "PerChannel f16 resident 64", "Absent", "Tensor f16"}));

  OneOp depthwise({"tensor<1x70x8x8xf32>"}, {"tensor<70x1x3x3xf32>"},
                  "%r = \"tpu.Conv\"(%x, %a, %n) {group = 70 : i64, " + kConvAttributes +
                      "} : (tensor<1x70x8x8xf32>, tensor<70x1x3x3xf32>, none) -> "
                      "tensor<1x70x8x8xf32>");
  EXPECT_EQ(described(depthwise.layout()),
            (Texts{"Tensor f32", "PerChannel f32 resident 4", "Absent", "Tensor f32"}));
  EXPECT_TRUE(depthwise.layout().filter.isDepthwise);
  EXPECT_EQ(depthwise.layout().operand(1).rows.row, 9);
}

TEST(BM1684XLayout, MatricesOfConstantsLieAsColumns) {
  const auto product = [](const std::string &type, const std::string &right, bool isConstant) {
    const std::string left = fmt::format("tensor<4x16x{}>", type);
    const std::string matrix = fmt::format("tensor<{}x{}>", right, type);
    return std::make_unique<OneOp>(
        isConstant ? Texts{left} : Texts{left, matrix}, isConstant ? Texts{matrix} : Texts{},
        fmt::format("%r = \"tpu.MatMul\"(%x, %{}, %n) {{right_transpose = {}}} : ({}, {}, none) -> "
                    "tensor<4x5x{}>",
                    isConstant ? "a" : "y", right == "5x16", left, matrix, type));
  };
  EXPECT_EQ(described(product("f16", "5x16", true)->layout()),
            (Texts{"Tensor f16", "Columns f16 turned", "Absent", "Tensor f16"}));
  EXPECT_EQ(described(product("f16", "16x5", true)->layout()),
            (Texts{"Tensor f16", "Tensor f16", "Absent", "Tensor f16"}));
  // No command takes columns of F32: packing turns them.
  EXPECT_EQ(described(product("f32", "5x16", true)->layout()),
            (Texts{"Tensor f32", "Tensor f32", "Absent", "Tensor f32"}));
  // What is computed is taken as it lies.
  EXPECT_EQ(described(product("f32", "5x16", false)->layout()),
            (Texts{"Tensor f32", "Tensor f32 turned", "Absent", "Tensor f32"}));
}

TEST(BM1684XLayout, TablesAndNormsAreInEveryLaneNumbersInCommands) {
  const std::string quantized = "tensor<1x4x6x6x!quant.uniform<i8:f32, 0.1>>";
  OneOp table({quantized}, {"tensor<256xi8>"},
              "%r = \"tpu.Lut\"(%x, %a) : (" + quantized + ", tensor<256xi8>) -> " + quantized);
  EXPECT_EQ(described(table.layout()), (Texts{"Tensor i8", "EveryLane i8", "Tensor i8"}));

  OneOp norm({"tensor<4x16xf32>"}, {"tensor<16xf32>", "tensor<16xf32>"},
             "%r:3 = \"tpu.LayerNorm\"(%x, %a, %b) {axis = 1 : i64} : (tensor<4x16xf32>, "
             "tensor<16xf32>, tensor<16xf32>) -> (tensor<4x16xf32>, none, none)");
  EXPECT_EQ(described(norm.layout()),
            (Texts{"Tensor f32", "EveryLane f32", "EveryLane f32", "Tensor f32"}));

  OneOp sum({"tensor<1x4x6x6xf32>"}, {"tensor<1xf32>"},
            "%r = \"tpu.Add\"(%x, %a) : (tensor<1x4x6x6xf32>, tensor<1xf32>) -> "
            "tensor<1x4x6x6xf32>");
  const double number = readConstant(sum.op, 1)->data<float>()[0];
  EXPECT_EQ(described(sum.layout()),
            (Texts{"Tensor f32", fmt::format("Absent {:.0f}", number), "Tensor f32"}));
  EXPECT_EQ(sum.layout().operand(1).number, number);

  OneOp softmax({"tensor<2x8x16xf32>"}, {},
                "%r = \"tpu.Softmax\"(%x) {axis = 1 : i64} : (tensor<2x8x16xf32>) -> "
                "tensor<2x8x16xf32>");
  EXPECT_EQ(described(softmax.layout()), (Texts{"Transposed f32", "Transposed f32"}));
}

/// A product of a picture with factors of its channels.
std::unique_ptr<OneOp> scaled(int64_t channels, const std::string &type) {
  const std::string picture = fmt::format("tensor<1x{}x6x6x{}>", channels, type);
  const std::string factors = fmt::format("tensor<1x{}x1x1xf32>", channels);
  return std::make_unique<OneOp>(
      Texts{picture}, Texts{factors},
      fmt::format("%r = \"tpu.Mul\"(%a, %x) : ({1}, {0}) -> {0}", picture, factors));
}

TEST(BM1684XLayout, NumbersOfManyChannelsStayLikeBiases) {
  EXPECT_EQ(described(scaled(130, "f16")->layout()),
            (Texts{"PerChannel f32 resident 4", "Tensor f16", "Tensor f16"}));
  // A lane holds one at most: rows of matrices can read them, too.
  EXPECT_EQ(described(scaled(64, "f16")->layout()),
            (Texts{"Tensor f32", "Tensor f16", "Tensor f16"}));
  // Elements of one pixel may be seen in any order.
  OneOp pixel({"tensor<1x130x1x1xf32>"}, {"tensor<1x130x1x1xf32>"},
              "%r = \"tpu.Add\"(%x, %a) : (tensor<1x130x1x1xf32>, tensor<1x130x1x1xf32>) -> "
              "tensor<1x130x1x1xf32>");
  EXPECT_EQ(described(pixel.layout()), (Texts{"Tensor f32", "Tensor f32", "Tensor f32"}));
  OneOp slopes({"tensor<1x70x6x6xf32>"}, {"tensor<70x1x1xf32>"},
               "%r = \"tpu.PRelu\"(%x, %a) : (tensor<1x70x6x6xf32>, tensor<70x1x1xf32>) -> "
               "tensor<1x70x6x6xf32>");
  EXPECT_EQ(described(slopes.layout()),
            (Texts{"Tensor f32", "PerChannel f32 resident 4", "Tensor f32"}));
}

TEST(BM1684XLayout, NumbersOfChannelsAreNotForRowsOfMatrices) {
  const std::unique_ptr<OneOp> one = scaled(130, "f32");
  Expected<TileModel> rows = one->backend->modelOf(one->op, TileLayout::Matrix);
  ASSERT_TRUE(rows);
  TiledOp tiled{.op = one->op, .model = &*rows};
  tiled.result.tile = wholeTile(rows->result);
  for (const OperandModel &operand : rows->operands)
    tiled.operands.push_back({operand.slice(tiled.result.tile)});
  const Expected<int64_t> scratch = one->backend->scratchBytes(tiled);
  ASSERT_FALSE(scratch);
  EXPECT_EQ(scratch.error().message(),
            "numbers of channels for rows of matrices; expected channels of pictures");
}

const std::string kLstm =
    "%r:3 = \"tpu.LSTM\"(%x, %a, %b, %c, %n, %n, %n, %n) {hidden_size = 4 : i64} : "
    "(tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, none, none, "
    "none, none) -> (tensor<5x1x2x4xf32>, none, none)";

TEST(BM1684XLayout, RecurrentCellsHaveRowsForEachGate) {
  OneOp cell({"tensor<5x2x3xf32>"},
             {"tensor<1x16x3xf32>", "tensor<1x16x4xf32>", "tensor<1x32xf32>"}, kLstm);
  EXPECT_EQ(described(cell.layout()),
            (Texts{"Transposed f32", "PerChannel f32 resident 64", "PerChannel f32 resident 64",
                   "PerChannel f32 resident 4", "Absent", "Absent", "Absent", "Absent",
                   "Transposed f32"}));
  EXPECT_EQ(cell.layout().operand(1).rows.channels, 16);
  EXPECT_EQ(cell.layout().operand(3).rows.channels, 32);
}

//===--- Integers ---------------------------------------------------------===//

const std::string kInt8 = "!quant.uniform<i8:f32, 0.01:-3>";

std::string factors(int64_t count) {
  std::vector<int64_t> multipliers(static_cast<size_t>(count));
  std::iota(multipliers.begin(), multipliers.end(), 1 << 30);
  return fmt::format("multiplier = [{}], rshift = [{}], round_mode = \"HalfUp\"",
                     fmt::join(multipliers, ", "),
                     fmt::join(std::vector<int64_t>(static_cast<size_t>(count), 38), ", "));
}

std::unique_ptr<OneOp> integerConv(int64_t channels, int64_t inputs, int64_t group) {
  const std::string input =
      fmt::format("tensor<1x{}x6x6x{}>", group == 1 ? inputs : channels, kInt8);
  const std::string filter = fmt::format("tensor<{}x{}x3x3xi8>", channels, inputs);
  const std::string bias = fmt::format("tensor<{}xi32>", channels);
  return std::make_unique<OneOp>(
      Texts{input}, Texts{filter, bias},
      fmt::format("%r = \"tpu.Conv\"(%x, %a, %b) {{group = {} : i64, {}, {}}} : ({}, {}, {}) -> "
                  "tensor<1x{}x6x6x{}>",
                  group, kConvAttributes, factors(channels), input, filter, bias, channels, kInt8));
}

std::unique_ptr<OneOp> integerDeconv(int64_t channels) {
  const std::string input = fmt::format("tensor<1x20x6x6x{}>", kInt8);
  const std::string filter = fmt::format("tensor<20x{}x2x2xi8>", channels);
  return std::make_unique<OneOp>(
      Texts{input}, Texts{filter},
      fmt::format("%r = \"tpu.Deconv\"(%x, %a, %n) {{group = 1 : i64, kernel_shape = [2, 2], "
                  "strides = [2, 2], pads = [0, 0, 0, 0], {}}} : ({}, {}, none) -> "
                  "tensor<1x{}x12x12x{}>",
                  factors(channels), input, filter, channels, kInt8));
}

std::unique_ptr<OneOp> integerSlopes() {
  const std::string type = fmt::format("tensor<1x70x6x6x{}>", kInt8);
  return std::make_unique<OneOp>(
      Texts{type}, Texts{"tensor<1x70x1x1xi8>"},
      fmt::format("%r = \"tpu.PRelu\"(%x, %a) {{{}}} : ({}, tensor<1x70x1x1xi8>) -> {}",
                  factors(71), type, type));
}

std::unique_ptr<OneOp> integerProduct(bool isTurned) {
  const std::string left = fmt::format("tensor<4x16x{}>", kInt8);
  const std::string right = isTurned ? "tensor<5x16xi8>" : "tensor<16x5xi8>";
  return std::make_unique<OneOp>(
      Texts{left}, Texts{right, "tensor<5xi32>"},
      fmt::format("%r = \"tpu.MatMul\"(%x, %a, %b) {{right_transpose = {}, {}}} : ({}, {}, "
                  "tensor<5xi32>) -> tensor<4x5x{}>",
                  isTurned, factors(5), left, right, kInt8));
}

TEST(BM1684XLayout, ConstantsOfIntegersCarryParameters) {
  // Filters take the biases with them, and are too long to stay.
  EXPECT_EQ(described(integerConv(70, 20, 1)->layout()),
            (Texts{"Tensor i8", "PerChannel i8 +channel words", "Absent", "Tensor i8"}));
  EXPECT_EQ(described(integerConv(70, 1, 70)->layout()),
            (Texts{"Tensor i8", "PerChannel i8 +channel words", "Absent", "Tensor i8"}));
  EXPECT_EQ(described(integerSlopes()->layout()),
            (Texts{"Tensor i8", "PerChannel i8 +channel words", "Tensor i8"}));
  EXPECT_EQ(described(integerProduct(false)->layout()),
            (Texts{"Tensor i8", "Tensor i8 +column words", "Absent", "Tensor i8"}));
  EXPECT_EQ(described(integerProduct(true)->layout()),
            (Texts{"Tensor i8", "Columns i8 turned +column words", "Absent", "Tensor i8"}));
  EXPECT_TRUE(integerDeconv(1)->layout().filter.hasTapsAsChannels);
  EXPECT_TRUE(integerDeconv(70)->layout().filter.isInPhases);
  EXPECT_FALSE(integerDeconv(70)->layout().filter.hasTapsAsChannels);
}

//===--- Packing, transfers, footprint and kernels ------------------------===//

/// Loads a constant operand of `tiled` as it is packed, and reads it where kernels do.
class LoadedConstant {
public:
  LoadedConstant(const OneOp &one, TiledOp tiled, unsigned index)
      : tensor(one.layout().operand(index)) {
    mlir::OpOperand &operand = one.op->getOpOperand(index);
    Expected<Tensor> constant = readConstant(one.op, index);
    Expected<std::optional<PackedLayout>> packing = packedLayout(operand);
    EXPECT_TRUE(constant && packing);
    if (!constant || !packing)
      return;
    if (*packing) {
      if ((*packing)->type)
        *constant = convert(*constant, *(*packing)->type);
      *constant = pack(*constant, **packing);
    }
    const GlobalTensor from =
        bench.put(constant->reshaped(Shape{1, 1, 1, constant->numElements()}));
    LocalTile &local = tiled.operands[index];
    const auto room = static_cast<uint32_t>(alignUp(tensor.bytes(local.tile), kEuBytes));
    local.address = bench.bytes(room + kGuardBytes);
    expectOk(
        emitLocalFill(bench.builder, guard(static_cast<uint32_t>(local.address), room), kGuard));
    expectOk(loadOperand(bench.builder, tiled, index, static_cast<int64_t>(from.address)));
    behind = bench.store(guard(static_cast<uint32_t>(local.address) + room, 0));
    elements = bench.store(tensor.local(local));
    if (tensor.parameters == Carried::ChannelWords)
      words = bench.store(localTensor(
          DataType::I32,
          {1, tensor.rows.rowsOf(local.tile[kAxisC]).size, 1, kEuBytes / int64_t{sizeof(int32_t)}},
          tensor.parameterAddress(local)));
    if (tensor.parameters == Carried::ColumnWords)
      words = bench.store(tensor.localColumnWords(local));
    bench.run();
    // The footprint is all that a load writes.
    EXPECT_THAT(bench.get(behind).data<uint8_t>(), testing::Each(kGuard));
  }

  Tensor read() const { return bench.get(elements); }
  Tensor readWords() const { return bench.get(words); }

private:
  static constexpr uint32_t kGuardBytes = 128;
  static constexpr uint8_t kGuard = 0xA5;
  /// `bytes` from `address` on, and those behind them, in all lanes.
  static LocalTensor guard(uint32_t address, uint32_t bytes) {
    return localTensor(DataType::U8, {1, kLanes, 1, bytes + kGuardBytes}, address);
  }

  const TensorLayout &tensor;
  Bench bench;
  GlobalTensor behind, elements, words;
};

/// Words of channels [begin, end) as kernels read them are those that the op has.
void expectChannelWords(const OneOp &one, const LoadedConstant &loaded, Range channels,
                        int64_t each) {
  Expected<std::vector<int32_t>> wanted = parameterWords(one.op, one.layout());
  ASSERT_TRUE(wanted) << wanted.error().message();
  const Tensor found = loaded.readWords();
  const int64_t slot = found.shape()[3];
  for (int64_t channel = 0; channel < channels.size; ++channel)
    for (int64_t word = 0; word < each; ++word)
      EXPECT_EQ(found.data<int32_t>()[static_cast<size_t>(channel * slot + word)],
                (*wanted)[static_cast<size_t>((channels.begin + channel) * each + word)])
          << "channel " << channels.begin + channel << " word " << word;
}

/// Element `i` of the row of `channel` in a filter [channels, inputs, taps]: blocks of input
/// channels, taps, and channels within the block.
int8_t filterElement(const Tensor &filter, int64_t block, int64_t channel, int64_t i) {
  const int64_t inputs = filter.shape()[1];
  const int64_t taps = filter.shape()[2] * filter.shape()[3];
  const int64_t input = i / block / taps * block + i % block;
  const int64_t tap = i / block % taps;
  return input < inputs
             ? filter.data<int8_t>()[static_cast<size_t>((channel * inputs + input) * taps + tap)]
             : int8_t{0};
}

TEST(BM1684XLayout, FiltersAndTheirWordsAreWhereKernelsReadThem) {
  for (bool isDepthwise : {false, true})
    for (const Range channels : {Range{0, 130}, Range{64, 64}, Range{128, 2}}) {
      const std::unique_ptr<OneOp> one =
          integerConv(130, isDepthwise ? 1 : 70, isDepthwise ? 130 : 1);
      const LoadedConstant loaded(*one, one->tiled(channels), 1);
      expectChannelWords(*one, loaded, channels, kRequantWords);
      const Tensor filter = *readConstant(one->op, 1);
      const Tensor found = loaded.read();
      const int64_t block = isDepthwise ? 1 : channelBlock(DataType::I8);
      ASSERT_EQ(found.shape()[1], channels.size);
      for (int64_t channel = 0; channel < channels.size; ++channel)
        for (int64_t i = 0; i < found.shape()[3]; ++i)
          ASSERT_EQ(found.data<int8_t>()[static_cast<size_t>(channel * found.shape()[3] + i)],
                    filterElement(filter, block, channels.begin + channel, i))
              << "channel " << channels.begin + channel << " element " << i;
    }
}

TEST(BM1684XLayout, NumbersOfChannelsAreWhereKernelsReadThem) {
  const std::unique_ptr<OneOp> one = scaled(130, "f16");
  const Tensor numbers = *readConstant(one->op, 0);
  for (const Range channels : {Range{0, 130}, Range{64, 64}, Range{128, 2}}) {
    const Tensor found = LoadedConstant(*one, one->tiled(channels), 0).read();
    ASSERT_EQ(found.numElements(), channels.size);
    for (int64_t channel = 0; channel < channels.size; ++channel)
      EXPECT_EQ(found.data<float>()[static_cast<size_t>(channel)],
                numbers.data<float>()[static_cast<size_t>(channels.begin + channel)]);
  }
}

TEST(BM1684XLayout, WordsOfPhasesAreWhereKernelsReadThem) {
  // A bias for each of four phases, the first one among the other words.
  const std::unique_ptr<OneOp> phases = integerDeconv(70);
  for (const Range channels : {Range{0, 70}, Range{64, 6}})
    expectChannelWords(*phases, LoadedConstant(*phases, phases->tiled(channels), 1), channels,
                       kRequantWords + 3);
  const std::unique_ptr<OneOp> taps = integerDeconv(1);
  expectChannelWords(*taps, LoadedConstant(*taps, taps->tiled(), 1), {0, 4}, kRequantWords);
}

TEST(BM1684XLayout, SlopesAndTheirWordsAreWhereKernelsReadThem) {
  const std::unique_ptr<OneOp> one = integerSlopes();
  for (const Range channels : {Range{0, 70}, Range{64, 6}})
    expectChannelWords(*one, LoadedConstant(*one, one->tiled(channels), 1), channels,
                       kRequantWords);
}

TEST(BM1684XLayout, MatricesAndTheirWordsAreWhereKernelsReadThem) {
  for (bool isTurned : {false, true}) {
    const std::unique_ptr<OneOp> one = integerProduct(isTurned);
    const LoadedConstant loaded(*one, one->tiled(), 1);
    expectSame(
        loaded.read(),
        readConstant(one->op, 1)->reshaped(isTurned ? Shape{1, 5, 1, 16} : Shape{1, 16, 1, 5}));
    Expected<std::vector<int32_t>> wanted = parameterWords(one->op, one->layout());
    ASSERT_TRUE(wanted) << wanted.error().message();
    const Tensor found = loaded.readWords();
    for (int64_t row = 0; row < kColumnRows; ++row)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        for (int64_t column = 0; column < 5; ++column)
          EXPECT_EQ(found.data<int32_t>()[static_cast<size_t>((row * kLanes + lane) * 5 + column)],
                    (*wanted)[static_cast<size_t>(row * 5 + column)]);
  }
}

TEST(BM1684XLayout, RowsOfGatesAreWhereKernelsReadThem) {
  OneOp cell({"tensor<5x2x3xf32>"},
             {"tensor<1x16x3xf32>", "tensor<1x16x4xf32>", "tensor<1x32xf32>"}, kLstm);
  for (unsigned index : {1U, 2U, 3U}) {
    const Tensor wanted = *readConstant(cell.op, index);
    const Tensor found = LoadedConstant(cell, cell.tiled(), index).read();
    const int64_t channels = found.shape()[1];
    const int64_t own = wanted.numElements() / channels;
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t i = 0; i < found.shape()[3]; ++i)
        EXPECT_EQ(found.data<float>()[static_cast<size_t>(channel * found.shape()[3] + i)],
                  i < own ? wanted.data<float>()[static_cast<size_t>(channel * own + i)] : 0);
  }
}

} // namespace
