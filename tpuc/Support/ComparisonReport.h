//===- ComparisonReport.h - How alike two sets of tensors are ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_COMPARISONREPORT_H
#define TPUC_SUPPORT_COMPARISONREPORT_H

#include "tpuc/Support/Compare.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tpuc {

/// The comparisons of the tensors of a target with those of a reference, by name, in the order in
/// which they are added: that of the phases' execution, so that the first failing tensor is the
/// first thing that went wrong.
class ComparisonReport {
public:
  enum class Side : uint8_t { Target, Reference };

  struct Entry {
    std::string name;
    TensorComparison comparison;
    /// Whether the report fails with it; else it is shown only.
    bool counts = true;
    /// What it must have, where that is not the report's.
    std::optional<Tolerance> tolerance = std::nullopt;
    /// Why it fails although the whole tensor is alike: a part that has lost its signal.
    std::string lost = "";
  };

  explicit ComparisonReport(Tolerance tolerance) : tolerance(tolerance) {}

  void add(std::string name, TensorComparison comparison, bool counts = true,
           std::optional<Tolerance> own = std::nullopt, std::string lost = "");
  /// A tensor that one side has and the other, `lacking`, has not. Does not fail the report.
  void addMissing(std::string name, Side lacking);
  /// A tensor that was left out on request.
  void addExcept(std::string name);

  const std::vector<Entry> &entries() const { return compared; }
  const std::vector<std::string> &missing(Side lacking) const {
    return lacking == Side::Target ? missingInTarget : missingInReference;
  }

  /// Something that counts was compared and nothing fails.
  bool passes() const { return numCounting() > 0 && numFailed() == 0; }
  size_t numCounting() const;
  size_t numFailed() const;
  /// The first entry that fails; null when none does.
  const Entry *firstFailing() const;
  /// The least alike: a shape mismatch before a non-finite mismatch before the lowest euclidean
  /// similarity, then cosine; the first of equals. Null when there are no entries.
  const Entry *worst() const;

  /// One line that says why the report does not pass: the first failing tensor, by how much, and
  /// the worst. Empty when it passes.
  std::string failureMessage() const;
  /// Below a heading the `rows` least alike of those that count, then the `rows` least alike of the
  /// others, the least first; then how many more there are, those that are equal apart.
  std::string worstTable(size_t rows) const;
  /// One row per tensor below a heading, then what is missing, then the counts and the worst
  /// tensor. `detailed` adds the shapes and the values at the largest difference.
  std::string table(bool detailed = false) const;
  /// One row per tensor: name, result, cosine, euclid, snr, max_difference, separated by commas;
  /// names in quotes.
  std::string csv() const;
  /// {"passed", "tolerance": {"cosine", "euclid"}, "compared", "equal", "failed",
  ///  "first_failing", "worst" (names or null), "missing_in_target", "missing_in_reference",
  ///  "excepted", "tensors": [{"name", "result", "counts", "cosine", "euclid", "snr",
  ///  "max_difference", "max_index", ...}]}. Figures that are not finite are the strings "inf" and
  ///  "-inf".
  nlohmann::ordered_json json() const;

private:
  const Tolerance &toleranceOf(const Entry &entry) const {
    return entry.tolerance ? *entry.tolerance : tolerance;
  }
  bool isAlike(const Entry &entry) const {
    return entry.lost.empty() && entry.comparison.passes(toleranceOf(entry));
  }
  /// Why it is not alike, in a phrase.
  std::string failureOf(const Entry &entry) const;
  bool fails(const Entry &entry) const { return entry.counts && !isAlike(entry); }
  std::string_view result(const Entry &entry) const;
  std::vector<std::string> row(const Entry &entry) const;
  /// At most `rows` of those that are not equal, the least alike first.
  std::vector<const Entry *> leastAlike(bool counts, size_t rows) const;

  Tolerance tolerance;
  std::vector<Entry> compared;
  std::vector<std::string> missingInTarget;
  std::vector<std::string> missingInReference;
  std::vector<std::string> excepted;
};

} // namespace tpuc

#endif // TPUC_SUPPORT_COMPARISONREPORT_H
