//===- RunFilesTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/RunFiles.h"
#include "unittests/Support/TempFolder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tpuc;

namespace {

/// What is said about a run that reads `input` and writes `output`; empty: nothing.
std::string verdict(const std::string &input, const std::string &output) {
  RunFiles files;
  files.reads("--in", input);
  files.writes("--out", output);
  const Expected<void> checked = files.check();
  return checked ? "" : checked.error().message();
}

} // namespace

TEST(RunFiles, NamesOutputAndInput) {
  TempFolder folder;
  const std::string path = folder.path("a");
  writeAll(path, "text");
  EXPECT_EQ(verdict(path, path), "--out: '" + path + "' would replace what --in reads, '" + path +
                                     "'; expected a file that the run does not read");
  EXPECT_EQ(verdict(path, folder.path("b")), "");
}

TEST(RunFiles, LinksAndOtherNamesLeadToTheFile) {
  TempFolder folder;
  const std::string path = folder.path("a");
  writeAll(path, "text");
  const std::string soft = folder.path("soft");
  const std::string hard = folder.path("hard");
  ASSERT_EQ(symlink("a", soft.c_str()), 0);
  ASSERT_EQ(link(path.c_str(), hard.c_str()), 0);
  EXPECT_NE(verdict(path, soft), "");
  EXPECT_NE(verdict(soft, path), "");
  EXPECT_NE(verdict(path, hard), "");
  EXPECT_NE(verdict(path, folder.path("./a")), "");
  const std::string other = folder.path("folder");
  ASSERT_EQ(symlink(".", other.c_str()), 0);
  EXPECT_NE(verdict(path, other + "/a"), "");
}

TEST(RunFiles, FilesToBeAreKnownByFolderAndName) {
  TempFolder folder;
  const std::string link = folder.path("link");
  ASSERT_EQ(symlink("later", link.c_str()), 0);
  RunFiles files;
  files.writes("--first", folder.path("later"));
  files.writes("--second", folder.path("another"));
  ASSERT_TRUE(files.check());
  files.writes("--third", link);
  const Expected<void> checked = files.check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().where, "--third");
  EXPECT_EQ(checked.error().found,
            "'" + link + "' is also what --first writes, '" + folder.path("later") + "'");
  EXPECT_NE(verdict(folder.path("none/x"), folder.path("none/./x")), "");
}

TEST(RunFiles, DevicesAndFoldersAreNoFiles) {
  TempFolder folder;
  EXPECT_EQ(verdict("/dev/null", "/dev/null"), "");
  EXPECT_EQ(verdict("-", "-"), "");
  EXPECT_EQ(verdict("", ""), "");
  EXPECT_EQ(verdict(folder.path("."), folder.path(".")), "");
}
