//===- PackedImages.h - Bytes without gaps in the lanes of the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_PACKEDIMAGES_H
#define TPUC_TARGET_BM1684_KERNELS_PACKEDIMAGES_H

#include "tpuc/Target/BM1684/Kernels/DataMovement.h"

namespace tpuc::bm1684 {

/// The images of a tensor of bytes as they lie in global memory: of each image the bytes of a
/// channel follow each other in its lane, four in a word. Transfers move them at the full rate;
/// those of the tensor itself move a byte of each word.
struct PackedImages {
  /// Regular, I8 or U8.
  LocalTensor tensor;
  /// Where the packed images begin in each lane: a multiple of 128.
  uint32_t address = 0;

  /// What they take in each lane, with a register where words hold several images.
  uint32_t laneBytes() const;
  /// Image `n` as words of four bytes, [1, c, 1, ceil(h * w / 4)]; image shape[0] is the register.
  LocalTensor image(int64_t n) const;
};

/// Whether packing for a store, or unpacking behind a load, saves more cycles of the transfer than
/// it takes, whatever the number of images of `shape`.
bool isPackedFaster(const Extents &shape, bool isStore);

/// Errors: a tensor with gaps, or of other types.
Expected<void> emitPackImages(Builder &builder, const PackedImages &packed);
/// What else the words of the tensor held is lost.
Expected<void> emitUnpackImages(Builder &builder, const PackedImages &packed);

/// Transfers of packed images. Errors: another shape or type than the tensor has.
Expected<void> emitLoadImages(Builder &builder, const GlobalTensor &from,
                              const PackedImages &packed);
Expected<void> emitStoreImages(Builder &builder, const PackedImages &packed,
                               const GlobalTensor &to);
/// Loads [n,c,h,w] to channels from `channel` and rows from `row` on. Errors: other images or
/// columns than the tensor has, or other types.
Expected<void> emitLoadImageRows(Builder &builder, const GlobalTensor &from,
                                 const PackedImages &packed, int64_t channel, int64_t row);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_PACKEDIMAGES_H
