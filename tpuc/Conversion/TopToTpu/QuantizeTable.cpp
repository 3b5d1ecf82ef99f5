//===- QuantizeTable.cpp - Layers that are to be in another precision -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/QuantizeTable.h"
#include "tpuc/Calibration/CalibrationTable.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Suggest.h"
#include "tpuc/Target/SchemeHint.h"

#include <fmt/format.h>
#include <sstream>

using namespace tpuc;

static std::string at(const std::string &path, int64_t line) {
  return fmt::format("{}:{}", path, line);
}

static Expected<QuantizeTable::Entry> parseLine(const std::vector<std::string> &fields,
                                                const std::string &path, int64_t line) {
  if (fields.size() != 2)
    return makeError(at(path, line), "has " + counted(std::ssize(fields), "field"),
                     "a layer's name and " + schemeChoices());
  std::optional<QuantScheme> mode = parseScheme(fields[1]);
  if (!mode)
    return makeError(at(path, line), "mode '" + fields[1] + "'" + schemeHint(fields[1]),
                     schemeChoices());
  return QuantizeTable::Entry{decodeTableName(fields[0]), *mode, line};
}

Expected<QuantizeTable> QuantizeTable::parse(std::string_view text, const std::string &path) {
  QuantizeTable table;
  std::map<std::string, QuantScheme> seen;
  std::istringstream lines{std::string(text)};
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::vector<std::string> fields;
    std::istringstream words(line);
    for (std::string word; words >> word && word[0] != '#';)
      fields.push_back(word);
    if (fields.empty())
      continue;
    Expected<Entry> entry = parseLine(fields, path, number);
    if (!entry)
      return propagate(entry);
    auto [place, isNew] = seen.emplace(entry->name, entry->mode);
    if (!isNew && place->second != entry->mode)
      return makeError(at(path, number), "layer '" + entry->name + "' stands here a second time",
                       "one mode for each layer");
    if (isNew)
      table.entries.push_back(std::move(*entry));
  }
  return table;
}

Expected<QuantizeTable> QuantizeTable::read(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  std::span<const std::byte> bytes = (*file)->bytes();
  return parse({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
}

Expected<std::map<std::string, QuantScheme>>
QuantizeTable::modes(const std::vector<std::string> &names, const std::set<std::string> &inputs,
                     const std::string &path) const {
  std::vector<std::string_view> known(names.begin(), names.end());
  std::map<std::string, QuantScheme> modes;
  for (const Entry &entry : entries) {
    if (inputs.contains(entry.name))
      continue;
    if (std::ranges::find(names, entry.name) == names.end()) {
      std::optional<std::string_view> near = closestMatch(entry.name, known);
      return makeError(at(path, entry.line), "the network has no layer '" + entry.name + "'",
                       near ? fmt::format("a layer of it; did you mean '{}'?", *near)
                            : "a layer of it");
    }
    modes.emplace(entry.name, entry.mode);
  }
  return modes;
}

std::string tpuc::quantizeTableLine(const std::string &name, const QuantScheme &mode) {
  return fmt::format("{} {}", encodeTableName(name), schemeName(mode));
}
