//===- Compile.cpp - From a network to what the machine runs --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Compiler/Compile.h"
#include "tpuc/Target/DNNWeaver/Compiler/HostLayers.h"
#include "tpuc/Target/DNNWeaver/Compiler/Layers.h"
#include "tpuc/Target/DNNWeaver/Machine/HostMoves.h"
#include "tpuc/Target/DNNWeaver/Machine/Timing.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::dnnweaver {

namespace {

class Compiler {
public:
  Compiler(Network network, const CompileOptions &options)
      : network(std::move(network)), options(options), machine(options.machine),
        pairs(options.kind.bits == 8) {}
  Expected<CompiledNetwork> compile();

private:
  Expected<void> check() const;
  void rewrite();
  void joinBranches();
  Expected<uint64_t> cyclesOf(const Node &conv) const;
  void quantize();
  bool quantizeOnce();
  IntegerLayer integersOfPass(const Pass &pass, IntegerProblem &problem) const;
  Expected<void> emit();
  Expected<void> addPrograms(model::SubNet &subNet, size_t begin, size_t end);
  void addFills();
  void beginSubNet(model::Stage &stage, const std::vector<HostMove> &moves);
  std::vector<HostMove> addHostLayer(model::Stage &stage, const Pass &pass);
  model::CommandGroup hostGroup(const std::vector<HostMove> &moves);
  void addInputs(model::Stage &stage);
  void addResults(model::Stage &stage);
  model::TensorInfo tensorOf(unsigned map, uint64_t address) const;
  uint64_t bytesOf(unsigned map) const {
    const FeatureMap &of = network.maps[map];
    return uint64_t{of.channels} * of.height * of.width * (options.kind.bits / 8);
  }
  void addMoves(unsigned map, uint64_t dense, std::vector<HostMove> &moves) const;
  Expected<void> assemble();
  model::Bytes keep(std::vector<std::byte> bytes);

  Network network;
  const CompileOptions &options;
  const Parameters &machine;
  bool pairs;
  std::vector<PackedInput> packed;
  Branches sharing;
  std::set<unsigned> symmetric;
  std::vector<Scale> scales;
  std::vector<Pass> passes;
  std::vector<IntegerLayer> integers;
  PageAllocator memory{.end = PageAllocator::kPage};
  Regions regions;
  ConstantSpace constants;
  MappingCache cache;
  std::vector<Block> blocks;
  /// The pass of each block.
  std::vector<uint32_t> owners;
  /// Passes of the host, and how many blocks are in front of each.
  std::vector<std::pair<uint32_t, size_t>> hostPasses;
  std::vector<HostMove> before, after;
  CompiledNetwork made;
};

Expected<void> Compiler::check() const {
  if (machine.isa == IsaKind::Patent)
    return {};
  if (pairs || options.kind.zeroPoints)
    return makeError(network.name, "int8 or zero points on the public machine", "symmetric int16");
  for (const Node &node : network.nodes)
    if (node.kind == Node::Kind::Upsample)
      return makeError(node.name, "up-sampling on the public machine",
                       "the patent's, which has it");
  return {};
}

/// What a convolution by itself takes.
Expected<uint64_t> Compiler::cyclesOf(const Node &conv) const {
  Pass pass;
  pass.conv = &conv;
  pass.output = conv.output;
  pass.kernel = conv.kernel;
  pass.stride = conv.stride;
  const auto words = [](size_t channels, unsigned size) {
    return static_cast<unsigned>((channels + size - 1) / size);
  };
  const ConvLayer layer =
      machineLayer(network, machine, pass, pairs ? Packing::Rows : Packing::None,
                   words(network.maps[conv.inputs.front()].channels, machine.rows),
                   words(conv.bias.size(), machine.columns));
  Placement placement;
  placement.input.pixelBytes = layer.inWords * machine.wordBytes(Buffer::Input, pairs);
  placement.input.rowBytes =
      placement.input.pixelBytes * layer.inputOf(layer.sumsOf(layer.result)).w;
  placement.sums.pixelBytes = layer.outWords * machine.wordBytes(Buffer::Output);
  placement.sums.rowBytes = placement.sums.pixelBytes * layer.result.w;
  placement.output.pixelBytes =
      uint64_t{layer.outWords} * machine.columns * (options.kind.bits / 8);
  placement.output.rowBytes = placement.output.pixelBytes * layer.result.w;
  if (pairs)
    placement.pairs = PairMode{};
  const Expected<SearchResult> found =
      searchMapping(machine, layer, placement, recipeOf(machine, {}), conv.name);
  return found ? Expected<uint64_t>(found->cycles) : tl::unexpected<Error>(found.error());
}

/// Joins branches that take fewer cycles so. What cannot be priced stays as it is.
void Compiler::joinBranches() {
  for (const std::vector<unsigned> &branch : branches(network)) {
    uint64_t apart = 0;
    bool isKnown = true;
    for (const unsigned map : branch) {
      const Expected<uint64_t> cycles = cyclesOf(*network.makerOf(map));
      isKnown = isKnown && cycles;
      apart += cycles.value_or(0);
    }
    Network joined = network;
    joinBranch(joined, branch);
    const auto first = std::ranges::find_if(joined.nodes, [&](const Node &node) {
      return node.kind == Node::Kind::Conv && !network.makerOf(node.output) &&
             node.output >= network.maps.size();
    });
    if (!isKnown || first == joined.nodes.end())
      continue;
    const unsigned result = first->output;
    std::swap(network, joined);
    const Expected<uint64_t> together = cyclesOf(*network.makerOf(result));
    if (!together || *together >= apart)
      std::swap(network, joined);
  }
}

void Compiler::rewrite() {
  cache.searches = options.rewrites.has(Rewrite::SearchLoops);
  if (options.rewrites.has(Rewrite::PackInput))
    packed = packInputs(network, machine.rows);
  if (options.rewrites.has(Rewrite::ExchangeConcats))
    exchangeConcats(network);
  if (options.rewrites.has(Rewrite::JoinBranches))
    joinBranches();
  sharing = branches(network);
  isolatePools(network);
  addCopies(network, options.rewrites);
  addHalos(network);
  passes = passesOf(network, options.rewrites, machine.hasCopies);
}

IntegerLayer Compiler::integersOfPass(const Pass &pass, IntegerProblem &problem) const {
  problem = {};
  const Scale &in = scales[pass.input], &out = scales[pass.output];
  Node one;
  one.weights = {1};
  one.bias = {0};
  const Node &node = pass.conv ? *pass.conv : one;
  double weightScale = pass.conv ? weightScaleOf(node, options.kind) : 1;
  for (const std::vector<unsigned> &branch : sharing)
    if (pass.conv && std::ranges::find(branch, pass.conv->output) != branch.end())
      for (const unsigned map : branch)
        weightScale = std::max(weightScale, weightScaleOf(*network.makerOf(map), options.kind));
  IntegerLayer layer =
      machine.isa == IsaKind::Public
          ? publicIntegersOf(node, pass.slope, in, out, weightScale)
          : integersOf(node, pass.slope, in, out, options.kind, weightScale, problem);
  if (pass.limit)
    layer.limit = limitOf(*pass.limit, out, options.kind);
  return layer;
}

/// False where a map lost its zero point, so that all has to be done again.
bool Compiler::quantizeOnce() {
  scales = mapScales(network, options.kind, sharing, symmetric);
  integers.clear();
  for (const Pass &pass : passes) {
    IntegerProblem problem;
    IntegerLayer layer = pass.host ? IntegerLayer{} : integersOfPass(pass, problem);
    if (problem.kind == IntegerProblem::Kind::ZeroPoint && symmetric.insert(pass.input).second) {
      made.notes.push_back(fmt::format(
          "'{}': the bias would be {:.0f}, more than 32 bits, so '{}' has no zero point", pass.name,
          problem.largest, network.maps[pass.input].name));
      return false;
    }
    if (problem.kind == IntegerProblem::Kind::Sum && pass.conv)
      made.notes.push_back(fmt::format(
          "'{}': a sum would be {:.0f}, more than 32 bits, so the scale of its weights is {:g} "
          "instead of {:g}",
          pass.name, problem.largest, layer.weightScale, weightScaleOf(*pass.conv, options.kind)));
    integers.push_back(std::move(layer));
  }
  return true;
}

void Compiler::quantize() {
  while (!quantizeOnce()) {
  }
}

/// Dense tensors of the host, and the records that move a map to or from one.
void Compiler::addMoves(unsigned map, uint64_t dense, std::vector<HostMove> &moves) const {
  const FeatureMap &of = network.maps[map];
  const Region &region = regions.of(map);
  const std::vector<unsigned> &channels = regions.maps[map].channels;
  const unsigned bytes = regions.elementBytes;
  const uint64_t row = uint64_t{of.width} * bytes;
  for (size_t begin = 0; begin < channels.size();) {
    size_t end = begin + 1;
    while (end < channels.size() && channels[end] == channels[end - 1] + 1)
      ++end;
    HostMove move;
    move.kind = HostMove::Kind::Move;
    move.bytes = bytes;
    move.from = regions.image(map, {}, channels[begin]).address;
    move.to = dense + begin * row * of.height;
    move.counts = {end - begin, of.height, of.width};
    move.fromStrides = {bytes, region.rowBytes, region.pixelBytes};
    move.toStrides = {row * of.height, row, bytes};
    moves.push_back(move);
    begin = end;
  }
}

/// The other way.
HostMove reversed(HostMove move) {
  std::swap(move.from, move.to);
  std::swap(move.fromStrides, move.toStrides);
  return move;
}

void Compiler::addFills() {
  before.push_back(machineMove(machine));
  for (const Region &region : regions.regions) {
    HostMove fill;
    fill.bytes = regions.elementBytes;
    fill.from = static_cast<uint64_t>(int64_t{region.fill});
    fill.to = region.address;
    fill.counts[0] = region.bytes / regions.elementBytes;
    before.push_back(fill);
  }
}

/// The records that make a packed map of a dense tensor: one for each place of the window.
void addPacking(const PackedInput &input, const FeatureMap &from, const FeatureMap &to,
                const Image &image, uint64_t dense, unsigned bytes, std::vector<HostMove> &moves) {
  const uint64_t row = uint64_t{from.width} * bytes;
  for (unsigned r = 0; r < input.window.h; ++r)
    for (unsigned s = 0; s < input.window.w; ++s) {
      // The results whose element at this place is inside of the image.
      const auto range = [](unsigned place, unsigned pad, unsigned stride, unsigned size,
                            unsigned results) {
        const unsigned begin = place >= pad ? 0 : (pad - place + stride - 1) / stride;
        const unsigned end =
            size + pad > place ? std::min(results, (size + pad - place - 1) / stride + 1) : 0;
        return std::pair(begin, std::max(begin, end));
      };
      const auto [top, bottom] = range(r, input.pads.top, input.stride.h, from.height, to.height);
      const auto [left, right] = range(s, input.pads.left, input.stride.w, from.width, to.width);
      if (top == bottom || left == right)
        continue;
      HostMove move;
      move.kind = HostMove::Kind::Move;
      move.bytes = bytes;
      move.from = dense + (uint64_t{top} * input.stride.h + r - input.pads.top) * row +
                  (uint64_t{left} * input.stride.w + s - input.pads.left) * bytes;
      move.to = image.address + top * image.rowBytes + left * image.pixelBytes +
                (uint64_t{r} * input.window.w + s) * from.channels * bytes;
      move.counts = {from.channels, bottom - top, right - left};
      move.fromStrides = {row * from.height, row * input.stride.h,
                          uint64_t{input.stride.w} * bytes};
      move.toStrides = {bytes, image.rowBytes, image.pixelBytes};
      moves.push_back(move);
    }
}

model::TensorInfo Compiler::tensorOf(unsigned map, uint64_t address) const {
  const FeatureMap &of = network.maps[map];
  model::TensorInfo info;
  info.name = of.name;
  info.setType(options.kind.bits == 8 ? DataType::I8 : DataType::I16);
  info.shape = of.shape;
  if (info.shape.empty())
    info.shape = {1, of.channels, of.height, of.width};
  info.address = address;
  info.scale = static_cast<float>(scales[map].scale);
  info.zeroPoint = scales[map].zeroPoint;
  return info;
}

void Compiler::addInputs(model::Stage &stage) {
  for (const unsigned input : network.inputs) {
    const auto packing = std::ranges::find(packed, input, &PackedInput::to);
    const unsigned map = packing == packed.end() ? input : packing->from;
    const uint64_t dense = memory.take(bytesOf(map));
    model::TensorInfo info = tensorOf(map, dense);
    info.scale = static_cast<float>(1 / scales[input].scale);
    info.zeroPoint = scales[input].zeroPoint;
    stage.inputs.push_back(std::move(info));
    if (packing == packed.end()) {
      std::vector<HostMove> moves;
      addMoves(map, dense, moves);
      for (const HostMove &move : moves)
        before.push_back(reversed(move));
      continue;
    }
    addPacking(*packing, network.maps[map], network.maps[input], regions.image(input, {}, 0), dense,
               regions.elementBytes, before);
  }
}

/// Outputs and inner maps become dense tensors when all programs have run.
void Compiler::addResults(model::Stage &stage) {
  std::vector<unsigned> maps = network.outputs;
  for (const unsigned map : storedMaps(passes))
    if (!network.isOutput(map))
      maps.push_back(map);
  for (const Node &node : network.nodes)
    if ((node.kind == Node::Kind::Concat || node.kind == Node::Kind::Slice) &&
        !network.isOutput(node.output))
      maps.push_back(node.output);
  std::vector<std::pair<model::TensorInfo, uint32_t>> inner;
  for (size_t i = 0; i < maps.size(); ++i) {
    const uint64_t dense = memory.take(bytesOf(maps[i]));
    addMoves(maps[i], dense, after);
    if (i < network.outputs.size())
      stage.outputs.push_back(tensorOf(maps[i], dense));
    else
      inner.emplace_back(tensorOf(maps[i], dense), static_cast<uint32_t>(after.size()));
  }
  const auto subNet = static_cast<uint32_t>(stage.subNets.size() - 1);
  const auto last = static_cast<uint32_t>(stage.subNets.back().groups.size());
  for (auto &[tensor, records] : inner)
    stage.innerTensors.push_back({.tensor = std::move(tensor),
                                  .subNet = subNet,
                                  .group = last,
                                  .stream = 0,
                                  .after = records});
}

Expected<void> Compiler::emit() {
  regions = placeMaps(network, passes, scales, options.kind,
                      std::max(machine.rows, machine.columns), memory);
  if (Expected<void> checked = checkRegions(network, passes, scales, options.kind, regions);
      !checked)
    return checked;
  uint64_t most = primingBytes(machine);
  uint64_t dense = 0;
  for (const Pass &pass : passes) {
    if (!pass.host) {
      most = std::max(most, sumsBytes(network, machine, pass, pairs));
      continue;
    }
    for (const unsigned map : pass.host->inputs)
      dense += bytesOf(map) + PageAllocator::kPage;
    dense += bytesOf(pass.output) + PageAllocator::kPage;
  }
  const uint64_t sums = memory.take(most);
  // Dense tensors of the host follow; constants begin behind the largest place for them.
  for (unsigned map = 0; map < network.maps.size(); ++map)
    dense += bytesOf(map) + PageAllocator::kPage;
  constants.address =
      (memory.end + dense + PageAllocator::kPage - 1) / PageAllocator::kPage * PageAllocator::kPage;
  const LayerContext context = {.network = network,
                                .machine = machine,
                                .kind = options.kind,
                                .regions = regions,
                                .sums = sums,
                                .constants = constants,
                                .cache = cache,
                                .pairsKernels = options.rewrites.has(Rewrite::PairKernels)};
  bool needsPriming = false;
  for (uint32_t i = 0; i < passes.size(); ++i) {
    if (passes[i].host) {
      hostPasses.emplace_back(i, blocks.size());
      made.passes.push_back({.name = passes[i].name});
      continue;
    }
    Expected<std::vector<Block>> found = blocksOf(context, passes[i], integers[i]);
    if (!found)
      return propagate(found);
    CompiledPass &pass = made.passes.emplace_back();
    pass.name = passes[i].name;
    pass.blocks = static_cast<unsigned>(found->size());
    for (Block &block : *found) {
      const BlockCycles cycles = blockCycles(machine, block);
      pass.cycles += cycles.total;
      needsPriming = needsPriming || cycles.needsPriming;
      blocks.push_back(std::move(block));
      owners.push_back(i);
    }
  }
  if (needsPriming && !blocks.empty()) {
    blocks.insert(blocks.begin(), primingBlock(machine, sums));
    owners.insert(owners.begin(), owners.front());
    for (auto &[pass, begin] : hostPasses)
      ++begin;
  }
  return {};
}

model::Bytes Compiler::keep(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  made.model.owners.push_back(owner);
  return *owner;
}

/// Programs of as many blocks as there is place for, each a group of commands of its own.
Expected<void> Compiler::addPrograms(model::SubNet &subNet, size_t begin, size_t last) {
  while (begin < last) {
    size_t end = begin;
    uint32_t words = 0;
    model::Stream stream;
    stream.engine = kArrayStream;
    while (end < last) {
      const auto alone =
          writeProgram(machine, std::span(blocks).subspan(end, 1), passes[owners[end]].name);
      if (!alone)
        return tl::unexpected<Error>(alone.error());
      if (words + alone->size() > machine.programWords)
        break;
      if (stream.layers.empty() || stream.layers.back().layer != owners[end])
        stream.layers.push_back({.first = words, .layer = owners[end]});
      words += static_cast<uint32_t>(alone->size());
      ++end;
    }
    const auto code = writeProgram(machine, std::span(blocks).subspan(begin, end - begin),
                                   passes[owners[begin]].name);
    if (!code)
      return tl::unexpected<Error>(code.error());
    std::vector<std::byte> bytes;
    for (const uint32_t word : *code)
      for (unsigned i = 0; i < 4; ++i)
        bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
    stream.numCommands = static_cast<uint32_t>(code->size());
    stream.code = keep(std::move(bytes));
    subNet.groups.push_back({.streams = {std::move(stream)}});
    begin = end;
  }
  return {};
}

model::CommandGroup Compiler::hostGroup(const std::vector<HostMove> &moves) {
  model::Stream stream;
  stream.engine = kHostStream;
  stream.numCommands = static_cast<uint32_t>(moves.size());
  stream.code = keep(encodeMoves(moves));
  return {.streams = {std::move(stream)}};
}

/// A sub-network of the array, in front of whose programs the host carries out `moves`.
void Compiler::beginSubNet(model::Stage &stage, const std::vector<HostMove> &moves) {
  model::SubNet &subNet = stage.subNets.emplace_back();
  subNet.id = static_cast<int32_t>(stage.subNets.size() - 1);
  subNet.groups.push_back(hostGroup(moves));
}

/// Ends the array's sub-network with moves to dense tensors, and has the host compute the layer.
/// The moves that put its result into the region of its map.
std::vector<HostMove> Compiler::addHostLayer(model::Stage &stage, const Pass &pass) {
  const Node &node = *pass.host;
  const auto bytes = static_cast<unsigned>(regions.elementBytes);
  std::vector<HostMove> moves;
  HostProgramMaker maker(node, bytes == 1 ? DataType::I8 : DataType::I16, constants);
  std::vector<model::TensorInfo> inputs;
  for (const unsigned map : node.inputs) {
    const uint64_t dense = memory.take(bytesOf(map));
    addMoves(map, dense, moves);
    maker.addInput(network.maps[map], scales[map], dense);
    inputs.push_back(tensorOf(map, dense));
  }
  stage.subNets.back().groups.push_back(hostGroup(moves));
  const uint64_t dense = memory.take(bytesOf(pass.output));
  model::SubNet &subNet = stage.subNets.emplace_back();
  subNet.id = static_cast<int32_t>(stage.subNets.size() - 1);
  subNet.host.push_back(maker.make(network.maps[pass.output], scales[pass.output], dense));
  subNet.inputs = std::move(inputs);
  subNet.outputs = {tensorOf(pass.output, dense)};
  moves.clear();
  addMoves(pass.output, dense, moves);
  for (HostMove &move : moves)
    move = reversed(move);
  return moves;
}

Expected<void> Compiler::assemble() {
  model::Stage stage;
  addFills();
  addInputs(stage);
  beginSubNet(stage, before);
  size_t begin = 0;
  for (const auto &[pass, end] : hostPasses) {
    if (Expected<void> done = addPrograms(stage.subNets.back(), begin, end); !done)
      return done;
    begin = end;
    beginSubNet(stage, addHostLayer(stage, passes[pass]));
  }
  if (Expected<void> done = addPrograms(stage.subNets.back(), begin, blocks.size()); !done)
    return done;
  addResults(stage);
  stage.subNets.back().groups.push_back(hostGroup(after));
  for (uint32_t i = 0; i < stage.subNets.size(); ++i)
    stage.order.push_back(i);
  stage.activationAddress = PageAllocator::kPage;
  stage.activationBytes = memory.end - PageAllocator::kPage;
  model::Section &section = stage.constants.emplace_back();
  section.address = constants.address;
  for (const ConstantSpace::Part &part : constants.parts)
    section.locations.push_back({part.name, part.offset, part.size});
  section.data = keep(std::move(constants.bytes));
  stage.subNets.front().inputs = stage.inputs;
  stage.subNets.back().outputs = stage.outputs;
  for (const Pass &pass : passes)
    made.model.layers.push_back(pass.name);
  made.model.chip = kChipName;
  model::Net &net = made.model.nets.emplace_back();
  net.name = network.name;
  net.stages.push_back(std::move(stage));
  return {};
}

Expected<CompiledNetwork> Compiler::compile() {
  if (Expected<void> done = check(); !done)
    return propagate(done);
  rewrite();
  for (const Node &node : network.nodes)
    if (node.host)
      made.notes.push_back(
          fmt::format("'{}' ({}): the host computes it, in float", node.name, node.host->op));
  quantize();
  if (Expected<void> done = emit(); !done)
    return propagate(done);
  if (Expected<void> done = assemble(); !done)
    return propagate(done);
  return std::move(made);
}

} // namespace

Expected<CompiledNetwork> compileNetwork(Network network, const CompileOptions &options) {
  return Compiler(std::move(network), options).compile();
}

} // namespace tpuc::dnnweaver
