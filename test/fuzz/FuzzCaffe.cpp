//===- FuzzCaffe.cpp - The readers of Caffe networks and weights ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// An input is read twice: as the text of a network, and as a binary file of weights, of which every
// blob is then read.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/Caffe.pb.h"
#include "tpuc/Frontend/Caffe/CaffeModel.h"

#include <cstdlib>

using namespace tpuc;
using namespace tpuc::caffe;

static void readNetwork(std::string_view text, const CaffeWeights *weights) {
  Expected<CaffeModel> model = CaffeModel::fromText(text, "input");
  if (!model)
    return;
  for (const NetLayer &layer : model->layers()) {
    // A tensor is made once, and every layer says which.
    if (layer.tops.size() != static_cast<size_t>(layer.parameters->top_size()) ||
        CaffeModel::sharedNames(layer).size() !=
            static_cast<size_t>(layer.parameters->param_size()))
      std::abort();
    if (weights)
      weights->find(layer.name());
  }
  if (model->outputs().empty())
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  Expected<CaffeWeights> weights = CaffeWeights::fromMemory(bytes, nullptr, "input");
  readNetwork({reinterpret_cast<const char *>(data), size}, weights ? &*weights : nullptr);
  if (!weights)
    return 0;
  float sum = 0;
  weights->forEach([&](const std::string &, const std::vector<Blob> &blobs) {
    for (const Blob &blob : blobs) {
      const Tensor tensor = weights->read(blob, blob.dims);
      for (float each : tensor.data<float>())
        sum += each;
    }
  });
  volatile float sink = sum;
  (void)sink;
  return 0;
}
