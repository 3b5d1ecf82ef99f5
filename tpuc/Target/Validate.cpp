//===- Validate.cpp - Whether a chip's description agrees with itself -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Target.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace tpuc {

namespace {

using Result = Expected<void>;

Result fail(const TargetInfo &target, std::string found, std::string expected) {
  return makeError(fmt::format("target {}", target.name), std::move(found), std::move(expected));
}

bool isName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result checkNames(const TargetInfo &t) {
  if (!isName(t.name))
    return fail(t, fmt::format("name '{}'", t.name), "lower-case letters, digits, underscores");
  for (size_t i = 0; i < t.aliases.size(); ++i) {
    const std::string_view alias = t.aliases[i];
    if (!isName(alias))
      return fail(t, fmt::format("alias '{}'", alias), "lower-case letters, digits, underscores");
    const auto others = t.aliases.subspan(i + 1);
    if (alias == t.name || std::ranges::find(others, alias) != others.end())
      return fail(t, fmt::format("alias '{}' twice", alias), "each name once");
  }
  if (t.vendor.empty() || t.family.empty() || t.summary.empty())
    return fail(t, "no vendor, family or summary", "all three");
  return {};
}

Result checkPrecisions(const TargetInfo &t) {
  if (t.schemes.empty())
    return fail(t, "no precision", "one at least");
  bool hasFloat = false;
  for (const NamedScheme &row : kNamedSchemes) {
    if (!hasScheme(t, row.scheme))
      continue;
    hasFloat = hasFloat || !row.scheme.isQuantized();
    for (DataType type : {row.scheme.activation, row.scheme.weight})
      for (const EngineInfo &engine : t.engines)
        if (!engine.takes(type))
          return fail(t, fmt::format("an engine that does not take {}", dataTypeName(type)),
                      fmt::format("all to take it, as {} exists", row.name));
    if (!t.convChannelBlock(row.scheme.weight))
      return fail(t, fmt::format("no channel block for {}", dataTypeName(row.scheme.weight)),
                  fmt::format("one, as {} exists", row.name));
  }
  if (hasFloat != t.floatSumRounding.has_value())
    return fail(t, "floatSumRounding does not go with the precisions",
                hasFloat ? "one" : "none without a floating-point precision");
  return {};
}

Result checkRequant(const TargetInfo &t) {
  const RequantInfo &r = t.requant;
  bool hasIntegers = false, hasZeroPoints = false;
  for (const NamedScheme &row : kNamedSchemes) {
    const bool isInteger = row.scheme.isQuantized() && hasScheme(t, row.scheme);
    hasIntegers = hasIntegers || isInteger;
    hasZeroPoints = hasZeroPoints || (isInteger && row.scheme.zeroPoint);
  }
  if (!hasIntegers) {
    if (r.strategy != RequantStrategy::None || !r.roundings.empty() || r.rounding ||
        r.shiftRounding || r.biasType || r.multiplierBits != 0 || r.perChannel)
      return fail(t, "requantization without INT8", "none");
    return {};
  }
  if (r.strategy == RequantStrategy::None)
    return fail(t, "INT8 without a requantization strategy", "one");
  if (!r.rounding || !r.shiftRounding || !r.biasType)
    return fail(t, "INT8 without rounding, shiftRounding or biasType", "all three");
  if (!r.roundings.contains(*r.rounding))
    return fail(t, "a requantization rounding that is not among those offered", "one of them");
  if (!isInteger(*r.biasType) || !isSigned(*r.biasType))
    return fail(t, fmt::format("INT8 bias type {}", dataTypeName(*r.biasType)), "a signed integer");
  const bool onlyShift = r.strategy == RequantStrategy::SharedShift;
  if (onlyShift ? r.multiplierBits != 0
                : r.multiplierBits != 8 && r.multiplierBits != 16 && r.multiplierBits != 32)
    return fail(t, fmt::format("multiplier of {} bits", r.multiplierBits),
                onlyShift ? "none with a shared shift" : "8, 16 or 32");
  if (onlyShift && r.perChannel)
    return fail(t, "requantization per channel with a shared shift", "per tensor");
  if (r.strategy != RequantStrategy::InConvolution && r.firstShiftBits != 0)
    return fail(t, "a shift in two steps outside the convolution", "firstShiftBits 0");
  if (r.canRoundTwice && (r.strategy != RequantStrategy::OwnCommand || r.multiplierBits != 32))
    return fail(t, "two roundings without a requantization command of 32-bit multipliers",
                "canRoundTwice false");
  if (hasZeroPoints && r.strategy != RequantStrategy::OwnCommand)
    return fail(t, "asymmetric INT8 without a requantization command", "symmetric only");
  return {};
}

/// The names of engines or memory spaces.
template <typename List>
Result checkListNames(const TargetInfo &t, std::string_view what, const List &list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name.empty() || std::any_of(list.begin(), list.begin() + i, [&](const auto &other) {
          return other.name == list[i].name;
        }))
      return fail(t, fmt::format("{} '{}' twice, or without a name", what, list[i].name),
                  "a name of its own for each");
  return {};
}

Result checkEngine(const TargetInfo &t, const EngineInfo &engine) {
  const auto at = [&](std::string_view what) { return fmt::format("{}: {}", engine.name, what); };
  if (engine.minCommandBytes == 0 || engine.minCommandBytes > engine.maxCommandBytes ||
      engine.minCommandBytes % 4 != 0 || engine.maxCommandBytes % 4 != 0)
    return fail(t,
                at(fmt::format("commands of {} to {} bytes", engine.minCommandBytes,
                               engine.maxCommandBytes)),
                "whole 32-bit words, smallest first");
  if (engine.commandIdBits == 0 || engine.commandIdBits > 32)
    return fail(t, at(fmt::format("command ids of {} bits", engine.commandIdBits)), "1 to 32");
  const Extents &e = engine.maxExtent;
  if (e.n == 0 || e.c == 0 || e.h == 0 || e.w == 0)
    return fail(t, at("a largest extent of 0"), "1 at least");
  if (engine.clockHz && *engine.clockHz == 0)
    return fail(t, at("a clock of 0 Hz"), "a frequency, or none where it is not known");
  return {};
}

Result checkCommands(const TargetInfo &t) {
  if (!t.engineOf(EngineRole::Compute) || !t.engineOf(EngineRole::Transfer))
    return fail(t, "no engine that computes, or none that moves data", "one of each at least");
  if (Result names = checkListNames(t, "engine", t.engines); !names)
    return names;
  for (const EngineInfo &engine : t.engines)
    if (Result checked = checkEngine(t, engine); !checked)
      return checked;
  if (t.stream.isShared && t.stream.headerBytes == 0)
    return fail(t, "one stream for all engines without headers",
                "headers that tell the engines apart");
  if (!std::has_single_bit(t.stream.paddingBytes))
    return fail(t, fmt::format("streams padded to {} bytes", t.stream.paddingBytes),
                "a power of two");
  const WindowLimits &w = t.window;
  if (w.maxStrideH == 0 || w.maxStrideW == 0 || w.maxDilation == 0)
    return fail(t, "a largest window stride or dilation of 0", "1 at least");
  return {};
}

/// A part of the address space of the transfer engine.
struct Region {
  std::string_view name;
  uint64_t begin = 0, size = 0;
};

Result checkRegions(const TargetInfo &t) {
  const MemoryInfo &m = t.memory;
  if (m.staticBase.has_value() != m.staticBytes.has_value() ||
      m.sharedBase.has_value() != m.sharedBytes.has_value())
    return fail(t, "a static or shared memory with a base or a size alone", "both or neither");
  std::vector<Region> regions;
  if (m.localBase)
    regions.push_back({"local", *m.localBase, t.localBytes()});
  if (m.staticBase && m.staticBytes)
    regions.push_back({"static", *m.staticBase, *m.staticBytes});
  if (m.sharedBase && m.sharedBytes)
    regions.push_back({"shared", *m.sharedBase, *m.sharedBytes});
  // Global memory reaches to the end of the address space.
  if (!regions.empty())
    regions.push_back({"global", t.global.base, ~uint64_t{0} - t.global.base});
  std::ranges::sort(regions, {}, &Region::begin);
  for (size_t i = 1; i < regions.size(); ++i)
    if (regions[i].begin - regions[i - 1].begin < regions[i - 1].size)
      return fail(t, fmt::format("{} and {} memory overlap", regions[i - 1].name, regions[i].name),
                  "memories apart from each other");
  return {};
}

Result checkSpace(const TargetInfo &t, const MemorySpace &space) {
  const auto at = [&](std::string_view what) { return fmt::format("{}: {}", space.name, what); };
  if (!std::has_single_bit(space.lanes))
    return fail(t, at(fmt::format("{} lanes", space.lanes)), "a power of two");
  if (!std::has_single_bit(space.align) || space.align < 4)
    return fail(t, at(fmt::format("an alignment of {} bytes", space.align)),
                "a power of two, 4 at least");
  constexpr uint32_t kBlock = 1024;
  if ((!std::has_single_bit(space.bytes) && space.bytes % kBlock != 0) ||
      space.bytes % space.align != 0)
    return fail(t, at(fmt::format("{} bytes per lane", space.bytes)),
                "a power of two or a multiple of 1024, and of the alignment");
  return {};
}

Result checkMemory(const TargetInfo &t) {
  const MemoryInfo &m = t.memory;
  if (m.spaces.empty())
    return fail(t, "no memory space", "one for tiles at least");
  if (Result names = checkListNames(t, "memory space", m.spaces); !names)
    return names;
  for (const MemorySpace &space : m.spaces)
    if (Result checked = checkSpace(t, space); !checked)
      return checked;
  const MemorySpace &tiles = t.tiles();
  if (uint64_t{m.banks} * m.bankBytes != tiles.bytes)
    return fail(t, fmt::format("{} banks of {} bytes", m.banks, m.bankBytes),
                fmt::format("the {} bytes of a lane together", tiles.bytes));
  if (t.layout.operandAddressing == OperandAddressing::Absolute && !m.localBase)
    return fail(t, "absolute operand addresses without a base of local memory", "localBase");
  if (m.localBase && *m.localBase % tiles.bytes != 0)
    return fail(t, fmt::format("local memory at {:#x}", *m.localBase),
                "a multiple of the size of a lane");
  return checkRegions(t);
}

Result checkGlobal(const TargetInfo &t) {
  const GlobalMemoryInfo &g = t.global;
  const bool tagged = g.addressing == GlobalAddressing::TaggedBase;
  if (tagged ? g.tagShift == 0 || g.tagShift >= 64 : g.tagShift != 0)
    return fail(t, fmt::format("a tag shift of {}", g.tagShift),
                tagged ? "1 to 63" : "0 with absolute addresses");
  for (const auto &alignment : {g.alignment, g.transferAlignment})
    if (alignment && !std::has_single_bit(*alignment))
      return fail(t, fmt::format("a global alignment of {}", *alignment), "a power of two");
  if (g.modelBase < g.base || (g.alignment && g.modelBase % *g.alignment != 0))
    return fail(t, fmt::format("models at {:#x}", g.modelBase),
                fmt::format("an aligned address from {:#x}", g.base));
  return {};
}

Result checkLayout(const TargetInfo &t) {
  const LayoutInfo &l = t.layout;
  if (l.secondOperandAddressBits > 32 ||
      (uint64_t{1} << l.secondOperandAddressBits) < t.tiles().bytes)
    return fail(t, fmt::format("second operands with {} address bits", l.secondOperandAddressBits),
                "enough for a lane, at most 32");
  const bool words = l.strideUnit == StrideUnit::Word32;
  if (words ? l.int8BatchPerWord != 4 || l.int16BatchPerWord != 2
            : l.int8BatchPerWord != 1 || l.int16BatchPerWord != 1)
    return fail(t,
                fmt::format("{} int8 and {} int16 batch items per word", l.int8BatchPerWord,
                            l.int16BatchPerWord),
                words ? "4 and 2, as strides count words" : "1, as strides do not count words");
  if (l.int8MatrixBatchPerWord != 1 && l.int8MatrixBatchPerWord != l.int8BatchPerWord)
    return fail(t, fmt::format("{} int8 matrices per word", l.int8MatrixBatchPerWord),
                "1, or as many as of other tensors");
  for (uint32_t block : {l.convChannelBlock8, l.convChannelBlock16, l.convChannelBlock32})
    if (block != 0 && !std::has_single_bit(block))
      return fail(t, fmt::format("blocks of {} input channels", block), "a power of two");
  const bool wide = t.compute().takes(DataType::I16) || t.compute().takes(DataType::I32);
  const bool planes = l.wideIntegers == WideIntegers::BytePlanes;
  if (planes && wide)
    return fail(t, "byte planes beside 16- or 32-bit integer types", "one of the two");
  if (!planes && t.requant.biasType && !t.compute().takes(*t.requant.biasType))
    return fail(t, fmt::format("an INT8 bias of type {}", dataTypeName(*t.requant.biasType)),
                "a type that the engine takes");
  return {};
}

Result checkTiming(const TargetInfo &t, const TimingInfo &timing) {
  if (!t.compute().clockHz || !t.transfer().clockHz)
    return fail(t, "timing without clocks",
                "the clocks of the engine that computes and of the one that moves data");
  for (const NamedScheme &row : kNamedSchemes) {
    if (!hasScheme(t, row.scheme))
      continue;
    const DataType type = row.scheme.weight;
    const ConvThroughput &conv = bitWidth(type) == 8    ? timing.conv8
                                 : bitWidth(type) == 16 ? timing.conv16
                                                        : timing.conv32;
    if (t.peakMacs.of(row.scheme) != uint64_t{t.tiles().lanes} * conv.pixels * conv.channels)
      return fail(t,
                  fmt::format("{} convolutions of {} pixels by {} channels", row.name, conv.pixels,
                              conv.channels),
                  "the peak rate, over all lanes");
    if (conv.channels != t.convChannelBlock(type))
      return fail(t, fmt::format("{} input channels per cycle", conv.channels),
                  "the channel block of the weights");
  }
  for (double rate :
       {timing.globalToLocal, timing.localToGlobal, timing.globalToGlobal, timing.localToLocal,
        static_cast<double>(timing.linearBytesPerCycle), timing.peakGlobalBytesPerCycle,
        static_cast<double>(timing.linearLocalBytesPerCycle),
        static_cast<double>(timing.requantElementsPerCycle), timing.matrixTransposeFactor})
    if (!(rate > 0))
      return fail(t, fmt::format("a rate of {}", rate), "more than 0");
  if (!(timing.transferDivisor >= 1) || timing.stridedPoolFactor == 0 ||
      timing.inPlaceFactor == 0 || timing.minBurstBytes == 0 || timing.memoryChannels == 0 ||
      timing.channelInterleaveBytes == 0)
    return fail(t, "a timing factor below 1", "1 at least");
  return {};
}

Result checkRates(const TargetInfo &t) {
  for (const NamedScheme &row : kNamedSchemes) {
    // The rate does not depend on where 0 is.
    QuantScheme other = row.scheme;
    other.zeroPoint = !other.zeroPoint;
    const auto macs = t.peakMacs.of(row.scheme);
    if (!macs)
      continue;
    if (!hasScheme(t, row.scheme) && !hasScheme(t, other))
      return fail(t, fmt::format("a peak rate for {}", row.name),
                  "none for a precision that does not exist");
    if (*macs == 0 || *macs % t.tiles().lanes != 0)
      return fail(t, fmt::format("a peak of {} {} MACs", *macs, row.name),
                  "a multiple of the lanes");
  }
  if (t.conservativeTiming && !t.timing)
    return fail(t, "conservative timing alone", "the vendor's timing beside it");
  for (const std::optional<TimingInfo> &timing : {t.timing, t.conservativeTiming})
    if (timing)
      if (Result result = checkTiming(t, *timing); !result)
        return result;
  return {};
}

Result checkContainer(const TargetInfo &t) {
  if (t.container.empty() != t.containerChip.empty())
    return fail(t, fmt::format("chip name '{}' in the container", t.containerChip),
                "one exactly where there is a container");
  if (t.hasCodeGenerator && t.container.empty())
    return fail(t, "a code generator without a container", "the file that it writes");
  const auto isPower = [](int64_t number) { return number > 0 && (number & (number - 1)) == 0; };
  if (t.frames && !(isPower(t.frames->row) && isPower(t.frames->plane) && t.frames->isPresent()))
    return fail(
        t,
        fmt::format("frame buffers of rows of {} and planes of {}", t.frames->row, t.frames->plane),
        "powers of two, one above 1");
  return {};
}

} // namespace

Expected<void> validate(const TargetInfo &target) {
  for (auto check : {checkNames, checkPrecisions, checkRequant, checkCommands, checkMemory,
                     checkGlobal, checkLayout, checkRates, checkContainer})
    if (Result result = check(target); !result)
      return result;
  return {};
}

} // namespace tpuc
