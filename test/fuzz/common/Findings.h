//===- Findings.h - What came of cases -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_COMMON_FINDINGS_H
#define TEST_FUZZ_COMMON_FINDINGS_H

#include "test/fuzz/common/Guard.h"
#include "tpuc/Support/Error.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tpuc::fuzz {

/// What memory a case may take at most.
struct Allowance {
  /// What a network of some elements takes, in bytes.
  uint64_t base = 0;
  /// How many times that and what all tensors of the network take.
  static constexpr double kFactor = 1.5;

  /// `peak` as a multiple of what is expected; 0 as long as there is no base.
  double ratio(uint64_t peak, uint64_t stated) const {
    return base == 0 ? 0
                     : static_cast<double>(peak) /
                           (static_cast<double>(base) + static_cast<double>(stated));
  }
  bool isExceeded(uint64_t peak, uint64_t stated) const { return ratio(peak, stated) > kFactor; }
};

/// What came of one case.
struct Outcome {
  Ending::Kind kind = Ending::Kind::Done;
  int signal = 0;
  /// The step that was under way.
  std::string step;
  /// Of a finding what tells its cause: the assertion, or the last line of what was written.
  std::string detail;
  /// How a step ended: `passed`, `refused`, `differs` or `mute`, and with what message.
  struct Step {
    std::string name, what, message;
  };
  std::vector<Step> steps;
  /// What memory it had at most, and what all tensors of its network take, in bytes.
  uint64_t peak = 0, stated = 0;

  /// Whether the case ended in a way in which none may end.
  bool isFinding() const { return kind != Ending::Kind::Done; }
  /// Kind, step and cause: findings of one signature are one. Nothing for what is none.
  std::string signature() const;
  /// The same for steps that ended with a message that is worth a look.
  std::vector<std::string> remarks() const;
};

/// A case that ended well but took more memory than `allowed` ended as Kind::Memory, in the step
/// that took it.
Outcome outcomeOf(const Ending &ending, const Allowance &allowed = {});

/// How a case ended, in words: `SIGABRT`, `refused in run`, `passed all steps`.
std::string endingOf(const Outcome &outcome);

/// Counts by row and column.
using Counts = std::map<std::string, uint64_t>;

/// As a table in Markdown, whose columns are all that occur in a row. `heading` stands above the
/// rows' names.
std::string tableOf(const std::string &heading, const std::map<std::string, Counts> &rows);

/// How many cases ended in which way.
class Tally {
public:
  /// `changes` are the kinds of what was changed.
  void add(const Outcome &outcome, std::span<const std::string> changes);
  void print() const;
  /// The counts as tables in Markdown: of cases, of steps and of kinds of changes.
  std::string tables() const;

private:
  Counts endings;
  std::map<std::string, Counts> steps, changes;
};

/// The smallest case of a finding.
struct Finding {
  /// `seed` is the name of what was changed.
  std::string signature, seed;
  std::vector<std::string> changes;
  /// The file that shows it, and how its name ends: `.onnx`.
  std::string bytes, ending;
  /// No more than worth a look.
  bool isRemark = false;
};

class Findings {
public:
  /// The first one of a signature stays.
  void add(Finding finding) { all.emplace(finding.signature, std::move(finding)); }
  /// Prints all of them; whether `known` has a part of the signature of each.
  bool print(std::span<const std::string> known) const;
  /// How many there are; without remarks.
  size_t size() const;
  /// All of them as a list in Markdown.
  std::string list() const;
  /// Writes the file of each, and list.txt of what they are.
  Expected<void> write(const std::string &folder) const;

private:
  std::map<std::string, Finding> all;
};

/// The lines of a file without comments (#) and empty ones; none without a file name.
Expected<std::vector<std::string>> readKnown(const std::string &path);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_COMMON_FINDINGS_H
