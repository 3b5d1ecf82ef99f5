//===- Emit.cpp - Blocks from mappings ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Mapping/Emit.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tpuc::dnnweaver {

namespace {

AluOp withImmediate(AluFunction function, unsigned target, unsigned source, int16_t immediate) {
  return {.function = function,
          .target = static_cast<uint8_t>(target),
          .source0 = static_cast<uint8_t>(source),
          .isImmediate = true,
          .immediate = immediate};
}
AluOp withRegister(AluFunction function, unsigned target, unsigned source0, unsigned source1) {
  return {.function = function,
          .target = static_cast<uint8_t>(target),
          .source0 = static_cast<uint8_t>(source0),
          .source1 = static_cast<uint8_t>(source1)};
}

/// max(x, x * slope / 2^15) of register 1, by way of register 2.
void addLeaky(std::vector<AluOp> &ops, int16_t slope) {
  if (slope == kNoSlope)
    return;
  ops.push_back(withImmediate(AluFunction::Mul, 2, 1, slope));
  ops.push_back(withImmediate(AluFunction::Shift, 2, 2, 15));
  ops.push_back(withRegister(AluFunction::Max, 1, 1, 2));
}

class Emitter {
public:
  Emitter(const Parameters &machine, const ConvLayer &layer, const Mapping &mapping,
          const Placement &placement, const std::string &where)
      : machine(machine), layer(layer), mapping(mapping), placement(placement), where(where),
        sums(layer.sumsOf(mapping.tile)),
        input(layer.inputOf({sums.h - layer.poolPad.h, sums.w - layer.poolPad.w})),
        inputBytes(machine.wordBytes(Buffer::Input, layer.pairs)),
        weightBytes(machine.wordBytes(Buffer::Weight, layer.pairs)),
        storeBytes(uint64_t{machine.columns} * (layer.pairs ? 1 : machine.dataBits / 8)) {}
  Expected<Block> emit(const AluRecipe &recipe);

private:
  Expected<void> check() const;
  Levels tiles() const;
  Level tile(TileLoop loop) const;
  Levels walk(std::initializer_list<std::pair<uint64_t, uint64_t>> loops) const;
  void mergeRequests(Block &block) const;
  bool readsSums() const;
  void emitAlu(Block &block, const AluRecipe &recipe) const;
  bool takesOnly(const AluRecipe &recipe) const;
  std::vector<AluOp> scaled(const AluRecipe &recipe) const;
  std::vector<AluOp> pooled(const AluRecipe &recipe) const;
  std::vector<AluOp> pooledAndNot(const AluRecipe &recipe) const;
  Levels unpooledStores() const;
  uint32_t narrow(uint64_t value) const {
    if (value > std::numeric_limits<uint32_t>::max())
      isTooFar = true;
    return static_cast<uint32_t>(value);
  }

  const Parameters &machine;
  const ConvLayer &layer;
  const Mapping &mapping;
  const Placement &placement;
  const std::string &where;
  /// Of a tile.
  Extent sums, input;
  uint64_t inputBytes, weightBytes, storeBytes;
  mutable bool isTooFar = false;
};

Expected<void> Emitter::check() const {
  const auto divides = [](unsigned part, unsigned whole) { return part > 0 && whole % part == 0; };
  if (!divides(mapping.tile.h, layer.result.h) || !divides(mapping.tile.w, layer.result.w) ||
      !divides(mapping.inWords, layer.inWords) || !divides(mapping.outWords, layer.outWords))
    return makeError(where,
                     fmt::format("tiles of {} x {} results and {} x {} words", mapping.tile.h,
                                 mapping.tile.w, mapping.inWords, mapping.outWords),
                     fmt::format("divisors of {} x {} and {} x {}", layer.result.h, layer.result.w,
                                 layer.inWords, layer.outWords));
  if (placement.copiesUnpooled && (!placement.copy || layer.pool != layer.poolStride))
    return makeError(where, "a copy of what a pool reads", "windows that do not overlap");
  if (layer.poolPad.area() + layer.poolPad.h + layer.poolPad.w > 0 && mapping.tile != layer.result)
    return makeError(where, "several tiles of a layer with a padded pool", "one");
  if (layer.repeats > 1 && mapping.tile != layer.result)
    return makeError(where, "several tiles of an image that the array repeats", "one");
  for (const Image *image : {&placement.output, placement.copy ? &*placement.copy : nullptr})
    if (image && (image->pixelBytes % storeBytes != 0 || image->rowBytes % storeBytes != 0))
      return makeError(
          where,
          fmt::format("an output with {} bytes from pixel to pixel and {} from row to row",
                      image->pixelBytes, image->rowBytes),
          fmt::format("multiples of {}", storeBytes));
  return {};
}

Level Emitter::tile(TileLoop loop) const {
  Level level{.trips = tileTrips(layer, mapping)[static_cast<size_t>(loop)]};
  uint32_t *to = level.strides.data();
  const uint64_t sumsWord = machine.wordBytes(Buffer::Output);
  switch (loop) {
  case TileLoop::Rows: {
    const uint64_t rows = uint64_t{mapping.tile.h} * layer.poolStride.h;
    to[index(Buffer::Input)] = narrow(rows * layer.stride.h * placement.input.rowBytes);
    to[index(Buffer::Output)] = narrow(rows * placement.sums.rowBytes);
    break;
  }
  case TileLoop::Columns: {
    const uint64_t columns = uint64_t{mapping.tile.w} * layer.poolStride.w;
    to[index(Buffer::Input)] = narrow(columns * layer.stride.w * placement.input.pixelBytes);
    to[index(Buffer::Output)] = narrow(columns * placement.sums.pixelBytes);
    break;
  }
  case TileLoop::Inputs:
    to[index(Buffer::Input)] = narrow(mapping.inWords * inputBytes);
    to[index(Buffer::Weight)] = narrow(mapping.inWords * weightBytes);
    break;
  case TileLoop::Outputs:
    to[index(Buffer::Output)] = narrow(mapping.outWords * sumsWord);
    to[index(Buffer::Weight)] =
        narrow(mapping.outWords * layer.kernel.area() * layer.inWords * weightBytes);
    to[index(Buffer::Bias)] = narrow(mapping.outWords * machine.wordBytes(Buffer::Bias));
    break;
  }
  return level;
}

Levels Emitter::tiles() const {
  Levels levels;
  for (const TileLoop loop : mapping.tileOrder)
    if (const Level level = tile(loop); level.trips > 1)
      levels.push_back(level);
  if (levels.empty())
    levels.push_back({});
  return levels;
}

Levels Emitter::walk(std::initializer_list<std::pair<uint64_t, uint64_t>> loops) const {
  Levels levels;
  for (const auto &[trips, stride] : loops)
    if (trips > 1) {
      const uint32_t bytes = narrow(stride);
      levels.push_back({.trips = static_cast<uint32_t>(trips), .strides = {bytes}});
    }
  if (levels.empty())
    levels.push_back({});
  return levels;
}

/// Words that follow each other in DDR become one request where no request can cross a boundary of
/// 4 KiB, which a burst must not: all addresses are then multiples of the request's bytes.
void Emitter::mergeRequests(Block &block) const {
  constexpr uint64_t kBoundary = 4096;
  for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Bias}) {
    const unsigned i = index(buffer);
    Levels &levels = block.walks[i];
    const uint64_t bytes = machine.wordBytes(buffer, layer.pairs);
    const uint64_t size = levels.front().trips * bytes;
    if (levels.front().trips == 1 || levels.front().strides[0] != bytes || kBoundary % size != 0)
      continue;
    bool isAligned = block.base[i] % size == 0;
    for (const Level &level : block.tiles)
      isAligned = isAligned && level.strides[i] % size == 0;
    for (size_t k = 1; k < levels.size(); ++k)
      isAligned = isAligned && levels[k].strides[0] % size == 0;
    if (placement.pairs && buffer != Buffer::Output)
      isAligned =
          isAligned &&
          (buffer == Buffer::Input ? placement.pairs->input : placement.pairs->bias) % size == 0;
    if (!isAligned)
      continue;
    block.request[i] = levels.front().trips;
    levels.erase(levels.begin());
    if (levels.empty())
      levels.push_back({});
  }
}

/// Whether sums of DDR are read: those that an outer loop over inputs left there, and the pads of a
/// pool. Where the loop over inputs is the innermost one, the output buffer keeps its tile.
bool Emitter::readsSums() const {
  if (layer.poolPad.h + layer.poolPad.w > 0)
    return true;
  const std::array<uint32_t, kNumTileLoops> trips = tileTrips(layer, mapping);
  if (trips[static_cast<size_t>(TileLoop::Inputs)] == 1)
    return false;
  for (const TileLoop loop : mapping.tileOrder) {
    if (loop == TileLoop::Inputs)
      return false;
    if (trips[static_cast<size_t>(loop)] > 1)
      return true;
  }
  return false;
}

/// Whether the first operation alone reads what register 1 held before.
bool readsOnce(const std::vector<AluOp> &ops) {
  const auto reads = [](const AluOp &op) {
    return op.source0 == 1 || (!op.isImmediate && op.source1 == 1);
  };
  if (ops.empty() || ops.front().source0 != 1 ||
      (!ops.front().isImmediate && ops.front().source1 == 1))
    return false;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i > 0 && reads(ops[i]))
      return false;
    if (ops[i].target == 1)
      return true;
  }
  return false;
}

/// Whether words of sums need nothing before they are compared and scaled.
bool Emitter::takesOnly(const AluRecipe &recipe) const {
  return machine.aluBits == kSumBits && recipe.first.size() == 1 &&
         recipe.first.front().function == AluFunction::Move;
}

/// One word, scaled in register 1.
std::vector<AluOp> Emitter::scaled(const AluRecipe &recipe) const {
  std::vector<AluOp> ops;
  std::vector<AluOp> then = recipe.then;
  if (takesOnly(recipe) && readsOnce(then)) {
    then.front().source0 = recipe.first.front().source0;
  } else {
    for (AluOp op : recipe.first) {
      op.target = op.target == 0 ? 1 : op.target;
      op.source0 = op.source0 == 0 ? 1 : op.source0;
      if (!op.isImmediate)
        op.source1 = op.source1 == 0 ? 1 : op.source1;
      ops.push_back(op);
    }
  }
  ops.insert(ops.end(), then.begin(), then.end());
  return ops;
}

/// Takes the largest value of a window, and goes on with it.
std::vector<AluOp> Emitter::pooled(const AluRecipe &recipe) const {
  std::vector<AluOp> ops;
  if (layer.pool.area() == 1) {
    ops = scaled(recipe);
    ops.insert(ops.end(), recipe.last.begin(), recipe.last.end());
    ops.back().target = kToStore;
    return ops;
  }
  for (uint64_t k = 0; k < layer.pool.area(); ++k) {
    // A word that nothing is done to is compared as it comes.
    if (k > 0 && takesOnly(recipe)) {
      ops.push_back(withRegister(AluFunction::Max, 1, 1, recipe.first.front().source0));
      continue;
    }
    for (AluOp op : recipe.first) {
      // The first word of a window is what the others are compared with.
      const auto rename = [&](uint8_t &number) {
        if (k == 0 && number == 0)
          number = 1;
      };
      rename(op.target);
      rename(op.source0);
      if (!op.isImmediate)
        rename(op.source1);
      ops.push_back(op);
    }
    if (k > 0)
      ops.push_back(withRegister(AluFunction::Max, 1, 1, 0));
  }
  ops.insert(ops.end(), recipe.then.begin(), recipe.then.end());
  ops.insert(ops.end(), recipe.last.begin(), recipe.last.end());
  ops.back().target = kToStore;
  return ops;
}

/// Stores each value, and then the largest one of the window, which waits in register 4.
std::vector<AluOp> Emitter::pooledAndNot(const AluRecipe &recipe) const {
  constexpr uint8_t kLargest = 4;
  std::vector<AluOp> ops;
  const auto finish = [&](uint8_t from, uint8_t to) {
    const size_t begin = ops.size();
    ops.insert(ops.end(), recipe.last.begin(), recipe.last.end());
    if (begin == ops.size())
      ops.push_back(withRegister(AluFunction::Move, 1, 1, 0));
    ops[begin].source0 = from;
    ops.back().target = to;
  };
  for (uint64_t k = 0; k < layer.pool.area(); ++k) {
    const std::vector<AluOp> one = scaled(recipe);
    ops.insert(ops.end(), one.begin(), one.end());
    if (k == 0)
      ops.back().target = kLargest;
    else
      ops.push_back(withRegister(AluFunction::Max, kLargest, kLargest, 1));
    finish(k == 0 ? kLargest : 1, kToCopy);
  }
  finish(kLargest, kToStore);
  return ops;
}

/// Places in front of the pool, in the order in which the ALU reads them.
Levels Emitter::unpooledStores() const {
  const Image &copy = *placement.copy;
  Levels levels = {
      {.trips = layer.pool.w, .strides = {narrow(copy.pixelBytes / storeBytes)}},
      {.trips = layer.pool.h, .strides = {narrow(copy.rowBytes / storeBytes)}},
      {.trips = mapping.tile.w,
       .strides = {narrow(layer.poolStride.w * copy.pixelBytes / storeBytes)}},
      {.trips = mapping.tile.h,
       .strides = {narrow(layer.poolStride.h * copy.rowBytes / storeBytes)}},
      {.trips = mapping.outWords, .strides = {1}},
  };
  std::erase_if(levels, [](const Level &level) { return level.trips == 1; });
  return levels;
}

void Emitter::emitAlu(Block &block, const AluRecipe &recipe) const {
  AluBlock &alu = block.alu;
  const auto out = mapping.outWords;
  const auto words = [&](uint64_t bytes) { return narrow(bytes / storeBytes); };
  const auto nest = [&](std::initializer_list<std::pair<uint32_t, std::array<uint32_t, 4>>> loops) {
    Levels levels;
    for (const auto &[trips, strides] : loops)
      if (trips > 1)
        levels.push_back({.trips = trips, .strides = strides});
    if (levels.empty())
      levels.push_back({});
    return levels;
  };
  alu.read = nest({{layer.pool.w, {out}},
                   {layer.pool.h, {out * sums.w}},
                   {mapping.tile.w, {out * layer.poolStride.w}},
                   {mapping.tile.h, {out * layer.poolStride.h * sums.w}},
                   {out, {1}}});
  const Image &to = placement.output;
  const Image copy = placement.copy.value_or(Image{});
  const unsigned scale = placement.upsamples ? 2 : 1;
  alu.hasCopy = placement.copy.has_value();
  alu.store = to.address;
  alu.copy = copy.address;
  const bool isApart = placement.copiesUnpooled;
  const Image same = isApart ? Image{} : copy;
  alu.stores =
      nest({{mapping.tile.w, {words(scale * to.pixelBytes), words(scale * same.pixelBytes)}},
            {mapping.tile.h, {words(scale * to.rowBytes), words(scale * same.rowBytes)}},
            {out, {1, alu.hasCopy && !isApart ? 1u : 0u}}});
  if (placement.upsamples)
    alu.repeat = nest({{2, {words(to.pixelBytes), words(same.pixelBytes)}},
                       {2, {words(to.rowBytes), words(same.rowBytes)}}});
  if (isApart)
    alu.copies = unpooledStores();
  for (const TileLoop loop : mapping.tileOrder) {
    const uint32_t trips = tileTrips(layer, mapping)[static_cast<size_t>(loop)];
    if (trips == 1 || loop == TileLoop::Inputs)
      continue;
    const auto distance = [&](const Image &image, const Extent &each) {
      return narrow(loop == TileLoop::Rows      ? mapping.tile.h * each.h * image.rowBytes
                    : loop == TileLoop::Columns ? mapping.tile.w * each.w * image.pixelBytes
                                                : out * storeBytes);
    };
    const Extent each = {scale, scale};
    const uint32_t ofCopy = alu.hasCopy ? distance(copy, isApart ? layer.poolStride : each) : 0;
    alu.tiles.push_back({.trips = trips, .strides = {distance(to, each), 0, 0, ofCopy}});
  }
  if (alu.tiles.empty())
    alu.tiles.push_back({});
  alu.ops = isApart ? pooledAndNot(recipe) : pooled(recipe);
  alu.repeats = narrow(mapping.tile.area() * out);
}

Expected<Block> Emitter::emit(const AluRecipe &recipe) {
  if (Expected<void> done = check(); !done)
    return propagate(done);
  Block block;
  block.base = {placement.input.address, placement.sums.address, placement.weight, placement.bias};
  block.pairs = placement.pairs;
  block.tiles = tiles();
  const uint64_t sumsWord = machine.wordBytes(Buffer::Output);
  const uint64_t kernelRow = layer.kernel.w * layer.inWords * weightBytes;
  block.walks[index(Buffer::Input)] = walk({{mapping.inWords, inputBytes},
                                            {input.w, placement.input.pixelBytes},
                                            {input.h, placement.input.rowBytes}});
  block.walks[index(Buffer::Output)] = walk({{mapping.outWords, sumsWord},
                                             {sums.w, placement.sums.pixelBytes},
                                             {sums.h, placement.sums.rowBytes}});
  block.walks[index(Buffer::Weight)] = walk({{mapping.inWords, weightBytes},
                                             {layer.kernel.w, layer.inWords * weightBytes},
                                             {layer.kernel.h, kernelRow},
                                             {mapping.outWords, layer.kernel.h * kernelRow}});
  block.walks[index(Buffer::Bias)] = walk({{mapping.outWords, machine.wordBytes(Buffer::Bias)}});
  if (mapping.mergesRequests)
    mergeRequests(block);
  block.storeWalk = block.walks[index(Buffer::Output)];
  if (mapping.skipsSums && !readsSums())
    block.walks[index(Buffer::Output)] = {{}};
  block.array = arrayLevels(layer, mapping);
  emitAlu(block, recipe);
  if (isTooFar)
    return makeError(where, "a distance in DDR of 4 GiB and more", "32 bits");
  return block;
}

} // namespace

AluRecipe publicRecipe(unsigned firstShift, int16_t multiplier, unsigned secondShift,
                       int16_t slope) {
  AluRecipe recipe;
  recipe.first = {
      withImmediate(AluFunction::Shift, 0, kFromOutput, static_cast<int16_t>(firstShift))};
  // Scaling keeps the order of values where the multiplier is positive, so it waits for the pool.
  recipe.then = {
      withImmediate(AluFunction::Mul, 1, 1, multiplier),
      withImmediate(AluFunction::Shift, 1, 1, static_cast<int16_t>(secondShift)),
  };
  addLeaky(recipe.then, slope);
  return recipe;
}

AluRecipe patentRecipe(int16_t multiplier, unsigned shift, int16_t slope, int16_t zeroPoint) {
  AluRecipe recipe;
  recipe.first = {withRegister(AluFunction::Move, 0, kFromOutput, 0)};
  recipe.then = {withImmediate(AluFunction::Mul, 1, 1, multiplier),
                 withImmediate(AluFunction::Shift, 1, 1, static_cast<int16_t>(shift))};
  addLeaky(recipe.then, slope);
  if (zeroPoint != 0)
    recipe.then.push_back(withImmediate(AluFunction::Add, 1, 1, zeroPoint));
  return recipe;
}

Expected<Block> emitBlock(const Parameters &machine, const ConvLayer &layer, const Mapping &mapping,
                          const Placement &placement, const AluRecipe &recipe,
                          const std::string &where) {
  return Emitter(machine, layer, mapping, placement, where).emit(recipe);
}

uint64_t primingBytes(const Parameters &machine) {
  return std::max<uint64_t>(4096, machine.wordBytes(Buffer::Weight));
}

Block primingBlock(const Parameters &machine, uint64_t scratch) {
  // The array works on one word for so long that the ALU is done with the tile before.
  constexpr uint32_t kSteps = 256;
  const auto input = static_cast<uint32_t>(machine.wordBytes(Buffer::Input));
  const auto sums = static_cast<uint32_t>(machine.wordBytes(Buffer::Output));
  Block block;
  block.base.fill(scratch);
  block.tiles = {{.trips = 2, .strides = {input}}, {.trips = 2, .strides = {0, sums}}};
  block.walks.fill({{}});
  block.storeWalk = {{}};
  block.array = {{.trips = kSteps}};
  block.alu.store = scratch;
  block.alu.read = block.alu.stores = {{}};
  block.alu.tiles = {{.trips = 2}};
  block.alu.ops = {withRegister(AluFunction::Move, kToStore, kFromOutput, 0)};
  return block;
}

} // namespace tpuc::dnnweaver
