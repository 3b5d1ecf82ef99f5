//===- LocalTensor.cpp - Tensors in local memory---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"
#include "tpuc/Support/Float.h"

#include <algorithm>
#include <cmath>

namespace tpuc::bm1684x {

std::optional<Prec> precOf(DataType type) {
  switch (type) {
  case DataType::F32:
    return Prec::F32;
  case DataType::F16:
    return Prec::F16;
  case DataType::BF16:
    return Prec::BF16;
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
  switch (type) {
  case DataType::F32:
    return encodeFloat<DataType::F32>(value);
  case DataType::F16:
    return encodeFloat<DataType::F16>(value);
  case DataType::BF16:
    return encodeFloat<DataType::BF16>(value);
  default:
    break;
  }
  int width = static_cast<int>(bitWidth(type));
  double low = isSigned(type) ? -std::ldexp(1.0, width - 1) : 0;
  double high = std::ldexp(1.0, isSigned(type) ? width - 1 : width) - 1;
  auto integer = static_cast<int64_t>(std::nearbyint(std::clamp(value, low, high)));
  return static_cast<uint32_t>(integer) & static_cast<uint32_t>((uint64_t{1} << width) - 1);
}

bool holds(DataType type, double value) {
  const uint32_t bits = immediateBits(type, value);
  double held = decodeFloat<DataType::F32>(bits);
  if (type == DataType::F16)
    held = decodeFloat<DataType::F16>(static_cast<uint16_t>(bits));
  else if (type == DataType::BF16)
    held = decodeFloat<DataType::BF16>(static_cast<uint16_t>(bits));
  const auto wide = static_cast<float>(value);
  return static_cast<float>(held) == wide || std::isnan(wide);
}

Extents LocalTensor::strides() const {
  if (layout == Layout::Explicit)
    return explicitStride;
  return layoutStrides(layout, shape, elementBytes(), tiuAddress());
}

View LocalTensor::view() const { return {tiuAddress(), prec(), shape, strides(), true}; }

uint32_t LocalTensor::bytesPerLane() const {
  return static_cast<uint32_t>(touchedBytes(view()).last);
}

bool LocalTensor::liesAs(Layout regular) const {
  Extents mine = strides();
  Extents wanted = layoutStrides(regular, shape, elementBytes(), tiuAddress());
  int64_t slots = ceilDiv(startLane + shape[1], kLanes);
  Extents steps = {shape[0], slots, shape[2], shape[3]};
  for (size_t axis = 0; axis < 4; ++axis)
    if (steps[axis] > 1 && mine[axis] != wanted[axis])
      return false;
  return true;
}

LocalTensor LocalTensor::slice(unsigned axis, int64_t first, int64_t count) const {
  LocalTensor part = *this;
  part.explicitStride = strides();
  part.layout = Layout::Explicit;
  part.shape[axis] = count;
  int64_t steps = first;
  if (axis == 1) {
    int64_t lane = startLane + first;
    steps = lane / kLanes;
    part.startLane = static_cast<uint32_t>(lane % kLanes);
  }
  part.address += static_cast<uint32_t>(steps * part.explicitStride[axis] * elementBytes());
  for (Layout regular : {Layout::Aligned, Layout::Compact}) {
    bool isAligned = regular != Layout::Aligned || part.address % kEuBytes == 0;
    if (layout != Layout::PerChannel && isAligned && part.liesAs(regular)) {
      part.layout = regular;
      part.explicitStride = {};
      break;
    }
  }
  return part;
}

LocalTensor LocalTensor::withShape(const Extents &newShape) const {
  LocalTensor result = *this;
  result.shape = newShape;
  if (layout == Layout::Explicit) {
    result.explicitStride[2] = newShape[3];
    result.explicitStride[3] = 1;
  }
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
  Extents stride =
      layoutStrides(layout, shape, precBytes(*precOf(type)), uint64_t{startLane} * kLaneBytes);
  int64_t elements =
      layout == Layout::PerChannel ? ceilDiv(startLane + shape[1], kLanes) : shape[0] * stride[0];
  return static_cast<uint32_t>(alignUp(elements * precBytes(*precOf(type)), kEuBytes));
}

} // namespace tpuc::bm1684x
