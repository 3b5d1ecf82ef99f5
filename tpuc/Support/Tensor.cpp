//===- Tensor.cpp - Shapes and dense tensors ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/Sizes.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <new>

namespace tpuc {

Shape::Shape(std::span<const int64_t> dims) : rankValue(dims.size()) {
  assert(dims.size() <= kMaxRank);
  std::copy(dims.begin(), dims.end(), extents.begin());
}

int64_t Shape::numElements() const {
  int64_t count = 1;
  for (int64_t extent : *this)
    count *= extent;
  return count;
}

Shape Shape::strides() const {
  Shape result = *this;
  int64_t stride = 1;
  for (size_t axis = rankValue; axis-- > 0;) {
    result.extents[axis] = stride;
    stride *= extents[axis];
  }
  return result;
}

std::string Shape::str() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

Expected<int64_t> checkedNumElements(std::span<const int64_t> dims, DataType type,
                                     const std::string &where) {
  if (dims.size() > Shape::kMaxRank)
    return makeError(where, fmt::format("{} dimensions", dims.size()),
                     fmt::format("at most {}", Shape::kMaxRank));
  bool empty = false;
  // Strides of an empty tensor are products, too.
  Count count = 1;
  for (int64_t extent : dims) {
    if (extent < 0)
      return makeError(where, fmt::format("dimension {}", extent), "0 or more");
    empty |= extent == 0;
    count *= std::max<int64_t>(extent, 1);
  }
  if ((count * bitWidth(type)).isSaturated())
    return makeError(where, fmt::format("shape [{}] has too many elements", fmt::join(dims, ", ")),
                     "at most 2^60 - 1 bytes");
  return empty ? 0 : int64_t(count);
}

namespace {

/// 64-byte aligned, zero-filled memory that frees itself. Large blocks come from calloc, whose
/// pages the system zeroes on first use.
std::shared_ptr<void> allocate(int64_t bytes) {
  constexpr size_t kAlignment = 64;
  // The system may grant more than there is, and end the process when it is used.
  constexpr int64_t kLarge = int64_t(1) << 28;
  if (bytes > kLarge && bytes > hostMemory())
    throw std::bad_alloc();
  size_t padded = static_cast<size_t>(bytes) + kAlignment;
  void *block = std::calloc(padded, 1);
  if (!block)
    throw std::bad_alloc();
  auto whole = std::shared_ptr<void>(block, std::free);
  void *start = block;
  std::align(kAlignment, static_cast<size_t>(bytes), start, padded);
  return {whole, start};
}

} // namespace

Tensor::Tensor(DataType type, Shape shape) : typeValue(type), shapeValue(shape), writable(true) {
  owner = allocate(byteSize());
  address = owner.get();
}

Expected<Tensor> Tensor::create(DataType type, std::span<const int64_t> dims,
                                const std::string &where) {
  Expected<int64_t> count = checkedNumElements(dims, type, where);
  if (!count)
    return propagate(count);
  try {
    return Tensor(type, Shape(dims));
  } catch (const std::bad_alloc &) {
    return makeError(where, fmt::format("not enough memory for shape [{}] of {} ({} bytes)",
                                        fmt::join(dims, ", "), dataTypeName(type),
                                        tpuc::byteSize(type, *count)));
  }
}

Tensor Tensor::borrow(DataType type, Shape shape, const void *data,
                      std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.typeValue = type;
  tensor.shapeValue = shape;
  tensor.address = data;
  tensor.owner = std::move(owner);
  return tensor;
}

Tensor Tensor::within(DataType type, Shape shape, void *data, std::shared_ptr<const void> owner) {
  Tensor tensor = borrow(type, shape, data, std::move(owner));
  tensor.writable = true;
  return tensor;
}

Tensor Tensor::clone() const {
  Tensor copy(typeValue, shapeValue);
  if (byteSize() > 0)
    std::memcpy(copy.mutableBytes().data(), address, static_cast<size_t>(byteSize()));
  return copy;
}

Tensor Tensor::reshaped(Shape shape) const {
  assert(shape.numElements() == numElements());
  Tensor view = *this;
  view.shapeValue = shape;
  return view;
}

} // namespace tpuc
