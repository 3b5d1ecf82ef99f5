//===- FuzzNpz.cpp - Hostile .npz and .npy files --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Npz.h"

#include <cstdint>
#include <cstdlib>

using namespace tpuc;

namespace {

/// Touches every element, so that a view beyond the input is seen.
void useTensor(const Expected<Tensor> &tensor, size_t inputSize) {
  if (!tensor)
    return;
  if (static_cast<uint64_t>(tensor->byteSize()) > uint64_t(1032) * (inputSize + 1))
    std::abort();
  unsigned sum = 0;
  for (std::byte element : tensor->rawBytes()) {
    if (tensor->type() == DataType::Bool && element > std::byte(1))
      std::abort();
    sum += std::to_integer<unsigned>(element);
  }
  volatile unsigned sink = sum;
  (void)sink;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  useTensor(parseNpy(bytes, nullptr, "input"), size);
  Expected<NpzReader> reader = NpzReader::fromMemory(bytes, nullptr, "input");
  if (!reader)
    return 0;
  for (const std::string &name : reader->names()) {
    Expected<NpzEntry> info = reader->info(name);
    Expected<Tensor> tensor = reader->read(name);
    // What can be read can be described, the same way.
    if (tensor && (!info || info->type != tensor->type() || info->shape != tensor->shape()))
      std::abort();
    // A copy was checked while it was made.
    if (tensor && tensor->isWritable() && !reader->verify(name))
      std::abort();
    useTensor(tensor, size);
  }
  (void)reader->read("no such tensor");
  return 0;
}
