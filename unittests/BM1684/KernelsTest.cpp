//===- KernelsTest.cpp - What kernels take --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::bm1684;
using testing::HasSubstr;

namespace {

/// Rows of a larger input with `channels`, each a group of its own.
std::string depthwiseMessage(int64_t channels, int64_t rows) {
  Convolution conv;
  conv.input = localTensor(DataType::F32, {1, channels, rows, 32}, 0).slice(2, 0, 4);
  conv.output = localTensor(DataType::F32, {1, channels, 2, 30}, 0x10000);
  conv.window.kernel = {3, 3};
  conv.filterAddress = 0x20000;
  conv.group = channels;
  const Expected<void> fits = checkConvolution(conv);
  return fits ? "taken" : fits.error().message();
}

TEST(Convolution, DepthwiseOnesTakeNoInputWithGapsBetweenSlots) {
  EXPECT_EQ(depthwiseMessage(66, 4), "taken");
  EXPECT_THAT(depthwiseMessage(66, 5), HasSubstr("an input with gaps"));
  // Channels of one slot have no gaps between them.
  EXPECT_EQ(depthwiseMessage(64, 5), "taken");
}

} // namespace
