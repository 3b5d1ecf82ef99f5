//===- DatasetTest.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Dataset.h"
#include "unittests/Support/TempFolder.h"

#include <gmock/gmock.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

template <typename T> std::string messageOf(const Expected<T> &result) {
  return result ? "accepted" : result.error().message();
}

TEST(Dataset, ListsAFolderByName) {
  TempFolder folder;
  for (const char *name : {"b.png", "a.JPG", ".hidden", "10.bmp"})
    writeAll(folder.path(name), "x");
  std::filesystem::create_directory(folder.path("c"));
  Expected<std::vector<SampleFiles>> samples = listFolder(folder.path());
  ASSERT_TRUE(samples) << samples.error().message();
  EXPECT_THAT(*samples,
              ElementsAre(ElementsAre(folder.path("10.bmp")), ElementsAre(folder.path("a.JPG")),
                          ElementsAre(folder.path("b.png"))));
}

TEST(Dataset, RefusesFoldersThatAreNone) {
  TempFolder folder;
  EXPECT_THAT(messageOf(listFolder(folder.path())), HasSubstr("is empty"));
  EXPECT_THAT(messageOf(listFolder(folder.path("no"))), HasSubstr("/no: cannot be read"));
  writeAll(folder.path("1.npy"), "x");
  EXPECT_THAT(messageOf(listFolder(folder.path("1.npy"))), HasSubstr("1.npy: cannot be read"));
  writeAll(folder.path("2.png"), "x");
  EXPECT_THAT(
      messageOf(listFolder(folder.path())),
      HasSubstr("2.png: is a picture in a folder whose first file, '1.npy', is a npy file"));
}

TEST(Dataset, ReadsAList) {
  TempFolder folder;
  writeAll(folder.path("list"), "a.png\r\n\n  b one.npy , c.npy\nlast.npz");
  Expected<std::vector<SampleFiles>> samples = readDataList(folder.path("list"));
  ASSERT_TRUE(samples) << samples.error().message();
  EXPECT_THAT(*samples, ElementsAre(ElementsAre("a.png"), ElementsAre("b one.npy", "c.npy"),
                                    ElementsAre("last.npz")));
  EXPECT_EQ(sampleName((*samples)[1]), "b one.npy,c.npy");
}

TEST(Dataset, RefusesListsThatAreNone) {
  TempFolder folder;
  EXPECT_THAT(messageOf(readDataList(folder.path("no"))), HasSubstr("no: cannot be read"));
  writeAll(folder.path("list"), "\n \n");
  EXPECT_THAT(messageOf(readDataList(folder.path("list"))), HasSubstr("lists no samples"));
  writeAll(folder.path("list"), "a.png\nb.npy,,c.npy\n");
  EXPECT_THAT(messageOf(readDataList(folder.path("list"))), HasSubstr("list:2: an empty path"));
}

} // namespace
