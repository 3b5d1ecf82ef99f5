//===- Compression.cpp - Constants that are unpacked while they are loaded ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/Compression.h"
#include "tpuc/Target/CV18xx/Machine/Vlc.h"

#include <algorithm>
#include <map>

namespace tpuc::cv18xx::backend {

namespace {

/// Bytes that something reads.
struct Reading {
  uint64_t begin = 0, end = 0;
  bool isBf16 = false;
  /// The commands, where streams can take the place of the bytes; empty for others.
  std::vector<Command *> loads = {};
};

/// Streams begin at multiples of this, as those of the vendor's files.
constexpr uint64_t kStreamAlignment = 16;
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
  constexpr unsigned kRegionShift = 40;
  constexpr uint64_t kOffsetMask = (uint64_t{1} << kRegionShift) - 1;
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

void compress(const Reading &reading, std::span<uint8_t> bytes) {
  const std::vector<uint16_t> values = valuesOf(bytes, reading.isBf16);
  const VlcParameters parameters = estimateVlc(values, reading.isBf16, !reading.isBf16);
  const std::vector<uint8_t> stream = encodeVlc(values, parameters);
  // Less than a tenth would not be worth the other way through the engine.
  if (stream.size() * 10 > bytes.size() * 9)
    return;
  // What the zero guard makes 0 would be another number.
  const auto decoded = decodeVlc(stream, values.size(), "");
  if (!decoded || decoded->values != values)
    return;
  std::ranges::fill(bytes, uint8_t{0});
  std::ranges::copy(stream, bytes.begin());
  for (Command *load : reading.loads)
    load->set(Field::Compressed, 1)
        .set(Field::CompressSigned, parameters.isSigned)
        .set(Field::ZeroGuard, parameters.zeroGuard)
        .set(Field::Bias0, parameters.bias0)
        .set(Field::Bias1, parameters.bias1);
}

} // namespace

void compressConstants(const Chip &chip, std::span<CommandStream> streams,
                       const model::Stage &stage, unsigned base, std::span<uint8_t> bytes) {
  const std::vector<Reading> readings = readingsOf(chip, streams, stage, base);
  uint64_t reached = 0;
  for (size_t i = 0; i < readings.size(); ++i) {
    const Reading &reading = readings[i];
    const bool isAlone = reading.begin >= reached &&
                         (i + 1 == readings.size() || readings[i + 1].begin >= reading.end);
    reached = std::max(reached, reading.end);
    const uint64_t size = reading.end - reading.begin;
    if (isAlone && !reading.loads.empty() && reading.begin % kStreamAlignment == 0 &&
        size >= kLeastBytes && reading.end <= bytes.size())
      compress(reading, bytes.subspan(reading.begin, size));
  }
}

} // namespace tpuc::cv18xx::backend
