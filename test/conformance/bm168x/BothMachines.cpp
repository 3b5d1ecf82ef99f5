//===- BothMachines.cpp - A model on our machine and the vendor's ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm168x/BothMachines.h"
#include "runtime/Elements.h"

#include <cstring>
#include <xmmintrin.h>

namespace tpuc::bm168x::conformance {

namespace {

/// An input as the net stores it.
Expected<Tensor> makeInput(const model::TensorInfo &info, const NpzReader *npz,
                           std::mt19937 &random) {
  const auto shape =
      runtime::checkedShape(info.shape, info.type.value_or(DataType::F32), info.name);
  if (!shape)
    return tl::unexpected(shape.error());
  Tensor tensor(DataType::F32, *shape);
  if (npz) {
    auto read = npz->read(info.name);
    if (!read)
      return read;
    tensor = std::move(*read);
  } else {
    std::uniform_real_distribution<float> values(-1, 1);
    for (float &value : tensor.mutableData<float>())
      value = values(random);
  }
  return runtime::toStored(tensor, info, info.name);
}

} // namespace

std::span<const uint8_t> streamBytes(const model::CommandGroup &group, std::string_view engine) {
  const auto stream = std::ranges::find(group.streams, engine, &model::Stream::engine);
  if (stream == group.streams.end())
    return {};
  return {reinterpret_cast<const uint8_t *>(stream->code.data()), stream->code.size()};
}

Expected<void> writeInputs(const model::Stage &stage, const NpzReader *npz,
                           std::span<uint8_t> activations) {
  std::mt19937 random(1);
  for (const model::TensorInfo &info : stage.inputs) {
    const auto input = makeInput(info, npz, random);
    if (!input)
      return tl::unexpected(input.error());
    const auto bytes = input->rawBytes();
    std::memcpy(activations.subspan(info.address - stage.activationAddress).data(), bytes.data(),
                bytes.size());
  }
  return {};
}

void withFlushedDenormals(const std::function<void()> &call) {
  const unsigned csr = _mm_getcsr();
  constexpr unsigned kFlush = 0x8040;
  _mm_setcsr(csr | kFlush);
  call();
  _mm_setcsr(csr);
}

} // namespace tpuc::bm168x::conformance
