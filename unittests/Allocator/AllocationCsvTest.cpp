//===- AllocationCsvTest.cpp ----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/AllocationCsv.h"
#include "Problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::alloc;
using testing::HasSubstr;

namespace {

std::string errorOf(std::string_view text) {
  auto problem = parseProblem(text, "p.csv");
  return problem ? "none" : problem.error().message();
}

} // namespace

TEST(AllocationCsv, ReadsColumnsInAnyOrder) {
  auto problem = parseProblem("size,id,upper,lower,alignment\r\n12,a,9,-3,4\r\n\r\n5,b,1,0,1", "p");
  ASSERT_TRUE(problem) << problem.error().message();
  ASSERT_EQ(problem->buffers.size(), 2U);
  const Buffer &a = problem->buffers[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.lower, -3);
  EXPECT_EQ(a.upper, 9);
  EXPECT_EQ(a.size, 12);
  EXPECT_EQ(a.alignment, 4);
  EXPECT_EQ(problem->buffers[1].name, "b");
}

TEST(AllocationCsv, WritesWhatItReads) {
  std::string text = "id,lower,upper,size\na,0,3,8\nb,1,2,4\n";
  auto problem = parseProblem(text, "p.csv");
  ASSERT_TRUE(problem);
  EXPECT_EQ(*formatProblem(*problem), text);
  std::vector<int64_t> offsets = {0, 8};
  auto solved = formatProblem(*problem, offsets);
  EXPECT_EQ(*solved, "id,lower,upper,size,offset\na,0,3,8,0\nb,1,2,4,8\n");
  EXPECT_EQ(*parseAllocation(*solved, *problem, "s.csv"), offsets);
  problem->buffers[1].alignment = 2;
  EXPECT_EQ(*formatProblem(*problem), "id,lower,upper,size,alignment\na,0,3,8,1\nb,1,2,4,2\n");
}

TEST(AllocationCsv, SaysWhatIsWrongWithAProblem) {
  EXPECT_EQ(errorOf(""), "p.csv: no line; expected a header with id, lower, upper, size");
  EXPECT_EQ(errorOf("id,lower,upper\n"),
            "p.csv:1: no column 'size'; expected a header with id, lower, upper, size");
  EXPECT_THAT(errorOf("id,lower,upper,size,colour\n"), HasSubstr("p.csv:1: column 'colour'"));
  EXPECT_THAT(errorOf("id,lower,upper,size,size\n"), HasSubstr("column 'size' twice"));
  EXPECT_EQ(errorOf("id,lower,upper,size\na,0,1\n"),
            "p.csv:2: 3 fields; expected 4, as in the header");
  EXPECT_EQ(errorOf("id,lower,upper,size\n\na,0,1,x\n"),
            "p.csv:3: size 'x'; expected an integer of 64 bits");
  EXPECT_THAT(errorOf("id,lower,upper,size\na,0,1,4 \n"), HasSubstr("size '4 '"));
  EXPECT_THAT(errorOf("id,lower,upper,size\na,0,1,\n"), HasSubstr("size ''"));
  EXPECT_THAT(errorOf("id,lower,upper,size\na,0,1,99999999999999999999\n"), HasSubstr("64 bits"));
  EXPECT_THAT(errorOf("id,lower,upper,size\na,0,1,4\na,0,1,4\n"),
              HasSubstr("p.csv:3: id 'a' again, after line 2"));
  EXPECT_THAT(errorOf("id,lower,upper,size\n,0,1,4\n"), HasSubstr("id ''"));
  EXPECT_EQ(errorOf("id,lower,upper,size\na,1,1,4\n"),
            "p.csv: buffer 'a': lives in [1, 1); expected lower < upper");
}

TEST(AllocationCsv, SaysWhatIsWrongWithAnAllocation) {
  auto problem = parseProblem("id,lower,upper,size\na,0,3,8\nb,1,2,4\n", "p.csv");
  ASSERT_TRUE(problem);
  auto errorOfAllocation = [&](std::string_view text) {
    auto offsets = parseAllocation(text, *problem, "s.csv");
    return offsets ? "none" : offsets.error().message();
  };
  std::string header = "id,lower,upper,size,offset\n";
  EXPECT_EQ(errorOfAllocation(header + "b,1,2,4,0\na,0,3,8,4\n"), "none");
  EXPECT_THAT(errorOfAllocation("id,lower,upper,size\na,0,3,8\n"), HasSubstr("'offset'"));
  EXPECT_THAT(errorOfAllocation(header + "a,0,3,8,0\n"), HasSubstr("no line for buffer 'b'"));
  EXPECT_THAT(errorOfAllocation(header + "a,0,3,8,0\nb,1,2,4,8\nc,1,2,4,8\n"),
              HasSubstr("s.csv:4: id 'c'; expected a buffer of the problem"));
  EXPECT_THAT(errorOfAllocation(header + "a,0,3,9,0\nb,1,2,4,8\n"),
              HasSubstr("s.csv:2: buffer 'a' in [0, 3) of size 9; expected [0, 3) of size 8"));
}

TEST(AllocationCsv, ReadsFilesOrSaysWhyNot) {
  auto missing = readProblem("/nonexistent/p.csv");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), HasSubstr("/nonexistent/p.csv: cannot be read"));
  auto folder = readProblem("/");
  ASSERT_FALSE(folder);
}

TEST(AllocationCsv, RefusesToWriteWhatItCannotSay) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 1, 1), makeBuffer(0, 1, 1)};
  EXPECT_FALSE(formatProblem(problem));
  problem.buffers[0].name = problem.buffers[1].name = "a";
  EXPECT_THAT(formatProblem(problem).error().message(), HasSubstr("unique name"));
  problem.buffers[1].name = "b,c";
  EXPECT_FALSE(formatProblem(problem));
  problem.buffers[1].name = "b";
  EXPECT_TRUE(formatProblem(problem));
  problem.subBuffers = {{1, 0, 0}};
  EXPECT_THAT(formatProblem(problem).error().message(), HasSubstr("aliases"));
}
