//===- KernelsTest.cpp - What kernels take --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684/Kernels/Integers.h"
#include "tpuc/Target/BM1684/Kernels/PackedImages.h"
#include "tpuc/Target/BM1684/Kernels/Recurrence.h"
#include "tpuc/Target/BM1684/Kernels/Windows.h"
#include "tpuc/Target/BM1684/Machine/Simulator.h"

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

/// Which transfer each command of the TIU waits for.
std::vector<uint32_t> waitsOf(Builder &builder) {
  const Expected<CommandStreams> streams = builder.finish();
  EXPECT_TRUE(streams) << streams.error().message();
  std::vector<uint32_t> waits;
  for (const mc::Command &command : streams->tiu)
    waits.push_back(command.dependency());
  return waits;
}

/// What commands leave in global memory, where 0, 7, 14 … modulo 251 stand in the first `count`
/// bytes and zeros in as many behind them.
std::vector<uint8_t> globalAfter(const Expected<CommandStreams> &streams, int64_t count) {
  EXPECT_TRUE(streams) << streams.error().message();
  const Expected<Program> program = Program::create(streams->tiu, streams->gdma, "a transfer");
  EXPECT_TRUE(program) << program.error().message();
  std::vector<uint8_t> global(static_cast<size_t>(2 * count));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    global[i] = static_cast<uint8_t>(i * 7 % 251);
  Memory memory;
  EXPECT_TRUE(memory.mapGlobal(kGlobalBase, global));
  ThreadPool pool{1};
  EXPECT_TRUE(program->run(memory, pool));
  return global;
}

/// What turning makes of 0, 1, 2 … in batches, rows, height and columns of bytes.
std::vector<uint8_t> turnedBytes(Builder &builder, const Extents &shape) {
  const int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
  const GlobalTensor from = globalTensor(DataType::U8, shape, kGlobalBase);
  const GlobalTensor to = globalTensor(DataType::I8, {shape[0], shape[3], shape[2], shape[1]},
                                       kGlobalBase + static_cast<uint64_t>(count));
  const Expected<void> done = emitGlobalTurn(builder, from, to);
  EXPECT_TRUE(done) << done.error().message();
  const std::vector<uint8_t> global = globalAfter(builder.finish(), count);
  return {global.begin() + count, global.end()};
}

TEST(GlobalTurn, ExchangesRowsAndColumnsOfEachMatrix) {
  // The last one has more columns than a command.
  for (const Extents &shape : {Extents{2, 5, 3, 7}, Extents{1, 2, 1, 65540}}) {
    Builder builder;
    const std::vector<uint8_t> turned = turnedBytes(builder, shape);
    const auto &[batches, rows, height, columns] = shape;
    size_t place = 0;
    for (int64_t n = 0; n < batches; ++n)
      for (int64_t w = 0; w < columns; ++w)
        for (int64_t h = 0; h < height; ++h)
          for (int64_t c = 0; c < rows; ++c, ++place) {
            const int64_t source = ((n * rows + c) * height + h) * columns + w;
            ASSERT_EQ(turned[place], source * 7 % 251) << place;
          }
  }
}

TEST(GlobalTurn, RefusesGapsBetweenColumns) {
  Builder builder;
  GlobalTensor from = globalTensor(DataType::I8, {1, 4, 1, 8}, kGlobalBase);
  const GlobalTensor to = globalTensor(DataType::I8, {1, 8, 1, 4}, kGlobalBase + 64);
  EXPECT_TRUE(emitGlobalTurn(builder, from, to));
  from.stride[3] = 2;
  const Expected<void> refused = emitGlobalTurn(builder, from, to);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("columns that follow each other"));
}

/// Bytes of a tensor in global memory, and where it comes back, behind them.
struct RoundTrip {
  explicit RoundTrip(const Extents &shape)
      : count(shape[0] * shape[1] * shape[2] * shape[3]),
        from(globalTensor(DataType::I8, shape, kGlobalBase)),
        to(globalTensor(DataType::I8, shape, kGlobalBase + static_cast<uint64_t>(count))),
        packed{localTensor(DataType::I8, shape), 0x40000} {}

  /// What comes back, where `builder` has the commands; and what was there.
  std::pair<std::vector<uint8_t>, std::vector<uint8_t>> run(Builder &builder) const {
    const std::vector<uint8_t> global = globalAfter(builder.finish(), count);
    return {{global.begin() + count, global.end()}, {global.begin(), global.begin() + count}};
  }

  int64_t count;
  GlobalTensor from, to;
  PackedImages packed;
};

/// The transfers of a copy of rows whose columns stand `step` apart in the source, or else in the
/// result; and whether the bytes are right.
std::pair<size_t, bool> spreadCopy(DataType type, int64_t columns, int64_t step, bool inSource) {
  const Extents shape{1, 2, 3, columns};
  const int64_t bytes = byteSize(type, 1), count = 6 * columns * step;
  GlobalTensor from = globalTensor(type, shape, kGlobalBase);
  GlobalTensor to = globalTensor(type, shape, kGlobalBase + static_cast<uint64_t>(count * bytes));
  for (int64_t &stride : (inSource ? from : to).stride)
    stride *= step;
  Builder builder;
  EXPECT_TRUE(emitGlobalCopy(builder, from, to));
  const Expected<CommandStreams> streams = builder.finish();
  const std::vector<uint8_t> global = globalAfter(streams, count * bytes);
  bool isRight = true;
  for (int64_t element = 0; element < 6 * columns; ++element)
    for (int64_t byte = 0; byte < bytes; ++byte)
      isRight &= global[static_cast<size_t>((element * from.stride[3]) * bytes + byte)] ==
                 global[static_cast<size_t>((count + element * to.stride[3]) * bytes + byte)];
  return {streams->gdma.size(), isRight};
}

TEST(GlobalCopy, RowsOfSpreadColumnsAreATransferWhereThatIsFaster) {
  using Made = std::pair<size_t, bool>;
  EXPECT_EQ(spreadCopy(DataType::F32, 32, 3, /*inSource=*/false), Made(1, true));
  // Blocks of pixels: a transfer for each column of a block.
  Builder builder;
  GlobalTensor deep = globalTensor(DataType::F32, {1, 2, 40, 3}, kGlobalBase), wide = deep;
  deep.stride = {240, 40, 1, 80};
  EXPECT_TRUE(emitGlobalCopy(builder, deep, wide));
  const Expected<CommandStreams> streams = builder.finish();
  ASSERT_TRUE(streams);
  ASSERT_EQ(streams->gdma.size(), 3u);
  EXPECT_EQ(streams->gdma[0].get(Field::DstWsize), 40u);
  EXPECT_EQ(streams->gdma[0].get(Field::DstWstride), 3u);
  EXPECT_EQ(spreadCopy(DataType::F32, 32, 2, /*inSource=*/true), Made(1, true));
  EXPECT_EQ(spreadCopy(DataType::I8, 32, 10, /*inSource=*/true), Made(1, true));
  // More is skipped than a burst takes for each column: rows one after the other.
  EXPECT_EQ(spreadCopy(DataType::F32, 32, 3, /*inSource=*/true), Made(3, true));
  EXPECT_EQ(spreadCopy(DataType::I8, 32, 11, /*inSource=*/true), Made(3, true));
  // Rows shorter than a burst; columns one after the other.
  EXPECT_EQ(spreadCopy(DataType::F32, 2, 3, /*inSource=*/false), Made(2, true));
}

TEST(PackedImages, AreTheTensorWithoutGaps) {
  // Planes of whole words and of others, one of less than a word, channels of several slots and
  // more than a command takes, whole words of images and others.
  for (const Extents &shape : {Extents{1, 3, 5, 7}, Extents{1, 70, 4, 8}, Extents{1, 65, 1, 2},
                               Extents{4, 66, 3, 3}, Extents{6, 5, 6, 6}, Extents{2, 4100, 1, 3}}) {
    const RoundTrip trip(shape);
    Builder builder;
    ASSERT_TRUE(emitLoad(builder, trip.from, trip.packed.tensor));
    ASSERT_TRUE(emitPackImages(builder, trip.packed));
    ASSERT_TRUE(emitStoreImages(builder, trip.packed, trip.to));
    const auto [stored, wanted] = trip.run(builder);
    EXPECT_EQ(stored, wanted) << testing::PrintToString(shape);
    ASSERT_TRUE(emitLoadImages(builder, trip.from, trip.packed));
    ASSERT_TRUE(emitUnpackImages(builder, trip.packed));
    ASSERT_TRUE(emitStore(builder, trip.packed.tensor, trip.to));
    EXPECT_EQ(trip.run(builder).first, wanted) << testing::PrintToString(shape);
  }
}

TEST(PackedImages, RowsAndChannelsComeOneAfterTheOther) {
  const RoundTrip trip({2, 70, 5, 6});
  Builder builder;
  for (auto [channel, channels] : {std::pair(0, 66), std::pair(66, 4)})
    for (auto [row, rows] : {std::pair(0, 2), std::pair(2, 3)})
      ASSERT_TRUE(emitLoadImageRows(builder,
                                    trip.from.slice(1, channel, channels).slice(2, row, rows),
                                    trip.packed, channel, row));
  ASSERT_TRUE(emitUnpackImages(builder, trip.packed));
  ASSERT_TRUE(emitStore(builder, trip.packed.tensor, trip.to));
  const auto [stored, wanted] = trip.run(builder);
  EXPECT_EQ(stored, wanted);
  EXPECT_FALSE(emitLoadImageRows(builder, trip.from, trip.packed, 1, 0));
}

TEST(PackedImages, ArePackedWhereThatIsFaster) {
  EXPECT_TRUE(isPackedFaster({1, 64, 14, 14}, /*isStore=*/true));
  EXPECT_TRUE(isPackedFaster({1, 64, 56, 56}, /*isStore=*/false));
  // Commands take as long as so few bytes; one channel leaves the other lanes idle.
  EXPECT_FALSE(isPackedFaster({1, 64, 6, 6}, /*isStore=*/true));
  EXPECT_FALSE(isPackedFaster({1, 1, 640, 640}, /*isStore=*/true));
  EXPECT_FALSE(isPackedFaster({1, 3, 640, 640}, /*isStore=*/false));
}

TEST(IntegerTable, LookupsWaitForTheirTable) {
  const LocalTensor bytes = localTensor(DataType::U8, {1, 64, 4, 4}, 0);
  const auto tableAt = [](uint64_t at) {
    return globalTensor(DataType::I8, {1, 1, 1, 256}, kGlobalBase + at);
  };
  Builder builder;
  ASSERT_TRUE(emitLoadTable(builder, tableAt(0), 0x1000));
  ASSERT_TRUE(emitLoadTable(builder, tableAt(256), 0x2000));
  const IntegerTable lookup{bytes, 0x1000, bytes, {}};
  ASSERT_TRUE(emitIntegerTable(builder, lookup));
  // Another table beside it does not matter; one in its place does.
  EXPECT_EQ(waitsOf(builder), std::vector<uint32_t>({1}));
  ASSERT_TRUE(emitIntegerTable(builder, lookup));
  ASSERT_TRUE(emitLoadTable(builder, tableAt(0), 0x1200));
  ASSERT_TRUE(emitIntegerTable(builder, lookup));
  const Expected<CommandStreams> streams = builder.finish();
  ASSERT_TRUE(streams) << streams.error().message();
  EXPECT_EQ(streams->gdma[0].dependency(), 1u);
  EXPECT_EQ(streams->tiu[1].dependency(), 1u);
}

/// What a convolution of one image takes of scratch: strips of rows, where these are worth it.
uint32_t stripBytes(int64_t channels, int64_t rows, int64_t images) {
  IntegerConvolution conv;
  conv.input = localTensor(DataType::U8, {images, channels, rows, 16}, 0);
  conv.output = localTensor(DataType::I8, {images, 64, rows, 16}, 0x10000);
  conv.filterAddress = 0x20000;
  conv.bounds = {-128, 127};
  const Expected<uint32_t> bytes = integerConvolutionScratch(conv);
  EXPECT_TRUE(bytes) << bytes.error().message();
  return *bytes;
}

/// First lane, channels, batch items and shift of each command of a convolution of 128 channels.
std::vector<std::array<uint64_t, 4>> commandsOf(int64_t images, int64_t group,
                                                std::vector<int64_t> shifts) {
  IntegerConvolution conv;
  conv.input = localTensor(DataType::U8, {images, 128, 1, 16}, 0);
  conv.output = localTensor(DataType::I8, {images, 128, 1, 16}, 0x10000);
  conv.filterAddress = 0x20000;
  conv.group = group;
  conv.shifts = std::move(shifts);
  conv.bounds = {-128, 127};
  Builder builder;
  const Expected<void> done = emitIntegerConvolution(builder, conv);
  EXPECT_TRUE(done) << done.error().message();
  const Expected<CommandStreams> streams = builder.finish();
  EXPECT_TRUE(streams) << streams.error().message();
  std::vector<std::array<uint64_t, 4>> commands;
  for (const Command &command : streams->tiu)
    commands.push_back({(command.get(Field::Res0Addr) - kLocalBase) / kLaneBytes,
                        command.get(Field::Res0C), command.get(Field::Res0N),
                        command.get(Field::RightShift)});
  return commands;
}

TEST(IntegerConvolution, NeighboursOfOneShiftAreACommand) {
  using Commands = std::vector<std::array<uint64_t, 4>>;
  std::vector<int64_t> shifts(128, 5);
  EXPECT_EQ(commandsOf(1, 1, shifts), (Commands{{0, 128, 1, 5}}));
  std::fill(shifts.begin() + 64, shifts.end(), 9);
  EXPECT_EQ(commandsOf(1, 1, shifts), (Commands{{0, 64, 1, 5}, {0, 64, 1, 9}}));
  // The channels of other words of batch items are not where a part of them would have them.
  EXPECT_EQ(commandsOf(6, 128, shifts),
            (Commands{{0, 64, 4, 5}, {0, 64, 2, 5}, {0, 64, 4, 9}, {0, 64, 2, 9}}));
  shifts[70] = 3;
  EXPECT_EQ(commandsOf(6, 1, shifts),
            (Commands{{0, 64, 6, 5}, {0, 6, 6, 9}, {6, 1, 6, 3}, {7, 57, 6, 9}}));
}

TEST(IntegerConvolution, RefusesOtherThanAShiftForEachChannel) {
  IntegerConvolution conv;
  conv.input = localTensor(DataType::U8, {1, 64, 1, 16}, 0);
  conv.output = localTensor(DataType::I8, {1, 64, 1, 16}, 0x10000);
  conv.shifts = {1, 2};
  const Expected<uint32_t> refused = integerConvolutionScratch(conv);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("2 shifts"));
}

TEST(IntegerConvolution, OneImageIsComputedInStrips) {
  // Four rows of 16 words for the strips, and as many for what is put beside them.
  EXPECT_EQ(stripBytes(64, 16, 1), 2u * 4 * 16 * 4);
  EXPECT_EQ(stripBytes(64, 16, 4), 0u);
  // One row cannot be divided.
  EXPECT_EQ(stripBytes(64, 1, 1), 0u);
}

TEST(IntegerRowProduct, PartsMakeEveryBias) {
  for (int64_t bias = INT16_MIN; bias <= INT16_MAX; ++bias) {
    const auto parts = biasParts(bias);
    ASSERT_EQ(127 * (parts[0] + parts[1] + parts[2]) + parts[3], bias);
  }
}

TEST(IntegerRowProduct, IsTakenWhereItIsFaster) {
  EXPECT_TRUE(takesRowProduct(197, 192, 768));
  // A row alone takes a lane alone.
  EXPECT_FALSE(takesRowProduct(1, 2048, 1000));
  // Rows that are no whole words.
  EXPECT_FALSE(takesRowProduct(197, 190, 768));
  EXPECT_FALSE(takesRowProduct(197, 192, 766));
  // Terms of which a field holds no more.
  EXPECT_FALSE(takesRowProduct(197, 4032, 768));
  EXPECT_TRUE(takesRowProduct(197, 4028, 768));
}

TEST(IntegerRowProduct, RefusesABiasInOtherLanes) {
  IntegerRowProduct product;
  product.left = localTensor(DataType::I32, {1, 70, 1, 5}, 0);
  product.right = localTensor(DataType::I32, {1, 20, 1, 16}, 0x1000);
  product.output = localTensor(DataType::I32, {1, 70, 1, 16}, 0x2000);
  EXPECT_EQ(*integerRowProductScratch(product), 0u);
  const auto biasFrom = [](uint32_t lane) {
    return localTensor(DataType::I32, {1, 4, 1, 16}, 0x3000, Layout::Aligned, lane);
  };
  product.bias = biasFrom(20);
  // Two lines of lanes for the rows, one for the terms.
  EXPECT_EQ(*integerRowProductScratch(product), 3u * 128);
  product.bias = biasFrom(0);
  const Expected<uint32_t> refused = integerRowProductScratch(product);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("other columns or lanes"));
}

TEST(IntegerSum, SumsOnTheirWayFit) {
  const LocalTensor bytes = localTensor(DataType::I8, {1, 64, 4, 4}, 0);
  IntegerSum sum{.inputs = {bytes, bytes, bytes},
                 .multipliers = {127, 127, 1},
                 .shift = 8,
                 .output = bytes,
                 .bounds = {-128, 127},
                 .scratch = {}};
  EXPECT_TRUE(integerSumScratch(sum));
  sum.multipliers = {127, 127, 127};
  EXPECT_TRUE(integerSumScratch(sum));
  sum.inputs.emplace_back(bytes);
  sum.multipliers.push_back(127);
  const Expected<uint32_t> refused = integerSumScratch(sum);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("a sum of 48768 on its way"));
}

TEST(Recurrence, WhatItCannotDo) {
  Recurrence cell;
  cell.input = localTensor(DataType::F32, {1, 20, 1, 6}, 0);
  cell.output = localTensor(DataType::F32, {1, 48, 1, 6}, 0x10000);
  EXPECT_THAT(recurrenceScratch(cell).error().message(), HasSubstr("a multiple of 64"));
  cell.output.shape[1] = 64;
  cell.batch = 4;
  EXPECT_THAT(recurrenceScratch(cell).error().message(), HasSubstr("whole steps"));
  cell.batch = 2;
  cell.input.address = 4;
  EXPECT_THAT(recurrenceScratch(cell).error().message(), HasSubstr("an aligned tensor of f32"));
  cell.input.address = 0;
  // Products of all steps, gates, four registers of their width, and three tensors of a state, a
  // line for each.
  EXPECT_EQ(recurrenceScratch(cell), uint32_t{(4 + 4 + 4 * 4 + 3) * kEuBytes});
}

} // namespace
