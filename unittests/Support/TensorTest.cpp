//===- TensorTest.cpp -----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Tensor.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tpuc;

TEST(Shape, RankZeroIsAScalar) {
  EXPECT_EQ(Shape().numElements(), 1);
  EXPECT_EQ(Shape().str(), "[]");
  EXPECT_EQ((Shape{2, 0, 3}.numElements()), 0);
  EXPECT_EQ((Shape{2, 3, 4}.strides()), (Shape{12, 4, 1}));
  EXPECT_EQ((Shape{1, 2, 3, 4, 5, 6, 7, 8}.str()), "[1, 2, 3, 4, 5, 6, 7, 8]");
}

TEST(Tensor, OwnedElementsAreZeroAlignedWritable) {
  Tensor tensor(DataType::I16, Shape{3, 5});
  EXPECT_TRUE(tensor.isWritable());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.rawBytes().data()) % 64, 0u);
  for (int16_t value : tensor.data<int16_t>())
    EXPECT_EQ(value, 0);
}

TEST(Tensor, CopiesShareCloneDoesNot) {
  Tensor a = Tensor::of<float>({2}, {1.f, 2.f});
  Tensor shared = a;
  Tensor copy = a.clone();
  a.mutableData<float>()[0] = 7.f;
  EXPECT_EQ(shared.data<float>()[0], 7.f);
  EXPECT_EQ(copy.data<float>()[0], 1.f);
}

TEST(Tensor, BorrowedElementsKeepTheirOwner) {
  auto owner = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{4, 5, 6});
  std::weak_ptr<std::vector<int32_t>> watch = owner;
  {
    Tensor view = Tensor::borrow(DataType::I32, {3}, owner->data(), owner);
    owner.reset();
    EXPECT_FALSE(view.isWritable());
    EXPECT_EQ(view.data<int32_t>()[2], 6);
    EXPECT_EQ(view.reshaped({3, 1}).shape(), (Shape{3, 1}));
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, SizesFromOutsideAreChecked) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  auto create = [](std::vector<int64_t> dims) {
    return Tensor::create(DataType::F32, dims, "file: tensor 'a'");
  };
  EXPECT_TRUE(create({2, 3}));
  EXPECT_TRUE(create({}));
  EXPECT_EQ(create({1 << 20, 0, 1 << 20})->numElements(), 0);
  // Its strides would be too large.
  EXPECT_FALSE(create({kHuge, 0}));
  EXPECT_FALSE(create({int64_t(1) << 32, int64_t(1) << 32, 0}));
  EXPECT_EQ(create({-1, 2}).error().message(),
            "file: tensor 'a': dimension -1; expected 0 or more");
  EXPECT_EQ(create({1, 1, 1, 1, 1, 1, 1, 1, 1}).error().message(),
            "file: tensor 'a': 9 dimensions; expected at most 8");
  EXPECT_FALSE(create({kHuge, 2}));
  EXPECT_FALSE(create({kHuge}));
  EXPECT_FALSE(create({int64_t(1) << 32, int64_t(1) << 32}));
}
