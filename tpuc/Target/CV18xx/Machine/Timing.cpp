//===- Timing.cpp - What commands take ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Timing.h"

#include <cmath>

namespace tpuc::cv18xx {

namespace {

uint64_t divideUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; }

/// What the formulas ask of a command.
struct Facts {
  bool isBf16 = false, isNarrowInput = false, isNarrowResult = false;
  int64_t steps = 0; ///< Of one vector in each lane.
  int64_t taps = 0;
  int64_t post = 0, bias = 0, shift = 0;
  unsigned width = kEuBytes; ///< Elements of a vector.
};

Facts factsOf(const Chip &chip, const TiuCommand &command, const TimingParameters &parameters) {
  Facts facts;
  facts.isBf16 = command.isBf16;
  facts.isNarrowInput = command.opd0.isNarrow && (chip.is183x || !command.isBf16);
  facts.isNarrowResult = command.res0.isNarrow && (chip.is183x || !command.isBf16);
  if (parameters.typeByWidth && !chip.is183x) {
    facts.isBf16 = !command.res0.isNarrow;
    facts.isNarrowInput = facts.isNarrowResult = false;
  }
  facts.width = facts.isBf16 ? kEuBytes / 2 : kEuBytes;
  const Extents &result = command.res0.shape;
  const uint64_t slots =
      divideUp(uint64_t{command.res0.address / kLaneBytes} + result[1], chip.lanes);
  facts.steps = static_cast<int64_t>(result[0] * slots *
                                     divideUp(uint64_t{result[2]} * result[3], facts.width));
  facts.taps = int64_t{command.opd1.shape[2]} * command.opd1.shape[3];
  facts.post = command.hasRequant ? 31 : 12;
  facts.bias = command.numOperands == 3 && !command.hasRequant ? 2 : 0;
  facts.shift = facts.isBf16 ? 2 : command.hasRequant ? 1 : 4;
  return facts;
}

/// Input columns that so many results of a row see.
double reachOf(const TiuCommand &command, double results) {
  return (results - 1) * command.strideX / (command.insertX + 1) + 1;
}

int64_t partialCycles(const TiuCommand &command) {
  return (command.addsPartial ? 4 : 0) + (command.storesPartial ? 4 : 0);
}

int64_t convCycles(const TiuCommand &command, const Facts &facts) {
  const auto channels = int64_t{command.opd0.shape[1]};
  const auto fetches =
      static_cast<int64_t>(std::ceil(reachOf(command, facts.width) / facts.width)) + 1;
  const int64_t perTap = command.isDouble && !facts.isBf16 ? (channels + 1) / 2 : channels;
  int64_t loop = facts.taps * (perTap + std::max<int64_t>(0, fetches - channels)) + facts.bias +
                 facts.shift + partialCycles(command);
  if (command.hasRequant && !facts.isBf16)
    loop = std::max<int64_t>(loop, kEuBytes);
  return 41 + facts.steps * loop + facts.post;
}

int64_t poolCycles(const TiuCommand &command, const Facts &facts) {
  const Extents &result = command.res0.shape;
  const auto taps = static_cast<double>(facts.taps);
  if (command.pool != PoolFunction::Depthwise) {
    const bool isAverage = command.pool == PoolFunction::Average;
    const double width = isAverage ? facts.width : kEuBytes;
    const double reach = reachOf(command, width);
    double factor = reach / width + (reach >= width ? (width - 1) / width : (reach - 1) / width);
    factor = uint64_t{result[2]} * result[3] == 1 ? 1 : std::max(factor, 1.0);
    if (!isAverage)
      return static_cast<int64_t>(static_cast<double>(facts.steps) * (taps * factor + 2));
    auto loop = static_cast<int64_t>(taps * factor);
    if (command.hasRequant)
      loop = std::max<int64_t>(loop, kEuBytes);
    return facts.steps * (loop + facts.shift) + facts.post;
  }
  const int64_t shift = !facts.isBf16 || (facts.taps == 1 && !command.hasRequant) ? 3 : facts.shift;
  const double columns = std::min<double>(result[3], kEuBytes);
  const double scale = result[3] >= kEuBytes ? 1 : static_cast<double>(kEuBytes) / result[3];
  const double factor = facts.taps == 1 ? 1
                                        : reachOf(command, columns) / kEuBytes * scale +
                                              static_cast<double>(kEuBytes - 1) / kEuBytes;
  auto loop = static_cast<int64_t>(taps * factor);
  if (command.hasRequant)
    loop = std::max<int64_t>(loop, kEuBytes);
  return facts.steps * (loop + facts.bias + shift) + facts.post;
}

int64_t matrixCycles(const Chip &chip, const TiuCommand &command, const Facts &facts) {
  const Extents &result = command.res0.shape;
  const auto vectors = static_cast<int64_t>(result[0] * divideUp(result[1], chip.lanes) *
                                            divideUp(result[3], facts.width));
  return 41 +
         vectors * (int64_t{command.opd1.shape[0]} + facts.bias + facts.shift +
                    partialCycles(command) + (command.accumulates ? 2 : 0)) +
         facts.post;
}

/// Cycles of a vector, of a first operand of 8 bits and of another.
struct Latency {
  double narrow, wide;
};
Latency latencyOf(Function function) {
  switch (function) {
  case Function::Mul:
    return {2.5, 4.5};
  case Function::Mac:
    return {9, 11};
  case Function::Add:
  case Function::Sub:
    return {5, 7};
  case Function::Shift:
    return {4, 4};
  case Function::Copy:
    return {2, 4};
  default:
    return {3, 5};
  }
}

int64_t elementwiseCycles(const TiuCommand &command, const Facts &facts) {
  constexpr int64_t kBegin = 26;
  if (command.function == Function::Lookup)
    return facts.steps * (1 + int64_t{command.opd1.shape[2]} + 2) + kBegin + facts.post;
  const Latency latency = latencyOf(command.function);
  double cycles = facts.isNarrowInput ? latency.narrow : latency.wide;
  if (command.function == Function::Mul && facts.isNarrowResult)
    cycles += 3;
  if ((command.function == Function::Add || command.function == Function::Sub) &&
      command.opd1.isConst && !facts.isNarrowInput)
    cycles -= 0.5;
  if (!facts.isNarrowResult)
    cycles += 1;
  const double scale = command.res0.strides[1] % 16 == 0 ? 1 : 30.0 / 16;
  return static_cast<int64_t>(static_cast<double>(facts.steps) * cycles * scale) + kBegin +
         facts.post;
}

/// Bytes of whole granules that bursts of up to 256 bytes, cut at pages of 4 KiB, move.
uint64_t burstBytes(uint64_t address, uint64_t size) {
  constexpr uint64_t kBurst = 256, kPage = 4096, kGranule = 64, kUnit = 16;
  uint64_t total = 0;
  const uint64_t end = address + size;
  // Whole bursts from an aligned address on take what they move.
  while (address < end) {
    const uint64_t aligned = address / kUnit * kUnit;
    const uint64_t stop = std::min(end, (address / kPage + 1) * kPage);
    const uint64_t length = std::min(kBurst, divideUp(stop - aligned, kUnit) * kUnit);
    total += (divideUp(aligned + length, kGranule) - aligned / kGranule) * kGranule;
    address = aligned + length;
  }
  return total;
}

/// A side in global memory: loads go on over gaps of up to `slack` bytes.
uint64_t sideBytes(uint64_t address, const Extents &shape, uint64_t strideN, uint64_t strideC,
                   uint64_t strideH, uint32_t bytes, int64_t slack) {
  const uint64_t row = uint64_t{shape[3]} * bytes;
  const auto within = [&](uint64_t stride, uint64_t size) {
    return static_cast<int64_t>(stride) - static_cast<int64_t>(size) <= slack;
  };
  uint64_t total = 0;
  const uint64_t plane = strideH * (shape[2] - 1) + row;
  if (within(strideH, row) && within(strideC, row * shape[2])) {
    for (uint32_t n = 0; n < shape[0]; ++n)
      total += burstBytes(address + n * strideN, strideC * (shape[1] - 1) + plane);
    return total;
  }
  if (within(strideH, row)) {
    for (uint32_t n = 0; n < shape[0]; ++n)
      for (uint32_t c = 0; c < shape[1]; ++c)
        total += burstBytes(address + n * strideN + c * strideC, plane);
    return total;
  }
  return burstBytes(address, row) * shape[0] * shape[1] * shape[2];
}

uint64_t globalSide(const DmaCommand &command, const DmaCommand::Side &side, const Chip &chip,
                    int64_t slack) {
  const uint64_t address = side.address + chip.globalBase;
  if (command.isMatrix)
    return sideBytes(address, {1, side.shape[1], 1, side.shape[3]}, 0, side.strideC, side.strideC,
                     side.bytes, slack);
  return sideBytes(address, side.shape, side.strideN, side.strideC, side.strideH, side.bytes,
                   slack);
}

} // namespace

std::array<TimingParameters, kNumTimingSets> timingSets(const Chip &chip) {
  const double published = chip.name == "cv183x" ? 650 : chip.name == "cv182x" ? 750 : 500;
  // The boards that were measured run the cv181x at 700 MHz.
  const double measured = chip.name == "cv181x" ? 700 : published;
  return {{{.name = "silicon",
            .tiuMegahertz = measured,
            .megabytesPerSecond = 3300,
            .startNanoseconds = 300,
            .runNanoseconds = 400'000},
           {.name = "vendor",
            .tiuMegahertz = published,
            .megabytesPerSecond = 1886 * 4,
            .typeByWidth = true},
           {.name = "pessimistic",
            .tiuMegahertz = 500,
            .megabytesPerSecond = 3000,
            .startNanoseconds = 500,
            .runNanoseconds = 400'000}}};
}

int64_t tiuCycles(const Chip &chip, const TiuCommand &command, const TimingParameters &parameters) {
  const Facts facts = factsOf(chip, command, parameters);
  switch (command.type) {
  case tiu::kConv:
    return convCycles(command, facts);
  case tiu::kPool:
    return poolCycles(command, facts);
  case tiu::kMatrix:
    return matrixCycles(chip, command, facts);
  default:
    return elementwiseCycles(command, facts);
  }
}

DmaTraffic trafficOf(const DmaCommand &command, const Chip &chip, uint64_t streamBytes) {
  DmaTraffic traffic;
  const Direction direction = command.direction;
  if (command.isGeneral) {
    const DmaCommand::Side &side = direction == Direction::Store ? command.dst : command.src;
    traffic.bytes = burstBytes(side.address + chip.globalBase, command.src.strideN) *
                    (direction == Direction::Global ? 2 : 1);
    traffic.beats = divideUp(command.src.strideN, 16);
    return traffic;
  }
  const bool reads = direction == Direction::Load || direction == Direction::Global;
  if (reads && command.move != Move::Fill)
    traffic.bytes += command.isCompressed && streamBytes != 0
                         ? streamBytes
                         : globalSide(command, command.src, chip, 16);
  if (direction == Direction::Store || direction == Direction::Global)
    traffic.bytes += globalSide(command, command.dst, chip, 0);
  if (direction == Direction::Global)
    return traffic;
  const DmaCommand::Side &local = direction == Direction::Store ? command.src : command.dst;
  const uint64_t row = uint64_t{local.shape[3]} * local.bytes;
  const uint64_t perChannel = local.strideH == row
                                  ? divideUp(local.strideH * (local.shape[2] - 1) + row, 16)
                                  : local.shape[2] * divideUp(row, 16);
  traffic.beats = uint64_t{command.src.shape[0]} * local.shape[1] * perChannel;
  return traffic;
}

double nanosecondsOf(const Chip &chip, const Command &command, const TimingParameters &parameters,
                     uint64_t streamBytes) {
  if (command.engine() == Engine::Tiu)
    return static_cast<double>(tiuCycles(chip, readTiu(chip, command), parameters)) * 1000 /
           parameters.tiuMegahertz;
  const DmaTraffic traffic = trafficOf(readDma(chip, command), chip, streamBytes);
  return std::max(static_cast<double>(traffic.bytes) * 1000 / parameters.megabytesPerSecond,
                  static_cast<double>(traffic.beats) * 1000 / parameters.tiuMegahertz) +
         parameters.startNanoseconds;
}

Products productsOf(const Chip &chip, const TiuCommand &command) {
  const Extents &result = command.res0.shape;
  const int64_t elements = int64_t{result[0]} * result[1] * result[2] * result[3];
  const int64_t taps = int64_t{command.opd1.shape[2]} * command.opd1.shape[3];
  Products products;
  products.perCycle = int64_t{chip.lanes} * (command.isBf16 ? 8 : command.isDouble ? 32 : 16);
  if (command.type == tiu::kConv)
    products.count = elements * taps * command.opd0.shape[1];
  else if (command.type == tiu::kPool && command.pool == PoolFunction::Depthwise)
    products.count = elements * taps;
  else if (command.type == tiu::kMatrix)
    products.count = int64_t{result[0]} * result[1] * result[3] * command.opd1.shape[0];
  return products;
}

std::vector<TimeSpan> scheduleOf(std::span<const Command> commands,
                                 std::span<const double> lengths) {
  std::vector<TimeSpan> spans;
  spans.reserve(commands.size());
  double begin = 0;
  for (const std::span<const Command> part : partsOf(commands)) {
    std::array<double, 2> now = {begin, begin};
    std::array<std::vector<double>, 2> ends = {std::vector<double>{begin},
                                               std::vector<double>{begin}};
    for (const Command &command : part) {
      const size_t engine = command.engine().index();
      const std::vector<double> &others = ends[1 - engine];
      const size_t awaited = std::min<size_t>(command.dependency(), others.size() - 1);
      const double start = std::max(now[engine], others[awaited]);
      const double length = lengths[spans.size()];
      now[engine] = start + length;
      ends[engine].push_back(now[engine]);
      spans.push_back({start, length});
    }
    begin = std::max(now[0], now[1]);
  }
  return spans;
}

double runNanoseconds(const Chip &chip, std::span<const Command> commands,
                      const TimingParameters &parameters) {
  std::vector<double> lengths;
  for (const Command &command : commands)
    lengths.push_back(nanosecondsOf(chip, command, parameters));
  double end = 0;
  for (const TimeSpan &span : scheduleOf(commands, lengths))
    end = std::max(end, span.start + span.length);
  return end;
}

} // namespace tpuc::cv18xx
