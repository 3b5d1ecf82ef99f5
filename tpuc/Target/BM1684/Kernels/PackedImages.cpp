//===- PackedImages.cpp - Bytes without gaps in the lanes of the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/PackedImages.h"
#include "tpuc/Target/BM1684/Kernels/IntegerCommands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

namespace {

/// Bytes of a word: columns of a packed image, batch items of a tensor.
constexpr int64_t kBytes = 4;

int64_t planeOf(const LocalTensor &tensor) { return tensor.shape[2] * tensor.shape[3]; }

uint32_t imageBytes(const LocalTensor &tensor) {
  return laneBytes(DataType::I32, {1, tensor.shape[1], 1, ceilDiv(planeOf(tensor), kBytes)},
                   Layout::Aligned, tensor.startLane);
}

/// The words that hold batch item `n`, in one row.
LocalTensor itemWords(const LocalTensor &tensor, int64_t n) {
  LocalTensor words = tensor.slice(0, n / kBytes * kBytes, 1).as(DataType::I32);
  return words.withShape({1, tensor.shape[1], 1, planeOf(tensor)});
}

/// Bytes of the same words: the first `items` of each.
LocalTensor bytesOf(LocalTensor words, int64_t items) {
  words.shape[0] = items;
  return words.as(DataType::U8);
}

void addShift(Builder &builder, const LocalTensor &output, const LocalTensor &input,
              int64_t amount) {
  addArith(builder, ArithOp::Shift, output, input,
           immediate(DataType::I32, static_cast<double>(amount)));
}

DenseRows rowsOf(const PackedImages &packed, int64_t n) {
  const LocalTensor image = packed.image(n);
  return {image.address, image.startLane, image.strides()[1] * kBytes};
}

Expected<void> checkImages(const Builder &builder, const PackedImages &packed,
                           const GlobalTensor &global) {
  if (global.shape != packed.tensor.shape)
    return makeError(builder.layer(),
                     fmt::format("images [{}] of [{}]", fmt::join(global.shape, ","),
                                 fmt::join(packed.tensor.shape, ",")),
                     "equal shapes");
  return {};
}

} // namespace

LocalTensor PackedImages::image(int64_t n) const {
  return localTensor(DataType::I32, {1, tensor.shape[1], 1, ceilDiv(planeOf(tensor), kBytes)},
                     address + static_cast<uint32_t>(n) * imageBytes(tensor), Layout::Aligned,
                     tensor.startLane);
}

uint32_t PackedImages::laneBytes() const {
  const int64_t images = tensor.shape[0];
  return static_cast<uint32_t>(images == 1 ? 1 : images + 1) * imageBytes(tensor);
}

bool isPackedFaster(const Extents &shape, bool isStore) {
  // Bytes of each cycle: of packed images; of words, whose other bytes are skipped. The borders of
  // pages in global memory take 53 cycles each, of loads of words alone.
  constexpr double kRate = 53.4, kWordRate = 26.7, kPageCycles = 53 * 1.108 / 4096;
  const double bytes = static_cast<double>(shape[1] * shape[2] * shape[3]);
  const double words = isStore ? kBytes / kWordRate : 1 / kWordRate + kPageCycles;
  // Cycles of 16 words of each lane, and commands, of an image that shares its words: bits take 2,
  // bytes take 1. The conservative estimate has 50 for each command.
  constexpr double kCommandCycles = 50;
  constexpr int64_t kWordsAtOnce = 16;
  const double taken = isStore ? 12 : 10, commands = isStore ? 8 : 7;
  const int64_t steps =
      ceilDiv(shape[1], kLanes) * ceilDiv(shape[2] * shape[3], kBytes * kWordsAtOnce);
  return bytes * (words - 1 / kRate) >
         taken * static_cast<double>(steps) + kCommandCycles * commands;
}

Expected<void> emitPackImages(Builder &builder, const PackedImages &packed) {
  const LocalTensor &tensor = packed.tensor;
  if (Expected<void> fits = checkRegularBytes(builder.layer(), "images", tensor); !fits)
    return fits;
  const int64_t plane = planeOf(tensor), images = tensor.shape[0];
  for (int64_t n = 0; n < images; ++n) {
    const LocalTensor words = itemWords(tensor, n), image = packed.image(n);
    // The last byte goes to all places of its word, and those before it over that.
    for (int64_t byte = std::min(kBytes, plane) - 1; byte >= 0; --byte) {
      const int64_t count = ceilDiv(plane - byte, kBytes);
      LocalTensor columns = words.every(3, byte, kBytes, count);
      if (const int64_t item = n % kBytes; item > 0) {
        const LocalTensor shifted = packed.image(images).slice(3, 0, count);
        addShift(builder, shifted, columns, -8 * item);
        columns = shifted;
      }
      addRepeatedItem(builder, bytesOf(image.slice(3, 0, count), byte + 1),
                      bytesOf(columns, byte + 1));
    }
  }
  return {};
}

Expected<void> emitUnpackImages(Builder &builder, const PackedImages &packed) {
  const LocalTensor &tensor = packed.tensor;
  if (Expected<void> fits = checkRegularBytes(builder.layer(), "images", tensor); !fits)
    return fits;
  const int64_t plane = planeOf(tensor), images = tensor.shape[0];
  // Of the images that share words, the last one goes to all their bytes.
  for (int64_t n = images - 1; n >= 0; --n)
    for (int64_t byte = 0; byte < std::min(kBytes, plane); ++byte) {
      const int64_t count = ceilDiv(plane - byte, kBytes);
      const LocalTensor columns = itemWords(tensor, n).every(3, byte, kBytes, count);
      LocalTensor image = packed.image(n).slice(3, 0, count);
      if (images == 1 && byte == 0) {
        addCopy(builder, columns, image);
      } else if (images == 1) {
        addShift(builder, columns, image, -8 * byte);
      } else {
        if (byte > 0) {
          const LocalTensor shifted = packed.image(images).slice(3, 0, count);
          addShift(builder, shifted, image, -8 * byte);
          image = shifted;
        }
        const int64_t items = n % kBytes + 1;
        addRepeatedItem(builder, bytesOf(columns, items), bytesOf(image, items));
      }
    }
  return {};
}

Expected<void> emitLoadImages(Builder &builder, const GlobalTensor &from,
                              const PackedImages &packed) {
  if (Expected<void> fits = checkImages(builder, packed, from); !fits)
    return fits;
  return emitLoadImageRows(builder, from, packed, 0, 0);
}

Expected<void> emitLoadImageRows(Builder &builder, const GlobalTensor &from,
                                 const PackedImages &packed, int64_t channel, int64_t row) {
  const Extents &all = packed.tensor.shape, &part = from.shape;
  if (part[0] != all[0] || part[3] != all[3] || channel + part[1] > all[1] ||
      row + part[2] > all[2])
    return makeError(builder.layer(),
                     fmt::format("rows [{}] from channel {} and row {} on in [{}]",
                                 fmt::join(part, ","), channel, row, fmt::join(all, ",")),
                     "a part of the channels and rows");
  for (int64_t n = 0; n < part[0]; ++n) {
    DenseRows rows = rowsOf(packed, n);
    const int64_t lane = rows.startLane + channel;
    rows.startLane = static_cast<uint32_t>(lane % kLanes);
    rows.address += static_cast<uint32_t>(lane / kLanes * rows.slotBytes + row * part[3]);
    if (Expected<void> loaded = emitLoadRows(builder, from.slice(0, n, 1), rows); !loaded)
      return loaded;
  }
  return {};
}

Expected<void> emitStoreImages(Builder &builder, const PackedImages &packed,
                               const GlobalTensor &to) {
  if (Expected<void> fits = checkImages(builder, packed, to); !fits)
    return fits;
  for (int64_t n = 0; n < to.shape[0]; ++n)
    if (Expected<void> stored = emitStoreRows(builder, rowsOf(packed, n), to.slice(0, n, 1));
        !stored)
      return stored;
  return {};
}

} // namespace tpuc::bm1684
