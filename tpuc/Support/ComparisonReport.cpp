//===- ComparisonReport.cpp - How alike two sets of tensors are -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/ComparisonReport.h"
#include "tpuc/Support/Counted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <span>

namespace tpuc {

namespace {

std::string_view relationName(ShapeRelation relation) {
  switch (relation) {
  case ShapeRelation::Same:
    return "same";
  case ShapeRelation::Squeezed:
    return "squeezed";
  case ShapeRelation::Reshaped:
    return "reshaped";
  case ShapeRelation::Mismatch:
    return "mismatch";
  }
  return "";
}

std::string decibelText(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : fmt::format("{}", value);
}

std::string typesText(const TensorComparison &c) {
  if (c.targetType == c.referenceType)
    return std::string(dataTypeName(c.targetType));
  return fmt::format("{}|{}", dataTypeName(c.targetType), dataTypeName(c.referenceType));
}

/// JSON has no infinities.
nlohmann::ordered_json number(double value) {
  if (std::isfinite(value))
    return value;
  return fmt::format("{}", value);
}

nlohmann::ordered_json nameOrNull(const ComparisonReport::Entry *entry) {
  return entry ? nlohmann::ordered_json(entry->name) : nlohmann::ordered_json();
}

std::string csvField(std::string_view name) {
  std::string text = "\"";
  for (char c : name)
    text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

constexpr std::array kHeading = {"tensor", "type",     "cosine", "euclid",
                                 "snr/dB", "max diff", "result"};

/// Without line breaks, as names come from files.
std::string oneLine(const std::string &name) { return Error{name, "", ""}.message(); }

/// Rows of texts in columns that fit; the first column to the left, the others to the right.
class TextTable {
public:
  void addRow(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  std::string str() const {
    std::vector<size_t> widths;
    for (const auto &row : rows)
      for (size_t i = 0; i < row.size(); ++i) {
        widths.resize(std::max(widths.size(), row.size()));
        widths[i] = std::max(widths[i], row[i].size());
      }
    std::string text;
    for (const auto &row : rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i)
        line += i == 0 ? fmt::format("{:<{}}", row[i], widths[i])
                       : fmt::format("  {:>{}}", row[i], widths[i]);
      text += line + "\n";
    }
    return text;
  }

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace

void ComparisonReport::add(std::string name, TensorComparison comparison, bool counts,
                           std::optional<Tolerance> own, std::string lost) {
  compared.push_back({std::move(name), std::move(comparison), counts, own, std::move(lost)});
}

void ComparisonReport::addMissing(std::string name, Side lacking) {
  (lacking == Side::Target ? missingInTarget : missingInReference).push_back(std::move(name));
}

void ComparisonReport::addExcept(std::string name) { excepted.push_back(std::move(name)); }

size_t ComparisonReport::numCounting() const {
  return static_cast<size_t>(std::ranges::count_if(compared, &Entry::counts));
}

size_t ComparisonReport::numFailed() const {
  return static_cast<size_t>(
      std::ranges::count_if(compared, [&](const Entry &entry) { return fails(entry); }));
}

const ComparisonReport::Entry *ComparisonReport::firstFailing() const {
  auto at = std::ranges::find_if(compared, [&](const Entry &entry) { return fails(entry); });
  return at == compared.end() ? nullptr : &*at;
}

const ComparisonReport::Entry *ComparisonReport::worst() const {
  auto at = std::ranges::min_element(compared, isLessAlike, &Entry::comparison);
  return at == compared.end() ? nullptr : &*at;
}

std::string_view ComparisonReport::result(const Entry &entry) const {
  if (entry.comparison.isEqual)
    return "equal";
  if (isAlike(entry))
    return "similar";
  return entry.counts ? "FAILED" : "below";
}

std::string ComparisonReport::failureOf(const Entry &entry) const {
  const std::string whole = entry.comparison.failure(toleranceOf(entry));
  return whole.empty() ? entry.lost : whole;
}

std::string ComparisonReport::failureMessage() const {
  if (numCounting() == 0)
    return "no tensor was compared";
  const Entry *first = firstFailing();
  if (!first)
    return "";
  std::string text =
      fmt::format("{} of {} fail{}, first '{}' ({})", numFailed(), counted(numCounting(), "tensor"),
                  numFailed() == 1 ? "s" : "", oneLine(first->name), failureOf(*first));
  const Entry *least = first;
  for (const Entry &entry : compared)
    if (fails(entry) && isLessAlike(entry.comparison, least->comparison))
      least = &entry;
  if (least != first)
    text += fmt::format(", worst '{}' ({})", oneLine(least->name), failureOf(*least));
  return text;
}

std::vector<std::string> ComparisonReport::row(const Entry &entry) const {
  const TensorComparison &c = entry.comparison;
  std::vector<std::string> cells = {oneLine(entry.name), typesText(c)};
  if (!c.isComparable())
    cells.insert(cells.end(), {"-", "-", "-", "-"});
  else if (c.nonFiniteMismatches > 0)
    // What the finite rest is like says nothing.
    cells.insert(cells.end(),
                 {"-", "-", "-", fmt::format("{}|{}", c.nonFiniteTarget, c.nonFiniteReference)});
  else
    cells.insert(cells.end(), {similarityText(c.cosine), similarityText(c.euclid),
                               decibelText(c.snr), c.maxIndex < 0 ? "0" : c.maxDifferenceText});
  cells.emplace_back(result(entry));
  return cells;
}

std::vector<const ComparisonReport::Entry *> ComparisonReport::leastAlike(bool counts,
                                                                          size_t rows) const {
  std::vector<const Entry *> sorted;
  for (const Entry &entry : compared)
    if (!entry.comparison.isEqual && entry.counts == counts)
      sorted.push_back(&entry);
  std::ranges::stable_sort(sorted, isLessAlike,
                           [](const Entry *entry) -> const auto & { return entry->comparison; });
  sorted.resize(std::min(rows, sorted.size()));
  return sorted;
}

std::string ComparisonReport::worstTable(size_t rows) const {
  std::vector<const Entry *> shown = leastAlike(/*counts=*/true, rows);
  const std::vector<const Entry *> others = leastAlike(/*counts=*/false, rows);
  shown.insert(shown.end(), others.begin(), others.end());
  TextTable table;
  if (!shown.empty())
    table.addRow({kHeading.begin(), kHeading.end()});
  for (const Entry *entry : shown)
    table.addRow(row(*entry));
  std::string text = table.str();
  for (const Entry *entry : shown)
    if (!entry->lost.empty())
      text += fmt::format("{}: {}\n", oneLine(entry->name), oneLine(entry->lost));
  const auto numEqual = static_cast<size_t>(
      std::ranges::count_if(compared, [](const Entry &entry) { return entry.comparison.isEqual; }));
  if (const size_t numMore = compared.size() - numEqual - shown.size(); numMore > 0)
    text += fmt::format("{} more {} more alike\n", numMore, numMore == 1 ? "is" : "are");
  if (numEqual > 0)
    text += fmt::format("{} {} equal\n", numEqual, numEqual == 1 ? "is" : "are");
  return text;
}

std::string ComparisonReport::table(bool detailed) const {
  TextTable table;
  std::vector<std::string> heading(kHeading.begin(), kHeading.end());
  if (detailed)
    heading.insert(heading.end(), {"shape", "at", "target", "reference"});
  if (!compared.empty())
    table.addRow(heading);
  for (const Entry &entry : compared) {
    const TensorComparison &c = entry.comparison;
    std::vector<std::string> cells = row(entry);
    if (detailed) {
      cells.push_back(c.relation == ShapeRelation::Same
                          ? c.targetShape.str()
                          : fmt::format("{}|{}", c.targetShape.str(), c.referenceShape.str()));
      if (c.nonFiniteMismatches > 0)
        cells.insert(cells.end(), {indexText(c.targetShape, c.firstNonFinite), c.nonFiniteTarget,
                                   c.nonFiniteReference});
      else if (c.maxIndex >= 0)
        cells.insert(cells.end(),
                     {indexText(c.targetShape, c.maxIndex), c.targetText, c.referenceText});
    }
    table.addRow(std::move(cells));
  }
  std::string text = table.str();
  for (const Entry &entry : compared)
    if (entry.comparison.relation == ShapeRelation::Reshaped)
      text += fmt::format("note: {} has shape {} in the target, {} in the reference\n",
                          oneLine(entry.name), entry.comparison.targetShape.str(),
                          entry.comparison.referenceShape.str());
  for (const std::string &name : missingInTarget)
    text += fmt::format("only in the reference: {}\n", oneLine(name));
  for (const std::string &name : missingInReference)
    text += fmt::format("only in the target: {}\n", oneLine(name));

  auto equal = std::count_if(compared.begin(), compared.end(),
                             [](const Entry &entry) { return entry.comparison.isEqual; });
  size_t failed = numFailed();
  text += fmt::format("{} compared: {} equal, {} similar, {} failed (tolerance {},{})\n",
                      compared.size(), equal, compared.size() - static_cast<size_t>(equal) - failed,
                      failed, tolerance.cosine, tolerance.euclid);
  if (const Entry *least = worst(); least && !least->comparison.isEqual)
    text += fmt::format("worst: {}{}\n", oneLine(least->name),
                        least->comparison.isComparable()
                            ? fmt::format(", cosine {}, euclid {}",
                                          similarityText(least->comparison.cosine),
                                          similarityText(least->comparison.euclid))
                            : "");
  if (const Entry *first = firstFailing())
    text += fmt::format("first failing: {}: {}\n", oneLine(first->name), failureOf(*first));
  return text;
}

std::string ComparisonReport::csv() const {
  std::string text = "name,result,cosine,euclid,snr,max_difference\n";
  for (const Entry &entry : compared) {
    const TensorComparison &c = entry.comparison;
    text += fmt::format("{},{}", csvField(entry.name), result(entry));
    text += c.isComparable()
                ? fmt::format(",{},{},{},{}\n", c.cosine, c.euclid, c.snr, c.maxDifference)
                : std::string(",,,,\n");
  }
  return text;
}

nlohmann::ordered_json ComparisonReport::json() const {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  size_t equal = 0;
  for (const Entry &entry : compared) {
    const TensorComparison &c = entry.comparison;
    equal += c.isEqual;
    nlohmann::ordered_json tensor = {
        {"name", entry.name}, {"result", result(entry)}, {"counts", entry.counts}};
    tensor["shape_relation"] = relationName(c.relation);
    tensor["target"] = {{"type", dataTypeName(c.targetType)}, {"shape", c.targetShape.vec()}};
    tensor["reference"] = {{"type", dataTypeName(c.referenceType)},
                           {"shape", c.referenceShape.vec()}};
    if (c.isComparable()) {
      tensor["cosine"] = number(c.cosine);
      tensor["euclid"] = number(c.euclid);
      tensor["snr"] = number(c.snr);
      tensor["max_difference"] = number(c.maxDifference);
      tensor["max_index"] = c.maxIndex;
      tensor["non_finite_mismatches"] = c.nonFiniteMismatches;
      tensor["first_non_finite"] = c.firstNonFinite;
    }
    if (!isAlike(entry))
      tensor["failure"] = failureOf(entry);
    tensors.push_back(std::move(tensor));
  }
  return {{"passed", passes()},
          {"tolerance", {{"cosine", tolerance.cosine}, {"euclid", tolerance.euclid}}},
          {"compared", compared.size()},
          {"equal", equal},
          {"failed", numFailed()},
          {"first_failing", nameOrNull(firstFailing())},
          {"worst", nameOrNull(worst())},
          {"missing_in_target", missingInTarget},
          {"missing_in_reference", missingInReference},
          {"excepted", excepted},
          {"tensors", std::move(tensors)}};
}

} // namespace tpuc
