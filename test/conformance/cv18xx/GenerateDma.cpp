//===- GenerateDma.cpp - Random legal commands of the DMA engine ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Generate.h"

namespace tpuc::cv18xx::conformance::detail {

namespace {

constexpr uint32_t kGlobalFrom = 0x1000, kGlobalTo = 0x20000;

/// Fields of one side of a move.
struct SideFields {
  Field n, addrLow, addrHigh, base, strN, strCLow, strCHigh, strH;
};
constexpr SideFields kSrc = {Field::SrcN,    Field::SrcAddrLow, Field::SrcAddrHigh, Field::SrcBase,
                             Field::SrcStrN, Field::SrcStrCLow, Field::SrcStrCHigh, Field::SrcStrH};
constexpr SideFields kDst = {Field::DstC,    Field::DstAddrLow, Field::DstAddrHigh, Field::DstBase,
                             Field::DstStrN, Field::DstStrCLow, Field::DstStrCHigh, Field::DstStrH};

void setStrides(Maker &maker, const SideFields &side, uint64_t n, uint64_t c, uint64_t h) {
  maker.set(side.strN, n).set(side.strCLow, c & 0xFFFF).set(side.strCHigh, c >> 16);
  maker.set(side.strH, h);
}

void setAddress(const Chip &chip, Maker &maker, const SideFields &side, bool isLocal,
                uint64_t offset) {
  const uint64_t address = isLocal ? offset : chip.globalBase + offset;
  maker.set(side.addrLow, address & 0xFFFFFFFF).set(side.addrHigh, address >> 32);
  maker.set(side.base, isLocal ? 0 : 2);
}

/// Strides in lanes, or with gaps in global memory, and the address.
void place(const Chip &chip, Random &random, Maker &maker, const SideFields &side, bool isLocal,
           const Extents &shape, uint32_t bytes, uint64_t localAt, bool hasGaps = true) {
  if (isLocal) {
    const uint64_t lane = random.oneIn(4) ? from(random, 0, chip.lanes - 1) : 0;
    const View view =
        viewOf(chip, 0, shape, bytes, random.oneIn(2) ? Layout::Aligned : Layout::Compact);
    setStrides(maker, side, view.strides[0], view.strides[1], view.strides[2]);
    setAddress(chip, maker, side, true, lane * kLaneBytes + localAt);
    return;
  }
  const auto gap = [&]() { return hasGaps ? random.below(4) * bytes : 0; };
  const uint64_t h = uint64_t{shape[3]} * bytes + gap();
  const uint64_t c = shape[2] * h + gap();
  setStrides(maker, side, shape[1] * c + gap(), c, h);
  setAddress(chip, maker, side, false, &side == &kSrc ? kGlobalFrom : kGlobalTo);
}

void setShapes(Maker &maker, const Extents &src, const Extents &dst) {
  maker.shape(Field::SrcN, src);
  maker.set(Field::DstC, dst[1]).set(Field::DstH, dst[2]).set(Field::DstW, dst[3]);
}

Extents anyShape(const Chip &chip, Random &random) {
  return {from(random, 1, 3), from(random, 1, 2 * chip.lanes + 1), from(random, 1, 4),
          from(random, 1, 20)};
}

void setKinds(Maker &maker, bool isSrcBf16, bool isDstBf16) {
  maker.set(Field::SrcKind, isSrcBf16 ? 2 : 1).set(Field::DstKind, isDstBf16 ? 2 : 1);
}

} // namespace

Command makeMove(const Chip &chip, Random &random, bool isBf16) {
  constexpr std::string_view kNames[] = {
      "dma.load",           "dma.store",           "dma.local",      "dma.load_fill",
      "dma.load_transpose", "dma.store_transpose", "dma.store_fill", "dma.general"};
  const std::string_view name = kNames[random.below(std::size(kNames))];
  if (name == "dma.general") {
    constexpr std::string_view kLinear[] = {"dma.load", "dma.store", "dma.global"};
    const size_t choice = random.below(3);
    Maker maker(chip, kLinear[choice]);
    maker.set(Field::General, 1).set(Field::SrcStrN, from(random, 1, 5000));
    setAddress(chip, maker, kSrc, choice == 1, choice == 1 ? 0x100 : kGlobalFrom);
    setAddress(chip, maker, kDst, choice == 0, choice == 0 ? 0x100 : kGlobalTo);
    return maker.command();
  }
  Maker maker(chip, name);
  const Extents shape = anyShape(chip, random);
  const bool swaps = name.ends_with("transpose");
  const bool fills = name.ends_with("fill");
  const Extents result = {swaps ? shape[1] : shape[0], swaps ? shape[0] : shape[1], shape[2],
                          shape[3]};
  const bool isSrcLocal = name.starts_with("dma.store") || name == "dma.local";
  const bool isDstLocal = name.starts_with("dma.load") || name == "dma.local";
  const uint32_t bytes = isBf16 ? 2 : 1;
  setKinds(maker, isBf16, isBf16);
  maker.set(Field::Int8Signed, isBf16 ? 0 : 1);
  setShapes(maker, fills ? Extents{shape[0], 0, 0, 0} : shape, result);
  if (fills)
    maker.set(Field::Value, from(random, 0, isBf16 ? 0x7F00 : 255));
  else
    place(chip, random, maker, kSrc, isSrcLocal, shape, bytes, 0);
  place(chip, random, maker, kDst, isDstLocal, result, bytes, 0x4000);
  return maker.command();
}

/// Bytes whose c and w are exchanged while they are stored, or packed pixels that are loaded.
Command makeImageMove(const Chip &chip, Random &random, bool) {
  const unsigned mode = from(random, 1, 3);
  Extents shape = anyShape(chip, random);
  if (mode == 3) {
    Maker maker(chip, "dma.store_transpose");
    const Extents result = {shape[0], shape[3], shape[2], shape[1]};
    setKinds(maker, false, false);
    setShapes(maker, shape, result);
    place(chip, random, maker, kSrc, true, shape, 1, 0);
    place(chip, random, maker, kDst, false, result, 1, 0x4000);
    maker.set(Field::TransposeMode, mode).set(Field::Int8Signed, random.below(2));
    return maker.command();
  }
  shape[1] = mode + 2;
  Maker maker(chip, "dma.load_transpose");
  setKinds(maker, false, false);
  setShapes(maker, shape, shape);
  place(chip, random, maker, kSrc, false, {shape[0], shape[1], shape[2], shape[3] * shape[1]}, 1,
        0);
  if (random.oneIn(2))
    setStrides(maker, kSrc, uint64_t{shape[1]} * shape[2] * shape[3], 1, shape[1] * shape[3]);
  const View view = viewOf(chip, 0, shape, 1, Layout::Aligned);
  setStrides(maker, kDst, view.strides[0], view.strides[1], view.strides[2]);
  setAddress(chip, maker, kDst, true, from(random, 0, chip.lanes - 1) * kLaneBytes + 0x4000);
  maker.set(Field::TransposeMode, mode).set(Field::Int8Signed, random.below(2));
  return maker.command();
}

/// Indices of a table from values that are numbers.
Command makeTableIndex(const Chip &chip, Random &random, bool) {
  Maker maker(chip, "dma.local");
  const Extents shape = anyShape(chip, random);
  setKinds(maker, true, true);
  setShapes(maker, shape, shape);
  maker.set(Field::LutIndex, 1);
  place(chip, random, maker, kSrc, true, shape, 2, 0);
  place(chip, random, maker, kDst, true, shape, 2, 0x4000);
  return maker.command();
}

Command makeConversion(const Chip &chip, Random &random, bool) {
  const size_t choice = random.below(5);
  constexpr std::string_view kNames[] = {"dma.load", "dma.store", "dma.local", "dma.local",
                                         "dma.local"};
  Maker maker(chip, kNames[choice]);
  const Extents shape = anyShape(chip, random);
  const bool isTable = choice == 4;
  const bool isSrcBf16 = isTable || choice == 1 || choice == 3;
  const bool isDstBf16 = isTable || !isSrcBf16;
  setKinds(maker, isSrcBf16, isDstBf16);
  setShapes(maker, shape, shape);
  if (isTable)
    maker.set(Field::LutBase, 1);
  else
    maker.set(Field::Int8Signed, random.below(2))
        .set(Field::Truncate, isSrcBf16 ? random.below(2) : 0);
  place(chip, random, maker, kSrc, choice != 0, shape, isSrcBf16 ? 2 : 1, 0);
  place(chip, random, maker, kDst, choice != 1, shape, isDstBf16 ? 2 : 1, 0x4000);
  return maker.command();
}

namespace {

/// Rows and pieces; the number of bytes from row to row in global memory.
void makeRows(const Chip &chip, Random &random, Maker &maker, bool loads, bool hasGaps,
              uint32_t bytes) {
  const uint32_t rows = from(random, 1, 6);
  const uint32_t columns = from(random, 1, 40);
  const uint32_t least = (columns + 2 * chip.lanes - 1) / (2 * chip.lanes);
  const uint32_t piece = std::min(std::max(from(random, 1, 16), least), columns);
  const uint32_t pieces = (columns + piece - 1) / piece;
  const View view = viewOf(chip, 0, {rows, pieces, 1, piece}, bytes, Layout::Aligned);
  const SideFields &local = loads ? kDst : kSrc;
  const SideFields &global = loads ? kSrc : kDst;
  maker.set(Field::Matrix, 1);
  if (loads)
    setShapes(maker, {rows, rows, 1, columns}, {0, pieces, 1, piece});
  else
    setShapes(maker, {rows, pieces, 1, piece}, {0, rows, 1, columns});
  setStrides(maker, local, view.strides[0], view.strides[1], view.strides[2]);
  const uint32_t gap = hasGaps ? static_cast<uint32_t>(random.below(4)) : 0;
  setStrides(maker, global, 0, (columns + gap) * bytes, 0);
  setAddress(chip, maker, local, true, 0x2000);
  setAddress(chip, maker, global, false, loads ? kGlobalFrom : kGlobalTo);
}

} // namespace

Command makeMatrixMove(const Chip &chip, Random &random, bool isBf16) {
  const bool loads = random.oneIn(2);
  Maker maker(chip, loads ? "dma.load" : "dma.store");
  setKinds(maker, isBf16, isBf16);
  maker.set(Field::Int8Signed, isBf16 ? 0 : 1);
  makeRows(chip, random, maker, loads, true, isBf16 ? 2 : 1);
  return maker.command();
}

Command makeCompressed(const Chip &chip, Random &random, bool isBf16) {
  const bool loads = random.oneIn(2);
  const uint32_t bytes = isBf16 ? 2 : 1;
  Maker maker(chip, loads ? "dma.load" : "dma.store");
  maker.set(Field::Compressed, 1);
  const bool isSigned = !isBf16 && random.oneIn(2);
  maker.set(Field::Int8Signed, isSigned).set(Field::CompressSigned, isSigned);
  if (loads && random.oneIn(2)) {
    makeRows(chip, random, maker, true, false, bytes);
  } else {
    const Extents shape = anyShape(chip, random);
    setShapes(maker, shape, shape);
    place(chip, random, maker, kSrc, !loads, shape, bytes, 0, loads);
    place(chip, random, maker, kDst, loads, shape, bytes, 0x4000, false);
  }
  setKinds(maker, isBf16, isBf16);
  if (!loads) {
    // The engine has no biases of its own.
    maker.set(Field::Bias0, isBf16 ? 127 : 0);
    maker.set(Field::ZeroGuard, isBf16 ? random.below(2) : 0);
  }
  return maker.command();
}

} // namespace tpuc::cv18xx::conformance::detail
