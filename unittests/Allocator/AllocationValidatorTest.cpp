//===- AllocationValidatorTest.cpp ----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/AllocationValidator.h"
#include "Problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::alloc;
using testing::HasSubstr;

namespace {

/// One buffer of each kind; `good` is valid, and each test spoils one thing.
struct ValidatorTest : testing::Test {
  AllocationProblem problem;
  std::vector<int64_t> good = {0, 16, 16, 4, 2, 64, 48, 30};

  ValidatorTest() {
    problem.buffers = {
        makeBuffer(0, 4, 16),    // 0: in the way of 1, 2 and 7
        makeBuffer(0, 2, 10, 8), // 1: aligned
        makeBuffer(2, 4, 16),    // 2: after 1 at its place
        makeBuffer(1, 6, 8),     // 3: inside 0
        makeBuffer(0, 4, 9),     // 4: may overlap 0
        makeBuffer(0, 9, 4),     // 5: fixed
        makeBuffer(0, 9, 16),    // 6: fills a bank
        makeBuffer(1, 2, 2),     // 7: between 1 and 6
    };
    problem.subBuffers = {{3, 0, 4}};
    problem.mayOverlap = {{0, 4}, {3, 4}};
    problem.buffers[5].fixedOffset = 64;
    problem.bankSize = 16;
    for (size_t i : {1, 2, 3, 4, 7})
      problem.buffers[i].mayCrossBanks = true;
  }

  std::string judge(std::vector<int64_t> offsets, int64_t capacity = 0) {
    auto result = validateAllocation(problem, offsets, capacity);
    return result ? "valid" : result.error().message();
  }
  std::string judgeWith(size_t buffer, int64_t offset) {
    std::vector<int64_t> offsets = good;
    offsets[buffer] = offset;
    return judge(offsets);
  }
};

} // namespace

TEST_F(ValidatorTest, GivesTheHeight) {
  auto result = validateAllocation(problem, good, 68);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(*result, 68);
}

TEST_F(ValidatorTest, FindsAMissingOffset) {
  std::vector<int64_t> offsets(good.begin(), good.end() - 1);
  EXPECT_EQ(judge(offsets), "allocation: 7 offsets; expected one for each of 8 buffers");
}

TEST_F(ValidatorTest, FindsANegativeOffset) {
  EXPECT_THAT(judgeWith(7, -2), HasSubstr("buffer #7: lies at offset -2; expected an offset >= 0"));
}

TEST_F(ValidatorTest, FindsAnOffsetWhoseEndOverflows) {
  EXPECT_THAT(judgeWith(7, INT64_MAX - 1), HasSubstr("expected an end below 2^63"));
}

TEST_F(ValidatorTest, FindsMisalignment) {
  EXPECT_THAT(judgeWith(1, 17),
              HasSubstr("buffer #1: lies at offset 17; expected a multiple of 8"));
}

TEST_F(ValidatorTest, FindsAMovedFixedBuffer) {
  EXPECT_THAT(judgeWith(5, 80), HasSubstr("expected the fixed offset 64"));
}

TEST_F(ValidatorTest, FindsAnEndBeyondTheCapacity) {
  EXPECT_EQ(judge(good, 67), "buffer #5: ends at 68; expected at most the capacity of 67");
}

TEST_F(ValidatorTest, FindsACrossedBank) {
  EXPECT_THAT(judgeWith(6, 40), HasSubstr("no crossing of a multiple of 16"));
  // One that is exempt may.
  EXPECT_EQ(judgeWith(7, 79), "valid");
}

TEST_F(ValidatorTest, FindsASubBufferInTheWrongPlace) {
  EXPECT_THAT(judgeWith(3, 5), HasSubstr("buffer #3: lies at offset 5; expected 4, which is 4 "
                                         "inside buffer #0"));
}

TEST_F(ValidatorTest, FindsOverlaps) {
  EXPECT_THAT(judgeWith(2, 15), HasSubstr("overlaps buffer #0"));
  EXPECT_THAT(judgeWith(7, 17), HasSubstr("overlaps buffer #1"));
  // Equal places, one inside the other, and by one byte from below.
  EXPECT_THAT(judgeWith(7, 16), HasSubstr("overlaps"));
  EXPECT_THAT(judgeWith(7, 47), HasSubstr("overlaps buffer #6"));
  EXPECT_EQ(judgeWith(7, 46), "valid");
}

TEST_F(ValidatorTest, FindsOverlapsThatNoAliasAllows) {
  // 4 may overlap 0 and its inner buffer 3, but not 1.
  EXPECT_THAT(judgeWith(4, 8), HasSubstr("overlaps"));
  problem.mayOverlap.clear();
  EXPECT_THAT(judge(good), HasSubstr("overlaps"));
}

TEST_F(ValidatorTest, LetsEmptyBuffersLieAnywhere) {
  problem.buffers[7].size = 0;
  EXPECT_EQ(judgeWith(7, 5), "valid");
}

TEST(AllocationProblem, IsChecked) {
  auto check = [](auto spoil) {
    AllocationProblem problem;
    problem.buffers = {makeBuffer(0, 1, 8), makeBuffer(0, 1, 4), makeBuffer(0, 1, 4)};
    spoil(problem);
    auto ok = checkProblem(problem);
    return ok ? "good" : ok.error().message();
  };
  EXPECT_EQ(check([](auto &p) {}), "good");
  EXPECT_EQ(check([](auto &p) { p.buffers[1].upper = 0; }),
            "buffer #1: lives in [0, 0); expected lower < upper");
  EXPECT_THAT(check([](auto &p) { p.buffers[1].size = -1; }), HasSubstr("size >= 0"));
  EXPECT_THAT(check([](auto &p) { p.buffers[1].alignment = 0; }), HasSubstr("alignment >= 1"));
  EXPECT_THAT(check([](auto &p) { p.buffers[1].size = INT64_MAX; }), HasSubstr("2^62"));
  EXPECT_THAT(check([](auto &p) { p.bankSize = -1; }), HasSubstr("bank size"));
  EXPECT_THAT(check([](auto &p) { p.bankSize = 7; }), HasSubstr("buffer #0: has size 8"));
  EXPECT_THAT(check([](auto &p) { p.buffers[1].fixedOffset = -4; }), HasSubstr("fixed"));
  EXPECT_THAT(check([](auto &p) {
                p.buffers[1].alignment = 8;
                p.buffers[1].fixedOffset = 4;
              }),
              HasSubstr("a multiple of 8"));
  EXPECT_THAT(check([](auto &p) {
                p.bankSize = 8;
                p.buffers[1].fixedOffset = 6;
              }),
              HasSubstr("across banks"));
  EXPECT_THAT(check([](auto &p) { p.subBuffers = {{1, 3, 0}}; }), HasSubstr("below 3"));
  EXPECT_THAT(check([](auto &p) { p.subBuffers = {{1, 0, 5}}; }), HasSubstr("0..4"));
  EXPECT_THAT(check([](auto &p) { p.subBuffers = {{1, 0, 0}, {1, 0, 4}}; }), HasSubstr("two"));
  EXPECT_THAT(check([](auto &p) { p.subBuffers = {{1, 2, 0}, {2, 1, 0}}; }), HasSubstr("itself"));
  EXPECT_THAT(check([](auto &p) { p.subBuffers = {{1, 1, 0}}; }), HasSubstr("itself"));
  EXPECT_THAT(check([](auto &p) { p.mayOverlap = {{0, 9}}; }), HasSubstr("number 9"));
  EXPECT_EQ(check([](auto &p) { p.subBuffers = {{1, 0, 4}, {2, 1, 0}}; }), "good");
}
