//===- CalibrationTable.cpp - Files of thresholds and ranges --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/CalibrationTable.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Suggest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

using namespace tpuc;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::optional<unsigned char> hexByte(std::string_view text) {
  unsigned char byte = 0;
  if (text.size() < 2)
    return std::nullopt;
  const std::string_view digits = text.substr(0, 2);
  const char *first = std::to_address(digits.begin());
  const char *last = std::to_address(digits.end());
  const auto [end, error] = std::from_chars(first, last, byte, 16);
  if (error != std::errc() || end != last)
    return std::nullopt;
  return byte;
}

std::string tpuc::encodeTableName(std::string_view name) {
  std::string field;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool isEscaped = byte <= ' ' || byte == 0x7F || (byte == '#' && i == 0) ||
                           (byte == '%' && hexByte(name.substr(i + 1)));
    field += isEscaped ? fmt::format("%{:02X}", byte) : std::string(1, name[i]);
  }
  return field;
}

std::string tpuc::decodeTableName(std::string_view field) {
  std::string name;
  for (size_t i = 0; i < field.size(); ++i) {
    const auto byte = field[i] == '%' ? hexByte(field.substr(i + 1)) : std::nullopt;
    name += byte ? static_cast<char>(*byte) : field[i];
    i += byte ? 2 : 0;
  }
  return name;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Seven digits behind the point, or an exponent where they would keep less than five of the value.
static std::string numberText(double value) {
  const double magnitude = std::abs(value);
  return magnitude > 0 && magnitude < 1e-3 ? fmt::format("{:.7e}", value)
                                           : fmt::format("{:.7f}", value);
}

static std::string timeText(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     (micros % 1000000 + 1000000) % 1000000);
}

std::string CalibrationTable::text(std::chrono::system_clock::time_point time) const {
  std::string text;
  if (!workMode.empty())
    text += fmt::format("# work_mode:{}\n", workMode);
  text += fmt::format("# generated time: {}\n# histogram number: {}\n# sample number: {}\n"
                      "# tune number: {}\n###\n# op_name    threshold    min      max\n",
                      timeText(time), numBins, numSamples, numTuned);
  for (const WeightScales &weight : weightScales) {
    text += fmt::format("{} {}", encodeTableName(weight.name), weight.scales.size());
    for (double scale : weight.scales)
      text += fmt::format(" {}", scale);
    if (!weight.zeroPoints.empty())
      text += fmt::format(" {}", weight.zeroPoints.size());
    for (double zeroPoint : weight.zeroPoints)
      text += fmt::format(" {}", zeroPoint);
    text += '\n';
  }
  for (const Entry &entry : entries)
    text += fmt::format("{} {} {} {}\n", encodeTableName(entry.name), numberText(entry.threshold),
                        numberText(entry.min), numberText(entry.max));
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

std::vector<std::string_view> splitFields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos)
      return fields;
    line.remove_prefix(begin);
    const size_t size = std::min(line.size(), line.find_first_of(kBlanks));
    fields.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
}

template <typename T> std::optional<T> parseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

class TableParser {
public:
  explicit TableParser(const std::string &path) : path(path) {}

  Expected<CalibrationTable> parse(std::string_view text);

private:
  tl::unexpected<Error> error(std::string found, std::string expected = "") const {
    return makeError(fmt::format("{}:{}", path, number), std::move(found), std::move(expected));
  }
  void parseComment(std::string_view comment);
  Expected<void> parseLine(std::string_view line);
  Expected<void> parseEntry(std::string name, std::span<const double> values);
  Expected<void> parseScales(std::string name, std::span<const double> values);
  /// Whether the fields behind a name are a count and so many scales.
  bool areScales(std::span<const std::string_view> fields) const;

  const std::string &path;
  int64_t number = 0;
  CalibrationTable table;
  std::unordered_map<std::string, int64_t> lines;
};

/// A line of a comment that states something, such as `# sample number: 100`.
void TableParser::parseComment(std::string_view comment) {
  const size_t colon = comment.find(':');
  const size_t begin = comment.find_first_not_of("# \t");
  if (colon == std::string_view::npos || begin == std::string_view::npos || begin > colon)
    return;
  const std::string_view key = comment.substr(begin, colon - begin);
  const std::vector<std::string_view> words = splitFields(comment.substr(colon + 1));
  if (words.empty())
    return;
  const std::optional<int64_t> value = parseNumber<int64_t>(words[0]);
  if (key == "work_mode")
    table.workMode = words[0].substr(0, words[0].find("//"));
  else if (key == "histogram number")
    table.numBins = value.value_or(0);
  else if (key == "sample number")
    table.numSamples = value.value_or(0);
  else if (key == "tune number")
    table.numTuned = value.value_or(0);
}

bool TableParser::areScales(std::span<const std::string_view> fields) const {
  const std::optional<int64_t> count =
      fields.empty() ? std::nullopt : parseNumber<int64_t>(fields[0]);
  if (!count || *count < 1)
    return false;
  // `name 2 s0 s1` could be a tensor's line, but only training writes scales.
  if (fields.size() == 3 && table.workMode.empty())
    return false;
  const auto rest = static_cast<int64_t>(fields.size()) - 1;
  return rest == *count ||
         (rest == 2 * *count + 1 && parseNumber<int64_t>(fields[size_t(*count) + 1]) == count);
}

Expected<void> TableParser::parseLine(std::string_view line) {
  const std::vector<std::string_view> fields = splitFields(line);
  if (fields.empty())
    return {};
  const std::span<const std::string_view> behindName = std::span(fields).subspan(1);
  const bool isWeight = areScales(behindName);
  if (!isWeight && behindName.size() != 3)
    return error(fmt::format("{} field{}", fields.size(), fields.size() == 1 ? "" : "s"),
                 "a name, a threshold, a minimum and a maximum");
  std::vector<double> values;
  for (std::string_view field : behindName) {
    const std::optional<double> value = parseNumber<double>(field);
    if (!value || !std::isfinite(*value))
      return error(fmt::format("'{}'", field), "a finite number");
    values.push_back(*value);
  }
  std::string name = decodeTableName(fields[0]);
  const auto [known, isNew] = lines.emplace(name, number);
  if (!isNew)
    return error(fmt::format("'{}' stands in line {} already", name, known->second));
  return isWeight ? parseScales(std::move(name), values) : parseEntry(std::move(name), values);
}

Expected<void> TableParser::parseEntry(std::string name, std::span<const double> values) {
  const double threshold = values[0];
  const double min = values[1];
  const double max = values[2];
  if (threshold <= 0)
    return error(fmt::format("'{}' has the threshold {}", name, threshold), "one above 0");
  if (min > max)
    return error(fmt::format("'{}' has the minimum {} above its maximum {}", name, min, max));
  table.entries.push_back({std::move(name), threshold, min, max, number});
  return {};
}

Expected<void> TableParser::parseScales(std::string name, std::span<const double> values) {
  const auto count = static_cast<size_t>(values[0]);
  CalibrationTable::WeightScales weight{std::move(name), {}, {}, number};
  const auto scales = values.subspan(1, count);
  weight.scales.assign(scales.begin(), scales.end());
  if (values.size() > count + 1) {
    const auto zeroPoints = values.subspan(count + 2, count);
    weight.zeroPoints.assign(zeroPoints.begin(), zeroPoints.end());
  }
  for (double scale : weight.scales)
    if (scale <= 0)
      return error(fmt::format("weight '{}' has the scale {}", weight.name, scale),
                   "scales above 0");
  table.weightScales.push_back(std::move(weight));
  return {};
}

Expected<CalibrationTable> TableParser::parse(std::string_view text) {
  while (!text.empty()) {
    const size_t size = std::min(text.size(), text.find('\n'));
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(text.size(), size + 1));
    ++number;
    if (line.starts_with('#')) {
      parseComment(line);
      continue;
    }
    if (Expected<void> parsed = parseLine(line); !parsed)
      return propagate(parsed);
  }
  // Of a network without floats there is nothing to state.
  if (table.entries.empty() && table.numSamples == 0)
    return makeError(path, "holds no tensor's threshold", "a calibration table");
  return std::move(table);
}

} // namespace

Expected<CalibrationTable> CalibrationTable::parse(std::string_view text, const std::string &path) {
  return TableParser(path).parse(text);
}

Expected<CalibrationTable> CalibrationTable::read(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  const std::span<const std::byte> bytes = (*file)->bytes();
  return parse({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
}

Expected<void> CalibrationTable::checkNames(std::span<const std::string> names,
                                            const std::string &path) const {
  std::unordered_set<std::string_view> stated;
  for (const Entry &entry : entries)
    stated.insert(entry.name);
  std::vector<std::string_view> missing;
  for (const std::string &name : names)
    if (!stated.contains(name))
      missing.push_back(name);
  if (entries.empty() && !names.empty())
    return makeError(path, "has no lines",
                     fmt::format("the table of a network with '{}'", names[0]));
  if (missing.size() == names.size() && !names.empty())
    return makeError(
        path,
        fmt::format("has lines for '{}' and {} more, but for no tensor of this network",
                    entries[0].name, entries.size() - 1),
        fmt::format("the table of a network with '{}'", names[0]));
  const std::unordered_set<std::string_view> known(names.begin(), names.end());
  for (const Entry &entry : entries) {
    if (known.contains(entry.name))
      continue;
    // Before all, what was meant is one of those that have no line yet.
    std::optional<std::string_view> near = closestMatch(entry.name, missing);
    return makeError(fmt::format("{}:{}", path, entry.line),
                     fmt::format("the network has no tensor '{}'", entry.name),
                     near ? fmt::format("one of its tensors; did you mean '{}'?", *near)
                          : "one of its tensors");
  }
  if (!missing.empty())
    return makeError(
        path,
        fmt::format("the calibration table has no line for '{}'", missing[0]) +
            (missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : ""),
        "one for each tensor of the network");
  return {};
}

/// What stands before the last `_` of `name` and a word that may be an op: `122` of `122_Conv`.
static std::optional<std::string_view> withoutOp(std::string_view name) {
  const size_t at = name.rfind('_');
  if (at == std::string_view::npos || at == 0 || at + 1 == name.size() || name[at + 1] < 'A' ||
      name[at + 1] > 'Z')
    return std::nullopt;
  return name.substr(0, at);
}

Expected<std::string> CalibrationTable::fit(std::span<const std::string> names,
                                            const std::string &path) {
  const std::unordered_set<std::string_view> known(names.begin(), names.end());
  std::unordered_set<std::string> stated;
  for (const Entry &entry : entries)
    stated.insert(entry.name);
  std::string note;
  int64_t numMapped = 0;
  for (Entry &entry : entries) {
    const std::optional<std::string_view> plain = withoutOp(entry.name);
    if (known.contains(entry.name) || !plain || !known.contains(*plain) ||
        !stated.insert(std::string(*plain)).second)
      continue;
    if (numMapped++ == 0)
      note = fmt::format("'{}' is taken for '{}'", entry.name, *plain);
    entry.name = std::string(*plain);
  }
  if (numMapped > 1)
    note += fmt::format(", and {} more likewise", numMapped - 1);
  const auto isForeign = [&](const Entry &entry) { return !known.contains(entry.name); };
  const auto numForeign = std::ranges::count_if(entries, isForeign);
  const bool isComplete =
      std::ranges::all_of(names, [&](const std::string &name) { return stated.contains(name); });
  if (isComplete && numForeign > 0 && numForeign < std::ssize(entries)) {
    note += fmt::format("{}{} for what the network has not, such as '{}'", note.empty() ? "" : "; ",
                        numForeign == 1 ? "1 line is" : fmt::format("{} lines are", numForeign),
                        std::ranges::find_if(entries, isForeign)->name);
    std::erase_if(entries, isForeign);
  }
  if (Expected<void> checked = checkNames(names, path); !checked)
    return propagate(checked);
  return note;
}
