//===- PictureAxes.h - Which axis of an input is what -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_PREPROCESS_PICTUREAXES_H
#define TPUC_PREPROCESS_PICTUREAXES_H

#include "tpuc/Preprocess/Preprocess.h"

namespace tpuc {

/// The extents of an input that takes pictures; -1 where not known.
struct PictureAxes {
  int64_t batch = 1;
  int64_t channels = 1; ///< Always known: those of the pixel format.
  int64_t height = -1;
  int64_t width = -1;
};

/// Reads `dims` as [batch, channels, height, width] in the order of `channelFormat`; three axes are
/// without batch, two without channels as well. Errors name the option that does not fit.
Expected<PictureAxes> pictureAxes(std::span<const int64_t> dims, PixelFormat pixelFormat,
                                  ChannelFormat channelFormat);

} // namespace tpuc

#endif // TPUC_PREPROCESS_PICTUREAXES_H
