//===- Import.cpp - Networks from Top modules -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Codegen/Import.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/OpAttributes.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>

using namespace mlir;

namespace tpuc::dnnweaver {

namespace {

using Kind = Node::Kind;

/// More rows, columns or channels than memory has place for.
constexpr int64_t kMostExtent = 65536;

class Importer {
public:
  Importer(ModuleOp module, const codegen::TensorRanges &ranges, bool usesHost)
      : module(module), ranges(ranges), usesHost(usesHost) {}
  Expected<Network> run();

private:
  Expected<void> add(Operation *op);
  Expected<void> addOnArray(Operation *op);
  Expected<void> addHost(Operation *op);
  Expected<void> addInput(top::InputOp op);
  Expected<void> addConv(top::ConvOp op);
  Expected<void> addMatMul(top::MatMulOp op);
  Expected<void> addPool(top::MaxPoolOp op);
  Expected<void> addConcat(top::ConcatOp op);
  Expected<void> addSlice(top::SliceOp op);
  Expected<void> addSplit(top::SplitOp op);
  Expected<void> addInterp(top::InterpOp op);
  Expected<void> addUpsample(Operation *op, int64_t h, int64_t w);
  Expected<void> addActivation(Operation *op, double slope,
                               std::optional<double> limit = std::nullopt);
  Expected<void> addOutputs(Operation *end);

  static tl::unexpected<Error> refusal(Operation *op, std::string found, std::string expected) {
    return makeError(fmt::format("'{}' ({})", layerName(op), op->getName().getStringRef().str()),
                     std::move(found), std::move(expected));
  }
  /// The map of a tensor, in whatever shape.
  Expected<unsigned> sourceOf(Operation *op, Value value) const;
  /// The same in the shape that the map has.
  Expected<unsigned> mapOf(Operation *op, Value value) const;
  Expected<unsigned> makeMap(Operation *op, unsigned result);
  Expected<std::vector<float>> constant(Operation *op, Value value) const;
  Expected<void> makeNode(Operation *op, Node node, Value input);
  /// Adds what `do_relu` asks for behind the last node.
  template <typename Op> Expected<void> addRelu(Op op);

  ModuleOp module;
  const codegen::TensorRanges &ranges;
  bool usesHost;
  Network network;
  DenseMap<Value, unsigned> maps;
};

Expected<unsigned> Importer::sourceOf(Operation *op, Value value) const {
  if (const auto found = maps.find(value); found != maps.end())
    return found->second;
  return refusal(op, "an operand that is no feature map", "a feature map");
}

Expected<unsigned> Importer::mapOf(Operation *op, Value value) const {
  Expected<unsigned> map = sourceOf(op, value);
  if (!map)
    return map;
  const FeatureMap &of = network.maps[*map];
  const std::vector<int64_t> whole = {1, of.channels, of.height, of.width};
  const ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  const bool isPixel = of.height == 1 && of.width == 1 && shape.size() == 2;
  if (shape == ArrayRef<int64_t>(whole) ||
      (isPixel && shape == ArrayRef<int64_t>(whole).take_front(2)))
    return map;
  return refusal(op, "an operand in another shape than it was made in", "the same shape");
}

/// The map of a result, with its range. Of two dimensions it has one pixel.
Expected<unsigned> Importer::makeMap(Operation *op, unsigned result) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(result).getType());
  const std::string name = tensorNames(op)[result];
  if (!type || !type.hasStaticShape() || (type.getRank() != 2 && type.getRank() != 4) ||
      type.getDimSize(0) != 1)
    return refusal(op, "a result of another shape", "[1, channels, rows, columns]");
  for (const int64_t extent : type.getShape())
    if (extent < 1 || extent > kMostExtent)
      return refusal(op, fmt::format("an extent of {}", extent),
                     fmt::format("1 to {}", kMostExtent));
  const auto range = ranges.find(name);
  if (range == ranges.end())
    return refusal(op, "no range of '" + name + "'", "a calibration table");
  FeatureMap map;
  map.name = name;
  map.channels = static_cast<unsigned>(type.getDimSize(1));
  map.height = type.getRank() == 4 ? static_cast<unsigned>(type.getDimSize(2)) : 1;
  map.width = type.getRank() == 4 ? static_cast<unsigned>(type.getDimSize(3)) : 1;
  map.least = range->second.first;
  map.most = range->second.second;
  map.shape.assign(type.getShape().begin(), type.getShape().end());
  network.maps.push_back(std::move(map));
  const auto number = static_cast<unsigned>(network.maps.size() - 1);
  maps[op->getResult(result)] = number;
  return number;
}

Expected<std::vector<float>> Importer::constant(Operation *op, Value value) const {
  auto weight = value.getDefiningOp<top::WeightOp>();
  if (!weight)
    return refusal(op, "weights that are computed", "constants");
  return weight.read_as_float();
}

Expected<void> Importer::makeNode(Operation *op, Node node, Value input) {
  if (node.inputs.empty()) {
    const Expected<unsigned> from = mapOf(op, input);
    if (!from)
      return tl::unexpected<Error>(from.error());
    node.inputs = {*from};
  }
  const Expected<unsigned> to = makeMap(op, 0);
  if (!to)
    return tl::unexpected<Error>(to.error());
  node.name = layerName(op);
  node.output = *to;
  network.nodes.push_back(std::move(node));
  return {};
}

/// What a ReLU gives at most; none for negative numbers.
template <typename Op> std::optional<double> limitOf(Op op) {
  const double limit = op.getReluLimit().convertToDouble();
  return limit >= 0 ? std::optional(limit) : std::nullopt;
}

template <typename Op> Expected<void> Importer::addRelu(Op op) {
  if (!op.getDoRelu())
    return {};
  // The node gives a map of its own, whose negative values nobody has measured; it is not stored.
  Node &node = network.nodes.back();
  Node relu;
  relu.kind = Kind::Activation;
  relu.limit = limitOf(op);
  relu.name = node.name;
  relu.output = node.output;
  node.output = network.addLike(node.output, node.name + "/sums");
  relu.inputs = {node.output};
  network.nodes.push_back(std::move(relu));
  return {};
}

Expected<void> Importer::addInput(top::InputOp op) {
  const Expected<unsigned> map = makeMap(op, 0);
  if (!map)
    return tl::unexpected<Error>(map.error());
  network.inputs.push_back(*map);
  return {};
}

/// Pads and strides of two dimensions.
template <typename Op> Node windowOf(Op op) {
  Node node;
  const auto ints = [](std::optional<ArrayAttr> attribute, std::vector<int64_t> usual) {
    if (attribute)
      for (size_t i = 0; i < std::min(usual.size(), attribute->size()); ++i)
        usual[i] = cast<IntegerAttr>((*attribute)[i]).getInt();
    return usual;
  };
  const auto extent = [](const std::vector<int64_t> &pair) {
    return Extent{static_cast<unsigned>(pair[0]), static_cast<unsigned>(pair[1])};
  };
  node.kernel = extent(ints(op.getKernelShape(), {1, 1}));
  node.stride = extent(ints(op.getStrides(), {1, 1}));
  const std::vector<int64_t> pads = ints(op.getPads(), {0, 0, 0, 0});
  node.pads = {static_cast<unsigned>(pads[0]), static_cast<unsigned>(pads[1]),
               static_cast<unsigned>(pads[2]), static_cast<unsigned>(pads[3])};
  return node;
}

bool isOnes(std::optional<ArrayAttr> attribute) {
  return !attribute || llvm::all_of(*attribute, [](Attribute each) {
    return cast<IntegerAttr>(each).getInt() == 1;
  });
}

bool hasRank(Value value, int64_t rank) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == rank;
}

Expected<void> Importer::addConv(top::ConvOp op) {
  if (!hasRank(op.getInput(), 4) || op.getGroup() != 1 || !isOnes(op.getDilations()) ||
      op.getInserts().value_or(ArrayAttr()) || op.getPadValue() || op.getPadValues() ||
      op.getAutoPad() != "NOTSET")
    return refusal(op,
                   op.getGroup() != 1 ? fmt::format("{} groups", op.getGroup())
                                      : "dilations, zeros in the input or pads of another number",
                   "a convolution of two dimensions and one group");
  Node node = windowOf(op);
  node.kind = Kind::Conv;
  Expected<std::vector<float>> weights = constant(op, op.getFilter());
  if (!weights)
    return propagate(weights);
  node.weights = std::move(*weights);
  node.bias.resize(
      static_cast<size_t>(cast<RankedTensorType>(op.getFilter().getType()).getDimSize(0)));
  if (!isa<NoneType>(op.getBias().getType())) {
    Expected<std::vector<float>> bias = constant(op, op.getBias());
    if (!bias)
      return propagate(bias);
    node.bias = std::move(*bias);
  }
  if (Expected<void> made = makeNode(op, std::move(node), op.getInput()); !made)
    return made;
  return addRelu(op);
}

/// A convolution whose window is the whole input. The columns of a flattened image are in the order
/// channel, row, column, as filters are.
Expected<void> Importer::addMatMul(top::MatMulOp op) {
  auto right = dyn_cast<RankedTensorType>(op.getRight().getType());
  const Expected<unsigned> input = sourceOf(op, op.getInput());
  if (!input)
    return tl::unexpected<Error>(input.error());
  const FeatureMap from = network.maps[*input];
  const int64_t depth = int64_t{from.channels} * from.height * from.width;
  if (!right || right.getRank() != 2 || op.getLeftTranspose() ||
      right.getDimSize(op.getRightTranspose() ? 1 : 0) != depth || !hasRank(op.getOutput(), 2))
    return refusal(op, "a product of other shapes", "an inner product over the whole input");
  Expected<std::vector<float>> weights = constant(op, op.getRight());
  if (!weights)
    return propagate(weights);
  const int64_t kernels = right.getDimSize(op.getRightTranspose() ? 0 : 1);
  Node node;
  node.kind = Kind::Conv;
  node.inputs = {*input};
  node.kernel = {from.height, from.width};
  node.weights.resize(weights->size());
  for (int64_t k = 0; k < kernels; ++k)
    for (int64_t i = 0; i < depth; ++i)
      node.weights[static_cast<size_t>(k * depth + i)] =
          (*weights)[static_cast<size_t>(op.getRightTranspose() ? k * depth + i : i * kernels + k)];
  node.bias.resize(static_cast<size_t>(kernels));
  if (!isa<NoneType>(op.getBias().getType())) {
    Expected<std::vector<float>> bias = constant(op, op.getBias());
    if (!bias)
      return propagate(bias);
    if (bias->size() != node.bias.size())
      return refusal(op, "a bias of another length", "one for each column");
    node.bias = std::move(*bias);
  }
  if (Expected<void> made = makeNode(op, std::move(node), op.getInput()); !made)
    return made;
  return addRelu(op);
}

Expected<void> Importer::addPool(top::MaxPoolOp op) {
  if (!hasRank(op.getInput(), 4) || !isOnes(op.getDilations()) || op.getAutoPad() != "NOTSET")
    return refusal(op, "dilations or other dimensions", "a pool of two dimensions");
  Node node = windowOf(op);
  node.kind = Kind::MaxPool;
  auto from = cast<RankedTensorType>(op.getInput().getType());
  auto to = cast<RankedTensorType>(op.getOutput().getType());
  // The last windows may end behind the stated pads, or in front of the image's end.
  const auto end = [](int64_t results, unsigned stride, unsigned size, unsigned begin,
                      int64_t extent) {
    const int64_t pad = (results - 1) * stride + size - begin - extent;
    return static_cast<unsigned>(std::max<int64_t>(pad, 0));
  };
  node.pads.bottom =
      end(to.getDimSize(2), node.stride.h, node.kernel.h, node.pads.top, from.getDimSize(2));
  node.pads.right =
      end(to.getDimSize(3), node.stride.w, node.kernel.w, node.pads.left, from.getDimSize(3));
  if (Expected<void> made = makeNode(op, std::move(node), op.getInput()); !made)
    return made;
  return addRelu(op);
}

/// The dimension of `rank` that `axis` names, -1 for the last one.
static int64_t frontAxis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

Expected<void> Importer::addConcat(top::ConcatOp op) {
  auto to = dyn_cast<RankedTensorType>(op.getOutput().getType());
  const int64_t rank = to ? to.getRank() : 0;
  const auto axis = static_cast<int64_t>(op.getAxis());
  const int64_t number = frontAxis(axis, rank);
  if (number < 1 || number > 3)
    return refusal(op, fmt::format("axis {}", axis), "channels, rows or columns");
  Node node;
  node.kind = Kind::Concat;
  node.axis = static_cast<Axis>(number - 1);
  for (const Value part : op.getInputs()) {
    const Expected<unsigned> map = mapOf(op, part);
    if (!map)
      return tl::unexpected<Error>(map.error());
    node.inputs.push_back(*map);
  }
  if (Expected<void> made = makeNode(op, std::move(node), op.getInputs().front()); !made)
    return made;
  return addRelu(op);
}

Expected<void> Importer::addSlice(top::SliceOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto to = dyn_cast<RankedTensorType>(op.getOutput().getType());
  Node node;
  node.kind = Kind::Slice;
  if (!from || !to || from.getRank() != 4 || to.getRank() != 4 || !isOnes(op.getSteps()) ||
      !op.getOffset())
    return refusal(op, "a part by steps", "channels, rows and columns that follow each other");
  // Of the axes that are named, or of the first ones.
  unsigned *const places[] = {nullptr, &node.first, &node.top, &node.left};
  for (const auto &[i, offset] : llvm::enumerate(*op.getOffset())) {
    const int64_t axis = frontAxis(
        op.getAxes() ? cast<IntegerAttr>((*op.getAxes())[i]).getInt() : static_cast<int64_t>(i), 4);
    int64_t first = cast<IntegerAttr>(offset).getInt();
    first = first < 0 ? first + from.getDimSize(axis) : first;
    if (first < 0 || first + to.getDimSize(axis) > from.getDimSize(axis))
      return refusal(op, "elements outside of the input", "inside");
    if (axis > 0)
      *places[axis] = static_cast<unsigned>(first);
  }
  return makeNode(op, std::move(node), op.getInput());
}

Expected<void> Importer::addSplit(top::SplitOp op) {
  const auto axis = static_cast<int64_t>(op.getAxis());
  const int64_t number = frontAxis(axis, 4);
  if (number < 1 || number > 3 || !hasRank(op.getInput(), 4))
    return refusal(op, fmt::format("axis {}", axis), "channels, rows or columns");
  const Expected<unsigned> from = mapOf(op, op.getInput());
  if (!from)
    return tl::unexpected<Error>(from.error());
  unsigned first = 0;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    const Expected<unsigned> to = makeMap(op, i);
    if (!to)
      return tl::unexpected<Error>(to.error());
    Node node;
    node.kind = Kind::Slice;
    node.name = network.maps[*to].name;
    node.inputs = {*from};
    node.output = *to;
    const FeatureMap &part = network.maps[*to];
    (number == 1 ? node.first : number == 2 ? node.top : node.left) = first;
    first += number == 1 ? part.channels : number == 2 ? part.height : part.width;
    network.nodes.push_back(std::move(node));
  }
  return {};
}

Expected<void> Importer::addUpsample(Operation *op, int64_t h, int64_t w) {
  if (h != 2 || w != 2)
    return refusal(op, fmt::format("a scale of {} x {}", h, w), "2 x 2");
  Node node;
  node.kind = Kind::Upsample;
  return makeNode(op, std::move(node), op->getOperand(0));
}

/// Of the two places that a pixel becomes, the first lies at its edge or a quarter of a pixel
/// before its middle, and the second in its middle or a quarter behind it.
Expected<void> Importer::addInterp(top::InterpOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto to = dyn_cast<RankedTensorType>(op.getOutput().getType());
  const StringRef nearest = op.getNearestMode();
  const bool isFloor =
      op.getCoordMode() == "asymmetric" && (nearest == "floor" || nearest == "round_prefer_floor");
  const bool isHalf =
      (op.getCoordMode() == "half_pixel" || op.getCoordMode() == "pytorch_half_pixel") &&
      (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil");
  if (!from || !to || from.getRank() != 4 || op.getMode() != "nearest" || (!isFloor && !isHalf) ||
      from.getDimSize(1) != to.getDimSize(1))
    return refusal(op, "another way to resample", "each pixel repeated 2 x 2 times");
  for (const unsigned axis : {2U, 3U})
    if (to.getDimSize(axis) != 2 * from.getDimSize(axis))
      return refusal(op, "another scale", "2 x 2");
  return addUpsample(op, 2, 2);
}

Expected<void> Importer::addActivation(Operation *op, double slope, std::optional<double> limit) {
  if (slope < 0 || slope > 1)
    return refusal(op, fmt::format("a slope of {}", slope), "0 to 1");
  Node node;
  node.kind = Kind::Activation;
  node.slope = slope;
  node.limit = limit;
  return makeNode(op, std::move(node), op->getOperand(0));
}

/// Float tensors of any op that the host knows and that has one result.
Expected<void> Importer::addHost(Operation *op) {
  HostLayer layer;
  layer.op = op->getName().stripDialect().str();
  if (op->getNumResults() != 1 || op->getNumRegions() > 0 || !ops::findEvaluator(layer.op))
    return refusal(op, "the host does not compute it", "an op with one result");
  for (const NamedAttribute attribute : op->getAttrs())
    if (std::optional<ops::Attribute> plain = opAttribute(attribute.getValue()))
      layer.attributes.emplace_back(attribute.getName().str(), std::move(*plain));
  Node node;
  node.kind = Kind::Host;
  for (const Value operand : op->getOperands()) {
    HostLayer::Operand &made = layer.operands.emplace_back();
    if (isa<NoneType>(operand.getType()))
      continue;
    if (auto weight = operand.getDefiningOp<top::WeightOp>()) {
      Expected<Tensor> constant = weight.read();
      if (!constant)
        return propagate(constant);
      made.constant = std::move(*constant);
      continue;
    }
    const Expected<unsigned> map = sourceOf(op, operand);
    if (!map)
      return tl::unexpected<Error>(map.error());
    const ArrayRef<int64_t> dims = cast<RankedTensorType>(operand.getType()).getShape();
    made.dims.assign(dims.begin(), dims.end());
    made.input = static_cast<unsigned>(node.inputs.size());
    node.inputs.push_back(*map);
  }
  if (node.inputs.empty())
    return refusal(op, "no feature map", "one");
  node.host = std::move(layer);
  return makeNode(op, std::move(node), {});
}

/// What the array refuses, the host computes, if it is asked to. If it cannot either, the array's
/// words are what the user should read.
Expected<void> Importer::add(Operation *op) {
  const size_t numNodes = network.nodes.size(), numMaps = network.maps.size();
  Expected<void> done = addOnArray(op);
  if (done || !usesHost)
    return done;
  network.nodes.resize(numNodes);
  network.maps.resize(numMaps);
  return addHost(op) ? Expected<void>() : done;
}

Expected<void> Importer::addOnArray(Operation *op) {
  return llvm::TypeSwitch<Operation *, Expected<void>>(op)
      .Case<top::WeightOp, top::NoneOp>([](auto) { return Expected<void>(); })
      .Case([&](top::InputOp input) { return addInput(input); })
      .Case([&](top::ConvOp conv) { return addConv(conv); })
      .Case([&](top::MatMulOp product) { return addMatMul(product); })
      .Case([&](top::MaxPoolOp pool) { return addPool(pool); })
      .Case([&](top::ConcatOp concat) { return addConcat(concat); })
      .Case([&](top::SliceOp slice) { return addSlice(slice); })
      .Case([&](top::SplitOp split) { return addSplit(split); })
      .Case([&](top::InterpOp interp) { return addInterp(interp); })
      .Case([&](top::LeakyReluOp leaky) {
        return addActivation(leaky, leaky.getAlpha().convertToDouble());
      })
      .Case([&](top::ReluOp relu) { return addActivation(relu, 0, limitOf(relu)); })
      .Case([&](top::UpsampleOp upsample) {
        Expected<void> done = addUpsample(upsample, static_cast<int64_t>(upsample.getScaleH()),
                                          static_cast<int64_t>(upsample.getScaleW()));
        return done ? addRelu(upsample) : done;
      })
      .Default([&](Operation *other) {
        // One order of elements: the map is the same.
        if (other->hasTrait<traits::ViewLike>()) {
          const Expected<unsigned> map = sourceOf(other, other->getOperand(0));
          if (!map)
            return Expected<void>(tl::unexpected<Error>(map.error()));
          maps[other->getResult(0)] = *map;
          return Expected<void>();
        }
        return Expected<void>(
            refusal(other, "the array does not compute it",
                    "convolutions, inner products, ReLU, LeakyReLU, max pools, 2 x 2 up-sampling, "
                    "concatenations and parts"));
      });
}

/// An output that is an input, or is given twice, is a copy.
Expected<void> Importer::addOutputs(Operation *end) {
  for (const Value value : end->getOperands()) {
    Expected<unsigned> map = sourceOf(end, value);
    if (!map)
      return tl::unexpected<Error>(map.error());
    auto result = dyn_cast<OpResult>(value);
    auto type = cast<RankedTensorType>(value.getType());
    if (network.isOutput(*map) || llvm::is_contained(network.inputs, *map)) {
      Node copy;
      copy.kind = Kind::Copy;
      copy.name = network.maps[*map].name + "/output";
      copy.inputs = {*map};
      copy.output = network.addLike(*map, copy.name);
      *map = copy.output;
      network.nodes.push_back(std::move(copy));
    }
    FeatureMap &out = network.maps[*map];
    if (result)
      out.name = tensorNames(result.getOwner())[result.getResultNumber()];
    out.shape.assign(type.getShape().begin(), type.getShape().end());
    network.outputs.push_back(*map);
  }
  return {};
}

Expected<Network> Importer::run() {
  Expected<func::FuncOp> main = top::mainFunction(module);
  if (!main)
    return propagate(main);
  network.name = module.getName().value_or("network").str();
  for (Operation &op : main->front().without_terminator())
    if (Expected<void> added = add(&op); !added)
      return propagate(added);
  if (Expected<void> added = addOutputs(main->front().getTerminator()); !added)
    return propagate(added);
  return std::move(network);
}

} // namespace

Expected<Network> importNetwork(ModuleOp top, const codegen::TensorRanges &ranges, bool usesHost) {
  return Importer(top, ranges, usesHost).run();
}

} // namespace tpuc::dnnweaver
