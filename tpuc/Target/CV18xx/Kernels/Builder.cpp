//===- Builder.cpp - Collecting the commands of both engines --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Builder.h"

#include <algorithm>
#include <cassert>

namespace tpuc::cv18xx {

Command Builder::make(std::string_view name) const {
  const mc::OpInfo *op = mc::findOp(commandTable(chip()), name);
  assert(op && "a command that the chip has");
  Command command = Command::make(*op);
  // The table of the cv183x has a flag for it.
  if (name == "lookup" && chip().is183x)
    command.set(Field::Lookup, 1);
  return command;
}

void Builder::beginLayer(std::string_view name) {
  const auto next = static_cast<uint32_t>(stream.layers.size());
  const auto [place, isNew] = layerIndices.try_emplace(std::string(name), next);
  if (isNew)
    stream.layers.emplace_back(name);
  currentLayer = place->second;
}

std::vector<Builder::Touched> Builder::touchedBy(const Command &command) const {
  std::vector<Touched> made;
  const auto add = [&](const View &view, uint64_t lanes, bool isWritten) {
    const uint64_t slots = (view.lane + uint64_t{view.shape[1]} - 1) / lanes;
    const uint64_t end = view.offset + (view.shape[0] - 1) * view.strides[0] +
                         slots * view.strides[1] + (view.shape[2] - 1) * view.strides[2] +
                         (view.shape[3] - 1) * view.strides[3] + view.bytes;
    made.push_back({view.offset, std::min<uint64_t>(end, kLaneBytes), isWritten});
  };
  if (command.engine() == Engine::Tiu) {
    const TiuViews views = viewsOf(chip(), readTiu(chip(), command));
    for (const Planes *planes : {&views.opd0, &views.opd1, &views.opd2, &views.res0})
      for (uint32_t plane = 0; plane < planes->count; ++plane)
        add(planes->plane(plane), chip().lanes, planes == &views.res0);
    return made;
  }
  const DmaCommand dma = readDma(chip(), command);
  for (const DmaCommand::Side *side : {&dma.src, &dma.dst}) {
    if (!side->isLocal || (side == &dma.src && dma.move == Move::Fill))
      continue;
    if (dma.isGeneral || dma.isMatrix) {
      made.push_back({0, kLaneBytes, side == &dma.dst});
      continue;
    }
    View view;
    view.lane = static_cast<uint32_t>(side->address / kLaneBytes);
    view.offset = static_cast<uint32_t>(side->address % kLaneBytes);
    view.shape = side->shape;
    view.strides = {side->strideN, side->strideC, side->strideH, side->bytes};
    view.bytes = side->bytes;
    add(view, chip().lanes, side == &dma.dst);
  }
  return made;
}

uint32_t Builder::neededWait(std::span<const Touched> touched, size_t other) const {
  uint32_t wait = 0;
  const Accesses &theirs = accesses[other];
  for (const Touched &bytes : touched)
    for (size_t piece = bytes.begin / kPiece; piece * kPiece < bytes.end; ++piece) {
      wait = std::max(wait, theirs.writers[piece]);
      if (bytes.isWritten)
        wait = std::max(wait, theirs.readers[piece]);
    }
  return wait;
}

Expected<void> Builder::add(Command command) {
  if (std::optional<Error> error = checkCommand(chip(), command, ""))
    return tl::unexpected<Error>(*error);
  constexpr uint32_t kMostIds = 0xFFFF;
  const size_t engine = command.engine().index();
  if (ids[engine] == kMostIds) {
    ids = {};
    accesses = {};
  }
  const std::vector<Touched> touched = touchedBy(command);
  const uint32_t wait = neededWait(touched, 1 - engine);
  const uint32_t id = ++ids[engine];
  ++numbers[engine];
  command.set(Field::Id, id).set(Field::Wait, wait);
  for (const Touched &bytes : touched)
    for (size_t piece = bytes.begin / kPiece; piece * kPiece < bytes.end; ++piece)
      (bytes.isWritten ? accesses[engine].writers : accesses[engine].readers)[piece] = id;
  if (stream.layers.empty())
    beginLayer("");
  stream.commands.push_back(command);
  stream.layerOf.push_back(currentLayer);
  return {};
}

uint64_t Builder::keep(std::span<const uint16_t> words) {
  const uint64_t next = kKeptConstants + stream.constants.size() * sizeof(uint16_t);
  const auto [place, isNew] =
      kept.try_emplace(std::vector<uint16_t>(words.begin(), words.end()), next);
  if (isNew)
    stream.constants.insert(stream.constants.end(), words.begin(), words.end());
  return place->second;
}

CommandStream Builder::finish() {
  CommandStream made = std::move(stream);
  *this = Builder(*chipInfo);
  return made;
}

} // namespace tpuc::cv18xx
