//===- CaffeWeights.cpp - The arrays of a .caffemodel ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The file is a protobuf message of hundreds of megabytes, nearly all of it elements of blobs. It
// is scanned in place: protobuf would hold all elements in memory a second time, and stop at 2 GiB.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeWeights.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::caffe;

namespace {

enum WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// The numbers of the fields, in both generations.
struct LayerFields {
  uint64_t name;
  uint64_t blobs;
};
constexpr uint64_t kFirstLayers = 2;
constexpr uint64_t kLayers = 100;
constexpr LayerFields kFirstLayer = {4, 6};
constexpr LayerFields kLayer = {1, 7};
enum BlobField : uint8_t { Width = 4, Data = 5, BlobShape = 7, DoubleData = 8 };

/// A field of a message: its number, its wire type, and its value.
struct Field {
  uint64_t number = 0;
  uint8_t type = Varint;
  uint64_t value = 0;               ///< Of a varint.
  std::span<const std::byte> bytes; ///< Of the others.
};

/// Goes through the fields of one message.
class Fields {
public:
  Fields(std::span<const std::byte> bytes, const std::byte *file, const std::string &where)
      : bytes(bytes), file(file), where(where) {}

  bool atEnd() const { return at == bytes.size(); }

  Expected<Field> next() {
    Field field;
    std::optional<uint64_t> tag = varint();
    if (!tag)
      return broken("ends within a field");
    field.number = *tag >> 3;
    field.type = static_cast<uint8_t>(*tag & 7);
    std::optional<uint64_t> size;
    switch (field.type) {
    case Varint:
      size = varint();
      if (!size)
        return broken("ends within a number");
      field.value = *size;
      return field;
    case Fixed32:
      size = 4;
      break;
    case Fixed64:
      size = 8;
      break;
    case Bytes:
      size = varint();
      break;
    default:
      return broken("holds a field of no known kind");
    }
    if (field.number == 0 || !size || *size > bytes.size() - at)
      return broken("ends within a field");
    field.bytes = bytes.subspan(at, *size);
    at += *size;
    return field;
  }

  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      auto byte = static_cast<uint8_t>(bytes[at++]);
      value |= uint64_t(byte & 0x7F) << shift;
      if (byte < 0x80)
        return value;
    }
    return std::nullopt;
  }

private:
  tl::unexpected<Error> broken(const char *what) const {
    return makeError(where, fmt::format("{} at byte {}: it is cut off, or no .caffemodel", what,
                                        bytes.data() + at - file));
  }

  std::span<const std::byte> bytes;
  const std::byte *file;
  const std::string &where;
  size_t at = 0;
};

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The dims of a BlobShape: field 1, packed or one by one.
Expected<std::vector<int64_t>> shapeOf(std::span<const std::byte> bytes, const std::byte *file,
                                       const std::string &where) {
  std::vector<int64_t> dims;
  for (Fields fields(bytes, file, where); !fields.atEnd();) {
    Expected<Field> field = fields.next();
    if (!field)
      return propagate(field);
    if (field->number != 1)
      continue;
    if (field->type == Varint) {
      dims.push_back(static_cast<int64_t>(field->value));
      continue;
    }
    for (Fields packed(field->bytes, file, where); !packed.atEnd();) {
      std::optional<uint64_t> dim = packed.varint();
      if (!dim)
        return makeError(where, "holds a blob whose shape breaks off");
      dims.push_back(static_cast<int64_t>(*dim));
    }
  }
  return dims;
}

Expected<Blob> blobOf(std::span<const std::byte> bytes, const std::byte *file,
                      const std::string &where) {
  Blob blob;
  std::vector<int64_t> four = {0, 0, 0, 0};
  bool shaped = false;
  for (Fields fields(bytes, file, where); !fields.atEnd();) {
    Expected<Field> field = fields.next();
    if (!field)
      return propagate(field);
    if (field->type == Varint && field->number >= 1 && field->number <= Width) {
      four[field->number - 1] = static_cast<int64_t>(field->value);
    } else if (field->type == Bytes && field->number == BlobShape) {
      Expected<std::vector<int64_t>> dims = shapeOf(field->bytes, file, where);
      if (!dims)
        return propagate(dims);
      blob.dims = std::move(*dims);
      shaped = true;
    } else if (field->number == Data && (field->type == Bytes || field->type == Fixed32)) {
      blob.pieces.push_back(field->bytes);
    } else if (field->number == DoubleData && (field->type == Bytes || field->type == Fixed64)) {
      blob.pieces.push_back(field->bytes);
      blob.type = DataType::F64;
    }
  }
  if (!shaped) {
    blob.dims = std::move(four);
    blob.fourDims = true;
  }
  return blob;
}

/// Errors: the elements are not as many as the shape says, or half an element.
Expected<void> checkBlob(const Blob &blob, const std::string &place) {
  Expected<int64_t> count = checkedNumElements(blob.dims, blob.type, place);
  if (!count)
    return propagate(count);
  size_t bytes = 0;
  for (std::span<const std::byte> piece : blob.pieces)
    bytes += piece.size();
  auto wanted = static_cast<size_t>(byteSize(blob.type, *count));
  if (bytes != wanted)
    return makeError(place, fmt::format("holds {} bytes of elements", bytes),
                     fmt::format("{} for the shape {}", wanted, blob.shape()));
  return {};
}

} // namespace

int64_t Blob::numElements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

std::string Blob::shape() const { return fmt::format("[{}]", fmt::join(dims, ", ")); }

Expected<CaffeWeights> CaffeWeights::open(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  return fromMemory((*file)->bytes(), *file, path);
}

Expected<CaffeWeights> CaffeWeights::fromMemory(std::span<const std::byte> bytes,
                                                std::shared_ptr<const void> owner,
                                                const std::string &where) {
  CaffeWeights weights;
  weights.source = where;
  weights.owner = std::move(owner);
  if (bytes.empty())
    return makeError(where, "is empty", "a .caffemodel");
  size_t found = 0;
  for (Fields net(bytes, bytes.data(), where); !net.atEnd();) {
    Expected<Field> field = net.next();
    if (!field)
      return propagate(field);
    if (field->type != Bytes || (field->number != kLayers && field->number != kFirstLayers))
      continue;
    ++found;
    LayerFields numbers = field->number == kLayers ? kLayer : kFirstLayer;
    std::string name;
    std::vector<Blob> blobs;
    for (Fields layer(field->bytes, bytes.data(), where); !layer.atEnd();) {
      Expected<Field> part = layer.next();
      if (!part)
        return propagate(part);
      if (part->type != Bytes)
        continue;
      if (part->number == numbers.name) {
        name = textOf(part->bytes);
      } else if (part->number == numbers.blobs) {
        Expected<Blob> blob = blobOf(part->bytes, bytes.data(), where);
        if (!blob)
          return propagate(blob);
        blobs.push_back(std::move(*blob));
      }
    }
    for (size_t index = 0; index < blobs.size(); ++index)
      if (Expected<void> checked =
              checkBlob(blobs[index], fmt::format("{}: blob {} of layer '{}'", where, index, name));
          !checked)
        return propagate(checked);
    if (!blobs.empty())
      weights.layers.insert_or_assign(std::move(name), std::move(blobs));
  }
  if (found == 0)
    return makeError(where, "holds no layers: it is no .caffemodel",
                     "the binary file with the weights of a network");
  return weights;
}

const std::vector<Blob> *CaffeWeights::find(const std::string &name) const {
  auto found = layers.find(name);
  return found == layers.end() ? nullptr : &found->second;
}

void CaffeWeights::forEach(
    const std::function<void(const std::string &, const std::vector<Blob> &)> &function) const {
  for (const auto &[name, blobs] : layers)
    function(name, blobs);
}

Tensor CaffeWeights::read(const Blob &blob, std::span<const int64_t> dims) const {
  const Shape shape{dims};
  if (blob.type == DataType::F32 && blob.pieces.size() == 1 &&
      reinterpret_cast<uintptr_t>(blob.pieces[0].data()) % alignof(float) == 0)
    return Tensor::borrow(DataType::F32, shape, blob.pieces[0].data(), owner);
  Tensor tensor(DataType::F32, shape);
  std::span<float> out = tensor.mutableData<float>();
  size_t at = 0;
  for (std::span<const std::byte> piece : blob.pieces)
    // What was copied need not stay in memory as pages of the file, too: not even those of one
    // blob.
    while (!piece.empty()) {
      constexpr size_t kStep = size_t(1) << 22;
      std::span<const std::byte> part = piece.first(std::min(kStep, piece.size()));
      piece = piece.subspan(part.size());
      if (blob.type == DataType::F32) {
        std::memcpy(out.data() + at, part.data(), part.size());
        at += part.size() / sizeof(float);
      } else {
        for (size_t byte = 0; byte < part.size(); byte += sizeof(double)) {
          double value;
          std::memcpy(&value, part.data() + byte, sizeof(double));
          out[at++] = static_cast<float>(value);
        }
      }
      releaseMapped(part);
    }
  return tensor;
}
