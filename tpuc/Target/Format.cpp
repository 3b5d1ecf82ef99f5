//===- Format.cpp - The targets as a table and as a page ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tpuc {

namespace {

constexpr std::string_view kUnknown = "not known";

/// 262144 -> "256 KiB"; what is no whole number of KiB stays in bytes.
std::string bytesText(uint64_t bytes) {
  constexpr std::array<std::string_view, 4> units = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (unit + 1 < units.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, units[unit]);
}

std::string precisionsText(const TargetInfo &t) {
  std::vector<std::string_view> names;
  for (const NamedScheme &row : kNamedSchemes)
    if (hasScheme(t, row.scheme) && (names.empty() || names.back() != row.name))
      names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string quantizationsText(const TargetInfo &t) {
  std::vector<std::string_view> names;
  if (hasScheme(t, schemes::kInt8))
    names.emplace_back("symmetric");
  if (hasScheme(t, schemes::kInt8Asymmetric))
    names.emplace_back("asymmetric");
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string typesText(const EngineInfo &engine) {
  std::vector<std::string_view> names;
  for (DataType type : kAllDataTypes)
    if (engine.takes(type))
      names.push_back(dataTypeName(type));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string_view roundingText(std::optional<RoundingMode> mode) {
  if (!mode)
    return kUnknown;
  constexpr std::array<std::string_view, 7> texts = {
      "half to even", "half away from zero", "toward zero", "down", "up", "half up", "half down"};
  return texts[static_cast<size_t>(*mode)];
}

std::string_view strategyText(RequantStrategy strategy) {
  constexpr std::array<std::string_view, 4> texts = {
      "none", "own command", "inside the convolution, packed parameters",
      "one shift per convolution, scales folded into weights"};
  return texts[static_cast<size_t>(strategy)];
}

template <typename T, typename Format>
std::string orUnknown(const std::optional<T> &value, Format format) {
  return value ? std::string(format(*value)) : std::string(kUnknown);
}

std::string clockText(const EngineInfo &engine) {
  return orUnknown(engine.clockHz, [](uint64_t hz) { return fmt::format("{} MHz", hz / 1e6); });
}

std::string memoryText(std::optional<uint64_t> base, std::optional<uint32_t> size) {
  if (!base || !size)
    return std::string(kUnknown);
  return fmt::format("{} at {:#x}", bytesText(*size), *base);
}

std::string commandText(const EngineInfo &e) {
  const std::string size = e.hasFixedCommandSize()
                               ? fmt::format("{} B", e.minCommandBytes)
                               : fmt::format("{} to {} B", e.minCommandBytes, e.maxCommandBytes);
  return fmt::format("{}, ids of {} bits", size, e.commandIdBits);
}

std::string extentText(const EngineInfo &e) {
  const Extents &x = e.maxExtent;
  return fmt::format("{} {} {} {}", x.n, x.c, x.h, x.w);
}

std::string containerText(const TargetInfo &target) {
  return target.container.empty() ? "none" : std::string(target.container);
}

std::string streamText(const StreamInfo &s) {
  std::string text = s.isShared ? "one, all engines in issue order" : "one per engine";
  if (s.headerBytes != 0)
    text += fmt::format(", headers of {} B", s.headerBytes);
  text += s.hasEndCommand ? ", END command" : ", no END command";
  if (s.paddingBytes > 1)
    text += fmt::format(", padded to {} B", s.paddingBytes);
  return text;
}

std::string macsText(const PeakMacs &macs) {
  std::vector<std::string> parts;
  for (const NamedScheme &row : kNamedSchemes)
    if (const auto value = macs.of(row.scheme); value && !row.scheme.zeroPoint)
      parts.push_back(fmt::format("{} {}", row.name, *value));
  return parts.empty() ? std::string(kUnknown) : fmt::format("{}", fmt::join(parts, ", "));
}

std::string blocksText(const LayoutInfo &l) {
  std::vector<std::string> parts;
  for (const auto &[name, block] :
       {std::pair{"8 bits", l.convChannelBlock8}, std::pair{"16 bits", l.convChannelBlock16},
        std::pair{"32 bits", l.convChannelBlock32}})
    if (block != 0)
      parts.push_back(fmt::format("{} {}", name, block));
  const bool blocks = l.convWeightOrder == ConvWeightOrder::ChannelBlocks;
  return fmt::format("{}; P: {}", blocks ? "[ic/P][kh][kw][P]" : "[kh][kw][ic padded to P]",
                     fmt::join(parts, ", "));
}

std::string strideText(const LayoutInfo &l) {
  switch (l.strideUnit) {
  case StrideUnit::Element:
    return "elements";
  case StrideUnit::Byte:
    return "bytes";
  case StrideUnit::Word32:
    break;
  }
  return fmt::format("32-bit words ({} batch items of int8, {} of int16)", l.int8BatchPerWord,
                     l.int16BatchPerWord);
}

std::string operandText(const TargetInfo &t) {
  std::string text = t.layout.operandAddressing == OperandAddressing::Absolute
                         ? "absolute"
                         : "offset in local memory";
  if (t.layout.secondOperandAddressBits < 32)
    text += fmt::format(", second operands {} bits", t.layout.secondOperandAddressBits);
  return text;
}

std::string globalAddressText(const GlobalMemoryInfo &g) {
  if (g.addressing == GlobalAddressing::TaggedBase)
    return fmt::format("tag << {} plus base registers", g.tagShift);
  return "absolute";
}

std::string multiplierText(const RequantInfo &r) {
  if (r.multiplierBits == 0)
    return "none, shift only";
  return fmt::format("{} bits, {}", r.multiplierBits, r.perChannel ? "per channel" : "per tensor");
}

std::string requantRoundingText(const RequantInfo &r) {
  std::string text(roundingText(r.rounding));
  if (r.firstShiftBits != 0)
    text += fmt::format(" after {} bits and after the shift", r.firstShiftBits);
  if (r.canRoundTwice)
    text += "; or twice, as sources state it";
  return text;
}

using Row = std::pair<std::string, std::string>;

std::string engineText(const EngineInfo &engine) {
  return fmt::format("{}, {}", engine.role == EngineRole::Compute ? "computes" : "moves data",
                     engine.inOrder ? "in order" : "in any order");
}

/// A row for each engine, whose name stands in `fact`.
void addEngines(std::vector<Row> &rows, const TargetInfo &t, std::string_view fact,
                std::string (*text)(const EngineInfo &)) {
  for (const EngineInfo &engine : t.engines)
    rows.emplace_back(fmt::format(fmt::runtime(fact), engine.name), text(engine));
}

std::vector<Row> computeRows(const TargetInfo &t) {
  const RequantInfo &r = t.requant;
  const WindowLimits &w = t.window;
  std::vector<Row> rows = {
      {"Precisions", precisionsText(t)},
      {"INT8 quantization", quantizationsText(t)},
      {"INT8 requantization", std::string(strategyText(r.strategy))},
      {"INT8 multiplier", multiplierText(r)},
      {"INT8 requantization rounds", requantRoundingText(r)},
      {"Element-wise shifts round", std::string(roundingText(r.shiftRounding))},
      {"INT8 bias", orUnknown(r.biasType, dataTypeName)},
      {"Floating-point sums round", std::string(roundingText(t.floatSumRounding))},
  };
  addEngines(rows, t, "Engine {}", engineText);
  addEngines(rows, t, "{} types", typesText);
  rows.emplace_back("Peak MACs per cycle", macsText(t.peakMacs));
  addEngines(rows, t, "{} clock", clockText);
  rows.emplace_back("Timing model", t.timing ? "yes" : "no");
  rows.emplace_back("Largest window stride (h, w)",
                    fmt::format("{}, {}", w.maxStrideH, w.maxStrideW));
  rows.emplace_back("Largest pad, dilation, insertion",
                    fmt::format("{}, {}, {}", w.maxPad, w.maxDilation, w.maxInsert));
  return rows;
}

std::vector<Row> memoryRows(const TargetInfo &t) {
  const MemoryInfo &m = t.memory;
  const GlobalMemoryInfo &g = t.global;
  const MemorySpace &tiles = t.tiles();
  std::vector<Row> rows = {
      {"Lanes", fmt::format("{}", tiles.lanes)},
      {"EU bytes per lane", fmt::format("{}", tiles.align)},
      {"Local memory per lane",
       fmt::format("{}, {} banks of {}", bytesText(tiles.bytes), m.banks, bytesText(m.bankBytes))},
      {"Local memory in all", bytesText(t.localBytes())},
      {"Local memory as the transfer engine sees it",
       m.localBase ? fmt::format("from {:#x}", *m.localBase) : "by offset"},
  };
  for (const MemorySpace &space : m.spaces)
    if (&space != &tiles)
      rows.emplace_back(fmt::format("Memory space {}", space.name),
                        fmt::format("{} lanes of {}, tensors at multiples of {}", space.lanes,
                                    bytesText(space.bytes), bytesText(space.align)));
  const std::vector<Row> others = {
      {"Static memory", memoryText(m.staticBase, m.staticBytes)},
      {"Shared memory on the chip", memoryText(m.sharedBase, m.sharedBytes)},
      {"Global memory", fmt::format("from {:#x}, models from {:#x}", g.base, g.modelBase)},
      {"Global addresses", globalAddressText(g)},
      {"Alignment of global areas", orUnknown(g.alignment, bytesText)},
      {"Alignment of transfers", orUnknown(g.transferAlignment, bytesText)},
      {"Stride unit", strideText(t.layout)},
      {"Operand addresses", operandText(t)},
      {"Wide integers",
       t.layout.wideIntegers == WideIntegers::Types ? "16- and 32-bit types" : "byte planes"},
      {"Convolution weights per output channel", blocksText(t.layout)},
  };
  rows.insert(rows.end(), others.begin(), others.end());
  addEngines(rows, t, "{} commands", commandText);
  addEngines(rows, t, "Largest {} extents (n c h w)", extentText);
  rows.emplace_back("Command streams", streamText(t.stream));
  if (t.frames)
    rows.emplace_back("Frame buffers", fmt::format("rows of {}, planes of {} bytes", t.frames->row,
                                                   t.frames->plane));
  rows.emplace_back("Container", containerText(t));
  rows.emplace_back("Code generator", t.hasCodeGenerator ? "yes" : "no");
  return rows;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '|')
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The lines of a plain table whose columns are as wide as their widest cell.
std::string alignColumns(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:<{}}", row[i], widths[i] + 2);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

} // namespace

std::string formatTargetTable() {
  std::vector<std::vector<std::string>> rows = {{"NAME", "FAMILY", "PRECISIONS", "INT8", "LANES",
                                                 "LOCAL MEMORY", "CONTAINER", "CODE GENERATOR"}};
  for (const TargetInfo *t : knownTargets())
    rows.push_back({std::string(t->name), std::string(t->family), precisionsText(*t),
                    quantizationsText(*t), fmt::format("{}", t->tiles().lanes),
                    fmt::format("{} x {}", t->tiles().lanes, bytesText(t->tiles().bytes)),
                    containerText(*t), t->hasCodeGenerator ? "yes" : "no"});
  return alignColumns(rows);
}

std::string formatTargetMarkdown() {
  std::string text = "# Targets\n\n"
                     "This page is generated from the tables in `tpuc/Target/` (`ninja "
                     "targets-doc`); do not edit it.\n"
                     "\"not known\" is a figure that no source states, or a thing that the chip "
                     "has not: the comments in the tables\n"
                     "say which, and where each figure comes from. Clocks and rates are those of "
                     "the vendor's own performance\n"
                     "model, not measured on silicon.\n";
  for (const TargetInfo *t : knownTargets()) {
    text += fmt::format("\n## {}\n\n{} ({}, family {}.", t->name, t->summary, t->vendor, t->family);
    if (!t->aliases.empty())
      text += fmt::format(" Also known as `{}`.", fmt::join(t->aliases, "`, `"));
    text += ")\n\n| Fact | Value |\n| --- | --- |\n";
    for (const auto &rows : {computeRows(*t), memoryRows(*t)})
      for (const auto &[fact, value] : rows)
        text += fmt::format("| {} | {} |\n", cell(fact), cell(value));
  }
  return text;
}

} // namespace tpuc
