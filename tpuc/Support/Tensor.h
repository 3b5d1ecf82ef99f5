//===- Tensor.h - Shapes and dense tensors ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_TENSOR_H
#define TPUC_SUPPORT_TENSOR_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Error.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tpuc {

/// The extents of a tensor, outermost first. Rank 0 (a scalar) to 8; extents of 0 are allowed.
class Shape {
public:
  static constexpr size_t kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  /// `dims` must have at most kMaxRank entries, none negative.
  explicit Shape(std::span<const int64_t> dims);

  size_t rank() const { return rankValue; }
  int64_t operator[](size_t axis) const {
    assert(axis < rankValue);
    return extents[axis];
  }
  int64_t &operator[](size_t axis) {
    assert(axis < rankValue);
    return extents[axis];
  }
  const int64_t *begin() const { return extents.data(); }
  const int64_t *end() const { return extents.data() + rankValue; }
  std::span<const int64_t> dims() const { return {begin(), rankValue}; }
  std::vector<int64_t> vec() const { return {begin(), end()}; }

  /// The product of the extents, 1 for a scalar. The product must fit in 63 bits
  /// (`Tensor::create` checks it).
  int64_t numElements() const;
  /// Row-major (C order) strides, in elements.
  Shape strides() const;
  /// `[1, 3, 224, 224]`; `[]` for a scalar.
  std::string str() const;

  friend bool operator==(const Shape &a, const Shape &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  std::array<int64_t, kMaxRank> extents{};
  size_t rankValue = 0;
};

/// The number of elements of `dims`, unless a dimension is negative, there are more than
/// Shape::kMaxRank of them, or the elements would not be addressable in 63 bits of bytes of `type`.
/// Of an empty tensor, which has strides as well, that holds for its dimensions that are not 0.
/// Errors name `where`.
Expected<int64_t> checkedNumElements(std::span<const int64_t> dims, DataType type,
                                     const std::string &where);

/// A dense tensor in row-major order. A Tensor is a handle: copying it shares the elements,
/// `clone` copies them. The elements are either owned (64-byte aligned, writable) or borrowed from
/// something that the handle keeps alive, such as a mapped file (read only).
class Tensor {
public:
  /// A rank-0 f32 tensor without elements in memory; only assignable.
  Tensor() = default;

  /// Owned and zero-filled. Throws std::bad_alloc.
  Tensor(DataType type, Shape shape);

  /// Owned and zero-filled, for sizes that come from outside. `where` names the source in errors:
  /// too many dimensions, negative or overflowing extents, or not enough memory.
  static Expected<Tensor> create(DataType type, std::span<const int64_t> dims,
                                 const std::string &where);
  /// Borrowed, read-only elements at `data`, which `owner` keeps alive. `data` must hold
  /// `byteSize()` bytes; it may be unaligned only when the elements are read with `rawBytes`.
  static Tensor borrow(DataType type, Shape shape, const void *data,
                       std::shared_ptr<const void> owner);
  /// Writable elements at `data`, a part of memory that `owner` keeps alive, such as a block that
  /// several tensors share. `data` must hold `byteSize()` bytes, aligned for the elements.
  static Tensor within(DataType type, Shape shape, void *data, std::shared_ptr<const void> owner);
  /// Owned, copied from `values`; `values.size()` must be `shape.numElements()`.
  template <typename T> static Tensor of(Shape shape, std::span<const T> values);
  template <typename T> static Tensor of(Shape shape, std::initializer_list<T> values) {
    return of<T>(shape, std::span<const T>(values.begin(), values.size()));
  }

  DataType type() const { return typeValue; }
  const Shape &shape() const { return shapeValue; }
  int64_t numElements() const { return shapeValue.numElements(); }
  int64_t byteSize() const { return tpuc::byteSize(typeValue, numElements()); }
  bool isWritable() const { return writable; }

  std::span<const std::byte> rawBytes() const {
    return {static_cast<const std::byte *>(address), static_cast<size_t>(byteSize())};
  }
  std::span<std::byte> mutableBytes() {
    assert(writable && "borrowed elements are read only; clone first");
    return {static_cast<std::byte *>(const_cast<void *>(address)), static_cast<size_t>(byteSize())};
  }

  /// The elements as `T`, which must have the size of an element: float for F32, uint16_t for the
  /// bits of F16 and BF16, uint8_t for those of the 8-bit floats and for Bool. Not for 4-bit types
  /// (use `rawBytes` or the conversions of Numerics.h).
  template <typename T> std::span<const T> data() const {
    assert(sizeof(T) * 8 == bitWidth(typeValue));
    return {static_cast<const T *>(address), static_cast<size_t>(numElements())};
  }
  template <typename T> std::span<T> mutableData() {
    assert(writable && "borrowed elements are read only; clone first");
    assert(sizeof(T) * 8 == bitWidth(typeValue));
    return {static_cast<T *>(const_cast<void *>(address)), static_cast<size_t>(numElements())};
  }

  /// An owned copy.
  Tensor clone() const;
  /// The same elements under another shape of the same number of elements.
  Tensor reshaped(Shape shape) const;

private:
  DataType typeValue = DataType::F32;
  Shape shapeValue;
  const void *address = nullptr;
  std::shared_ptr<const void> owner;
  bool writable = false;
};

/// The element type that stores a plain C++ arithmetic type.
template <typename T> constexpr DataType dataTypeOf() {
  if constexpr (std::is_same_v<T, double>)
    return DataType::F64;
  else if constexpr (std::is_same_v<T, float>)
    return DataType::F32;
  else if constexpr (std::is_same_v<T, bool>)
    return DataType::Bool;
  else {
    static_assert(std::is_integral_v<T>);
    constexpr DataType kSigned[] = {DataType::I8, DataType::I16, DataType::I32, DataType::I64};
    constexpr DataType kUnsigned[] = {DataType::U8, DataType::U16, DataType::U32, DataType::U64};
    constexpr size_t index = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[index] : kUnsigned[index];
  }
}

template <typename T> Tensor Tensor::of(Shape shape, std::span<const T> values) {
  assert(static_cast<int64_t>(values.size()) == shape.numElements());
  Tensor tensor(dataTypeOf<T>(), shape);
  std::copy(values.begin(), values.end(), tensor.mutableData<T>().begin());
  return tensor;
}

} // namespace tpuc

#endif // TPUC_SUPPORT_TENSOR_H
