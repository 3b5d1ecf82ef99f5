//===- FuzzTFLite.cpp - The reader of TFLite models -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// An input is read as a model, of which every constant is then read.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/TFLiteModel.h"

#include <cstdlib>
#include <cstring>

using namespace tpuc;
using namespace tpuc::tflite;

/// Sparse tensors take memory that the file does not have.
static constexpr int64_t kMostBytes = int64_t(1) << 24;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The reader wants them aligned.
  std::shared_ptr<uint8_t> copy(
      static_cast<uint8_t *>(std::aligned_alloc(16, (size + 31) & ~size_t(15))),
      [](uint8_t *memory) { std::free(memory); });
  std::memcpy(copy.get(), data, size);
  Expected<TFLiteModel> model =
      TFLiteModel::fromMemory(std::as_bytes(std::span(copy.get(), size)), copy, "input");
  if (!model)
    return 0;
  const auto numTensors = static_cast<int>(model->tensors().size());
  for (const NetOp &op : model->ops()) {
    for (const std::vector<int> *list : {&op.inputs, &op.outputs})
      for (int each : *list)
        if (each < -1 || each >= numTensors)
          std::abort();
    if (model->describe(op).empty())
      std::abort();
  }
  unsigned sum = 0;
  for (int index = 0; index < numTensors; ++index) {
    const NetTensor &tensor = model->tensors()[static_cast<size_t>(index)];
    if (model->findTensor(tensor.name) != index)
      std::abort();
    std::optional<DataType> type = dataTypeOf(tensor.type);
    if (!tensor.isConstant || !type ||
        byteSize(*type, Shape(std::span(tensor.dims)).numElements()) > kMostBytes)
      continue;
    Expected<Tensor> elements = model->read(index);
    if (!elements)
      continue;
    for (std::byte byte : elements->rawBytes())
      sum += static_cast<unsigned>(byte);
  }
  volatile unsigned sink = sum;
  (void)sink;
  return 0;
}
