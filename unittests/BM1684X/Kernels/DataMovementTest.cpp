//===- DataMovementTest.cpp - Loads, stores, copies, transposes------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/StackedRows.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <cstring>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

/// result[i...] = tensor[index(i...)]
template <typename Index> Tensor picked(const Tensor &tensor, const Extents &shape, Index index) {
  Tensor result(tensor.type(), Shape(std::span(shape)));
  Shape strides = tensor.shape().strides();
  size_t size = bitWidth(tensor.type()) / 8;
  std::byte *to = result.mutableBytes().data();
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < shape[3]; ++w, to += size) {
          Extents from = index(n, c, h, w);
          int64_t offset = 0;
          for (size_t axis = 0; axis < 4; ++axis)
            offset += from[axis] * strides[axis];
          std::memcpy(to, tensor.rawBytes().data() + static_cast<size_t>(offset) * size, size);
        }
  return result;
}

constexpr DataType kTypes[] = {DataType::F32, DataType::F16, DataType::I8};

TEST(DataMovement, LoadAndStoreInEveryLayout) {
  for (DataType type : kTypes)
    for (Layout layout : {Layout::Aligned, Layout::Compact, Layout::LineAligned})
      for (uint32_t lane : {0u, 5u}) {
        Bench bench;
        Tensor tensor = randomNumbers(type, {2, 70, 3, 5}, 1, -100, 100);
        GlobalTensor stored = bench.store(bench.load(tensor, layout, lane));
        bench.run();
        expectSame(bench.get(stored), tensor);
      }
}

/// What StackedRows says, of a tensor whose bytes outside are `outside`.
Tensor stackedRows(const Tensor &tensor, const StackedRows &rows) {
  const Extents &shape = rows.output.shape;
  Tensor result(tensor.type(), Shape(std::span(shape)));
  const Shape strides = tensor.shape().strides();
  const auto size = static_cast<size_t>(bitWidth(tensor.type()) / 8);
  std::byte *to = result.mutableBytes().data();
  const int64_t channels = tensor.shape()[1];
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < shape[3]; ++w, to += size) {
          const int64_t row = h * rows.stride - rows.padBegin + c / channels;
          const int64_t offset =
              n * strides[0] + c % channels * strides[1] + row * strides[2] + w * strides[3];
          if (row < 0 || row >= tensor.shape()[2])
            std::memcpy(to, &rows.outside, size);
          else
            std::memcpy(to, tensor.rawBytes().data() + static_cast<size_t>(offset) * size, size);
        }
  return result;
}

TEST(DataMovement, RowsUnderWindowsAreChannels) {
  for (DataType type : kTypes)
    for (int64_t stride : {1, 2, 3})
      for (int64_t pad : {0, 1, 4})
        for (uint32_t lane : {0u, 5u}) {
          constexpr int64_t kKernel = 3, kRows = 9, kChannels = 8;
          Bench bench;
          const Tensor tensor = randomNumbers(type, {2, kChannels, kRows, 7}, 1, -100, 100);
          StackedRows rows{.input = bench.load(tensor, Layout::Aligned, lane),
                           .output = {},
                           .kernel = kKernel,
                           .stride = stride,
                           .padBegin = pad,
                           .outside = 3,
                           .scratch = {}};
          const int64_t count = (kRows + 2 * pad - kKernel) / stride + 1;
          rows.output = bench.local(type, {2, kKernel * kChannels, count, 7});
          rows.scratch = bench.scratch(stackedRowsScratch(rows));
          expectOk(emitStackedRows(bench.builder, rows));
          GlobalTensor stored = bench.store(rows.output);
          bench.run();
          expectSame(bench.get(stored), stackedRows(tensor, rows));
        }
}

TEST(DataMovement, StackedRowsStayWithinTheLanes) {
  StackedRows rows{.input = localTensor(DataType::I8, {1, 30, 4, 4}),
                   .output = {},
                   .kernel = 3,
                   .stride = 1,
                   .scratch = {}};
  rows.output = localTensor(DataType::I8, {1, 90, 2, 4});
  const Expected<uint32_t> scratch = stackedRowsScratch(rows);
  ASSERT_FALSE(scratch);
  EXPECT_THAT(scratch.error().message(), HasSubstr("within 64 lanes"));
}

TEST(DataMovement, SlicesOfEveryAxis) {
  for (unsigned axis = 0; axis < 4; ++axis)
    for (DataType type : kTypes) {
      Bench bench;
      Tensor tensor = randomNumbers(type, {3, 130, 6, 7}, 2, -100, 100);
      LocalTensor whole = bench.load(tensor);
      LocalTensor part = whole.slice(axis, 1, 2);
      GlobalTensor stored = bench.store(part);
      // The same slice of the tensor in global memory, loaded in another place.
      LocalTensor again = bench.local(type, part.shape, Layout::Aligned, part.startLane);
      GlobalTensor source = bench.put(tensor);
      expectOk(emitLoad(bench.builder, source.slice(axis, 1, 2), again));
      GlobalTensor storedAgain = bench.store(again);
      bench.run();
      Tensor wanted = picked(tensor, part.shape, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
        Extents at{n, c, h, w};
        ++at[axis];
        return at;
      });
      expectSame(bench.get(stored), wanted);
      expectSame(bench.get(storedAgain), wanted);
    }
}

TEST(LocalTensor, SlicesStayAlignedWhereTheyAre) {
  LocalTensor tensor = localTensor(DataType::F32, {2, 128, 4, 16}, 256);
  EXPECT_EQ(tensor.slice(0, 1, 1).layout, Layout::Aligned);
  EXPECT_EQ(tensor.slice(2, 1, 2).layout, Layout::Explicit);
  LocalTensor one = localTensor(DataType::F32, {1, 128, 4, 16}, 256);
  LocalTensor upper = one.slice(1, 64, 64);
  EXPECT_EQ(upper.layout, Layout::Aligned);
  EXPECT_EQ(upper.address, 256u + 4 * 64);
  LocalTensor middle = one.slice(1, 70, 10);
  EXPECT_EQ(middle.startLane, 6u);
  EXPECT_EQ(middle.address, 256u + 4 * 64);
  // Rows of one slot are as they would be alone.
  EXPECT_EQ(localTensor(DataType::F32, {1, 64, 4, 16}, 0).slice(2, 1, 2).layout, Layout::Aligned);
  EXPECT_EQ(laneBytes(DataType::F16, {2, 65, 3, 3}), 2u * 2 * 64);
  EXPECT_EQ(laneBytes(DataType::I8, {1, 3, 1, 1}, Layout::Compact), 64u);
}

TEST(DataMovement, CopiesBetweenLayoutsAndLanes) {
  for (DataType type : kTypes) {
    Bench bench;
    Tensor tensor = randomNumbers(type, {2, 70, 3, 5}, 3, -100, 100);
    LocalTensor aligned = bench.load(tensor);
    LocalTensor compact = bench.local(type, extents(tensor), Layout::Compact);
    LocalTensor moved = bench.local(type, extents(tensor), Layout::Aligned, 7);
    expectOk(emitLocalCopy(bench.builder, aligned, compact));
    expectOk(emitLocalMove(bench.builder, compact, moved));
    GlobalTensor stored = bench.store(moved);
    bench.run();
    expectSame(bench.get(stored), tensor);
  }
}

TEST(DataMovement, TurnsInLocalMemory) {
  // Either side may be the longer one, and need several rounds of lanes.
  for (const Extents &shape : {Extents{2, 33, 1, 70}, Extents{1, 130, 1, 67}})
    for (DataType type : kTypes) {
      Bench bench;
      Tensor tensor = randomNumbers(type, Shape(std::span(shape)), 4, -100, 100);
      LocalTensor turned = bench.local(type, {shape[0], shape[3], 1, shape[1]});
      expectOk(emitLocalTurn(bench.builder, bench.load(tensor), turned));
      GlobalTensor stored = bench.store(turned);
      bench.run();
      expectSame(bench.get(stored),
                 picked(tensor, turned.shape, [](int64_t n, int64_t c, int64_t h, int64_t w) {
                   return Extents{n, w, h, c};
                 }));
    }
}

TEST(DataMovement, TurnsByTheLongerSide) {
  // A row of pixels: 400 elements of each of 64 lanes. Its rows become columns again.
  Bench bench;
  const LocalTensor rows = bench.local(DataType::F16, {1, 64, 1, 400});
  const LocalTensor columns = bench.local(DataType::F16, {1, 400, 1, 64});
  expectOk(emitLocalTurn(bench.builder, rows, columns));
  expectOk(emitLocalTurn(bench.builder, columns, rows));
  bench.run();
  EXPECT_EQ(bench.computeCycles(), 2 * ceilDiv(400, 32));
}

TEST(DataMovement, TransposesOnTheWay) {
  for (DataType type : kTypes) {
    Bench bench;
    Tensor tensor = randomNumbers(type, {2, 33, 1, 70}, 4, -100, 100);
    GlobalTensor source = bench.put(tensor);
    LocalTensor turned = bench.local(type, {2, 70, 1, 33});
    expectOk(emitLoadTransposedCW(bench.builder, source, turned));
    GlobalTensor stored = bench.store(turned);
    GlobalTensor back = bench.space(type, extents(tensor));
    expectOk(emitStoreTransposedCW(bench.builder, turned, back));
    GlobalTensor direct = bench.space(type, turned.shape);
    expectOk(emitGlobalTransposeCW(bench.builder, source, direct));
    bench.run();
    Tensor wanted = picked(tensor, turned.shape, [](int64_t n, int64_t c, int64_t h, int64_t w) {
      return Extents{n, w, h, c};
    });
    expectSame(bench.get(stored), wanted);
    expectSame(bench.get(back), tensor);
    expectSame(bench.get(direct), wanted);
  }
}

TEST(DataMovement, PermutationsInGlobalMemory) {
  std::array<unsigned, 4> axes{0, 1, 2, 3};
  Tensor tensor = randomNumbers(DataType::F16, {2, 3, 4, 5}, 5);
  do {
    Bench bench;
    GlobalTensor source = bench.put(tensor);
    GlobalTensor target = bench.space(DataType::F16, source.permuted(axes).shape);
    expectOk(emitGlobalPermute(bench.builder, source, axes, target));
    bench.run();
    Tensor wanted = picked(tensor, target.shape, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
      Extents to{n, c, h, w};
      Extents from{};
      for (size_t i = 0; i < 4; ++i)
        from[axes[i]] = to[i];
      return from;
    });
    expectSame(bench.get(target), wanted);
  } while (std::ranges::next_permutation(axes).found);
}

TEST(DataMovement, DenseTensorsAreCopiedAsOneBlock) {
  Bench bench;
  const Tensor tensor = randomNumbers(DataType::F16, {2, 3, 1, 70000}, 6, -100, 100);
  const GlobalTensor target = bench.space(DataType::F16, extents(tensor));
  expectOk(emitGlobalCopy(bench.builder, bench.put(tensor), target));
  EXPECT_EQ(bench.builder.numCommands(), 1);
  bench.run();
  expectSame(bench.get(target), tensor);
}

TEST(DataMovement, LongImagesAreCopiedAsBlocks) {
  Bench bench;
  const Tensor tensor = randomNumbers(DataType::I8, {2, 2, 1, 150000}, 6, -100, 100);
  const GlobalTensor source = bench.put(tensor);
  const GlobalTensor target = bench.space(DataType::I8, extents(tensor));
  // Parts of each image: two commands instead of three.
  for (int64_t channel : {0, 1})
    expectOk(
        emitGlobalCopy(bench.builder, source.slice(1, channel, 1), target.slice(1, channel, 1)));
  EXPECT_EQ(bench.builder.numCommands(), 4);
  bench.run();
  expectSame(bench.get(target), tensor);
}

TEST(DataMovement, LongAxesAreSplit) {
  Bench bench;
  Tensor tensor = randomNumbers(DataType::I8, {1, 1, 2, 150000}, 6, -100, 100);
  GlobalTensor target = bench.space(DataType::I8, extents(tensor));
  // Columns as rows: no dense block.
  const std::array<unsigned, 4> turned = {0, 1, 3, 2};
  expectOk(
      emitGlobalCopy(bench.builder, bench.put(tensor).permuted(turned), target.permuted(turned)));
  Tensor channels = randomNumbers(DataType::I8, {1, 70000, 1, 1}, 7, -100, 100);
  LocalTensor local = bench.load(channels, Layout::Compact, 3);
  GlobalTensor stored = bench.store(local);
  bench.run();
  expectSame(bench.get(target), tensor);
  expectSame(bench.get(stored), channels);
}

TEST(DataMovement, OneRowToAllLanes) {
  Bench bench;
  Tensor row = randomNumbers(DataType::F32, {1, 1, 1, 37}, 8);
  GlobalTensor source = bench.put(row);
  LocalTensor lanes = bench.local(DataType::F32, {1, 64, 1, 37});
  expectOk(emitLoadToLanes(bench.builder, source, lanes));
  uint32_t table = bench.bytes(37 * 4);
  expectOk(emitLoadTableToLanes(bench.builder, source.address, DataType::F32, 37, table));
  GlobalTensor stored = bench.store(lanes);
  GlobalTensor storedTable =
      bench.store(localTensor(DataType::F32, {1, 64, 1, 37}, table, Layout::Compact));
  bench.run();
  Tensor wanted = picked(row, {1, 64, 1, 37},
                         [](int64_t, int64_t, int64_t, int64_t w) { return Extents{0, 0, 0, w}; });
  expectSame(bench.get(stored), wanted);
  expectSame(bench.get(storedTable), wanted);
}

TEST(DataMovement, Fills) {
  for (DataType type : kTypes) {
    Bench bench;
    LocalTensor local = bench.local(type, {2, 70, 3, 5});
    uint32_t bits = immediateBits(type, -3);
    expectOk(emitLocalFill(bench.builder, local, bits));
    GlobalTensor stored = bench.store(local);
    GlobalTensor filled = bench.space(type, local.shape);
    expectOk(emitGlobalFill(bench.builder, filled, bits));
    bench.run();
    Tensor wanted = randomNumbers(type, {2, 70, 3, 5}, 1, -3, -3);
    expectSame(bench.get(stored), wanted);
    expectSame(bench.get(filled), wanted);
  }
}

TEST(DataMovement, Gather) {
  Bench bench;
  Tensor table = randomNumbers(DataType::F16, {1, 2, 9, 5}, 9);
  Tensor indices = Tensor::of<uint32_t>({1, 1, 4, 1}, {3, 0, 8, 40});
  indices = Tensor::borrow(DataType::U32, {1, 1, 4, 1}, indices.rawBytes().data(), nullptr).clone();
  GlobalTensor result = bench.space(DataType::F16, {1, 2, 4, 5});
  expectOk(emitGlobalGather(bench.builder, bench.put(table), bench.put(indices), result,
                            immediateBits(DataType::F16, 7)));
  bench.run();
  Tensor found = bench.get(result);
  const int64_t rows[] = {3, 0, 8};
  for (int64_t c = 0; c < 2; ++c)
    for (int64_t k = 0; k < 4; ++k)
      for (int64_t w = 0; w < 5; ++w)
        EXPECT_EQ(found.data<uint16_t>()[static_cast<size_t>((c * 4 + k) * 5 + w)],
                  k == 3 ? 0x4700
                         : table.data<uint16_t>()[static_cast<size_t>((c * 9 + rows[k]) * 5 + w)]);
}

TEST(DataMovement, RefusesWhatDoesNotFit) {
  Builder builder;
  builder.beginLayer("input");
  Expected<void> shapes = emitLoad(builder, globalTensor(DataType::F32, {1, 2, 3, 4}, kGlobalBase),
                                   localTensor(DataType::F32, {1, 2, 3, 5}));
  ASSERT_FALSE(shapes);
  EXPECT_THAT(shapes.error().message(), HasSubstr("input: a transfer from [1,2,3,4] to [1,2,3,5]"));
  Expected<void> types = emitLoad(builder, globalTensor(DataType::I64, {1, 1, 1, 1}, kGlobalBase),
                                  localTensor(DataType::F32, {1, 1, 1, 1}));
  ASSERT_FALSE(types);
  EXPECT_THAT(types.error().message(), HasSubstr("from i64 to f32"));
  types = emitLocalCopy(builder, localTensor(DataType::F32, {1, 1, 1, 1}),
                        localTensor(DataType::I64, {1, 1, 1, 1}));
  ASSERT_FALSE(types);
  EXPECT_THAT(types.error().message(), HasSubstr("from f32 to i64"));
  shapes = emitLocalTurn(builder, localTensor(DataType::F32, {1, 2, 1, 4}),
                         localTensor(DataType::F32, {1, 2, 1, 4}));
  ASSERT_FALSE(shapes);
  EXPECT_THAT(shapes.error().message(),
              HasSubstr("input: [1,2,1,4] of f32 turned to [1,2,1,4] of f32"));
  EXPECT_EQ(builder.numCommands(Engine::Gdma), 0u);
}

} // namespace
