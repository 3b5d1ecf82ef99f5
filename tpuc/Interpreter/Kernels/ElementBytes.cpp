//===- ElementBytes.cpp - Elements as bytes ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/ElementBytes.h"
#include "tpuc/Support/Convert.h"

using namespace tpuc;

static std::span<const uint8_t> codesOf(const Tensor &tensor) {
  auto bytes = tensor.rawBytes();
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

Tensor kernels::unpackedNibbles(const Tensor &tensor) {
  Tensor bytes(DataType::U8, tensor.shape());
  unpack4(codesOf(tensor), bytes.mutableData<uint8_t>());
  return bytes;
}

void kernels::packNibbles(const Tensor &bytes, Tensor &output) {
  auto to = output.mutableBytes();
  pack4(codesOf(bytes), std::span(reinterpret_cast<uint8_t *>(to.data()), to.size()));
}

/// The compiler knows how many bytes an element has, and makes a load and a store of it.
template <size_t bytes>
static void copyFixed(std::byte *to, int64_t toStep, const std::byte *from, int64_t fromStep,
                      int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStep, from + i * fromStep, bytes);
}

void kernels::copyStrided(std::byte *to, int64_t toStep, const std::byte *from, int64_t fromStep,
                          int64_t count, int64_t bytes) {
  if (toStep == bytes && fromStep == bytes) {
    if (count * bytes != 0)
      std::memcpy(to, from, static_cast<size_t>(count * bytes));
    return;
  }
  switch (bytes) {
  case 0:
    return;
  case 1:
    return copyFixed<1>(to, toStep, from, fromStep, count);
  case 2:
    return copyFixed<2>(to, toStep, from, fromStep, count);
  case 4:
    return copyFixed<4>(to, toStep, from, fromStep, count);
  case 8:
    return copyFixed<8>(to, toStep, from, fromStep, count);
  case 16:
    return copyFixed<16>(to, toStep, from, fromStep, count);
  default:
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * toStep, from + i * fromStep, static_cast<size_t>(bytes));
  }
}

template <typename T> static void fillAs(std::byte *to, const std::byte *value, int64_t count) {
  T element;
  std::memcpy(&element, value, sizeof(T));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
}

void kernels::fillElements(std::byte *to, const std::byte *value, int64_t bytes, int64_t count) {
  switch (bytes) {
  case 1:
    return fillAs<uint8_t>(to, value, count);
  case 2:
    return fillAs<uint16_t>(to, value, count);
  case 4:
    return fillAs<uint32_t>(to, value, count);
  default:
    assert(bytes == 8);
    return fillAs<uint64_t>(to, value, count);
  }
}
