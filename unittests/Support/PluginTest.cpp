//===- PluginTest.cpp -----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using testing::AllOf;
using testing::HasSubstr;

// test-plugin is built from TestPlugin.cpp. It counts its calls, which shows that it is one copy.
TEST(Plugin, IsOpenedOnceAndStaysOpen) {
  for (int call = 1; call <= 3; ++call) {
    Expected<void *> entry = findInPlugin("test-plugin", "tpucCountCalls");
    ASSERT_TRUE(entry) << entry.error().message();
    EXPECT_EQ(reinterpret_cast<int (*)()>(*entry)(), call);
  }
}

TEST(Plugin, MissingPluginIsNamed) {
  Expected<void *> entry = findInPlugin("no-such-plugin", "tpucCountCalls");
  ASSERT_FALSE(entry);
  EXPECT_THAT(entry.error().message(), AllOf(HasSubstr("lib/tpuc/no-such-plugin.so: is missing"),
                                             HasSubstr("SupportTests")));
}

TEST(Plugin, OnlyEntriesAreVisible) {
  for (const char *symbol : {"noSuchEntry", "tpucHidden"}) {
    Expected<void *> entry = findInPlugin("test-plugin", symbol);
    ASSERT_FALSE(entry) << symbol;
    EXPECT_THAT(entry.error().message(),
                AllOf(HasSubstr("lib/tpuc/test-plugin.so: has no entry"), HasSubstr(symbol)));
  }
}
