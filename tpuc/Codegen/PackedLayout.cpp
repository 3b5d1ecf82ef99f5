//===- PackedLayout.cpp - Weights in the order in which a chip reads them ------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/PackedLayout.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Support/Convert.h"

using namespace tpuc;
using namespace tpuc::codegen;

static Shape packedDims(llvm::ArrayRef<int64_t> dims) {
  return Shape(std::span(dims.data(), dims.size()));
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
  }
  // Dimension order[i] of the blocks is dimension i of the transposed tensor, and back.
  llvm::SmallVector<int64_t> transposed;
  llvm::SmallVector<int64_t> inverse(layout.order.size());
  for (auto [index, source] : llvm::enumerate(layout.order)) {
    transposed.push_back(layout.blocks[static_cast<size_t>(source)]);
    inverse[static_cast<size_t>(source)] = static_cast<int64_t>(index);
  }
  Tensor packed(tensor.type(), packedDims(layout.blocks));
  kernels::permute(padded.reshaped(packedDims(transposed)),
                   std::span(inverse.data(), inverse.size()), packed, threads);
  const std::span<std::byte> bytes = packed.mutableBytes();
  for (const PackedLayout::Bytes &part : layout.parameters)
    std::ranges::copy(std::as_bytes(std::span(part.bytes)),
                      bytes.subspan(static_cast<size_t>(part.offset), part.bytes.size()).begin());
  return packed.reshaped(packedDims(layout.shape));
}
