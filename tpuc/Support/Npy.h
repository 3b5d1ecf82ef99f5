//===- Npy.h - Tensors as numpy's .npy files ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TPUC_SUPPORT_NPY_H
#define TPUC_SUPPORT_NPY_H

#include "tpuc/Support/Tensor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tpuc {

/// What the head of a .npy file says.
struct NpyHeader {
  /// Never bf16, an 8-bit float or a 4-bit integer: numpy has none of them (`npyType`).
  DataType type = DataType::F32;
  Shape shape;
  /// The first axis varies fastest in the file.
  bool fortranOrder = false;
  bool bigEndian = false;
  /// Where the elements begin.
  size_t dataOffset = 0;
  /// Bytes of the elements.
  uint64_t dataBytes = 0;
};

/// As many bytes from the beginning of a file hold every header that `parseNpyHeader` accepts.
inline constexpr size_t kMaxNpyHeader = size_t(64) << 10;

/// The element type under which `type` is stored: f32 for bf16 and the 8-bit floats, i8 and u8 for
/// i4 and u4, itself otherwise. The true type stands in the .mlir.
DataType npyType(DataType type);

/// The elements of `tensor` as `npyType(tensor.type())`, exactly; `tensor` itself where that is its
/// type.
Tensor widenForNpz(const Tensor &tensor);

/// Reads the header at the beginning of `bytes`, which need not hold the elements. Versions 1.0,
/// 2.0 and 3.0; every type that tpuc has, in either byte order. The dictionary is read by a parser
/// that accepts its three keys and nothing else. Errors name `where`, and the numpy type if it is
/// one that tpuc has not (complex, objects, strings, structures, dates, raw bytes).
///
/// Source of the format: NumPy enhancement proposal 1.
Expected<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string &where);

/// The header of a little-endian array in C order, version 1.0, padded to a multiple of 64 bytes.
/// `type` must be one that `npyType` leaves alone.
std::string npyHeader(DataType type, const Shape &shape);

/// Whether the elements at `data` are usable as they are: C order, little endian, aligned.
bool isBorrowable(const NpyHeader &header, const std::byte *data);

/// Brings elements as they lie in a file into C order, little endian, and bools into 0 and 1. `raw`
/// holds `header.dataBytes` bytes.
Expected<Tensor> decodeNpyData(const NpyHeader &header, std::span<const std::byte> raw,
                               const std::string &where);

/// The array that the bytes of a .npy file hold: a view into them that keeps `owner` alive where
/// the elements are usable as they are, otherwise a copy. Too few bytes are an error, and so are
/// bytes after the array.
Expected<Tensor> parseNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string &where);

/// Maps the file `path`; the tensor may be a view into it.
Expected<Tensor> readNpy(const std::string &path);

/// Writes `widenForNpz(tensor)`, through OutputFile.
Expected<void> writeNpy(const std::string &path, const Tensor &tensor);

} // namespace tpuc

#endif // TPUC_SUPPORT_NPY_H
