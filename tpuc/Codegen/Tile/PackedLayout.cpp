//===- PackedLayout.cpp - Weights in the order in which a chip reads them ------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/PackedLayout.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace tpuc;
using namespace tpuc::codegen;

static Shape packedDims(llvm::ArrayRef<int64_t> dims) {
  return Shape(std::span(dims.data(), dims.size()));
}

/// `kernels::permute`, of long tensors in parts along the first dimension: what is done leaves
/// memory if it lies in a mapped file.
static void permuteInParts(const Tensor &from, std::span<const int64_t> order, Tensor &to,
                           ThreadPool &threads) {
  constexpr int64_t kLong = int64_t{8} << 20;
  const int64_t count = from.shape()[0];
  if (from.byteSize() <= kLong || bitWidth(from.type()) % 8 != 0)
    return kernels::permute(from, order, to, threads);
  const int64_t pitch = from.byteSize() / count;
  const int64_t step = std::max<int64_t>(kLong / pitch, 1);
  const auto axis = static_cast<size_t>(llvm::find(order, 0) - order.begin());
  int64_t outer = 1;
  for (size_t before = 0; before < axis; ++before)
    outer *= to.shape()[before];
  const int64_t row = to.byteSize() / outer / count;
  for (int64_t first = 0; first < count; first += step) {
    const int64_t length = std::min(step, count - first);
    const auto bytes = from.rawBytes().subspan(static_cast<size_t>(first * pitch),
                                               static_cast<size_t>(length * pitch));
    Shape dims = from.shape();
    dims[0] = length;
    Shape turned = to.shape();
    turned[axis] = length;
    Tensor part(to.type(), turned);
    kernels::permute(Tensor::borrow(from.type(), dims, bytes.data(), nullptr), order, part,
                     threads);
    for (int64_t index = 0; index < outer; ++index)
      std::memcpy(to.mutableBytes().data() + (index * count + first) * row,
                  part.rawBytes().data() + index * length * row, static_cast<size_t>(length * row));
    releaseMapped(bytes);
  }
}

Tensor codegen::pack(const Tensor &plain, const PackedLayout &layout) {
  ThreadPool threads(1);
  const Tensor tensor = layout.type ? convert(plain, *layout.type) : plain;
  Tensor padded = tensor;
  if (const Shape dims = packedDims(layout.padded); dims != tensor.shape()) {
    std::vector<kernels::AxisSource> sources;
    for (size_t axis = 0; axis < layout.padded.size(); ++axis)
      sources.push_back(kernels::padSource(
          tensor.shape()[axis], 0, dims[axis] - tensor.shape()[axis], kernels::PadMode::Constant));
    padded = Tensor(tensor.type(), dims);
    kernels::remap(tensor, sources, nullptr, padded, threads);
    releaseMapped(tensor.rawBytes());
  }
  // Dimension order[i] of the blocks is dimension i of the transposed tensor, and back.
  llvm::SmallVector<int64_t> transposed;
  llvm::SmallVector<int64_t> inverse(layout.order.size());
  for (auto [index, source] : llvm::enumerate(layout.order)) {
    transposed.push_back(layout.blocks[static_cast<size_t>(source)]);
    inverse[static_cast<size_t>(source)] = static_cast<int64_t>(index);
  }
  Tensor packed(tensor.type(), packedDims(layout.blocks));
  permuteInParts(padded.reshaped(packedDims(transposed)), std::span(inverse.data(), inverse.size()),
                 packed, threads);
  const Shape shape = packedDims(layout.shape);
  if (shape.numElements() != packed.numElements()) {
    Tensor longer(packed.type(), shape);
    std::ranges::fill(longer.mutableBytes(), std::byte{0});
    std::ranges::copy(packed.rawBytes(), longer.mutableBytes().begin());
    packed = std::move(longer);
  }
  const std::span<std::byte> bytes = packed.mutableBytes();
  for (const PackedLayout::Bytes &part : layout.parameters)
    std::ranges::copy(std::as_bytes(std::span(part.bytes)),
                      bytes.subspan(static_cast<size_t>(part.offset), part.bytes.size()).begin());
  return packed.reshaped(packedDims(layout.shape));
}
