//===- CaffeWeights.h - The arrays of a .caffemodel ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_CAFFE_CAFFEWEIGHTS_H
#define TPUC_FRONTEND_CAFFE_CAFFEWEIGHTS_H

#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Tensor.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::caffe {

/// An array of a layer's parameters, where it lies in the mapped file.
struct Blob {
  std::vector<int64_t> dims;
  /// The dims are num, channels, height and width, as all blobs of the first generation have them.
  bool fourDims = false;
  /// The elements, f32 or f64 in little-endian order, in one piece or several.
  std::vector<std::span<const std::byte>> pieces;
  DataType type = DataType::F32;

  int64_t numElements() const;
  /// `[64, 3, 7, 7]`.
  std::string shape() const;
};

/// The weights of a network: the arrays of each layer, by the layer's name. Both generations of
/// layers are read. The elements stay in the mapped file until they are asked for.
class CaffeWeights {
public:
  /// Errors: as MappedFile::open; an empty file; one that is no protobuf message or breaks off; no
  /// layers in it; a blob whose elements are more or fewer than its shape says.
  static Expected<CaffeWeights> open(const std::string &path);
  /// The same for bytes in memory, which `owner` keeps alive. `where` names them in errors.
  static Expected<CaffeWeights> fromMemory(std::span<const std::byte> bytes,
                                           std::shared_ptr<const void> owner,
                                           const std::string &where);

  const std::string &where() const { return source; }
  /// The blobs of the layer `name`; null where the file has no such layer, or one without blobs.
  const std::vector<Blob> *find(const std::string &name) const;
  /// Calls `function` with each layer that has blobs, by name.
  void forEach(
      const std::function<void(const std::string &, const std::vector<Blob> &)> &function) const;
  /// The elements of `blob` as f32 in the shape `dims`, which must have as many: a view into the
  /// file where they lie aligned and in one piece, else a copy.
  Tensor read(const Blob &blob, std::span<const int64_t> dims) const;

private:
  std::string source;
  std::shared_ptr<const void> owner;
  std::map<std::string, std::vector<Blob>, std::less<>> layers;
};

} // namespace tpuc::caffe

#endif // TPUC_FRONTEND_CAFFE_CAFFEWEIGHTS_H
