//===- Skeleton.h - A model's message without its large data -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_SKELETON_H
#define TPUC_FRONTEND_ONNX_SKELETON_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <span>
#include <string>

namespace tpuc::onnx {

/// The wire form of the ONNX model in `bytes` with the elements of its tensors left out: where a
/// tensor has raw_data, or float_data or double_data in one piece (which on the wire are the
/// elements in little-endian order), the skeleton has their offset in `bytes` and their length
/// instead (mapped_offset, mapped_length of Onnx.proto). What protobuf parses is small then, and
/// the weights of a mapped file are not in memory twice. Fields that no part of tpuc reads are left
/// out as well.
///
/// Errors name `where` and the byte at which the message breaks off or stops making sense.
Expected<std::string> skeletonOf(std::span<const std::byte> bytes, const std::string &where);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_SKELETON_H
