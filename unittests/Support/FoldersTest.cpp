//===- FoldersTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Folders.h"
#include "unittests/Support/TempFolder.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace tpuc;
namespace fs = std::filesystem;

TEST(Folders, FilesBelowAreKnownByName) {
  TempFolder folder;
  EXPECT_TRUE(isBelow("a", folder.path()));
  EXPECT_FALSE(isBelow("b/../a", folder.path()));
  EXPECT_TRUE(isBelow("missing/a", folder.path()));
  EXPECT_TRUE(isBelow("a", ""));
  EXPECT_FALSE(isBelow(".", folder.path()));
  EXPECT_FALSE(isBelow("../a", folder.path()));
  EXPECT_FALSE(isBelow(folder.path("a"), folder.path()));
  EXPECT_FALSE(isBelow("/etc/passwd", "/"));
}

TEST(Folders, LinksAreFollowed) {
  TempFolder folder, other;
  writeAll(other.path("a"), "text");
  writeAll(folder.path("b"), "text");
  fs::create_symlink(other.path("a"), folder.path("away"));
  fs::create_symlink(other.path(), folder.path("there"));
  fs::create_symlink("b", folder.path("here"));
  EXPECT_FALSE(isBelow("away", folder.path()));
  EXPECT_FALSE(isBelow("there/a", folder.path()));
  EXPECT_TRUE(isBelow("here", folder.path()));
  // The folder itself may be behind a link.
  fs::create_symlink(folder.path(), other.path("link"));
  EXPECT_TRUE(isBelow("b", other.path("link")));
}

TEST(Folders, WhatCannotBeLookedUpIsNotBelow) {
  TempFolder folder;
  fs::create_symlink("two", folder.path("one"));
  fs::create_symlink("one", folder.path("two"));
  EXPECT_FALSE(isBelow("one", folder.path()));
}
