//===- Reference.cpp - Measured layers of a public network ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Mapping/Reference.h"

namespace tpuc::dnnweaver {

namespace {

constexpr Extent kPool{2, 2};

constexpr ConvLayer pooled(unsigned side, unsigned in, unsigned out) {
  return {.result = {side, side},
          .kernel = {3, 3},
          .stride = {1, 1},
          .pool = kPool,
          .poolStride = kPool,
          .inWords = in,
          .outWords = out};
}
constexpr ConvLayer plain(unsigned kernel, unsigned in, unsigned out) {
  return {.result = {13, 13}, .kernel = {kernel, kernel}, .inWords = in, .outWords = out};
}
constexpr ConvLayer withPaddedPool() {
  ConvLayer layer = pooled(13, 8, 16);
  layer.poolStride = {1, 1};
  layer.poolPad = {1, 1};
  return layer;
}

/// Columns, rows, inputs, outputs from inside to outside, as the compiler has found them.
constexpr Mapping spatial(unsigned side, unsigned in, unsigned out) {
  return {.tile = {side, side},
          .inWords = in,
          .outWords = out,
          .tileOrder = {TileLoop::Columns, TileLoop::Rows, TileLoop::Inputs, TileLoop::Outputs}};
}
constexpr Mapping inputsFirst(unsigned in) {
  return {.tile = {13, 13}, .inWords = in, .outWords = 1};
}

constexpr ReferenceLayer kLayers[] = {
    {"conv0", pooled(208, 1, 1), spatial(8, 1, 1), 41, true, 3144716, 3144716, 2545416},
    {"conv1", pooled(104, 1, 1), spatial(8, 1, 1), 41, true, 789948, 789948, 639668},
    {"conv2", pooled(52, 1, 2), spatial(4, 1, 2), 41, true, 396009, 396009, 334805},
    {"conv3", pooled(26, 2, 4), spatial(2, 2, 4), 41, true, 488634, 293946, 286848},
    {"conv4", pooled(13, 4, 8), spatial(1, 4, 2), 41, true, 362768, 275837, 275837},
    {"conv5", withPaddedPool(), inputsFirst(1), 41, true, 455692, 455679, 329124},
    {"conv6", plain(3, 16, 32), inputsFirst(2), 12, true, 1914864, 1136112, 920936},
    {"conv7", plain(3, 32, 32), inputsFirst(2), 12, true, 3825656, 2268152, 1830767},
    {"conv8", plain(1, 32, 4), spatial(1, 32, 4), 3, false, 40173, 40160, 40173},
};

} // namespace

std::span<const ReferenceLayer> referenceLayers() { return kLayers; }

uint64_t referenceCycles(const ReferenceLayer &layer, ReferenceOrder order) {
  switch (order) {
  case ReferenceOrder::AsCompiled:
    return layer.asCompiled;
  case ReferenceOrder::Collapsed:
    return layer.collapsed;
  case ReferenceOrder::Reordered:
    return layer.reordered;
  }
  return 0;
}

Mapping referenceMapping(const Parameters &machine, const ReferenceLayer &layer,
                         ReferenceOrder order) {
  Mapping mapping = layer.mapping;
  mapping.mergesRequests = false;
  mapping.skipsSums = false;
  mapping.collapses = order != ReferenceOrder::AsCompiled;
  if (order == ReferenceOrder::Reordered)
    mapping.wordOrder = bestWordOrder(machine, layer.layer, mapping);
  return mapping;
}

Placement placeAlone(const Parameters &machine, const ConvLayer &layer) {
  PageAllocator memory;
  const unsigned halves = layer.pairs ? 2 : 1;
  const Extent whole = {layer.result.h * halves, layer.result.w};
  const auto image = [&](Extent extent, uint64_t pixel) {
    Image made{.address = 0, .pixelBytes = pixel, .rowBytes = pixel * extent.w};
    made.address = memory.take(made.rowBytes * extent.h);
    return made;
  };
  Placement to;
  const uint64_t inputWord = machine.wordBytes(Buffer::Input, layer.pairs);
  const uint64_t storeWord = uint64_t{machine.columns} * (layer.pairs ? 1 : machine.dataBits / 8);
  to.input = image(layer.inputOf(layer.sumsOf(whole)), layer.inWords * inputWord);
  to.output = image(whole, layer.outWords * storeWord);
  to.sums = image(layer.sumsOf(layer.result), layer.outWords * machine.wordBytes(Buffer::Output));
  to.weight = memory.take(layer.kernel.area() * layer.inWords * layer.outWords *
                          machine.wordBytes(Buffer::Weight, layer.pairs));
  to.bias = memory.take(layer.outWords * machine.wordBytes(Buffer::Bias));
  if (layer.pairs)
    to.pairs = PairMode{.input = uint64_t{layer.result.h} * layer.poolStride.h * layer.stride.h *
                                 to.input.rowBytes,
                        .store = uint64_t{layer.result.h} * to.output.rowBytes};
  return to;
}

Expected<Block> referenceBlock(const Parameters &machine, const ReferenceLayer &layer,
                               ReferenceOrder order) {
  // As many operations as the public compiler has; what they compute does not matter here.
  AluRecipe recipe;
  recipe.first = {{.function = AluFunction::Move, .target = 0, .source0 = kFromOutput}};
  const auto window = static_cast<unsigned>(layer.layer.pool.area());
  const unsigned numThen = layer.aluOps - (2 * window - 1);
  recipe.then.resize(numThen, {.function = AluFunction::Move, .target = 1, .source0 = 1});
  if (layer.loads)
    for (const unsigned i : {0u, 1u})
      recipe.then[i] = {.function = AluFunction::Move,
                        .target = 2,
                        .source0 = static_cast<uint8_t>(kFromLoad0 + i)};
  Expected<Block> block =
      emitBlock(machine, layer.layer, referenceMapping(machine, layer, order),
                placeAlone(machine, layer.layer), recipe, std::string(layer.name));
  if (block && layer.loads) {
    block->alu.hasLoad0 = block->alu.hasLoad1 = true;
    block->alu.loads0 = block->alu.loads1 = {{.trips = block->alu.repeats}};
  }
  return block;
}

} // namespace tpuc::dnnweaver
