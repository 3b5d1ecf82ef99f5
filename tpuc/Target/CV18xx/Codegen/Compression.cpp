//===- Compression.cpp - Constants that are unpacked while they are loaded ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/Compression.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"
#include "tpuc/Target/CV18xx/Machine/Vlc.h"

#include <algorithm>
#include <map>

namespace tpuc::cv18xx::backend {

namespace {

/// Addresses have the number of a region above these bits.
constexpr unsigned kRegionShift = 40;
constexpr uint64_t kOffsetMask = (uint64_t{1} << kRegionShift) - 1;

/// Bytes that something reads.
struct Reading {
  uint64_t begin = 0, end = 0;
  bool isBf16 = false;
  /// The loads, where streams can take the place of the bytes; empty for others.
  std::vector<Command *> loads = {};
};

/// Short transfers take as long as they do without.
constexpr uint64_t kLeastBytes = 1024;

/// Whether a load has its values one behind the other and changes nothing of them.
bool isPlain(const DmaCommand &dma) {
  const uint64_t row = uint64_t{dma.src.shape[3]} * dma.src.bytes;
  return dma.direction == Direction::Load && dma.move == Move::Copy && !dma.isGeneral &&
         !dma.isMatrix && !dma.isCompressed && dma.srcBf16 == dma.dstBf16 &&
         dma.src.shape[0] == 1 && dma.src.shape[2] == 1 &&
         (dma.src.shape[1] == 1 || dma.src.strideC == row);
}

std::vector<Reading> readingsOf(const Chip &chip, std::span<CommandStream> streams,
                                const model::Stage &stage, unsigned base) {
  std::map<std::tuple<uint64_t, uint64_t, bool>, Reading> plain;
  std::vector<Reading> all;
  for (CommandStream &stream : streams)
    for (Command &command : stream.commands) {
      if (command.engine() != Engine::Dma)
        continue;
      const DmaCommand dma = readDma(chip, command);
      const bool reads = !dma.src.isLocal && dma.move != Move::Fill && dma.src.base == base;
      if (!reads)
        continue;
      const uint64_t end = dma.src.address + globalBytes(dma, dma.src);
      if (!isPlain(dma)) {
        all.push_back({dma.src.address, end});
        continue;
      }
      Reading &reading = plain[{dma.src.address, end, dma.srcBf16}];
      reading.begin = dma.src.address;
      reading.end = end;
      reading.isBf16 = dma.srcBf16;
      reading.loads.push_back(&command);
    }
  for (const model::SubNet &subNet : stage.subNets)
    for (const cpu::Program &program : subNet.host)
      for (const cpu::Value &value : program.values)
        if (value.home == cpu::Home::Weight) {
          uint64_t size = bitWidth(value.type) / 8;
          for (const int64_t extent : value.dims)
            size *= static_cast<uint64_t>(extent);
          const uint64_t begin = value.address & kOffsetMask;
          all.push_back({begin, begin + size});
        }
  for (auto &[key, reading] : plain)
    all.push_back(std::move(reading));
  std::ranges::sort(all, {}, &Reading::begin);
  return all;
}

std::vector<uint16_t> valuesOf(std::span<const uint8_t> bytes, bool isBf16) {
  std::vector<uint16_t> values;
  for (size_t i = 0; i < bytes.size(); i += isBf16 ? 2 : 1)
    values.push_back(static_cast<uint16_t>(isBf16 ? bytes[i] | bytes[i + 1] << 8 : bytes[i]));
  return values;
}

Command unpacking(Command load, const VlcParameters &parameters) {
  load.set(Field::Compressed, 1)
      .set(Field::CompressSigned, parameters.isSigned)
      .set(Field::ZeroGuard, parameters.zeroGuard)
      .set(Field::Bias0, parameters.bias0)
      .set(Field::Bias1, parameters.bias1);
  return load;
}

/// Whether a stream of `streamBytes` is to stand for `bytes`.
bool isTaken(const Chip &chip, const Reading &reading, const VlcParameters &parameters,
             uint64_t streamBytes, uint64_t bytes, codegen::Compression compression) {
  if (compression == codegen::Compression::All)
    return streamBytes <= bytes;
  // Less than a tenth would not be worth the other way through the engine.
  if (streamBytes * 10 > bytes * 9)
    return false;
  const TimingParameters timing = timingSets(chip).front();
  return std::ranges::all_of(reading.loads, [&](const Command *load) {
    return nanosecondsOf(chip, unpacking(*load, parameters), timing, streamBytes) <=
           nanosecondsOf(chip, *load, timing);
  });
}

/// The stream, if it is taken; the commands then say so.
std::optional<std::vector<uint8_t>> compress(const Chip &chip, const Reading &reading,
                                             std::span<const uint8_t> bytes,
                                             codegen::Compression compression) {
  const std::vector<uint16_t> values = valuesOf(bytes, reading.isBf16);
  const VlcParameters parameters = estimateVlc(values, reading.isBf16, !reading.isBf16);
  std::vector<uint8_t> stream = encodeVlc(values, parameters);
  if (!isTaken(chip, reading, parameters, stream.size(), bytes.size(), compression))
    return std::nullopt;
  // What the zero guard makes 0 would be another number.
  const auto decoded = decodeVlc(stream, values.size(), "");
  if (!decoded || decoded->values != values)
    return std::nullopt;
  for (Command *load : reading.loads)
    *load = unpacking(*load, parameters);
  return stream;
}

/// Bytes that are moved as one: readings that overlap.
struct Piece {
  uint64_t begin = 0, end = 0, place = 0, stored = 0;
};

class Repacking {
public:
  Repacking(const Chip &chip, std::span<CommandStream> streams, model::Stage &stage,
            const codegen::ConstantStorage &storage)
      : chip(chip), streams(streams), stage(stage), compression(storage.compression),
        base(static_cast<unsigned>(stage.constants.front().address >> kRegionShift)),
        old(reinterpret_cast<const uint8_t *>(stage.constants.front().data.data()),
            stage.constants.front().data.size()) {
    if (!storage.before)
      return;
    for (const model::Stage &other : storage.before->nets.front().stages)
      if (const model::Bytes data = other.constants.front().data; data.size() > numBefore) {
        const auto *first = reinterpret_cast<const uint8_t *>(data.data());
        made.assign(first, first + data.size());
        numBefore = made.size();
      }
  }

  std::vector<uint8_t> run() {
    const std::vector<Reading> readings = readingsOf(chip, streams, stage, base);
    for (size_t first = 0; first < readings.size();) {
      uint64_t end = readings[first].end;
      size_t next = first + 1;
      for (; next < readings.size() && readings[next].begin < end; ++next)
        end = std::max(end, readings[next].end);
      add(std::span(readings).subspan(first, next - first), std::min<uint64_t>(end, old.size()));
      first = next;
    }
    moveCommands();
    moveHostWeights();
    moveLocations();
    return std::move(made);
  }

private:
  void add(std::span<const Reading> readings, uint64_t end) {
    const uint64_t begin = readings.front().begin;
    const auto bytes = old.subspan(begin, end - begin);
    std::optional<std::vector<uint8_t>> stream;
    const bool isTried = compression == codegen::Compression::All ||
                         (compression == codegen::Compression::Auto && bytes.size() >= kLeastBytes);
    if (isTried && readings.size() == 1 && !readings[0].loads.empty())
      stream = compress(chip, readings[0], bytes, compression);
    const std::span<const uint8_t> stored = stream ? std::span<const uint8_t>(*stream) : bytes;
    uint64_t place = placeBefore(stored);
    if (place == numBefore) {
      place = (made.size() + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
      made.resize(place);
      made.insert(made.end(), stored.begin(), stored.end());
    }
    pieces.push_back({begin, end, place, stored.size()});
  }

  /// Where the constants that stand in front have the same bytes; their end if nowhere.
  uint64_t placeBefore(std::span<const uint8_t> bytes) const {
    for (uint64_t place = 0; place + bytes.size() <= numBefore; place += kPieceAlignment)
      if (std::equal(bytes.begin(), bytes.end(), made.begin() + static_cast<int64_t>(place)))
        return place;
    return numBefore;
  }

  /// The piece that has the byte at `offset`; null if nothing reads it.
  const Piece *pieceAt(uint64_t offset) const {
    auto next = std::ranges::upper_bound(pieces, offset, {}, &Piece::begin);
    if (next == pieces.begin() || offset >= std::prev(next)->end)
      return nullptr;
    return &*std::prev(next);
  }

  void moveCommands() {
    for (CommandStream &stream : streams)
      for (Command &command : stream.commands) {
        if (command.engine() != Engine::Dma)
          continue;
        const DmaCommand dma = readDma(chip, command);
        const Piece *piece = pieceAt(dma.src.address);
        if (dma.src.isLocal || dma.move == Move::Fill || dma.src.base != base || !piece)
          continue;
        const uint64_t address = chip.globalBase + dma.src.address - piece->begin + piece->place;
        command.set(Field::SrcAddrLow, address & 0xFFFFFFFF).set(Field::SrcAddrHigh, address >> 32);
      }
  }
  void moveHostWeights() {
    for (model::SubNet &subNet : stage.subNets)
      for (cpu::Program &program : subNet.host)
        for (cpu::Value &value : program.values)
          if (const Piece *piece =
                  value.home == cpu::Home::Weight ? pieceAt(value.address & kOffsetMask) : nullptr)
            value.address += piece->place - piece->begin;
  }
  /// A weight may be several pieces. Those that stay behind each other are said to be one.
  void moveLocations() {
    std::vector<model::Section::Location> moved;
    for (const model::Section::Location &location : stage.constants.front().locations) {
      const auto isBehind = [&](const Piece &piece) { return piece.end > location.offset; };
      const auto first = std::ranges::find_if(pieces, isBehind);
      const uint64_t end = location.offset + location.size;
      auto last = first;
      while (last != pieces.end() && last->begin < end)
        ++last;
      for (auto piece = first; piece != last; ++piece) {
        const bool goesOn =
            piece != first && piece->place >= moved.back().offset + moved.back().size &&
            piece->place - (moved.back().offset + moved.back().size) < kPieceAlignment;
        if (goesOn)
          moved.back().size = piece->place + piece->stored - moved.back().offset;
        else
          moved.push_back({location.name, piece->place, piece->stored});
      }
    }
    stage.constants.front().locations = std::move(moved);
  }

  static constexpr uint64_t kPieceAlignment = 64;
  /// How many of the bytes are those of another file.
  uint64_t numBefore = 0;
  const Chip &chip;
  std::span<CommandStream> streams;
  model::Stage &stage;
  codegen::Compression compression;
  unsigned base;
  std::span<const uint8_t> old;
  std::vector<uint8_t> made;
  std::vector<Piece> pieces;
};

} // namespace

std::vector<uint8_t> repackConstants(const Chip &chip, std::span<CommandStream> streams,
                                     model::Stage &stage, const codegen::ConstantStorage &storage) {
  return Repacking(chip, streams, stage, storage).run();
}

} // namespace tpuc::cv18xx::backend
