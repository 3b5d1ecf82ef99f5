//===- CV18xxEmitter.cpp - Commands of networks ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/CV18xxEmitter.h"
#include "tpuc/Codegen/Emit/PlacedResults.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Target/CV18xx/Codegen/Compression.h"
#include "tpuc/Target/CV18xx/Codegen/Moves.h"
#include "tpuc/Target/CV18xx/Codegen/OpKernels.h"
#include "tpuc/Target/CV18xx/Codegen/RecurrentOps.h"
#include "tpuc/Target/CV18xx/Codegen/SlicedOps.h"
#include "tpuc/Target/CV18xx/Codegen/TensorLayout.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"
#include "tpuc/Target/Common/Stream.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

/// `done`, with the layer's name where the error has none.
static Expected<void> named(Operation *op, Expected<void> done) {
  if (!done && done.error().where.empty())
    done.error().where = "layer '" + layerName(op) + "'";
  return done;
}

void CV18xxEmitter::beginLayer(Operation *op) { builder.beginLayer(layerName(op)); }

Expected<void> CV18xxEmitter::load(const TiledOp &tiled, unsigned index, int64_t global) {
  return named(tiled.op, loadOperand(builder, tiled, index, global));
}

Expected<void> CV18xxEmitter::compute(const TiledOp &tiled) {
  return named(tiled.op, emitOp(builder, tiled));
}

Expected<void> CV18xxEmitter::store(const TiledOp &tiled, int64_t global) {
  return named(tiled.op, storeResult(builder, tiled, global));
}

Expected<void> CV18xxEmitter::loadPool(unsigned, int64_t, int64_t, int64_t) {
  return makeError("module", "resident constants", "none on this chip");
}

Expected<void> CV18xxEmitter::move(Operation *op) {
  return named(op, isSliced(op)     ? emitSliced(builder, op)
                   : isStreamed(op) ? emitStreamed(builder, op)
                                    : emitMove(builder, op));
}

void CV18xxEmitter::endLayer(Operation *op) {
  const size_t done = builder.numCommands(Engine::Tiu) + builder.numCommands(Engine::Dma);
  if (done == 0)
    return;
  for (model::TensorInfo &tensor : placedResults(op)) {
    model::InnerTensor &inner = tensors.emplace_back();
    inner.subNet = static_cast<uint32_t>(streams.size());
    inner.after = static_cast<uint32_t>(done);
    inner.tensor = std::move(tensor);
  }
}

Expected<void> CV18xxEmitter::endSubNet() {
  streams.push_back(builder.finish());
  numEnded += std::ssize(streams.back().commands);
  return {};
}

codegen::Cost CV18xxEmitter::cost() {
  const Chip &chip = builder.chip();
  const CommandStream made = builder.finish();
  const TimingParameters parameters = timingSets(chip).front();
  std::array<double, 2> nanoseconds = {};
  for (const Command &command : made.commands)
    nanoseconds[command.engine().index()] += nanosecondsOf(chip, command, parameters);
  codegen::Cost sum;
  for (size_t i = 0; i < nanoseconds.size(); ++i)
    sum.cycles[i] = std::llround(nanoseconds[i]);
  return sum;
}

SmallVector<int64_t> CV18xxEmitter::runCycles() const {
  const Chip &chip = builder.chip();
  SmallVector<int64_t> sums;
  for (const TimingParameters &parameters : timingSets(chip)) {
    double end = 0;
    for (const CommandStream &stream : streams)
      end += runNanoseconds(chip, stream.commands, parameters);
    sums.push_back(std::llround(end));
  }
  return sums;
}

/// Where each layer's commands begin, for layers that are counted from `first` on.
static std::vector<model::LayerRun> runsOf(const std::vector<uint32_t> &layers, uint32_t first) {
  std::vector<model::LayerRun> runs;
  for (uint32_t i = 0; i < layers.size(); ++i)
    if (i == 0 || layers[i - 1] != layers[i])
      runs.push_back({i, layers[i] + first});
  return runs;
}

/// Puts what the kernels bring along behind the network's constants, equal words once, and tells
/// the loads where that is. Gives the bytes of both.
static std::vector<uint8_t> withKept(const Chip &chip, MutableArrayRef<CommandStream> streams,
                                     model::Bytes constants) {
  constexpr size_t kAlignment = 64;
  const auto *first = reinterpret_cast<const uint8_t *>(constants.data());
  std::vector<uint8_t> bytes(first, first + constants.size());
  std::map<std::vector<uint16_t>, uint64_t> places;
  for (CommandStream &stream : streams) {
    if (stream.constants.empty())
      continue;
    const auto [place, isNew] = places.try_emplace(stream.constants, 0);
    if (isNew) {
      bytes.resize(alignedTo(static_cast<int64_t>(bytes.size()), kAlignment));
      place->second = bytes.size();
      for (const uint16_t word : stream.constants) {
        bytes.push_back(static_cast<uint8_t>(word));
        bytes.push_back(static_cast<uint8_t>(word >> 8));
      }
    }
    for (Command &command : stream.commands) {
      if (command.engine() != Engine::Dma)
        continue;
      const DmaCommand dma = readDma(chip, command);
      if (dma.src.isLocal || dma.move == Move::Fill || dma.src.base != kConstantBase ||
          dma.src.address < kKeptConstants)
        continue;
      const uint64_t address = chip.globalBase + dma.src.address - kKeptConstants + place->second;
      command.set(Field::SrcAddrLow, address & 0xFFFFFFFF).set(Field::SrcAddrHigh, address >> 32);
    }
  }
  return bytes;
}

Expected<void> CV18xxEmitter::setStorage(const ConstantStorage &wanted) {
  if (wanted.before) {
    const model::CompiledModel &file = *wanted.before;
    for (const model::Net &net : file.nets)
      for (const model::Stage &stage : net.stages) {
        if (stage.constants.size() != 1 ||
            stage.constants.front().address != uint64_t{kConstantBase} << kTagShift)
          return makeError("",
                           llvm::formatv("{0} areas of constants", stage.constants.size()).str(),
                           "one, in its region");
        for (const model::SubNet &subNet : stage.subNets)
          for (const model::CommandGroup &group : subNet.groups)
            for (const model::Stream &stream : group.streams)
              if (stream.engine != builder.chip().name)
                return makeError("", "commands for " + stream.engine,
                                 "a file for " + std::string(builder.chip().name));
      }
    if (file.nets.size() != 1 || file.nets.front().stages.empty())
      return makeError("", "a file without a network", "one of one network");
  }
  storage = wanted;
  return {};
}

Expected<void> CV18xxEmitter::finish(model::CompiledModel &model) {
  const Chip &chip = builder.chip();
  model::Stage &stage = model.nets.front().stages.front();
  const bool keeps =
      llvm::any_of(streams, [](const CommandStream &stream) { return !stream.constants.empty(); });
  if ((keeps || storage.before) && stage.constants.empty())
    stage.constants.push_back(
        {.address = uint64_t{kConstantBase} << kTagShift, .data = {}, .locations = {}});
  std::vector<uint8_t> complete;
  if (keeps && stage.constants.size() == 1) {
    complete = withKept(chip, streams, stage.constants.front().data);
    stage.constants.front().data = std::as_bytes(std::span(complete));
  }
  if (stage.constants.size() == 1) {
    auto bytes =
        std::make_shared<std::vector<uint8_t>>(repackConstants(chip, streams, stage, storage));
    stage.constants.front().data = std::as_bytes(std::span(*bytes));
    model.owners.push_back(std::move(bytes));
  }
  // Those of the chip are counted among themselves until here.
  const std::vector<uint32_t> numbers = stage.chipOrder();
  for (size_t i = 0; i < streams.size(); ++i) {
    const CommandStream &commands = streams[i];
    auto code =
        std::make_shared<std::vector<uint8_t>>(mc::encodeStream(streamOf(chip), commands.commands));
    const auto first = static_cast<uint32_t>(model.layers.size());
    stage.subNets[numbers[i]].groups.emplace_back().streams.push_back(
        {std::string(chip.name), std::as_bytes(std::span(*code)),
         static_cast<uint32_t>(commands.commands.size()), runsOf(commands.layerOf, first)});
    model.owners.push_back(std::move(code));
    llvm::append_range(model.layers, commands.layers);
  }
  for (model::InnerTensor &tensor : tensors)
    tensor.subNet = numbers[tensor.subNet];
  stage.innerTensors = std::move(tensors);
  return {};
}

} // namespace tpuc::cv18xx::backend
