//===- RegistryTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

using namespace tpuc;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

namespace {

std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The words of a source file, in lower case.
std::set<std::string> wordsOf(const std::string &text) {
  std::set<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

} // namespace

TEST(Registry, HasEveryChipOfTheManualAndTheNullTarget) {
  std::vector<std::string_view> names;
  for (const TargetInfo *target : knownTargets())
    names.push_back(target->name);
  // In the order of their folders. Others may be added.
  EXPECT_THAT(names,
              IsSupersetOf({"bm1684", "bm1684x", "cv183x", "cv182x", "cv181x", "cv180x", "null"}));
}

TEST(Registry, FindsEachFolder) {
  size_t folders = 0;
  for (const auto &entry : std::filesystem::directory_iterator(TPUC_SOURCE_DIR "/tpuc/Target"))
    folders += std::filesystem::exists(entry.path() / "TargetInfo.cpp") ? 1 : 0;
  EXPECT_EQ(chipFolders().size(), folders);
  for (DescribeTargets describeTargets : chipFolders())
    EXPECT_FALSE(describeTargets().empty());
}

TEST(Registry, EveryTargetIsValid) {
  for (const TargetInfo *target : knownTargets()) {
    const auto result = validate(*target);
    EXPECT_TRUE(result.has_value()) << result.error().message();
  }
}

TEST(Registry, NoNameOrAliasTwice) {
  std::set<std::string_view> seen;
  for (const TargetInfo *target : knownTargets()) {
    EXPECT_TRUE(seen.insert(target->name).second) << target->name;
    for (std::string_view alias : target->aliases)
      EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
}

// One device driver runs the files of one name: those of a family that say which machine they are
// for, or of one chip.
TEST(Registry, NoContainerHoldsChipsOfTwoFamiliesUnderOneName) {
  std::map<std::string, std::string_view> seen;
  for (const TargetInfo *target : knownTargets())
    if (!target->container.empty())
      EXPECT_EQ(seen.try_emplace(std::string(target->containerChip), target->family).first->second,
                target->family)
          << target->name;
}

TEST(Lookup, FindsNamesAndAliasesInAnyCase) {
  for (const TargetInfo *target : knownTargets()) {
    EXPECT_EQ(lookupTarget(target->name).value(), target);
    for (std::string_view alias : target->aliases)
      EXPECT_EQ(lookupTarget(alias).value(), target);
  }
  EXPECT_EQ(lookupTarget("BM1684X").value()->name, "bm1684x");
  EXPECT_EQ(lookupTarget("CV183x").value()->name, "cv183x");
}

TEST(Lookup, NamesTheKnownOnesAndTheNearOne) {
  const auto result = lookupTarget("bm1648x");
  ASSERT_FALSE(result.has_value());
  std::string names;
  for (const TargetInfo *target : knownTargets())
    names += (names.empty() ? "" : ", ") + std::string(target->name);
  EXPECT_EQ(result.error().message(),
            "--chip: unknown target 'bm1648x', did you mean 'bm1684x'?; expected one of " + names);
}

TEST(Lookup, SuggestsNothingFarAway) {
  for (std::string_view name : {"", "h100", "a very long name that is no chip"}) {
    const auto result = lookupTarget(name);
    ASSERT_FALSE(result.has_value()) << name;
    EXPECT_THAT(result.error().message(), Not(HasSubstr("did you mean")));
    EXPECT_THAT(result.error().message(), HasSubstr("one of bm1684, "));
  }
}

TEST(Format, TableHasOneLinePerTarget) {
  const std::string table = formatTargetTable();
  EXPECT_EQ(static_cast<size_t>(std::count(table.begin(), table.end(), '\n')),
            knownTargets().size() + 1);
  EXPECT_THAT(table,
              ContainsRegex("\nbm1684x +BM168x +F32 F16 BF16 INT8 +symmetric, asymmetric +64"));
  EXPECT_THAT(table, HasSubstr("2 x 32 KiB"));
  EXPECT_THAT(table, Not(HasSubstr(" \n")));
}

TEST(Format, DocumentationIsWhatTheTablesSay) {
  EXPECT_EQ(readFile(TPUC_SOURCE_DIR "/docs/targets.md"), formatTargetMarkdown())
      << "run: ninja targets-doc";
}

TEST(Generic, NoChipIsNamedOutsideItsFolder) {
  size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(TPUC_SOURCE_DIR "/tpuc/Target")) {
    if (!entry.is_regular_file())
      continue;
    ++files;
    const std::set<std::string> words = wordsOf(readFile(entry.path()));
    for (const TargetInfo *target : knownTargets()) {
      EXPECT_EQ(words.count(std::string(target->name)), 0u) << entry.path() << ": " << target->name;
      for (std::string_view alias : target->aliases)
        EXPECT_EQ(words.count(std::string(alias)), 0u) << entry.path() << ": " << alias;
    }
  }
  EXPECT_GE(files, 7u);
}
