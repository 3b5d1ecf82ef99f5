//===- WeightStoreTest.cpp - What is read of a weight file ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/WeightStore.h"
#include "unittests/Support/TempFolder.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace tpuc;
using testing::HasSubstr;

namespace {

/// A weight file of two tensors, `one` and `two`, of which the last element of `two` is damaged.
class WeightStoreTest : public testing::Test {
protected:
  void SetUp() override {
    Tensor tensor(DataType::F32, Shape{kElements});
    for (float &value : tensor.mutableData<float>())
      value = 0.5F;
    Expected<NpzWriter> writer = NpzWriter::create(path);
    ASSERT_TRUE(writer && writer->add("one", tensor));
    tensor.mutableData<float>().back() = kLast;
    ASSERT_TRUE(writer->add("two", tensor) && writer->close());
    std::string bytes;
    {
      std::ifstream file(path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    const size_t at = bytes.find(std::string_view(reinterpret_cast<const char *>(&kLast), 4));
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
  }

  static constexpr int64_t kElements = 5000;
  static constexpr float kLast = 12345.678F;
  const TempFolder folder;
  const std::string path = folder.path("weights.npz");
};

TEST_F(WeightStoreTest, FindsDamageWhenATensorIsRead) {
  const auto store = top::WeightStore::open(path);
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_EQ((*store)->shape("two")->str(), "[5000]");
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE((*store)->read("one"));
    const Expected<Tensor> damaged = (*store)->read("two");
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().message(), HasSubstr(": 'two': is damaged: CRC "));
  }
  EXPECT_THAT((*store)->save(path + ".copy", {"one", "two"}).error().message(),
              HasSubstr("is damaged"));
  EXPECT_FALSE(std::filesystem::exists(path + ".copy"));
}

TEST_F(WeightStoreTest, DoesNotCheckWhatThisProcessHasWritten) {
  const auto store = top::WeightStore::openWritten(path);
  ASSERT_TRUE(store);
  EXPECT_TRUE((*store)->read("two"));
}

TEST_F(WeightStoreTest, IsReadByManyThreads) {
  const auto store = top::WeightStore::open(path);
  ASSERT_TRUE(store);
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (int &count : right)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const Expected<Tensor> whole = (*store)->read("one");
        count += whole && whole->data<float>()[0] == 0.5F && !(*store)->read("two");
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(right, testing::Each(100));
}

} // namespace
