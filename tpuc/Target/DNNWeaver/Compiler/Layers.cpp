//===- Layers.cpp - Blocks and constants of passes -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Compiler/Layers.h"
#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace tpuc::dnnweaver {

uint64_t ConstantSpace::take(std::string name, uint64_t size) {
  const uint64_t offset = memory.take(size);
  bytes.resize(memory.end);
  parts.push_back({std::move(name), offset, size});
  return offset;
}

namespace {

AluOp immediate(AluFunction function, unsigned target, unsigned source, int64_t value) {
  return {.function = function,
          .target = static_cast<uint8_t>(target),
          .source0 = static_cast<uint8_t>(source),
          .isImmediate = true,
          .immediate = static_cast<int16_t>(value)};
}

AluOp between(AluFunction function, unsigned target, unsigned source0, unsigned source1) {
  return {.function = function,
          .target = static_cast<uint8_t>(target),
          .source0 = static_cast<uint8_t>(source0),
          .source1 = static_cast<uint8_t>(source1)};
}

/// Register 3 becomes zeroPoint * 2^shift, and is added to register 1.
void addZeroPoint(std::vector<AluOp> &ops, int32_t zeroPoint, unsigned shift) {
  constexpr unsigned kHigh = 16, kMost = 14;
  unsigned rest = shift;
  if (shift >= kHigh) {
    ops.push_back(immediate(AluFunction::MoveHigh, 3, 1, zeroPoint));
    rest = shift - kHigh;
  } else {
    ops.push_back(between(AluFunction::Sub, 3, 1, 1));
    ops.push_back(immediate(AluFunction::Add, 3, 3, zeroPoint));
  }
  if (rest > 0)
    ops.push_back(immediate(AluFunction::Mul, 3, 3, int64_t{1} << std::min(rest, kMost)));
  ops.push_back(between(AluFunction::Add, 1, 1, 3));
}

} // namespace

AluRecipe recipeOf(const Parameters &machine, const IntegerLayer &integers) {
  AluRecipe recipe;
  if (machine.isa == IsaKind::Public) {
    recipe = publicRecipe(integers.firstShift, integers.multiplier, integers.shift,
                          integers.negative.value_or(kNoSlope));
    if (integers.limit)
      recipe.last.push_back(immediate(AluFunction::Min, 1, 1, *integers.limit));
    return recipe;
  }
  recipe.first = {between(AluFunction::Move, 0, kFromOutput, 0)};
  std::vector<AluOp> &ops = recipe.then;
  const bool isRelu = integers.negative == int16_t{0};
  if (integers.ratio) {
    ops = {immediate(AluFunction::Mul, 2, 1, integers.multiplier),
           immediate(AluFunction::Mul, 1, 2, *integers.ratio), between(AluFunction::Max, 1, 1, 2)};
  } else {
    if (integers.negative && !isRelu)
      ops.push_back(immediate(AluFunction::Mul, 2, 1, *integers.negative));
    ops.push_back(immediate(AluFunction::Mul, 1, 1, integers.multiplier));
    if (integers.negative)
      ops.push_back(isRelu ? immediate(AluFunction::Max, 1, 1, 0)
                           : between(AluFunction::Max, 1, 1, 2));
  }
  const bool isFirst = !integers.zeroPointIsLast && integers.zeroPoint != 0;
  if (isFirst)
    addZeroPoint(ops, integers.zeroPoint, integers.shift);
  recipe.last.push_back(immediate(AluFunction::Shift, 1, 1, integers.shift));
  if (integers.zeroPoint != 0 && !isFirst)
    recipe.last.push_back(immediate(AluFunction::Add, 1, 1, integers.zeroPoint));
  if (integers.limit)
    recipe.last.push_back(immediate(AluFunction::Min, 1, 1, *integers.limit));
  return recipe;
}

ConvLayer machineLayer(const Network &network, const Parameters &machine, const Pass &pass,
                       Packing packing, unsigned inWords, unsigned outWords) {
  ConvLayer layer;
  layer.result = pass.result(network);
  if (packing == Packing::Rows)
    layer.result.h = (layer.result.h + 1) / 2;
  layer.kernel = pass.kernel;
  layer.stride = pass.stride;
  layer.pool = pass.pool;
  layer.poolStride = pass.poolStride;
  layer.inWords = inWords;
  layer.pairs = packing != Packing::None;
  layer.pairsKernels = packing == Packing::Kernels;
  layer.outWords = layer.pairsKernels ? outWords / 2 : outWords;
  const uint64_t pixels = layer.sumsOf(layer.result).area();
  if (machine.weightsByRow && pixels < machine.rows)
    layer.repeats = static_cast<unsigned>((machine.rows + pixels - 1) / pixels);
  return layer;
}

namespace {

/// Words of channels that hold some, the first one and how many.
struct WordRange {
  unsigned first = 0, count = 0;
};

WordRange wordsOf(const std::vector<unsigned> &channels, unsigned size) {
  const auto [least, most] = std::ranges::minmax(channels);
  return {least / size, most / size - least / size + 1};
}

unsigned roundUp(unsigned number, unsigned unit) { return (number + unit - 1) / unit * unit; }

/// A part of a pass: some words of channels to some words of kernels.
struct Piece {
  WordRange in, out;
  /// The weight of one channel, counted from the first of `in`, for one kernel of `out`, at one
  /// place of the window.
  std::function<int16_t(unsigned channel, unsigned kernel, unsigned r, unsigned s)> weight;
  std::function<int32_t(unsigned kernel)> bias;
};

class LayerMaker {
public:
  LayerMaker(const LayerContext &context, const Pass &pass, const IntegerLayer &integers)
      : context(context), machine(context.machine), pass(pass), integers(integers) {}

  Expected<std::vector<Block>> make() {
    for (const Piece &piece : pass.conv ? convolution() : copy())
      if (Expected<void> done = emit(piece); !done)
        return propagate(done);
    return std::move(blocks);
  }

private:
  std::vector<Piece> convolution() const;
  std::vector<Piece> copy() const;
  Expected<void> emit(const Piece &piece);
  /// How a piece is computed.
  struct Chosen {
    ConvLayer layer;
    Placement placement;
    SearchResult mapping = {};
  };
  Expected<Chosen> choose(const Piece &piece, const Placement &given, Packing packing) const;
  Expected<void> emitLayer(const Chosen &chosen);
  void putWeights(const Piece &piece, uint64_t at) const;
  /// Where the words of a piece go in a map that has its channels at the same places of words.
  unsigned firstWordOf(unsigned map, const Piece &piece) const {
    return wordsOf(channels(map), machine.columns).first + piece.out.first -
           wordsOf(channels(pass.output), machine.columns).first;
  }
  const std::vector<unsigned> &channels(unsigned map) const {
    return context.regions.maps[map].channels;
  }

  const LayerContext &context;
  const Parameters &machine;
  const Pass &pass;
  const IntegerLayer &integers;
  std::vector<Block> blocks;
};

constexpr unsigned kNoChannel = ~0U;

/// Which of the `count` channels stands at each place of some words.
std::vector<unsigned> placesOf(const std::vector<unsigned> &channels, const WordRange &words,
                               unsigned size) {
  std::vector<unsigned> places(size_t{words.count} * size, kNoChannel);
  for (unsigned c = 0; c < channels.size(); ++c)
    places[channels[c] - words.first * size] = c;
  return places;
}

std::vector<Piece> LayerMaker::convolution() const {
  Piece piece;
  piece.in = wordsOf(channels(pass.input), machine.rows);
  piece.out = wordsOf(channels(pass.output), machine.columns);
  const auto ins = placesOf(channels(pass.input), piece.in, machine.rows);
  const auto outs = placesOf(channels(pass.output), piece.out, machine.columns);
  const auto perKernel = static_cast<unsigned>(channels(pass.input).size());
  piece.weight = [this, ins, outs, perKernel](unsigned channel, unsigned kernel, unsigned r,
                                              unsigned s) -> int16_t {
    const unsigned c = ins[channel], k = outs[kernel];
    if (c == kNoChannel || k == kNoChannel)
      return 0;
    return integers.weights[((size_t{k} * perKernel + c) * pass.kernel.h + r) * pass.kernel.w + s];
  };
  piece.bias = [this, outs](unsigned kernel) {
    return outs[kernel] == kNoChannel ? 0 : integers.bias[outs[kernel]];
  };
  return {piece};
}

/// Word by word where channels keep their places in words, else all channels to all.
std::vector<Piece> LayerMaker::copy() const {
  Piece whole;
  whole.in = wordsOf(channels(pass.input), machine.rows);
  whole.out = wordsOf(channels(pass.output), machine.columns);
  const std::vector<unsigned> &from = channels(pass.input), &to = channels(pass.output);
  const auto ins = placesOf(from, whole.in, machine.rows);
  const auto outs = placesOf(to, whole.out, machine.columns);
  const int16_t one = integers.weights.front();
  const int32_t bias = integers.bias.front();
  bool keepsPlaces = machine.rows == machine.columns && whole.in.count == whole.out.count;
  for (size_t c = 0; c < from.size(); ++c)
    keepsPlaces = keepsPlaces && from[c] - whole.in.first * machine.rows ==
                                     to[c] - whole.out.first * machine.columns;
  whole.bias = [bias](unsigned) { return bias; };
  if (!keepsPlaces) {
    whole.weight = [=](unsigned channel, unsigned kernel, unsigned, unsigned) -> int16_t {
      return ins[channel] != kNoChannel && ins[channel] == outs[kernel] ? one : int16_t{0};
    };
    return {whole};
  }
  std::vector<Piece> pieces;
  for (unsigned word = 0; word < whole.in.count; ++word) {
    Piece piece = whole;
    piece.in = {whole.in.first + word, 1};
    piece.out = {whole.out.first + word, 1};
    piece.weight = [one](unsigned channel, unsigned kernel, unsigned, unsigned) -> int16_t {
      return channel == kernel ? one : int16_t{0};
    };
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// [word of kernels][row][column][word of channels][row of the array][column of the array].
void LayerMaker::putWeights(const Piece &piece, uint64_t at) const {
  const unsigned bytes = context.kind.bits / 8;
  std::byte *to = &context.constants.bytes[at];
  for (unsigned kw = 0; kw < piece.out.count; ++kw)
    for (unsigned r = 0; r < pass.kernel.h; ++r)
      for (unsigned s = 0; s < pass.kernel.w; ++s)
        for (unsigned c = 0; c < piece.in.count * machine.rows; ++c)
          for (unsigned k = 0; k < machine.columns; ++k) {
            const int16_t weight = piece.weight(c, kw * machine.columns + k, r, s);
            for (unsigned i = 0; i < bytes; ++i)
              *to++ = static_cast<std::byte>(weight >> (8 * i));
          }
}

Expected<void> LayerMaker::emit(const Piece &piece) {
  const unsigned bytes = context.kind.bits / 8;
  const uint64_t kernels = uint64_t{piece.out.count} * machine.columns;
  const uint64_t weights = context.constants.take(pass.name, pass.kernel.area() * piece.in.count *
                                                                 machine.rows * kernels * bytes);
  putWeights(piece, weights);
  const uint64_t biases = context.constants.take(pass.name + "/bias", kernels * 4);
  for (unsigned k = 0; k < kernels; ++k)
    for (unsigned i = 0; i < 4; ++i)
      context.constants.bytes[biases + 4 * k + i] =
          static_cast<std::byte>(static_cast<uint32_t>(piece.bias(k)) >> (8 * i));
  Placement placement;
  placement.input = context.regions.image(pass.input, pass.pads, piece.in.first * machine.rows);
  placement.output = context.regions.image(pass.output, {}, piece.out.first * machine.columns);
  placement.weight = context.constants.address + weights;
  placement.bias = context.constants.address + biases;
  placement.upsamples = pass.upsamples;
  if (pass.copy) {
    placement.copy =
        context.regions.image(*pass.copy, {}, firstWordOf(*pass.copy, piece) * machine.columns);
    placement.copiesUnpooled = pass.copiesUnpooled;
  }
  const Packing usual = context.pairs() ? Packing::Rows : Packing::None;
  Expected<Chosen> best = choose(piece, placement, usual);
  if (context.pairs() && context.pairsKernels && piece.out.count % 2 == 0)
    if (Expected<Chosen> other = choose(piece, placement, Packing::Kernels);
        other && (!best || other->mapping.cycles < best->mapping.cycles))
      best = std::move(other);
  return best ? emitLayer(*best) : propagate(best);
}

/// The layer with its fastest mapping.
Expected<LayerMaker::Chosen> LayerMaker::choose(const Piece &piece, const Placement &given,
                                                Packing packing) const {
  Chosen made = {.layer = machineLayer(context.network, machine, pass, packing, piece.in.count,
                                       piece.out.count),
                 .placement = given};
  const ConvLayer &layer = made.layer;
  Placement &placement = made.placement;
  if (packing == Packing::Rows) {
    // The second half begins where it ends with the image, so that odd heights have a row twice.
    const uint64_t distance = pass.result(context.network).h - layer.result.h;
    PairMode &pairs = placement.pairs.emplace();
    pairs.input = distance * placement.input.rowBytes * layer.stride.h * layer.poolStride.h;
    pairs.store = distance * placement.output.rowBytes * (pass.upsamples ? 2 : 1);
    if (placement.copy)
      pairs.copy = distance * placement.copy->rowBytes *
                   (pass.copiesUnpooled ? layer.poolStride.h
                    : pass.upsamples    ? 2
                                        : 1);
  } else if (packing == Packing::Kernels) {
    PairMode &pairs = placement.pairs.emplace();
    pairs.ofKernels = true;
    pairs.weight = layer.kernel.area() * layer.inWords * layer.outWords *
                   machine.wordBytes(Buffer::Weight, /*pairs=*/true);
    pairs.bias = layer.outWords * machine.wordBytes(Buffer::Bias);
    pairs.store = pairs.copy = uint64_t{layer.outWords} * machine.columns;
  }
  const uint64_t pixel = uint64_t{layer.outWords} * machine.wordBytes(Buffer::Output);
  placement.sums = {.address = context.sums,
                    .pixelBytes = pixel,
                    .rowBytes = pixel * layer.sumsOf(layer.result).w};
  const Expected<SearchResult> found =
      context.cache.find(machine, layer, placement, recipeOf(machine, integers), pass.name);
  if (!found)
    return tl::unexpected<Error>(found.error());
  made.mapping = *found;
  return made;
}

Expected<void> LayerMaker::emitLayer(const Chosen &chosen) {
  Expected<Block> block = emitBlock(machine, chosen.layer, chosen.mapping.mapping, chosen.placement,
                                    recipeOf(machine, integers), pass.name);
  if (!block)
    return propagate(block);
  if (Expected<void> checked = checkBlock(machine, *block, pass.name); !checked)
    return checked;
  blocks.push_back(std::move(*block));
  return {};
}

} // namespace

uint64_t sumsBytes(const Network &network, const Parameters &machine, const Pass &pass,
                   bool pairs) {
  const ConvLayer layer =
      machineLayer(network, machine, pass, pairs ? Packing::Rows : Packing::None, 1, 1);
  const unsigned words =
      roundUp(network.maps[pass.output].channels, machine.columns) / machine.columns;
  return layer.sumsOf(layer.result).area() * words * machine.wordBytes(Buffer::Output);
}

Expected<std::vector<Block>> blocksOf(const LayerContext &context, const Pass &pass,
                                      const IntegerLayer &integers) {
  return LayerMaker(context, pass, integers).make();
}

} // namespace tpuc::dnnweaver
