//===- ForeignNames.cpp - What another compiler calls a network's tensors -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/ForeignNames.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Trimmed.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

using namespace tpuc;

namespace {

constexpr std::string_view kLocation = "loc(";

/// The string that `text` begins with, behind its first quote, without escapes (`\"`, `\0A`). What
/// follows its end stays in `text`; nothing where it does not end.
std::optional<std::string> takeString(std::string_view &text) {
  std::string taken;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return taken;
    }
    if (text[i] != '\\' || i + 1 == text.size()) {
      taken += text[i];
      continue;
    }
    unsigned char byte = 0;
    const char *digits = text.data() + i + 1;
    const size_t left = std::min<size_t>(2, text.size() - i - 1);
    if (const auto [end, error] = std::from_chars(digits, digits + left, byte, 16);
        error == std::errc() && end == digits + 2) {
      taken += static_cast<char>(byte);
      i += 2;
    } else {
      taken += text[++i];
    }
  }
  return std::nullopt;
}

/// Locations by their aliases, as text: `#loc4` is `"122_Conv"`.
using Aliases = std::unordered_map<std::string_view, std::string_view>;

/// Appends the names of a location `text`, whose aliases are within each other at most `depth`
/// deep: a string, an alias, or a list of such. Places in files, such as `"x.py":3:4`, are no
/// names.
void addNames(std::string_view text, const Aliases &aliases, int depth,
              std::vector<std::string> &names) {
  while (!text.empty() && depth > 0) {
    const size_t begin = text.find_first_of("\"#");
    if (begin == std::string_view::npos)
      return;
    text.remove_prefix(begin);
    if (text[0] == '"') {
      std::optional<std::string> name = takeString(text);
      if (name && !text.starts_with(':'))
        names.push_back(std::move(*name));
      if (!name)
        return;
      continue;
    }
    const size_t size = std::min(text.size(), text.find_first_of(",]) \t\r"));
    if (auto known = aliases.find(text.substr(0, size)); known != aliases.end())
      addNames(known->second, aliases, depth - 1, names);
    text.remove_prefix(size);
  }
}

/// What stands between the parentheses of the last location of a line; nothing without one.
std::optional<std::string_view> lastLocation(std::string_view line) {
  const size_t at = line.rfind(kLocation);
  if (at == std::string_view::npos || !line.ends_with(')'))
    return std::nullopt;
  line.remove_prefix(at + kLocation.size());
  line.remove_suffix(1);
  return line;
}

template <typename Function> void forEachLine(std::string_view text, const Function &function) {
  while (!text.empty()) {
    const size_t size = std::min(text.size(), text.find('\n'));
    function(trimmed(text.substr(0, size)));
    text.remove_prefix(std::min(text.size(), size + 1));
  }
}

/// Whether a line is that of an op that makes a tensor of others: `%4 = "DIALECT.OP"(%1, %2) ...`.
/// Weights have no operands.
bool makesTensor(std::string_view line) {
  constexpr std::string_view kOp = " = \"";
  const size_t op = line.find(kOp);
  if (!line.starts_with('%') || op == std::string_view::npos)
    return false;
  const size_t end = line.find('"', op + kOp.size());
  return end != std::string_view::npos && line.substr(end).starts_with("\"(%");
}

/// Whether the op on a line of its own (makesTensor) only moves the elements of its first operand.
bool movesElements(std::string_view line) {
  constexpr std::string_view kMovers[] = {"Slice",   "StridedSlice", "Squeeze", "Unsqueeze",
                                          "Reshape", "Permute",      "Flatten", "Depth2Space"};
  std::string_view op = line.substr(0, line.find("\"(%"));
  op.remove_prefix(op.rfind('.') + 1);
  return std::ranges::find(kMovers, op) != std::end(kMovers);
}

/// The value that `text` begins with, such as `%12`.
std::string_view valueAt(std::string_view text) {
  return text.substr(0, std::min(text.size(), text.find_first_of(" ,)#:=")));
}

/// `122` of `122_Conv`: what stands before the last `_` and the name of an op.
std::optional<std::string> withoutOp(const std::string &name) {
  const size_t at = name.rfind('_');
  if (at == std::string::npos || at == 0 || at + 1 == name.size() || name[at + 1] < 'A' ||
      name[at + 1] > 'Z')
    return std::nullopt;
  return name.substr(0, at);
}

/// The type of the only result of the op on a line: what stands between its last arrow and its
/// location. Empty where there are several.
std::string resultType(std::string_view line) {
  constexpr std::string_view kArrow = " -> ";
  const size_t end = line.rfind(kLocation);
  const size_t arrow = line.substr(0, end).rfind(kArrow);
  if (arrow == std::string_view::npos)
    return "";
  const std::string_view type = trimmed(line.substr(0, end).substr(arrow + kArrow.size()));
  return type.starts_with('(') ? "" : std::string(type);
}

constexpr size_t kNone = ~size_t{0};

/// Which entry each tensor has by its name, or kNone.
std::vector<size_t> entriesByName(const CalibrationTable &table,
                                  std::span<const ForeignTensor> tensors) {
  std::unordered_map<std::string, size_t> entries;
  for (size_t i = 0; i < table.entries.size(); ++i)
    entries.emplace(table.entries[i].name, i);
  std::vector<size_t> of;
  for (const ForeignTensor &tensor : tensors) {
    auto found = entries.find(tensor.name);
    if (const std::optional<std::string> plain = withoutOp(tensor.name);
        found == entries.end() && plain)
      found = entries.find(*plain);
    of.push_back(found == entries.end() ? kNone : found->second);
  }
  return of;
}

/// Whether the tensors from `first` to `end` have the types of as many entries from `entry` on.
bool haveSameTypes(std::span<const ForeignTensor> tensors, size_t first, size_t end,
                   const CalibrationTable &table, size_t entry,
                   const std::unordered_map<std::string, std::string> &types) {
  for (size_t i = first; i < end; ++i) {
    auto type = types.find(table.entries[entry + i - first].name);
    if (type == types.end() || tensors[i].type.empty() || type->second != tensors[i].type)
      return false;
  }
  return true;
}

/// Gives the tensors without an entry those that lie between the same neighbours.
void addByNeighbours(const CalibrationTable &table, std::span<const ForeignTensor> tensors,
                     const std::unordered_map<std::string, std::string> &types,
                     std::vector<size_t> &of) {
  const std::unordered_set<size_t> named(of.begin(), of.end());
  for (size_t first = 0; first < of.size(); ++first) {
    if (of[first] != kNone)
      continue;
    size_t end = first;
    while (end < of.size() && of[end] == kNone)
      ++end;
    const size_t entry = first == 0 ? 0 : of[first - 1] + 1;
    size_t last = entry;
    while (last < table.entries.size() && !named.contains(last))
      ++last;
    const size_t next = end < of.size() ? of[end] : table.entries.size();
    if (last == next && last - entry == end - first &&
        haveSameTypes(tensors, first, end, table, entry, types))
      for (size_t i = first; i < end; ++i)
        of[i] = entry + i - first;
    first = end;
  }
}

/// Gives tensors without an entry that of what is moved to them.
void addMoved(std::span<const ForeignTensor> tensors, std::vector<size_t> &of) {
  std::unordered_map<std::string_view, size_t> entries;
  for (size_t i = 0; i < of.size(); ++i) {
    if (auto from = entries.find(tensors[i].movedFrom); of[i] == kNone && from != entries.end())
      of[i] = from->second;
    if (of[i] != kNone)
      entries.emplace(tensors[i].name, of[i]);
  }
}

} // namespace

Expected<std::vector<ForeignTensor>> tpuc::readForeignNames(std::string_view text,
                                                            const std::string &path) {
  constexpr int kMostAliases = 8;
  Aliases aliases;
  forEachLine(text, [&](std::string_view line) {
    const std::optional<std::string_view> location = lastLocation(line);
    if (const size_t end = line.find(" = loc(");
        line.starts_with('#') && location && end != std::string_view::npos)
      aliases.emplace(line.substr(0, end), *location);
  });
  std::vector<ForeignTensor> tensors;
  std::unordered_set<std::string> seen;
  // The names of values that are the only ones of their ops.
  std::unordered_map<std::string_view, std::string> values;
  forEachLine(text, [&](std::string_view line) {
    const std::optional<std::string_view> location = lastLocation(line);
    if (!location || !makesTensor(line))
      return;
    std::vector<std::string> ofOp;
    addNames(*location, aliases, kMostAliases, ofOp);
    if (ofOp.size() == 1)
      values.insert_or_assign(valueAt(line), ofOp[0]);
    const auto moved =
        movesElements(line) ? values.find(valueAt(line.substr(line.find("(%") + 1))) : values.end();
    for (std::string &name : ofOp)
      if (seen.insert(name).second)
        tensors.push_back({std::move(name), ofOp.size() == 1 ? resultType(line) : "",
                           moved == values.end() ? "" : moved->second});
  });
  if (tensors.empty())
    return makeError(path, "has no op with a name in its location",
                     "the Top module of a compiler with the dialect of TPU-MLIR");
  return tensors;
}

Expected<std::vector<ForeignTensor>> tpuc::readForeignNames(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  const std::span<const std::byte> bytes = (*file)->bytes();
  return readForeignNames({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
}

Expected<std::string> tpuc::renameEntries(CalibrationTable &table,
                                          std::span<const ForeignTensor> tensors,
                                          const std::unordered_map<std::string, std::string> &types,
                                          const std::string &path) {
  std::vector<size_t> of = entriesByName(table, tensors);
  if (std::ranges::any_of(of, [](size_t entry) { return entry != kNone; }))
    addByNeighbours(table, tensors, types, of);
  addMoved(tensors, of);
  std::vector<CalibrationTable::Entry> renamed;
  std::unordered_set<size_t> used;
  std::vector<std::string> missing;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (of[i] == kNone) {
      missing.push_back(tensors[i].name);
      continue;
    }
    used.insert(of[i]);
    renamed.push_back(table.entries[of[i]]);
    renamed.back().name = tensors[i].name;
  }
  if (renamed.empty())
    return makeError(path,
                     fmt::format("has '{}' and {} more tensors, but none of this network",
                                 tensors[0].name, tensors.size() - 1),
                     fmt::format("the same network, with '{}'",
                                 table.entries.empty() ? "" : table.entries[0].name));
  std::string note;
  if (!missing.empty())
    note = fmt::format("there is no line for {} of its {} tensors, such as '{}' (NAME_origin.mlir "
                       "may have one)",
                       missing.size(), tensors.size(), missing[0]);
  if (const size_t left = table.entries.size() - used.size(); left > 0)
    note += fmt::format("{}it has no tensor for {} of {} lines, which are left out",
                        note.empty() ? "" : "; ", left, table.entries.size());
  table.entries = std::move(renamed);
  return note;
}
