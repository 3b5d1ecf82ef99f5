//===- Npy.cpp - Tensors as numpy's .npy files ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Npy.h"

#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/OutputFile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <new>

namespace tpuc {

static_assert(std::endian::native == std::endian::little,
              "elements are written as they lie in memory");

namespace {

/// How an 8-bit float is laid out: one sign bit, then the exponent, then the mantissa.
struct Float8 {
  int exponentBits;
  int bias;
  /// Where the special values are: as in IEEE 754; only at all ones; only at negative zero.
  enum Specials : uint8_t { Ieee, AllOnes, NegativeZero } specials;
};

/// Source of the formats: OCP 8-bit Floating Point Specification 1.0 (FN and E5M2); arXiv
/// 2206.02915 (FNUZ).
Float8 layoutOf(DataType type) {
  switch (type) {
  case DataType::F8E4M3FN:
    return {4, 7, Float8::AllOnes};
  case DataType::F8E5M2:
    return {5, 15, Float8::Ieee};
  case DataType::F8E4M3FNUZ:
    return {4, 8, Float8::NegativeZero};
  default:
    assert(type == DataType::F8E5M2FNUZ);
    return {5, 16, Float8::NegativeZero};
  }
}

float decodeFloat8(uint8_t bits, const Float8 &layout) {
  int mantissaBits = 7 - layout.exponentBits;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  int exponent = (bits & 0x7f) >> mantissaBits;
  int topExponent = (1 << layout.exponentBits) - 1;
  float sign = (bits & 0x80) ? -1.f : 1.f;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (layout.specials == Float8::NegativeZero && bits == 0x80)
    return kNan;
  if (layout.specials == Float8::AllOnes && (bits & 0x7f) == 0x7f)
    return std::copysign(kNan, sign);
  if (layout.specials == Float8::Ieee && exponent == topExponent)
    return std::copysign(mantissa ? kNan : std::numeric_limits<float>::infinity(), sign);
  int implicit = exponent > 0 ? 1 << mantissaBits : 0;
  int scale = std::max(exponent, 1) - layout.bias - mantissaBits;
  return sign * std::ldexp(static_cast<float>(implicit | mantissa), scale);
}

void widenFloats(const Tensor &from, std::span<float> to) {
  if (from.type() == DataType::BF16) {
    std::span<const uint16_t> bits = from.data<uint16_t>();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = std::bit_cast<float>(static_cast<uint32_t>(bits[i]) << 16);
    return;
  }
  Float8 layout = layoutOf(from.type());
  std::array<float, 256> table = {};
  for (size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = decodeFloat8(static_cast<uint8_t>(bits), layout);
  std::span<const uint8_t> bits = from.data<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = table[bits[i]];
}

void widenNibbles(const Tensor &from, std::span<std::byte> to) {
  std::span<const std::byte> packed = from.rawBytes();
  for (size_t i = 0; i < to.size(); ++i) {
    unsigned nibble = (std::to_integer<unsigned>(packed[i / 2]) >> (i % 2 * 4)) & 0xf;
    if (from.type() == DataType::I4)
      nibble = (nibble ^ 8) - 8;
    to[i] = static_cast<std::byte>(nibble);
  }
}

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
  if (type == tensor.type())
    return tensor;
  Tensor wide(type, tensor.shape());
  if (type == DataType::F32)
    widenFloats(tensor, wide.mutableData<float>());
  else
    widenNibbles(tensor, wide.mutableBytes());
  return wide;
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
