//===- AllocationCsv.cpp - Allocation problems as text --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/AllocationCsv.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unordered_map>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

enum Column : size_t { Id, Lower, Upper, Size, Alignment, Offset, ColumnCount };
constexpr std::array<std::string_view, ColumnCount> kColumnNames = {"id",   "lower",     "upper",
                                                                    "size", "alignment", "offset"};

struct Row {
  size_t line = 0;
  Buffer buffer;
  int64_t offset = 0;
};

std::vector<std::string_view> splitAt(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return pieces;
    text.remove_prefix(end + 1);
  }
}

/// The names of a header's columns in its order. Each of id, lower, upper, size must be there.
Expected<std::vector<Column>> parseHeader(std::string_view line, const std::string &where) {
  std::vector<Column> columns;
  for (std::string_view name : splitAt(line, ',')) {
    const auto *found = std::find(kColumnNames.begin(), kColumnNames.end(), name);
    if (found == kColumnNames.end())
      return makeError(where, fmt::format("column '{}'", name),
                       fmt::format("one of {}", fmt::join(kColumnNames, ", ")));
    auto column = static_cast<Column>(found - kColumnNames.begin());
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      return makeError(where, fmt::format("column '{}' twice", name), "once");
    columns.push_back(column);
  }
  for (Column needed : {Id, Lower, Upper, Size})
    if (std::find(columns.begin(), columns.end(), needed) == columns.end())
      return makeError(where, fmt::format("no column '{}'", kColumnNames[needed]),
                       "a header with id, lower, upper, size");
  return columns;
}

Expected<Row> parseRow(std::string_view line, const std::vector<Column> &columns,
                       const std::string &where) {
  std::vector<std::string_view> fields = splitAt(line, ',');
  if (fields.size() != columns.size())
    return makeError(where, fmt::format("{} fields", fields.size()),
                     fmt::format("{}, as in the header", columns.size()));
  Row row;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (columns[i] == Id) {
      if (fields[i].empty() || fields[i].find('"') != std::string_view::npos)
        return makeError(where, fmt::format("id '{}'", fields[i]), "a name without quotes");
      row.buffer.name = fields[i];
      continue;
    }
    int64_t value = 0;
    const char *end = fields[i].data() + fields[i].size();
    auto [stop, code] = std::from_chars(fields[i].data(), end, value);
    if (code != std::errc() || stop != end)
      return makeError(where, fmt::format("{} '{}'", kColumnNames[columns[i]], fields[i]),
                       "an integer of 64 bits");
    switch (columns[i]) {
    case Lower:
      row.buffer.lower = value;
      break;
    case Upper:
      row.buffer.upper = value;
      break;
    case Size:
      row.buffer.size = value;
      break;
    case Alignment:
      row.buffer.alignment = value;
      break;
    default:
      row.offset = value;
    }
  }
  return row;
}

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

/// All rows, with unique names.
Expected<Table> parseTable(std::string_view text, std::string_view where) {
  Table table;
  std::unordered_map<std::string, size_t> lineOf;
  size_t number = 0;
  for (std::string_view line : splitAt(text, '\n')) {
    ++number;
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.empty())
      continue;
    std::string place = fmt::format("{}:{}", where, number);
    if (table.columns.empty()) {
      auto columns = parseHeader(line, place);
      if (!columns)
        return propagate(columns);
      table.columns = std::move(*columns);
      continue;
    }
    auto row = parseRow(line, table.columns, place);
    if (!row)
      return propagate(row);
    row->line = number;
    auto [entry, isNew] = lineOf.emplace(row->buffer.name, number);
    if (!isNew)
      return makeError(place,
                       fmt::format("id '{}' again, after line {}", row->buffer.name, entry->second),
                       "unique ids");
    table.rows.push_back(std::move(*row));
  }
  if (table.columns.empty())
    return makeError(std::string(where), "no line", "a header with id, lower, upper, size");
  return table;
}

} // namespace

Expected<AllocationProblem> tpuc::alloc::parseProblem(std::string_view text,
                                                      std::string_view where) {
  auto table = parseTable(text, where);
  if (!table)
    return propagate(table);
  AllocationProblem problem;
  for (Row &row : table->rows)
    problem.buffers.push_back(std::move(row.buffer));
  if (auto ok = checkProblem(problem); !ok) {
    ok.error().where = fmt::format("{}: {}", where, ok.error().where);
    return propagate(ok);
  }
  return problem;
}

Expected<std::vector<int64_t>> tpuc::alloc::parseAllocation(std::string_view text,
                                                            const AllocationProblem &problem,
                                                            std::string_view where) {
  auto table = parseTable(text, where);
  if (!table)
    return propagate(table);
  if (std::find(table->columns.begin(), table->columns.end(), Offset) == table->columns.end())
    return makeError(std::string(where), "no column 'offset'", "the offsets of an allocation");
  std::unordered_map<std::string_view, const Row *> rowOf;
  for (const Row &row : table->rows)
    rowOf.emplace(row.buffer.name, &row);
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    auto entry = rowOf.find(buffer.name);
    if (entry == rowOf.end())
      return makeError(std::string(where), "no line for " + describeBuffer(problem, i),
                       "one for each buffer");
    const Row &row = *entry->second;
    if (row.buffer.lower != buffer.lower || row.buffer.upper != buffer.upper ||
        row.buffer.size != buffer.size)
      return makeError(fmt::format("{}:{}", where, row.line),
                       fmt::format("{} in [{}, {}) of size {}", describeBuffer(problem, i),
                                   row.buffer.lower, row.buffer.upper, row.buffer.size),
                       fmt::format("[{}, {}) of size {}, as in the problem", buffer.lower,
                                   buffer.upper, buffer.size));
    offsets.push_back(row.offset);
    rowOf.erase(entry);
  }
  if (!rowOf.empty())
    for (const Row &row : table->rows)
      if (rowOf.contains(row.buffer.name))
        return makeError(fmt::format("{}:{}", where, row.line),
                         fmt::format("id '{}'", row.buffer.name), "a buffer of the problem");
  return offsets;
}

Expected<AllocationProblem> tpuc::alloc::readProblem(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  // An empty file sets the fail bit of the receiving stream, which is no failure to read.
  if (file && file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.bad())
    return makeError(path, fmt::format("cannot be read: {}", std::strerror(errno)),
                     "a readable file");
  return parseProblem(text.str(), path);
}

Expected<std::string> tpuc::alloc::formatProblem(const AllocationProblem &problem,
                                                 std::span<const int64_t> offsets) {
  assert(offsets.empty() || offsets.size() == problem.buffers.size());
  auto isFixed = [](const Buffer &buffer) { return buffer.fixedOffset.has_value(); };
  if (!problem.subBuffers.empty() || !problem.mayOverlap.empty() || problem.bankSize != 0 ||
      std::any_of(problem.buffers.begin(), problem.buffers.end(), isFixed))
    return makeError("problem", "aliases, banks or fixed offsets",
                     "what the columns of the format can say");
  bool aligned = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                             [](const Buffer &buffer) { return buffer.alignment != 1; });
  std::string text = "id,lower,upper,size";
  text += aligned ? ",alignment" : "";
  text += offsets.empty() ? "\n" : ",offset\n";
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (buffer.name.empty() || buffer.name.find_first_of(",\"\r\n") != std::string::npos ||
        !seen.emplace(buffer.name, i).second)
      return makeError(describeBuffer(problem, i), "cannot be written",
                       "a unique name without comma, quote or line break");
    text += fmt::format("{},{},{},{}", buffer.name, buffer.lower, buffer.upper, buffer.size);
    if (aligned)
      text += fmt::format(",{}", buffer.alignment);
    if (!offsets.empty())
      text += fmt::format(",{}", offsets[i]);
    text += '\n';
  }
  return text;
}
