//===- Npy.cpp - Tensors as numpy's .npy files ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Npy.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/OutputFile.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <new>

namespace tpuc {

static_assert(std::endian::native == std::endian::little,
              "elements are written as they lie in memory");

namespace {

template <typename T> void swapBytes(std::span<std::byte> bytes) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T))
    std::reverse(bytes.begin() + i, bytes.begin() + i + sizeof(T));
}

void toLittleEndian(std::span<std::byte> bytes, unsigned elementSize) {
  if (elementSize == 2)
    swapBytes<uint16_t>(bytes);
  else if (elementSize == 4)
    swapBytes<uint32_t>(bytes);
  else if (elementSize == 8)
    swapBytes<uint64_t>(bytes);
}

/// Copies from Fortran to C order: walks over the result, the source offset goes along.
template <size_t kSize>
void transpose(const Shape &shape, std::span<const std::byte> from, std::span<std::byte> to) {
  std::array<size_t, Shape::kMaxRank> stride = {};
  std::array<int64_t, Shape::kMaxRank> index = {};
  size_t step = kSize;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    stride[axis] = step;
    step *= static_cast<size_t>(shape[axis]);
  }
  size_t source = 0;
  for (size_t target = 0; target < to.size(); target += kSize) {
    std::memcpy(&to[target], &from[source], kSize);
    for (size_t axis = shape.rank(); axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < shape[axis])
        break;
      source -= stride[axis] * static_cast<size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
}

void transpose(unsigned elementSize, const Shape &shape, std::span<const std::byte> from,
               std::span<std::byte> to) {
  switch (elementSize) {
  case 1:
    return transpose<1>(shape, from, to);
  case 2:
    return transpose<2>(shape, from, to);
  case 4:
    return transpose<4>(shape, from, to);
  default:
    assert(elementSize == 8);
    return transpose<8>(shape, from, to);
  }
}

/// With at most one axis longer than 1 both orders are the same.
bool needsTranspose(const NpyHeader &header) {
  auto isLong = [](int64_t extent) { return extent != 1; };
  return header.fortranOrder && header.dataBytes > 0 &&
         std::count_if(header.shape.begin(), header.shape.end(), isLong) > 1;
}

bool holdsOnlyBools(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b <= std::byte(1); });
}

} // namespace

Tensor widenForNpz(const Tensor &tensor) {
  DataType type = npyType(tensor.type());
  return type == tensor.type() ? tensor : convert(tensor, type);
}

bool isBorrowable(const NpyHeader &header, const std::byte *data) {
  return !needsTranspose(header) && !header.bigEndian &&
         reinterpret_cast<uintptr_t>(data) % (bitWidth(header.type) / 8) == 0;
}

Expected<Tensor> decodeNpyData(const NpyHeader &header, std::span<const std::byte> raw,
                               const std::string &where) {
  assert(raw.size() == header.dataBytes);
  Expected<Tensor> tensor = Tensor::create(header.type, header.shape.dims(), where);
  if (!tensor || raw.empty())
    return tensor;
  std::span<std::byte> elements = tensor->mutableBytes();
  unsigned elementSize = bitWidth(header.type) / 8;
  if (needsTranspose(header))
    transpose(elementSize, header.shape, raw, elements);
  else
    std::copy(raw.begin(), raw.end(), elements.begin());
  if (header.bigEndian)
    toLittleEndian(elements, elementSize);
  if (header.type == DataType::Bool)
    for (std::byte &element : elements)
      element = std::byte(element != std::byte(0));
  return tensor;
}

Expected<Tensor> parseNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string &where) {
  Expected<NpyHeader> header = parseNpyHeader(bytes, where);
  if (!header)
    return propagate(header);
  std::span<const std::byte> raw = bytes.subspan(header->dataOffset);
  if (raw.size() != header->dataBytes)
    return makeError(where,
                     fmt::format("has {} bytes of elements, but shape {} of {}", raw.size(),
                                 header->shape.str(), dataTypeName(header->type)),
                     fmt::format("{} bytes", header->dataBytes));
  bool clean = header->type != DataType::Bool || holdsOnlyBools(raw);
  if (clean && isBorrowable(*header, raw.data()))
    return Tensor::borrow(header->type, header->shape, raw.data(), std::move(owner));
  return decodeNpyData(*header, raw, where);
}

Expected<Tensor> readNpy(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  return parseNpy((*file)->bytes(), *file, path);
}

Expected<void> writeNpy(const std::string &path, const Tensor &tensor) {
  try {
    Tensor wide = widenForNpz(tensor);
    Expected<OutputFile> file = OutputFile::create(path);
    if (!file)
      return propagate(file);
    if (Expected<void> written = file->write(npyHeader(wide.type(), wide.shape())); !written)
      return written;
    if (Expected<void> written = file->write(wide.rawBytes()); !written)
      return written;
    return file->commit();
  } catch (const std::bad_alloc &) {
    return makeError(path, "not enough memory to write the tensor");
  }
}

} // namespace tpuc
