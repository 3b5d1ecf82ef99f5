//===- LocalTensor.cpp - Tensors in the local memory of the BM1684 --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/LocalTensor.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>

namespace tpuc::bm1684 {

std::optional<Prec> precOf(DataType type) {
  switch (type) {
  case DataType::F32:
    return Prec::F32;
  case DataType::I8:
  case DataType::U8:
  case DataType::Bool:
    return Prec::I8;
  case DataType::I16:
  case DataType::U16:
    return Prec::I16;
  case DataType::I32:
  case DataType::U32:
    return Prec::I32;
  default:
    return std::nullopt;
  }
}

uint32_t immediateBits(DataType type, double value) {
  if (type == DataType::F32)
    return encodeFloat<DataType::F32>(value);
  const int width = static_cast<int>(bitWidth(type));
  const double low = isSigned(type) ? -std::ldexp(1.0, width - 1) : 0;
  const double high = std::ldexp(1.0, isSigned(type) ? width - 1 : width) - 1;
  const auto integer = static_cast<int64_t>(std::nearbyint(std::clamp(value, low, high)));
  return static_cast<uint32_t>(integer) & static_cast<uint32_t>((uint64_t{1} << width) - 1);
}

namespace {

/// `shape` in words: batch items that share a word count as one.
Extents wordsOf(DataType type, Extents shape) {
  shape[0] = ceilDiv(shape[0], itemsPerWord(*precOf(type)));
  return shape;
}

Extents wordStrides(Layout layout, DataType type, const Extents &shape, uint32_t startLane) {
  return bm168x::layoutStrides(kLocalMemory, layout, wordsOf(type, shape), sizeof(uint32_t),
                               uint64_t{startLane} * kLaneBytes);
}

} // namespace

Extents LocalTensor::strides() const {
  return layout == Layout::Explicit ? explicitStride : wordStrides(layout, type, shape, startLane);
}

uint32_t LocalTensor::bytesPerLane() const {
  const View view{uint64_t{startLane} * kLaneBytes, Prec::I32, wordsOf(type, shape), strides(),
                  true};
  return static_cast<uint32_t>(bm168x::touchedBytes(kLocalMemory, view).last);
}

bool LocalTensor::liesAs(Layout regular) const {
  const Extents mine = strides();
  const Extents wanted = wordStrides(regular, type, shape, startLane);
  const Extents words = wordsOf(type, shape);
  const Extents steps = {words[0], ceilDiv(startLane + shape[1], kLanes), shape[2], shape[3]};
  for (size_t axis = 0; axis < 4; ++axis)
    if (steps[axis] > 1 && mine[axis] != wanted[axis])
      return false;
  return true;
}

LocalTensor LocalTensor::every(unsigned axis, int64_t first, int64_t step, int64_t count) const {
  LocalTensor part = *this;
  part.explicitStride = strides();
  part.layout = Layout::Explicit;
  part.shape[axis] = count;
  int64_t steps = axis == 0 ? first / items() : first;
  if (axis == 1) {
    const int64_t lane = startLane + first;
    steps = lane / kLanes;
    part.startLane = static_cast<uint32_t>(lane % kLanes);
  }
  part.address += static_cast<uint32_t>(steps * part.explicitStride[axis] * 4);
  part.explicitStride[axis] *= step;
  if (layout != Layout::PerChannel && part.isRegular()) {
    part.layout = Layout::Aligned;
    part.explicitStride = {};
  }
  return part;
}

LocalTensor LocalTensor::slice(unsigned axis, int64_t first, int64_t count) const {
  return every(axis, first, 1, count);
}

LocalTensor LocalTensor::withShape(const Extents &newShape) const {
  LocalTensor result = *this;
  result.explicitStride = strides();
  result.layout = Layout::Explicit;
  result.shape = newShape;
  result.explicitStride[2] = newShape[3];
  result.explicitStride[3] = 1;
  return result;
}

LocalTensor LocalTensor::at(uint32_t newAddress) const {
  LocalTensor result = *this;
  result.address = newAddress;
  return result;
}

LocalTensor LocalTensor::as(DataType newType) const {
  LocalTensor result = *this;
  result.type = newType;
  return result;
}

LocalTensor localTensor(DataType type, const Extents &shape, uint32_t address, Layout layout,
                        uint32_t startLane) {
  return {type, shape, layout, address, startLane, {}};
}

uint32_t laneBytes(DataType type, const Extents &shape, Layout layout, uint32_t startLane) {
  const Extents stride = wordStrides(layout, type, shape, startLane);
  return static_cast<uint32_t>(alignUp(wordsOf(type, shape)[0] * stride[0] * 4, kEuBytes));
}

LocalTensor repeated(const LocalTensor &tensor, const Extents &shape) {
  LocalTensor result = tensor;
  result.explicitStride = tensor.strides();
  result.layout = Layout::Explicit;
  for (size_t axis = 0; axis < 4; ++axis)
    if (shape[axis] != tensor.shape[axis]) {
      result.explicitStride[axis] = 0;
      result.shape[axis] = shape[axis];
    }
  return result;
}

} // namespace tpuc::bm1684
